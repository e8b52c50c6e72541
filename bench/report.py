"""The figures as Markdown tables, with explanations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from correctness import SENTENCE_RULE
from footprint import LIBRARIES
from speed import BARE
from splitters import LIMIT, Splitter

from growth import PATIENCE, SIZES

Figures = dict[str, Any]

INTRODUCTION = f"""\
# Spanwise beside its peers

`make bench` wrote this. Every splitter gets the same texts, the same limit of {LIMIT} tokens of cl100k and no overlap.
All run in turn in one process, several rounds; the best CPU time of each file counts. **1 is one bare token count of
the same texts** (bpe-openai's `count`), so the figures hold on slower and faster machines. Each pass begins with empty
caches. Spanwise's figures hold reading and the texts of the chunks, not only the ranges.

- **cost**: with splintr as the counter, which is what Spanwise counts with. A peer that takes a counter gets it too.
- **with tiktoken**: with the tokenizer that people mostly give them. (Chonkie's own `tokie` downloads its vocabulary.)
"""

NOTES = f"""\
- **Over the limit**: chunks whose text has more than {LIMIT} tokens, and the largest.
- **Wrong offsets**: chunks that have none, or whose `text[start:end]` is not their text; of Spanwise the core. Where a
  core steps over a comment it has several ranges, and these are checked ({{several}}).
- **Text lost**: visible characters that are in no chunk. ¹ Front matter, comments and link definitions are no content
  to Spanwise, and for `structure` headings are not part of the text but of `headings_path`. They are left out on
  purpose ({{left_out}} of the visible characters); what is lost is counted in the rest.
- **Sentences cut**: {SENTENCE_RULE}.

Docling is not here: it brings torch, and its chunker wants versions of semchunk and tiktoken that exclude those above.
"""

GROWTH_NOTE = """
Cost of one file of Markdown, put together from the files above in random order, and over again where they are not
enough, which helps all that remember words. 1 is a bare count of that file in the same process; the first row shows the
noise. Memory is the peak in MB beyond what imports and text hold. Ours, and the cheapest peers.
"""


def written(results: Figures, rows: list[Splitter]) -> str:
    """Return the report with all parts that have figures."""
    parts = [INTRODUCTION]
    for key in results.get("speed", {}):
        parts += [f"## {results['speed'][key]['splintr']['described']}\n", _corpus_table(results, key, rows)]
    if results.get("correctness"):
        checks = results["correctness"].get("markdown", {})
        shares = {what: _ours(checks, what, of) for what, of in (("several", "chunks"), ("left_out", "visible"))}
        parts.append(NOTES.format(**shares))
    if results.get("growth"):
        parts += ["## One file of 1 to 64 MB\n", _growth_table(results["growth"], rows)]
    if results.get("startup") or results.get("install"):
        parts += ["## Start-up and size\n", _footprint_table(results)]
    parts.append(_versions(results))
    return "\n".join(parts)


def by_cost(speed: Figures, rows: Iterable[Splitter], format: str) -> list[Splitter]:
    """Return the rows that support a format: ours first, then peers, each by cost."""
    supported = [row for row in rows if format in row.formats]
    return sorted(supported, key=lambda row: (not row.ours, cost_of(speed, row) or float("inf")))


def cost_of(speed: Figures, row: Splitter, counter: str | None = None) -> float | None:
    """Return a row's cost with a counter, by default the row's first."""
    cost: float | None = speed.get(counter or row.counters[0], {}).get("cost", {}).get(row.name)
    return cost


def _corpus_table(results: Figures, key: str, rows: list[Splitter]) -> str:
    speed = results["speed"][key]
    checks = results.get("correctness", {}).get(key, {})
    head = ("", "cost", "with tiktoken", "chunks", "tokens each", "over the limit", "wrong offsets")
    lines: list[tuple[str, ...]] = [(BARE, "1", *[""] * 7)]
    for row in by_cost(speed, rows, speed["form"]):
        costs = [_cost(speed, row, counter) for counter in ("splintr", "tiktoken")]
        lines.append((row.label, *costs, *_checks(checks.get(row.name))))
    sampled = speed["tiktoken"]["described"] != speed["splintr"]["described"]
    note = (
        f"\nWith tiktoken: {speed['tiktoken']['described']}, against the bare count of the same.\n" if sampled else ""
    )
    return table((*head, "text lost", "sentences cut"), lines) + note


def _cost(speed: Figures, row: Splitter, counter: str) -> str:
    found = cost_of(speed, row, counter)
    if found is not None:
        return f"{found:.2f}" if found < 9.95 else f"{found:.1f}"
    return str(speed.get(counter, {}).get("failed", {}).get(row.name, "–"))


def _checks(tally: Figures | None) -> tuple[str, ...]:
    if not tally or not tally["chunks"]:
        return ((tally or {}).get("failure") or "–", "", "", "", "", "")
    over = share(tally["over"], tally["chunks"]) + (f" ({tally['worst']})" if tally["over"] else "")
    lost = share(tally["lost"], tally["visible"]) + (" ¹" if tally["left_out"] else "")
    if tally["failed_texts"]:
        lost += f"; failed on {tally['failed_texts']} files ({tally['failure']})"
    misplaced, cut = share(tally["misplaced"], tally["chunks"]), share(tally["cut"], tally["ends"])
    return f"{tally['chunks']:,}", f"{tally['tokens'] / tally['chunks']:.0f}", over, misplaced, lost, cut


def share(part: int, whole: int) -> str:
    """Return a share as text; only an exact zero is written as 0."""
    if not part or not whole:
        return "0"
    percent = 100 * part / whole
    return "< 0.01 %" if percent < 0.01 else f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def _ours(checks: Figures, what: str, of: str) -> str:
    """Return a share for each of our strategies as text; peers have none."""
    shares = [f"{share(tally[what], tally[of])} in `{name}`" for name, tally in checks.items() if tally[what]]
    return ", ".join(shares) or "none here"


def _growth_table(growth: Figures, rows: list[Splitter]) -> str:
    labels = {BARE: BARE, **{row.name: row.label for row in rows}}
    head = ["", *(f"{size} MB" for size in SIZES), *(f"memory, {size} MB" for size in SIZES)]
    lines = []
    for name, figures in growth.items():
        cells = [figures.get(str(size), {}) for size in SIZES]
        lines.append((labels.get(name, name), *map(_grown, cells), *map(_memory, cells)))
    return table(head, lines) + GROWTH_NOTE


def _grown(figures: Figures) -> str:
    if "cost" in figures:
        return f"{figures['cost']:.2f}"
    return f"stopped after {PATIENCE} s" if "stopped" in figures else figures.get("failed", "–")


def _memory(figures: Figures) -> str:
    return f"{figures['peak'] / 1e6:.0f}" if "peak" in figures else "–"


def _footprint_table(results: Figures) -> str:
    startup, install = results.get("startup", {}), results.get("install", {})
    lines = []
    for library in LIBRARIES:
        started, size = startup.get(library.package, {}), install.get(library.package, {})
        mass = f"{size['bytes'] / 1e6:.0f} MB" if "bytes" in size else size.get("failed", "–")
        numpy = f"{size['numpy'] / 1e6:.0f} MB" if size.get("numpy") else "–"
        name = " + ".join((library.package, *library.needs))
        label = f"**{name}**" if library.package == "spanwise" else name
        times = [_times(started.get(what)) for what in ("import", "first")]
        lines.append((label, *times, mass, numpy, str(size.get("packages", "–"))))
    idle = startup.get("python", {}).get("seconds", 0.0)
    note = (
        "\nStart-up is CPU time beyond a Python that does nothing, as a multiple of that one"
        f" ({1000 * idle:.0f} ms here): to import\nthe names that are used, and up to the first chunk of one sentence,"
        " vocabulary and all. Installed is what pip puts\ninto an empty folder, without numpy and compiled files.\n"
    )
    head = ("", "import", "first chunk", "installed", "numpy, if needed", "packages")
    return table(head, lines) + note


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.1f}"


def _versions(results: Figures) -> str:
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return f"Python {results['python']}; {named}.\n"


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned."""
    cells = [list(head), *map(list, lines)]
    rule = ["---", *(["---:"] * (len(cells[0]) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [cells[0], rule, *cells[1:]]) + "\n"
