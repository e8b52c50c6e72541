"""`join_sections` of `structure`: short sections under one parent in one chunk, with the headings between them.

A section with all that is under it is joined as a whole or not at all: nothing is cut that the strategy wouldn't cut,
and a chunk never holds half of a section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.task import ChunkingTask
from spanwise.native.sections import CLOSING

_Run = tuple[int, int]
"""The first section of a chunk, and the one after the last."""


class _Section(NamedTuple):
    """The blocks under one heading, up to the next heading or rule."""

    above: tuple[int, ...]
    """The blocks of the headings above it, outermost first."""
    start: int
    end: int
    first: int
    last: int
    after_rule: bool


class JoinedSections:
    """The sections of a document, and which of them together have at most the target."""

    def __init__(self, task: ChunkingTask) -> None:
        """Find the sections."""
        self._task = task
        self._sections = list(_sections(task))
        self._target = min(task.options.target_tokens, task.limit)

    def cores(self) -> list[PlannedCore]:
        """Return a core for each run of several sections that are joined."""
        joined = (run for run in self._runs(0, len(self._sections), 0) if run[1] - run[0] > 1)
        return [self._core(run) for run in joined]

    def _core(self, run: _Run) -> PlannedCore:
        first, last = self._sections[run[0]], self._sections[run[1] - 1]
        return PlannedCore(first.start, last.end, first.first, last.last)

    def _fits(self, run: _Run) -> bool:
        """Whether sections fit one chunk, and no rule stands between them."""
        if any(one.after_rule for one in self._sections[run[0] + 1 : run[1]]):
            return False
        core, task = self._core(run), self._task
        size = task.content_tokens(core.start, core.end)
        room = min(self._target, task.room(core.first))
        return task.core_fits(core.start, core.end, size, room)

    def _runs(self, low: int, high: int, depth: int) -> list[_Run]:
        """Return the runs of sections under the same `depth` headings, each of which is a chunk, or a section alone."""
        if high - low <= 1 or self._fits((low, high)):
            return [(low, high)] if high > low else []
        runs: list[_Run] = []
        open_run = False  # whether the last run may take the next
        for group in self._groups(low, high, depth):
            inner = self._runs(*group, depth + 1)
            whole = len(inner) == 1 and (group[1] - group[0] > 1 or self._fits(group))
            if open_run and whole and self._fits((runs[-1][0], group[1])):
                runs[-1] = runs[-1][0], group[1]
            else:
                runs += inner
            open_run = whole
        return runs

    def _groups(self, low: int, high: int, depth: int) -> Iterator[_Run]:
        """Yield each section directly under the headings, and those under the same next heading together."""
        for key, numbers in groupby(range(low, high), lambda number: self._sections[number].above[depth : depth + 1]):
            members = list(numbers)
            if key:
                yield members[0], members[-1] + 1
            else:
                yield from ((number, number + 1) for number in members)


def _sections(task: ChunkingTask) -> Iterator[_Section]:
    blocks = task.document.blocks
    above: list[tuple[int, int]] = []  # the level and block of each heading
    opened, after_rule = list[int](), False
    for index, block in enumerate(blocks):
        if block.kind not in CLOSING:
            if block.kind not in task.left_out:
                opened.append(index)
            continue
        if opened:
            yield _section(task, above, opened, after_rule)
        opened, after_rule = [], block.kind == "rule" or (after_rule and not opened)
        if block.kind == "heading":
            level = block.level or 1
            above = [one for one in above if one[0] < level] + [(level, index)]
    if opened:
        yield _section(task, above, opened, after_rule)


def _section(
    task: ChunkingTask, above: Iterable[tuple[int, int]], content: Sequence[int], after_rule: bool
) -> _Section:
    first, last = content[0], content[-1]
    blocks = task.document.blocks
    return _Section(tuple(index for _, index in above), blocks[first].start, blocks[last].end, first, last, after_rule)
