"""Piece, and the states of a chunk on its way: a core that a strategy plans, then a settled list of pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from spanwise.errors import DocumentError

_ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,9}[.)])\s")
ROLES: Final = frozenset({"core", "overlap_prev", "overlap_next", "context"})


class _PieceFields(NamedTuple):
    start: int
    end: int
    role: str
    joiner: str


class Piece(_PieceFields):
    """One range of the document's text inside a chunk; `joiner` is the white space put before it."""

    __slots__ = ()

    def __new__(cls, start: int, end: int, role: str = "core", joiner: str = "") -> Piece:
        """Raise DocumentError for an empty range, an unknown role, or a joiner that isn't white space."""
        if not 0 <= start < end:
            raise DocumentError("piece", "must have 0 <= start < end", value=(start, end))
        if role not in ROLES:
            raise DocumentError("role", f"must be one of {', '.join(sorted(ROLES))}", value=role)
        if joiner and not joiner.isspace():
            raise DocumentError("joiner", "must be white space", value=joiner)
        return tuple.__new__(cls, (start, end, role, joiner))


class OverlapChoices(NamedTuple):
    """What only some cores have: gaps that are replaced by one space, overlap that is already found, or a figure.

    `before` are positions where overlap from the core before may start, `after` where overlap from the core after may
    end; the best come first, and the first that fit are taken. `joiner` is the white space before the overlap that
    comes after, where it isn't the text's own. A gap whose end is among `tight` is replaced by nothing. A core that is
    a `figure` is never cut.
    """

    gaps: tuple[tuple[int, int], ...] = ()
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    joiner: str | None = None
    tight: frozenset[int] = frozenset()
    figure: bool = False


def choices_of(starts: Sequence[int], ends: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the choices of overlap before and after: both of one rank, then one side alone, the best first.

    Where one side has fewer positions, its last goes with the further ones of the other.
    """
    one_side = [*[((start,), ()) for start in starts], *[((), (end,)) for end in ends]]
    if not starts or not ends:
        return one_side
    ranks = range(max(len(starts), len(ends)))
    return [((starts[min(rank, len(starts) - 1)],), (ends[min(rank, len(ends) - 1)],)) for rank in ranks] + one_side


class RepeatedContext(NamedTuple):
    """Context of one chunk: ranges before and after its core; `dropped` if there was no room for all of it."""

    before: tuple[tuple[int, int], ...] = ()
    after: tuple[tuple[int, int], ...] = ()
    dropped: bool = False
    joiner: str = "\n"  # between context and core
    joiners: tuple[str, ...] = ()  # before each of `before`, where these aren't line ends; the first joins nothing


NO_CONTEXT: Final = RepeatedContext()


class PlannedCore(NamedTuple):
    """A core as a strategy plans it: its range, its first and last block, and whether overlap may precede it."""

    start: int
    end: int
    first: int
    last: int
    overlap: bool = False
    around: OverlapChoices | None = None


class SettledChunk(NamedTuple):
    """A finished chunk without its document: its core, the exact count, and what is around the core.

    `pieces` is empty where the chunk is its core and nothing else.
    """

    start: int
    end: int
    first: int
    last: int
    token_count: int
    pieces: tuple[Piece, ...] = ()
    prefix: str = ""
    oversize: bool = False
    context_dropped: bool = False

    @property
    def all_pieces(self) -> tuple[Piece, ...]:
        """The pieces in order."""
        return self.pieces or (Piece(self.start, self.end),)


def alone(start: int, end: int, first: int, last: int, token_count: int) -> SettledChunk:
    """Return a chunk that is its core and nothing else; a call of `SettledChunk` would take twice the time."""
    return tuple.__new__(SettledChunk, (start, end, first, last, token_count, (), "", False, False))


def nested(
    parents: Sequence[SettledChunk], children: Sequence[SettledChunk]
) -> tuple[Sequence[SettledChunk], list[int | None]]:
    """Return parents and children in one sequence, each parent before its own, and for each the index of its parent.

    Without parents all chunks are on one level, and no index is needed.
    """
    if not parents:
        return children, []
    chunks, parent_indices, reached = list[SettledChunk](), list[int | None](), 0
    for parent in parents:
        index = len(chunks)
        chunks.append(parent)
        parent_indices.append(None)
        while reached < len(children) and children[reached].start < parent.end:
            chunks.append(children[reached])
            parent_indices.append(index)
            reached += 1
    return chunks, parent_indices


def rendered(text: str, pieces: Sequence[Piece]) -> str:
    """Return the text of pieces with their joiners; the first one's joiner has nothing to join."""
    if len(pieces) == 1:
        return text[pieces[0].start : pieces[0].end]
    texts = [part for piece in pieces for part in (piece.joiner, text[piece.start : piece.end])]
    return "".join(texts[1:])


def joiner_between(text: str, end: int, start: int) -> str:
    """Return the white space for what lies between two ranges: empty line, line end, space, nothing.

    An item that is nested in another keeps its indentation.
    """
    gap = text[end:start]
    if not gap or "\n" not in gap:
        return "\n\n" if gap.strip() else " " if gap else ""
    joiner, indentation = "\n\n" if gap.strip() or gap.count("\n") > 1 else "\n", gap[gap.rfind("\n") + 1 :]
    return joiner + indentation if indentation.isspace() and _ITEM.match(text, start) else joiner


def indented_item(text: str, start: int, low: int) -> int:
    """Return where the line of a nested item begins, if the item starts here and its line not before `low`."""
    line = text.rfind("\n", low, start) + 1
    return line if line and text[line:start].isspace() and _ITEM.match(text, start) else start


def core_pieces(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return the pieces that belong to this chunk and to no other."""
    return pieces if len(pieces) == 1 else tuple(piece for piece in pieces if piece.role == "core")
