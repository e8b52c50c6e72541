"""`sentence`: paged documents with figures, whole sentences within two limits, torn ones mended over page breaks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.chunking.packing import Range
from spanwise.chunking.strategies.sentence_drafts import (
    SentenceDraft,
    joined_pages,
    length,
    planned,
    room_at,
    sentence_ends,
    visible,
)
from spanwise.chunking.strategies.sentence_halves import Halving
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import LEFT_OUT_KINDS, Block
from spanwise.documents.span import between, without
from spanwise.options import Options, option
from spanwise.readers.builder import figure_ranges, figure_tags, may_hold_figures
from spanwise.text.cuts import trimmed
from spanwise.text.tokens import NEAR

_HOLDING_FIGURES: Final = frozenset({"list", "quote", "table"})
_INLINE_CODE: Final = re.compile(r"(?<!`)(`++)[^`]*+\1(?!`)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceOptions(Options):
    """The options of `sentence`."""

    max_tokens: int = option(500, "hard limit of a chunk, everything counted", low=16)
    max_chars: int = option(1000, "sentences are collected up to so many characters", low=1)
    overlap_ratio: float = option(0.10, "share of max_chars that is shown of the next chunk", low=0.0, high=0.5)


class SentenceStrategy(Strategy):
    """The strategy `sentence`."""

    name = "sentence"
    options = SentenceOptions

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Collect the sentences of each page, join those that page breaks split, and add overlap with the next core."""
        pages = (_of_page(task, runs) for runs in _pages(task))
        return ChunkPlan(planned(task, joined_pages(task, pages)))


@dataclass(slots=True)
class SentenceRun:
    """Text of one page up to a figure, if one follows; in ranges, because what is no content is left out."""

    page: int | None
    ranges: list[Range] = field(default_factory=list)
    figure: Range | None = None


class Sentences(NamedTuple):
    """The sentences of a run: where each begins and ends, also in characters and tokens of content.

    White space belongs to the sentence after it.
    """

    starts: list[int]
    ends: list[int]
    start_chars: list[int]
    end_chars: list[int]
    start_tokens: list[int]
    end_tokens: list[int]


def _pages(task: ChunkingTask) -> Iterator[list[SentenceRun]]:
    """Yield the text of every page in runs that a figure, or the page's end, closes."""
    page_starts = {page.number: page.start for page in task.document.pages}
    runs: list[SentenceRun] = []
    goes_on = False  # whether the next text belongs to the range before
    begin: int | None = None  # where white space before the next text begins
    for block in task.document.blocks:
        if not runs or block.page != runs[0].page:
            if runs:
                yield runs
            runs, goes_on = [SentenceRun(block.page)], False
            begin = page_starts.get(block.page) if block.page is not None else None
        if block.kind in LEFT_OUT_KINDS:
            goes_on, begin = False, None
            continue
        for start, end, figure in _stretches(task, block):
            if figure:
                runs[-1].figure = start, end
                runs.append(SentenceRun(block.page))
                goes_on, begin = False, end
            elif goes_on:
                runs[-1].ranges[-1] = runs[-1].ranges[-1][0], end
            else:
                runs[-1].ranges.append((start if begin is None else begin, end))
                goes_on = True
    if runs:
        yield runs


def _stretches(task: ChunkingTask, block: Block) -> list[tuple[int, int, bool]]:
    """Return the text and the figures of a block in order: start, end, and whether it is a figure."""
    whole = block.start, block.end
    if block.kind == "figure" or block.kind not in _HOLDING_FIGURES or not task.once(_may_hold_figures):
        return [(*whole, block.kind == "figure")]
    code = [found.span() for found in _INLINE_CODE.finditer(task.text, *whole)]
    tags = [tag for span in without(code, *whole) for tag in figure_tags(task.text, *span)]
    figures = figure_ranges(tags)
    texts = (trimmed(task.text, *span) for span in without(figures, *whole))
    return sorted([*[(*span, True) for span in figures], *[(*span, False) for span in texts if span]])


def _may_hold_figures(task: ChunkingTask) -> bool:
    return may_hold_figures(task.text)


def _of_page(task: ChunkingTask, runs: list[SentenceRun]) -> list[SentenceDraft]:
    drafts: list[SentenceDraft] = []
    for run in runs:
        collected = list(_collected(task, run)) if run.ranges else []
        if run.figure and collected:
            collected[-1:] = _with_figure(task, collected[-1], run.figure)
        elif run.figure:
            collected = [_figure(task, run.figure, run.page)]
        drafts += collected
    return drafts


