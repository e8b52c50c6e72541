"""The characters of Markdown that a page doesn't show, from the ranges that it shows, and the text without them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

_CONTINUING: Final = bytes(range(0x80, 0xC0))
Mark = tuple[int, int, int, int]
"""The range of a note's mark that the parser takes for text, and the part of it that is removed."""
Without = tuple[str | None, bytes, bytes, bytes, dict[int, str]]
"""A text without what is removed, where that begins and ends, where the text goes on after it, what stands instead."""
_Removed = tuple[int, int, str]


def without_hidden(text: str, kept: bytes, changed: list[tuple[int, int, str]], marks: list[Mark]) -> Without:
    """Return a text without what a page doesn't show.

    `kept` and `changed` are as `kept_ranges` returns them, `marks` are in characters, and none in code. Positions are
    64-bit integers in characters: the starts and the ends of what is removed, ascending, and the places in the shown
    text after each of them. What stands instead of a range is by its number, if it is not nothing. Where two ranges
    overlap, there is no shown text: only a part of the source, read range by range, can be had.
    """
    found = list(_merged(_removed(text, kept, changed, marks)))
    places, pieces, shown, position = array("q"), list[str](), 0, 0
    overlapping = False
    for start, end, instead in found:
        overlapping = overlapping or start < position
        pieces += text[position:start], instead
        shown += max(start - position, 0) + len(instead)
        places.append(shown)
        position = end
    starts, ends = array("q", [one[0] for one in found]), array("q", [one[1] for one in found])
    instead_of = {number: one[2] for number, one in enumerate(found) if one[2]}
    plain = None if overlapping else "".join([*pieces, text[position:]])
    return plain, starts.tobytes(), ends.tobytes(), places.tobytes(), instead_of


def _removed(text: str, kept: bytes, changed: list[tuple[int, int, str]], marks: list[Mark]) -> Iterator[_Removed]:
    """Yield what a page doesn't show of a text, in no order."""
    raw = text.encode()
    numbers = array("q", kept)
    ranges = sorted(
        (low, ~high if high < 0 else high, high < 0) for low, high in zip(*[iter(numbers)] * 2, strict=True)
    )
    if any(not (0 <= low <= len(raw) and 0 <= high <= len(raw)) for low, high, *_ in [*ranges, *changed]):
        raise ValueError("what is kept lies in the text")
    to_chars = _positions(raw, [edge for low, high, *_ in [*ranges, *changed] for edge in (low, high)])
    position, code = 0, list[tuple[int, int]]()
    for low, high, is_code in ranges:
        start, end = to_chars[low], to_chars[high]
        yield from _marks(text, position, start)
        if is_code:
            code.append((start, end))
        position = max(position, end)
    yield from _marks(text, position, len(text))
    for low, high, instead in changed:
        yield to_chars[low], to_chars[high], instead
    ends = [end for _, end in code]
    for low, high, start, end in marks:
        index = bisect_left(ends, low + 1)
        if index == len(code) or code[index][0] >= high:
            yield start, end, ""


def _merged(found: Iterable[_Removed]) -> Iterator[_Removed]:
    """Yield ranges in order, without those that begin inside another."""
    reached = -1
    for start, end, instead in sorted(found):
        if end > reached and start < end:
            yield start if instead else max(start, reached), end, instead
            reached = end


def _marks(text: str, start: int, end: int) -> Iterator[_Removed]:
    """Yield what of a gap between shown ranges is removed: marks, and lines that hold nothing else.

    White space alone stays; that behind a mark at the start of a line belongs to the mark.
    """
    while start < end:
        line_end = text.find("\n", start, end)
        stop = end if line_end < 0 else line_end
        first = start == 0 or text[start - 1] == "\n"
        if mark := text[start:stop].strip():
            whole = first and (line_end >= 0 or stop == len(text))
            low = text.index(mark[0], start)
            if whole:
                yield start, min(stop + 1, len(text)), ""
            else:
                yield low, stop if first else low + len(mark), ""
        start = stop + 1


def _positions(raw: bytes, edges: list[int]) -> Mapping[int, int]:
    """Return positions in characters for positions in bytes."""
    found: dict[int, int] = {}
    position = chars = 0
    for edge in sorted(set(edges)):
        chars += len(raw[position:edge].translate(None, _CONTINUING))
        found[edge], position = chars, edge
    return found
