"""Neighbouring hits joined to one text: no character twice, and each with its offset in the source."""

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
    """What is returned as a whole: a chunk that was found, or the parent of such chunks."""

    found: StoredChunk
    score: float
    explanation: Explanation
    chunk_ids: tuple[str, ...]
    is_parent: bool = False

    @property
    def location(self) -> tuple[str, bool, int]:
        """Its document, level and number: the chunks of a document are numbered apart from its parents."""
        return self.found.document_id, self.is_parent, self.found.position


class Segment(NamedTuple):
    """A range of a passage that is one range of the source."""

    at: int
    start: int
    end: int

    @property
    def until(self) -> int:
        """The end of the range in the passage."""
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
        """The cores with the text between them, and their ranges in the source."""
        parts: list[str] = []
        segments: list[Segment] = []
        reached = 0
        for index, unit in enumerate(self.units):
            record, text_before = unit.found.record, unit.found.text_before if index else ""
            if text_before and segments and len(text_before) == record["char_start"] - segments[-1].end:
                segments.append(Segment(reached, segments[-1].end, record["char_start"]))
            reached += len(text_before)
            segments += [Segment(reached + at, start, end) for at, start, end in _core(record)]
            parts += [text_before, record["normalized_text"]]
            reached += len(record["normalized_text"])
        return "".join(parts), tuple(segments)

    @property
    def text(self) -> str:
        """The text of the passage."""
        return self.laid_out[0]

    def source_offset(self, position: int) -> int:
        """Return the offset in the source of a character of the text."""
        segments = self.laid_out[1]
        segment = segments[max(bisect_right(segments, position, key=lambda one: one.at) - 1, 0)]
        return min(segment.start + max(position - segment.at, 0), segment.end)

    def source_ranges(self, start: int, end: int) -> list[Segment]:
        """Return the ranges of the source that a range of the text is made of; those that follow each other are one."""
        found: list[Segment] = []
        for one in self.laid_out[1]:
            low, high = max(one.at, start), min(one.until, end)
            if low < high:
                part = Segment(low, one.start + low - one.at, one.start + high - one.at)
                if found and found[-1].until == part.at and found[-1].end == part.start:
                    part = Segment(found[-1].at, found[-1].start, part.end)
                    found.pop()
                found.append(part)
        return found

    def line_at(self, position: int) -> int | None:
        """Return the line of the file that a character of the text stands in; None if that isn't known."""
        offset = self.source_offset(position)
        record = self.record_at(offset)
        if record["char_start"] > offset or not (line := record.get("line_start")):
            return None
        before: str = record["normalized_text"][: offset - record["char_start"]]
        return int(line) + before.count("\n")

    def record_at(self, offset: int) -> Mapping[str, Any]:
        """Return the record of the chunk that a character of the source stands in, or of the last before it."""
        records = [unit.found.record for unit in self.units]
        return next((one for one in reversed(records) if one["char_start"] <= offset), records[0])

    def is_verbatim(self, start: int, end: int) -> bool:
        """Whether a range of the text is the source's, character by character."""
        inside = [one for one in self.laid_out[1] if one.at < end and one.until > start]
        return (
            bool(inside)
            and inside[0].at <= start
            and inside[-1].until >= end
            and all(one.until == other.at and one.end == other.start for one, other in pairwise(inside))
        )

    @property
    def before(self) -> str:
        """The text before the core in the first unit's full text: overlap, a repeated head."""
        record = self.units[0].found.record
        return str(record["full_text"][: _core_range(record)[0]])

    @property
    def after(self) -> str:
        """The text after the core in the last unit's full text."""
        record = self.units[-1].found.record
        return str(record["full_text"][_core_range(record)[1] :])


def _core(record: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Return the ranges of the core, each with its offset in `normalized_text`."""
    found: list[tuple[int, int, int]] = []
    reached = 0
    for piece in record["pieces"]:
        if piece["role"] == "core":
            reached += len(piece["joiner"]) if found else 0
            found.append((reached, piece["start"], piece["end"]))
            reached += piece["end"] - piece["start"]
    return found


def _core_range(record: Mapping[str, Any]) -> tuple[int, int]:
    """Return the range of the core in `full_text`."""
    reached, start, end = 0, 0, len(record["full_text"])
    seen = False
    for index, piece in enumerate(record["pieces"]):
        reached += len(piece["joiner"]) if index else 0
        length = piece["end"] - piece["start"]
        if piece["role"] == "core":
            start, seen = (start if seen else reached), True
            end = reached + length
        reached += length
    return start, end


def as_units(chunks: Iterable[Ranked], parents: Mapping[str, StoredChunk]) -> list[PassageUnit]:
    """Return each chunk, or its parent instead; a parent occurs once, in the position of the best of its chunks."""
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
    """Passages in progress: a unit next to one of them joins it, any other starts a new one."""

    def __init__(self) -> None:
        self._by_first: dict[tuple[str, bool, int], Passage] = {}
        self._by_last: dict[tuple[str, bool, int], Passage] = {}

    def neighbours(self, unit: PassageUnit) -> list[Passage]:
        """Return the passages that end right before a unit or start right after it."""
        document, is_parent, position = unit.location
        sides = (
            self._by_last.get((document, is_parent, position - 1)),
            self._by_first.get((document, is_parent, position + 1)),
        )
        return [side for side in sides if side]

    def add(self, passage: Passage, merged: Iterable[Passage] = ()) -> None:
        """Add a passage in place of those that were merged into it."""
        for one in merged:
            del self._by_first[one.units[0].location], self._by_last[one.units[-1].location]
        self._by_first[passage.units[0].location] = self._by_last[passage.units[-1].location] = passage

    def passages(self) -> list[Passage]:
        """Return the passages, the best first."""
        return sorted(self._by_first.values(), key=_order)

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._by_first)


def joined(unit: PassageUnit, neighbours: Iterable[Passage]) -> Passage:
    """Return the passage of a unit and its neighbours."""
    units = [unit, *(other for passage in neighbours for other in passage.units)]
    return Passage(tuple(sorted(units, key=lambda one: one.found.position)))


def _order(passage: Passage) -> tuple[float, str, int]:
    found = passage.units[0].found
    return -passage.best.score, found.document_id, found.position
