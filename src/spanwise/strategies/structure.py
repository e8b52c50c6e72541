"""`structure`: chunks that follow the Markdown structure.

Sections are never mixed, tables and code stay whole or keep their heads, short neighbours are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from spanwise.context import NOTHING, Repeated, Task
from spanwise.cuts import block_cuts
from spanwise.documents import KINDS, LEFT_OUT_KINDS, Block, clipped, is_headless, table_head
from spanwise.options import Options, option
from spanwise.overlaps import prose_start
from spanwise.packing import Range, divide, divide_once, fill
from spanwise.pieces import Plan
from spanwise.tokens import NEAR

CLOSING: Final = frozenset({"heading", "rule"})
APART: Final = frozenset({"table", "code"})
_MAY_BE_SHORT: Final = frozenset({"table", "list", "code", "quote"})
_OVERLAPPING: Final = frozenset({"paragraph", "mixed"})
_NO_CONTEXT: Final = ((), (), (0, 0))
_DRAFTED_AS: Final = {kind: "paragraph" if kind == "html" else kind for kind in KINDS - LEFT_OUT_KINDS}
_new: Final = tuple.__new__
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class StructureOptions(Options):
    """The options of `structure`."""

    max_tokens: int = option(900, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(650, "size at which a chunk is full", low=1)
    min_tokens: int = option(120, "size below which a chunk is joined with a neighbour", low=0)
    overlap_tokens: int = option(80, "at most so much of the chunk before is repeated", low=0)
    mix_code: bool = option(False, "let code below `min_tokens` join the text before it")


Seed = tuple[str, int, int, int, int, int]
"""What a draft begins with: its kind, start and end, its block, and the tokens ended at its edges."""


class Draft:
    """A core in the making.

    `begin` and `finish` are the tokens ended at its edges; it is `solid` when nothing inside is left out.
    """

    __slots__ = ("begin", "end", "finish", "first", "kind", "last", "size", "solid", "start")

    def __init__(self, kind: str, start: int, end: int, block: int, begin: int, finish: int) -> None:
        """Begin with one block or a part of it."""
        self.kind = kind
        self.start = start
        self.end = end
        self.first = self.last = block
        self.begin = begin
        self.finish = finish
        self.size = finish - begin
        self.solid = True

    def size_with(self, other: Draft, task: Task) -> int:
        """Tokens of both together."""
        solid = self.solid and other.solid and other.first - self.last <= 1
        return other.finish - self.begin if solid else self.size + other.size + task.joint

    def take(self, seed: Seed, limit: int) -> bool:
        """Take in the next block, if it is of the same kind and both together fit at first sight."""
        _, _, end, block, _, finish = seed
        size = finish - self.begin
        if size + NEAR > limit or not self.solid or block - self.last > 1:
            return False
        self.end, self.last, self.finish, self.size = end, block, finish, size
        return True

    def grow(self, other: Draft, task: Task, limit: int) -> bool:
        """Take in the next draft, if both together fit; counted exactly when it is close."""
        solid = self.solid and other.solid and other.first - self.last <= 1
        size = other.finish - self.begin if solid else self.size + other.size + task.joint
        if size + NEAR > limit and not task.core_fits(self.start, other.end, size, limit):
            return False
        if self.kind != other.kind:
            self.kind = "mixed"
        self.end, self.last, self.finish = other.end, other.last, other.finish
        self.size, self.solid = size, solid
        return True


class Structure:
    """The strategy `structure`."""

    name = "structure"
    options = StructureOptions
    leaves_out = CLOSING
    leafwise = False
    repeating = APART

    def plan(self, task: Task) -> list[Plan]:
        """Pack each section for itself, join what is too short, and say who may take overlap."""
        return plan_blocks(task, 0, len(task.document.blocks))

    def repeat(self, task: Task, plan: Plan) -> Repeated:
        """Repeat a table's head above its later rows, and the fences around parts of code."""
        return repeated_context(task, plan)

    def overlap_start(self, task: Task, previous: Plan, free: int) -> int | None:
        """Start at a sentence, else at a word; a few words are worth nothing."""
        return prose_start(task, previous, free)


