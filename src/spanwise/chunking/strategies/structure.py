"""`structure`: chunks that follow the Markdown structure.

Sections are never mixed, tables and code stay whole or keep their heads, short neighbours are joined. What a section is
put together from is in `native/sections`, which plans those where the map of tokens alone decides: most of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from spanwise.chunking.overlap import prose_start
from spanwise.chunking.packing import Range, divide, divide_once, evened, fill
from spanwise.chunking.pieces import NO_CONTEXT, PlannedCore, RepeatedContext
from spanwise.chunking.strategies.joined_sections import JoinedSections
from spanwise.chunking.strategies.table_rows import cut_row, most_context, row_context, row_groups
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import Block, Part, clipped, is_headless, table_head
from spanwise.native.sections import (
    APART,
    CLOSING,
    DRAFTED_AS,
    SectionDraft,
    SectionSizes,
    Seed,
    joined,
    lengthened,
    plans_of,
)
from spanwise.options import EMBED_HELP, EMBEDS, TEMPLATE_HELP, TEMPLATES, Options, option
from spanwise.text.cuts import block_cuts
from spanwise.text.tokens import NEAR

_Context = tuple[tuple[Range, ...], tuple[Range, ...], tuple[int, int]]
_NO_CONTEXT: Final[_Context] = ((), (), (0, 0))
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionOptions(Options):
    """The options of strategies that plan sections."""

    max_tokens: int = option(900, "hard limit of a chunk, everything counted", low=16)
    target_tokens: int = option(650, "size at which a chunk is full", low=1)
    min_tokens: int = option(120, "size below which a chunk is joined with a neighbour", low=0)
    overlap_tokens: int = option(80, "at most so much of the chunk before is repeated", low=0)
    mix_code: bool = option(False, "let code below `min_tokens` join the text before it")
    template: str = option("path", TEMPLATE_HELP, choices=TEMPLATES)
    embed: str = option("plain", EMBED_HELP, choices=EMBEDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class StructureOptions(SectionOptions):
    """The options of `structure`."""

    join_sections: bool = option(False, "join short neighbouring sections under one parent up to `target_tokens`")


class StructureStrategy(Strategy):
    """The strategy `structure`."""

    name = "structure"
    options: type[Options] = StructureOptions
    leaves_out = CLOSING
    joins_sections = True
    repeating = APART

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Pack each section separately, join what is too short, and mark the cores that may take overlap."""
        joined = JoinedSections(task).cores() if getattr(task.options, "join_sections", False) else []
        cores, reached = list[PlannedCore](), 0
        for core in joined:
            cores += [*plan_blocks(task, reached, core.first), core]
            reached = core.last + 1
        return ChunkPlan([*cores, *plan_blocks(task, reached, len(task.document.blocks))])

    def left_out_under(self, options: Options) -> frozenset[str]:
        """Leave nothing out of a core where it may hold the headings between sections."""
        return frozenset() if getattr(options, "join_sections", False) else self.leaves_out

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Repeat a table's head above its later rows, and the fences around parts of code."""
        first, last = task.document.blocks[core.first], task.document.blocks[core.last]
        begins_inside = first.kind in APART and (core.start > first.start or is_headless(first))
        ends_inside = last.kind in APART and core.end < last.end
        if not begins_inside and not ends_inside:
            return NO_CONTEXT
        if begins_inside and (row := cut_row(first, core.start, core.end)):
            return row_context(task, core.first, row, core[:2]).repeated
        before, _, (before_price, _) = _context(task, core.first) if begins_inside else _NO_CONTEXT
        _, after, (_, after_price) = _context(task, core.last) if ends_inside else _NO_CONTEXT
        before = before if before and core.start >= before[0][1] else ()
        after = after if after and core.end <= after[0][0] else ()
        if not before and not after:
            return NO_CONTEXT
        price = before_price * bool(before) + after_price * bool(after)
        return RepeatedContext(before, after) if price <= task.limit // 2 else RepeatedContext(dropped=True)

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Start at a sentence, else at a word; a few words are worth nothing."""
        return prose_start(task, previous, free)


def plan_blocks(task: ChunkingTask, low: int, high: int) -> list[PlannedCore]:
    """Plan the blocks from one up to another as this strategy does with a document of them alone."""
    if low >= high:
        return []
    cores: list[PlannedCore] = []
    sizes = _sizes(task, task.limit - task.added)
    for found in task.tokens.plan_at_sight(task.document.blocks, (low, high), sizes, task.prefixes, PlannedCore):
        if isinstance(found, PlannedCore):
            cores.append(found)
            continue
        first, after, goes_on = found
        section = seeds_of(task, first, *islice(zip(*task.document.blocks[first:after], strict=True), 3))
        cores += planned(task, section_drafts(task, section, goes_on, task.room(section[0][3])))
    return cores


def _sizes(task: ChunkingTask, room: int) -> SectionSizes:
    options = task.options
    target, smallest = min(options.target_tokens, task.limit), min(options.min_tokens, task.limit)
    return SectionSizes(room, target, smallest, task.joint, options.mix_code, options.overlap_tokens > 0)


def seeds_of(
    task: ChunkingTask, first: int, kinds: Sequence[str], starts: Sequence[int], ends: Sequence[int]
) -> list[Seed]:
    """Return a seed for each of some blocks, or for the part that is to be planned; what is never content gets none."""
    edges, blocks = task.tokens.at_each([*starts, *ends]), range(first, first + len(kinds))
    seeds = zip(map(DRAFTED_AS.get, kinds), starts, ends, blocks, edges, edges[len(kinds) :], strict=False)
    return [seed for seed in seeds if seed[0]]


def planned(task: ChunkingTask, drafts: list[SectionDraft]) -> list[PlannedCore]:
    """Return the planned cores of the drafts of a section, and whether each may take overlap."""
    return plans_of(drafts, task.options.overlap_tokens > 0, PlannedCore)


def section_drafts(
    task: ChunkingTask, section: list[Seed], goes_on: bool, room: int, opening: SectionDraft | None = None
) -> list[SectionDraft]:
    """Pack the blocks of a section and join what is too short; its opening goes with the first, if both fit."""
    drafts = _filled(task, section, room, opening)
    if len(drafts) > 1 and min([draft.size for draft in drafts]) < task.options.min_tokens:
        sizes = _sizes(task, room)
        drafts = lengthened(joined(drafts, sizes, task, partial(_is_whole_code, task)), sizes, task, goes_on)
    return drafts


def _filled(task: ChunkingTask, section: list[Seed], room: int, opening: SectionDraft | None) -> list[SectionDraft]:
    """Add paragraphs to paragraphs while they are below target; every other block is a draft of its own, or several."""
    tokens, target = task.tokens, task.options.target_tokens
    drafts: list[SectionDraft] = []
    before: SectionDraft | None = None  # the draft that the next paragraph may be added to
    for seed in section:
        kind, limit = seed[0], room
        if before and kind == "paragraph" and before.size < target and before.take(seed, room):
            continue
        draft = SectionDraft(*seed)
        if kind in APART:
            limit -= _owed(task, draft)
        if draft.size + NEAR > limit and kind != "figure" and not tokens.fits(draft.start, draft.end, limit):
            drafts += _divided(task, draft, room, opening)
        elif before and kind == "paragraph" and before.size < target and before.grow(draft, task, limit):
            continue
        elif opening:
            drafts += _with_opening(task, opening, draft, limit)
        else:
            drafts.append(draft)
        before, opening = drafts[-1] if kind == "paragraph" else None, None
    return drafts


def _with_opening(
    task: ChunkingTask, opening: SectionDraft | None, draft: SectionDraft, limit: int
) -> list[SectionDraft]:
    """Return a draft joined with the opening before it; the kind stays its own. Tables, code and figures stay whole."""
    if opening is None:
        return [draft]
    if opening.grow(draft, task, limit):
        opening.kind = draft.kind
        return [opening]
    if draft.kind in APART or draft.kind == "figure":
        return [opening, draft]
    return _parted(task, opening, draft, limit)


def _parted(task: ChunkingTask, opening: SectionDraft, draft: SectionDraft, limit: int) -> list[SectionDraft]:
    """Cut a block near its middle, so that its opening isn't a chunk alone; a single sentence stays whole."""
    tokens, block = task.tokens, clipped(task.document.blocks[draft.first], draft.start, draft.end)
    cutter = block_cuts(task.text, block, task.language_at)[0]
    units = divide_once(task.text, (draft.start, draft.end), cutter)
    begins, _ = tokens.at_edges(units)
    middle = (draft.begin + draft.finish - opening.size) / 2
    cut = min(range(1, len(units)), key=lambda index: abs(begins[index] - middle), default=0)
    if cut:
        end = units[cut - 1][1]
        left = SectionDraft(draft.kind, draft.start, end, draft.first, draft.begin, tokens.at(end))
        if opening.grow(left, task, limit):
            opening.kind = draft.kind
            return [opening, SectionDraft(draft.kind, units[cut][0], draft.end, draft.first, begins[cut], draft.finish)]
    return [opening, draft]


