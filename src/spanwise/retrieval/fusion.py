"""Words and vectors in one score, so that a weak model can't spoil what the words have found.

The words count up to one: BM25 as a share of the best. The model adds its cosine, times its weight, times how far it is
to be trusted with this question. Trust is what the chunks that share words with the question show: if the model finds
those with more of its words nearer, it understands the question; if its cosines have nothing to do with the words, or
speak against them, it is not listened to. On questions about five English texts a real model's cosines correlate with
BM25 by 0.58 (one in twenty questions: by less than 0.32), those of random vectors by 0.12 at most.

Where the words have found next to nothing, as for a question in another language than the documents, they can't judge
the model either: it is believed, and the less of the question was found, the less the words themselves count beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

_FULL: Final = 0.3  # so much correlation beyond chance earns full trust
_FEWEST: Final = 4  # chunks, below which a correlation says nothing
_NEXT_TO_NOTHING: Final = 0.35  # of a question, by the weight of its words


class VectorTrust(NamedTuple):
    """How much words and model count for a question, each from 0 to 1."""

    words: float
    model: float


WORDS_ALONE: Final = VectorTrust(1.0, 0.0)


class Fused(NamedTuple):
    """The two first parts of a score."""

    words: float
    vector: float


def fused(
    words: Mapping[int, float], cosines: Mapping[int, float], weight: float, opinion: VectorTrust
) -> dict[int, Fused]:
    """Join the scores by words and the cosines, each of which may lack some chunks."""
    best = max(words.values(), default=0.0) or 1.0
    return {
        key: Fused(opinion.words * words.get(key, 0.0) / best, weight * opinion.model * max(cosines.get(key, 0.0), 0.0))
        for key in {**words, **cosines}
    }


def opinion_of(words: Mapping[int, float], cosines: Mapping[int, float], coverage: float) -> VectorTrust:
    """Say how much words and model count; `coverage` is the share of the question in the chunk that has most of it."""
    if coverage < _NEXT_TO_NOTHING:
        return VectorTrust((coverage / _NEXT_TO_NOTHING) ** 3, 1.0)
    return VectorTrust(1.0, _trust(words, cosines))


def _trust(words: Mapping[int, float], cosines: Mapping[int, float]) -> float:
    """Say how far cosines agree with the words, from 0 to 1: by their correlation, less what chance may give."""
    keys = [key for key, value in words.items() if value > 0 and key in cosines]
    if len(keys) < _FEWEST:
        return 1.0
    agreement = _correlation([words[key] for key in keys], [cosines[key] for key in keys])
    return min(max((agreement - 2 / math.sqrt(len(keys))) / _FULL, 0.0), 1.0)


def _correlation(first: list[float], second: list[float]) -> float:
    means = sum(first) / len(first), sum(second) / len(second)
    left, right = [value - means[0] for value in first], [value - means[1] for value in second]
    spread = math.sqrt(sum(value * value for value in left) * sum(value * value for value in right))
    return sum(one * other for one, other in zip(left, right, strict=True)) / spread if spread > 1e-12 else 0.0
