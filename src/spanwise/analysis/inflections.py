"""From a word to what all its inflections share: Snowball's stem of the dictionary form."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from spanwise.analysis.folding import fold
from spanwise.analysis.lemmas import Lemmas, lemmas_of
from spanwise.errors import MissingExtraError

STEMMERS: Final = {"en": "english", "pl": "polish", "de": "german", "ru": "russian"}
"""The languages whose inflections are known, by their names in Snowball."""

_SHORTEST, _LONGEST = 3, 40  # shorter words hardly change (`js` has no plural in it), longer ones no dictionary knows
_NOUNS_ARE_CAPITAL: Final = frozenset({"de"})


class Inflections:
    """The inflections of one language."""

    def __init__(self, language: str, stemmer: Any, lemmas: Lemmas) -> None:
        self._stem = stemmer.stemWord
        self._lemma = lemmas.get
        self._capital_nouns = language in _NOUNS_ARE_CAPITAL

    def term(self, word: str) -> str:
        """Give what stands for a word of a document.

        Only in German does it matter how a word is written: `Sucht` is an addiction, `sucht` is looking for something.
        """
        folded = fold(word)
        if not _SHORTEST <= len(word) <= _LONGEST:
            return folded
        capital = self._capital_nouns and word[:1].isupper()
        lemma = self._looked_up(_titled(word) if capital else folded, folded if capital else _titled(word))
        return str(self._stem(fold(lemma or folded)))

    def variants(self, word: str) -> list[str]:
        """Give all that may stand in a document for a word of a query, which is often written without capitals.

        The dictionary form may itself be an inflection of another word, and some texts mean it so.
        """
        folded = fold(word)
        if not _SHORTEST <= len(word) <= _LONGEST:
            return [folded]
        forms = [_titled(word), folded] if self._capital_nouns else [folded]
        lemmas = [lemma for form in forms if (lemma := self._lemma(form))] or [self._lemma(_titled(word)) or folded]
        further = [again for lemma in lemmas if (again := self._lemma(lemma)) and again != lemma]
        return [str(self._stem(fold(form))) for form in (*lemmas, folded, *further)]

    def _looked_up(self, first: str, second: str) -> str | None:
        return self._lemma(first) or self._lemma(second)


@cache
def inflections_of(language: str) -> Inflections:
    """Give the inflections of a language of `STEMMERS`."""
    try:
        import Stemmer
    except ImportError as error:
        hint = 'pip install "spanwise[search]"'
        raise MissingExtraError("PyStemmer", "is needed for indexing and searching", hint=hint) from error
    lemmas = lemmas_of(language)
    return Inflections(language, Stemmer.Stemmer(STEMMERS[language], 0), lemmas)


def _titled(word: str) -> str:
    return word[:1].upper() + word[1:].lower()
