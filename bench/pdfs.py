"""Compare how PDFs are read: what it costs, and what comes through of a text that is known.

    python bench/pdfs.py [--pdfs FOLDER] [--pages N] [--rounds N] [--only NAME,…] [--quick]

Without a folder the bench makes its own PDFs. Of a folder every PDF is read; one with a Markdown file of the same name
beside it is judged by that. Writes results/pdfs.md and pdfs.json, for a folder only what is printed.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pdf_engines import BARE, ENGINES, Engine
from pdf_files import Case, given, made
from pdf_scores import Seen, Tally, compared, seen_in_markdown, words_of
from report import table
from splitters import version_of

PATIENCE = 900  # seconds for one engine in one round
NOT_HERE = """\
Not here: PyMuPDF and pymupdf4llm, because of their licence (AGPL), and Docling, which brings torch and its models.
Xberg was called Kreuzberg before.
"""
Figures = dict[str, Any]

INTRODUCTION = """\
# Reading PDFs: Spanwise beside its peers

`make bench-pdf` wrote this. The bench makes the PDFs itself, so it knows what is in them: the demo's handbooks in five
languages, printed by Chromium, and long documents set by reportlab, with running heads, page numbers and words parted
at line ends. Each engine runs in a process of its own, all in turn; the best CPU time of several rounds counts for each
kind of document, without imports. **1 is what PDFium needs for the bare text of the same files.** Our cost holds
blocks, their boxes, links and metadata.

{described}.
"""

NOTES = """\
- **Words in order**: of the words of the source, how many come out in the order of the source (the longest common
  subsequence). A word that stays parted is lost.
- **Words added**: what is not in the source, measured by its size: running heads, page numbers, parts of words, heads
  of tables that are repeated on the next page.
- **Headings**: found and right, as the harmonic mean of recall and precision; their levels are not judged.
- **Rows**: rows of tables that have all their cells and no others, as the same mean.
- – stands where an engine gives none.