def plan_blocks(task: Task, low: int, high: int) -> list[Plan]:
    """Plan the blocks from one up to another as this strategy does with a document of them alone."""
    if low >= high:
        return []
    kinds, starts, ends = islice(zip(*task.document.blocks[low:high], strict=True), 3)
    plans: list[Plan] = []
    for section, goes_on in _sections(seeds_of(task, low, kinds, starts, ends)):
        room = task.room(section[0][3])
        if _is_one(section, task.options.target_tokens, room):  # most sections: quicker than by drafts
            plans.append(_new(Plan, (section[0][1], section[-1][2], section[0][3], section[-1][3], False, None)))
        else:
            plans += planned(task, section_drafts(task, section, goes_on, room))
    return plans


def _is_one(section: list[Seed], target: int, room: int) -> bool:
    """Whether a section is sure to be one chunk: a single block, or paragraphs with nothing between, that fit."""
    _, _, _, first, begin, _ = section[0]
    _, _, _, last, _, finish = section[-1]
    if finish - begin + NEAR > room:
        return False
    if first == last:
        return True
    solid = last - first < len(section) and section[-2][5] - begin < target
    return solid and all(seed[0] == "paragraph" for seed in section)


def seeds_of(task: Task, first: int, kinds: Sequence[str], starts: Sequence[int], ends: Sequence[int]) -> list[Seed]:
    """Give a seed for each of some blocks, or for what of them is to be planned; what is never content gets none."""
    edges, blocks = task.tokens.at_each([*starts, *ends]), range(first, first + len(kinds))
    seeds = zip(map(_DRAFTED_AS.get, kinds), starts, ends, blocks, edges, edges[len(kinds) :], strict=False)
    return [seed for seed in seeds if seed[0]]


def planned(task: Task, drafts: list[Draft]) -> list[Plan]:
    """Make plans of the drafts of a section, and say who may take overlap."""
    if not task.options.overlap_tokens:
        return [_new(Plan, (draft.start, draft.end, draft.first, draft.last, False, None)) for draft in drafts]
    plans, before = list[Plan](), False
    for draft in drafts:
        prose = draft.kind in _OVERLAPPING
        plans.append(_new(Plan, (draft.start, draft.end, draft.first, draft.last, prose and before, None)))
        before = prose
    return plans


def repeated_context(task: Task, plan: Plan) -> Repeated:
    """Say what a core repeats that begins or ends inside a table or code."""
    blocks = task.document.blocks
    first, last = blocks[plan.first], blocks[plan.last]
    begins_inside = first.kind in APART and (plan.start > first.start or is_headless(first))
    ends_inside = last.kind in APART and plan.end < last.end
    if not begins_inside and not ends_inside:
        return NOTHING
    before, _, (before_price, _) = _context(task, plan.first) if begins_inside else _NO_CONTEXT
    _, after, (_, after_price) = _context(task, plan.last) if ends_inside else _NO_CONTEXT
    wanted = Repeated(
        before if before and plan.start >= before[0][1] else (),
        after if after and plan.end <= after[0][0] else (),
    )
    if not wanted.before and not wanted.after:
        return NOTHING
    price = before_price * bool(wanted.before) + after_price * bool(wanted.after)
    return wanted if price <= task.limit // 2 else Repeated(dropped=True)


def _sections(seeds: list[Seed]) -> Iterator[tuple[list[Seed], bool]]:
    """Give the blocks between headings and rules, and whether a rule ends them: then the section goes on."""
    first = 0
    for place, seed in enumerate(seeds):
        if seed[0] in CLOSING:
            if place > first:
                yield seeds[first:place], seed[0] == "rule"
            first = place + 1
    if first < len(seeds):
        yield seeds[first:], False


def section_drafts(task: Task, section: list[Seed], goes_on: bool, room: int, lead: Draft | None = None) -> list[Draft]:
    """Pack the blocks of a section and join what is too short; what leads to them goes with the first, if both fit."""
    drafts = _packed(task, section, room, lead)
    if len(drafts) > 1 and min([draft.size for draft in drafts]) < task.options.min_tokens:
        drafts = _lengthened(task, _joined(task, drafts, room), room, goes_on)
    return drafts


