"""`smart`: a language model says where topics start, and can say nothing else.

It is shown numbered lines and answers with numbers. Sizes, context and overlap are settled as for every strategy. Where
it fails or answers nonsense, `structure` steps in and the chunks say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from spanwise.chunking.line_window import Proposal
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategies.smart_lines import Line, lines_of, questions_of
from spanwise.chunking.strategies.structure import StructureOptions, StructureStrategy, plan_blocks
from spanwise.chunking.strategy import ChunkPlan, ModelStrategy, Note, Question
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Block
from spanwise.errors import OptionError
from spanwise.options import option

ASKING: Final = (
    "endpoint", "model", "api_key", "input_price", "output_price", "max_cost", "max_calls", "answer_tokens", "timeout",
    "concurrency", "cache", "cache_mb",
)  # fmt: skip
"""The options that say whom to ask, and at what price; all others say how to chunk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SmartOptions(StructureOptions):
    """The options of `smart`."""

    min_tokens: int = option(120, "as in `structure`, where that steps in; never joins topics", low=0)
    window_tokens: int = option(2000, "how much of a document is shown to the model at once", low=200)
    endpoint: str | None = option(None, "base URL of an OpenAI-compatible API; else SPANWISE_ENDPOINT", kind=str)
    model: str | None = option(None, "the model's name there; else SPANWISE_MODEL", kind=str)
    api_key: str | None = option(None, "the key for it; else SPANWISE_API_KEY", kind=str, secret=True)
    input_price: float | None = option(None, "price of a million tokens that are sent", low=0, kind=float)
    output_price: float | None = option(None, "price of a million tokens that are answered", low=0, kind=float)
    max_cost: float | None = option(None, "hard bound of a run's price; then `structure`", low=0, kind=float)
    max_calls: int = option(1000, "hard bound of a run's calls; then `structure`", low=0)
    answer_tokens: int = option(1000, "longest answer that is paid for; more for a model that reasons", low=50)
    timeout: float = option(30.0, "seconds that an answer may take", low=0.1, high=3600)
    concurrency: int = option(4, "calls that may be under way at the same time", low=1, high=64)
    cache: str | None = option(None, "folder of the answers; else SPANWISE_CACHE, else the user's own", kind=str)
    cache_mb: int = option(100, "size of the cache in megabytes; 0: no cache", low=0)


class SmartStrategy(StructureStrategy, ModelStrategy):
    """The strategy `smart`: repeats and overlaps as `structure` does."""

    name = "smart"
    options = SmartOptions

    def questions(self, task: ChunkingTask) -> list[Question]:
        """Return what is to be decided of a document, as windows of numbered lines."""
        return task.once(_numbered)[1]

    def plan(self, task: ChunkingTask, proposals: Sequence[Proposal] | None = None) -> ChunkPlan:
        """Make a chunk of every topic that fits; larger ones, and undecided lines, are planned by `structure`."""
        if proposals is None:
            hint = "spanwise.chunk and the command line do that"
            raise OptionError("smart", "needs somebody who proposes topics", hint=hint)
        lines, questions = task.once(_numbered)
        topics = list(_topics(lines, questions, proposals))
        return ChunkPlan(list(_planned(task, topics)), notes=list(_notes(lines, questions, proposals)))


def _numbered(task: ChunkingTask) -> tuple[list[Line], list[Question]]:
    """Return the lines of a document and the windows that show them."""
    lines = lines_of(task)
    return lines, questions_of(task, lines, task.options.window_tokens)


class TopicRange(NamedTuple):
    """Lines that belong together: a topic, or what nobody decided."""

    first: Line
    last: Line
    decided: bool


def _topics(
    lines: Sequence[Line], questions: Sequence[Question], proposals: Sequence[Proposal]
) -> Iterator[TopicRange]:
    """Cut the lines at every topic's start, and where decided and undecided lines meet; headings are in none.

    A topic that starts at a heading starts at the first line below it.
    """
    starts = _starts(questions, proposals)
    failed = {
        place
        for question, proposal in zip(questions, proposals, strict=True)
        for place in range(question.first, question.last)
        if proposal.failure is not None
    }
    first: int | None = None
    last, due = 0, False
    for place, line in enumerate(lines):
        due = due or place in starts
        if line.heading:
            continue
        if first is not None and (due or (place in failed) != (last in failed)):
            yield TopicRange(lines[first], lines[last], last not in failed)
            first = None
        first, last, due = place if first is None else first, place, False
    if first is not None:
        yield TopicRange(lines[first], lines[last], last not in failed)


def _starts(questions: Sequence[Question], proposals: Sequence[Proposal]) -> set[int]:
    """Give the lines at which a topic was said to start."""
    answered = zip(questions, proposals, strict=True)
    return {question.first + number - 1 for question, proposal in answered for number in proposal.starts}


def _notes(lines: Sequence[Line], questions: Sequence[Question], proposals: Sequence[Proposal]) -> Iterator[Note]:
    """Say of which ranges of the text nothing was decided, and why."""
    for question, proposal in zip(questions, proposals, strict=True):
        if proposal.failure is not None:
            yield Note(lines[question.first].start, lines[question.last - 1].end, proposal.failure)


def _planned(task: ChunkingTask, stretches: Sequence[TopicRange]) -> Iterator[PlannedCore]:
    """Plan each stretch; `structure` is given those that it must divide as documents of their own blocks."""
    inner, homes = _parted(task, stretches)
    reached = 0
    for first, last, decided in stretches:
        low = reached
        while homes[low] < first.block or inner.document.blocks[low].end <= first.start:
            low += 1
        reached = low + 1
        while reached < len(homes) and inner.document.blocks[reached].start < last.end:
            reached += 1
        if decided and _fits(task, first, last):
            yield PlannedCore(first.start, last.end, first.block, last.block)
        else:
            for plan in plan_blocks(inner, low, reached):
                yield plan._replace(first=homes[plan.first], last=homes[plan.last])


def _fits(task: ChunkingTask, first: Line, last: Line) -> bool:
    size = task.content_tokens(first.start, last.end)
    return task.core_fits(first.start, last.end, size, task.room(first.block))


def _parted(task: ChunkingTask, stretches: Sequence[TopicRange]) -> tuple[ChunkingTask, list[int]]:
    """Give the same task on a document whose paragraphs are parted where a stretch starts inside them.

    Beside it stands for each of its blocks which block of the document it is, or is a part of.
    """
    cuts: dict[int, list[int]] = {}
    for first, _, _ in stretches:
        if first.start > task.document.blocks[first.block].start:
            cuts.setdefault(first.block, []).append(first.start)
    blocks: list[Block] = []
    homes: list[int] = []
    for index, block in enumerate(task.document.blocks):
        blocks += _parts(task.text, block, cuts[index]) if index in cuts else (block,)
        homes += [index] * (len(blocks) - len(homes))
    document = replace(task.document, blocks=tuple(blocks)) if cuts else task.document
    return ChunkingTask(document, task.tokens, task.options, SmartStrategy.leaves_out), homes


def _parts(text: str, block: Block, cuts: list[int]) -> Iterator[Block]:
    """Part a block at places where a sentence begins."""
    for start, end in zip((block.start, *cuts), (*cuts, block.end), strict=True):
        yield block._replace(start=start, end=start + len(text[start:end].rstrip()))
