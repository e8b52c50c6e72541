"""Text fragments: what a link says so that a browser opens the page at a text and highlights it.

`#:~:text=prefix-,start,-suffix`: a browser takes the first place where all three follow each other. So the start is
enough where it stands nowhere before; where it does, what stands around it tells the places apart. All starts of a page
are looked up together, with one hash for each place and length: the work grows with the page, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from spanwise.documents.document import Document
from spanwise.records.links.page_words import Matches, PageTokens

_BASE: Final = 0x9E3779B97F4A7C15  # any odd number with bits all over
_LATER_STRETCHES: Final = 8  # how far into a core a link may lead instead
_EARLIER_STRETCHES: Final = 16  # how far before a core a link may begin
_EARLIER_TOKENS: Final = 150


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

    Where the first words and all around them stand earlier on the page as well, the link begins with words that stand
    shortly before; where there are none, it leads to the first words of the core that are the first of their kind,
    because what is only near is better than what is wrong.
    """
    matches = Matches(document)
    text, page = matches.text, matches.page
    hashes = _Hashes(page.names)
    firsts = zip(text.firsts(cores), (end for _, end in cores), strict=True)
    known = [None if first is None else matches.first_from(first, end) for first, end in firsts]
    waiting = {index: first for index, first in enumerate(known) if first is not None}
    found: dict[int, str] = {}
    for sizes in (_SIZES, *[_SIZES[-1:]] * _LATER_STRETCHES):
        places = {index: first.place for index, first in waiting.items()}
        alone, repeated = _alone(page, hashes, places, sizes)
        if sizes is _SIZES:
            found = repeated
            alone |= _led_up_to(page, hashes, {index: places[index] for index in repeated})
        found |= alone
        later = ((index, text.next_stretch(first.token)) for index, first in waiting.items() if index not in alone)
        ahead = ((index, matches.first_from(first, cores[index][1])) for index, first in later)
        waiting = {index: first for index, first in ahead if first is not None}
    return [found.get(index) for index in range(len(cores))]


def _alone(
    page: PageTokens, hashes: _Hashes, places: Mapping[int, int], sizes: Sequence[_Size]
) -> tuple[dict[int, str], dict[int, str]]:
    """Write links with as few words as tell their places from all before; those for which none does come apart."""
    found: dict[int, str] = {}
    repeated: dict[int, str] = {}
    waiting = dict(places)
    for size in sizes:
        terms = {index: _terms(page, place, size) for index, place in waiting.items()}
        alone = hashes.are_first([(term.low, term.high) for term in terms.values()])
        found |= {
            index: _written(page, term) for (index, term), first in zip(terms.items(), alone, strict=True) if first
        }
        repeated = {index: _written(page, term) for index, term in terms.items() if index not in found}
        waiting = {index: waiting[index] for index in repeated}
    return found, repeated


def _led_up_to(page: PageTokens, hashes: _Hashes, places: Mapping[int, int]) -> dict[int, str]:
    """Write links to all from some words shortly before, which are the first of their kind, up to the first words."""
    steps = [(index, place, term) for index, place in places.items() for term in _before(page, place)]
    alone = hashes.are_first([(term.low, term.high) for _, _, term in steps])
    found: dict[int, str] = {}
    for (index, place, term), first in zip(steps, alone, strict=True):
        if first and index not in found:
            words = place, page.forward(place, _SIZES[0].start)
            if not page.stands_between(*words, term.end, place):
                found[index] = f"{_written(page, term)},{_escaped(page.text(*words))}"
    return found


def _before(page: PageTokens, place: int) -> Iterator[_Terms]:
    """Give the first words of the stretches before a place, the nearest first, alone and with what goes before them."""
    start = place
    for _ in range(_EARLIER_STRETCHES):
        start = page.stretch_before(start)
        end = page.forward(start, _SIZES[0].start)
        if start < end <= place:
            yield _Terms(start, start, end, end)
            yield _Terms(page.backward(start, _SIZES[2].prefix), start, end, end)
        if not start or place - start > _EARLIER_TOKENS:
            return


def _terms(page: PageTokens, first: int, size: _Size) -> _Terms:
    """Choose the words; where a word of unspaced writing may be cut, a browser needs what stands before."""
    end = page.forward(first, size.start)
    prefix = size.prefix if size.prefix or page.ends_at(first) else _SIZES[2].prefix
    return _Terms(page.backward(first, prefix), first, end, page.forward(end, size.suffix))


def _written(page: PageTokens, term: _Terms) -> str:
    """Write a link's terms, those that there are, with the marks that tell them apart."""
    before, start, after = (_escaped(page.text(*span)) if span[0] < span[1] else "" for span in pairwise(term))
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
