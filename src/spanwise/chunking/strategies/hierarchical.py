"""`hierarchical`: small children to search with, each in a large parent to read; both are chunks.

Parents follow the sections and children follow the structure inside a parent. Headings are part of the text of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spanwise.chunking.overlap import prose_start
from spanwise.chunking.pieces import PlannedCore, RepeatedContext, SettledChunk
from spanwise.chunking.settle import settle
from spanwise.chunking.strategies.hierarchical_parents import ParentsStrategy
from spanwise.chunking.strategies.structure import planned, repeated_context, section_drafts, seeds_of
from spanwise.chunking.strategy import ChunkPlan, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.native.sections import APART, CLOSING, SectionDraft, Seed
from spanwise.options import Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class HierarchicalOptions(Options):
    """The options of `hierarchical`."""

    max_tokens: int = option(400, "hard limit of a child, everything counted", low=16)
    target_tokens: int = option(300, "size at which a child is full", low=1)
    min_tokens: int = option(60, "size below which a child is joined with a neighbour", low=0)
    overlap_tokens: int = option(0, "at most so much of the child before is repeated", low=0)
    mix_code: bool = option(False, "let code below `min_tokens` join the text before it")
    parent_tokens: int = option(2000, "hard limit of a parent, everything counted", low=16)


class HierarchicalStrategy(Strategy):
    """The strategy `hierarchical`."""

    name = "hierarchical"
    options = HierarchicalOptions
    repeating = APART
    has_parents = True

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Settle the parents first, because nothing of a child may lie outside its own; then plan inside each."""
        outer, parents = task.within(task.options.parent_tokens), ParentsStrategy()
        settled = settle(outer, parents, parents.plan(outer).cores)
        return ChunkPlan([core for parent in settled for core in _children(task, parent)], settled)

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Repeat a table's head above its later rows, and the fences around parts of code."""
        return repeated_context(task, core)

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Start at a sentence, else at a word; a few words are worth nothing."""
        return prose_start(task, previous, free)


def _children(task: ChunkingTask, parent: SettledChunk) -> Iterator[PlannedCore]:
    """Plan each section of a parent for itself, its headings with what they stand over."""
    kinds, starts, ends = zip(
        *[block[:3] for block in task.document.blocks[parent.first : parent.last + 1]], strict=True
    )
    starts = (max(starts[0], parent.start), *starts[1:])
    ends = (*ends[:-1], min(ends[-1], parent.end))
    held: list[SectionDraft] = []  # the section before: a rule at the end of the parent goes with it
    for leads, section, goes_on in _sections(seeds_of(task, parent.first, kinds, starts, ends)):
        if not section and held and all(kind == "rule" for kind, *_ in leads):
            leads = [seed for seed in leads if not _closed_by(task, held[-1], SectionDraft(*seed))]
        yield from planned(task, held)
        held = _section(task, leads, section, goes_on)
    yield from planned(task, held)


def _sections(seeds: list[Seed]) -> Iterator[tuple[list[Seed], list[Seed], bool]]:
    """Give each section in two: headings and rules that lead to it, and its blocks; and whether it goes on."""
    leads, section = list[Seed](), list[Seed]()
    for seed in seeds:
        if seed[0] not in CLOSING:
            section.append(seed)
            continue
        if section:
            yield leads, section, seed[0] == "rule"
            leads, section = [], []
        leads.append(seed)
    if leads or section:
        yield leads, section, False


def _closed_by(task: ChunkingTask, draft: SectionDraft, rule: SectionDraft) -> bool:
    """Let a rule close a chunk, if it fits; the kind stays its own."""
    kind = draft.kind
    closed = draft.grow(rule, task, task.room(draft.first))
    draft.kind = kind
    return closed


def _section(task: ChunkingTask, leads: list[Seed], section: list[Seed], goes_on: bool) -> list[SectionDraft]:
    """Pack what leads to a section, and let the last of it go with the section's first chunk."""
    packed = _packed_leads(task, leads)
    if not section:
        return packed
    lead = packed.pop() if packed else None
    room = task.room(section[0][3])
    room = min(room, task.room(lead.first)) if lead else room
    return [*packed, *section_drafts(task, section, goes_on, room, lead)]


def _packed_leads(task: ChunkingTask, leads: list[Seed]) -> list[SectionDraft]:
    """Pack headings and rules as if they were paragraphs: there may be more of them than fit a chunk."""
    if not leads:
        return []
    packed = section_drafts(task, [("paragraph", *lead[1:]) for lead in leads], False, task.room(leads[0][3]))
    for lead in packed:
        lead.kind = "heading"
    return packed
