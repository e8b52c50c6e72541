"""MemoryStore: a small store in memory, the reference that every real store must agree with."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from spanwise.errors import StoreError
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


@dataclass(frozen=True)
class Row:
    """A stored chunk."""

    key: int
    document_id: str
    entry: Entry

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each term occurs."""
        return Counter(self.entry.terms)


class MemoryTenant:
    """The documents of one tenant, for reading: a snapshot, whatever is written meanwhile."""

    def __init__(self, sources: Mapping[str, StoredDocument], rows: Mapping[int, Row], model: Model | None) -> None:
        self.sources, self.rows, self._model = sources, rows, model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    @cached_property
    def _searched(self) -> list[Row]:
        return [row for row in self.rows.values() if row.entry.terms]

    @cached_property
    def _frequencies(self) -> Counter[str]:
        return Counter(term for row in self._searched for term in row.counts)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count the chunks, and in how many of them each term occurs."""
        average = sum(len(row.entry.terms) for row in self._searched) / max(len(self._searched), 1)
        found = {term: self._frequencies[term] for term in terms if self._frequencies[term]}
        return Statistics(len(self._searched), average, found)

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Return the chunks that contain some of the terms, those with rare ones first."""
        found = [one for one in self.counts(terms, self._keys(filters)) if one.counts]
        rare = self._frequencies
        worth = {one.key: sum(min(times, 3) / rare[term] for term, times in one.counts.items()) for one in found}
        return sorted(found, key=lambda one: (-worth[one.key], one.key))[:limit]

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Return the chunks whose vectors are nearest."""
        found = self.cosines(vector, self._keys(filters))
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given chunks."""
        _check_dimension(self._model, len(vector))
        vectors = {key: self.rows[key].entry.vector for key in keys if key in self.rows}
        return {key: _cosine(vector, data) for key, data in vectors.items() if data is not None}

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Count the terms in the given chunks."""
        wanted, rows = set(terms), [self.rows[key] for key in keys if key in self.rows]
        inside = ({term: row.counts[term] for term in wanted if term in row.counts} for row in rows)
        return [Candidate(row.key, len(row.entry.terms), found) for row, found in zip(rows, inside, strict=True)]

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return chunks by their keys."""
        return [self._stored_chunk(self.rows[key]) for key in keys if key in self.rows]

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Return chunks by their ids."""
        known = {row.entry.chunk_id: row for row in self.rows.values()}
        return [self._stored_chunk(known[name]) for name in chunk_ids if name in known]

    def _stored_chunk(self, row: Row) -> StoredChunk:
        entry, source = row.entry, self.sources[row.document_id]
        record = orjson.loads(entry.record)
        return StoredChunk(row.key, row.document_id, entry.position, record, entry.text_before, source)

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs of documents in which the first links to the second."""
        sources = [self.sources[name] for name in document_ids if name in self.sources]
        return {
            (one.document_id, other.document_id)
            for one in sources
            for other in sources
            if one is not other and set(one.targets) & set(other.addresses)
        }

    def documents(self) -> Iterable[DocumentState]:
        """Return the documents, ordered by id."""
        chunks = Counter(row.document_id for row in self.rows.values())
        for name, source in sorted(self.sources.items()):
            path = source.metadata.get("file_path")
            yield DocumentState(name, source.fingerprint, chunks[name], path, source.location)

    def _keys(self, filters: Filters) -> list[int]:
        """Return the searched chunks that pass the filters; raise OptionError for a date that is none."""
        since = first_moment(filters.since) if filters.since is not None else None
        until = last_moment(filters.until) if filters.until is not None else None
        passing = {name for name, one in self.sources.items() if _passes(one.metadata, filters, since, until)}
        kind = filters.chunk_type
        rows = (row for row in self._searched if kind in (None, row.entry.chunk_type))
        return [row.key for row in rows if row.document_id in passing]


class MemoryWriter:
    """The only writer of a tenant's documents."""

    def __init__(self, store: MemoryStore, tenant: str, model: Model | None) -> None:
        self._store, self._tenant, self._model = store, tenant, model

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""
        return {known.document_id: known for known in self._store.reading(self._tenant).documents()}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""
        rows = [row for row in self._store.reading(self._tenant).rows.values() if row.document_id == document_id]
        rows.sort(key=lambda row: (bool(row.entry.terms), row.entry.position))
        return [_state(row) for row in rows]

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored."""
        rows = self._store.reading(self._tenant).rows.values()
        known = {row.entry.content_hash: row.entry.vector for row in rows if row.entry.vector}
        return {name: known[name] for name in content_hashes if name in known}

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Apply changes to a copy of the tenant's documents, which takes their place when all have succeeded."""
        before = self._store.reading(self._tenant)
        sources = {name: source for name, source in before.sources.items() if name not in removed}
        rows = {key: row for key, row in before.rows.items() if row.document_id not in removed}
        for change in changes:
            sources[change.source.document_id] = change.source
            self._apply(change, rows)
        self._store.replace(self._tenant, sources, rows, self._model)

    def _apply(self, change: StoreChange, rows: dict[int, Row]) -> None:
        name = change.source.document_id
        own = {key for key, row in rows.items() if row.document_id == name}
        for key in own.intersection(change.deleted):
            del rows[key]
        for key, entry in change.moved:
            if key in own:
                old = rows[key].entry
                rows[key] = Row(key, name, replace(entry, terms=old.terms, vector=old.vector))
        for key, vector in change.revectored:
            if key in own:
                rows[key] = Row(key, name, replace(rows[key].entry, vector=vector))
        for entry in change.added:
            if entry.vector is not None:
                _check_dimension(self._model, len(entry.vector))
            key = self._store.next_key()
            rows[key] = Row(key, name, entry)


