"""Token counts from token ends, exact between seams: positions where a token always begins."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import Final

# No pre-token of cl100k or o200k continues with a space after visible text, with white space or punctuation after a
# letter or number (but o200k joins contractions, so there is no apostrophe here), or with visible text after a line end
# (but o200k joins slashes to line ends), be it indented. None looks farther ahead than that either, so each side is
# encoded alone.
SEAM: Final = re.compile(r"\S(?= )|[^\W_](?=[\s!-&(-/:-@\[-`{-~，。、；：！？])|\n(?=[ \t]{0,64}[^\s/])")
"""A token begins after each match in both encodings, whatever the surrounding text."""
NEAR: Final = 4
"""How many tokens a subtraction may be off; closer to a limit than this, an exact count is needed."""
NEARBY: Final = 64
"""How many characters from an edge a seam is searched."""
FARTHEST: Final = 66
"""How many characters decide whether there is a seam after the first of them."""
LARGEST: Final = 2**31 - 1
"""The largest position in an array of ends, and the largest count that a text can have."""


def tokens_between(ends: array[int], start: int, end: int) -> int:
    """Return the number of tokens that end after `start` and up to `end`."""
    return bisect_right(ends, end) - bisect_right(ends, start)


def ended_at_each(ends: array[int], positions: list[int]) -> list[int]:
    """Return the number of tokens that have ended at each character position."""
    return [bisect_right(ends, position) for position in positions]


def ended_at(ends: array[int], position: int) -> int:
    """Return the number of tokens that have ended at a character position."""
    return bisect_right(ends, position)


def ended_at_edges(ends: array[int], ranges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the numbers of tokens that have ended at the start of each range, and at its end."""
    return ended_at_each(ends, [start for start, _ in ranges]), ended_at_each(ends, [end for _, end in ranges])


def exact_tokens(text: str, ends: array[int], known: dict[str, int], start: int, end: int, joiner: str) -> int:
    """Return the exact count of a span and a joiner after it, or -1 if it would need encoding.

    Between two seams the difference of ends is exact. `known` has the counts of short strings, for the text before the
    first seam and after the last.
    """
    if not 0 <= start < end <= len(text):
        return -1
    first, last = start, end
    while not _is_seam(text, first, end):  # what is behind the range makes no seam in it
        first += 1
        if first >= end or first - start > NEARBY:
            return -1
    if joiner or not _is_seam(text, last, len(text)):
        last -= 1
        while last > first and not _is_seam(text, last, end) and end - last <= NEARBY:
            last -= 1
        if last < first or end - last > NEARBY:
            return -1
    head = known.get(text[start:first], -1) if start < first else 0
    tail = known.get(text[last:end] + joiner, -1) if last < end or joiner else 0
    is_known = 0 <= head <= LARGEST and 0 <= tail <= LARGEST
    return head + tokens_between(ends, first, last) + tail if is_known else -1


def _is_seam(text: str, position: int, end: int) -> bool:
    return position in (0, len(text)) or SEAM.match(text, position - 1, end) is not None
