"""What a strategy is: it plans which ranges of a document belong together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

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


class StrategyTraits(NamedTuple):
    """What of a strategy its chunks must be judged by, wherever the strategy itself is."""

    name: str
    leaves_out: frozenset[str] = frozenset()
    leafwise: bool = False
    described_by_first: bool = False
    joins_sections: bool = False


class StrategyLike(Protocol):
    """What an object must have to be given as a strategy; `Strategy` is a base class with everything else."""

    @property
    def name(self) -> str:
        """The name in records."""

    @property
    def options(self) -> type[Options]:
        """The class of its options."""

    def plan(self, task: ChunkingTask) -> ChunkPlan | Iterable[tuple[int, int]]:
        """Return the ranges of the cores, in order, as pairs of positions in `task.text`, or a `ChunkPlan`."""


class Strategy(ABC):
    """Base class of strategies: `name`, `options` and `plan` are left to write, the rest has defaults.

    What a plug-in plans is checked: spans must ascend and hold all content. Cuts inside a character or a figure are
    moved, white space is trimmed, and a core over the limit is cut again.
    """

    name: str
    """The name in records."""
    options: type[Options]
    """The class of its options, whose values are `task.options`."""
    leaves_out: frozenset[str] = frozenset()
    """The kinds of blocks that are left out of the chunks, besides those that are never content."""
    leafwise: bool = False
    """Whether its blocks are leaf blocks: items and rows instead of lists and tables."""
    repeating: frozenset[str] | None = frozenset()
    """The kinds of blocks of which a part may repeat something; None where any core may."""
    described_by_first: bool = False
    """Whether a chunk has the headings path of its first block, be it a heading, instead of the first that is none."""
    joins_sections: bool = False
    """Whether a core may hold the headings between sections, although it leaves headings out."""
    has_parents: bool = False
    """Whether its chunks have two levels, parents and children; only built-in strategies may."""
    asks_model: bool = False
    """Whether it needs the answers of a proposer; see `ModelStrategy`."""

    def left_out_under(self, options: Options) -> frozenset[str]:
        """Return the kinds of blocks that no core holds under some options: usually `leaves_out`."""
        return self.leaves_out

    @property
    def traits(self) -> StrategyTraits:
        """What its chunks are judged by."""
        return StrategyTraits(self.name, self.leaves_out, self.leafwise, self.described_by_first, self.joins_sections)

    @abstractmethod
    def plan(self, task: ChunkingTask) -> ChunkPlan | Iterable[tuple[int, int]]:
        """Return the ranges of the cores, in order, as pairs of positions in `task.text`, or a `ChunkPlan`."""

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
