"""Boxes on a page: points from the top left corner of the page as it is shown."""

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
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """How high it is."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Half way between top and bottom."""
        return (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        """How much of the page it takes."""
        return max(self.width, 0) * max(self.height, 0)

    def holds(self, x: float, y: float, slack: float = 0) -> bool:
        """Whether a point lies inside."""
        return self.left - slack <= x <= self.right + slack and self.top - slack <= y <= self.bottom + slack

    def shared_width(self, other: Box) -> float:
        """How much of their widths stand above each other."""
        return min(self.right, other.right) - max(self.left, other.left)

    def shared_height(self, other: Box) -> float:
        """How much of their heights stand beside each other."""
        return min(self.bottom, other.bottom) - max(self.top, other.top)

    def shared_area(self, other: Box) -> float:
        """How much of the page both take."""
        return max(self.shared_width(other), 0) * max(self.shared_height(other), 0)


def both(first: Box, second: Box) -> Box:
    """Give the smallest box around two."""
    left, top, right, bottom = first
    low, high, far, deep = second
    return Box(
        left if left < low else low, top if top < high else high,
        right if right > far else far, bottom if bottom > deep else deep,
    )  # fmt: skip


def around(boxes: Iterable[Box]) -> Box:
    """Give the smallest box around several."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


class Frame(NamedTuple):
    """From the coordinates of a file to those of the page as it is shown, and on to those in which text is upright.

    A file counts from the bottom left corner of a page that it may then turn by `rotation` quarters. Text may still
    run sideways, by `turns` more quarters: the layout is worked out as if the page were turned for reading.
    """

    left: float
    bottom: float
    right: float
    top: float
    rotation: int
    turns: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation % 2 else (width, height)

    @property
    def upright_size(self) -> tuple[float, float]:
        """Width and height when the page is turned so that its text is upright."""
        width, height = self.size
        return (height, width) if self.turns % 2 else (width, height)

    def shown(self, left: float, top: float, right: float, bottom: float) -> Box:
        """Place a rectangle of the file on the page as it is shown."""
        if self.rotation == 0:
            return Box(left - self.left, self.top - top, right - self.left, self.top - bottom)
        if self.rotation == 1:
            return Box(bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
        if self.rotation == 2:
            return Box(self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
        return Box(self.top - top, self.right - right, self.top - bottom, self.right - left)

    def upright(self, box: Box) -> Box:
        """Turn a box so that the text of the page is upright."""
        width, height = self.size
        return _turned(box, width, height, self.turns)

    def back(self, box: Box) -> Box:
        """Turn a box back to where it stands on the page as it is shown."""
        width, height = self.upright_size
        return _turned(box, width, height, -self.turns % 4)


def _turned(box: Box, width: float, height: float, quarters: int) -> Box:
    """Turn a box clockwise together with its page."""
    if quarters == 0:
        return box
    if quarters == 1:
        return Box(height - box.bottom, box.left, height - box.top, box.right)
    if quarters == 2:
        return Box(width - box.right, height - box.bottom, width - box.left, height - box.top)
    return Box(box.top, width - box.right, box.bottom, width - box.left)
