"""`window`: flat texts, whole blocks until the limit; typed sections are kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanwise.chunking.overlap import prose_start
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategies.units import BlockRange, content_units, filled, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.options import TEMPLATE_HELP, TEMPLATES, Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowOptions(Options):
    """The options of `window`."""

    max_tokens: int = option(600, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(400, "size at which a block that is too large is cut", low=1)
    template: str = option("breadcrumb", TEMPLATE_HELP, choices=TEMPLATES)
    overlap_tokens: int = option(0, "at most so much of the chunk before is repeated", low=0)


class WindowStrategy(Strategy):
    """The strategy `window`."""

    name = "window"
    described_by_first = True
    options = WindowOptions

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Pack blocks until the limit; overlap comes only from a core of the same section type."""
        blocks, cores = task.document.blocks, list[PlannedCore]()
        for chunk in filled(task, ([unit] for unit in content_units(task)), _cut, _room):
            same = cores and blocks[cores[-1].last].section_type == blocks[chunk.first].section_type
            cores.append(PlannedCore(*chunk, bool(same and task.options.overlap_tokens)))
        return ChunkPlan(cores)

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Start at a sentence, else at a word; a few words are worth nothing."""
        return prose_start(task, previous, free)


def _cut(task: ChunkingTask, units: Sequence[BlockRange]) -> Iterator[BlockRange]:
    """Cut a block that doesn't fit at target."""
    room, target = _room(task, units[0]), task.options.target_tokens
    if fits(task, units[0], room):
        yield units[0]
        return
    current, *rest = finer(task, units[0], room)
    for piece in rest:
        grown = current.to(piece)
        size = task.content_tokens(grown.start, grown.end)
        if size <= target and task.core_fits(grown.start, grown.end, size, room):
            current = grown
        else:
            yield current
            current = piece
    yield current


def _room(task: ChunkingTask, unit: BlockRange) -> int:
    return task.room(unit.first)
