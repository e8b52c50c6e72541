"""Bootstrap intervals: means of questions drawn again and again, with a seed, so that they are the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spanwise.evaluation.values import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST: Final = 20
"""Questions below which no difference is called more than chance."""
SEED: Final = 7
DRAWS: Final = 2_000
_AT_ONCE: Final = 1_000_000  # numbers drawn at once, so that memory stays flat


def intervals(columns: Sequence[Sequence[float]], seed: int = SEED, draws: int = DRAWS) -> list[Interval]:
    """Return the mean of each column and its 95 percent interval: percentiles 2.5 and 97.5 of the means of draws.

    A column has a value for each question; all columns are drawn alike, so that differences are paired.
    """
    import numpy as np

    values = np.array(columns, dtype=np.float64).T
    if not values.size:
        return [Interval(0.0, 0.0, 0.0) for _ in columns]
    low, high = np.percentile(_means(values, seed, draws), (2.5, 97.5), axis=0)
    means = values.mean(axis=0)
    return [Interval(*map(_rounded, found)) for found in zip(means, low, high, strict=True)]


def _means(values: NDArray[np.float64], seed: int, draws: int) -> NDArray[np.float64]:
    import numpy as np

    generator, size = np.random.default_rng(seed), len(values)
    found, step = np.empty((draws, values.shape[1])), max(1, _AT_ONCE // size)
    for start in range(0, draws, step):
        drawn = generator.integers(0, size, (min(step, draws - start), size))
        for column in range(values.shape[1]):
            found[start : start + step, column] = values[drawn, column].mean(axis=1)
    return found


def verdict_of(difference: Interval, questions: int) -> str:
    """Return a word on whether a difference may be chance."""
    if questions < FEWEST:
        return "too few questions"
    if difference.low <= 0 <= difference.high:
        return "may be chance"
    return "better" if difference.mean > 0 else "worse"


def _rounded(value: float) -> float:
    return round(float(value), 6)
