"""Cores from cuts and from spans: what is never content is left out, and no cut goes through a character or figure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import index
from typing import Any, Final, NamedTuple

from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import Document
from spanwise.errors import PluginError
from spanwise.text.cuts import grapheme_break, is_grapheme_boundary, trimmed

_LOOK_BACK: Final = 256


class _Wanted(NamedTuple):
    """A range that a plug-in wants as a core, and whether overlap may precede it."""

    start: int
    end: int
    overlap: bool


def whole_cuts(task: ChunkingTask, cuts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield ascending cuts with where each was moved: back to where a character begins, and out of a figure.

    A cut that would leave nothing before it is dropped.
    """
    start, in_grapheme = 0, False
    for cut in cuts:
        if cut <= start:  # a figure reached beyond it
            continue
        # a grapheme longer than this is searched from its middle: from its start the time would be quadratic
        low = max(start, cut - _LOOK_BACK) if in_grapheme else start
        boundary = grapheme_break(task.text, low, cut)
        in_grapheme = boundary is None
        if boundary is not None:  # else a grapheme goes on, and stays whole
            start = _outside_figure(task.document, boundary, start)
            yield cut, start


def _outside_figure(document: Document, cut: int, start: int) -> int:
    if not document.blocks:
        return cut
    block = document.blocks[block_at(document, cut)]
    if block.kind != "figure" or not block.start < cut < block.end:
        return cut
    return block.start if block.start > start else block.end


def core_between(task: ChunkingTask, start: int, end: int, overlap: bool = False) -> list[PlannedCore]:
    """Return one core, if anything of the content lies in the range."""
    if not task.document.blocks or not (span := trimmed(task.text, start, end)):
        return []
    if not (ranges := task.core_ranges(*span)):
        return []
    first, last = block_at(task.document, ranges[0][0]), block_at(task.document, ranges[-1][1] - 1)
    return [PlannedCore(ranges[0][0], ranges[-1][1], first, last, overlap)]


def cores_of_spans(task: ChunkingTask, spans: Iterable[Any], who: str) -> list[PlannedCore]:
    """Return the cores that a plug-in wants, given as pairs or as `PlannedCore`s.

    Raise PluginError for spans that overlap, descend, leave the text, or leave content out.
    """
    wanted = list(_checked(task, spans, who))
    overlaps = {one.start: one.overlap for one in wanted}
    cores, start, overlap = list[PlannedCore](), 0, bool(wanted) and wanted[0].overlap
    end = len(task.text)
    # what lies between two spans is no content, so that they are known by where they start
    for cut, moved in whole_cuts(task, [one.start for one in wanted[1:]]):
        cores += core_between(task, start, moved, overlap)
        start, overlap = moved, overlaps[cut]
    return cores + core_between(task, start, end, overlap)


def _checked(task: ChunkingTask, spans: Iterable[Any], who: str) -> Iterator[_Wanted]:
    """Yield the spans that are not empty, each checked when it comes: an endless plan ends with an error."""
    reached, most = 0, len(task.text)
    for found in spans:
        span = _wanted(found, who)
        if not 0 <= span.start <= span.end <= most:
            raise PluginError(who, f"plans a span outside the text, which has {most} characters", value=span[:2])
        if span.start < reached:
            rule = f"plans a span that begins before the end of the one before it, at {reached}"
            raise PluginError(who, rule, value=span[:2], hint="spans must ascend and not overlap")
        if span.start < span.end:
            _refuse_loss(task, reached, span.start, who)
            reached = span.end
            yield span
    _refuse_loss(task, reached, most, who)


def _wanted(found: Any, who: str) -> _Wanted:
    try:
        if isinstance(found, PlannedCore):
            if found.around is not None:
                raise PluginError(who, "plans a core with `around`, which only built-in strategies may")
            return _Wanted(index(found.start), index(found.end), bool(found.overlap))
        start, end = found
        return _Wanted(index(start), index(end), False)
    except (TypeError, ValueError) as error:
        hint = "yield pairs of integers: the start and the end of each core"
        raise PluginError(who, "plans something that is no span", value=found, hint=hint) from error


def _refuse_loss(task: ChunkingTask, start: int, end: int, who: str) -> None:
    """Raise PluginError if a range between two spans has content."""
    for low, high in _without_excluded(task.excluded, start, end):
        if lost := trimmed(task.text, low, high):
            block = task.document.blocks[block_at(task.document, lost[0])]
            rule = f"leaves out a {block.kind} at {lost[0]}, and all content must be in some span"
            hint = 'leaves_out = frozenset({"heading", "rule"}) would allow it'
            text = task.text[lost[0] : min(lost[1], lost[0] + 40)]
            raise PluginError(who, rule, value=text, hint=hint if block.kind in {"heading", "rule"} else None)


def _without_excluded(excluded: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    at = bisect_left(excluded, (start,))
    at -= bool(at and excluded[at - 1][1] > start)
    while start < end:
        low, high = excluded[at] if at < len(excluded) else (end, end)
        if start < min(low, end):
            yield start, min(low, end)
        start, at = max(start, high), at + 1


def whole_position(text: str, position: int) -> int | None:
    """Return a position, moved back to where its character begins; None inside a very long character."""
    if is_grapheme_boundary(text, position):
        return position
    low = max(position - _LOOK_BACK, 0)
    return grapheme_break(text, low, position) or (None if low else 0)
