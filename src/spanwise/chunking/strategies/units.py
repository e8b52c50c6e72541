"""Stretches of blocks that `heading` and `window` put together."""

from __future__ import annotations

from operator import itemgetter
from typing import Final, NamedTuple

from spanwise.chunking.packing import divide, divide_once
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import LEFT_OUT_KINDS
from spanwise.text.cuts import block_cuts
from spanwise.text.tokens import NEAR

_KIND_AND_RANGE: Final = itemgetter(0, 1, 2)
_new: Final = (
    tuple.__new__
)  # units are made for every block and every try, and a call of `BlockRange` takes twice the time


class BlockRange(NamedTuple):
    """A stretch of the text, with the blocks where it begins and ends."""

    start: int
    end: int
    first: int
    last: int

    def to(self, other: BlockRange) -> BlockRange:
        """Give the stretch from here to the end of another."""
        return _new(BlockRange, (self[0], other[1], self[2], other[3]))


def content_units(task: ChunkingTask) -> list[BlockRange]:
    """Give a unit for each block that is content."""
    blocks = enumerate(map(_KIND_AND_RANGE, task.document.blocks))
    return [_new(BlockRange, (start, end, at, at)) for at, (kind, start, end) in blocks if kind not in LEFT_OUT_KINDS]


def fits(task: ChunkingTask, unit: BlockRange, room: int) -> bool:
    """Whether a stretch has at most so many tokens; counted exactly when it is close."""
    return task.core_fits(unit.start, unit.end, task.content_tokens(unit.start, unit.end), room)


def finer(task: ChunkingTask, unit: BlockRange, room: int) -> list[BlockRange]:
    """Break a block into its sentences, items, rows or lines, and those that are still too large further."""
    block = task.document.blocks[unit.first]
    if block.kind == "figure":
        return [unit]
    indented = block.kind == "code"
    coarse, *ladder = block_cuts(task.text, block, lambda: task.language)
    pieces = divide_once(task.text, (unit.start, unit.end), coarse, indented=indented)
    most, units = task.room(unit.first) + NEAR, list[BlockRange]()
    for piece, begin, finish in zip(pieces, *task.tokens.at_edges(pieces), strict=True):
        if finish - begin + NEAR <= room:  # nearly always
            units.append(_new(BlockRange, (*piece, unit.first, unit.last)))
        else:
            parts = divide(task.tokens, piece, ladder, max(room, 1), most=most, indented=indented)
            units += [BlockRange(*part, unit.first, unit.last) for part in parts]
    return units


def cut_at_target(task: ChunkingTask, units: list[BlockRange], first: int, room: int) -> int:
    """Say where a chunk ends that begins with a unit: units are added while they stay within target."""
    target = task.options.target_tokens
    for number in range(first + 1, len(units)):
        grown = units[first].to(units[number])
        size = task.content_tokens(grown.start, grown.end)
        if size > target or not task.core_fits(grown.start, grown.end, size, room):
            return number
    return len(units)
