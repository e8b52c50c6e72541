"""Compare PDF readers: their cost, and how much of a known text they return.

    python bench/pdfs.py [--pdfs FOLDER] [--pages N] [--rounds N] [--only NAME,…] [--quick]

Without a folder the bench makes its own PDFs. With a folder every PDF in it is read, and scored if a Markdown file of
the same name is beside it. Writes results/pdfs.md and pdfs.json; with a folder it only prints.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from pdf_engines import BARE, ENGINES, Engine
from pdf_files import given, made
from readings import Figures, Plan, by_cost, by_group, label, measured, quality
from report import table

NOT_HERE = """\
Not here: PyMuPDF and pymupdf4llm, because of their licence (AGPL), and Docling, which brings torch and its models.
Xberg was called Kreuzberg before.
"""

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
            script = Path(__file__).with_name("pdf_engines.py")
            results = measured(Plan(chosen, wanted.rounds, script, Path(folder), "pages", _pages), cases)
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


def _pages(path: str) -> int:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return 0
    count = len(document)
    document.close()
    return count


def _written(results: Figures, engines: list[Engine]) -> str:
    bare = sum(results["engines"][BARE]["seconds"].values())
    pages = sum(results["pages"].values())
    rows = [_row(engine, results["engines"][engine.name], bare, pages) for engine in by_cost(results, engines, BARE)]
    head = ("", "cost", "pages per CPU-second", "words in order", "words added", "headings", "rows")
    described = ", ".join(f"{group} {count} pages" for group, count in results["pages"].items()).capitalize()
    introduction = f"{described}.\n" if "given" in results["pages"] else INTRODUCTION.format(described=described)
    parts = [introduction, table(head, rows), NOTES]
    if any(engine.note for engine in engines):
        parts.append(JAVA)
    if len(results["pages"]) > 1:
        parts += ["## Words in order and rows, by kind of document\n", by_group(results, engines, BARE)]
    parts.append(NOT_HERE)
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return "\n".join([*parts, f"Python {results['python']}; {named}.\n"])


def _row(engine: Engine, row: Figures, bare: float, pages: int) -> tuple[str, ...]:
    if "missing" in row:
        return label(engine), row["missing"], *[""] * 5
    seconds = sum(row["seconds"].values())
    cost = seconds / bare
    cell = "1" if engine.name == BARE else f"{cost:.1f}" if cost < 99.5 else f"{cost:.0f}"
    failed = f" ({row['failed']} failed)" if row["failed"] else ""
    scores = list(row["scores"].values())
    return label(engine), cell, f"{pages / seconds:,.0f}{failed}", *quality(scores)


if __name__ == "__main__":
    main()
