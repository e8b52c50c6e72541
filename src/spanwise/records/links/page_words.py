"""The words of a page, and which of them are the words of a document.

The text of a document is Markdown that says nearly what the page shows. So that a link says exactly what the page
shows, each word of the text is looked up among the words of the page, from the place on that its block comes from.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.documents.document import BARRIER, Block, Document, Part
from spanwise.records.links.visible_page import VisibleRun, page_stretches, shown_stretches

_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_WORD: Final = re.compile(r"[^\W_]")
_STOPS: Final = frozenset("。、，！？；：」』）】》…·「『（【《")
_LONGEST: Final = 120  # tokens that a term may have where nothing ends it
_FAR: Final = 400  # tokens of the page that may stand between two that follow each other in the text
_NEAR: Final = 24  # tokens of the text that the page may not have, before the search goes on one by one
_RUN: Final = 2  # tokens that must agree after a gap


class PageTokens:
    """The words and marks of a page, in order."""

    def __init__(self, stretches: Sequence[VisibleRun], known: dict[str, int] | None = None) -> None:
        """Take the stretches apart; `known` numbers the words that have been seen."""
        self.stretches = stretches
        self.names, self.places, self.homes = array("q"), array("q"), array("q")
        self.starts, self.ends = array("q"), array("q")
        known = {} if known is None else known
        for home, (text, anchors, places, _) in enumerate(stretches):
            anchor, barred = 0, text == BARRIER
            for found in _TOKEN.finditer(text):
                while anchor + 1 < len(anchors) and anchors[anchor + 1] <= found.start():
                    anchor += 1
                self.names.append(known.setdefault("" if barred else _folded(found[0]), len(known)))
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

    def has_word(self, token: int) -> bool:
        """Whether a stretch has a letter or a digit from a token on."""
        return _WORD.search(self.stretches[self.homes[token]].text, self.starts[token]) is not None

    def stretch_before(self, token: int) -> int:
        """Give the first token of the stretch that the token before belongs to."""
        return bisect_left(self.homes, self.homes[token - 1]) if token else 0

    def stands_between(self, start: int, end: int, low: int, high: int) -> bool:
        """Whether the tokens of one range stand in another."""
        sought, names = self.names[start:end], self.names[low:high]
        return any(names[at : at + len(sought)] == sought for at, name in enumerate(names) if name == sought[0])

    def ends_at(self, token: int) -> bool:
        """Whether a term may end before this token: at white space, at an edge, or at a stop of unspaced writing."""
        if not 0 < token < len(self.homes) or self.homes[token] != self.homes[token - 1]:
            return True
        text = self.stretches[self.homes[token]].text
        end, start = self.ends[token - 1], self.starts[token]
        return end < start or text[end - 1] in _STOPS or text[start] in _STOPS

    def forward(self, token: int, size: int) -> int:
        """Give where a term ends that begins here and wants so many tokens; it stays in its stretch."""
        if not size or token >= len(self.homes) or self._is_barrier(token):
            return token
        home, end, most = self.homes[token], token + 1, token + _LONGEST
        while end < len(self.homes) and self.homes[end] == home and end < most:
            if end - token >= size and self.ends_at(end):
                break
            end += 1
        return end

    def backward(self, token: int, size: int) -> int:
        """Give where a term begins that ends before this token and wants so many tokens."""
        if not size or not token or self._is_barrier(token - 1):
            return token
        home, start, most = self.homes[token - 1], token - 1, token - _LONGEST
        while start > 0 and self.homes[start - 1] == home and start > most:
            if token - start >= size and self.ends_at(start):
                break
            start -= 1
        return start

    def _is_barrier(self, token: int) -> bool:
        return self.stretches[self.homes[token]].text == BARRIER

    def text(self, start: int, end: int) -> str:
        """Give the words from one token to another of the same stretch."""
        stretch = self.stretches[self.homes[start]]
        words = stretch.text[self.starts[start] : self.ends[end - 1]]
        return words if stretch.code else " ".join(words.split())


def _folded(word: str) -> str:
    """Give a word as a browser compares it: without case and diacritics."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter)) or plain


class _Segment(NamedTuple):
    """Tokens of the text, and the tokens of the page among which they stand."""

    first: int
    end: int
    page_first: int
    page_end: int


class Match(NamedTuple):
    """A token of the text, and the token of the page that it is."""

    token: int
    place: int


