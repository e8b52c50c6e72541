"""Span, a half-open range of integers, and functions that divide ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spanwise.errors import DocumentError


class _SpanFields(NamedTuple):
    start: int
    end: int


class Span(_SpanFields):
    """A half-open range `[start, end)`, never empty, never negative."""

    __slots__ = ()

    def __new__(cls, start: int, end: int) -> Span:
        """Raise DocumentError if the range is empty, reversed or negative."""
        if not 0 <= start < end:
            raise DocumentError("span", "must have 0 <= start < end", value=(start, end))
        return tuple.__new__(cls, (start, end))

    def contains(self, other: Span) -> bool:
        """Whether `other` lies wholly inside."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two share at least one position."""
        return self.start < other.end and other.start < self.end


def between(cuts: Sequence[int], start: int, end: int) -> list[tuple[int, int]]:
    """Return the ranges that `cuts` (ascending, inside) divide `[start, end)` into."""
    if not cuts:
        return [(start, end)]
    return [(start, cuts[0]), *zip(cuts, (*cuts[1:], end), strict=True)]


def without(excluded: Iterable[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of `[start, end)` outside the `excluded` ranges (ascending, disjoint)."""
    left = []
    for low, high in excluded:
        if high <= start or low >= end:
            continue
        if low > start:
            left.append((start, low))
        start = max(start, high)
    if start < end:
        left.append((start, end))
    return left
