"""`blocks`: Confluence and HTML pages, whole leaves in their order, with overlap on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanwise.context import NOTHING, Repeated, Task
from spanwise.options import TEMPLATES, Options, option
from spanwise.overlaps import head_end, tail_start
from spanwise.packing import fill
from spanwise.pieces import Around, Plan
from spanwise.strategies.units import Unit, content_units, finer, fits
from spanwise.tokens import NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class BlocksOptions(Options):
    """The options of `blocks`."""

    max_tokens: int = option(512, "hard limit of a chunk, everything counted", low=16)
    template: str = option("tags", "what stands before the text for the embedder", choices=TEMPLATES)
    overlap_tokens: int = option(50, "at most so much is repeated of each neighbour", low=0)
    include_page_tag: bool = option(True, "whether the template `tags` names the page")
    include_section_tag: bool = option(True, "whether the template `tags` names the section")


class Blocks:
    """The strategy `blocks`."""

    name = "blocks"
    options = BlocksOptions
    leaves_out = frozenset[str]()
    leafwise = True

    def plan(self, task: Task) -> list[Plan]:
        """Pack whole leaves, and say what each chunk may show of its neighbours."""
        units = list(_packed(task))
        beside = zip([None, *units], units, [*units[1:], None], strict=False)
        return [Plan(*unit, False, _around(task, before, unit, after)) for before, unit, after in beside]

    def repeat(self, task: Task, plan: Plan) -> Repeated:
        """Repeat nothing but overlap: the full text is overlap and core, and nothing else."""
        return NOTHING

    def overlap_start(self, task: Task, previous: Plan, free: int) -> int | None:
        """Overlap is planned here, on both sides."""
        return None


def _packed(task: Task) -> Iterator[Unit]:
    """Put whole leaves together; one that is too large by itself is split, and its parts stand alone."""
    leaves, first = content_units(task), 0
    while first < len(leaves):
        until = _last_that_fits(task, leaves, first)
        if until > first:
            yield leaves[first].to(leaves[until - 1])
        else:
            yield from _split(task, leaves[first])
        first = max(until, first + 1)


def _last_that_fits(task: Task, leaves: Sequence[Unit], first: int) -> int:
    """Give the leaf before which a chunk ends that begins with `first`: `first` itself if not even that fits.

    Room for overlap is held on each side that has a neighbour; a leaf that fits only without it stays whole.
    """
    room, held = _rooms(task, leaves[first])
    room_after = room - held if first else room
    if fits(task, leaves[first].to(leaves[-1]), room_after):
        return len(leaves)
    until = first
    while fits(task, leaves[first].to(leaves[until]), room_after - held):
        until += 1
    if until == first:
        return first + 1 if fits(task, leaves[first], room) else first
    return _before_headings(task, leaves, first, until)


def _before_headings(task: Task, leaves: Sequence[Unit], first: int, until: int) -> int:
    """Leave headings that would end a chunk to the next one, if they fit there with what they stand over."""
    blocks, kept = task.document.blocks, until
    while kept > first and blocks[leaves[kept - 1].first].kind == "heading":
        kept -= 1
    if kept in {first, until}:
        return until
    room, held = _rooms(task, leaves[kept])
    return kept if fits(task, leaves[kept].to(leaves[until]), room - 2 * held) else until


def _rooms(task: Task, unit: Unit) -> tuple[int, int]:
    """Give the tokens of a chunk that begins here beside its tags, and how many overlap may have on each side."""
    room = task.room(unit.first)
    return room, min(task.options.overlap_tokens, room // 3)


def _split(task: Task, leaf: Unit) -> Iterator[Unit]:
    """Split a leaf between its sentences, lines or cells into parts of about the same size."""
    room, held = _rooms(task, leaf)
    limit = max(room - 2 * held, 1)
    units = finer(task, leaf, room)
    size = task.tokens.count(leaf.start, leaf.end)
    target = size // -(-size // limit) if size else limit
    ranges = [(unit.start, unit.end) for unit in units]
    for low, high in fill(task.tokens, ranges, target, limit, limit):
        yield units[low].to(units[high - 1])


def _around(task: Task, before: Unit | None, unit: Unit, after: Unit | None) -> Around | None:
    """Say where overlap may start and end, the most that fits first; where little is free there is none."""
    room, held = _rooms(task, unit)
    sides = 2 if before and after else 1
    most = min(held, (room - task.content_tokens(unit.start, unit.end)) // sides)
    least = max(task.options.overlap_tokens // 8, 1)
    budgets = [budget for budget in (most, most - NEAR, most // 2) if budget >= least]
    starts = [tail_start(task, Plan(*before), budget) for budget in budgets] if before else []
    ends = [head_end(task, Plan(*after), budget) for budget in budgets] if after else []
    known = Around((), _known(starts), _known(ends))
    return known if known.before or known.after else None


def _known(places: list[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for place in places if place is not None))
