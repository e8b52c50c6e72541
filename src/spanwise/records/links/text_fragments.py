"""Text fragments: the part of a URL that makes a browser open a page at a text and highlight it.

`#:~:text=prefix-,start,-suffix`: a browser takes the first match of all three in a row. So the start is enough if it
doesn't occur earlier; if it does, the text around it makes the match unique. All starts of a page are looked up
together, with one hash for each token and length: the work grows with the page, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from spanwise.documents.document import Document
from spanwise.native import EDGE
from spanwise.records.links.page_words import Matches, PageTokens
from spanwise.text.visible import visible_markdown

_BASE: Final = 0x9E3779B97F4A7C15  # any odd number with bits all over
_LATER_RUNS: Final = 8  # how far into a core a link may lead instead
_EARLIER_RUNS: Final = 16  # how far before a core a link may start
_EARLIER_TOKENS: Final = 150
_MOST_TEXTS: Final = 8  # that one link highlights
_LONGEST_TEXT: Final = 5_000  # characters
_END_WORDS: Final = 5
_END_CHARACTERS: Final = 20


class _Size(NamedTuple):
    """How many tokens a link has of the text before the start, of the start, and of the text after it."""

    prefix: int
    start: int
    suffix: int


_SIZES: Final = (_Size(0, 10, 0), _Size(0, 10, 8), _Size(8, 10, 0), _Size(8, 10, 8), _Size(32, 48, 32))


class _Terms(NamedTuple):
    """A link as consecutive ranges of tokens: prefix, start and suffix."""

    low: int
    start: int
    end: int
    high: int


def text_fragments(document: Document, cores: Sequence[tuple[int, int]]) -> list[str | None]:
    """Return the `text=` value of a link to each core's first words; None if nothing of the core is visible.

    If the first words and the text around them occur earlier on the page as well, the link starts with unique text
    shortly before; if there is none, it leads to the first words in the core that don't occur earlier, because a near
    link is better than a wrong one.
    """
    matches = Matches(document)
    text, page = matches.text, matches.page
    hashes = _Hashes(page.word_ids)
    firsts = zip(text.firsts(cores), (end for _, end in cores), strict=True)
    first_matches = [None if first is None else matches.first_from(first, end) for first, end in firsts]
    waiting = {index: first for index, first in enumerate(first_matches) if first is not None}
    found: dict[int, str] = {}
    for sizes in (_SIZES, *[_SIZES[-1:]] * _LATER_RUNS):
        tokens = {index: first.page_token for index, first in waiting.items()}
        unique, repeated = _unique_links(page, hashes, tokens, sizes)
        if sizes is _SIZES:
            found = repeated
            unique |= _range_links(page, hashes, {index: tokens[index] for index in repeated})
        found |= unique
        later = ((index, text.next_run(first.token)) for index, first in waiting.items() if index not in unique)
        ahead = ((index, matches.first_from(first, cores[index][1])) for index, first in later)
        waiting = {index: first for index, first in ahead if first is not None}
    return [found.get(index) for index in range(len(cores))]


def link_to_texts(url: str | None, texts: Sequence[str]) -> str | None:
    """Return a link that opens a page and highlights texts of it; None without an address that a browser opens."""
    if not url or not url.startswith(("http://", "https://")):
        return None
    shown = (visible_markdown(text, _LONGEST_TEXT, ()).replace(EDGE, " ").split() for text in texts[:_MOST_TEXTS])
    terms = [_range_of(words) for words in shown if words]
    return url + (":~:" if "#" in url else "#:~:") + "&".join(f"text={term}" for term in terms) if terms else url


def _range_of(words: Sequence[str]) -> str:
    """Return the term for a text: all of it if it is short, else from its first words to its last."""
    if len(words) > 2 * _END_WORDS:
        return f"{_escaped(' '.join(words[:_END_WORDS]))},{_escaped(' '.join(words[-_END_WORDS:]))}"
    text = " ".join(words)
    if len(text) > 4 * _END_CHARACTERS:  # writing without spaces
        return f"{_escaped(text[:_END_CHARACTERS])},{_escaped(text[-_END_CHARACTERS:])}"
    return _escaped(text)


def _unique_links(
    page: PageTokens, hashes: _Hashes, tokens: Mapping[int, int], sizes: Sequence[_Size]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return links with as few words as make them unique, and those of the cores for which no size does."""
    found: dict[int, str] = {}
    repeated: dict[int, str] = {}
    waiting = dict(tokens)
    for size in sizes:
        terms = {index: _terms(page, token, size) for index, token in waiting.items()}
        unique = hashes.are_first([(term.low, term.high) for term in terms.values()])
        found |= {
            index: _written(page, term) for (index, term), first in zip(terms.items(), unique, strict=True) if first
        }
        repeated = {index: _written(page, term) for index, term in terms.items() if index not in found}
        waiting = {index: waiting[index] for index in repeated}
    return found, repeated