def _packed(task: Task, section: list[Seed], room: int, lead: Draft | None) -> list[Draft]:
    """Add paragraphs to paragraphs while they are below target; every other block is a draft of its own, or several."""
    tokens, target = task.tokens, task.options.target_tokens
    drafts: list[Draft] = []
    before: Draft | None = None  # the draft that the next paragraph may be added to
    for seed in section:
        kind, limit = seed[0], room
        if before and kind == "paragraph" and before.size < target and before.take(seed, room):
            continue
        draft = Draft(*seed)
        if kind in APART:
            limit -= _owed(task, draft)
        if draft.size + NEAR > limit and kind != "figure" and not tokens.fits(draft.start, draft.end, limit):
            drafts += _divided(task, draft, room, lead)
        elif before and kind == "paragraph" and before.size < target and before.grow(draft, task, limit):
            continue
        elif lead:
            drafts += led(task, lead, draft, limit)
        else:
            drafts.append(draft)
        before, lead = drafts[-1] if kind == "paragraph" else None, None
    return drafts


def led(task: Task, lead: Draft | None, draft: Draft, limit: int) -> list[Draft]:
    """Give a draft together with what leads to it; the kind stays its own. Tables, code and figures stay whole."""
    if lead is None:
        return [draft]
    if lead.grow(draft, task, limit):
        lead.kind = draft.kind
        return [lead]
    if draft.kind in APART or draft.kind == "figure":
        return [lead, draft]
    return _parted(task, lead, draft, limit)


def _parted(task: Task, lead: Draft, draft: Draft, limit: int) -> list[Draft]:
    """Cut a block near its middle, so that what leads to it doesn't stand alone; a single sentence stays whole."""
    tokens, block = task.tokens, clipped(task.document.blocks[draft.first], draft.start, draft.end)
    cutter = block_cuts(task.text, block, lambda: task.language)[0]
    units = divide_once(task.text, (draft.start, draft.end), cutter)
    begins, _ = tokens.at_edges(units)
    middle = (draft.begin + draft.finish - lead.size) / 2
    cut = min(range(1, len(units)), key=lambda place: abs(begins[place] - middle), default=0)
    if cut:
        left = Draft(draft.kind, draft.start, units[cut - 1][1], draft.first, draft.begin, tokens.at(units[cut - 1][1]))
        if lead.grow(left, task, limit):
            lead.kind = draft.kind
            return [lead, Draft(draft.kind, units[cut][0], draft.end, draft.first, begins[cut], draft.finish)]
    return [lead, draft]


def _owed(task: Task, draft: Draft) -> int:
    """Give what a table or code costs more than itself, because only a part of it is to be planned."""
    block = task.document.blocks[draft.first]
    begins_inside, ends_inside = draft.start > block.start, draft.end < block.end
    if not begins_inside and not ends_inside:
        return 0
    before, after = _context(task, draft.first)[2]
    return _kept(task, before * begins_inside + after * ends_inside)


def _divided(task: Task, whole: Draft, room: int, lead: Draft | None) -> list[Draft]:
    """Split a block that is too large, with room for what its parts repeat and for what leads to it."""
    tokens, target = task.tokens, task.options.target_tokens
    block = task.document.blocks[whole.first]
    before, after = _context(task, whole.first)[2] if block.kind in APART else (0, 0)
    inner = room - _kept(task, before + after)
    first = room - _kept(task, after) if whole.start <= block.start else inner
    last = room - _kept(task, before) if whole.end >= block.end else inner
    opening = first - lead.size - task.joint if lead and lead.size < room // 2 else first
    parts: list[Draft] = []
    for units in _unit_runs(task, clipped(block, whole.start, whole.end), max(inner, 1), room + NEAR):
        if before and not parts and len(units) > 1 and tokens.fits(units[0][0], units[1][1], opening):
            units[:2] = [(units[0][0], units[1][1])]  # a table head or fence doesn't stand alone
        if after and len(units) > 1 and tokens.fits(units[-2][0], units[-1][1], last):
            units[-2:] = [(units[-2][0], units[-1][1])]
        for low, high in fill(tokens, units, target, inner, inner if parts else opening):
            start, end = units[low][0], units[high - 1][1]
            part = Draft(whole.kind, start, end, whole.first, *tokens.at_each([start, end]))
            short = parts and min(parts[-1].size, part.size) < task.options.min_tokens
            if not (short and parts[-1].grow(part, task, opening if len(parts) == 1 else inner)):
                parts.append(part)
    return [*led(task, lead, parts[0], first), *parts[1:]]


