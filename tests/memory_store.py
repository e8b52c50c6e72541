"""A minimal in-memory store: the reference that every real store must agree with."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from spanwise.stores.filter_rules import first_moment, last_moment, moment
from spanwise.stores.values import (
    Candidate,
    ChunkState,
    DocumentState,
    Entry,
    Filters,
    Keyed,
    Model,
    Statistics,
    StoreChange,
    StoredChunk,
    StoredDocument,
    record_hash,
)


@dataclass
class Row:
    """A stored chunk."""

    key: int
    document_id: str
    entry: Entry

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.entry.terms)

    @property
    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.entry.record)
        return found


@dataclass
class MemoryTenant:
    """The documents of one tenant, for reading and writing."""

    sources: dict[str, StoredDocument] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)

    def __enter__(self) -> MemoryTenant:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def searched(self) -> list[Row]:
        return [row for row in self.rows.values() if row.entry.terms]

    def statistics(self, terms: Sequence[str]) -> Statistics:
        rows = self.searched()
        average = sum(len(row.entry.terms) for row in rows) / max(len(rows), 1)
        return Statistics(
            len(rows), average, {term: self.frequencies[term] for term in terms if self.frequencies[term]}
        )

    @cached_property
    def frequencies(self) -> Counter[str]:
        return Counter(term for row in self.searched() for term in row.counts)

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        rows = [row for row in self.searched() if self.passes(row, filters)]
        found = [one for one in self.counts(terms, [row.key for row in rows]) if one.counts]
        rare = self.statistics(terms).frequencies
        worth = {one.key: sum(min(times, 3) / rare[term] for term, times in one.counts.items()) for one in found}
        return sorted(found, key=lambda one: (-worth[one.key], one.key))[:limit]

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        keys = [row.key for row in self.searched() if self.passes(row, filters)]
        found = self.cosines(vector, keys)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        vectors = {key: self.rows[key].entry.vector for key in keys}
        return {key: _cosine(vector, data) for key, data in vectors.items() if data is not None}

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        wanted, found = set(terms), []
        for key in keys:
            row = self.rows[key]
            inside = {term: row.counts[term] for term in wanted if term in row.counts}
            found.append(Candidate(key, len(row.entry.terms), inside))
        return found

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        return [self._stored_chunk(self.rows[key]) for key in keys if key in self.rows]

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        wanted = set(chunk_ids)
        return [self._stored_chunk(row) for row in self.rows.values() if row.entry.chunk_id in wanted]

    def _stored_chunk(self, row: Row) -> StoredChunk:
        entry, source = row.entry, self.sources[row.document_id]
        return StoredChunk(row.key, row.document_id, entry.position, row.record, entry.text_before, source)

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        sources = [self.sources[name] for name in document_ids]
        return {
            (one.document_id, other.document_id)
            for one in sources
            for other in sources
            if one is not other and set(one.targets) & set(other.addresses)
        }

    def documents(self) -> Iterable[DocumentState]:
        for name, source in sorted(self.sources.items()):
            rows = [row for row in self.rows.values() if row.document_id == name]
            yield DocumentState(name, source.fingerprint, len(rows), source.metadata.get("file_path"), source.location)

    def passes(self, row: Row, filters: Filters) -> bool:
        metadata = self.sources[row.document_id].metadata
        path, updated = metadata.get("file_path") or "", moment(metadata.get("updated_at"))
        return (
            set(filters.labels) <= set(metadata.get("labels") or ())
            and filters.space in (None, metadata.get("space_key"))
            and filters.source_type in (None, metadata.get("source_type"))
            and filters.chunk_type in (None, row.entry.chunk_type)
            and (filters.path is None or fnmatch.fnmatchcase(path, filters.path.replace("[", "[[]")))
            and (filters.since is None or (updated is not None and updated >= first_moment(filters.since)))
            and (filters.until is None or (updated is not None and updated <= last_moment(filters.until)))
        )

    def known(self) -> dict[str, DocumentState]:
        return {known.document_id: known for known in self.documents()}

    def chunks(self, document_id: str) -> list[ChunkState]:
        rows = [row for row in self.rows.values() if row.document_id == document_id]
        rows.sort(key=lambda row: (bool(row.entry.terms), row.entry.position))
        return [
            ChunkState(
                row.key,
                row.entry.content_hash,
                row.entry.terms_hash,
                record_hash(row.entry),
                row.entry.vector is not None,
            )
            for row in rows
        ]

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        known = {row.entry.content_hash: row.entry.vector for row in self.rows.values() if row.entry.vector}
        return {name: known[name] for name in content_hashes if name in known}

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        self.__dict__.pop("frequencies", None)  # computed before this change
        for name in removed:
            self.sources.pop(name, None)
            self.rows = {key: row for key, row in self.rows.items() if row.document_id != name}
        for change in changes:
            name = change.source.document_id
            self.sources[name] = change.source
            for key in change.deleted:
                del self.rows[key]
            for key, entry in change.moved:
                old = self.rows[key].entry
                self.rows[key] = Row(key, name, replace(entry, terms=old.terms, vector=old.vector))
            for key, vector in change.revectored:
                self.rows[key] = Row(key, name, replace(self.rows[key].entry, vector=vector))
            for entry in change.added:
                key = max(self.rows, default=0) + 1
                self.rows[key] = Row(key, name, entry)


@dataclass
class MemoryStore:
    """A store with its tenants by name."""

    readers: dict[str, MemoryTenant] = field(default_factory=dict)
    kept: Model | None = None

    def model(self) -> Model | None:
        return self.kept

    def reading(self, tenant: str) -> MemoryTenant:
        return self.readers.get(tenant, MemoryTenant())

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[MemoryTenant]:
        self.kept = model or self.kept
        yield self.readers.setdefault(tenant, MemoryTenant())

    def tenants(self) -> list[str]:
        return sorted(self.readers)

    def status(self) -> dict[str, Any]:
        return {"kind": "memory"}

    def verify(self) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing is held."""


def _cosine(vector: NDArray[np.float32], data: bytes) -> float:
    other = np.frombuffer(data, np.int8).astype(np.float32)
    length = float(np.linalg.norm(other) * np.linalg.norm(vector))
    return float(other @ vector) / length if length else 0.0
