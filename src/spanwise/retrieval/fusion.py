"""Lexical and vector scores in one score, so that a weak model can't spoil a good lexical result.

The lexical score counts up to one: BM25 as a share of the best. The model adds its cosine, times its weight, times its
trust for this query. Trust is measured on the chunks that share words with the query: if the model ranks those with
more of its words nearer, it understands the query; if its cosines are unrelated to the words, or contradict them, it is
ignored. On queries about five English texts a real model's cosines correlate with BM25 by 0.58 (one in twenty queries:
by less than 0.32), those of random vectors by 0.12 at most.

Where next to no words were found, as for a query in another language than the documents, they can't measure the model
either: it is trusted, and the less of the query was found, the less the lexical score counts beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

_FULL_TRUST: Final = 0.3  # correlation beyond chance that means full trust
_FEWEST_CHUNKS: Final = 4  # below these a correlation means nothing
_LOW_COVERAGE: Final = 0.35  # of a query, by the weight of its words


class VectorTrust(NamedTuple):
    """How much words and model count for a query, each from 0 to 1."""

    words: float
    model: float


WORDS_ALONE: Final = VectorTrust(1.0, 0.0)


class Fused(NamedTuple):
    """The first two parts of a score."""

    words: float
    vector: float


def fused(
    lexical: Mapping[int, float], cosines: Mapping[int, float], weight: float, trust: VectorTrust
) -> dict[int, Fused]:
    """Combine lexical scores and cosines, each of which may lack some chunks."""
    best = max(lexical.values(), default=0.0) or 1.0
    return {
        key: Fused(trust.words * lexical.get(key, 0.0) / best, weight * trust.model * max(cosines.get(key, 0.0), 0.0))
        for key in {**lexical, **cosines}
    }


def vector_trust(lexical: Mapping[int, float], cosines: Mapping[int, float], coverage: float) -> VectorTrust:
    """Return how much words and model count; `coverage` is the largest share of the query found in one chunk."""
    if coverage < _LOW_COVERAGE:
        return VectorTrust((coverage / _LOW_COVERAGE) ** 3, 1.0)
    return VectorTrust(1.0, _trust(lexical, cosines))


def _trust(lexical: Mapping[int, float], cosines: Mapping[int, float]) -> float:
    """Return how far cosines agree with lexical scores, from 0 to 1: their correlation, less what chance may give."""
    keys = [key for key, value in lexical.items() if value > 0 and key in cosines]
    if len(keys) < _FEWEST_CHUNKS:
        return 1.0
    agreement = _correlation([lexical[key] for key in keys], [cosines[key] for key in keys])
    return min(max((agreement - 2 / math.sqrt(len(keys))) / _FULL_TRUST, 0.0), 1.0)


def _correlation(first: list[float], second: list[float]) -> float:
    means = sum(first) / len(first), sum(second) / len(second)
    left, right = [value - means[0] for value in first], [value - means[1] for value in second]
    spread = math.sqrt(sum(value * value for value in left) * sum(value * value for value in right))
    return sum(one * other for one, other in zip(left, right, strict=True)) / spread if spread > 1e-12 else 0.0
