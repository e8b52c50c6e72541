"""Whether a cut goes through a character."""

from __future__ import annotations

from typing import Final

from spanwise.cuts import is_grapheme_boundary
from spanwise.tokens import Tokenizer

_WINDOW: Final = 256


def torn_character(text: str, cut: int, tokenizer: Tokenizer, limit: int | None, prefix: str = "") -> str | None:
    """Give the character that a cut tears although it would fit into a chunk; white space at an edge is trimmed."""
    if is_grapheme_boundary(text, cut) or text[cut - 1].isspace() or text[cut].isspace():
        return None
    cluster = _cluster(text, cut)
    fits = limit is None or tokenizer.count(prefix + cluster) <= limit
    return cluster if fits else None


def _cluster(text: str, cut: int) -> str:
    """Give the grapheme around a position, as far as a window shows it."""
    from pyuegc import EGC

    begin = max(0, cut - _WINDOW)
    while begin > 0 and begin > cut - 4 * _WINDOW and not is_grapheme_boundary(text, begin):
        begin -= 1
    reached = begin
    for cluster in EGC(text[begin : cut + _WINDOW]):
        if reached < cut < reached + len(cluster):
            return str(cluster)
        reached += len(cluster)
    return text[cut - 1 : cut + 1]