def _with_figure(task: ChunkingTask, draft: SentenceDraft, figure: Range) -> list[SentenceDraft]:
    """Add a figure to as many of the last sentences before it as both fit, whatever their characters."""
    page = draft.pages[0]
    for kept, start in [] if draft.part else [(None, draft.start), *_sentence_gaps(task, draft)]:
        tokens = task.content_tokens(start, figure[1])
        if not task.core_fits(start, figure[1], tokens, room_at(task, start)):
            continue
        joined = SentenceDraft(start, figure[1], (page, page), 0, tokens, start, figure=True)
        joined.chars = length(task, joined)
        if kept is None:
            return [joined]
        draft.end, draft.tokens = kept, task.content_tokens(draft.start, kept)
        draft.chars = length(task, draft)
        return [draft, joined]
    return [draft, _figure(task, figure, page)]


def _sentence_gaps(task: ChunkingTask, draft: SentenceDraft) -> Iterator[Range]:
    """Yield where each sentence of a draft ends and the next one begins."""
    text, spans = task.text, list[Range]()
    for start, end in task.core_ranges(draft.start, draft.end):
        pieces = (trimmed(text, *piece) for piece in between(sentence_ends(text, start, end)[:-1], start, end))
        spans += [piece for piece in pieces if piece]
    yield from ((before[1], after[0]) for before, after in pairwise(spans))


def _figure(task: ChunkingTask, figure: Range, page: int | None) -> SentenceDraft:
    tokens, size = task.tokens.count(*figure), figure[1] - figure[0]
    return SentenceDraft(*figure, (page, page), size, tokens, figure[0], figure=True, lone=True)


def _collected(task: ChunkingTask, run: SentenceRun) -> Iterator[SentenceDraft]:
    """Collect sentences while both limits hold; one that is over the token limit alone is halved."""
    sentences = _sentences(task, run.ranges)
    first = 0
    while first < len(sentences.ends):
        begin = sentences.starts[first]
        start = _visible_start(task, begin, sentences.ends[first])
        room = room_at(task, start)
        last = _last_that_fits(task, sentences, first, start, room)
        if last < first:
            yield from _halved(task, (begin, sentences.ends[first]), run.page, room)
            first += 1
            continue
        chars = sentences.end_chars[last] - sentences.start_chars[first] - start + begin
        tokens = sentences.end_tokens[last] - sentences.start_tokens[first]
        kept = sentences.ends[last - 1] if last > first else None
        end, pages = sentences.ends[last], (run.page, run.page)
        yield SentenceDraft(start, end, pages, chars, tokens, sentences.starts[last], kept)
        first = last + 1


def _visible_start(task: ChunkingTask, begin: int, end: int) -> int:
    """Return where a core begins: at the first visible character; a line of code keeps its indentation."""
    start = visible(task.text, begin)
    block = task.document.blocks[block_at(task.document, start)]
    if block.kind == "code" and (span := trimmed(task.text, max(begin, block.start), end, indented=True)):
        return span[0]
    return start


def _last_that_fits(task: ChunkingTask, sentences: Sentences, first: int, start: int, room: int) -> int:
    """Return the last sentence up to which both limits hold; one before `first` if that is too large by itself."""
    most = sentences.start_chars[first] + task.options.max_chars
    last = max(bisect_right(sentences.end_chars, most) - 1, first)
    begin = sentences.start_tokens[first]
    low = max(bisect_right(sentences.end_tokens, begin + room - NEAR) - 1, first - 1)
    if last <= low:
        return last
    high = min(last, bisect_right(sentences.end_tokens, begin + room + NEAR) - 1)
    while low < high:  # so close, only a count decides
        middle = (low + high + 1) // 2
        fits = task.core_fits(start, sentences.ends[middle], sentences.end_tokens[middle] - begin, room)
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _halved(task: ChunkingTask, span: Range, page: int | None, room: int) -> Iterator[SentenceDraft]:
    for start, end, before, after, splits_word in Halving(task, span, room).parts():
        draft = SentenceDraft(start, end, (page, page), end - start, task.tokens.count(before, after), start)
        draft.part, draft.splits_word = True, splits_word
        draft.before, draft.after = before if before < start else None, after if after > end else None
        yield draft


def _sentences(task: ChunkingTask, ranges: list[Range]) -> Sentences:
    """Measure the sentences of a run; what is left out between two ranges counts as an empty line."""
    found = Sentences([], [], [], [], [], [])
    hidden_chars = hidden_tokens = reached = 0
    for start, end in ranges:
        if found.ends:
            hidden_chars += start - reached - 2
            hidden_tokens += task.tokens.count(reached, start) - task.joint
        positions = [start, *sentence_ends(task.text, start, end)]
        tokens = task.tokens.at_each(positions)
        if hidden_tokens:
            tokens = [token - hidden_tokens for token in tokens]
        chars = [position - hidden_chars for position in positions] if hidden_chars else positions
        for edges, starts, finishes in ((positions, 0, 1), (chars, 2, 3), (tokens, 4, 5)):
            found[starts].extend(edges[:-1])
            found[finishes].extend(edges[1:])
        reached = end
    return found
