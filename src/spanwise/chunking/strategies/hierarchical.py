"""`hierarchical`: small children to search with, each in a large parent to read; both are chunks.

Parents follow the sections and children follow the structure inside a parent. Headings are part of the text of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.chunking.settle import settle
from spanwise.chunking.strategies.hierarchical_parents import ParentsStrategy
from spanwise.chunking.strategies.structure import StructureStrategy, planned, section_drafts, seeds_of
from spanwise.chunking.strategy import ChunkPlan
from spanwise.chunking.task import ChunkingTask
from spanwise.native.sections import CLOSING, SectionDraft, Seed
from spanwise.options import EMBED_HELP, EMBEDS, TEMPLATE_HELP, TEMPLATES, Options, option


@dataclass(frozen=True, kw_only=True, slots=True)
class HierarchicalOptions(Options):
    """The options of `hierarchical`."""

    max_tokens: int = option(400, "hard limit of a child, everything counted", low=16)
    target_tokens: int = option(300, "size at which a child is full", low=1)
    min_tokens: int = option(60, "size below which a child is joined with a neighbour", low=0)
    overlap_tokens: int = option(0, "at most so much of the child before is repeated", low=0)
    mix_code: bool = option(False, "let code below `min_tokens` join the text before it")
    template: str = option("path", TEMPLATE_HELP, choices=TEMPLATES)
    embed: str = option("plain", EMBED_HELP, choices=EMBEDS)
    parent_tokens: int = option(2000, "hard limit of a parent, everything counted", low=16)


class HierarchicalStrategy(StructureStrategy):
    """The strategy `hierarchical`: repeats and overlaps as `structure` does."""

    name = "hierarchical"
    options = HierarchicalOptions
    leaves_out = frozenset()
    has_parents = True

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Settle the parents first, because nothing of a child may lie outside its own; then plan inside each."""
        outer, parents = task.within(task.options.parent_tokens), ParentsStrategy()
        settled = settle(outer, parents, parents.plan(outer).cores)
        return ChunkPlan([core for parent in settled for core in _children(task, parent)], settled)


def _children(task: ChunkingTask, parent: SettledChunk) -> Iterator[PlannedCore]:
    """Plan each section of a parent separately, its headings with what follows them."""
    blocks = task.document.blocks[parent.first : parent.last + 1]
    kinds, starts, ends = zip(*[block[:3] for block in blocks], strict=True)
    starts = (max(starts[0], parent.start), *starts[1:])
    ends = (*ends[:-1], min(ends[-1], parent.end))
    held: list[SectionDraft] = []  # the section before: a rule at the end of the parent goes with it
    for openings, section, goes_on in _sections(seeds_of(task, parent.first, kinds, starts, ends)):
        if not section and held and all(kind == "rule" for kind, *_ in openings):
            openings = [seed for seed in openings if not _closed_by(task, held[-1], SectionDraft(*seed))]
        yield from planned(task, held)
        held = _section(task, openings, section, goes_on)
    yield from planned(task, held)


def _sections(seeds: list[Seed]) -> Iterator[tuple[list[Seed], list[Seed], bool]]:
    """Yield each section in two: headings and rules that open it, and its blocks; and whether it goes on."""
    openings, section = list[Seed](), list[Seed]()
    for seed in seeds:
        if seed[0] not in CLOSING:
            section.append(seed)
            continue
        if section:
            yield openings, section, seed[0] == "rule"
            openings, section = [], []
        openings.append(seed)
    if openings or section:
        yield openings, section, False


def _closed_by(task: ChunkingTask, draft: SectionDraft, rule: SectionDraft) -> bool:
    """Add a rule to the end of a chunk, whose kind stays its own; return whether it fits."""
    kind = draft.kind
    closed = draft.grow(rule, task, task.room(draft.first))
    draft.kind = kind
    return closed


def _section(task: ChunkingTask, openings: list[Seed], section: list[Seed], goes_on: bool) -> list[SectionDraft]:
    """Pack the headings and rules before a section, the last of them with the section's first chunk."""
    packed = _packed_openings(task, openings)
    if not section:
        return packed
    opening = packed.pop() if packed else None
    room = task.room(section[0][3])
    room = min(room, task.room(opening.first)) if opening else room
    return [*packed, *section_drafts(task, section, goes_on, room, opening)]


def _packed_openings(task: ChunkingTask, openings: list[Seed]) -> list[SectionDraft]:
    """Pack headings and rules as if they were paragraphs: there may be more of them than fit a chunk."""
    if not openings:
        return []
    packed = section_drafts(
        task, [("paragraph", *opening[1:]) for opening in openings], False, task.room(openings[0][3])
    )
    for opening in packed:
        opening.kind = "heading"
    return packed
