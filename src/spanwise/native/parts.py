"""The parts of lists and tables: items, nested in their parents, and rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from spanwise.native.ranges import Range as Range
from spanwise.native.ranges import visible_range

Part = TypeVar("Part")

DEEPEST_ITEM: Final = 32
"""Items nested deeper than this are text of their ancestor: they don't occur in practice, and recursion is limited."""


def items(text: str, ranges: list[Range], shape: Callable[..., Part]) -> tuple[Part, ...]:
    """Return the items of a list, nested in their parents, each as `shape(start, end, nested items)`."""
    waiting: list[tuple[int, Part]] = []
    for start, end in reversed(_shallow(ranges)):  # backwards, so that children come before their parent
        children = []
        while waiting and waiting[-1][0] < end:
            children.append(waiting.pop()[1])
        if item := visible_range(text, start, end):
            waiting.append((item[0], shape(*item, tuple(children))))
    return tuple(part for _, part in reversed(waiting))


def _shallow(ranges: list[Range]) -> list[Range]:
    if len(ranges) <= DEEPEST_ITEM:
        return ranges
    kept, ends = [], list[int]()
    for start, end in ranges:
        while ends and ends[-1] <= start:
            ends.pop()
        if len(ends) < DEEPEST_ITEM:
            kept.append((start, end))
        ends.append(end)
    return kept


def rows(text: str, ranges: list[Range], end: int, shape: Callable[..., Part]) -> tuple[Part, ...]:
    """Return the rows of a table; each extends to the next, so the header includes its delimiter row."""
    starts = [start for start, _ in ranges]
    rows = list[Part]()
    for number, (start, after) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        if row := visible_range(text, start, after):
            rows.append(shape(*row, header=number == 0))
    return tuple(rows)
