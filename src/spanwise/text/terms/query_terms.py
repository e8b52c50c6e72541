"""The words of queries, and their terms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.text.terms.document_terms import shortened, word_language
from spanwise.text.terms.folding import fold, normalized
from spanwise.text.terms.ngrams import query_grams
from spanwise.text.terms.stems import STEMMERS, query_terms
from spanwise.text.terms.words import is_grams, parts_of, tokens_in

_LATIN_LANGUAGES: Final = ("en", "pl", "de")
_LONGEST_JOINED: Final = 30
_MOST_JOINED: Final = 60  # words; neighbours in a pasted page aren't meant as one word


class QueryWord(NamedTuple):
    """A word of a query, and its terms in documents of every language.

    The terms are alternatives: their counts add up to that of one word.
    """

    text: str
    terms: tuple[str, ...]


def query_words(text: str, languages: Collection[str] | None = None) -> list[QueryWord]:
    """Return the words of a query, each once, with all terms that match it.

    - A plain word is one `QueryWord`. Two neighbours also match the two written as one word, because some write
      `data base` and `stateful set` where others write `database` and `StatefulSet`.
    - Of `kube-proxy` each part is one, and so is the whole: a text that has all three is the better one.
    - A run of Chinese or Japanese is one for each pair of neighbours and one for each Han character. The characters are
      frequent and weigh little, the pairs weigh more, and a text with the whole run has all of them.

    `languages`, if given, are those of all documents: the terms of other languages are then left out.
    """
    latin = _latin_languages(languages)
    plain = normalized(text)
    found = list(tokens_in(plain).finditer(plain))
    joined = _joined(found)
    words: dict[tuple[str, ...], QueryWord] = {}
    for number, token in enumerate(found):
        together = [term for whole in joined.get(number, ()) for term in _variants(whole, latin)]
        for text, terms in _words(token[0], latin):
            before = words.get(terms, QueryWord(text, terms))
            words[terms] = before._replace(terms=tuple(dict.fromkeys([*before.terms, *together])))
    return list(words.values())


def _latin_languages(languages: Collection[str] | None) -> tuple[str, ...]:
    """Return the possible languages of words in Latin letters: texts in every language hold English ones."""
    return tuple(one for one in _LATIN_LANGUAGES if languages is None or one == "en" or one in languages)


def _joined(found: Sequence[re.Match[str]]) -> dict[int, list[str]]:
    """Return, by the index of each plain word, the words that it forms with its neighbours."""
    joined: dict[int, list[str]] = {}
    if len(found) > _MOST_JOINED:
        return joined
    for number, (first, second) in enumerate(pairwise(found)):
        whole = first[0] + second[0]
        if second.start() - first.end() == 1 and first[0].isalpha() and whole.isalnum() and _may_join(whole):
            joined.setdefault(number, []).append(whole)
            joined.setdefault(number + 1, []).append(whole)
    return joined


def _may_join(whole: str) -> bool:
    return len(whole) <= _LONGEST_JOINED and not is_grams(whole) and not is_grams(whole[-1])


def _words(token: str, latin: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the words of a token, each with its terms."""
    if is_grams(token):
        yield from ((gram, (gram,)) for gram in query_grams(token))
        return
    for part in parts_of(token):
        terms = _variants(part.text, latin) if part.inflected else [shortened(fold(part.text))]
        yield fold(part.text), tuple(dict.fromkeys(terms))


def _variants(word: str, latin: Sequence[str]) -> list[str]:
    """Return all terms that a word may have in documents."""
    script = word_language(word, "en")
    languages = latin if script == "en" else [script] if script in STEMMERS else []
    terms = [term for language in languages for term in query_terms(word, language)]
    return [*map(shortened, terms), shortened(fold(word))]
