"""The term that all inflections of a word share: Snowball's stem of the dictionary form.

A term names its language (`en:paste`), because stems of one language collide with words of another: `paste` in German
has the stem `past`. Nothing is lost by it, for a query looks its words up in every language.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from spanwise.errors import MissingExtraError
from spanwise.text.terms.folding import fold
from spanwise.text.terms.lemmas import Lemmas, lemmas_of

STEMMERS: Final = {"en": "english", "pl": "polish", "de": "german", "ru": "russian"}
"""The languages whose inflections are known, with their names in Snowball."""

_SHORTEST, _LONGEST = 2, 40  # no dictionary has longer words, and shortening `js` to `j` is no use
_NOUNS_ARE_CAPITAL: Final = frozenset({"de"})
_UNDOTTED: Final = str.maketrans("äöü", "aou")
_LATIN: Final = frozenset({"pl", "de"})  # languages in whose texts an unknown word may be English


class Inflections:
    """The inflections of one language."""

    def __init__(self, language: str, stemmer: Any, lemmas: Lemmas) -> None:
        self._language = language
        self._stem = stemmer.stemWord
        self._look_up = lemmas.get
        self._capital_nouns = language in _NOUNS_ARE_CAPITAL

    def lemma(self, word: str) -> str | None:
        """Return the dictionary form of a word of a document, None where it isn't known.

        Case matters only in German: `Sucht` is an addiction, `sucht` is looking for something.
        """
        forms = [word.lower(), _titled(word)]
        if self._capital_nouns and word[:1].isupper():
            forms.reverse()
        return self._known(forms[0]) or self._known(forms[1])

    def variants(self, word: str) -> list[str]:
        """Return all terms that a document may have for a word of a query, which is often typed without capitals.

        The dictionary form may itself be an inflection of another word.
        """
        readings = [_titled(word), word.lower()] if self._capital_nouns else []
        found = [self._known(form) for form in readings] or [self.lemma(word)]
        lemmas = [lemma for lemma in found if lemma]
        if not lemmas:
            return [self.stem(word)]
        further = [again for lemma in lemmas if (again := self._known(lemma))]
        return [self.term(form) for form in (*lemmas, word, *further)]

    def term(self, lemma: str) -> str:
        """Return the term of a dictionary form: its stem, but `drücken` keeps its dots, unlike `drucken`."""
        folded = fold(lemma)
        stem = self._stem(folded)
        dotted = folded[: len(stem)]
        return f"{self._language}:{dotted if dotted.translate(_UNDOTTED) == stem else stem}"

    def stem(self, word: str) -> str:
        """Return the term of a word that is in no dictionary."""
        return f"{self._language}:{self._stem(fold(word))}"

    def _known(self, form: str) -> str | None:
        lemma = self._look_up(form)
        return lemma if lemma and len(lemma) >= _SHORTEST else None


@lru_cache(maxsize=50_000)
def document_term(word: str, language: str) -> str:
    """Return a document's term for a word; one only in the English list is English, as technical words often are."""
    if not _is_inflected(word):
        return fold(word)
    own = inflections_of(language)
    if lemma := own.lemma(word):
        return own.term(lemma)
    if language in _LATIN and word.isascii() and (lemma := inflections_of("en").lemma(word)):
        return inflections_of("en").term(lemma)
    return own.stem(word)


@lru_cache(maxsize=10_000)
def query_terms(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word of a query in documents of a language."""
    return tuple(inflections_of(language).variants(word)) if _is_inflected(word) else ()


@cache
def inflections_of(language: str) -> Inflections:
    """Return the inflections of a language of `STEMMERS`."""
    try:
        import Stemmer
    except ImportError as error:
        hint = 'pip install "spanwise[search]"'
        raise MissingExtraError("PyStemmer", "is needed for indexing and searching", hint=hint) from error
    lemmas = lemmas_of(language)
    return Inflections(language, Stemmer.Stemmer(STEMMERS[language], 0), lemmas)


def _is_inflected(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST


def _titled(word: str) -> str:
    return word[:1].upper() + word[1:].lower()
