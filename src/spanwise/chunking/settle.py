"""What a chunk repeats around its core: headings in a template, table heads, fences, overlap.

A strategy plans cores; `settle` makes chunks of them, the same way for all. Context is priced before the cut; overlap
only takes what the core leaves free. One exact count decides; a core that fails it is cut again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
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
    indented_item,
    joiner_between,
    rendered,
)
from spanwise.chunking.strategy import Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.span import without
from spanwise.errors import LimitError
from spanwise.text.cuts import grapheme_break, line_cuts, sentence_cuts, trimmed
from spanwise.text.tokens import NEAR

_TRIES = 3
_Neighbours = tuple[PlannedCore | None, PlannedCore | None]
"""The cores before and after one."""


def settle(task: ChunkingTask, strategy: Strategy, cores: Sequence[PlannedCore]) -> list[SettledChunk]:
    """Attach context and overlap to every planned core, and count each chunk exactly."""
    done: list[SettledChunk] = []
    reached: PlannedCore | None = None
    for index, found in enumerate(_settled_alone(task, strategy, cores)):
        if found is not None:
            done.append(found)
            reached = cores[index]
        else:
            following = cores[index + 1] if index + 1 < len(cores) else None
            reached = _settle_one(task, strategy, cores[index], (reached, following), done)
    return done


def _settled_alone(task: ChunkingTask, strategy: Strategy, cores: Sequence[PlannedCore]) -> list[SettledChunk | None]:
    """Settle the cores that need nothing else, nearly all of them where nothing is to be repeated; None for others."""
    if strategy.repeating is None or not task.no_prefix or task.is_embedded_plain:
        return [None] * len(cores)
    rules = strategy.repeating, task.left_out, task.limit
    return task.tokens.settle_alone(task.document.blocks, list(cores), rules, SettledChunk)


def _settle_one(
    task: ChunkingTask, strategy: Strategy, core: PlannedCore, neighbours: _Neighbours, done: list[SettledChunk]
) -> PlannedCore | None:
    """Settle a core, or the cores that it is cut into, and return the last of these."""
    previous, following = neighbours
    waiting = [core]
    while waiting:
        core = waiting.pop()
        settled = _settled(task, strategy, core, (previous, waiting[-1] if waiting else following))
        if isinstance(settled, int):
            waiting += reversed(_cut_again(task, core, settled))
        else:
            done.append(settled)
            previous = core
    return previous


def _settled(task: ChunkingTask, strategy: Strategy, core: PlannedCore, neighbours: _Neighbours) -> SettledChunk | int:
    """Return the chunk of a core, or the number of tokens of the core with its context, if these are too many."""
    start, end, first, last, overlap, around = core
    repeated, previous = strategy.repeat(task, core), neighbours[0]
    solid = first == last or not task.has_excluded(start, end)
    if repeated is NO_CONTEXT and around is None and task.no_prefix and solid:
        if overlap and previous and (longer := _overlapped(task, strategy, core, previous, (Piece(start, end),))):
            return longer
        count = task.tokens.exact(start, end) + task.added
        if count <= task.limit and not task.is_embedded_plain:  # nearly always, when nothing is to be repeated
            return alone(start, end, first, last, count)
    return _in_context(task, strategy, core, repeated, neighbours)


def _in_context(
    task: ChunkingTask, strategy: Strategy, core: PlannedCore, repeated: RepeatedContext, neighbours: _Neighbours
) -> SettledChunk | int:
    """Return the chunk of a core that is not solid, is too large or has something around it; else as `_settled`."""
    start, end, first, last, overlap, around = core
    prefix, _ = task.prefix(first, last)
    pieces = _pieces(task, core, repeated)
    if overlap and neighbours[0] and (longer := _overlapped(task, strategy, core, neighbours[0], pieces)):
        return longer._replace(context_dropped=repeated.dropped)
    if around and (longer := _surrounded(task, core, around, pieces, neighbours)):
        return longer._replace(context_dropped=repeated.dropped)
    largest, count = _counts(task, prefix, pieces)
    if largest <= task.limit:
        return SettledChunk(start, end, first, last, count, pieces, prefix, False, repeated.dropped)
    figure = first == last and (task.document.blocks[first].kind == "figure" or bool(around and around.figure))
    has_context = repeated is not NO_CONTEXT
    if figure or (has_context and grapheme_break(task.text, start, end - 1) is None):
        pieces = _pieces(task, core, NO_CONTEXT)  # rather than cut a figure or a character, do without context
        smaller, count = _counts(task, prefix, pieces)
        if figure or smaller <= task.limit:
            return SettledChunk(start, end, first, last, count, pieces, prefix, figure, has_context)
    return largest


def _overlapped(
    task: ChunkingTask, strategy: Strategy, core: PlannedCore, previous: PlannedCore, pieces: tuple[Piece, ...]
) -> SettledChunk | None:
    """Put overlap before a chunk, shortened until everything fits; None where there is room for none."""
    prefix, prefix_tokens = task.prefix(core.first, core.last)
    size = sum([task.tokens.count(piece.start, piece.end) + 1 for piece in pieces])
    free = task.limit - task.added - prefix_tokens - size
    for _ in range(_TRIES):
        start = strategy.overlap_start(task, previous, free) if free > 0 else None
        if start is None:
            return None
        longer = _with_overlap(task, pieces, previous, start)
        largest, count = _counts(task, prefix, longer)
        if largest <= task.limit:
            return SettledChunk(*core[:4], count, longer, prefix)
        free -= largest - task.limit + 1
    return None


def _surrounded(
    task: ChunkingTask, core: PlannedCore, around: OverlapChoices, pieces: tuple[Piece, ...], neighbours: _Neighbours
) -> SettledChunk | None:
    """Put the best overlap of the choices that fits around a core; None where none does."""
    previous, following = neighbours
    prefix, _ = task.prefix(core.first, core.last)
    choices = choices_of(around.before if previous else (), around.after if following else ())
    free = task.limit - _exact(task, prefix, pieces) if len(choices) > 1 else task.limit
    for before, after in choices:
        if after and following and task.tokens.count(following.start, after[0]) - NEAR > free:
            continue  # far too much, as the map shows without a count
        longer = _with_overlap(task, pieces, previous, before[0]) if before and previous else pieces
        if after and following:
            joiner = around.joiner
            if joiner is None:
                joiner = joiner_between(task.text, core.end, following.start)
            longer += _beginning(task, following, after[0], joiner)
        largest, count = _counts(task, prefix, longer)
        if largest <= task.limit:
            return SettledChunk(*core[:4], count, longer, prefix)
    return None


def _beginning(task: ChunkingTask, following: PlannedCore, end: int, joiner: str) -> tuple[Piece, ...]:
    """Return the next core up to a position as overlap."""
    around = following.around or OverlapChoices()
    gaps = around.gaps[: bisect_left(around.gaps, (end,))]
    start = following._replace(end=end, around=OverlapChoices(gaps, tight=around.tight))
    first, *rest = _core_pieces(task, start)
    return tuple([Piece(*piece[:2], "overlap_next", piece.joiner) for piece in (first._replace(joiner=joiner), *rest)])


def core_tokens(task: ChunkingTask, core: PlannedCore) -> int:
    """Count a core exactly, with the white space that joins its pieces and without what the embedder adds."""
    return _exact(task, "", _core_pieces(task, core)) - task.added


def _pieces(task: ChunkingTask, core: PlannedCore, repeated: RepeatedContext) -> tuple[Piece, ...]:
    own = _core_pieces(task, core)
    if repeated is NO_CONTEXT:
        return own
    joiners = ("", *(repeated.joiners[1:] or ["\n"] * (len(repeated.before) - 1)))
    before = [Piece(*span, "context", joiner) for span, joiner in zip(repeated.before, joiners, strict=False)]
    first = own[0]._replace(joiner=repeated.joiner) if before else own[0]
    return (*before, first, *own[1:], *_joined(repeated.after, "context", "\n", "\n"))


def _core_pieces(task: ChunkingTask, core: PlannedCore) -> tuple[Piece, ...]:
    """Return the core without what is never content; over a page break it goes on after a space, or in its word."""
    if core.around is None or not core.around.gaps:
        return tuple(_joined(task.core_ranges(core.start, core.end)))
    spans = without(core.around.gaps, core.start, core.end)
    tight = core.around.tight
    joined = [_joined(task.core_ranges(*span), first="" if span[0] in tight else " ") for span in spans]
    first, *rest = [piece for pieces in joined for piece in pieces]
    return (first._replace(joiner=""), *rest)


def _joined(ranges: Iterable[Range], role: str = "core", joiner: str = "\n\n", first: str = "") -> list[Piece]:
    return [Piece(*span, role, joiner if index else first) for index, span in enumerate(ranges)]


def _with_overlap(
    task: ChunkingTask, pieces: tuple[Piece, ...], previous: PlannedCore, start: int
) -> tuple[Piece, ...]:
    cores = task.core_ranges(min(start, previous.start), previous.end)  # overlap from afar starts in an earlier one
    start = indented_item(task.text, start, previous.start)
    before = _joined([(max(low, start), high) for low, high in cores if high > start], "overlap_prev")
    joiner = joiner_between(task.text, before[-1].end, pieces[0].start)
    return (*before, pieces[0]._replace(joiner=joiner), *pieces[1:])


def _counts(task: ChunkingTask, prefix: str, pieces: tuple[Piece, ...]) -> tuple[int, int]:
    """Return the tokens that the limit holds for, and those of what the embedder gets.

    Where that is plain, both it and the source must fit: then sizes are the same either way.
    """
    count = _exact(task, prefix, pieces)
    if not task.is_embedded_plain:
        return count, count
    plain = task.plain.joined((start, end, joiner) for start, end, _, joiner in pieces)
    embedded = task.tokens.tokenizer.count(prefix + plain) if plain else count
    return max(count, embedded), embedded


def _exact(task: ChunkingTask, prefix: str, pieces: tuple[Piece, ...]) -> int:
    """Count what the embedder gets; where that is one range of the document, the map already knows most of it."""
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


def _cut_again(task: ChunkingTask, core: PlannedCore, count: int) -> list[PlannedCore]:
    """Cut a core that failed the exact count, between its blocks and inside those that are too large."""
    tokens, blocks = task.tokens, task.document.blocks
    guess, room = tokens.count(core.start, core.end), task.room(core.first)
    unseen = max(0, count - guess - task.limit + room)  # what the map doesn't include: context, and its own error
    goal = max(1, min(guess - 1, room - unseen))
    units, indices = list[Range](), list[int]()
    for index in range(core.first, core.last + 1):
        if blocks[index].kind not in task.left_out:
            units += _units(task, index, core, goal, room)
            indices += [index] * (len(units) - len(indices))
    groups = fill(tokens, units, goal, goal, goal)
    if len(groups) == 1 and len(units) > 1:  # the map takes them for smaller than they are
        groups = [(0, len(units) // 2), (len(units) // 2, len(units))]
    elif len(groups) == 1:
        return [core._replace(start=start, end=end, around=None) for start, end in _halves(task, core)]
    cores = [PlannedCore(units[low][0], units[high - 1][1], indices[low], indices[high - 1]) for low, high in groups]
    return [cores[0]._replace(overlap=core.overlap), *cores[1:]]


def _units(task: ChunkingTask, index: int, core: PlannedCore, goal: int, room: int) -> list[Range]:
    """Return what of a block lies in a core, in units that fit; a figure is one whatever its size."""
    block = task.document.blocks[index]
    span = max(block.start, core.start), min(block.end, core.end)
    if block.kind == "figure":
        return [span]
    by_line = block.kind in {"code", "table"}
    cutter = line_cuts(task.text) if by_line else sentence_cuts(task.text, task.language_at)
    return divide(task.tokens, span, [cutter], goal, most=room + NEAR, indented=block.kind == "code")


def _halves(task: ChunkingTask, core: PlannedCore) -> list[Range]:
    """Halve a text that the map takes for smaller than it is."""
    if core.end - core.start < 2:
        rule = f"is too large for `max_tokens` ({task.limit}) by itself"
        raise LimitError("character", rule, value=task.text[core.start], hint="raise max_tokens")
    middle = (core.start + core.end) // 2
    middle = grapheme_break(task.text, core.start, middle) or middle
    ranges = (trimmed(task.text, core.start, middle), trimmed(task.text, middle, core.end))
    return [span for span in ranges if span]