def _owed(task: ChunkingTask, draft: SectionDraft) -> int:
    """Return the tokens of context that a table or code needs because only a part of it is to be planned."""
    block = task.document.blocks[draft.first]
    begins_inside, ends_inside = draft.start > block.start, draft.end < block.end
    if not begins_inside and not ends_inside:
        return 0
    before, after = _context(task, draft.first)[2]
    return _kept(task, before * begins_inside + after * ends_inside)


def _divided(task: ChunkingTask, whole: SectionDraft, room: int, opening: SectionDraft | None) -> list[SectionDraft]:
    """Split a block that is too large, with room for what its parts repeat and for its opening.

    Parts of a paragraph are filled up to the limit, and the last two are evened out; all others up to the target.
    """
    tokens, block = task.tokens, task.document.blocks[whole.first]
    target = room if whole.kind == "paragraph" else task.options.target_tokens
    before, after = _context(task, whole.first)[2] if block.kind in APART else (0, 0)
    inner = room - _kept(task, before + after)
    first = room - _kept(task, after) if whole.start <= block.start else inner
    last = room - _kept(task, before) if whole.end >= block.end else inner
    opened = first - opening.size - task.joint if opening and opening.size < room // 2 else first
    parts: list[SectionDraft] = []
    row: Part | None = None
    for units in _unit_runs(task, clipped(block, whole.start, whole.end), max(inner, 1), room + NEAR):
        row, before_row = cut_row(block, *units[-1]) if len(units) > 1 else None, row
        if before and not parts and len(units) > 1 and tokens.fits(units[0][0], units[1][1], opened):
            units[:2] = [(units[0][0], units[1][1])]  # a table head or fence is no part by itself
        if after and len(units) > 1 and tokens.fits(units[-2][0], units[-1][1], last):
            units[-2:] = [(units[-2][0], units[-1][1])]
        if row:
            groups = row_groups(task, whole.first, units, (room if parts else opened, room))
        else:
            groups = fill(tokens, units, target, inner, inner if parts else opened)
        if whole.kind == "paragraph":
            groups = evened(tokens, units, groups, inner, opened if len(groups) == 2 and not parts else inner)
        for low, high in groups:
            start, end = units[low][0], units[high - 1][1]
            part = SectionDraft(whole.kind, start, end, whole.first, *tokens.at_each([start, end]))
            short = parts and min(parts[-1].size, part.size) < task.options.min_tokens
            torn, before_row = row or before_row, None  # what remains of a row doesn't go with the next
            if torn or not (short and parts[-1].grow(part, task, opened if len(parts) == 1 else inner)):
                parts.append(part)
    return [*_with_opening(task, opening, parts[0], first), *parts[1:]]


