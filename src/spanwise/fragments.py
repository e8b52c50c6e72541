"""Text fragments: what a link says so that a browser opens the page at a text and highlights it.

`#:~:text=prefix-,start,-suffix`: a browser takes the first place where all three follow each other. So the start is
enough where it stands nowhere before; where it does, what stands around it tells the places apart. All starts of a page
are looked up together, with one hash for each place and length: the work grows with the page, not with its square.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from spanwise.documents import Document
from spanwise.stretches import Stretch, shown_stretches

_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_STOPS: Final = frozenset("。、，！？；：」』）】》…·「『（【《")
_BASE: Final = 0x9E3779B97F4A7C15  # any odd number with bits all over
_LATER_STRETCHES: Final = 8  # how far into a core a link may lead instead
_LONGEST: Final = 120  # tokens that a term may have where nothing ends it


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


class PageTokens:
    """The words and marks of a page, in order."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        """Take the stretches apart."""
        self.stretches = stretches
        self.names, self.places, self.homes = array("q"), array("q"), array("q")
        self.starts, self.ends = array("q"), array("q")
        known: dict[str, int] = {}
        for home, (text, anchors, places, _) in enumerate(stretches):
            anchor = 0
            for found in _TOKEN.finditer(text):
                while anchor + 1 < len(anchors) and anchors[anchor + 1] <= found.start():
                    anchor += 1
                self.names.append(known.setdefault(_folded(found[0]), len(known)))
                self.places.append(places[anchor] + found.start() - anchors[anchor])
                self.homes.append(home)
                self.starts.append(found.start())
                self.ends.append(found.end())

    def firsts(self, cores: Sequence[tuple[int, int]]) -> list[int | None]:
        """Give for each core its first token; None where the page shows nothing of it."""
        found = [(bisect_left(self.places, start), end) for start, end in cores]
        return [first if self.is_before(first, end) else None for first, end in found]

    def is_before(self, token: int, place: int) -> bool:
        """Whether a token is there and stands before a place of the document."""
        return token < len(self.places) and self.places[token] < place

    def next_stretch(self, token: int) -> int:
        """Give the first token of the stretch after a token's own."""
        return bisect_right(self.homes, self.homes[token])

    def ends_at(self, token: int) -> bool:
        """Whether a term may end before this token: at white space, at an edge, or at a stop of unspaced writing."""
        if token >= len(self.homes) or self.homes[token] != self.homes[token - 1]:
            return True
        text = self.stretches[self.homes[token]].text
        end, start = self.ends[token - 1], self.starts[token]
        return end < start or text[end - 1] in _STOPS or text[start] in _STOPS

    def forward(self, token: int, size: int) -> int:
        """Give where a term ends that begins here and wants so many tokens; it stays in its stretch."""
        if not size or token >= len(self.homes):
            return token
        home, end, most = self.homes[token], token + 1, token + _LONGEST
        while end < len(self.homes) and self.homes[end] == home and end < most:
            if end - token >= size and self.ends_at(end):
                break
            end += 1
        return end

    def backward(self, token: int, size: int) -> int:
        """Give where a term begins that ends before this token and wants so many tokens."""
        if not size or not token:
            return token
        home, start, most = self.homes[token - 1], token - 1, token - _LONGEST
        while start > 0 and self.homes[start - 1] == home and start > most:
            if token - start >= size and self.ends_at(start):
                break
            start -= 1
        return start

    def text(self, start: int, end: int) -> str:
        """Give the words from one token to another of the same stretch."""
        stretch = self.stretches[self.homes[start]]
        words = stretch.text[self.starts[start] : self.ends[end - 1]]
        return words if stretch.code else " ".join(words.split())


def text_fragments(document: Document, cores: Sequence[tuple[int, int]]) -> list[str | None]:
    """Give for each core what a link to its first words says behind `text=`; None where a page shows nothing of it.

    Where the first words and all around them stand earlier on the page as well, the link leads to the first words of
    the core that don't, because what is only near is better than what is wrong.
    """
    tokens = PageTokens(shown_stretches(document))
    hashes = _Hashes(tokens.names)
    found: list[str | None] = [None] * len(cores)
    waiting = {index: first for index, first in enumerate(tokens.firsts(cores)) if first is not None}
    for sizes in (_SIZES, *[_SIZES[-1:]] * _LATER_STRETCHES):
        for size in sizes:
            terms = {index: _terms(tokens, first, size) for index, first in waiting.items()}
            alone = hashes.are_first([(term.low, term.high) for term in terms.values()])
            for (index, term), first in zip(terms.items(), alone, strict=True):
                if first:
                    del waiting[index]
                if first or sizes is _SIZES:
                    found[index] = _written(tokens, term)
        later = {index: tokens.next_stretch(first) for index, first in waiting.items()}
        waiting = {index: first for index, first in later.items() if tokens.is_before(first, cores[index][1])}
    return found


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


def _folded(word: str) -> str:
    """Give a word as a browser compares it: without case and diacritics."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter)) or plain
