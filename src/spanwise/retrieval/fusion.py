"""Words and vectors in one score, so that a weak model can't spoil what the words have found.

The words count up to one: BM25 as a share of the best. The model adds its cosine, times its weight, times how far it is
to be trusted with this question. Trust is what the chunks that share words with the question show: if the model finds
those with more of its words nearer, it understands the question; if its cosines have nothing to do with the words, or
speak against them, it is not listened to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

_FULL: Final = 0.3
_FEWEST: Final = 4


class Fused(NamedTuple):
    """The two first parts of a score."""

    words: float
    vector: float


def fused(words: Mapping[int, float], cosines: Mapping[int, float], weight: float, trust: float) -> dict[int, Fused]:
    """Join the scores by words and the cosines, each of which may lack some chunks."""
    best = max(words.values(), default=0.0) or 1.0
    return {
        key: Fused(words.get(key, 0.0) / best, weight * trust * max(cosines.get(key, 0.0), 0.0))
        for key in {**words, **cosines}
    }


def trust_of(words: Mapping[int, float], cosines: Mapping[int, float]) -> float:
    """Say how far cosines agree with the words, from 0 to 1: by their correlation, less what chance may give."""
    keys = [key for key, value in words.items() if value > 0 and key in cosines]
    if len(keys) < _FEWEST:
        return 1.0
    agreement = _correlation([words[key] for key in keys], [cosines[key] for key in keys])
    return min(max((agreement - 1 / math.sqrt(len(keys))) / _FULL, 0.0), 1.0)


def _correlation(first: list[float], second: list[float]) -> float:
    means = sum(first) / len(first), sum(second) / len(second)
    left, right = [value - means[0] for value in first], [value - means[1] for value in second]
    spread = math.sqrt(sum(value * value for value in left) * sum(value * value for value in right))
    return sum(one * other for one, other in zip(left, right, strict=True)) / spread if spread > 1e-12 else 0.0
