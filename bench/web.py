"""Compare readers of web pages: their cost, and how much of a known text they return.

    python bench/web.py [--html FOLDER] [--size N] [--rounds N] [--only NAME,…] [--quick]

Without a folder the bench makes its own pages. With a folder every HTML file in it is read, and scored if a Markdown
file of the same name is beside it. Writes results/html.md and html.json; with a folder it only prints.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from pdf_engines import Engine
from pdf_files import given
from readings import Figures, Plan, by_cost, by_group, label, measured, quality
from report import table
from web_engines import BARE, ENGINES
from web_files import ENDINGS, made

INTRODUCTION = """\
# Reading web pages: Spanwise beside its peers

`make bench-html` wrote this. The bench makes the pages itself, so it knows what they say: the demo's handbooks in five
languages, manuals with coloured code, articles, and pages of tables, each inside what real pages have around their
text: navigation, banners, side bars, footers, scripts and style sheets. Each engine runs in a process of its own, all
in turn; the best CPU time of several rounds counts for each kind of page, without imports. **1 is what lexbor needs to
parse the same pages and give their bare text.** Our cost holds blocks, the XPath and CSS selector of each block, item
and row, links, metadata, and the list of what was left out.

{described}.
"""
NOTES = """\
- **Words in order**: of the words of the main text, how many come out in its order (the longest common subsequence).
- **Words added**: what is not in the main text, measured by its size: navigation, banners, footers, addresses.
- **Headings**: found and right, as the harmonic mean of recall and precision; their levels are not judged.
- **Rows**: rows of tables that have all their cells and no others, as the same mean.
- **Positions**: whether every block says which element of the page it is.
- – stands where an engine gives none.

markdownify, html2text, MarkItDown and inscriptis convert the whole page on purpose: beside them stands Spanwise with
`keep_all`. html-to-markdown drops navigation, trafilatura and Resiliparse look for the main text.

One program made all of these pages, and it writes clean ones. `python bench/web.py --html FOLDER` reads yours, and
judges those that have their text beside them as Markdown.
"""


def main() -> None:
    wanted = _arguments()
    began = time.monotonic()
    chosen = [engine for engine in ENGINES if engine.name in (BARE, *(wanted.only or [engine.name]))]
    raw: Path = wanted.output / "html.json"
    if wanted.rounds:
        with tempfile.TemporaryDirectory() as folder:
            cases = given(wanted.html, *ENDINGS) if wanted.html else made(Path(folder), wanted.size)
            if not cases:
                sys.exit(f"no HTML file in {wanted.html}")
            script = Path(__file__).with_name("web_engines.py")
            results = measured(Plan(chosen, wanted.rounds, script, Path(folder), "bytes", _bytes), cases)
    else:
        results = json.loads(raw.read_text(encoding="utf-8"))
    written = _written(results, chosen)
    if not wanted.html and not wanted.only and not wanted.quick:
        raw.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        raw.with_suffix(".md").write_text(written, encoding="utf-8")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(written)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--html", type=Path, help="folder of pages to read instead of those that the bench makes")
    parser.add_argument("--size", type=int, default=10, help="how long each long page is, in tens of paragraphs")
    rounds = "how often every engine runs; the best counts; 0 only writes the tables again"
    parser.add_argument("--rounds", type=int, default=3, help=rounds)
    parser.add_argument("--only", type=lambda text: text.split(","), help="these engines beside lexbor's plain text")
    parser.add_argument("--quick", action="store_true", help="one round on short pages, for trying things out")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.rounds, wanted.size = 1, 3
    return wanted


def _bytes(path: str) -> int:
    return Path(path).stat().st_size


def _written(results: Figures, engines: list[Engine]) -> str:
    sizes = results["bytes"]
    bare, size = sum(results["engines"][BARE]["seconds"].values()), sum(sizes.values())
    rows = [_row(engine, results["engines"][engine.name], bare, size) for engine in by_cost(results, engines, BARE)]
    head = ("", "cost", "MB per CPU-second", "words in order", "words added", "headings", "rows", "positions")
    groups = [f"{group} {count} pages, {sizes[group] / 1e6:.1f} MB" for group, count in results["files"].items()]
    described = "; ".join(groups)
    described = described[:1].upper() + described[1:]
    introduction = f"{described}.\n" if "given" in sizes else INTRODUCTION.format(described=described)
    parts = [introduction, table(head, rows), NOTES]
    if len(sizes) > 1:
        parts += ["## Words in order and rows, by kind of page\n", by_group(results, engines, BARE)]
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return "\n".join([*parts, f"Python {results['python']}; {named}.\n"])


def _row(engine: Engine, row: Figures, bare: float, size: int) -> tuple[str, ...]:
    if "missing" in row:
        return label(engine), row["missing"], *[""] * 6
    seconds = sum(row["seconds"].values())
    cell = "1" if engine.name == BARE else f"{seconds / bare:.1f}"
    failed = f" ({row['failed']} failed)" if row["failed"] else ""
    positions = "yes" if engine.ours else "no"
    return (
        label(engine),
        cell,
        f"{size / seconds / 1e6:.1f}{failed}",
        *quality(list(row["scores"].values())),
        positions,
    )


if __name__ == "__main__":
    main()