Two programs made all of these files, and both write clean ones. PDFs from elsewhere are harder for every engine:
`python bench/pdfs.py --pdfs FOLDER` reads yours, and judges those that have their text beside them as Markdown.
"""
JAVA = "² A Java program that is started once for each kind of document; its start is part of the cost.\n"


def main() -> None:
    wanted = _arguments()
    began = time.monotonic()
    chosen = [engine for engine in ENGINES if engine.name in (BARE, *(wanted.only or [engine.name]))]
    raw: Path = wanted.output / "pdfs.json"
    if wanted.rounds:
        with tempfile.TemporaryDirectory() as folder:
            cases = given(wanted.pdfs) if wanted.pdfs else made(Path(folder), wanted.pages)
            if not cases:
                sys.exit(f"no PDF in {wanted.pdfs}")
            results = _measured(chosen, cases, wanted.rounds, Path(folder))
    else:
        results = json.loads(raw.read_text(encoding="utf-8"))
    written = _written(results, chosen)
    if not wanted.pdfs and not wanted.only:
        raw.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        raw.with_suffix(".md").write_text(written, encoding="utf-8")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(written)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pdfs", type=Path, help="folder of PDFs to read instead of those that the bench makes")
    parser.add_argument("--pages", type=int, default=20, help="about how many pages each long document has")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="how often every engine runs; the best counts; 0 only writes the tables again",
    )
    parser.add_argument("--only", type=lambda text: text.split(","), help="these engines beside PDFium's plain text")
    parser.add_argument("--quick", action="store_true", help="one round on short documents, for trying things out")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.rounds, wanted.pages = 1, 8
    return wanted


def _measured(engines: list[Engine], cases: list[Case], rounds: int, folder: Path) -> Figures:
    groups: dict[str, list[str]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(str(case.path))
    pages = {group: sum(map(_pages, paths)) for group, paths in groups.items()}
    job = folder / "job.json"
    job.write_text(json.dumps(groups), encoding="utf-8")
    results: Figures = {
        "python": platform.python_version(),
        "versions": {engine.package: version_of(engine.package) for engine in engines},
        "rounds": rounds,
        "files": {group: len(paths) for group, paths in groups.items()},
        "pages": pages,
        "engines": {engine.name: {} for engine in engines},
    }
    truths = {str(case.path): seen_in_markdown(case.truth) for case in cases if case.truth is not None}
    kinds = {str(case.path): case.group for case in cases}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)
        for engine in engines:
            row = results["engines"][engine.name]
            if "missing" in row:
                continue
            run = _run(engine, job, folder / "output.json")
            if "missing" in run:
                row["missing"] = run["missing"]
                continue
            best = row.setdefault("seconds", run["seconds"])
            row["seconds"] = {group: min(seconds, best[group]) for group, seconds in run["seconds"].items()}
            row["failed"] = len(run["failed"])
            if number == 0:
                row["scores"] = _scores(engine, run["outputs"], truths, kinds)
    return results


def _pages(path: str) -> int:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return 0
    count = len(document)
    document.close()
    return count


def _run(engine: Engine, job: Path, output: Path) -> Figures:
    output.unlink(missing_ok=True)
    child = [sys.executable, str(Path(__file__).with_name("pdf_engines.py")), engine.name, str(job), str(output)]
    try:
        subprocess.run(child, check=True, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"missing": f"stopped after {PATIENCE} s"}
    except subprocess.CalledProcessError as error:
        return {"missing": f"exit code {error.returncode}"}
    found: Figures = json.loads(output.read_text(encoding="utf-8"))
    return found


def _scores(engine: Engine, outputs: Figures, truths: dict[str, Seen], kinds: dict[str, str]) -> dict[str, Figures]:
    tallies: dict[str, Tally] = {}
    for path, truth in truths.items():
        tally = compared(truth, _seen(engine, outputs.get(path, "")))
        group = kinds[path]
        tallies[group] = tallies[group].plus(tally) if group in tallies else tally
    return {group: tally._asdict() for group, tally in tallies.items()}


def _seen(engine: Engine, output: Any) -> Seen:
    if engine.markdown:
        return seen_in_markdown(output)
    text, rows = output if isinstance(output, list) else (output, None)
    cells = None if rows is None else [tuple("".join(words_of(cell)) for cell in row) for row in rows]
    return Seen(words_of(text), None, cells)


def _written(results: Figures, engines: list[Engine]) -> str:
    bare = sum(results["engines"][BARE]["seconds"].values())
    pages = sum(results["pages"].values())
    rows = [_row(engine, results["engines"][engine.name], bare, pages) for engine in _by_cost(results, engines)]
    head = ("", "cost", "pages per CPU-second", "words in order", "words added", "headings", "rows")
    described = ", ".join(f"{group} {count} pages" for group, count in results["pages"].items()).capitalize()
    introduction = f"{described}.\n" if "given" in results["pages"] else INTRODUCTION.format(described=described)
    parts = [introduction, table(head, rows), NOTES]
    if any(engine.note for engine in engines):
        parts.append(JAVA)
    if len(results["pages"]) > 1:
        parts += ["## Words in order and rows, by kind of document\n", _by_group(results, engines)]
    parts.append(NOT_HERE)
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return "\n".join([*parts, f"Python {results['python']}; {named}.\n"])


def _by_cost(results: Figures, engines: Iterable[Engine]) -> list[Engine]:
    def order(engine: Engine) -> tuple[bool, bool, float]:
        seconds = results["engines"][engine.name].get("seconds")
        return engine.name != BARE, not engine.ours, sum(seconds.values()) if seconds else float("inf")

    return sorted(engines, key=order)


def _label(engine: Engine) -> str:
    name = f"**{engine.name}**" if engine.ours else engine.name
    return f"{name} {engine.note}".strip()


def _row(engine: Engine, row: Figures, bare: float, pages: int) -> tuple[str, ...]:
    if "missing" in row:
        return _label(engine), row["missing"], *[""] * 5
    seconds = sum(row["seconds"].values())
    cost = seconds / bare
    shown = "1" if engine.name == BARE else f"{cost:.1f}" if cost < 99.5 else f"{cost:.0f}"
    failed = f" ({row['failed']} failed)" if row["failed"] else ""
    scores = list(row["scores"].values())
    return _label(engine), shown, f"{pages / seconds:,.0f}{failed}", *_quality(scores)


def _quality(scores: list[Figures]) -> tuple[str, str, str, str]:
    words = sum(score["words"] for score in scores)
    if not words:
        return "–", "–", "–", "–"
    in_order, added = (sum(score[name] for score in scores) / words for name in ("in_order", "added"))
    return f"{in_order:.1%}", f"{added:.1%}", _mean(scores, "headings"), _mean(scores, "rows")


def _mean(scores: list[Figures], what: str) -> str:
    """Write the harmonic mean of precision and recall."""
    found = [score[what] for score in scores if score[what] is not None]
    if not found:
        return "–"
    right, ours, true = map(sum, zip(*found, strict=True))
    return f"{2 * right / (ours + true):.0%}" if ours + true else "–"


def _by_group(results: Figures, engines: list[Engine]) -> str:
    groups = list(results["pages"])
    lines = []
    for engine in _by_cost(results, engines):
        scores = results["engines"][engine.name].get("scores")
        if scores:
            lines.append((_label(engine), *(_both(scores[group]) for group in groups)))
    return table(("words, rows", *groups), lines)


def _both(score: Figures) -> str:
    words, _, _, rows = _quality([score])
    return words if score["rows"] is None or not score["rows"][2] else f"{words}, {rows}"


if __name__ == "__main__":
    main()
