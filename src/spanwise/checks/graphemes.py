"""Whether a cut goes through a character."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from spanwise.text.cuts import grapheme_starts, is_grapheme_boundary
from spanwise.text.tokens import FullTokenizer

_WINDOW: Final = 4096  # a character that is longer fits into no chunk


def torn_character(text: str, cut: int, tokenizer: FullTokenizer, limit: int | None, prefix: str = "") -> str | None:
    """Return the character that a cut splits although it would fit into a chunk; white space at an edge is trimmed.

    Return None for a character at an edge of the text: if the text is only a part, it may go on beyond the edge.
    """
    if is_grapheme_boundary(text, cut) or text[cut - 1].isspace() or text[cut].isspace():
        return None
    low, high = max(0, cut - _WINDOW), min(len(text), cut + _WINDOW)
    starts = [*grapheme_starts(text, low, high), high]
    after = bisect_left(starts, cut)
    start, end = starts[after - 1], starts[after]
    if start == low or end in {cut, high}:  # it reaches the edge of the window, and may go on, or is not split
        return None
    fits = limit is None or tokenizer.count(prefix + text[start:end]) <= limit
    return text[start:end] if fits else None
