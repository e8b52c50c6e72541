"""Token budgets: divide a span into units that fit, and group units while they fit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial
from operator import sub

from spanwise.documents.span import between
from spanwise.native import visible_ranges
from spanwise.text.cuts import Cutter, forced_cuts, trimmed
from spanwise.text.tokens import NEAR, TokenMap

Range = tuple[int, int]


def divide_once(text: str, span: Range, cutter: Cutter, *, indented: bool = False) -> list[Range]:
    """Divide a span at all cuts of one kind, and trim the pieces."""
    cuts = cutter(*span)
    if not indented:
        return visible_ranges(text, cuts, *span)
    ranges = (trimmed(text, *piece, indented=True) for piece in between(cuts, *span))
    return [piece for piece in ranges if piece]


def divide(
    tokens: TokenMap, span: Range, ladder: Sequence[Cutter], limit: int, *, most: int = 0, indented: bool = False
) -> list[Range]:
    """Divide a span into trimmed units that each fit `limit`, with the coarsest cuts of the ladder that do.

    Only a single grapheme may be larger, up to `most`: if `limit` reserves room for something that can be dropped, or
    if the template's last space and the grapheme may be one token.
    """
    if tokens.fits(*span, limit):
        return [span]
    forced = partial(forced_cuts, tokens, limit=limit, most=max(most, limit))
    pieces = divide_once(tokens.text, span, ladder[0] if ladder else forced, indented=indented)
    if not ladder:
        return pieces
    begins, finishes = tokens.at_edges(pieces)
    if max(map(sub, finishes, begins), default=0) + NEAR <= limit:
        return pieces
    units: list[Range] = []
    for piece, begin, finish in zip(pieces, begins, finishes, strict=True):
        if finish - begin + NEAR <= limit:
            units.append(piece)
        else:
            units += divide(tokens, piece, ladder[1:], limit, most=most, indented=indented)
    return units


def fill(tokens: TokenMap, units: Sequence[Range], target: int, limit: int, first_limit: int) -> list[tuple[int, int]]:
    """Group neighbours greedily: a unit is added while the group is below `target` and the sum within `limit`.

    The first group may have a limit of its own. Returns half-open ranges of units. A group may be small; the caller
    decides whether it joins another.
    """
    begins, finishes = tokens.at_edges(units)
    groups: list[tuple[int, int]] = []
    first = 0
    while first < len(units):
        most = limit if first else first_limit
        full = min(bisect_left(finishes, begins[first] + target, first) + 1, len(units))
        after = bisect_right(finishes, begins[first] + most - NEAR, first + 1, full)  # these fit without an exact count
        while after < full and tokens.fits(units[first][0], units[after][1], most):
            after += 1
        groups.append((first, after))
        first = after
    return groups


def evened(
    tokens: TokenMap, units: Sequence[Range], groups: list[tuple[int, int]], limit: int, first_limit: int
) -> list[tuple[int, int]]:
    """Return groups of units whose last two are of about one size; `first_limit` holds for the first of these two."""
    if len(groups) < 2:
        return groups
    (low, _), (_, high) = groups[-2:]
    begins, finishes = tokens.at_edges(units[low:high])
    middle = (begins[0] + finishes[-1]) / 2
    cut = low + min(
        range(high - low - 1, 0, -1), key=lambda index: abs((finishes[index - 1] + begins[index]) / 2 - middle)
    )
    fits = tokens.fits(units[low][0], units[cut - 1][1], first_limit) and tokens.fits(
        units[cut][0], units[high - 1][1], limit
    )
    return [*groups[:-2], (low, cut), (cut, high)] if fits else groups
