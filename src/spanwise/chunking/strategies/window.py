"""`window`: flat texts, whole blocks until the limit; typed sections are kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spanwise.chunking.overlap import prose_start
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategies.units import BlockRange, content_units, cut_at_target, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.options import TEMPLATES, Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowOptions(Options):
    """The options of `window`."""

    max_tokens: int = option(600, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(400, "size at which a block that is too large is cut", low=1)
    template: str = option("breadcrumb", "what stands before the text for the embedder", choices=TEMPLATES)
    overlap_tokens: int = option(0, "at most so much of the chunk before is repeated", low=0)


class WindowStrategy(Strategy):
    """The strategy `window`."""

    name = "window"
    options = WindowOptions

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Pack blocks until the limit, and say who may take overlap."""
        blocks = task.document.blocks
        plans: list[PlannedCore] = []
        for chunk in _filled(task):
            same = plans and blocks[plans[-1].last].section_type == blocks[chunk.first].section_type
            plans.append(PlannedCore(*chunk, bool(same and task.options.overlap_tokens)))
        return ChunkPlan(plans)

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Start at a sentence, else at a word; a few words are worth nothing."""
        return prose_start(task, previous, free)


def _filled(task: ChunkingTask) -> Iterator[BlockRange]:
    blocks, room = task.document.blocks, 0
    current: BlockRange | None = None
    for unit in content_units(task):
        if current:
            same = blocks[current.last].section_type == blocks[unit.first].section_type
            grown = current.to(unit)
            if same and fits(task, grown, room):
                current = grown
                continue
            yield current
        *done, current = _cut(task, unit)
        room = task.room(current.first)
        yield from done
    if current:
        yield current


def _cut(task: ChunkingTask, unit: BlockRange) -> Iterator[BlockRange]:
    """Cut a block that doesn't fit at target."""
    room = task.room(unit.first)
    if fits(task, unit, room):
        yield unit
        return
    units, first = finer(task, unit, room), 0
    while first < len(units):
        until = cut_at_target(task, units, first, room)
        yield units[first].to(units[until - 1])
        first = until
