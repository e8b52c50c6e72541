"""`blocks`: Confluence and HTML pages, whole leaves in their order, with overlap on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanwise.chunking.overlap import leaf_edge
from spanwise.chunking.packing import fill
from spanwise.chunking.pieces import OverlapChoices, PlannedCore
from spanwise.chunking.strategies.units import BlockRange, content_units, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.options import EMBED_HELP, EMBEDS, SMALLEST_LIMIT, TEMPLATE_HELP, TEMPLATES, Options, option
from spanwise.text.tokens import NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class BlocksOptions(Options):
    """The options of `blocks`."""

    max_tokens: int = option(512, "hard limit of a chunk, everything counted", low=16)
    template: str = option("tags", TEMPLATE_HELP, choices=TEMPLATES)
    embed: str = option("plain", EMBED_HELP, choices=EMBEDS)
    overlap_tokens: int = option(50, "at most so much is repeated of each neighbour", low=0)
    overlap_next_tokens: int | None = option(None, "the same for what comes after, where it differs", low=0, kind=int)
    core_tokens: int | None = option(
        None, "size of cores, if the rest is for overlap from afar", low=SMALLEST_LIMIT, kind=int
    )
    include_page_tag: bool = option(True, "whether the template `tags` names the page")
    include_section_tag: bool = option(True, "whether the template `tags` names the section")


class BlocksStrategy(Strategy):
    """The strategy `blocks`."""

    name = "blocks"
    options = BlocksOptions
    leafwise = True

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Pack whole leaf blocks, and add to each core the overlap that it may take from its neighbours."""
        units = list(_filled(task))
        return ChunkPlan([PlannedCore(*unit, False, _around(task, units, index)) for index, unit in enumerate(units)])


def _filled(task: ChunkingTask) -> Iterator[BlockRange]:
    """Join whole leaves; one that is too large by itself is split, and its parts are not joined with others."""
    leaves, first = content_units(task), 0
    while first < len(leaves):
        until = _last_that_fits(task, leaves, first)
        if _is_cut_off(task, leaves, first, until):
            yield from _split(task, leaves[until], leaves[first].to(leaves[until - 1]))
            until += 1
        elif until > first:
            yield leaves[first].to(leaves[until - 1])
        else:
            yield from _split(task, leaves[first])
        first = max(until, first + 1)


def _is_cut_off(task: ChunkingTask, leaves: Sequence[BlockRange], first: int, until: int) -> bool:
    """Whether a chunk would be headings alone, though something follows them in their section."""
    blocks = task.document.blocks
    if until == first or until == len(leaves) or blocks[leaves[until].first].kind == "heading":
        return False
    return all(blocks[leaf.first].kind == "heading" for leaf in leaves[first:until])


class Room(NamedTuple):
    """Tokens of a chunk beside its tags, what of them is held for overlap before and after, and the most of a core."""

    whole: int
    before: int
    after: int
    core: int

    @property
    def held(self) -> int:
        """The most of a core that leaves room for overlap on both sides."""
        return min(self.whole - self.before - self.after, self.core)


def _room(task: ChunkingTask, unit: BlockRange) -> Room:
    """Return the room of a chunk that begins here."""
    whole = task.room(unit.first)
    before, after = (min(wanted, whole // 3) for wanted in _wanted(task))
    return Room(whole, before, after, min(task.options.core_tokens or whole, whole))


def _wanted(task: ChunkingTask) -> tuple[int, int]:
    """Return the tokens of overlap that the options ask for on each side."""
    before, after = task.options.overlap_tokens, task.options.overlap_next_tokens
    return before, before if after is None else after


def _last_that_fits(task: ChunkingTask, leaves: Sequence[BlockRange], first: int) -> int:
    """Return the leaf before which a chunk ends that begins with `first`: `first` itself if not even that fits.

    Room for overlap is held on each side that has a neighbour; a leaf that fits only without it stays whole.
    """
    room = _room(task, leaves[first])
    left = room.whole - room.before if first else room.whole
    if fits(task, leaves[first].to(leaves[-1]), min(left, room.core)):
        return len(leaves)
    until = first
    while fits(task, leaves[first].to(leaves[until]), min(left - room.after, room.core)):
        until += 1
    if until == first:
        return first + 1 if fits(task, leaves[first], room.core) else first
    return _before_headings(task, leaves, first, until)


def _before_headings(task: ChunkingTask, leaves: Sequence[BlockRange], first: int, until: int) -> int:
    """Leave headings that would end a chunk to the next one, unless that would cut a leaf which fits by itself."""
    blocks, kept = task.document.blocks, until
    while kept > first and blocks[leaves[kept - 1].first].kind == "heading":
        kept -= 1
    if kept in {first, until}:
        return until
    together = fits(task, leaves[kept].to(leaves[until]), _room(task, leaves[kept]).held)
    return kept if together or not fits(task, leaves[until], _room(task, leaves[until]).core) else until


def _split(task: ChunkingTask, leaf: BlockRange, headings: BlockRange | None = None) -> Iterator[BlockRange]:
    """Split a leaf between its sentences, lines or cells into parts of about the same size.

    `headings` above it stay with its first part, unless they leave no room for one.
    """
    room = _room(task, headings or leaf)
    limit = max(room.held, 1)
    taken = task.tokens.count(headings.start, leaf.start) if headings else 0
    units = finer(task, leaf, max(room.core - taken, 1))
    if headings:
        units = [headings.to(units[0]), *units[1:]] if taken + NEAR < room.core else [headings, *units]
    size = task.tokens.count(units[0].start, leaf.end)
    target = size // -(-size // limit) if size else limit
    ranges = [(unit.start, unit.end) for unit in units]
    for low, high in fill(task.tokens, ranges, target, limit, limit):
        yield units[low].to(units[high - 1])


def _around(task: ChunkingTask, units: Sequence[BlockRange], index: int) -> OverlapChoices | None:
    """Return where overlap may start and end, the most that fits first; None where little is free.

    Beside a core of a size of its own, overlap may go on over several cores, and into a leaf that is not the nearest.
    """
    wanted, room, unit = _wanted(task), _room(task, units[index]), units[index]
    before, after = (room.before, room.after) if task.options.core_tokens is None else wanted
    sides = before if index else 0, after if index < len(units) - 1 else 0
    if not any(sides):
        return None
    free = room.whole - task.content_tokens(unit.start, unit.end)
    share = [most if sum(sides) <= free else most * max(free, 0) // sum(sides) for most in sides]
    starts, ends = (_edges(task, units, index, share[side], wanted[side], tail=not side) for side in (0, 1))
    return OverlapChoices((), starts, ends) if starts or ends else None


def _edges(
    task: ChunkingTask, units: Sequence[BlockRange], index: int, most: int, wanted: int, *, tail: bool
) -> tuple[int, ...]:
    """Return where overlap of a side may end, the most first; much less than is wanted is worth nothing."""
    budgets = [budget for budget in (most, most - NEAR, most // 2) if budget >= max(wanted // 8, 1)]
    if not budgets:
        return ()
    far, step = task.options.core_tokens is not None, -1 if tail else 1
    for farthest in range(index + step, -1 if tail else len(units), step):
        first, last = sorted((index + step, farthest))
        if not far or task.content_tokens(units[first].start, units[last].end) >= most:
            break
    core = PlannedCore(*units[first].to(units[last]))
    edges = (leaf_edge(task, core, budget, tail=tail, may_split=far) for budget in budgets)
    return tuple(dict.fromkeys(edge for edge in edges if edge is not None))
