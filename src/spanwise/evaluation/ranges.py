"""Ranges of characters: joined, measured and intersected; all are half-open pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Range = tuple[int, int]


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return ranges in order, those that overlap or touch joined."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def length(ranges: Iterable[Range]) -> int:
    """Return how many characters ranges have that don't overlap."""
    return sum(end - start for start, end in ranges)


def common(ranges: Sequence[Range], others: Sequence[Range]) -> list[Range]:
    """Return what two sequences of merged ranges have in common; linear in both."""
    found: list[Range] = []
    first = second = 0
    while first < len(ranges) and second < len(others):
        start = max(ranges[first][0], others[second][0])
        end = min(ranges[first][1], others[second][1])
        if start < end:
            found.append((start, end))
        if ranges[first][1] <= others[second][1]:
            first += 1
        else:
            second += 1
    return found
