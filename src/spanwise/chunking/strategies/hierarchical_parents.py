"""The parents of `hierarchical`: whole sections while they fit, else their sub-sections, then blocks, then finer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategies.structure import StructureStrategy, context_prices
from spanwise.chunking.strategies.units import BlockRange, content_units, finer, fits
from spanwise.chunking.strategy import ChunkPlan
from spanwise.chunking.task import ChunkingTask
from spanwise.native.sections import CLOSING
from spanwise.options import Options


class ParentsStrategy(StructureStrategy):
    """The strategy of the outer level, which is settled by itself, under a limit of its own."""

    name = "parents"
    options = Options
    leaves_out = frozenset()

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Divide the document at its sections."""
        units = content_units(task)
        return ChunkPlan([PlannedCore(*unit) for unit in _divided(task, units)] if units else ())


def _divided(task: ChunkingTask, units: Sequence[BlockRange]) -> Iterator[BlockRange]:
    """Yield a range whole if it fits, else its sections, else divide it between its blocks."""
    whole = units[0].to(units[-1])
    sections = _sections(task, units) if not _fits(task, whole) else []
    if not sections:
        yield whole
    elif len(sections) > 1:
        yield from _filled(task, sections)
    else:
        yield from _between_blocks(task, units)


def _fits(task: ChunkingTask, unit: BlockRange) -> bool:
    return fits(task, unit, task.room(unit.first))


def _sections(task: ChunkingTask, units: Sequence[BlockRange]) -> list[list[BlockRange]]:
    """Cut a range at its outermost headings, without those that it begins with.

    Headings with nothing under them go with the section that follows.
    """
    blocks = task.document.blocks
    body = next((index for index, unit in enumerate(units) if not _goes_with_next(task, unit)), len(units))
    levels = [blocks[unit.first].level for unit in units[body:]]
    outermost = min((level for level in levels if level is not None), default=None)
    sections = [list(units[:body])]
    for unit, level in zip(units[body:], levels, strict=True):
        opens = level is not None and level == outermost
        if opens and not all(_goes_with_next(task, before) for before in sections[-1]):
            sections.append([])
        sections[-1].append(unit)
    return sections


def _goes_with_next(task: ChunkingTask, unit: BlockRange) -> bool:
    """Whether a range ends with a heading or a rule, which only lead to what follows."""
    return task.document.blocks[unit.last].kind in CLOSING


def _filled(task: ChunkingTask, sections: list[list[BlockRange]]) -> Iterator[BlockRange]:
    """Join neighbouring sections while they fit; one that doesn't fit by itself is divided separately."""
    current: BlockRange | None = None
    for section in sections:
        whole = section[0].to(section[-1])
        if current and _fits(task, current.to(whole)):
            current = current.to(whole)
            continue
        if current:
            yield current
        current = whole if _fits(task, whole) else None
        if current is None:
            yield from _divided(task, section)
    if current:
        yield current


def _between_blocks(task: ChunkingTask, units: Sequence[BlockRange]) -> Iterator[BlockRange]:
    """Divide a section between its blocks, and inside those that don't fit, into parts of about the same size.

    A parent ends when it has its share; a rest that fits stays whole.
    """
    room = min(task.room(units[0].first), task.room(units[-1].first))
    pieces = _joined_with_next(task, [piece for unit in units for piece in _broken(task, unit, room)], room)
    size = task.content_tokens(units[0].start, units[-1].end)
    share = -(-size // -(-size // max(room, 1))) if size else room
    current: BlockRange | None = None
    for piece in pieces:
        grown = current.to(piece) if current else piece
        if current and task.content_tokens(*current[:2]) < share and fits(task, grown, room - _owed(task, grown)):
            current = grown
            continue
        if current:
            yield current
        current, rest = piece, piece.to(pieces[-1])
        if fits(task, rest, room - _owed(task, rest)):
            current = rest
            break
    if current:
        yield current


def _broken(task: ChunkingTask, unit: BlockRange, room: int) -> list[BlockRange]:
    """Break a block that doesn't fit; the head of a table, and each fence, stay with the line beside them."""
    if fits(task, unit, room):
        return [unit]
    before, after = context_prices(task, unit.first)
    pieces = finer(task, unit, room - before - after)
    if before and len(pieces) > 1 and fits(task, pieces[0].to(pieces[1]), room - after):
        pieces[:2] = [pieces[0].to(pieces[1])]
    if after and len(pieces) > 1 and fits(task, pieces[-2].to(pieces[-1]), room - before):
        pieces[-2:] = [pieces[-2].to(pieces[-1])]
    return pieces


def _joined_with_next(task: ChunkingTask, pieces: list[BlockRange], room: int) -> list[BlockRange]:
    """Join headings and rules with what follows them, if both fit."""
    done: list[BlockRange] = []
    for piece in pieces:
        grown = done[-1].to(piece) if done and _goes_with_next(task, done[-1]) else None
        if grown and fits(task, grown, room - _owed(task, grown)):
            done[-1] = grown
        else:
            done.append(piece)
    return done


def _owed(task: ChunkingTask, unit: BlockRange) -> int:
    """Return the tokens of context that a parent needs because it begins or ends inside a table or code."""
    blocks = task.document.blocks
    before = context_prices(task, unit.first)[0] if unit.start > blocks[unit.first].start else 0
    return before + (context_prices(task, unit.last)[1] if unit.end < blocks[unit.last].end else 0)
