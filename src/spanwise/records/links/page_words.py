"""The tokens of a rendered page, and which of them are the tokens of a document.

The text of a document is Markdown that nearly equals the page's visible text. A link must quote the visible text
exactly, so each word of the text is looked up among the words of the page, from its block's location on.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.documents.document import BARRIER, Block, Document, Part
from spanwise.records.links.visible_page import VisibleRun, page_runs, visible_runs

_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_WORD: Final = re.compile(r"[^\W_]")
_STOPS: Final = frozenset("。、，！？；：」』）】》…·「『（【《")
_LONGEST: Final = 120  # tokens of a term at most, if nothing ends it before
_FAR: Final = 400  # tokens of the page that may be between two consecutive ones of the text
_NEAR: Final = 24  # tokens of the text that may be missing on the page before the search goes on one by one
_RUN: Final = 2  # tokens that must agree after a gap


class PageTokens:
    """The words and marks of a page, in order."""

    def __init__(self, runs: Sequence[VisibleRun], known: dict[str, int] | None = None) -> None:
        """Split the runs into tokens; `known` maps the words seen so far to their ids."""
        self.runs = runs
        self.word_ids, self.positions, self.run_indices = array("q"), array("q"), array("q")
        self.starts, self.ends = array("q"), array("q")
        known = {} if known is None else known
        for run_index, (text, anchors, positions, _) in enumerate(runs):
            anchor, barred = 0, text == BARRIER
            for found in _TOKEN.finditer(text):
                while anchor + 1 < len(anchors) and anchors[anchor + 1] <= found.start():
                    anchor += 1
                self.word_ids.append(known.setdefault("" if barred else _folded(found[0]), len(known)))
                self.positions.append(positions[anchor] + found.start() - anchors[anchor])
                self.run_indices.append(run_index)
                self.starts.append(found.start())
                self.ends.append(found.end())

    def firsts(self, cores: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return the first token of each core; None if nothing of it is visible."""
        found = [(bisect_left(self.positions, start), end) for start, end in cores]
        return [first if self.is_before(first, end) else None for first, end in found]

    def is_before(self, token: int, position: int) -> bool:
        """Whether a token exists and is before a position of the document."""
        return token < len(self.positions) and self.positions[token] < position

    def next_run(self, token: int) -> int:
        """Return the first token of the run after a token's own."""
        return bisect_right(self.run_indices, self.run_indices[token])

    def has_word(self, token: int) -> bool:
        """Whether a run has a letter or a digit from a token on."""
        return _WORD.search(self.runs[self.run_indices[token]].text, self.starts[token]) is not None

    def run_before(self, token: int) -> int:
        """Return the first token of the run of the previous token."""
        return bisect_left(self.run_indices, self.run_indices[token - 1]) if token else 0

    def occurs_between(self, start: int, end: int, low: int, high: int) -> bool:
        """Whether the tokens `start` to `end` occur between `low` and `high`."""
        sought, others = self.word_ids[start:end], self.word_ids[low:high]
        return any(others[at : at + len(sought)] == sought for at, other in enumerate(others) if other == sought[0])

    def ends_at(self, token: int) -> bool:
        """Whether a term may end before this token: at white space, an edge, or punctuation of unspaced writing."""
        if not 0 < token < len(self.run_indices) or self.run_indices[token] != self.run_indices[token - 1]:
            return True
        text = self.runs[self.run_indices[token]].text
        end, start = self.ends[token - 1], self.starts[token]
        return end < start or text[end - 1] in _STOPS or text[start] in _STOPS

    def forward(self, token: int, size: int) -> int:
        """Return the end of a term of at least `size` tokens that starts here; it stays in its run."""
        if not size or token >= len(self.run_indices) or self._is_barrier(token):
            return token
        run_index, end, most = self.run_indices[token], token + 1, token + _LONGEST
        while end < len(self.run_indices) and self.run_indices[end] == run_index and end < most:
            if end - token >= size and self.ends_at(end):
                break
            end += 1
        return end

    def backward(self, token: int, size: int) -> int:
        """Return the start of a term of at least `size` tokens that ends before this token."""
        if not size or not token or self._is_barrier(token - 1):
            return token
        run_index, start, most = self.run_indices[token - 1], token - 1, token - _LONGEST
        while start > 0 and self.run_indices[start - 1] == run_index and start > most:
            if token - start >= size and self.ends_at(start):
                break
            start -= 1
        return start

    def _is_barrier(self, token: int) -> bool:
        return self.runs[self.run_indices[token]].text == BARRIER

    def text(self, start: int, end: int) -> str:
        """Return the visible text from one token to another of the same run."""
        run = self.runs[self.run_indices[start]]
        text = run.text[self.starts[start] : self.ends[end - 1]]
        return text if run.code else " ".join(text.split())


