"""`heading`: whole sections of notes in a chunk, as many as fit; typed sections are kept apart.

A section begins at a heading of at most `split_level` and where the section type changes. What is left of a section
that had to be cut is carried over under its heading, and packed with what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanwise.chunking.pieces import NO_CONTEXT, PlannedCore, RepeatedContext
from spanwise.chunking.strategies.units import BlockRange, content_units, filled, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Block
from spanwise.options import TEMPLATE_HELP, TEMPLATES, Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadingOptions(Options):
    """The options of `heading`."""

    ignored = frozenset({"overlap"})

    max_tokens: int = option(600, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(400, "size at which a section that is too large is cut", low=1)
    template: str = option("breadcrumb", TEMPLATE_HELP, choices=TEMPLATES)
    split_level: int = option(2, "headings up to this level begin a section", low=1, high=6)
    strict: bool = option(False, "one chunk a section, however small")
    smart: bool = option(True, "pack sections and carry over what is left; off is the same as `strict`")


class HeadingStrategy(Strategy):
    """The strategy `heading`."""

    name = "heading"
    described_by_first = True
    options = HeadingOptions
    repeating = None

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Pack whole sections, or make separate chunks of each."""
        sections = task.once(_sections)
        apart = (chunk for section in sections for chunk in _cut(task, section))
        chunks = filled(task, sections, _cut, _room) if _is_smart(task) else apart
        return ChunkPlan([PlannedCore(*chunk) for chunk in chunks])

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Repeat the heading of the section if the chunk begins inside it."""
        heading = _carried(task, core.start, core.first)
        if heading is None:
            return NO_CONTEXT
        if not _price(task, heading):
            return RepeatedContext(dropped=True)
        return RepeatedContext(((heading.start, heading.end),), joiner="\n\n")


def _is_smart(task: ChunkingTask) -> bool:
    return bool(task.options.smart and not task.options.strict)


def _sections(task: ChunkingTask) -> list[list[BlockRange]]:
    """Return the blocks of each section."""
    blocks, level = task.document.blocks, task.options.split_level
    sections: list[list[BlockRange]] = []
    for unit in content_units(task):
        block = blocks[unit.first]
        opens = block.kind == "heading" and (block.level or 0) <= level
        if not sections or opens or block.section_type != blocks[sections[-1][-1].last].section_type:
            sections.append([])
        sections[-1].append(unit)
    return sections


def _opening_headings(task: ChunkingTask) -> dict[int, Block | None]:
    """Return for every block the heading that opened its section, if one did."""
    openings = ((section, task.document.blocks[section[0].first]) for section in task.once(_sections))
    return {unit.first: block if block.kind == "heading" else None for section, block in openings for unit in section}


def _carried(task: ChunkingTask, start: int, block: int) -> Block | None:
    """Return the heading of the section in whose middle a chunk begins, if it is to be repeated."""
    heading = task.once(_opening_headings).get(block) if _is_smart(task) else None
    return heading if heading and start >= heading.end else None


def _price(task: ChunkingTask, heading: Block) -> int:
    """Return the cost of repeating a heading; 0 if it would take more than half of the limit, and isn't repeated."""
    price = task.tokens.exact(heading.start, heading.end) + task.joint
    return price if price <= task.limit // 2 else 0


def _room(task: ChunkingTask, unit: BlockRange) -> int:
    heading = _carried(task, unit.start, unit.first)
    return task.room(unit.first) - (_price(task, heading) if heading else 0)


def _cut(task: ChunkingTask, section: Sequence[BlockRange]) -> Iterator[BlockRange]:
    """Cut a section that doesn't fit between sentences at target; in smart mode a rest that fits stays whole."""
    waiting = [(block, False) for block in reversed(section)]
    while waiting:
        rest = waiting[-1][0].to(section[-1])
        if (_is_smart(task) or rest.start == section[0].start) and fits(task, rest, _room(task, rest)):
            yield rest
            return
        yield _taken(task, waiting)


def _taken(task: ChunkingTask, waiting: list[tuple[BlockRange, bool]]) -> BlockRange:
    """Take the next chunk from a stack: blocks while they stay within target, then sentences of the next block.

    A block is broken up only when it doesn't fit whole; most never are.
    """
    target, room = task.options.target_tokens, _room(task, waiting[-1][0])
    taken: list[BlockRange] = []
    while waiting:
        unit, is_sentence = waiting.pop()
        grown = taken[0].to(unit) if taken else unit
        size = task.content_tokens(grown.start, grown.end)
        small = size <= target and task.core_fits(grown.start, grown.end, size, room)
        if small or (is_sentence and not taken):
            taken.append(unit)
        elif is_sentence:
            waiting.append((unit, True))
            break
        else:
            broken = [unit]
            while taken and _is_heading(task, taken[-1]):  # it goes with what follows
                broken.insert(0, taken.pop())
            waiting += [(sentence, True) for sentence in reversed(_sentences(task, broken))]
    return taken[0].to(taken[-1])


def _is_heading(task: ChunkingTask, unit: BlockRange) -> bool:
    block = task.document.blocks[unit.first]
    return block.kind == "heading" and (unit.start, unit.end) == (block.start, block.end)


def _sentences(task: ChunkingTask, section: list[BlockRange]) -> list[BlockRange]:
    """Return the sentences of a section, its items and lines; a heading goes with what follows it, if both fit."""
    units: list[BlockRange] = []
    held: BlockRange | None = None
    opening = task.once(_opening_headings).get(section[0].first)
    for block in section:
        room = task.room(block.first) - (_price(task, opening) if opening and _is_smart(task) else 0)
        for piece in finer(task, block, room):
            unit = held.to(piece) if held and fits(task, held.to(piece), room) else piece
            units += [held] if held and unit is piece else []
            held = None
            if task.document.blocks[block.first].kind == "heading" and piece.end == block.end:
                held = unit
            else:
                units.append(unit)
    return [*units, held] if held else units
