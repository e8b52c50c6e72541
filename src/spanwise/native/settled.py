"""Chunks from cores that need no context, no overlap and no further cut."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from spanwise.native.seams import FARTHEST, SEAM, exact_tokens

Chunk = TypeVar("Chunk")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+")
Prefix = tuple[str, int]
Shown: TypeAlias = "tuple[str, array[int], array[int], array[int], array[int]]"


class Rules(NamedTuple):
    """What decides whether a core needs further work.

    These are the kinds of blocks that it must not divide, because their parts repeat context, the kinds that must not
    be among its blocks, and the limit. `prefixes` are what the template puts before each core, with its tokens; `shown`
    is what a page shows of the text, where that is embedded: that text, the ends of its tokens, the starts and ends of
    what is removed, as `without_hidden` returns them, and the places after it.
    """

    repeating: frozenset[str]
    left_out: frozenset[str]
    limit: int
    prefixes: Sequence[Prefix] | None = None
    shown: Shown | None = None


def settled_alone(
    text: str,
    ends: array[int],
    known: dict[str, int],
    blocks: tuple[Any, ...],
    plans: list[Any],
    rules: Rules,
    shape: Callable[..., Chunk],
) -> list[Chunk | None]:
    """Return a chunk for each planned core that needs no further work, None for each that does.

    Such a core asks for no overlap, lies in its blocks, and fits under its prefix by the count of `exact_tokens`: the
    text itself, and what a page shows of it.
    """
    repeating, left_out, limit, prefixes, shown = rules
    if prefixes is not None and len(prefixes) != len(plans):
        raise ValueError("there is one prefix for each plan")
    chunks: list[Chunk | None] = []
    for number, (start, end, first, last, overlap, around) in enumerate(plans):
        count, prefix = -1, prefixes[number] if prefixes is not None else ("", 0)
        inside = 0 <= first <= last < len(blocks)
        wanted = inside and not overlap and around is None
        if wanted and _is_plain(blocks[first : last + 1], start, end, repeating, left_out):
            count = _counted(text, ends, known, (start, end), prefix)
        if 0 <= count <= limit and shown is not None and (seen := _shown_range(shown, start, end)) != (0, 0):
            count = _counted(shown[0], shown[1], known, seen, prefix) if seen else -1
        chunks.append(shape(start, end, first, last, count, (), prefix[0]) if 0 <= count <= limit else None)
    return chunks


def _counted(text: str, ends: array[int], known: dict[str, int], span: tuple[int, int], prefix: Prefix) -> int:
    """Return the exact count of a range under a prefix; -1 if that would need encoding."""
    if not 0 <= span[0] < span[1] <= len(text) or prefix[1] < 0:
        return -1
    if prefix[0] and not SEAM.match(prefix[0][-1] + text[span[0] : span[0] + FARTHEST]):
        return -1
    count = exact_tokens(text, ends, known, *span, "")
    return count if count < 0 else count + prefix[1]


def _shown_range(shown: Shown, start: int, end: int) -> tuple[int, int] | None:
    """Return the visible range of the shown text; (0, 0) where nothing is visible, None if an edge is in a change."""
    text, _, *ranges = shown
    low, high = _place(start, *ranges), _place(end, *ranges)
    if low is None or high is None:
        return None
    high = low + len(text[low:high].rstrip())
    if high == low:
        return 0, 0
    blank = _BLANK_LINES.match(text, low, high)
    return (blank.end() if blank else low), high


def _place(position: int, starts: array[int], ends: array[int], places: array[int]) -> int | None:
    """Return the place of a position in the shown text; None inside a range that is shown as another text."""
    index = bisect_right(ends, position)
    place = places[index - 1] + position - ends[index - 1] if index else position
    if index == len(starts) or starts[index] >= position:
        return place
    before = place - position + starts[index]
    return before if before == places[index] else None


def _is_plain(
    blocks: tuple[Any, ...], start: int, end: int, repeating: frozenset[str], left_out: frozenset[str]
) -> bool:
    """Whether blocks contain a core, and none of them needs further work."""
    first, last = blocks[0], blocks[-1]
    if start < first.start or end > last.end:
        return False
    if len(blocks) > 1 and any(block.kind in left_out for block in blocks):
        return False
    headless = bool(first.parts) and not first.parts[0].header
    begins_inside = first.kind in repeating and (start > first.start or headless)
    return not begins_inside and not (last.kind in repeating and end < last.end)
