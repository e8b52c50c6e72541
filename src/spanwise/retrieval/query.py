"""Queries as words to look up, each with its weight in the tenant's own documents, and BM25.

A query may be a pasted page: its first 20,000 characters are read, and of their words the 64 rarest that occur in the
tenant's chunks are searched. So its cost is bounded, whatever is pasted.
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
from spanwise.stores.values import Candidate, Statistics, WeightedTerms
from spanwise.text.terms import QueryWord, query_words

MOST_CHARACTERS: Final = 20_000
MOST_WORDS: Final = 64
_K1: Final = 1.2
_B: Final = 0.75
_DISTINCTIVE: Final = 0.3
FUNCTION_WORD: Final = 0.25  # factor on the weight of a function word
_NOT_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


class Word(NamedTuple):
    """A word of a query, its terms, and its weight: rare words weigh more."""

    text: str
    terms: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Query:
    """A query as it is looked up."""

    text: str
    words: tuple[Word, ...]
    chunks: int
    average_length: float

    @cached_property
    def by_term(self) -> dict[str, list[Word]]:
        """The words of each term."""
        found: dict[str, list[Word]] = {}
        for word in self.words:
            for term in dict.fromkeys(word.terms):
                found.setdefault(term, []).append(word)
        return found

    @cached_property
    def positions(self) -> dict[Word, int]:
        """The index of each word in the query."""
        return {word: position for position, word in enumerate(self.words)}

    @cached_property
    def positions_of(self) -> dict[str, tuple[int, ...]]:
        """The indices of the words of each term."""
        return {term: tuple(self.positions[word] for word in words) for term, words in self.by_term.items()}

    @cached_property
    def weight(self) -> float:
        """The sum of the weights of its words."""
        return sum(word.weight for word in self.words)

    @property
    def terms(self) -> WeightedTerms:
        """All terms of all words, each once, with the weight of its words."""
        return WeightedTerms({term: sum(word.weight for word in words) for term, words in self.by_term.items()})

    @property
    def distinctive(self) -> list[QueryWord]:
        """The words worth marking in a text: not those that occur everywhere, unless there are no others.

        Words that occur nowhere would mark nothing, so the others are not compared with them.
        """
        nowhere = _weight(0, self.chunks)
        most = max((word.weight for word in self.words if word.weight < nowhere), default=0.0)
        return [QueryWord(word.text, word.terms) for word in self.words if word.weight >= _DISTINCTIVE * most]


def looked_up(question: str) -> str:
    """Return what is read of a query."""
    text = _NOT_TEXT.sub(" ", question[: MOST_CHARACTERS + 1])
    if len(text) > MOST_CHARACTERS:
        text = text[: text.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)]  # no half word, if there is a space
    return text.strip()


def prepared(question: str, reader: StoreReader) -> Query:
    """Analyse a query, and weigh its words by the tenant's statistics."""
    text = looked_up(question)
    words = query_words(text)
    statistics = reader.statistics(list(dict.fromkeys(term for word in words for term in word.terms)))
    known = {word: _occurrences(word, statistics) for word in words}
    rarest = sorted(words, key=lambda word: (not known[word], known[word]))[:MOST_WORDS]
    chosen = set(rarest)
    weighted = tuple(
        Word(*word, _weight(known[word], statistics.chunks) * (FUNCTION_WORD if word.text in FUNCTION_WORDS else 1))
        for word in words
        if word in chosen
    )
    return Query(text, weighted, statistics.chunks, statistics.average_length)


def _occurrences(word: QueryWord, statistics: Statistics) -> int:
    """Return in how many chunks a word occurs.

    Its terms are those of several languages, and a chunk has one language: hardly any chunk contains two of them, so
    their sum is right, and at worst too high, which makes the word count a little less.
    """
    return min(statistics.chunks, sum(statistics.frequencies.get(term, 0) for term in word.terms))


def _weight(occurrences: int, chunks: int) -> float:
    return math.log1p((chunks - occurrences + 0.5) / (occurrences + 0.5))


def bm25_parts(query: Query, candidate: Candidate) -> dict[str, float]:
    """Return what each word adds to a chunk's BM25; all terms of a word count as that word."""
    length = candidate.length / query.average_length if query.average_length else 1.0
    damping = _K1 * (1 - _B + _B * length)
    words, times = query.words, dict[int, int]()
    for term, count in candidate.counts.items():
        for position in query.positions_of.get(term, ()):
            times[position] = times.get(position, 0) + count
    found = sorted(times.items())  # so that sums don't depend on the store
    return {words[at].text: words[at].weight * count * (_K1 + 1) / (count + damping) for at, count in found if count}


def bm25(query: Query, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return the BM25 score of each chunk."""
    return {candidate.key: sum(bm25_parts(query, candidate).values()) for candidate in candidates}


def share_of(query: Query, terms: Iterable[str]) -> float:
    """Return the share of a query that is among some terms, by the weight of its words."""
    found = {position for term in terms for position in query.positions_of.get(term, ())}
    return sum(query.words[at].weight for at in sorted(found)) / query.weight if query.weight and found else 0.0
