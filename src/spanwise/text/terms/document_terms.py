"""The terms of documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from functools import cache
from itertools import accumulate, chain
from typing import Final, Protocol

from spanwise.text.terms.folding import fold, normalized, with_offsets
from spanwise.text.terms.ngrams import gram_ranges, grams_of
from spanwise.text.terms.stems import STEMMERS, document_term
from spanwise.text.terms.words import WordPart, is_grams, parts_of, split_tokens, tokens_in

_MOST_CACHED: Final = 200_000
_LONGEST_CACHED: Final = 40

_LONGEST_TERM: Final = 64
_KEPT: Final = 40

_CYRILLIC: Final = re.compile("[\u0400-\u052f]")
_LATIN: Final = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")

_ASIAN: Final = frozenset({"zh", "ja"})


class HasTerms(Protocol):
    """A word of a query as `matches` needs it."""

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that match it."""


class _TermCache(dict[str, tuple[str, ...]]):
    """The terms of tokens seen before; cleared when it is full."""

    def __init__(self, analyse: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, token: str) -> tuple[str, ...]:
        terms = tuple(dict.fromkeys(self._analyse(token))) if not is_grams(token) else tuple(grams_of(token))
        if len(token) <= _LONGEST_CACHED:
            if len(self) >= _MOST_CACHED:
                self.clear()
            self[token] = terms
        return terms


def document_terms(text: str, language: str | None) -> list[str]:
    """Return the terms of a document's text, in order."""
    plain = normalized(text)
    tokens = tokens_in(plain).findall(plain)
    return list(chain.from_iterable(map(_term_cache(_known(language)).__getitem__, tokens)))


def term_positions(text: str, language: str | None, wanted: Collection[str]) -> list[tuple[int, str]]:
    """Return where the wanted terms stand in a text, in order, each by the start of its word."""
    folded, known = with_offsets(text), _known(language)
    found: list[tuple[int, str]] = []
    for start, token in _tokens_with(folded.text, known, frozenset(wanted)):
        inside = _term_ranges(token, known) if is_grams(token) else ((0, 1, term) for term in _term_cache(known)[token])
        found += [(folded.original(start + at, start + end)[0], term) for at, end, term in inside if term in wanted]
    return found


def matches(text: str, language: str | None, words: Iterable[HasTerms]) -> list[tuple[int, int]]:
    """Return the ranges of a text that match a word of a query, whatever its inflection."""
    wanted = {term for word in words for term in word.terms}
    pairs = "".join(term for term in wanted if len(term) > 1)
    wanted -= {term for term in wanted if len(term) == 1 and is_grams(term) and term in pairs}
    folded, known = with_offsets(text), _known(language)
    found = (
        folded.original(at + start, at + end)
        for at, token in _tokens_with(folded.text, known, wanted)
        for start, end, term in _term_ranges(token, known)
        if term in wanted
    )
    return _merged(sorted(found))


def _tokens_with(plain: str, language: str, wanted: Set[str]) -> Iterator[tuple[int, str]]:
    """Yield the tokens of a normalized text that have a wanted term, with their positions.

    Most tokens have none, so all are found and placed without a step of Python for each.
    """
    parts = split_tokens(plain)
    tokens, cached = parts[1::2], _term_cache(language)
    matching = {token for token in set(tokens) if not wanted.isdisjoint(cached[token])}
    if matching:
        starts = list(accumulate(map(len, parts)))[::2]
        yield from ((starts[index], token) for index, token in enumerate(tokens) if token in matching)


def term_of(part: WordPart, language: str) -> str:
    """Return the term of a word in a document of a language."""
    if not part.inflected:
        return shortened(fold(part.text))
    own = word_language(part.text, language)
    return shortened(document_term(part.text, own) if own in STEMMERS else fold(part.text))


def word_language(word: str, language: str) -> str:
    """Return the language of a word of a document: not the document's if it is in another script.

    Latin words in Russian, Chinese and Japanese texts are mostly English; words in Cyrillic are taken for Russian.
    """
    if not language:
        return ""
    if _CYRILLIC.match(word):
        return "ru"
    if not _LATIN.match(word):
        return ""
    return "en" if language == "ru" or language in _ASIAN else language


def shortened(term: str) -> str:
    """Cut a very long term to keep stores small; a hash keeps different terms different."""
    if len(term) <= _LONGEST_TERM:
        return term
    return term[:_KEPT] + "~" + hashlib.blake2b(term.encode(errors="replace"), digest_size=8).hexdigest()


@cache
def _term_cache(language: str) -> _TermCache:
    return _TermCache(lambda token: (term_of(part, language) for part in parts_of(token)))


def _known(language: str | None) -> str:
    """Return the language if it is supported, else an empty string: then words are only folded."""
    return language if language in STEMMERS or language in _ASIAN else ""


def _term_ranges(token: str, language: str) -> Iterator[tuple[int, int, str]]:
    if is_grams(token):
        yield from ((gram.start, gram.end, gram.text) for gram in gram_ranges(token))
    else:
        yield from ((part.start, part.end, term_of(part, language)) for part in parts_of(token))


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges that share a character."""
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
