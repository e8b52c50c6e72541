"""`spanwise stats`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from statistics import median, quantiles
from typing import Any, Final

from spanwise.cli.terminal import Screen, bar, columns, padded, print_json, printable, table
from spanwise.errors import OptionError, UnreadableError
from spanwise.records.loaders import records_of_file
from spanwise.records.record import is_parent

_BINS: Final = 12
_STEPS: Final = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)


@dataclass
class SizeStatistics:
    """What there is to say of a file of chunks; of two levels each has sizes of its own."""

    name: str
    tokens: list[int] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    characters: int = 0
    overlap: int = 0
    context: int = 0
    oversize: int = 0
    parents: SizeStatistics | None = None


def run(arguments: argparse.Namespace) -> int:
    """Measure one file, or two side by side."""
    if len(arguments.chunks) > 2:
        raise OptionError("CHUNKS", "are one file or two", value=len(arguments.chunks))
    measured = [sizes_of(name, records_of_file(name)) for name in arguments.chunks]
    for sizes in measured:
        if not sizes.tokens:
            words = "holds no chunks" if sizes.parents is None else "holds parents without children"
            raise UnreadableError(sizes.name, words)
    if arguments.json:
        summaries = [summary_of(sizes) for sizes in measured]
        print_json(summaries[0] if len(summaries) == 1 else summaries)
    else:
        _show(Screen(sys.stdout), measured)
    return 0


def sizes_of(name: str, records: Iterable[dict[str, Any]]) -> SizeStatistics:
    """Go through the records once."""
    sizes = SizeStatistics(name)
    for record in records:
        try:
            if is_parent(record):
                sizes.parents = sizes.parents or SizeStatistics(name)
                _take_in(sizes.parents, record)
            else:
                _take_in(sizes, record)
        except (TypeError, KeyError, AttributeError) as error:
            hint = "spanwise check names what is wrong"
            raise UnreadableError(name, "holds records that are no chunks", hint=hint) from error
    return sizes


def _take_in(sizes: SizeStatistics, record: dict[str, Any]) -> None:
    name = sizes.name
    metadata = record.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    tokens = next((home[key] for home, key in _token_fields(record, inner) if key in home), None)
    if type(tokens) is not int:
        raise UnreadableError(name, "holds records without a token count", hint="write them without --dialect")
    sizes.tokens.append(tokens)
    sizes.types[str(record.get("chunk_type") or record.get("chunkType") or "unknown")] += 1
    sizes.depths[len(record.get("headings_path") or record.get("full_heading_hierarchy") or ())] += 1
    sizes.documents.add(str(record.get("document_id") or record.get("note_id") or record.get("page_id") or name))
    sizes.characters += len(_text(record))
    sizes.oversize += bool(record.get("oversize"))
    for piece in record.get("pieces") or ():
        length = piece["end"] - piece["start"]
        sizes.overlap += length if piece["role"].startswith("overlap") else 0
        sizes.context += length if piece["role"] == "context" else 0


def _token_fields(record: dict[str, Any], inner: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    yield from ((record, "token_count"), (record, "token_estimate"), (inner, "tokenCount"))


def _text(record: dict[str, Any]) -> str:
    names = ("full_text", "md_text", "content", "text")
    return next((record[name] for name in names if isinstance(record.get(name), str)), "")


def summary_of(sizes: SizeStatistics) -> dict[str, Any]:
    """Give the figures as a record."""
    tokens = sorted(sizes.tokens)
    tenths = quantiles(tokens, n=10, method="inclusive") if len(tokens) > 1 else [float(tokens[0])] * 9
    return {
        "file": sizes.name,
        "documents": len(sizes.documents),
        "chunks": len(tokens),
        "tokens": sum(tokens),
        "smallest": tokens[0],
        "tenth": round(tenths[0]),
        "median": round(median(tokens)),
        "mean": round(sum(tokens) / len(tokens), 1),
        "ninetieth": round(tenths[8]),
        "largest": tokens[-1],
        "overlap_share": round(sizes.overlap / max(sizes.characters, 1), 4),
        "context_share": round(sizes.context / max(sizes.characters, 1), 4),
        "oversize": sizes.oversize,
        "types": dict(sorted(sizes.types.items())),
        "headings_depth": {str(depth): number for depth, number in sorted(sizes.depths.items())},
        **({"parents": summary_of(sizes.parents)} if sizes.parents else {}),
    }


def _levels(measured: list[SizeStatistics]) -> list[SizeStatistics]:
    """Put the parents of a file beside its children."""
    levels = []
    for sizes in measured:
        if sizes.parents:
            levels += [replace(sizes.parents, name=f"{sizes.name}, parents")]
            levels += [replace(sizes, name=f"{sizes.name}, children")]
        else:
            levels.append(sizes)
    return levels


def _show(screen: Screen, measured: list[SizeStatistics]) -> None:
    measured = _levels(measured)
    summaries = [summary_of(sizes) for sizes in measured]
    rows = [("", *(printable(summary["file"]) for summary in summaries))]
    for name in ("documents", "chunks", "tokens", "smallest", "tenth", "median", "mean", "ninetieth", "largest"):
        rows.append((_WORDS.get(name, name), *(f"{summary[name]:,}" for summary in summaries)))
    rows.append(("overlap", *(f"{summary['overlap_share']:.1%}" for summary in summaries)))
    rows.append(("repeated context", *(f"{summary['context_share']:.1%}" for summary in summaries)))
    rows += _shares("type ", [sizes.types for sizes in measured])
    rows += _shares("headings deep ", [sizes.depths for sizes in measured])
    for place, line in enumerate(table(rows, right=range(1, len(rows[0])), width=screen.width)):
        screen.line(line, "" if place else "strong")
    screen.line()
    for line in _histograms(measured, screen.width):
        screen.line(line)


_WORDS: Final = {
    "smallest": "tokens, smallest", "tenth": "tokens, 10th percentile", "median": "tokens, median",
    "mean": "tokens, mean", "ninetieth": "tokens, 90th percentile", "largest": "tokens, largest",
}  # fmt: skip


def _shares(label: str, counters: list[Counter[Any]]) -> list[tuple[str, ...]]:
    keys = sorted({key for counter in counters for key in counter})
    return [(f"{label}{key}", *(f"{counter[key] / counter.total():.1%}" for counter in counters)) for key in keys]


def _histograms(measured: list[SizeStatistics], width: int) -> list[str]:
    """Draw how many chunks have how many tokens, with the same bins for all."""
    largest = max(max(sizes.tokens) for sizes in measured)
    step = next((step for step in _STEPS if step * _BINS > largest), largest // _BINS + 1)
    room = (width - 14) // len(measured) - 10
    lines = [f"{'tokens':>13}  " + "".join(padded(printable(sizes.name), room + 10) for sizes in measured).rstrip()]
    counts = [Counter(size // step for size in sizes.tokens) for sizes in measured]
    for bin_number in range(largest // step + 1):
        cells = [_bar(counter, bin_number, room) for counter in counts]
        span = f"{bin_number * step}-{(bin_number + 1) * step - 1}"
        lines.append(f"{span:>13}  {''.join(cell + ' ' * (room + 10 - columns(cell)) for cell in cells)}".rstrip())
    return lines


def _bar(counter: Counter[int], place: int, room: int) -> str:
    number = counter[place]
    return f"{bar(number / max(counter.values()), room) or '▏'} {number:,}" if number else ""