class MemoryStore:
    """A store with its tenants by name; it can be pickled, with all that it holds."""

    address = "memory"
    """How messages call it."""

    def __init__(self) -> None:
        self._tenants: dict[str, tuple[dict[str, StoredDocument], dict[int, Row]]] = {}
        self._model: Model | None = None
        self._last_key = 0
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what was pickled; a lock that a writer may hold stays."""
        vars(self).update({"_lock": Lock()} | vars(self) | state)

    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""
        rows = (row for _, rows in self._tenants.values() for row in rows.values())
        return self._model if any(row.entry.vector is not None for row in rows) else None

    def reading(self, tenant: str) -> MemoryTenant:
        """Return a reader of a tenant's documents."""
        sources, rows = self._tenants.get(tenant, ({}, {}))
        return MemoryTenant(sources, rows, self.model())

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[MemoryWriter]:
        """Return a context that holds the write lock."""
        if not self._lock.acquire(timeout=wait):
            raise StoreError(self.address, "is being written by another", hint="try again later")
        try:
            known = self.model()
            if model and known and model != known:
                raise StoreError(self.address, f"has vectors of {known.name}", hint="use its model, or another store")
            yield MemoryWriter(self, tenant, model or known)
        finally:
            self._lock.release()

    def replace(
        self, tenant: str, sources: dict[str, StoredDocument], rows: dict[int, Row], model: Model | None
    ) -> None:
        """Put a tenant's documents in the place of those before; readers keep what they have."""
        self._tenants[tenant] = sources, rows
        self._model = model or self._model
        if not sources:
            del self._tenants[tenant]
        self.committed()

    def committed(self) -> None:
        """Do nothing; a subclass may write what `__getstate__` returns to a place that lasts."""

    def next_key(self) -> int:
        """Return a key that no chunk ever had."""
        self._last_key += 1
        return self._last_key

    def tenants(self) -> list[str]:
        """Return the names of all tenants."""
        return sorted(self._tenants)

    def status(self) -> dict[str, Any]:
        """Return what the store holds."""
        model, rows = self.model(), [row for _, rows in self._tenants.values() for row in rows.values()]
        return {
            "kind": "memory", "schema": 1, "analyser": None, "model": model._asdict() if model else None,
            "tenants": len(self._tenants), "documents": sum(len(sources) for sources, _ in self._tenants.values()),
            "chunks": len(rows), "vectors": sum(row.entry.vector is not None for row in rows),
            "bytes": sum(len(row.entry.record) for row in rows),
        }  # fmt: skip

    def verify(self) -> list[str]:
        """Return the inconsistencies found: chunks without a document."""
        return [
            f"chunk {key} of {tenant!r} has no document"
            for tenant, (sources, rows) in self._tenants.items()
            for key, row in rows.items()
            if row.document_id not in sources
        ]

    def close(self) -> None:
        """Nothing is held."""


def _passes(metadata: Mapping[str, Any], filters: Filters, since: str | None, until: str | None) -> bool:
    path, updated = metadata.get("file_path") or "", moment(metadata.get("updated_at"))
    return (
        set(filters.labels) <= set(metadata.get("labels") or ())
        and filters.space in (None, metadata.get("space_key"))
        and filters.source_type in (None, metadata.get("source_type"))
        and (filters.path is None or fnmatch.fnmatchcase(path, filters.path.replace("[", "[[]")))
        and (since is None or (updated is not None and updated >= since))
        and (until is None or (updated is not None and updated <= until))
    )


def _state(row: Row) -> ChunkState:
    entry = row.entry
    has_vector = entry.vector is not None
    return ChunkState(row.key, entry.content_hash, entry.terms_hash, record_hash(entry), has_vector)


def _check_dimension(model: Model | None, length: int) -> None:
    if model and length != model.dimension:
        raise StoreError("memory", f"has vectors of {model.dimension} numbers", value=length)


def _cosine(vector: NDArray[np.float32], data: bytes) -> float:
    other = np.frombuffer(data, np.int8).astype(np.float32)
    length = float(np.linalg.norm(other) * np.linalg.norm(vector))
    return float(other @ vector) / length if length else 0.0
