"""Neighbouring hits read as one text: no character twice, and every character knows its place in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from spanwise.retrieval.hits import Explanation
from spanwise.retrieval.ranking import Ranked
from spanwise.stores.values import StoredChunk


class PassageUnit(NamedTuple):
    """What is handed out as a whole: a chunk that was found, or the parent of such chunks."""

    found: StoredChunk
    score: float
    explanation: Explanation
    chunk_ids: tuple[str, ...]
    is_parent: bool = False

    @property
    def place(self) -> tuple[str, bool, int]:
        """Where it stands: a document's chunks are one row, its parents another."""
        return self.found.document_id, self.is_parent, self.found.position


class Segment(NamedTuple):
    """A stretch of a passage that is one range of the source."""

    at: int
    start: int
    end: int

    @property
    def until(self) -> int:
        """Where it ends in the passage."""
        return self.at + self.end - self.start


@dataclass(frozen=True)
class Passage:
    """Units that follow each other in one document."""

    units: tuple[PassageUnit, ...]

    @cached_property
    def best(self) -> PassageUnit:
        """The unit that the passage was found for."""
        return max(self.units, key=lambda unit: unit.score)

    @cached_property
    def laid_out(self) -> tuple[str, tuple[Segment, ...]]:
        """The cores with what stands between them, and which ranges of the source these are."""
        parts: list[str] = []
        segments: list[Segment] = []
        reached = 0
        for place, unit in enumerate(self.units):
            record, lead = unit.found.record, unit.found.lead if place else ""
            if lead and segments and len(lead) == record["char_start"] - segments[-1].end:
                segments.append(Segment(reached, segments[-1].end, record["char_start"]))
            reached += len(lead)
            segments += [Segment(reached + at, start, end) for at, start, end in _core(record)]
            parts += [lead, record["normalized_text"]]
            reached += len(record["normalized_text"])
        return "".join(parts), tuple(segments)

    @property
    def text(self) -> str:
        """What people are shown."""
        return self.laid_out[0]

    def place(self, position: int) -> int:
        """Give the place in the source of a character of the text."""
        segments = self.laid_out[1]
        segment = segments[max(bisect_right(segments, position, key=lambda one: one.at) - 1, 0)]
        return min(segment.start + max(position - segment.at, 0), segment.end)

    def is_verbatim(self, start: int, end: int) -> bool:
        """Whether a stretch of the text is the source's, character by character."""
        inside = [one for one in self.laid_out[1] if one.at < end and one.until > start]
        return (
            bool(inside)
            and inside[0].at <= start
            and inside[-1].until >= end
            and all(one.until == other.at and one.end == other.start for one, other in pairwise(inside))
        )

    @property
    def before(self) -> str:
        """What stands before the core in the first unit's full text: overlap, a repeated head."""
        record = self.units[0].found.record
        return str(record["full_text"][: _edges(record)[0]])

    @property
    def after(self) -> str:
        """What stands after the core in the last unit's full text."""
        record = self.units[-1].found.record
        return str(record["full_text"][_edges(record)[1] :])


def _core(record: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Give the core's ranges, each with the place in `normalized_text` where it begins."""
    found: list[tuple[int, int, int]] = []
    reached = 0
    for piece in record["pieces"]:
        if piece["role"] == "core":
            reached += len(piece["joiner"]) if found else 0
            found.append((reached, piece["start"], piece["end"]))
            reached += piece["end"] - piece["start"]
    return found


def _edges(record: Mapping[str, Any]) -> tuple[int, int]:
    """Give where the core begins and ends in `full_text`."""
    reached, begins, ends = 0, 0, len(record["full_text"])
    seen = False
    for place, piece in enumerate(record["pieces"]):
        reached += len(piece["joiner"]) if place else 0
        length = piece["end"] - piece["start"]
        if piece["role"] == "core":
            begins, seen = (begins if seen else reached), True
            ends = reached + length
        reached += length
    return begins, ends


def as_units(chunks: Iterable[Ranked], parents: Mapping[str, StoredChunk]) -> list[PassageUnit]:
    """Give each chunk, or in its place its parent; a parent stands once, where the best of its chunks stood."""
    units: dict[str, PassageUnit] = {}
    for found, score, explanation in chunks:
        chunk_id, parent_id = found.record["chunk_id"], found.record.get("parent_id")
        parent = parents.get(parent_id) if parent_id else None
        if parent is None:
            units[chunk_id] = PassageUnit(found, score, explanation, (chunk_id,))
        elif parent_id in units:
            known = units[parent_id]
            units[parent_id] = known._replace(chunk_ids=(*known.chunk_ids, chunk_id))
        elif parent_id:
            units[parent_id] = PassageUnit(parent, score, explanation, (chunk_id,), is_parent=True)
    return list(units.values())


class Gathering:
    """Passages that grow: a unit next to one that is there joins it, any other begins a passage of its own."""

    def __init__(self) -> None:
        """Begin with none."""
        self._by_first: dict[tuple[str, bool, int], Passage] = {}
        self._by_last: dict[tuple[str, bool, int], Passage] = {}

    def around(self, unit: PassageUnit) -> list[Passage]:
        """Give the passages that end right before a unit or begin right after it."""
        document, is_parent, position = unit.place
        sides = (
            self._by_last.get((document, is_parent, position - 1)),
            self._by_first.get((document, is_parent, position + 1)),
        )
        return [side for side in sides if side]

    def add(self, passage: Passage, taken_in: Iterable[Passage] = ()) -> None:
        """Take a passage in, in place of those that it joins."""
        for one in taken_in:
            del self._by_first[one.units[0].place], self._by_last[one.units[-1].place]
        self._by_first[passage.units[0].place] = self._by_last[passage.units[-1].place] = passage

    def passages(self) -> list[Passage]:
        """Give the passages, the best first."""
        return sorted(self._by_first.values(), key=_order)

    def __len__(self) -> int:
        """Count the passages."""
        return len(self._by_first)


def joined(unit: PassageUnit, neighbours: Iterable[Passage]) -> Passage:
    """Give the passage that a unit makes with its neighbours."""
    units = [unit, *(other for passage in neighbours for other in passage.units)]
    return Passage(tuple(sorted(units, key=lambda one: one.found.position)))


def _order(passage: Passage) -> tuple[float, str, int]:
    found = passage.units[0].found
    return -passage.best.score, found.document_id, found.position
