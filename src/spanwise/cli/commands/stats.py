"""`spanwise stats`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from typing import Any, Final

from spanwise.cli.terminal import Screen, bar, columns, one_line, padded, print_json
from spanwise.errors import OptionError, UnreadableError
from spanwise.records.loaders import records_of_file
from spanwise.records.stats import SizeStatistics, sizes_of, summary_of

_BINS: Final = 12
_STEPS: Final = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)
_COUNTS: Final = {
    "documents": "documents", "chunks": "chunks", "tokens": "tokens", "smallest": "tokens, smallest",
    "tenth": "tokens, 10th percentile", "median": "tokens, median", "mean": "tokens, mean",
    "ninetieth": "tokens, 90th percentile", "largest": "tokens, largest",
}  # fmt: skip
_SHARES: Final = {"overlap_share": "overlap", "context_share": "repeated context"}


def run(arguments: argparse.Namespace) -> None:
    """Measure one file, or two side by side."""
    if len(arguments.chunks) > 2:
        raise OptionError("CHUNKS", "are one file or two", value=len(arguments.chunks))
    measured = [sizes_of(name, records_of_file(name)) for name in arguments.chunks]
    for sizes in measured:
        if not sizes.tokens:
            rule = "holds no chunks" if sizes.parents is None else "holds parents without children"
            raise UnreadableError(sizes.name, rule)
    if arguments.json:
        summaries = [summary_of(sizes) for sizes in measured]
        print_json(summaries[0] if len(summaries) == 1 else summaries)
    else:
        _show(Screen(sys.stdout), _levels(measured))


def _levels(measured: list[SizeStatistics]) -> list[SizeStatistics]:
    """Put the parents of a file beside its children."""
    levels = []
    for sizes in measured:
        levels += [replace(sizes.parents, name=f"{sizes.name}, parents")] if sizes.parents else []
        levels.append(replace(sizes, name=f"{sizes.name}, children") if sizes.parents else sizes)
    return levels


def _show(screen: Screen, measured: list[SizeStatistics]) -> None:
    summaries = [summary_of(sizes) for sizes in measured]
    rows = [("", *(one_line(summary["file"]) for summary in summaries))]
    rows += [(label, *(f"{summary[name]:,}" for summary in summaries)) for name, label in _COUNTS.items()]
    rows += [(label, *(f"{summary[name]:.1%}" for summary in summaries)) for name, label in _SHARES.items()]
    rows += _shares("type ", [sizes.types for sizes in measured])
    rows += _shares("headings deep ", [sizes.depths for sizes in measured])
    screen.table(rows, right=range(1, len(rows[0])), head="strong")
    screen.line()
    for line in _histograms(measured, screen.width):
        screen.line(line)


def _shares(label: str, counters: list[Counter[Any]]) -> list[tuple[str, ...]]:
    keys = sorted({key for counter in counters for key in counter})
    return [(f"{label}{key}", *(f"{counter[key] / counter.total():.1%}" for counter in counters)) for key in keys]


def _histograms(measured: list[SizeStatistics], width: int) -> list[str]:
    """Return bars for how many chunks have how many tokens, with the same bins for all."""
    largest = max(max(sizes.tokens) for sizes in measured)
    step = next((step for step in _STEPS if step * _BINS > largest), largest // _BINS + 1)
    room = (width - 14) // len(measured) - 10
    lines = [f"{'tokens':>13}  " + "".join(padded(one_line(sizes.name), room + 10) for sizes in measured).rstrip()]
    counts = [Counter(size // step for size in sizes.tokens) for sizes in measured]
    for bin_number in range(largest // step + 1):
        cells = [_bar(counter, bin_number, room) for counter in counts]
        span = f"{bin_number * step}-{(bin_number + 1) * step - 1}"
        lines.append(f"{span:>13}  {''.join(cell + ' ' * (room + 10 - columns(cell)) for cell in cells)}".rstrip())
    return lines


def _bar(counter: Counter[int], bin_number: int, room: int) -> str:
    number = counter[bin_number]
    return f"{bar(number / max(counter.values()), room) or '▏'} {number:,}" if number else ""
