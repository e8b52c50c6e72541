"""Drafts of cores for the strategy `structure`, and the sections that can be planned from the token map alone.

`strategies/structure` plans the rest: sections with a block that is too large, or that need an exact count.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from spanwise.native.seams import LARGEST, NEAR

Plan = TypeVar("Plan")
Seed = tuple[str, int, int, int, int, int]
"""The arguments of a draft: its kind, start and end, its block, and the tokens ended at its edges."""
Section = tuple[int, int, bool]
"""The first block, the block after the last, and whether the section continues after a rule."""

Prefixes = Mapping[tuple[str, ...], tuple[str, int]]
"""What a template puts before the text, and its tokens, by headings path."""

CLOSING: Final = frozenset({"heading", "rule"})
APART: Final = frozenset({"table", "code"})
DRAFTED_AS: Final = {
    kind: "paragraph" if kind == "html" else kind
    for kind in ("heading", "paragraph", "list", "table", "code", "quote", "figure", "rule", "html")
}
"""The kinds of blocks that get a draft, each with the kind of the draft."""
_MAY_BE_SHORT: Final = frozenset({"table", "list", "code", "quote"})
_OVERLAPPING: Final = frozenset({"paragraph", "mixed"})


class SectionSizes(NamedTuple):
    """The largest, target and smallest size of a core, and the tokens of a joint between two of its pieces.

    `mixes_code` lets short code join the text before it, `overlaps` lets plans ask for overlap.
    """

    room: int
    target: int
    smallest: int
    joint: int
    mixes_code: bool
    overlaps: bool


class Measure(Protocol):
    """Decides whether a core fits."""

    @property
    def joint(self) -> int:
        """The tokens of the white space between two pieces of a core."""
        ...

    def core_fits(self, start: int, end: int, guess: int, limit: int) -> bool:
        """Whether a core with an estimate of `guess` tokens fits."""
        ...


class SectionDraft:
    """A core that is being built.

    `begin` and `finish` are the tokens ended at its edges; it is `solid` when no block inside is left out.
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

    def size_with(self, other: SectionDraft, joint: int) -> int:
        """Return the tokens of both together."""
        solid = self.solid and other.solid and other.first - self.last <= 1
        return other.finish - self.begin if solid else self.size + other.size + joint

    def take(self, seed: Seed, limit: int) -> bool:
        """Add the next block, of the same kind, if both together fit by the estimate; return whether it was added."""
        _, _, end, block, _, finish = seed
        size = finish - self.begin
        if size + NEAR > limit or not self.solid or block - self.last > 1:
            return False
        self.end, self.last, self.finish, self.size = end, block, finish, size
        return True

    def grow(self, other: SectionDraft, measure: Measure, limit: int) -> bool:
        """Add the next draft if both together fit, counted exactly when it is close; return whether it was added."""
        size = self.size_with(other, measure.joint)
        if size + NEAR > limit and not measure.core_fits(self.start, other.end, size, limit):
            return False
        if self.kind != other.kind:
            self.kind = "mixed"
        self.solid = self.solid and other.solid and other.first - self.last <= 1
        self.end, self.last, self.finish, self.size = other.end, other.last, other.finish, size
        return True


def joined(
    drafts: list[SectionDraft], sizes: SectionSizes, measure: Measure, is_code: Callable[[SectionDraft], bool]
) -> list[SectionDraft]:
    """Join short neighbours that together stay below target; `is_code` finds drafts that `mixes_code` applies to."""
    smallest = sizes.smallest
    joined = drafts[:1]
    for draft in drafts[1:]:
        before = joined[-1]
        short = before.size < smallest or draft.size < smallest
        mixing = sizes.mixes_code and draft.size < smallest and is_code(draft)
        apart = before.kind in APART or (draft.kind in APART and not mixing)
        joins = short and not apart and before.size_with(draft, measure.joint) < sizes.target
        if not (joins and before.grow(draft, measure, sizes.room)):
            joined.append(draft)
    return joined


