"""`blocks`: Confluence and HTML pages, whole leaves in their order, with overlap on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanwise.chunking.overlap import head_end, tail_start
from spanwise.chunking.packing import fill
from spanwise.chunking.pieces import OverlapChoices, PlannedCore
from spanwise.chunking.strategies.units import BlockRange, content_units, finer, fits
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.options import SMALLEST_LIMIT, TEMPLATES, Options, option
from spanwise.text.tokens import NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class BlocksOptions(Options):
    """The options of `blocks`."""

    max_tokens: int = option(512, "hard limit of a chunk, everything counted", low=16)
    template: str = option("tags", "what stands before the text for the embedder", choices=TEMPLATES)
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
    """Put whole leaves together; one that is too large by itself is split, and its parts stand alone."""
    leaves, first = content_units(task), 0
    while first < len(leaves):
        until = _last_that_fits(task, leaves, first)
        if until > first:
            yield leaves[first].to(leaves[until - 1])
        else:
            yield from _split(task, leaves[first])
        first = max(until, first + 1)


class Room(NamedTuple):
    """Tokens of a chunk beside its tags, what of them is held for overlap before and after, and the most of a core."""

    whole: int
    before: int
    after: int
    core: int


def _room(task: ChunkingTask, unit: BlockRange) -> Room:
    """Say what room a chunk has that begins here."""
    whole = task.room(unit.first)
    before, after = (min(wanted, whole // 3) for wanted in _wanted(task))
    return Room(whole, before, after, min(task.options.core_tokens or whole, whole))


def _wanted(task: ChunkingTask) -> tuple[int, int]:
    """Give how many tokens of overlap are asked for on each side."""
    before, after = task.options.overlap_tokens, task.options.overlap_next_tokens
    return before, before if after is None else after


def _last_that_fits(task: ChunkingTask, leaves: Sequence[BlockRange], first: int) -> int:
    """Give the leaf before which a chunk ends that begins with `first`: `first` itself if not even that fits.

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
    """Leave headings that would end a chunk to the next one, if they fit there with what they stand over."""
    blocks, kept = task.document.blocks, until
    while kept > first and blocks[leaves[kept - 1].first].kind == "heading":
        kept -= 1
    if kept in {first, until}:
        return until
    return kept if fits(task, leaves[kept].to(leaves[until]), _held(_room(task, leaves[kept]))) else until


def _held(room: Room) -> int:
    """Give what a core may have so that overlap has its room on both sides."""
    return min(room.whole - room.before - room.after, room.core)


def _split(task: ChunkingTask, leaf: BlockRange) -> Iterator[BlockRange]:
    """Split a leaf between its sentences, lines or cells into parts of about the same size."""
    room = _room(task, leaf)
    limit = max(_held(room), 1)
    units = finer(task, leaf, room.core)
    size = task.tokens.count(leaf.start, leaf.end)
    target = size // -(-size // limit) if size else limit
    ranges = [(unit.start, unit.end) for unit in units]
    for low, high in fill(task.tokens, ranges, target, limit, limit):
        yield units[low].to(units[high - 1])


def _around(task: ChunkingTask, units: Sequence[BlockRange], place: int) -> OverlapChoices | None:
    """Say where overlap may start and end, the most that fits first; where little is free there is none.

    Beside a core of a size of its own, overlap may go on over several cores, and into a leaf that is not the nearest.
    """
    far = task.options.core_tokens is not None
    wanted, room = _wanted(task), _room(task, units[place])
    sides = [
        most if there else 0
        for most, there in zip(
            wanted if far else (room.before, room.after), (place > 0, place < len(units) - 1), strict=True
        )
    ]
    free = room.whole - task.content_tokens(units[place].start, units[place].end)
    if not any(sides):
        return None
    share = [most if sum(sides) <= free else most * max(free, 0) // sum(sides) for most in sides]
    before, after = (_budgets(most, asked) for most, asked in zip(share, wanted, strict=True))
    starts = [tail_start(task, _behind(task, units, place, share[0], far), budget, torn=far) for budget in before]
    ends = [head_end(task, _ahead(task, units, place, share[1], far), budget, torn=far) for budget in after]
    known = OverlapChoices((), _known(starts), _known(ends))
    return known if known.before or known.after else None


def _budgets(most: int, wanted: int) -> list[int]:
    """Give what is tried, the most first; much less than is asked for is worth nothing."""
    return [budget for budget in (most, most - NEAR, most // 2) if budget >= max(wanted // 8, 1)]


def _behind(task: ChunkingTask, units: Sequence[BlockRange], place: int, tokens: int, far: bool) -> PlannedCore:
    """Give the core before, or from `far` as many as have so many tokens."""
    first = last = place - 1
    while far and first and task.content_tokens(units[first].start, units[last].end) < tokens:
        first -= 1
    return PlannedCore(*units[first].to(units[last]))


def _ahead(task: ChunkingTask, units: Sequence[BlockRange], place: int, tokens: int, far: bool) -> PlannedCore:
    """Give the core after, or from `far` as many as have so many tokens."""
    first = last = place + 1
    while far and last < len(units) - 1 and task.content_tokens(units[first].start, units[last].end) < tokens:
        last += 1
    return PlannedCore(*units[first].to(units[last]))


def _known(places: list[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for place in places if place is not None))
