"""Stretches of blocks that `heading` and `window` put together."""

from __future__ import annotations

from typing import NamedTuple

from spanwise.context import Task
from spanwise.cuts import block_cuts
from spanwise.documents import LEFT_OUT_KINDS
from spanwise.packing import divide, divide_once
from spanwise.tokens import NEAR


class Unit(NamedTuple):
    """A stretch of the text, with the blocks where it begins and ends."""

    start: int
    end: int
    first: int
    last: int

    def to(self, other: Unit) -> Unit:
        """Give the stretch from here to the end of another."""
        return Unit(self.start, other.end, self.first, other.last)


def content_units(task: Task) -> list[Unit]:
    """Give a unit for each block that is content."""
    blocks = enumerate(task.document.blocks)
    return [Unit(block.start, block.end, index, index) for index, block in blocks if block.kind not in LEFT_OUT_KINDS]


def fits(task: Task, unit: Unit, room: int) -> bool:
    """Whether a stretch has at most so many tokens; counted exactly when it is close."""
    return task.core_fits(unit.start, unit.end, task.content_tokens(unit.start, unit.end), room)


def finer(task: Task, unit: Unit, room: int) -> list[Unit]:
    """Break a block into its sentences, items, rows or lines, and those that are still too large further."""
    block = task.document.blocks[unit.first]
    if block.kind == "figure":
        return [unit]
    indented = block.kind == "code"
    coarse, *ladder = block_cuts(task.text, block, lambda: task.language)
    pieces = divide_once(task.text, (unit.start, unit.end), coarse, indented=indented)
    most = task.room(unit.first) + NEAR
    return [
        Unit(start, end, unit.first, unit.last)
        for piece in pieces
        for start, end in divide(task.tokens, piece, ladder, max(room, 1), most=most, indented=indented)
    ]


def cut_at_target(task: Task, units: list[Unit], first: int, room: int) -> int:
    """Say where a chunk ends that begins with a unit: units are added while they stay within target."""
    target = task.options.target_tokens
    for number in range(first + 1, len(units)):
        grown = units[first].to(units[number])
        if task.content_tokens(grown.start, grown.end) > target or not fits(task, grown, room):
            return number
    return len(units)