def _unit_runs(task: ChunkingTask, block: Block, limit: int, most: int) -> Iterator[list[Range]]:
    """Yield the units that a block is made of; what remains of an item or row doesn't go with the next."""
    ladder, span = block_cuts(task.text, block, task.language_at), (block.start, block.end)
    if not block.parts:
        yield divide(task.tokens, span, ladder, limit, most=most, indented=block.kind == "code")
        return
    run: list[Range] = []
    headed = block.kind == "table" and block.parts[0].header
    parts = divide_once(task.text, span, ladder[0])
    begins, finishes = task.tokens.at_edges(parts)
    for number, part in enumerate(parts):
        fits = finishes[number] - begins[number] + NEAR <= limit
        inside = limit if fits else _limit_in(task, block, part, limit)
        units = [part] if fits else divide(task.tokens, part, ladder[1:], inside, most=most)
        if len(units) == 1:
            run += units
        elif number == 1 and headed:  # the head goes with what follows it
            yield [*run, *units]
            run = []
        else:
            yield from (group for group in (run, units) if group)
            run = []
    if run:
        yield run


def _limit_in(task: ChunkingTask, block: Block, part: Range, limit: int) -> int:
    """Return the limit of the cells of a row that is too large: they also repeat its first cell."""
    row = cut_row(block, part[0], part[0] + 1)
    if row is None:
        return limit
    index = block_at(task.document, part[0])
    return max(min(limit, task.room(index) - most_context(task, index, row)), 1)


def _kept(task: ChunkingTask, price: int) -> int:
    """Return the price of repeated context; 0 if it would take more than half of the limit, and is not repeated."""
    return price if price <= task.limit // 2 else 0


def _is_whole_code(task: ChunkingTask, draft: SectionDraft) -> bool:
    block = task.document.blocks[draft.first]
    return block.kind == "code" and (draft.start, draft.end) == (block.start, block.end)


def _context(task: ChunkingTask, index: int) -> _Context:
    """Return what the parts of a block repeat before and after themselves, and its price in tokens."""
    known = task.once(_known_contexts)
    if index not in known:
        before, after = _context_ranges(task, index)
        known[index] = before, after, (_price(task, before), _price(task, after))
    return known[index]


def _known_contexts(_: ChunkingTask) -> dict[int, _Context]:
    """Return the contexts of a task's blocks that were computed so far: none."""
    return {}


def context_prices(task: ChunkingTask, index: int) -> tuple[int, int]:
    """Return the tokens that a part of a block repeats before and after itself; 0 where it repeats nothing."""
    if task.document.blocks[index].kind not in APART:
        return 0, 0
    before, after = _context(task, index)[2]
    return (before, after) if before + after <= task.limit // 2 else (0, 0)


def _context_ranges(task: ChunkingTask, index: int) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
    """Return what the parts of a table or of fenced code repeat before and after themselves."""
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


def _price(task: ChunkingTask, ranges: tuple[Range, ...]) -> int:
    """Count what ranges cost with the line ends that join them to the core."""
    line_end = task.tokens.tokenizer.count("\n") - task.added
    return sum(task.tokens.exact(start, end) + line_end for start, end in ranges)
