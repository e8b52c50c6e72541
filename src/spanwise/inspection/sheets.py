"""The text as the page lays it out: a sheet for each page, with slices that belong to a chunk or to none.

Sheets, slices and parts follow one another without a gap, so that their texts together are the document's text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from spanwise.documents.document import Block, Document
from spanwise.inspection.values import Inspection, Record

Range = tuple[int, int]


class BlockSlice(NamedTuple):
    """A range inside one block; `block` is None for white space around blocks."""

    block: int | None
    start: int
    end: int


class ChunkSlice(NamedTuple):
    """A range of one chunk's core, or of text in no chunk; `opening` if the chunk begins here."""

    chunk: int | None
    opening: bool
    parts: tuple[BlockSlice, ...]


class Sheet(NamedTuple):
    """A page, or the whole text of a document that has none."""

    page: int | None
    slices: tuple[ChunkSlice, ...]


class _Core(NamedTuple):
    start: int
    end: int
    chunk: int
    opening: bool


def sheets_of(inspection: Inspection) -> Iterator[Sheet]:
    """Yield the sheets of a document."""
    document, cores = inspection.document, list(_cores(inspection.painted))
    for page, start, end in _ranges(document):
        yield Sheet(page, tuple(_slices(document, cores, start, end)))


def _ranges(document: Document) -> list[tuple[int | None, int, int]]:
    """Return the range of each page; white space between two pages belongs to the first."""
    size = len(document.text)
    if not document.pages:
        return [(None, 0, size)]
    pages = sorted(document.pages, key=lambda page: (page.start, page.end))
    starts = [0, *(page.start for page in pages[1:])]
    return [(page.number, start, end) for page, start, end in zip(pages, starts, [*starts[1:], size], strict=True)]


def _cores(records: Iterable[Record]) -> Iterator[_Core]:
    for record in records:
        opening = True
        for piece in record["pieces"]:
            if piece["role"] == "core":
                yield _Core(piece["start"], piece["end"], record["chunk_index"], opening)
                opening = False


def _slices(document: Document, cores: Sequence[_Core], start: int, end: int) -> Iterator[ChunkSlice]:
    first = bisect_right(cores, start, key=lambda core: core.end)
    for index, low, high in _divided(cores, first, start, end):
        core = None if index is None else cores[index]
        opening = core is not None and core.opening and low == core.start
        yield ChunkSlice(core.chunk if core else None, opening, tuple(_parts(document, low, high)))


def _parts(document: Document, start: int, end: int) -> Iterator[BlockSlice]:
    """Yield a range divided at its blocks; white space at a cut inside a block is no part of the block here."""
    first = max(bisect_right(document.block_starts, start) - 1, 0)
    for index, low, high in _divided(document.blocks, first, start, end):
        yield BlockSlice(None if document.text[low:high].isspace() else index, low, high)


def _divided(
    items: Sequence[_Core] | Sequence[Block], first: int, start: int, end: int
) -> Iterator[tuple[int | None, int, int]]:
    """Yield a range divided at items from the index `first` on: their indices, and None for what is between them."""
    reached = start
    for index in range(first, len(items)):  # a slice would be a copy
        item = items[index]
        if item.start >= end:
            break
        low, high = max(item.start, reached), min(item.end, end)
        if high > low:
            if low > reached:
                yield None, reached, low
            yield index, low, high
            reached = high
    if reached < end:
        yield None, reached, end


class RepeatedRanges:
    """The ranges that chunks repeat besides their cores, by role."""

    def __init__(self, records: Iterable[Record]) -> None:
        """Collect the overlap and context of all chunks."""
        found: dict[str, list[Range]] = {"overlap": [], "context": []}
        for record in records:
            for piece in record["pieces"]:
                if piece["role"] != "core":
                    found[piece["role"].partition("_")[0]].append((piece["start"], piece["end"]))
        self._ranges = {role: _merged(ranges) for role, ranges in found.items()}

    def divided(self, start: int, end: int) -> Iterator[tuple[int, int, list[str]]]:
        """Yield a range divided where a repeated range begins or ends, each part with its roles."""
        inside = {role: list(_between(ranges, start, end)) for role, ranges in self._ranges.items()}
        edges = sorted({start, end, *(edge for ranges in inside.values() for pair in ranges for edge in pair)})
        for low, high in pairwise(edges):
            yield low, high, [role for role, ranges in inside.items() if any(a <= low < b for a, b in ranges)]


def _between(ranges: Sequence[Range], start: int, end: int) -> Iterator[Range]:
    for index in range(bisect_right(ranges, start, key=lambda pair: pair[1]), len(ranges)):  # a slice would be a copy
        low, high = ranges[index]
        if low >= end:
            return
        yield max(low, start), min(high, end)


def _merged(ranges: list[Range]) -> list[Range]:
    """Merge ranges that overlap or touch."""
    merged: list[Range] = []
    for low, high in sorted(set(ranges)):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def chunks_by_block(records: Iterable[Record], document: Document) -> dict[int, list[int]]:
    """Return for each block, by its index, the painted chunks with a core in it."""
    found: dict[int, list[int]] = {}
    starts = document.block_starts
    for core in _cores(records):
        first = max(bisect_right(starts, core.start) - 1, 0)
        for index in range(first, bisect_left(starts, core.end)):
            if document.blocks[index].end > core.start and core.chunk not in found.setdefault(index, []):
                found[index].append(core.chunk)
    return found
