"""`fixed`: cheap and predictable chunks of about one size, cut between paragraphs, with a little overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, takewhile
from math import ceil, inf
from operator import itemgetter
from typing import Final, NamedTuple

from spanwise.chunking.overlap import nearest_start
from spanwise.chunking.packing import divide
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import LEFT_OUT_KINDS
from spanwise.native import visible_ranges
from spanwise.options import Options, option
from spanwise.text.cuts import line_cuts, paragraph_cuts, sentence_cuts, sides_of, word_break
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import NEAR

_NEAR_CHARS: Final = 160  # a sentence mostly begins this near
_TOLERATED: Final = (0.8, 1.2)  # of target, for a finished chunk with its overlap
_FINE: Final = 20  # units in a chunk of target size
_FOLLOWED: Final = 3  # ways to reach a cut
_TRIED: Final = 8  # next cuts that are tried from a cut
_OTHER_SIZES: Final = (1.2, 1.0, 0.9, 0.8)  # of target, for shares where neither of the usual numbers will do


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedOptions(Options):
    """The options of `fixed`."""

    max_tokens: int = option(750, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(500, "size that the chunks come near to", low=1)
    min_tokens: int = option(100, "size below which a chunk is joined with the next", low=0)
    overlap_ratio: float = option(0.12, "share of the chunk before that is repeated", low=0.0, high=0.5)


class FixedUnit(NamedTuple):
    """A range of the text, its first and last block, and its range in tokens of content."""

    start: int
    end: int
    first: int
    last: int
    start_at: int
    end_at: int


_KIND_AND_RANGE: Final = itemgetter(0, 1, 2)
_unit: Final[Callable[[Iterable[int]], FixedUnit]] = partial(tuple.__new__, FixedUnit)
"""Creates a unit from its six numbers without a call in Python: there are thousands."""

Cut = tuple[FixedUnit, FixedUnit]
"""The units before and after a cut."""


class FixedStrategy(Strategy):
    """The strategy `fixed`."""

    name = "fixed"
    options = FixedOptions

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Cut each run between closing headings into equal shares."""
        if not task.document.blocks:
            return ChunkPlan(())
        room, overlap = _room(task), task.options.overlap_ratio > 0
        shares = [share for run in _runs(task, _paragraphs(task)) for share in _balanced(task, run, room)]
        return ChunkPlan([PlannedCore(*unit[:4], overlap) for unit in _long_enough(task, shares, room)])

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Start at the sentence nearest to the ratio, within 10 to 15 for 12 percent, else at the nearest word."""
        size, ratio = task.content_tokens(previous.start, previous.end), task.options.overlap_ratio
        share = ceil(size * ratio * 10 / 12), round(size * ratio), int(size * ratio * 15 / 12)
        return nearest_start(task, previous, _tolerated(task, share, free), free) if share[1] else None


def _tolerated(task: ChunkingTask, share: tuple[int, int, int], free: int) -> tuple[int, int, int]:
    """Return the least, the wanted and the most overlap with which a chunk also stays within the tolerated sizes."""
    fewest, wanted, most = share
    target, taken = task.options.target_tokens, task.limit - free + task.joint
    low, high = max(fewest, ceil(_TOLERATED[0] * target) - taken), min(most, int(_TOLERATED[1] * target) - taken)
    return (low, min(max(wanted, low), high), high) if low <= high else share


def _room(task: ChunkingTask) -> int:
    """Return the room of every chunk; under a template the smallest, because a chunk may start anywhere."""
    if task.options.template == "plain":
        return task.room(0)
    return min(task.room(index) for index in range(len(task.document.blocks)))


def _paragraphs(task: ChunkingTask) -> list[FixedUnit]:
    """Return blocks, and of loose lists the parts between blank lines; what is left out between takes no room."""
    starts, ends, indices = list[int](), list[int](), list[int]()
    cutter, whole = paragraph_cuts(task.text), True
    for index, (kind, start, end) in enumerate(map(_KIND_AND_RANGE, task.document.blocks)):
        if kind in LEFT_OUT_KINDS:
            whole = False
            continue
        cuts = cutter(start, end) if kind == "list" else None
        for piece in visible_ranges(task.text, cuts, start, end) if cuts else ((start, end),):
            starts.append(piece[0])
            ends.append(piece[1])
            indices.append(index)
    edges = task.tokens.at_each(starts + ends)
    rows = zip(starts, ends, indices, indices, edges, edges[len(starts) :], strict=False)
    return list(map(_unit, rows) if whole else _closed_up(rows, task.joint))


def _closed_up(rows: Iterable[tuple[int, int, int, int, int, int]], joint: int) -> Iterator[FixedUnit]:
    """Yield units of which each begins where the one before ended, with a joint where something is left out."""
    at, reached, before = 0, 0, -1
    for start, end, index, _, begin, finish in rows:
        at += begin - reached if index - before <= 1 else joint
        yield FixedUnit(start, end, index, index, at, at + finish - begin)
        at, reached, before = at + finish - begin, finish, index


def _runs(task: ChunkingTask, paragraphs: list[FixedUnit]) -> Iterator[list[FixedUnit]]:
    """Yield the runs between headings that close one: those with at least the minimum before them."""
    blocks, smallest = task.document.blocks, task.options.min_tokens
    first = 0
    for index, paragraph in enumerate(paragraphs):
        closes = blocks[paragraph.first].kind == "heading" and index > first
        if closes and paragraphs[index - 1].end_at - paragraphs[first].start_at >= smallest:
            yield paragraphs[first:index]
            first = index
    if paragraphs:
        yield paragraphs[first:]


def _balanced(task: ChunkingTask, run: list[FixedUnit], room: int) -> list[FixedUnit]:
    """Cut a run into equal shares; where units are too coarse for that, into more; what is left over is divided."""
    total, size = run[-1].end_at - run[0].start_at, min(room, 1.1 * task.options.target_tokens)
    if total <= size:
        return _within(task, run, _joined(run[0], run[-1]), room)
    bounds = _bounds(task, run)
    shares = _nearest_to_target(task, bounds, ceil(total / size), room)
    if not shares:
        unit = min(max(total / len(run), size / 16), size / 4)
        shares = list(_shares(task, bounds, ceil(total / (size - unit)), room))
    return [piece for share in shares for piece in _within(task, run, share, room)]


class _Bounds(NamedTuple):
    """A run, where its units end in tokens, and the units after which it may be cut, with their ends."""

    run: list[FixedUnit]
    all_ends: list[int]
    allowed: list[int]
    ends: list[int]


def _bounds(task: ChunkingTask, run: list[FixedUnit]) -> _Bounds:
    blocks, all_ends = task.document.blocks, [paragraph.end_at for paragraph in run]
    # a heading is kept with what follows
    allowed = [at for at, paragraph in enumerate(run[:-1], 1) if blocks[paragraph.first].kind != "heading"]
    return _Bounds(run, all_ends, allowed, [all_ends[at - 1] for at in allowed])


def _nearest_to_target(task: ChunkingTask, bounds: _Bounds, number: int, room: int) -> list[FixedUnit]:
    """Return the division into `number` shares or one more whose chunks come nearest to target; none if none fits.

    Where both leave a chunk outside the tolerated sizes, any division that leaves none outside wins, then any other.
    """
    target, run = task.options.target_tokens, bounds.run
    total = run[-1].end_at - run[0].start_at
    best: list[FixedUnit] = []
    badness = (inf, inf)
    others = {ceil(total / (share * target)) for share in _OTHER_SIZES}
    divisions = chain(
        (_fitting(task, bounds, one, room) for one in (number, number + 1)),
        (_all_tolerated(task, bounds, room) for _ in range(1)),
        (_fitting(task, bounds, one, room) for one in sorted(others - {1, number, number + 1})),
    )
    for shares in divisions:
        if shares and (found := _badness(task, shares)) < badness:
            best, badness = shares, found
        if badness[0] == 0:
            break
    return best


class _Step(NamedTuple):
    """A way to divide the beginning of a run: its cost, its last cut, the size of its last core, the step before."""

    cost: float
    cut: int
    core: int
    before: _Step | None


def _all_tolerated(task: ChunkingTask, bounds: _Bounds, room: int) -> list[FixedUnit]:
    """Return a division whose finished chunks are all of tolerated size, as near to target as can be found.

    Of the divisions that reach a cut only those with the least cost, overlap and most overlap are followed, and from
    each cut only a few of the next ones are tried, so the time is linear.
    """
    run, _, allowed, _ = bounds
    target, ratio = task.options.target_tokens, task.options.overlap_ratio
    if (run[-1].end_at - run[0].start_at) * _FINE < target * len(run):
        return []  # between units as small as these equal shares are as good
    low, high = _TOLERATED[0] * target, min(_TOLERATED[1] * target, room)
    cuts = [0, *allowed, len(run)]
    starts = [run[cut].start_at for cut in cuts[:-1]]
    ends = [run[0].start_at, *(run[cut - 1].end_at for cut in cuts[1:])]
    steps: list[list[_Step]] = [[] for _ in cuts]
    steps[0] = [_Step(0.0, 0, 0, None)]
    for index, start in enumerate(starts):
        for step in _followed(steps[index]):
            overlap = round(step.core * ratio)
            first = bisect_left(ends, start + low - overlap, index + 1)
            last = bisect_right(ends, start + high - overlap, first)
            for after in range(first, last, (last - first) // _TRIED + 1):
                core = ends[after] - start
                cost = step.cost + (core + overlap - target) ** 2
                steps[after].append(_Step(cost, after, core, step))
        steps[index] = []
    several = [step for step in steps[-1] if step.before and step.before.before]
    return _shares_of(run, cuts, min(several, default=None, key=itemgetter(0)))


def _followed(steps: list[_Step]) -> list[_Step]:
    """Return the cheapest step, and those with the smallest and the largest core."""
    if len(steps) <= _FOLLOWED:
        return steps
    by_core = sorted(steps, key=itemgetter(2, 0))
    return [min(steps, key=itemgetter(0)), by_core[0], by_core[-1]]


def _shares_of(run: list[FixedUnit], cuts: list[int], step: _Step | None) -> list[FixedUnit]:
    """Return the shares of a division that is known by its last step."""
    shares: list[FixedUnit] = []
    while step and step.before:
        shares.append(_joined(run[cuts[step.before.cut]], run[cuts[step.cut] - 1]))
        step = step.before
    return shares[::-1]


def _fitting(task: ChunkingTask, bounds: _Bounds, number: int, room: int) -> list[FixedUnit]:
    """Return a division into so many shares; nothing if one of them is over the limit."""
    shares: list[FixedUnit] = []
    for share in _shares(task, bounds, number, room):
        if not _fits(task, share, room):
            return []
        shares.append(share)
    return shares


def _badness(task: ChunkingTask, shares: list[FixedUnit]) -> tuple[float, float]:
    """Return which part of the finished chunks is outside the tolerated sizes, and how far all are from target."""
    target, ratio = task.options.target_tokens, task.options.overlap_ratio
    low, high = _TOLERATED[0] * target, _TOLERATED[1] * target
    outside, distance, before = 0, 0.0, 0
    for share in shares:
        core = share[5] - share[4]
        size = core + round(before * ratio)
        outside += not low <= size <= high
        distance += abs(size - target)
        before = core
    return outside / len(shares), distance / len(shares)


def _shares(task: ChunkingTask, bounds: _Bounds, number: int, room: int) -> Iterator[FixedUnit]:
    """Cut a run at the allowed boundaries nearest to equal shares of it; the later wins unless it is much farther."""
    run, all_ends, allowed, ends = bounds
    tolerance = 0.1 * task.options.target_tokens
    origin, total = run[0].start_at, run[-1].end_at - run[0].start_at
    start, _, first, _, start_at, _ = run[0]
    number = min(number, run[-1].end - start)  # a share has a character, however many tokens a joint is said to have
    for share in range(1, number):
        wanted = origin + total * share / number
        after = bisect_left(ends, wanted)
        cuts: list[Cut] = [(run[at - 1], run[at]) for at in allowed[max(after - 1, 0) : after + 1]]
        paragraph = run[min(bisect_left(all_ends, wanted), len(run) - 1)]
        if _size(paragraph) + NEAR > room:
            cuts += _cuts_inside(task, paragraph, wanted, room)
        if chosen := _nearest(cuts, wanted, tolerance, start):
            _, end, _, last, _, end_at = chosen[0]
            yield _unit((start, end, first, last, start_at, end_at))
            start, _, first, _, start_at, _ = chosen[1]
    yield _unit((start, run[-1].end, first, run[-1].last, start_at, run[-1].end_at))


def _nearest(cuts: list[Cut], wanted: float, tolerance: float, start: int) -> Cut | None:
    """Choose between the last cut before a position and the first after it: the later, unless it is much farther.

    Only cuts after `start` count.
    """
    before = later = None
    nearest_before, nearest_later = -inf, inf
    for cut in cuts:
        at = cut[0].end_at
        if cut[0].end <= start:
            continue
        if nearest_before < at <= wanted:
            before, nearest_before = cut, at
        if wanted <= at < nearest_later:
            later, nearest_later = cut, at
    return before if before and nearest_later - wanted > wanted - nearest_before + tolerance else later


def _cuts_inside(task: ChunkingTask, paragraph: FixedUnit, wanted: float, room: int) -> list[Cut]:
    """Return cuts around a wanted position inside a paragraph, if that is too long to stay whole."""
    block = paragraph.first
    kind = task.document.blocks[block].kind
    if kind == "figure" or _fits(task, paragraph, room):
        return []
    tokens, shift = task.tokens, paragraph.start_at - task.tokens.at(paragraph.start) if task.excluded else 0
    middle = tokens.reach(paragraph.start, max(int(wanted) - paragraph.start_at, 1))
    cuts: list[Cut] = []
    positions = sorted(_inner_cuts(task, paragraph, min(middle, paragraph.end - 1), room))
    near = bisect_right(positions, middle)
    for cut in positions[max(near - 2, 0) : near + 2]:
        if sides := sides_of(task.text, paragraph.start, cut, paragraph.end):
            end, start = sides
            if kind == "code" and (task.text[cut - 1] == "\n" or "\n" in task.text[cut:start]):
                start = max(cut, task.text.rfind("\n", cut, start) + 1)  # a line keeps its indentation
            end_at, start_at = tokens.at_each([end, start])
            left = _unit((paragraph[0], end, block, block, paragraph[4], end_at + shift))
            cuts.append((left, _unit((start, paragraph[1], block, block, start_at + shift, paragraph[5]))))
    return cuts


def _inner_cuts(task: ChunkingTask, paragraph: FixedUnit, middle: int, room: int) -> list[int]:
    """Return cuts near the middle of a paragraph that is too long: lines, in a long line sentences, then words.

    Nothing farther away than one chunk is read, so that each share costs the same. Inside a word there is no cut:
    where its graphemes begin is known only from its start on.
    """
    text, tokens = task.text, task.tokens
    low = max(paragraph.start, tokens.back(middle, room))
    high = min(paragraph.end, tokens.reach(middle, room))
    start = text.rfind("\n", low, middle) + 1 or low
    end = text.find("\n", middle, high)
    end = high if end < 0 else end
    edges = [edge for edge in (start, end + 1) if paragraph.start < edge < paragraph.end and text[edge - 1] == "\n"]
    if tokens.fits(start, end, room) and edges:
        return edges
    if task.document.blocks[paragraph.first].kind != "code":
        for reach in (_NEAR_CHARS, high - low):
            window = max(start, middle - reach), min(end, middle + reach)
            if starts := sentence_starts(text, *window, task.language_at(middle)):
                return edges + starts
    word = word_break(text, low, middle)
    return [*edges, word] if word else edges


def _within(task: ChunkingTask, run: list[FixedUnit], share: FixedUnit, room: int) -> list[FixedUnit]:
    """Divide a share that is over the limit into as few parts as can be, of about one size."""
    if _fits(task, share, room):
        return [share]
    goal = _size(share) / ceil(_size(share) / room)
    groups: list[FixedUnit] = []
    first = bisect_right(run, share.start, key=itemgetter(0)) - 1
    for paragraph in takewhile(lambda paragraph: paragraph.start < share.end, islice(run, first, None)):
        inside = share.start <= paragraph.start and paragraph.end <= share.end
        whole = inside and _size(paragraph) + NEAR <= room
        for unit in (paragraph,) if whole else _units(task, paragraph, share, room):
            if groups and _size(groups[-1]) < goal and _fits(task, _joined(groups[-1], unit), room):
                groups[-1] = _joined(groups[-1], unit)
            else:
                groups.append(unit)
    return groups


def _units(task: ChunkingTask, paragraph: FixedUnit, share: FixedUnit, room: int) -> list[FixedUnit]:
    """Return what of a paragraph lies in a share: whole if it fits, else its lines, sentences, words."""
    span = max(paragraph.start, share.start), min(paragraph.end, share.end)
    kind = task.document.blocks[paragraph.first].kind
    ladder = [line_cuts(task.text), sentence_cuts(task.text, task.language_at)][: 1 if kind == "code" else 2]
    block, most, pieces = paragraph.first, task.room(paragraph.first) + NEAR, [span]
    if kind != "figure":
        pieces = divide(task.tokens, span, ladder, room, most=most, indented=kind == "code")
    shift = paragraph.start_at - task.tokens.at(paragraph.start)
    edges = zip(pieces, *task.tokens.at_edges(pieces), strict=True)
    return [FixedUnit(*piece, block, block, begin + shift, finish + shift) for piece, begin, finish in edges]


def _long_enough(task: ChunkingTask, shares: list[FixedUnit], room: int) -> list[FixedUnit]:
    """Join what is below the minimum with the next, and a last one with the one before."""
    smallest, kept = task.options.min_tokens, list[FixedUnit]()
    for index, share in enumerate(shares):
        last, before = index == len(shares) - 1, kept[-1] if kept else None
        short = before and (_size(before) < smallest or (last and _size(share) < smallest))
        if before and short and _fits(task, _joined(before, share), room):
            kept[-1] = _joined(before, share)
        else:
            kept.append(share)
    return kept


def _joined(first: FixedUnit, last: FixedUnit) -> FixedUnit:
    return _unit((first[0], last[1], first[2], last[3], first[4], last[5]))


def _size(unit: FixedUnit) -> int:
    return unit.end_at - unit.start_at


def _fits(task: ChunkingTask, unit: FixedUnit, room: int) -> bool:
    return task.core_fits(unit.start, unit.end, _size(unit), room)
