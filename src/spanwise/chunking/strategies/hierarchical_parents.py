"""The parents of `hierarchical`: whole sections while they fit, else their sub-sections, then blocks, then finer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spanwise.chunking.pieces import PlannedCore, RepeatedContext
from spanwise.chunking.strategies.structure import context_prices, repeated_context
from spanwise.chunking.strategies.units import BlockRange, content_units, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.native.sections import APART, CLOSING
from spanwise.options import Options


class ParentsStrategy(Strategy):
    """Plans the outer level; it is settled by itself, under a limit of its own."""

    name = "parents"
    options = Options
    repeating = APART

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Divide the document at its sections."""
        units = content_units(task)
        return ChunkPlan([PlannedCore(*unit) for unit in _divided(task, units)] if units else ())

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Repeat the head of a table, or the fences of code, that had to be cut."""
        return repeated_context(task, core)


def _divided(task: ChunkingTask, units: Sequence[BlockRange]) -> Iterator[BlockRange]:
    """Give a stretch whole if it fits, else by its sections, else between its blocks."""
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
    """Cut a stretch at its outermost headings, without those that it begins with.

    Headings with nothing under them go with the section that follows.
    """
    blocks = task.document.blocks
    body = next((place for place, unit in enumerate(units) if not _leads(task, unit)), len(units))
    levels = [blocks[unit.first].level for unit in units[body:]]
    outermost = min((level for level in levels if level is not None), default=None)
    sections = [list(units[:body])]
    for unit, level in zip(units[body:], levels, strict=True):
        opens = level is not None and level == outermost
        if opens and not all(_leads(task, before) for before in sections[-1]):
            sections.append([])
        sections[-1].append(unit)
    return sections


def _leads(task: ChunkingTask, unit: BlockRange) -> bool:
    """Whether a stretch ends with a heading or a rule, which only lead to what follows."""
    return task.document.blocks[unit.last].kind in CLOSING


def _filled(task: ChunkingTask, sections: list[list[BlockRange]]) -> Iterator[BlockRange]:
    """Put neighbouring sections together while they fit; one that doesn't fit by itself is divided by itself."""
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
    """Divide a section between its blocks, and inside those that don't fit, into parts of about the same size."""
    room = min(task.room(units[0].first), task.room(units[-1].first))
    pieces = _with_leads(task, [piece for unit in units for piece in _broken(task, unit, room)], room)
    size = task.content_tokens(units[0].start, units[-1].end)
    share = -(-size // -(-size // max(room, 1))) if size else room
    first = 0
    while first < len(pieces):
        until = _end_of_share(task, pieces, first, room, share)
        yield pieces[first].to(pieces[until - 1])
        first = until


def _end_of_share(task: ChunkingTask, pieces: list[BlockRange], first: int, room: int, share: int) -> int:
    """Say where a parent ends that begins with a piece: when it has its share; a rest that fits stays whole."""
    rest = pieces[first].to(pieces[-1])
    if fits(task, rest, room - _owed(task, rest)):
        return len(pieces)
    for number in range(first + 1, len(pieces)):
        grown = pieces[first].to(pieces[number])
        full = task.content_tokens(grown.start, pieces[number - 1].end) >= share
        if full or not fits(task, grown, room - _owed(task, grown)):
            return number
    return len(pieces)


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


def _with_leads(task: ChunkingTask, pieces: list[BlockRange], room: int) -> list[BlockRange]:
    """Put headings and rules together with what follows them, if both fit."""
    done: list[BlockRange] = []
    for piece in pieces:
        grown = done[-1].to(piece) if done and _leads(task, done[-1]) else None
        if grown and fits(task, grown, room - _owed(task, grown)):
            done[-1] = grown
        else:
            done.append(piece)
    return done


def _owed(task: ChunkingTask, unit: BlockRange) -> int:
    """Give what a parent costs more than itself because it begins or ends inside a table or code."""
    blocks = task.document.blocks
    before = context_prices(task, unit.first)[0] if unit.start > blocks[unit.first].start else 0
    return before + (context_prices(task, unit.last)[1] if unit.end < blocks[unit.last].end else 0)
