"""Where tokens have ended, and what a span of text counts between places where a token always begins."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import Final

# No pre-token of cl100k or o200k goes on with a space after anything visible, with white space or punctuation after a
# letter or number (but o200k joins contractions, so there is no apostrophe here), or with anything visible after a line
# end (but o200k joins slashes to line ends). None looks farther ahead than that either, so each side is encoded alone.
SEAM: Final = re.compile(r"\S(?= )|[^\W_](?=[\s!-&(-/:-@\[-`{-~，。、；：！？])|\n(?=[^\s/])")
"""Where a token begins in both encodings, whatever stands around."""
NEAR: Final = 4
"""How many tokens a subtraction may be off; closer to a limit than this, only an exact count is believed."""
NEARBY: Final = 64
"""How many characters from an edge a seam is looked for."""


def tokens_between(ends: array[int], start: int, end: int) -> int:
    """Count the tokens that end after one character position, up to another."""
    return bisect_right(ends, end) - bisect_right(ends, start)


def ended_at_each(ends: array[int], positions: list[int]) -> list[int]:
    """Give for each character position how many tokens have ended there."""
    return [bisect_right(ends, position) for position in positions]


def ended_at(ends: array[int], position: int) -> int:
    """Count the tokens that have ended at a character position."""
    return bisect_right(ends, position)


def ended_at_edges(ends: array[int], ranges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Give how many tokens have ended at the start of each range, and at its end."""
    return ended_at_each(ends, [start for start, _ in ranges]), ended_at_each(ends, [end for _, end in ranges])


def exact_tokens(text: str, ends: array[int], known: dict[str, int], start: int, end: int, joiner: str) -> int:
    """Count a span and a joiner after it exactly, if what stands before its first and after its last seam is known.

    Between two seams the difference of ends is exact. `known` are counts of short strings; -1 where these don't do.
    """
    if not 0 <= start < end <= len(text):
        return -1
    first, last = start, end
    while not _is_seam(text, first):
        first += 1
        if first >= end or first - start > NEARBY:
            return -1
    if joiner or not _is_seam(text, last):
        last -= 1
        while last > first and not _is_seam(text, last) and end - last <= NEARBY:
            last -= 1
        if last < first or end - last > NEARBY:
            return -1
    head = known.get(text[start:first], -1) if start < first else 0
    tail = known.get(text[last:end] + joiner, -1) if last < end or joiner else 0
    return -1 if head < 0 or tail < 0 else head + tokens_between(ends, first, last) + tail


def _is_seam(text: str, place: int) -> bool:
    return place in (0, len(text)) or SEAM.match(text, place - 1) is not None
