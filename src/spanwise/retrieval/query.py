"""From a question to the words that are looked up, each with its weight in the tenant's own documents.

A question may be a pasted page: its first 20,000 characters are read, and of their words the 64 rarest that occur in
the tenant's chunks are searched. So its cost is bounded, whatever somebody pastes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from spanwise.retrieval.function_words import FUNCTION_WORDS
from spanwise.stores import StoreReader
from spanwise.stores.values import Candidate, Statistics
from spanwise.text.terms import QueryWord, query_words

MOST_CHARACTERS: Final = 20_000
MOST_WORDS: Final = 64
_K1: Final = 1.2
_B: Final = 0.75
_TELLING: Final = 0.3
_LITTLE: Final = 0.25  # what a word counts that only holds a sentence together
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


class Word(NamedTuple):
    """A word of a question, the terms that stand for it, and how much it says: rare words say more."""

    text: str
    terms: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Query:
    """A question as it is looked up."""

    text: str
    words: tuple[Word, ...]
    chunks: int
    average_length: float

    @cached_property
    def by_term(self) -> dict[str, list[Word]]:
        """The words that each term stands for."""
        found: dict[str, list[Word]] = {}
        for word in self.words:
            for term in dict.fromkeys(word.terms):
                found.setdefault(term, []).append(word)
        return found

    @cached_property
    def places(self) -> dict[Word, int]:
        """Where each word stands in the question."""
        return {word: place for place, word in enumerate(self.words)}

    @property
    def terms(self) -> list[str]:
        """All terms of all words, each once."""
        return list(self.by_term)

    @property
    def telling(self) -> list[QueryWord]:
        """The words worth marking in a text: not those that stand everywhere, unless there are no others.

        Words that stand nowhere would mark nothing, so they are no measure of the others.
        """
        nowhere = _weight(0, self.chunks)
        most = max((word.weight for word in self.words if word.weight < nowhere), default=0.0)
        return [QueryWord(word.text, word.terms) for word in self.words if word.weight >= _TELLING * most]


def prepared(question: str, reader: StoreReader) -> Query:
    """Read a question, and weigh its words by the tenant's statistics."""
    text = _NO_TEXT.sub(" ", question[: MOST_CHARACTERS + 1])
    if len(text) > MOST_CHARACTERS:
        text = text[: text.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)]  # no half word, if there is a space
    words = query_words(text)
    statistics = reader.statistics(list(dict.fromkeys(term for word in words for term in word.terms)))
    known = {word: _occurrences(word, statistics) for word in words}
    rarest = sorted(words, key=lambda word: (not known[word], known[word]))[:MOST_WORDS]
    chosen = set(rarest)
    weighed = tuple(
        Word(*word, _weight(known[word], statistics.chunks) * (_LITTLE if word.text in FUNCTION_WORDS else 1))
        for word in words
        if word in chosen
    )
    return Query(text.strip(), weighed, statistics.chunks, statistics.average_length)


def _occurrences(word: QueryWord, statistics: Statistics) -> int:
    """Say in how many chunks a word stands.

    Its terms are those of several languages, and a chunk has one language: hardly any chunk holds two of them, so their
    sum is right, and at worst too high, which makes the word count a little less.
    """
    return min(statistics.chunks, sum(statistics.frequencies.get(term, 0) for term in word.terms))


def _weight(occurrences: int, chunks: int) -> float:
    return math.log1p((chunks - occurrences + 0.5) / (occurrences + 0.5))


def bm25_parts(query: Query, candidate: Candidate) -> dict[str, float]:
    """Say what each word adds to a chunk's BM25; all terms of a word count as that word."""
    length = candidate.length / query.average_length if query.average_length else 1.0
    damping = _K1 * (1 - _B + _B * length)
    times: dict[Word, int] = {}
    for term, count in candidate.counts.items():
        for word in query.by_term.get(term, ()):
            times[word] = times.get(word, 0) + count
    found = sorted(times.items(), key=lambda pair: query.places[pair[0]])  # so that sums don't depend on the store
    return {word.text: word.weight * count * (_K1 + 1) / (count + damping) for word, count in found if count}


def bm25(query: Query, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Score chunks by the words alone."""
    return {candidate.key: sum(bm25_parts(query, candidate).values()) for candidate in candidates}


def share_of(query: Query, terms: Iterable[str]) -> float:
    """Say which share of a question stands among some terms, by the weight of its words."""
    total = sum(word.weight for word in query.words)
    found = {word for term in terms for word in query.by_term.get(term, ())}
    return sum(word.weight for word in query.words if word in found) / total if total and found else 0.0
