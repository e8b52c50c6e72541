"""What a strategy is: it plans which ranges of a document belong together, and returns a `ChunkPlan`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from spanwise.chunking.line_window import Proposal, Window
from spanwise.chunking.pieces import NO_CONTEXT, PlannedCore, RepeatedContext, SettledChunk
from spanwise.chunking.task import ChunkingTask
from spanwise.options import Options


class Note(NamedTuple):
    """A range of the text and what the strategy reports about it: why a proposal failed."""

    start: int
    end: int
    reason: str


class ChunkPlan(NamedTuple):
    """What a strategy returns: the cores in order, the settled parents that contain them, and notes on ranges."""

    cores: Sequence[PlannedCore]
    parents: Sequence[SettledChunk] = ()
    notes: Sequence[Note] = ()


class Question(NamedTuple):
    """The lines of a document from `first` up to `last`, and the window that shows them to a proposer."""

    first: int
    last: int
    window: Window


class Strategy(ABC):
    """Base class of all strategies: `name`, `options` and `plan` are left to write, the rest has defaults."""

    name: ClassVar[str]
    options: ClassVar[type[Options]]
    leaves_out: ClassVar[frozenset[str]] = frozenset()
    """The kinds of blocks that are left out of the chunks, besides those that are never content."""
    leafwise: ClassVar[bool] = False
    """Whether its blocks are leaf blocks: items and rows instead of lists and tables."""
    repeating: ClassVar[frozenset[str] | None] = frozenset()
    """The kinds of blocks of which a part may repeat something; None where any core may."""
    has_parents: ClassVar[bool] = False
    """Whether its chunks have two levels, parents and children."""
    asks_model: ClassVar[bool] = False
    """Whether it needs the answers of a proposer; see `ModelStrategy`."""

    @abstractmethod
    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Return the planned cores, in order."""

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Return what a chunk repeats around its core."""
        return NO_CONTEXT

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Return where in the previous core overlap of at most `free` tokens starts; None for no overlap."""
        return None


class ModelStrategy(Strategy):
    """A strategy whose plan depends on what a proposer answers to its questions."""

    asks_model = True

    @abstractmethod
    def questions(self, task: ChunkingTask) -> list[Question]:
        """Return what the proposer is asked about a document."""

    @abstractmethod
    def plan(self, task: ChunkingTask, proposals: Sequence[Proposal] | None = None) -> ChunkPlan:
        """Return the planned cores; `proposals` answer the questions, one each."""