def lengthened(drafts: list[SectionDraft], sizes: SectionSizes, measure: Measure, goes_on: bool) -> list[SectionDraft]:
    """Join a draft that is still too short with its left, else its right neighbour; the minimum overrides the target.

    Only the last of a section may stay short, and it is not the last when the section `goes_on` after a rule.
    """
    kept: list[SectionDraft] = []
    for index, draft in enumerate(drafts):
        before = kept[-1] if kept else None
        if before and before.kind not in APART and draft.kind not in APART:
            last = index == len(drafts) - 1 and not goes_on
            # when the one before is still short, it could not be joined to its own left neighbour
            wanted = _too_short(before, sizes.smallest) or (_too_short(draft, sizes.smallest) and not last)
            if wanted and before.grow(draft, measure, sizes.room):
                continue
        kept.append(draft)
    return kept


def _too_short(draft: SectionDraft, smallest: int) -> bool:
    return draft.size < smallest and draft.kind not in _MAY_BE_SHORT


def plans_of(drafts: list[SectionDraft], overlaps: bool, shape: Callable[..., Plan]) -> list[Plan]:
    """Return the plans of the drafts of a section, with whether each may take overlap."""
    plans, before = list[Plan](), False
    for draft in drafts:
        prose = overlaps and draft.kind in _OVERLAPPING
        plans.append(shape(draft.start, draft.end, draft.first, draft.last, prose and before, None))
        before = prose
    return plans


def plans_at_sight(
    blocks: Sequence[Any],
    low: int,
    high: int,
    ends: array[int],
    sizes: SectionSizes,
    prefixes: Prefixes | None,
    shape: Callable[..., Plan],
) -> list[Plan | Section]:
    """Return plans for the sections of a range of blocks, which are divided by headings and rules.

    A section with a block that is too large, or that needs an exact count, is returned as a `Section` instead. With
    `prefixes`, what a section's template takes of the room is known by its headings path; else that is a `Section` too.
    """
    sizes = sizes._replace(joint=max(min(sizes.joint, LARGEST), -LARGEST))
    found: list[Plan | Section] = []
    for section, goes_on in _sections(blocks, low, high, ends):
        try:
            own = sizes._replace(room=sizes.room - _prefix_tokens(blocks[section[0].first], prefixes))
            found += plans_of(_filled(section, own, goes_on), own.overlaps, shape)
        except _TooCloseError:
            found.append((section[0].first, section[-1].first + 1, goes_on))
    return found


def _prefix_tokens(block: Any, prefixes: Prefixes | None) -> int:
    """Return what the template takes of the room of a section that begins with a block."""
    if prefixes is None:
        return 0
    _, tokens = prefixes.get(block[3], ("", -1)) if len(block) > 3 else ("", -1)
    if not 0 <= tokens <= LARGEST:
        raise _TooCloseError
    return tokens


def _sections(
    blocks: Sequence[Any], low: int, high: int, ends: array[int]
) -> Iterator[tuple[list[SectionDraft], bool]]:
    """Yield drafts of the blocks between headings and rules, and whether a rule ends them: then the section goes on."""
    section: list[SectionDraft] = []
    for index in range(max(low, 0), min(high, len(blocks))):
        name, start, end, *_ = blocks[index]
        kind = DRAFTED_AS.get(name)
        if kind in CLOSING:
            if section:
                yield section, kind == "rule"
            section = []
        elif kind:
            section.append(SectionDraft(kind, start, end, index, bisect_right(ends, start), bisect_right(ends, end)))
    if section:
        yield section, False


class _TooCloseError(Exception):
    """Only an exact count could decide."""


class _Estimate(NamedTuple):
    """A measure that raises _TooCloseError where the token map can't decide."""

    joint: int

    def core_fits(self, start: int, end: int, guess: int, limit: int) -> bool:
        if guess - NEAR > limit:
            return False
        raise _TooCloseError


def _filled(section: list[SectionDraft], sizes: SectionSizes, goes_on: bool) -> list[SectionDraft]:
    """Add paragraphs to paragraphs while they are below target, then join what is too short."""
    measure = _Estimate(sizes.joint)
    if max(draft.size for draft in section) + NEAR > sizes.room:
        raise _TooCloseError
    drafts: list[SectionDraft] = []
    for draft in section:
        before = drafts[-1] if drafts else draft
        paragraphs = bool(drafts) and before.kind == draft.kind == "paragraph"
        if not (paragraphs and before.size < sizes.target and before.grow(draft, measure, sizes.room)):
            drafts.append(draft)
    if len(drafts) > 1 and min(draft.size for draft in drafts) < sizes.smallest:
        drafts = joined(drafts, sizes, measure, lambda draft: draft.kind == "code")
        drafts = lengthened(drafts, sizes, measure, goes_on)
    return drafts
