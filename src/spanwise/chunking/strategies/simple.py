"""`simple`: JSON and opaque text, cut at multiples of a number of characters; no awareness of content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import Document
from spanwise.options import Options, option
from spanwise.text.cuts import grapheme_break, trimmed

_LOOK_BACK: Final = 256


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
        for multiple in [*range(size, len(text), size), len(text)]:
            if multiple <= start:  # a figure reached beyond it
                continue
            # a grapheme longer than this is searched from its middle: from its start the time would be quadratic
            low = start if multiple - start <= size + _LOOK_BACK else multiple - _LOOK_BACK
            boundary = grapheme_break(text, low, multiple)
            if boundary is None:  # a grapheme goes on, and stays whole
                continue
            cut = _outside_figure(task.document, boundary, start)
            cores += _core(task, start, cut)
            start = cut
        return ChunkPlan(cores)


def _outside_figure(document: Document, cut: int, start: int) -> int:
    if not document.blocks:
        return cut
    block = document.blocks[block_at(document, cut)]
    if block.kind != "figure" or not block.start < cut < block.end:
        return cut
    return block.start if block.start > start else block.end


def _core(task: ChunkingTask, start: int, end: int) -> list[PlannedCore]:
    """Return one core, if anything of the content lies in the range."""
    if not task.document.blocks or not (span := trimmed(task.text, start, end)):
        return []
    if not (ranges := task.core_ranges(*span)):
        return []
    first, last = block_at(task.document, ranges[0][0]), block_at(task.document, ranges[-1][1] - 1)
    return [PlannedCore(ranges[0][0], ranges[-1][1], first, last)]
