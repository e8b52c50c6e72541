"""Ranges of a text, trimmed of white space."""

from __future__ import annotations

import re
from typing import Final

Range = tuple[int, int]

_NEXT_LINE: Final = re.compile(r"\n(?=[^\S\n]*\S)")


def visible_range(text: str, start: int, end: int) -> Range | None:
    """Trim white space off both ends of a range, clipped to the text; None when nothing is left."""
    start = max(start, 0)
    piece = text[start : max(end, 0)].rstrip()
    if not piece:
        return None
    end = start + len(piece)
    return end - len(piece.lstrip()), end


def visible_ranges(text: str, cuts: list[int], start: int, end: int) -> list[Range]:
    """Return the ranges that `cuts` (ascending, inside) divide a range into, each trimmed, without blank ones."""
    pieces = zip([start, *cuts], [*cuts, end], strict=True)
    ranges = (visible_range(text, low, high) for low, high in pieces)
    return [piece for piece in ranges if piece]


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the lines of a range begin, without the first line and blank ones."""
    length = len(text)  # a pattern takes no position beyond the range of the machine
    return [found.end() for found in _NEXT_LINE.finditer(text, min(max(start, 0), length), min(max(end, 0), length))]
