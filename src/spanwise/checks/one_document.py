"""The laws on the chunks of one document in their order: order, ids and neighbours, in one pass with little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from spanwise.checks.findings import Fault, Faults, Record, shortened
from spanwise.checks.graphemes import torn_character
from spanwise.records.ids import content_digest, owner_of, sha256
from spanwise.records.record import is_parent, prefix_of
from spanwise.text.tokens import FullTokenizer


class PreviousRecord(NamedTuple):
    """The fields of the previous record that are still needed."""

    chunk_id: str
    next_chunk_id: str | None
    start: int
    end: int
    tail: str


class DocumentOrder:
    """A check of the records of one document in order; it remembers the previous record of each level."""

    def __init__(self, tokenizer: FullTokenizer, *, distant: bool = False) -> None:
        """Start before the first record; if `distant`, overlap may span more than the core before."""
        self._tokenizer, self._distant = tokenizer, distant
        self._first: int | None = None  # where the first core starts
        self._before: dict[bool, PreviousRecord] = {}  # by whether it is a parent
        self._index = -1
        self._name_hashes: dict[str, str] = {}
        self._equal_texts: dict[str, int] = {}
        self._ids: set[str] = set()

    def faults(self, record: Record, limit: int | None) -> Faults:
        """Check a record against the previous one of its level."""
        level = is_parent(record)
        before = self._before.get(level)
        yield from self._order(record, before, limit)
        yield from self._neighbours(record, before)
        yield from self._identity(record)
        self._index = record["chunk_index"]
        self._before[level] = PreviousRecord(
            record["chunk_id"],
            record["next_chunk_id"],
            record["char_start"],
            record["char_end"],
            record["normalized_text"][-64:],
        )

    def last_faults(self) -> Iterator[tuple[str, Fault]]:
        """Yield the id of each level's last record, with the fault, if it names a next one."""
        for last in self._before.values():
            if last.next_chunk_id is not None:
                reason = "the last chunk of the document names a next one: chunks are missing at the end"
                yield last.chunk_id, ("neighbours", reason)

    def _order(self, record: Record, before: PreviousRecord | None, limit: int | None) -> Faults:
        start = record["char_start"]
        self._first = start if self._first is None else self._first
        earliest = self._first if self._distant or not before else before.start
        if before and start < before.end:
            yield "twice", f"the core starts at {start}, before the end of the one before it ({before.end})"
        if before and start == before.end and not record["normalized_text"][:1].isspace():
            joined = before.tail + record["normalized_text"][:64]
            prefix = prefix_of(record)
            if split := torn_character(joined, len(before.tail), self._tokenizer, limit, prefix):
                yield "character", f"the cut at {start} goes through a character: {shortened(split)}"
        for piece in record["pieces"]:
            if piece["role"] == "overlap_prev" and (not before or not earliest <= piece["start"] < before.end):
                yield "provenance", f"overlap [{piece['start']}:{piece['end']}] is not from the core before"
            elif (piece["role"] == "overlap_prev" and piece["end"] > start) or (
                piece["role"] == "overlap_next" and piece["start"] < record["char_end"]
            ):
                yield "twice", f"overlap [{piece['start']}:{piece['end']}] reaches into the chunk's own core"

    def _neighbours(self, record: Record, before: PreviousRecord | None) -> Faults:
        index = record["chunk_index"]
        if index != self._index + 1:
            reason = f"chunk_index is {index}, not {self._index + 1}: a chunk is missing or out of order"
            yield "neighbours", reason
        if record["prev_chunk_id"] != (before.chunk_id if before else None):
            yield "neighbours", "prev_chunk_id is not the chunk before"
        if before and before.next_chunk_id != record["chunk_id"]:
            yield "neighbours", "next_chunk_id of the chunk before is not this chunk"

    def _identity(self, record: Record) -> Faults:
        if record["chunk_id"] in self._ids:
            yield "identity", "chunk_id stands twice in this document"
        self._ids.add(record["chunk_id"])
        path, text = record["headings_path"], record["normalized_text"]
        for name in path:
            self._name_hashes.setdefault(name, sha256(name))
        owner = owner_of(record["document_id"], parent=is_parent(record))
        digest: Any = content_digest(owner, [self._name_hashes[name] for name in path])
        key = digest.hexdigest() + sha256(text)
        ordinal = self._equal_texts[key] = self._equal_texts.get(key, -1) + 1
        digest.update(f"{ordinal}\n{text}".encode())
        if record["content_id"] != digest.hexdigest():
            yield "identity", "content_id is not the hash of document, headings, text and ordinal"
