"""The words of a text as they are looked up: one analyser for every store, so that all of them find the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

ANALYSER: Final = "1"
"""Goes up when the same text gives other terms: what was indexed under another one is indexed anew."""

_WIDE: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD: Final = re.compile(rf"[{_WIDE}]+|[^\W{_WIDE}_]+")


class QueryWord(NamedTuple):
    """A word of a query, and the terms that stand for it in documents of every language."""

    text: str
    terms: tuple[str, ...]


def terms_of(text: str, language: str) -> list[str]:
    """Give the terms of a document's text, in order."""
    return [term for word in _WORD.findall(_folded(text)) for term in _terms(word, language)]


def query_words(text: str) -> list[QueryWord]:
    """Give the words of a query, each once, with all terms that may stand for it."""
    words = dict.fromkeys(_WORD.findall(_folded(text)))
    return [QueryWord(word, tuple(dict.fromkeys(_variants(word)))) for word in words]


def matches(text: str, language: str, words: Iterable[QueryWord]) -> list[tuple[int, int]]:
    """Give the places of a text where a word of a query stands, whatever its inflection."""
    wanted = {term for word in words for term in word.terms}
    found = ((place.span(), _terms(_folded(place[0]), language)) for place in _WORD.finditer(text))
    return [span for span, terms in found if not wanted.isdisjoint(terms)]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


def _terms(word: str, language: str) -> list[str]:
    return [word]


def _variants(word: str) -> list[str]:
    return [word]
