"""The engines that read PDFs, each called in the usual way for Markdown, or for text if it has no Markdown.

    python bench/pdf_engines.py NAME JOB.json OUTPUT.json

runs one of them over groups of files, in its own process, and writes its output and the CPU time of each group. The
job's first file is read before timing starts: imports and one-time setup are not counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

Read = Callable[[str], Any]  # from a path to a text, or to a text and the rows of its tables


class Engine(NamedTuple):
    """How an engine is called. `start` returns a function that reads one file, or all files if `together`."""

    name: str
    package: str
    start: Callable[[], Callable[[Any], Any]]
    markdown: bool = True
    ours: bool = False
    tables: bool = True  # whether it returns tables; without Markdown, separately from the text
    together: bool = False
    note: str = ""


def _pdfium() -> Read:
    import pypdfium2

    def read(path: str) -> str:
        document = pypdfium2.PdfDocument(path)
        try:
            return "\n".join(_text_of(page) for page in document)
        finally:
            document.close()

    def _text_of(page: Any) -> str:
        text = page.get_textpage()
        try:
            return str(text.get_text_bounded())
        finally:
            text.close()
            page.close()

    return read


def _spanwise() -> Read:
    import spanwise

    return lambda path: spanwise.read(path).text


def _pypdf() -> Read:
    import pypdf

    return lambda path: "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)


def _pdfminer() -> Read:
    from pdfminer.high_level import extract_text

    return lambda path: str(extract_text(path))


def _pdfplumber() -> Read:
    import pdfplumber

    def read(path: str) -> tuple[str, list[list[str]]]:
        texts, rows = [], []
        with pdfplumber.open(path) as document:
            for page in document.pages:
                texts.append(page.extract_text())
                rows += [[cell or "" for cell in row] for table in page.extract_tables() for row in table]
                page.close()
        return "\n".join(texts), rows

    return read


def _markitdown() -> Read:
    from markitdown import MarkItDown

    engine = MarkItDown(enable_plugins=False)
    return lambda path: engine.convert(path).markdown


def _xberg() -> Read:
    import xberg

    config = xberg.ExtractionConfig(output_format="markdown", disable_ocr=True, use_cache=False)

    async def extracted(path: str) -> str:
        result = await xberg.extract(xberg.ExtractInput(kind="uri", uri=path), config)
        return str(result.results[0].content)

    return lambda path: asyncio.run(extracted(path))


def _liteparse() -> Read:
    import liteparse

    engine = liteparse.LiteParse(ocr_enabled=False, output_format="markdown", quiet=True, extract_links=False)
    return lambda path: engine.parse(path).text


def _pdf_inspector() -> Read:
    import pdf_inspector

    return lambda path: pdf_inspector.process_pdf(path).markdown or ""


def _opendataloader() -> Callable[[Sequence[str]], list[str]]:
    import opendataloader_pdf

    def read(paths: Sequence[str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            with suppress(subprocess.CalledProcessError):  # one file of many failed; the others were written
                opendataloader_pdf.convert(
                    list(paths), output_dir=folder, format="markdown", quiet=True, image_output="off", threads="1"
                )
            outputs = [Path(folder, f"{Path(path).stem}.md") for path in paths]
            return [output.read_text(encoding="utf-8") if output.exists() else "" for output in outputs]

    return read


BARE = "PDFium's plain text"
ENGINES = (
    Engine(BARE, "pypdfium2", _pdfium, markdown=False, tables=False),
    Engine("Spanwise", "spanwise", _spanwise, ours=True),
    Engine("pypdf", "pypdf", _pypdf, markdown=False, tables=False),
    Engine("pdfminer.six", "pdfminer.six", _pdfminer, markdown=False, tables=False),
    Engine("pdfplumber", "pdfplumber", _pdfplumber, markdown=False),
    Engine("MarkItDown", "markitdown", _markitdown),
    Engine("Xberg", "xberg", _xberg),
    Engine("LiteParse", "liteparse", _liteparse),
    Engine("pdf-inspector", "pdf-inspector", _pdf_inspector),
    Engine("OpenDataLoader", "opendataloader-pdf", _opendataloader, together=True, note="²"),
)


def run(engine: Engine, job: Path, output: Path) -> None:
    """Read all files of a job; write the outputs and the times."""
    groups: dict[str, list[str]] = json.loads(job.read_text(encoding="utf-8"))
    result: dict[str, Any] = {"seconds": {}, "outputs": {}, "failed": {}}
    try:
        read = engine.start()
        warm = next(iter(groups.values()))[0]
        _tried(read, [warm] if engine.together else warm, {})
    except ImportError:
        result["missing"] = "not installed"
    except Exception as error:  # whatever a peer raises, the others continue
        result["missing"] = type(error).__name__
    else:
        for group, paths in groups.items():
            began = _cpu()
            if engine.together:
                outputs = _tried(read, paths, result["failed"]) or [""] * len(paths)
            else:
                outputs = [_tried(read, path, result["failed"]) for path in paths]
            result["seconds"][group] = _cpu() - began
            result["outputs"] |= dict(zip(paths, outputs, strict=True))
    output.write_text(json.dumps(result), encoding="utf-8", errors="replace")


def _cpu() -> float:
    """Return the CPU time of this process, its threads and its finished child processes."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _tried(read: Read, path: Any, failed: dict[str, str]) -> Any:
    try:
        return read(path)
    except ImportError:
        raise
    except Exception as error:  # a file that an engine can't read: the others continue
        failed[str(path)] = type(error).__name__
        return ""


def main(engines: Sequence[Engine]) -> None:
    """Run the engine named on the command line."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no network access while timing
    name, job, output = sys.argv[1:]
    run(next(engine for engine in engines if engine.name == name), Path(job), Path(output))


if __name__ == "__main__":
    main(ENGINES)