class Matches:
    """Where the tokens of a document stand on its page; only the segments that somebody asks for are compared."""

    def __init__(self, document: Document) -> None:
        """Take the text apart, and the page, if it is known apart from the text."""
        known: dict[str, int] = {}
        self.text = PageTokens(shown_stretches(document), known)
        self.page = PageTokens(page_stretches(document), known) if document.shown else self.text
        self._segments = _segments(document, self.text, self.page) if document.shown else []
        self._begins = [segment.first for segment in self._segments]
        self._found: dict[int, int] = {}
        self._compared: set[int] = set()
        self._positions: dict[int, list[int]] = {}

    def first_from(self, token: int, end: int) -> Match | None:
        """Give the first token of the text from one on that the page shows and that stands before a place.

        A stretch without a word, such as a bullet or a bracket, is taken only where nothing else is there.
        """
        bare: Match | None = None
        while self.text.is_before(token, end):
            if (place := self._on_page(token)) is not None:
                if self.page.has_word(place):
                    return Match(token, place)
                bare = bare or Match(token, place)
            token += 1
        return bare

    def _on_page(self, token: int) -> int | None:
        """Give the token of the page that a token of the text is; None if the page doesn't show it."""
        if self.page is self.text:
            return token
        index = bisect_right(self._begins, token) - 1
        if index not in self._compared:
            self._compared.add(index)
            self._compare(self._segments[index])
        return self._found.get(token)

    def _compare(self, segment: _Segment) -> None:
        """Go through both sides; where they differ, go on where enough agrees again."""
        token, place = segment.first, segment.page_first
        own, shown, found = self.text.names, self.page.names, self._found
        while token < segment.end and place < segment.page_end:
            if own[token] != shown[place]:
                gap = self._gap(token, place, segment)
                if gap is None:
                    token += 1
                    continue
                token, place = gap
            found[token] = place
            token, place = token + 1, place + 1

    def _gap(self, token: int, place: int, segment: _Segment) -> tuple[int, int] | None:
        """Find where text and page agree again with the least left out."""
        best: tuple[int, int, int] | None = None
        for later in range(token, min(token + _NEAR, segment.end)):
            for where in self._next_places(self.text.names[later], place, segment.page_end):
                passed = later - token + where - place
                if best and passed >= best[0]:
                    break
                if self._agree(later, where, segment):
                    best = passed, later, where
                    break
        return best[1:] if best else None

    def _agree(self, token: int, place: int, segment: _Segment) -> bool:
        size = min(_RUN, segment.end - token, segment.page_end - place)
        return self.text.names[token : token + size] == self.page.names[place : place + size]

    def _next_places(self, name: int, place: int, end: int) -> Iterator[int]:
        """Give where a word stands on the page from a place on, the nearest first, but few."""
        if not self._positions:
            for position, other in enumerate(self.page.names):
                self._positions.setdefault(other, []).append(position)
        positions = self._positions.get(name, [])
        nearest = bisect_left(positions, place)
        for position in positions[nearest : nearest + _RUN]:
            if position >= min(end, place + _FAR):
                return
            yield position


def _segments(document: Document, text: PageTokens, page: PageTokens) -> list[_Segment]:
    """Divide both sides where the places of blocks and parts are known."""
    anchors: dict[int, int] = {0: 0}  # token of the text: token of the page
    known = set[int]()
    starts = [stretch.places[0] for stretch in page.stretches]
    for start, offset in _anchors(document.blocks):
        token = bisect_left(text.places, start)
        if offset in known and token not in anchors:
            continue  # what an item says after those in it has the place of the item
        known.add(offset)
        anchors[token] = bisect_left(page.homes, _home_at(page.stretches, starts, offset))
    ends = sorted({*anchors.values(), len(page.names)})
    tokens = [*sorted(anchors), len(text.names)]
    return [
        _Segment(token, tokens[index + 1], anchors[token], ends[min(bisect_right(ends, anchors[token]), len(ends) - 1)])
        for index, token in enumerate(tokens[:-1])
    ]


def _home_at(stretches: Sequence[VisibleRun], starts: Sequence[int], offset: int) -> int:
    """Give the stretch that goes on at an offset of the page, or the next that begins."""
    after = bisect_left(starts, offset)
    return after - 1 if after and starts[after - 1] + len(stretches[after - 1].text) > offset else after


def _anchors(blocks: Iterable[Block | Part]) -> Iterator[tuple[int, int]]:
    """Give where every block and part begins in the text and on the page; the outer before the inner."""
    for block in blocks:
        if block.source_ref and "xpath" in block.source_ref:
            yield block.start, block.source_ref["text_offset"]
        yield from _anchors(block.parts)
