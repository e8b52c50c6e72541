"""What a chunk repeats around its core: headings in a template, table heads, fences, overlap.

A strategy plans cores; `settle` makes chunks of them, the same way for all. Context is priced before the cut; overlap
only takes what the core leaves free. One exact count decides; a core that fails it is cut again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from spanwise.chunking.packing import Range, divide, fill
from spanwise.chunking.pieces import (
    NO_CONTEXT,
    OverlapChoices,
    Piece,
    PlannedCore,
    RepeatedContext,
    SettledChunk,
    alone,
    choices_of,
    joiner_between,
    rendered,
)
from spanwise.chunking.strategy import Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Document
from spanwise.documents.span import without
from spanwise.errors import LimitError
from spanwise.text.cuts import grapheme_break, line_cuts, sentence_cuts, trimmed
from spanwise.text.tokens import NEAR

_TRIES = 3


def settle(task: ChunkingTask, strategy: Strategy, plans: Sequence[PlannedCore]) -> list[SettledChunk]:
    """Attach context and overlap to every planned core, and count each chunk exactly."""
    done: list[SettledChunk] = []
    reached: PlannedCore | None = None
    for place, found in enumerate(_at_first_sight(task, strategy, plans)):
        if found is not None:
            done.append(found)
            reached = plans[place]
        else:
            following = plans[place + 1] if place + 1 < len(plans) else None
            reached = _settle_one(task, strategy, plans[place], (reached, following), done)
    return done


def _at_first_sight(task: ChunkingTask, strategy: Strategy, plans: Sequence[PlannedCore]) -> list[SettledChunk | None]:
    """Settle the cores that are chunks as they stand, nearly all of them where nothing is to be repeated."""
    if strategy.repeating is None or not task.no_prefix:
        return [None] * len(plans)
    rules = strategy.repeating, task.left_out, task.limit
    return task.tokens.settle_alone(task.document.blocks, list(plans), rules, SettledChunk)


def _settle_one(
    task: ChunkingTask,
    strategy: Strategy,
    plan: PlannedCore,
    neighbours: tuple[PlannedCore | None, PlannedCore | None],
    done: list[SettledChunk],
) -> PlannedCore | None:
    """Settle a core, or what it is cut into, and give the last of that."""
    previous, following = neighbours
    waiting = [plan]
    while waiting:
        plan = waiting.pop()
        settled = _settled(task, strategy, plan, previous, waiting[-1] if waiting else following)
        if isinstance(settled, int):
            waiting += reversed(_cut_again(task, plan, settled))
        else:
            done.append(settled)
            previous = plan
    return previous


def _settled(
    task: ChunkingTask,
    strategy: Strategy,
    plan: PlannedCore,
    previous: PlannedCore | None,
    following: PlannedCore | None,
) -> SettledChunk | int:
    """Finish one chunk, or give the number of tokens of its core with its context, if these are too many."""
    start, end, first, last, overlap, around = plan
    repeated = strategy.repeat(task, plan)
    solid = first == last or not task.has_excluded(start, end)
    if repeated is NO_CONTEXT and around is None and task.no_prefix and solid:
        if overlap and previous and (longer := _overlapped(task, strategy, plan, previous, (Piece(start, end),))):
            return longer
        count = task.tokens.exact(start, end) + task.added
        if count <= task.limit:  # nearly always, when nothing is to be repeated
            return alone(start, end, first, last, count)
    return _in_context(task, strategy, plan, repeated, (previous, following))


def _in_context(
    task: ChunkingTask,
    strategy: Strategy,
    plan: PlannedCore,
    repeated: RepeatedContext,
    neighbours: tuple[PlannedCore | None, PlannedCore | None],
) -> SettledChunk | int:
    """Finish a chunk that is more than a solid core, or whose core is too large."""
    start, end, first, last, overlap, around = plan
    previous, following = neighbours
    prefix, _ = task.prefix(first)
    pieces = _pieces(task, plan, repeated)
    if overlap and previous and (longer := _overlapped(task, strategy, plan, previous, pieces)):
        return longer._replace(context_dropped=repeated.dropped)
    if around and (longer := _surrounded(task, plan, pieces, previous, following)):
        return longer._replace(context_dropped=repeated.dropped)
    count = _exact(task, prefix, pieces)
    if count <= task.limit:
        return SettledChunk(start, end, first, last, count, pieces, prefix, False, repeated.dropped)
    if first == last and task.document.blocks[first].kind == "figure":
        if repeated is not NO_CONTEXT:  # what is too large already takes nothing along
            pieces = _pieces(task, plan, NO_CONTEXT)
            return SettledChunk(start, end, first, last, _exact(task, prefix, pieces), pieces, prefix, True, True)
        return SettledChunk(start, end, first, last, count, pieces, prefix, True, repeated.dropped)
    if repeated is not NO_CONTEXT and grapheme_break(task.text, start, end - 1) is None:
        pieces = _pieces(task, plan, NO_CONTEXT)  # rather than cut a character, do without context
        if (bare := _exact(task, prefix, pieces)) <= task.limit:
            return SettledChunk(start, end, first, last, bare, pieces, prefix, False, True)
    return count


def _overlapped(
    task: ChunkingTask, strategy: Strategy, plan: PlannedCore, previous: PlannedCore, pieces: tuple[Piece, ...]
) -> SettledChunk | None:
    """Put overlap before a chunk, shortened until everything fits; None where there is room for none."""
    prefix, prefix_tokens = task.prefix(plan.first)
    size = sum([task.tokens.count(piece.start, piece.end) + 1 for piece in pieces])
    free = task.limit - task.added - prefix_tokens - size
    for _ in range(_TRIES):
        start = strategy.overlap_start(task, previous, free) if free > 0 else None
        if start is None:
            return None
        longer = _with_overlap(task, pieces, previous, start)
        count = _exact(task, prefix, longer)
        if count <= task.limit:
            return SettledChunk(plan.start, plan.end, plan.first, plan.last, count, longer, prefix)
        free -= count - task.limit + 1
    return None


def _surrounded(
    task: ChunkingTask,
    plan: PlannedCore,
    pieces: tuple[Piece, ...],
    previous: PlannedCore | None,
    following: PlannedCore | None,
) -> SettledChunk | None:
    """Put the overlap that a plan asks for around its core, the best that fits; None where none does."""
    assert plan.around is not None  # else nobody asks
    prefix, _ = task.prefix(plan.first)
    choices = choices_of(plan.around.before if previous else (), plan.around.after if following else ())
    free = task.limit - _exact(task, prefix, pieces) if len(choices) > 1 else task.limit
    for before, after in choices:
        if after and following and task.tokens.count(following.start, after[0]) - NEAR > free:
            continue  # far too much, as the map shows without a count
        longer = _with_overlap(task, pieces, previous, before[0]) if before and previous else pieces
        if after and following:
            longer += _ahead(task, plan, following, after[0])
        if (count := _exact(task, prefix, longer)) <= task.limit:
            return SettledChunk(plan.start, plan.end, plan.first, plan.last, count, longer, prefix)
    return None


def _ahead(task: ChunkingTask, plan: PlannedCore, following: PlannedCore, end: int) -> tuple[Piece, ...]:
    """Give the beginning of the next core as overlap."""
    assert plan.around is not None  # else nobody asks
    joiner = plan.around.joiner or joiner_between(task.text, plan.end, following.start)
    gaps = following.around.gaps if following.around else ()
    start = following._replace(end=end, around=OverlapChoices(gaps[: bisect_left(gaps, (end,))]))
    first, *rest = _core_pieces(task, start)
    return tuple([Piece(*piece[:2], "overlap_next", piece.joiner) for piece in (first._replace(joiner=joiner), *rest)])


def core_tokens(task: ChunkingTask, plan: PlannedCore) -> int:
    """Count a core exactly, with the white space that joins its pieces and without what the embedder adds."""
    return _exact(task, "", _pieces(task, plan, NO_CONTEXT)) - task.added


def _pieces(task: ChunkingTask, plan: PlannedCore, repeated: RepeatedContext) -> tuple[Piece, ...]:
    core = _core_pieces(task, plan)
    if repeated is NO_CONTEXT:
        return core
    pieces = [Piece(*span, "context", "\n" if index else "") for index, span in enumerate(repeated.before)]
    pieces += [core[0]._replace(joiner=repeated.joiner) if pieces else core[0], *core[1:]]
    pieces += [Piece(*span, "context", "\n") for span in repeated.after]
    return tuple(pieces)


def _core_pieces(task: ChunkingTask, plan: PlannedCore) -> tuple[Piece, ...]:
    """Give the core without what is never content; over a page break it goes on after a space."""
    if plan.around is None or not plan.around.gaps:
        ranges = task.core_ranges(plan.start, plan.end)
        if len(ranges) == 1:
            return (Piece(*ranges[0]),)
        return tuple([Piece(*span, "core", "\n\n" if index else "") for index, span in enumerate(ranges)])
    gaps, pieces = plan.around.gaps, list[Piece]()
    for start, end in without(gaps, plan.start, plan.end):
        ranges = task.core_ranges(start, end)
        pieces += [Piece(*span, "core", "\n\n" if index else " ") for index, span in enumerate(ranges)]
    return (pieces[0]._replace(joiner=""), *pieces[1:])


def _with_overlap(
    task: ChunkingTask, pieces: tuple[Piece, ...], previous: PlannedCore, start: int
) -> tuple[Piece, ...]:
    cores = task.core_ranges(min(start, previous.start), previous.end)  # overlap from afar starts in an earlier one
    ranges = [(max(low, start), high) for low, high in cores if high > start]
    before = [Piece(*span, "overlap_prev", "\n\n" if index else "") for index, span in enumerate(ranges)]
    joiner = joiner_between(task.text, ranges[-1][1], pieces[0].start)
    first = Piece(pieces[0].start, pieces[0].end, pieces[0].role, joiner)
    return (*before, first, *pieces[1:])


def _exact(task: ChunkingTask, prefix: str, pieces: tuple[Piece, ...]) -> int:
    """Count what the embedder gets; where that is one stretch of the document, the map already knows most of it."""
    text, seam = task.text, task.tokens.tokenizer.seam
    if prefix and seam and seam.match(prefix[-1] + text[pieces[0].start]):  # no token reaches over the joint
        return task.prefix_tokens(prefix) + _exact(task, "", pieces)
    if not prefix:
        if len(pieces) == 1:
            return task.tokens.exact(pieces[0].start, pieces[0].end) + task.added
        gaps = pairwise(pieces)
        if all(after.start >= before.end and text[before.end : after.start] == after.joiner for before, after in gaps):
            return task.tokens.exact(pieces[0].start, pieces[-1].end) + task.added
        ranges, joiners = [piece[:2] for piece in pieces], [piece.joiner for piece in pieces]
        if (count := task.tokens.exact_sum(ranges, joiners)) is not None:
            return count + task.added
    return task.tokens.tokenizer.count(prefix + rendered(text, pieces))


def _cut_again(task: ChunkingTask, plan: PlannedCore, count: int) -> list[PlannedCore]:
    """Cut a core that failed the exact count, between its blocks and inside those that are too large."""
    tokens, blocks = task.tokens, task.document.blocks
    guess, room = tokens.count(plan.start, plan.end), task.room(plan.first)
    unseen = max(0, count - guess - task.limit + room)  # what the map didn't see: context, and its own error
    goal = max(1, min(guess - 1, room - unseen))
    units, homes = list[Range](), list[int]()
    for index in range(plan.first, plan.last + 1):
        if blocks[index].kind not in task.left_out:
            units += _units(task, index, plan, goal, room)
            homes += [index] * (len(units) - len(homes))
    groups = fill(tokens, units, goal, goal, goal)
    if len(groups) == 1 and len(units) > 1:  # the map takes them for smaller than they are
        groups = [(0, len(units) // 2), (len(units) // 2, len(units))]
    elif len(groups) == 1:
        return [plan._replace(start=start, end=end, around=None) for start, end in _halves(task, plan)]
    plans = [PlannedCore(units[low][0], units[high - 1][1], homes[low], homes[high - 1]) for low, high in groups]
    return [plans[0]._replace(overlap=plan.overlap), *plans[1:]]


def _units(task: ChunkingTask, index: int, plan: PlannedCore, goal: int, room: int) -> list[Range]:
    """Give what of a block lies in a core, in units that fit; a figure is one whatever its size."""
    block = task.document.blocks[index]
    span = max(block.start, plan.start), min(block.end, plan.end)
    if block.kind == "figure":
        return [span]
    by_line = block.kind in {"code", "table"}
    cutter = line_cuts(task.text) if by_line else sentence_cuts(task.text, lambda: task.language)
    return divide(task.tokens, span, [cutter], goal, most=room + NEAR, indented=block.kind == "code")


def _halves(task: ChunkingTask, plan: PlannedCore) -> list[Range]:
    """Halve a text that the map takes for smaller than it is."""
    if plan.end - plan.start < 2:
        rule = f"is too large for `max_tokens` ({task.limit}) by itself"
        raise LimitError("character", rule, value=task.text[plan.start], hint="raise max_tokens")
    middle = (plan.start + plan.end) // 2
    middle = grapheme_break(task.text, plan.start, middle) or middle
    ranges = (trimmed(task.text, plan.start, middle), trimmed(task.text, middle, plan.end))
    return [span for span in ranges if span]


def block_at(document: Document, position: int) -> int:
    """Find the block that holds a position, or the last one before it."""
    return max(bisect_right(document.block_starts, position) - 1, 0)
