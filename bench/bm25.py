"""The retriever used for all chunks: BM25 over lower-cased words.

No stemming, no stop words, no vectors: two rows differ only in how the text was cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class Index:
    """An inverted index of texts by their words; hits are indices of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(words_of(text)) for text in texts]
        lengths = [found.total() for found in counted]
        average = sum(lengths) / max(len(lengths), 1) or 1.0
        self._damping = [K1 * (1 - B + B * length / average) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, found in enumerate(counted):
            for word, times in found.items():
                self._postings.setdefault(word, []).append((number, times))

    def ranked(self, question: str) -> list[int]:
        """Return the indices of the texts that share a word with a question, best first; ties by index."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(words_of(question)):
            postings = self._postings.get(word, ())
            rarity = log(1 + (len(self._damping) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, times in postings:
                weight = rarity * times * (K1 + 1) / (times + self._damping[number])
                scores[number] = scores.get(number, 0.0) + weight
        return sorted(scores, key=lambda number: (-scores[number], number))
