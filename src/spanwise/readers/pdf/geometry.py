"""Boxes on a page, in points from the top left corner of the page as displayed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle; `top` is smaller than `bottom`."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """The width."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The height."""
        return self.bottom - self.top

    @property
    def center(self) -> float:
        """The horizontal centre."""
        return (self.left + self.right) / 2

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        """The area; 0 if a side is negative."""
        return max(self.width, 0) * max(self.height, 0)

    def holds(self, x: float, y: float, slack: float = 0) -> bool:
        """Whether a point is inside, or at most `slack` outside."""
        return self.left - slack <= x <= self.right + slack and self.top - slack <= y <= self.bottom + slack

    def shared_width(self, other: Box) -> float:
        """Return the width of the horizontal overlap; negative if there is none."""
        return min(self.right, other.right) - max(self.left, other.left)

    def shared_height(self, other: Box) -> float:
        """Return the height of the vertical overlap; negative if there is none."""
        return min(self.bottom, other.bottom) - max(self.top, other.top)

    def shared_area(self, other: Box) -> float:
        """Return the area of the overlap."""
        return max(self.shared_width(other), 0) * max(self.shared_height(other), 0)


def union(first: Box, second: Box) -> Box:
    """Return the smallest box around two."""
    left, top, right, bottom = first
    left_2, top_2, right_2, bottom_2 = second
    return Box(
        left if left < left_2 else left_2, top if top < top_2 else top_2,
        right if right > right_2 else right_2, bottom if bottom > bottom_2 else bottom_2,
    )  # fmt: skip


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around several."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


class Frame(NamedTuple):
    """The mapping from file coordinates to those of the displayed page, and to those in which text is upright.

    A file counts from the bottom left corner of a page that it may rotate by `rotation` quarters. Text may still run
    sideways, by `turns` more quarters: the layout is computed as if the page were turned for reading.
    """

    left: float
    bottom: float
    right: float
    top: float
    rotation: int
    turns: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as displayed."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation % 2 else (width, height)

    @property
    def upright_size(self) -> tuple[float, float]:
        """Width and height of the page turned so that its text is upright."""
        width, height = self.size
        return (height, width) if self.turns % 2 else (width, height)

    def displayed(self, left: float, top: float, right: float, bottom: float) -> Box:
        """Convert a rectangle in file coordinates to those of the displayed page."""
        if self.rotation == 0:
            return Box(left - self.left, self.top - top, right - self.left, self.top - bottom)
        if self.rotation == 1:
            return Box(bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
        if self.rotation == 2:
            return Box(self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
        return Box(self.top - top, self.right - right, self.top - bottom, self.right - left)

    def upright(self, box: Box) -> Box:
        """Turn a box so that the text of the page is upright."""
        return _turned(box, *self.size, self.turns)

    def from_upright(self, box: Box) -> Box:
        """Turn a box back to the coordinates of the displayed page."""
        return _turned(box, *self.upright_size, -self.turns % 4)


def _turned(box: Box, width: float, height: float, quarters: int) -> Box:
    """Turn a box clockwise together with its page."""
    if quarters == 0:
        return box
    if quarters == 1:
        return Box(height - box.bottom, box.left, height - box.top, box.right)
    if quarters == 2:
        return Box(width - box.right, height - box.bottom, width - box.left, height - box.top)
    return Box(box.top, width - box.right, box.bottom, width - box.left)
