"""Ranges of whole blocks or parts of one, which `heading`, `window`, `blocks` and `hierarchical` join into cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from spanwise.chunking.packing import divide, divide_once
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import LEFT_OUT_KINDS
from spanwise.text.cuts import block_cuts
from spanwise.text.tokens import NEAR

_KIND_AND_RANGE: Final = itemgetter(0, 1, 2)
# Ranges are made for every block and every try, and a call of `BlockRange` takes twice the time.
_new: Final = tuple.__new__


class BlockRange(NamedTuple):
    """A range of the text, with the blocks where it begins and ends."""

    start: int
    end: int
    first: int
    last: int

    def to(self, other: BlockRange) -> BlockRange:
        """Return the range from here to the end of another."""
        return _new(BlockRange, (self[0], other[1], self[2], other[3]))


def content_units(task: ChunkingTask) -> list[BlockRange]:
    """Return the range of each block that is content."""
    blocks = enumerate(map(_KIND_AND_RANGE, task.document.blocks))
    return [_new(BlockRange, (start, end, at, at)) for at, (kind, start, end) in blocks if kind not in LEFT_OUT_KINDS]


def fits(task: ChunkingTask, unit: BlockRange, room: int) -> bool:
    """Whether a range has at most so many tokens; counted exactly when it is close."""
    return task.core_fits(unit.start, unit.end, task.content_tokens(unit.start, unit.end), room)


def finer(task: ChunkingTask, unit: BlockRange, room: int) -> list[BlockRange]:
    """Break a block into its sentences, items, rows or lines, and those that are still too large further."""
    block = task.document.blocks[unit.first]
    if block.kind == "figure":
        return [unit]
    indented = block.kind == "code"
    coarse, *ladder = block_cuts(task.text, block, task.language_at)
    pieces = divide_once(task.text, (unit.start, unit.end), coarse, indented=indented)
    most, units = task.room(unit.first) + NEAR, list[BlockRange]()
    for piece, begin, finish in zip(pieces, *task.tokens.at_edges(pieces), strict=True):
        if finish - begin + NEAR <= room:  # nearly always
            units.append(_new(BlockRange, (*piece, unit.first, unit.last)))
        else:
            parts = divide(task.tokens, piece, ladder, max(room, 1), most=most, indented=indented)
            units += [BlockRange(*part, unit.first, unit.last) for part in parts]
    return units


def filled(
    task: ChunkingTask,
    sections: Iterable[Sequence[BlockRange]],
    cut: Callable[[ChunkingTask, Sequence[BlockRange]], Iterable[BlockRange]],
    room_at: Callable[[ChunkingTask, BlockRange], int],
) -> Iterator[BlockRange]:
    """Join sections of one section type while they fit; cut those that don't, and go on with the rest of them."""
    blocks, room = task.document.blocks, 0
    current: BlockRange | None = None
    for section in sections:
        if current:
            grown = current.to(section[-1])
            same = blocks[current.last].section_type == blocks[section[0].first].section_type
            if same and fits(task, grown, room):
                current = grown
                continue
            yield current
        *done, current = cut(task, section)
        room = room_at(task, current)
        yield from done
    if current:
        yield current
