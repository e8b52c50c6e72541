"""`simple`: JSON and opaque text, cut at multiples of a number of characters; no awareness of content."""

from __future__ import annotations

from dataclasses import dataclass

from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.span_plan import core_between, whole_cuts
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.options import Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class SimpleOptions(Options):
    """The options of `simple`."""

    max_chars: int = option(1000, "cut at every multiple of so many characters", low=1)


class SimpleStrategy(Strategy):
    """The strategy `simple`."""

    name = "simple"
    options = SimpleOptions

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Cut at multiples, moved back to where a character, or a figure, begins."""
        text, size = task.text, task.options.max_chars
        cores, start = list[PlannedCore](), 0
        for _, cut in whole_cuts(task, [*range(size, len(text), size), len(text)]):
            cores += core_between(task, start, cut)
            start = cut
        return ChunkPlan(cores)