def _range_links(page: PageTokens, hashes: _Hashes, tokens: Mapping[int, int]) -> dict[int, str]:
    """Return links to a range of text: from unique words shortly before a core up to its first words."""
    steps = [(index, token, term) for index, token in tokens.items() for term in _terms_before(page, token)]
    unique = hashes.are_first([(term.low, term.high) for _, _, term in steps])
    found: dict[int, str] = {}
    for (index, token, term), first in zip(steps, unique, strict=True):
        if first and index not in found:
            start = token, page.forward(token, _SIZES[0].start)
            if not page.occurs_between(*start, term.end, token):
                found[index] = f"{_written(page, term)},{_escaped(page.text(*start))}"
    return found


def _terms_before(page: PageTokens, token: int) -> Iterator[_Terms]:
    """Yield the first words of the runs before a token, the nearest first, without and with the text before them."""
    start = token
    for _ in range(_EARLIER_RUNS):
        start = page.run_before(start)
        end = page.forward(start, _SIZES[0].start)
        if start < end <= token:
            yield _Terms(start, start, end, end)
            yield _Terms(page.backward(start, _SIZES[2].prefix), start, end, end)
        if not start or token - start > _EARLIER_TOKENS:
            return


def _terms(page: PageTokens, first: int, size: _Size) -> _Terms:
    """Return the terms of a link; where a word of unspaced writing may be cut, a browser needs the text before."""
    end = page.forward(first, size.start)
    prefix = size.prefix if size.prefix or page.ends_at(first) else _SIZES[2].prefix
    return _Terms(page.backward(first, prefix), first, end, page.forward(end, size.suffix))


def _written(page: PageTokens, term: _Terms) -> str:
    """Return a link's non-empty terms with the marks that separate them."""
    before, start, after = (_escaped(page.text(*span)) if span[0] < span[1] else "" for span in pairwise(term))
    return (f"{before}-," if before else "") + start + (f",-{after}" if after else "")


def _escaped(text: str) -> str:
    """Escape what would end a term or the URL: a comma, a hyphen, an ampersand, a percent sign."""
    return quote(text, safe="").replace("-", "%2D")


class _Hashes:
    """Hashes that find the first occurrence of token sequences, for all sequences of one length at once."""

    def __init__(self, word_ids: Sequence[int]) -> None:
        import numpy

        size = len(word_ids)
        self._size = size
        self._powers = numpy.cumprod(numpy.full(size + 1, _BASE, numpy.uint64), dtype=numpy.uint64)
        spread = (numpy.array(word_ids, numpy.uint64) + numpy.uint64(1)) * numpy.uint64(_BASE ^ 0x5851F42D4C957F2D)
        sums = numpy.cumsum((spread ^ (spread >> numpy.uint64(29))) * self._powers[:size], dtype=numpy.uint64)
        self._sums = numpy.concatenate((numpy.zeros(1, numpy.uint64), sums))

    def are_first(self, ranges: Sequence[tuple[int, int]]) -> list[bool]:
        """Return for each range of tokens whether no equal one starts before it."""
        lengths: dict[int, list[int]] = {}
        for index, (start, end) in enumerate(ranges):
            lengths.setdefault(end - start, []).append(index)
        first = [False] * len(ranges)
        for length, indices in lengths.items():
            earliest = self._earliest(length, [ranges[index][0] for index in indices])
            for index, start in zip(indices, earliest, strict=True):
                first[index] = start == ranges[index][0]
        return first

    def _earliest(self, length: int, starts: list[int]) -> list[int]:
        """Return the first occurrence of each sequence of one length."""
        import numpy

        last = self._size - length + 1
        hashes: Any = (self._sums[length:] - self._sums[:last]) * self._powers[self._size - numpy.arange(last)]
        wanted = numpy.unique(hashes[starts])
        nearest = numpy.minimum(numpy.searchsorted(wanted, hashes), len(wanted) - 1)
        matching = numpy.flatnonzero(wanted[nearest] == hashes)
        _, firsts = numpy.unique(nearest[matching], return_index=True)
        found: list[int] = matching[firsts][nearest[starts]].tolist()
        return found
