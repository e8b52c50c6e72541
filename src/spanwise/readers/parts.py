"""The parts of lists and tables: items, nested ones inside their parents, and rows."""

from __future__ import annotations

from typing import Final

from spanwise.cuts import trimmed
from spanwise.documents import Part

DEEPEST_ITEM: Final = 32
"""Items nested deeper than this are text of their ancestor: nobody writes them, and recursion has a limit."""


def rows_of(text: str, ranges: list[tuple[int, int]], end: int) -> tuple[Part, ...]:
    """Give the rows of a table; each reaches to the next, so the header takes its delimiter row along."""
    starts = [start for start, _ in ranges]
    spans = (trimmed(text, *span) for span in zip(starts, [*starts[1:], end], strict=True))
    return tuple(Part(*span, header=row == 0) for row, span in enumerate(spans) if span)


def items_of(text: str, ranges: list[tuple[int, int]], _end: int) -> tuple[Part, ...]:
    """Give the items of a list, nested ones inside their parents."""
    waiting: list[Part] = []
    for start, end in reversed(_shallow(ranges)):  # backwards, children come before their parent
        children = []
        while waiting and waiting[-1].start < end:
            children.append(waiting.pop())
        item = text[start:end].rstrip()
        if item:
            end = start + len(item)
            waiting.append(Part(end - len(item.lstrip()), end, tuple(children)))
    return tuple(reversed(waiting))


def _shallow(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
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
