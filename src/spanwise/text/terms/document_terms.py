"""The terms of documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final, Protocol

from spanwise.text.terms.folding import fold, normalized, with_places
from spanwise.text.terms.ngrams import grams_of, placed_grams
from spanwise.text.terms.stems import STEMMERS, document_term
from spanwise.text.terms.words import WordPart, is_grams, parts_of, tokens_in

_REMEMBERED: Final = 200_000
_LONGEST_REMEMBERED: Final = 40

_LONGEST_TERM: Final = 64
_KEPT: Final = 40

_CYRILLIC: Final = re.compile("[\u0400-\u052f]")
_LATIN: Final = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")

_ASIAN: Final = frozenset({"zh", "ja"})


class HasTerms(Protocol):
    """What `matches` wants to know of a word of a query."""

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that stand for it."""


class _Memory(dict[str, tuple[str, ...]]):
    """The terms of tokens that were seen; begun anew when it is full."""

    def __init__(self, analyse: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, token: str) -> tuple[str, ...]:
        terms = tuple(dict.fromkeys(self._analyse(token))) if not is_grams(token) else tuple(grams_of(token))
        if len(token) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[token] = terms
        return terms


def document_terms(text: str, language: str | None) -> list[str]:
    """Give the terms of a document's text, in order."""
    plain = normalized(text)
    tokens = tokens_in(plain).findall(plain)
    return list(chain.from_iterable(map(_memory(_known(language)).__getitem__, tokens)))


def matches(text: str, language: str | None, words: Iterable[HasTerms]) -> list[tuple[int, int]]:
    """Give the places of a text where a word of a query stands, whatever its inflection."""
    wanted = {term for word in words for term in word.terms}
    pairs = "".join(term for term in wanted if len(term) > 1)
    wanted -= {term for term in wanted if len(term) == 1 and is_grams(term) and term in pairs}
    folded = with_places(text)
    known = _known(language)
    memory = _memory(known)
    found = (
        folded.original(token.start() + start, token.start() + end)
        for token in tokens_in(folded.text).finditer(folded.text)
        if not wanted.isdisjoint(memory[token[0]])  # most tokens hold nothing that is wanted
        for start, end, term in _placed(token[0], known)
        if term in wanted
    )
    return _united(sorted(found))


def term_of(part: WordPart, language: str) -> str:
    """Give what stands for a word in a document of a language."""
    if not part.inflected:
        return shortened(fold(part.text))
    spoken = word_language(part.text, language)
    return shortened(document_term(part.text, spoken) if spoken in STEMMERS else fold(part.text))


def word_language(word: str, language: str) -> str:
    """Say in which language a word of a document is meant: one in another script isn't in the document's.

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
    """Cut a very long term, so that what a store keeps stays small; two that differ stay different."""
    if len(term) <= _LONGEST_TERM:
        return term
    return term[:_KEPT] + "~" + hashlib.blake2b(term.encode(errors="replace"), digest_size=8).hexdigest()


@cache
def _memory(language: str) -> _Memory:
    def analysed(token: str) -> Iterator[str]:
        return (term_of(part, language) for part in parts_of(token))

    return _Memory(analysed)


def _known(language: str | None) -> str:
    """Give the language if it is one that we know, else none: then words are folded, no more."""
    return language if language in STEMMERS or language in _ASIAN else ""


def _placed(token: str, language: str) -> Iterator[tuple[int, int, str]]:
    if is_grams(token):
        yield from ((gram.start, gram.end, gram.text) for gram in placed_grams(token))
    else:
        yield from ((part.start, part.end, term_of(part, language)) for part in parts_of(token))


def _united(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make one of ranges that share a character."""
    united: list[tuple[int, int]] = []
    for start, end in ranges:
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united
