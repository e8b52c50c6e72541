"""`fixed`: cheap and predictable chunks of about one size, cut between paragraphs, with a little overlap."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from spanwise.chunks import Plan
from spanwise.context import NOTHING, Repeated, Task
from spanwise.cuts import line_cuts, paragraph_cuts, sentence_cuts, trimmed
from spanwise.documents import LEFT_OUT_KINDS
from spanwise.options import Options, option
from spanwise.overlaps import nearest_start
from spanwise.packing import Range, divide
from spanwise.spans import between
from spanwise.tokens import NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedOptions(Options):
    """The options of `fixed`."""

    max_tokens: int = option(750, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(500, "size that the chunks come near to", low=1)
    min_tokens: int = option(100, "size below which a chunk is joined with the next", low=0)
    overlap_ratio: float = option(0.12, "share of the chunk before that is repeated", low=0.0, high=0.5)


class Unit(NamedTuple):
    """A paragraph, or a part of one that is too long; `start_at` and `end_at` are its place in tokens of content."""

    start: int
    end: int
    block: int
    heading: bool
    start_at: int
    end_at: int


class Fixed:
    """The strategy `fixed`."""

    name = "fixed"
    options = FixedOptions

    def plan(self, task: Task) -> list[Plan]:
        """Cut each run between closing headings into equal shares."""
        if not task.document.blocks:
            return []
        room = _room(task)
        units = _units(task, room)
        plans: list[Plan] = []
        for run in _runs(units, task.options.min_tokens):
            for group in _grouped(task, run, room):
                first, last = group[0], group[-1]
                plans.append(Plan(first.start, last.end, first.block, last.block, task.options.overlap_ratio > 0))
        return plans

    def repeat(self, task: Task, plan: Plan) -> Repeated:
        """Repeat nothing but overlap."""
        return NOTHING

    def overlap_start(self, task: Task, previous: Plan, free: int) -> int | None:
        """Start at the sentence nearest to the ratio, within 10 to 15 for 12 percent, else at the nearest word."""
        size, ratio = task.tokens.count(previous.start, previous.end), task.options.overlap_ratio
        share = ceil(size * ratio * 10 / 12), round(size * ratio), int(size * ratio * 15 / 12)
        return nearest_start(task, previous, share, free) if share[1] else None


def _room(task: Task) -> int:
    """Give the room that every chunk has; under a template the smallest, because a chunk may start anywhere."""
    if task.options.template == "plain":
        return task.room(0)
    return min(task.room(index) for index in range(len(task.document.blocks)))


def _units(task: Task, room: int) -> list[Unit]:
    """Give the paragraphs; one that is longer than the limit as its lines, sentences, words."""
    ranges = list(_paragraphs(task))
    begins = task.tokens.at_each([start for start, _, _ in ranges])
    finishes = task.tokens.at_each([end for _, end, _ in ranges])
    blocks, tokens = task.document.blocks, task.tokens
    units: list[Unit] = []
    place, reached, before = 0, 0, -1
    for (start, end, index), begin, finish in zip(ranges, begins, finishes, strict=True):
        # what is left out between two blocks takes no room
        place += begin - reached if index - before <= 1 else 1
        kind = blocks[index].kind
        if finish - begin + NEAR <= room or kind == "figure" or tokens.fits(start, end, room):
            units.append(Unit(start, end, index, kind == "heading", place, place + finish - begin))
        else:
            units += _divided(task, (start, end), index, room, place - begin)
        place, reached, before = place + finish - begin, finish, index
    return units


def _divided(task: Task, span: Range, block: int, room: int, shift: int) -> list[Unit]:
    """Give a paragraph that is too long as units; `shift` leads from tokens of the text to tokens of content."""
    code = task.document.blocks[block].kind == "code"
    ladder = [line_cuts(task.text)] if code else [line_cuts(task.text), sentence_cuts(task.text, task.language)]
    pieces = divide(task.tokens, span, ladder, room, most=task.room(block) + NEAR, indented=code)
    begins = task.tokens.at_each([start for start, _ in pieces])
    finishes = task.tokens.at_each([end for _, end in pieces])
    places = zip(pieces, begins, finishes, strict=True)
    return [Unit(*piece, block, False, begin + shift, finish + shift) for piece, begin, finish in places]


def _paragraphs(task: Task) -> Iterator[tuple[int, int, int]]:
    """Give blocks, and of loose lists the stretches between blank lines."""
    cutter = paragraph_cuts(task.text)
    for index, block in enumerate(task.document.blocks):
        if block.kind in LEFT_OUT_KINDS:
            continue
        cuts = cutter(block.start, block.end) if block.kind == "list" else []
        for piece in between(cuts, block.start, block.end) if cuts else ((block.start, block.end),):
            if span := trimmed(task.text, *piece) if cuts else piece:
                yield *span, index


def _runs(units: Sequence[Unit], smallest: int) -> Iterator[Sequence[Unit]]:
    """Give the stretches between headings that close: those with at least `smallest` tokens before them."""
    start = 0
    for place, unit in enumerate(units):
        if unit.heading and place > start and units[place - 1].end_at - units[start].start_at >= smallest:
            yield units[start:place]
            start = place
    if start < len(units):
        yield units[start:]


def _grouped(task: Task, run: Sequence[Unit], room: int) -> list[Sequence[Unit]]:
    """Cut a run at the boundaries nearest to equal shares; none too large, none too small that can be helped."""
    edges = [0, *_shares(run, min(room, 1.1 * task.options.target_tokens), task.options.target_tokens), len(run)]
    groups: list[Sequence[Unit]] = []
    for low, high in itertools.pairwise(edges):
        groups += _within(task, run[low:high], room)
    smallest = task.options.min_tokens
    kept: list[Sequence[Unit]] = []
    for group in groups:
        if kept and _size(kept[-1]) < smallest and _fits(task, [*kept[-1], *group], room):
            kept[-1] = [*kept[-1], *group]
        else:
            kept.append(group)
    if len(kept) > 1 and _size(kept[-1]) < smallest and _fits(task, [*kept[-2], *kept[-1]], room):
        kept[-2:] = [[*kept[-2], *kept[-1]]]
    return kept


def _shares(run: Sequence[Unit], size: float, target: int) -> list[int]:
    """Give the units before which to cut for chunks of equal size; a heading stays with what follows it."""
    origin, total = run[0].start_at, _size(run)
    number = ceil(total / size) if total else 1
    allowed = [place for place in range(1, len(run)) if not run[place - 1].heading]
    ends = [run[place - 1].end_at - origin for place in allowed]
    cuts: list[int] = []
    for share in range(1, number):
        wanted = total * share / number
        after = bisect_right(ends, wanted)
        after = after - 1 if after and ends[after - 1] == wanted else after
        before = after - 1
        if after == len(ends):
            chosen = before
        elif before < 0 or ends[after] - wanted <= wanted - ends[before] + 0.1 * target:
            chosen = after
        else:
            chosen = before
        if chosen >= 0 and (not cuts or allowed[chosen] > cuts[-1]):
            cuts.append(allowed[chosen])
    return cuts


def _within(task: Task, units: Sequence[Unit], room: int) -> list[Sequence[Unit]]:
    """Divide a share that is over the limit, greedily."""
    if _fits(task, units, room):
        return [units]
    groups: list[list[Unit]] = []
    for unit in units:
        if groups and _fits(task, [groups[-1][0], unit], room):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return list(groups)


def _size(units: Sequence[Unit]) -> int:
    return units[-1].end_at - units[0].start_at


def _fits(task: Task, units: Sequence[Unit], room: int) -> bool:
    first, last = units[0], units[-1]
    size = last.end_at - first.start_at
    if size + NEAR <= room or task.has_holes(first.start, last.end):
        return size + NEAR <= room
    return size - NEAR <= room and task.tokens.exact(first.start, last.end) <= room