def _unit_runs(task: Task, block: Block, limit: int, most: int) -> Iterator[list[Range]]:
    """Give the units that a block is put together from; what remains of an item or row doesn't go with the next."""
    ladder, span = block_cuts(task.text, block, lambda: task.language), (block.start, block.end)
    if not block.parts:
        yield divide(task.tokens, span, ladder, limit, most=most, indented=block.kind == "code")
        return
    run: list[Range] = []
    headed = block.kind == "table" and block.parts[0].header
    parts = divide_once(task.text, span, ladder[0])
    begins, finishes = task.tokens.at_edges(parts)
    for number, part in enumerate(parts):
        fits = finishes[number] - begins[number] + NEAR <= limit
        units = [part] if fits else divide(task.tokens, part, ladder[1:], limit, most=most)
        if len(units) == 1 or (number == 1 and headed):  # the head goes with what follows it
            run += units
        else:
            yield from (group for group in (run, units) if group)
            run = []
    if run:
        yield run


def _kept(task: Task, price: int) -> int:
    """Give the price of context that is repeated; what would take more than half of the limit is not."""
    return price if price <= task.limit // 2 else 0


def _joined(task: Task, drafts: list[Draft], room: int) -> list[Draft]:
    """Join short neighbours that stay below target together."""
    smallest, target = task.options.min_tokens, task.options.target_tokens
    joined = drafts[:1]
    for draft in drafts[1:]:
        before = joined[-1]
        short = before.size < smallest or draft.size < smallest
        mixing = task.options.mix_code and draft.size < smallest and _is_whole_code(task, draft)
        apart = before.kind in APART or (draft.kind in APART and not mixing)
        joins = short and not apart and before.size_with(draft, task) < target
        if not (joins and before.grow(draft, task, room)):
            joined.append(draft)
    return joined


def _is_whole_code(task: Task, draft: Draft) -> bool:
    block = task.document.blocks[draft.first]
    return block.kind == "code" and (draft.start, draft.end) == (block.start, block.end)


def _lengthened(task: Task, drafts: list[Draft], room: int, goes_on: bool) -> list[Draft]:
    """Join a draft that is still too short with its left, else its right neighbour; the minimum beats the target.

    Only the last of a section may stay short, and it is not the last when the section `goes_on` after a rule.
    """
    smallest = task.options.min_tokens
    kept: list[Draft] = []
    for place, draft in enumerate(drafts):
        before = kept[-1] if kept else None
        if before and before.kind not in APART and draft.kind not in APART:
            last = place == len(drafts) - 1 and not goes_on
            # when the one before is still short, its own left neighbour could not take it
            wanted = _too_short(before, smallest) or (_too_short(draft, smallest) and not last)
            if wanted and before.grow(draft, task, room):
                continue
        kept.append(draft)
    return kept


def _too_short(draft: Draft, smallest: int) -> bool:
    return draft.size < smallest and draft.kind not in _MAY_BE_SHORT


def _context(task: Task, index: int) -> tuple[tuple[Range, ...], tuple[Range, ...], tuple[int, int]]:
    """Say what the parts of a block repeat before and after themselves, and what that costs; found out only once."""
    if index not in task.contexts:
        before, after = _context_ranges(task, index)
        task.contexts[index] = before, after, (_price(task, before), _price(task, after))
    found: tuple[tuple[Range, ...], tuple[Range, ...], tuple[int, int]] = task.contexts[index]
    return found


def context_prices(task: Task, index: int) -> tuple[int, int]:
    """Say what it costs that a part of a block repeats something before and after itself; nothing where it doesn't."""
    if task.document.blocks[index].kind not in APART:
        return 0, 0
    before, after = _context(task, index)[2]
    return (before, after) if before + after <= task.limit // 2 else (0, 0)


def _context_ranges(task: Task, index: int) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
    """Say what the parts of a table or of fenced code repeat before and after themselves."""
    block = task.document.blocks[index]
    if block.kind == "table":
        head = table_head(task.document.blocks, index)
        return ((head.start, head.end),) if head else (), ()
    opening = _FENCE.match(task.text, block.start, block.end)
    if not opening:
        return (), ()
    closing_start = task.text.rfind("\n", block.start, block.end) + 1
    closing = _FENCE.match(task.text, closing_start, block.end)
    closes = closing and closing_start > opening.end() and closing[1].startswith(opening[1]) and not closing[2].strip()
    return ((opening.start(1), opening.end()),), ((closing.start(1), block.end),) if closing and closes else ()


def _price(task: Task, ranges: tuple[Range, ...]) -> int:
    """Count what ranges cost with the line ends that join them to the core."""
    line_end = task.tokens.tokenizer.count("\n") - task.added
    return sum(task.tokens.exact(start, end) + line_end for start, end in ranges)
