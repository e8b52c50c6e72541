"""The order in which people read what stands on a slide: from the top, and side by side from the left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.pptx.masters import Box

_MOST: Final = 2000


class Placed(NamedTuple):
    """A shape with its number, and its place where that is known."""

    shape: Any
    number: int
    box: Box | None
    is_placeholder: bool


def in_reading_order(shapes: Sequence[Placed]) -> list[Placed]:
    """Return shapes as they are read.

    Placeholders alone stand in the order of their layout, which its maker chose; so do shapes without a place.
    """
    if all(one.is_placeholder for one in shapes) or any(one.box is None for one in shapes) or len(shapes) > _MOST:
        return list(shapes)
    ordered: list[Placed] = []
    for band in _bands(shapes, vertical=True):
        columns = _bands(band, vertical=False)
        for column in columns:
            ordered += sorted(column, key=_from_top) if len(columns) > 1 or len(column) > 1 else column
    return ordered


def _bands(shapes: Sequence[Placed], *, vertical: bool) -> list[list[Placed]]:
    """Return groups of shapes with a gap between them, from the top or from the left; a small overlap is none."""
    bands: list[list[Placed]] = []
    reached = 0
    for one in sorted(shapes, key=_from_top if vertical else _from_left):
        assert one.box is not None
        low, high = (one.box.top, one.box.bottom) if vertical else (one.box.left, one.box.right)
        if bands and low < reached - (high - low) // 10:
            bands[-1].append(one)
            reached = max(reached, high)
        else:
            bands.append([one])
            reached = max(reached, high)
    return bands


def _from_top(one: Placed) -> tuple[int, int, int]:
    assert one.box is not None
    return one.box.top, one.box.left, one.number


def _from_left(one: Placed) -> tuple[int, int, int]:
    assert one.box is not None
    return one.box.left, one.box.top, one.number
