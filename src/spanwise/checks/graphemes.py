"""Whether a cut goes through a character."""

from __future__ import annotations

from typing import Final

from spanwise.text.cuts import is_grapheme_boundary
from spanwise.text.tokens import Tokenizer

_WINDOW: Final = 4096  # a character that is longer fits into no chunk


def torn_character(text: str, cut: int, tokenizer: Tokenizer, limit: int | None, prefix: str = "") -> str | None:
    """Return the character that a cut splits although it would fit into a chunk; white space at an edge is trimmed.

    Return None for a character at an edge of the text: if the text is only a part, it may go on beyond the edge.
    """
    if is_grapheme_boundary(text, cut) or text[cut - 1].isspace() or text[cut].isspace():
        return None
    cluster = _cluster(text, cut)
    fits = cluster is not None and (limit is None or tokenizer.count(prefix + cluster) <= limit)
    return cluster if fits else None


def _cluster(text: str, cut: int) -> str | None:
    """Return the grapheme around a position; None where it reaches the edge of the window, and may go on."""
    from pyuegc import EGC

    low, high = max(0, cut - _WINDOW), min(len(text), cut + _WINDOW)
    reached = low
    for cluster in EGC(text[low:high]):
        end = reached + len(cluster)
        if reached < cut < end:
            return None if reached == low or end == high else str(cluster)
        reached = end
    return None
