"""Text fragments: what a link says so that a browser opens the page at a text and highlights it.

`#:~:text=prefix-,start,-suffix`: a browser takes the first place where all three follow each other. So the start is
enough where it stands nowhere before; where it does, what stands around it tells the places apart. All starts of a page
are looked up together, with one hash for each place and length: the work grows with the page, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from spanwise.documents import Document
from spanwise.page_words import Matches, PageTokens

_BASE: Final = 0x9E3779B97F4A7C15  # any odd number with bits all over
_LATER_STRETCHES: Final = 8  # how far into a core a link may lead instead


class _Size(NamedTuple):
    """How many tokens a link wants of what stands before the start, of the start, and of what stands after it."""

    prefix: int
    start: int
    suffix: int


_SIZES: Final = (_Size(0, 10, 0), _Size(0, 10, 8), _Size(8, 10, 0), _Size(8, 10, 8), _Size(32, 48, 32))


class _Terms(NamedTuple):
    """A link as ranges of tokens: prefix, start and suffix follow each other."""

    low: int
    start: int
    end: int
    high: int


def text_fragments(document: Document, cores: Sequence[tuple[int, int]]) -> list[str | None]:
    """Give for each core what a link to its first words says behind `text=`; None where a page shows nothing of it.

    Where the first words and all around them stand earlier on the page as well, the link leads to the first words of
    the core that don't, because what is only near is better than what is wrong.
    """
    matches = Matches(document)
    text, page = matches.text, matches.page
    hashes = _Hashes(page.names)
    found: list[str | None] = [None] * len(cores)
    waiting = _known(
        (index, matches.first_from(first, cores[index][1]))
        for index, first in enumerate(text.firsts(cores))
        if first is not None
    )
    for sizes in (_SIZES, *[_SIZES[-1:]] * _LATER_STRETCHES):
        for size in sizes:
            places = ((index, matches.on_page(first)) for index, first in waiting.items())
            terms = {index: _terms(page, place, size) for index, place in places if place is not None}
            alone = hashes.are_first([(term.low, term.high) for term in terms.values()])
            for (index, term), first in zip(terms.items(), alone, strict=True):
                if first:
                    del waiting[index]
                if first or sizes is _SIZES:
                    found[index] = _written(page, term)
        waiting = _known(
            (index, matches.first_from(text.next_stretch(first), cores[index][1])) for index, first in waiting.items()
        )
    return found


def _known(firsts: Iterable[tuple[int, int | None]]) -> dict[int, int]:
    return {index: first for index, first in firsts if first is not None}


def _terms(tokens: PageTokens, first: int, size: _Size) -> _Terms:
    end = tokens.forward(first, size.start)
    return _Terms(tokens.backward(first, size.prefix), first, end, tokens.forward(end, size.suffix))


def _written(tokens: PageTokens, term: _Terms) -> str:
    """Write a link's terms, those that there are, with the marks that tell them apart."""
    before, start, after = (_escaped(tokens.text(*span)) if span[0] < span[1] else "" for span in pairwise(term))
    return (f"{before}-," if before else "") + start + (f",-{after}" if after else "")


def _escaped(words: str) -> str:
    """Escape what would end a term or the address: a comma, a hyphen, an ampersand, a percent sign."""
    return quote(words, safe="").replace("-", "%2D")


class _Hashes:
    """Finds out whether sequences of tokens stand somewhere earlier, for all sequences of one length at once."""

    def __init__(self, names: Sequence[int]) -> None:
        import numpy

        size = len(names)
        self._size = size
        self._powers = numpy.cumprod(numpy.full(size + 1, _BASE, numpy.uint64), dtype=numpy.uint64)
        spread = (numpy.array(names, numpy.uint64) + numpy.uint64(1)) * numpy.uint64(_BASE ^ 0x5851F42D4C957F2D)
        sums = numpy.cumsum((spread ^ (spread >> numpy.uint64(29))) * self._powers[:size], dtype=numpy.uint64)
        self._sums = numpy.concatenate((numpy.zeros(1, numpy.uint64), sums))

    def are_first(self, ranges: Sequence[tuple[int, int]]) -> list[bool]:
        """Say of each range of tokens whether nothing equal begins before it."""
        lengths: dict[int, list[int]] = {}
        for index, (start, end) in enumerate(ranges):
            lengths.setdefault(end - start, []).append(index)
        first = [False] * len(ranges)
        for length, indices in lengths.items():
            earliest = self._earliest(length, [ranges[index][0] for index in indices])
            for index, place in zip(indices, earliest, strict=True):
                first[index] = place == ranges[index][0]
        return first

    def _earliest(self, length: int, starts: list[int]) -> list[int]:
        """Give for sequences of one length where each stands first."""
        import numpy

        last = self._size - length + 1
        hashes: Any = (self._sums[length:] - self._sums[:last]) * self._powers[self._size - numpy.arange(last)]
        wanted = numpy.unique(hashes[starts])
        nearest = numpy.minimum(numpy.searchsorted(wanted, hashes), len(wanted) - 1)
        matching = numpy.flatnonzero(wanted[nearest] == hashes)
        _, places = numpy.unique(nearest[matching], return_index=True)
        found: list[int] = matching[places][nearest[starts]].tolist()
        return found
