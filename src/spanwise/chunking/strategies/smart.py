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
from spanwise.chunking.strategies.structure import SectionOptions, StructureStrategy, plan_blocks
from spanwise.chunking.strategies.units import BlockRange, fits
from spanwise.chunking.strategy import ChunkPlan, ModelStrategy, Note, Question
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Block
from spanwise.documents.span import between
from spanwise.errors import OptionError
from spanwise.options import option
from spanwise.text.plain import with_plain_text_of

ENDPOINT_OPTIONS: Final = (
    "endpoint", "model", "api_key", "input_price", "output_price", "max_cost", "max_calls", "answer_tokens", "timeout",
    "concurrency", "cache", "cache_mb",
)  # fmt: skip
"""The options of the endpoint, its model and its prices; all others are for chunking."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SmartOptions(SectionOptions):
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
    joins_sections = False

    def questions(self, task: ChunkingTask) -> list[Question]:
        """Return what is to be decided of a document, as windows of numbered lines."""
        return task.once(_numbered)[1]

    def plan(self, task: ChunkingTask, proposals: Sequence[Proposal] | None = None) -> ChunkPlan:
        """Make a chunk of every topic that fits; larger ones, and undecided lines, are planned by `structure`."""
        if proposals is None:
            hint = "spanwise.chunk and the command line do that"
            raise OptionError("smart", "needs somebody who proposes topics", hint=hint)
        lines, questions = task.once(_numbered)
        answered = list(zip(questions, proposals, strict=True))
        notes = [
            Note(lines[question.first].start, lines[question.last - 1].end, proposal.failure)
            for question, proposal in answered
            if proposal.failure is not None
        ]
        return ChunkPlan(list(_planned(task, list(_topics(lines, answered)))), notes=notes)


def _numbered(task: ChunkingTask) -> tuple[list[Line], list[Question]]:
    """Return the lines of a document and the windows that show them."""
    lines = lines_of(task)
    return lines, questions_of(task, lines, task.options.window_tokens)


class TopicRange(NamedTuple):
    """Lines that belong together: a topic, or undecided lines."""

    first: Line
    last: Line
    decided: bool


def _topics(lines: Sequence[Line], answered: Sequence[tuple[Question, Proposal]]) -> Iterator[TopicRange]:
    """Cut the lines at every topic's start, and where decided and undecided lines meet; headings are in none.

    A topic that starts at a heading starts at the first line below it.
    """
    starts = {question.first + number - 1 for question, proposal in answered for number in proposal.starts}
    undecided = (
        range(question.first, question.last) for question, proposal in answered if proposal.failure is not None
    )
    failed = {index for indices in undecided for index in indices}
    first: int | None = None
    last, due = 0, False
    for index, line in enumerate(lines):
        due = due or index in starts
        if line.heading:
            continue
        if first is not None and (due or (index in failed) != (last in failed)):
            yield TopicRange(lines[first], lines[last], last not in failed)
            first = None
        first, last, due = index if first is None else first, index, False
    if first is not None:
        yield TopicRange(lines[first], lines[last], last not in failed)


def _planned(task: ChunkingTask, topics: Sequence[TopicRange]) -> Iterator[PlannedCore]:
    """Plan each range; `structure` is given those that it must divide as documents of their own blocks."""
    inner, indices = _split_at_topics(task, topics)
    reached = 0
    for first, last, decided in topics:
        low = reached
        while indices[low] < first.block or inner.document.blocks[low].end <= first.start:
            low += 1
        reached = low + 1
        while reached < len(indices) and inner.document.blocks[reached].start < last.end:
            reached += 1
        unit = BlockRange(first.start, last.end, first.block, last.block)
        if decided and fits(task, unit, task.room(first.block)):
            yield PlannedCore(*unit)
        else:
            for core in plan_blocks(inner, low, reached):
                yield core._replace(first=indices[core.first], last=indices[core.last])


def _split_at_topics(task: ChunkingTask, topics: Sequence[TopicRange]) -> tuple[ChunkingTask, list[int]]:
    """Return the same task on a document whose paragraphs are split where a topic starts inside them.

    The second value has for each of its blocks the index of the document's block that it is, or is a part of.
    """
    cuts: dict[int, list[int]] = {}
    for first, _, _ in topics:
        if first.start > task.document.blocks[first.block].start:
            cuts.setdefault(first.block, []).append(first.start)
    blocks, indices = list[Block](), list[int]()
    for index, block in enumerate(task.document.blocks):
        blocks += _parts(task.text, block, cuts[index]) if index in cuts else (block,)
        indices += [index] * (len(blocks) - len(indices))
    document = task.document
    if cuts:
        document = with_plain_text_of(replace(document, blocks=tuple(blocks)), document)
    return ChunkingTask(document, task.tokens, task.options, SmartStrategy.leaves_out), indices


def _parts(text: str, block: Block, cuts: list[int]) -> Iterator[Block]:
    """Yield the parts of a block between positions where a sentence begins."""
    for start, end in between(cuts, block.start, block.end):
        yield block._replace(start=start, end=start + len(text[start:end].rstrip()))