def _folded(word: str) -> str:
    """Return a word as a browser compares it: without case and diacritics."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter)) or plain


class _Segment(NamedTuple):
    """A range of tokens of the text, and the range of tokens of the page that has them."""

    first: int
    end: int
    page_first: int
    page_end: int


class Match(NamedTuple):
    """A token of the text, and the same token on the page."""

    token: int
    page_token: int


class Matches:
    """The tokens of a document on its page; segments are compared only when they are needed."""

    def __init__(self, document: Document) -> None:
        """Split the text into tokens, and the page, if it is known separately from the text."""
        known: dict[str, int] = {}
        self.text = PageTokens(visible_runs(document), known)
        self.page = PageTokens(page_runs(document), known) if document.visible else self.text
        self._segments = _segments(document, self.text, self.page) if document.visible else []
        self._begins = [segment.first for segment in self._segments]
        self._found: dict[int, int] = {}
        self._compared: set[int] = set()
        self._occurrences: dict[int, list[int]] = {}  # word id: tokens of the page

    def first_from(self, token: int, end: int) -> Match | None:
        """Return the first token of the text, from `token` on and before position `end`, that is visible on the page.

        A run without a word, such as a bullet or a bracket, is taken only if there is nothing else.
        """
        wordless: Match | None = None
        while self.text.is_before(token, end):
            if (page_token := self._on_page(token)) is not None:
                if self.page.has_word(page_token):
                    return Match(token, page_token)
                wordless = wordless or Match(token, page_token)
            token += 1
        return wordless

    def _on_page(self, token: int) -> int | None:
        """Return the token of the page for a token of the text; None if it is not visible there."""
        if self.page is self.text:
            return token
        index = bisect_right(self._begins, token) - 1
        if index not in self._compared:
            self._compared.add(index)
            self._compare(self._segments[index])
        return self._found.get(token)

    def _compare(self, segment: _Segment) -> None:
        """Align text and page; where they differ, go on where enough tokens agree again."""
        token, page_token = segment.first, segment.page_first
        own, visible, found = self.text.word_ids, self.page.word_ids, self._found
        while token < segment.end and page_token < segment.page_end:
            if own[token] != visible[page_token]:
                gap = self._gap(token, page_token, segment)
                if gap is None:
                    token += 1
                    continue
                token, page_token = gap
            found[token] = page_token
            token, page_token = token + 1, page_token + 1

    def _gap(self, token: int, page_token: int, segment: _Segment) -> tuple[int, int] | None:
        """Return the tokens where text and page agree again with the fewest left out."""
        best: tuple[int, int, int] | None = None
        for later in range(token, min(token + _NEAR, segment.end)):
            for candidate in self._next_occurrences(self.text.word_ids[later], page_token, segment.page_end):
                passed = later - token + candidate - page_token
                if best and passed >= best[0]:
                    break
                if self._agree(later, candidate, segment):
                    best = passed, later, candidate
                    break
        return best[1:] if best else None

    def _agree(self, token: int, page_token: int, segment: _Segment) -> bool:
        size = min(_RUN, segment.end - token, segment.page_end - page_token)
        return self.text.word_ids[token : token + size] == self.page.word_ids[page_token : page_token + size]

    def _next_occurrences(self, word_id: int, page_token: int, end: int) -> Iterator[int]:
        """Yield the next few occurrences of a word on the page from a token on, the nearest first."""
        if not self._occurrences:
            for token, other in enumerate(self.page.word_ids):
                self._occurrences.setdefault(other, []).append(token)
        occurrences = self._occurrences.get(word_id, [])
        nearest = bisect_left(occurrences, page_token)
        for occurrence in occurrences[nearest : nearest + _RUN]:
            if occurrence >= min(end, page_token + _FAR):
                return
            yield occurrence


def _segments(document: Document, text: PageTokens, page: PageTokens) -> list[_Segment]:
    """Divide text and page where the locations of blocks and parts are known."""
    anchors: dict[int, int] = {0: 0}  # token of the text: token of the page
    known = set[int]()
    starts = [run.positions[0] for run in page.runs]
    for start, offset in _anchors(document.blocks):
        token = bisect_left(text.positions, start)
        if offset in known and token not in anchors:
            continue  # text of an item after its nested items has the offset of the item
        known.add(offset)
        anchors[token] = bisect_left(page.run_indices, _run_at(page.runs, starts, offset))
    ends = sorted({*anchors.values(), len(page.word_ids)})
    tokens = [*sorted(anchors), len(text.word_ids)]
    return [
        _Segment(token, tokens[index + 1], anchors[token], ends[min(bisect_right(ends, anchors[token]), len(ends) - 1)])
        for index, token in enumerate(tokens[:-1])
    ]


def _run_at(runs: Sequence[VisibleRun], starts: Sequence[int], offset: int) -> int:
    """Return the index of the run that contains an offset of the page, or of the next run."""
    after = bisect_left(starts, offset)
    return after - 1 if after and starts[after - 1] + len(runs[after - 1].text) > offset else after


def _anchors(blocks: Iterable[Block | Part]) -> Iterator[tuple[int, int]]:
    """Yield where every block and part starts in the text and on the page; the outer before the inner."""
    for block in blocks:
        if block.source_ref and "xpath" in block.source_ref:
            yield block.start, block.source_ref["text_offset"]
        yield from _anchors(block.parts)
