"""Reads of one tenant's documents in an embedded store."""

from __future__ import annotations

import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.errors import StoreError
from spanwise.stores.encoding import json_value
from spanwise.stores.sqlite.absence import Absence
from spanwise.stores.sqlite.checksums import DamageError, checked, checksum, columns_of, rows_of
from spanwise.stores.sqlite.filtering import allowed_documents, batched, column, of_type
from spanwise.stores.sqlite.pool import Caches, Pool
from spanwise.stores.sqlite.schema import StoreConnection, store_errors
from spanwise.stores.sqlite.tenants import Tenant, tenant_of
from spanwise.stores.values import (
    Candidate,
    DocumentState,
    Filters,
    Keyed,
    Statistics,
    StoredChunk,
    StoredDocument,
    WeightedTerms,
    possible_ids,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spanwise.stores.sqlite.vector_matrix import Matrix
    from spanwise.stores.sqlite.word_index import WordIndex

_LOOKED_AT: Final = 2_000  # best chunks that are searched for those of a type
_POSTINGS: Final = 300_000  # that are read for a query, of all its terms, which takes some milliseconds
_POSTINGS_SHARE: Final = 1.0  # of the tenant's chunks, if that is more


class SqliteReader:
    """The documents of one tenant; inside a `with` block all results come from one snapshot."""

    def __init__(self, pool: Pool, caches: Caches, tenant: str) -> None:
        """Create a reader of a tenant, which may have no documents."""
        self._pool, self._caches, self._tenant = pool, caches, tenant
        self._held: StoreConnection | None = None

    def __enter__(self) -> SqliteReader:
        """Open the snapshot."""
        self._held = self._pool.acquire()
        with store_errors(self._pool.path):
            self._held.execute("BEGIN")
        return self

    def __exit__(self, *error: object) -> None:
        """Close the snapshot."""
        held, self._held = self._held, None
        if held is not None:
            self._pool.release(held)

    @contextmanager
    def _snapshot(self) -> Iterator[tuple[sqlite3.Connection, Tenant]]:
        """Yield a connection and the tenant; one with the number 0 if it has no documents."""
        connection = self._held or self._pool.acquire()
        try:
            with store_errors(self._pool.path):
                if connection is not self._held:
                    connection.execute("BEGIN")
                yield connection, tenant_of(connection, self._tenant)
        finally:
            if connection is not self._held:
                self._pool.release(connection)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count this tenant's chunks, and in how many of them each term occurs."""
        with self._snapshot() as (connection, tenant):
            found = self._terms(connection, tenant, terms)
        length = tenant.terms / tenant.chunks if tenant.chunks else 0.0
        return Statistics(tenant.chunks, length, {term: row.chunks for term, row in found.items()})

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Return the chunks that contain some of the terms, the most promising first."""
        with self._snapshot() as (connection, tenant):
            known = self._terms(connection, tenant, terms)
            selected = _affordable(known, tenant.chunks)
            if not selected or limit <= 0:
                return []
            index = self._words(connection, tenant)
            found = index.postings(connection, [term.number for term in selected])
            for term in selected:
                self._check_postings(tenant, term, index.counted(found[term.number]))
            best = partial(index.best, found, _weights(terms, known, tenant.chunks))
            keys = [key for key, _ in self._filtered(connection, tenant, filters, limit, best)]
            return _counted(connection, tenant, known, keys)

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Return the chunks whose vectors are nearest, with their cosines, the nearest first."""
        with self._snapshot() as (connection, tenant):
            if not tenant.number:
                return []
            best = partial(self._matrix(connection, tenant, vector).nearest, vector)
            return self._filtered(connection, tenant, filters, limit, best)

    def _filtered(
        self, connection: sqlite3.Connection, tenant: Tenant, filters: Filters, limit: int, best: Callable[..., Keyed]
    ) -> Keyed:
        """Return the best chunks that pass the filters; `best` takes a limit, documents and keys."""
        self._absence(connection, tenant).of_filtered(filters)
        documents = allowed_documents(connection, tenant.number, filters)
        if filters.chunk_type is None:
            return best(limit, documents)
        likely = best(max(limit, _LOOKED_AT), documents)
        found = of_type(connection, tenant.number, likely, filters.chunk_type)
        if len(found) < limit and len(likely) >= _LOOKED_AT:  # a rare type: all its chunks are compared
            statement = "SELECT id FROM chunks WHERE tenant = ? AND chunk_type = ?"
            return best(limit, documents, column(connection, statement, (tenant.number, filters.chunk_type)))
        return found[:limit]

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given chunks; those without a vector are left out."""
        with self._snapshot() as (connection, tenant):
            if not tenant.number:
                return {}
            return self._matrix(connection, tenant, vector).cosines(vector, keys)

    def _matrix(self, connection: sqlite3.Connection, tenant: Tenant, vector: NDArray[np.float32]) -> Matrix:
        row = next(rows_of(connection, "properties", "WHERE name = 'dimension'"), None)
        if row and row[1] != str(len(vector)):
            hint = "ask with the embedder that made them: `spanwise store status` names it"
            raise StoreError(self._pool.path, f"holds vectors of {row[1]} numbers", value=len(vector), hint=hint)
        return self._caches.matrices.get(tenant, partial(_matrix, connection, tenant, len(vector)))

    def _words(self, connection: sqlite3.Connection, tenant: Tenant) -> WordIndex:
        return self._caches.words.get(tenant, partial(_word_index, connection, tenant))

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Count the terms in the given chunks."""
        with self._snapshot() as (connection, tenant):
            return _counted(connection, tenant, self._terms(connection, tenant, terms), keys)

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return chunks by their keys, in the order of the keys."""
        with self._snapshot() as (connection, tenant):
            statement = f"{_CHUNKS} WHERE +chunks.tenant = ? AND chunks.id IN ({{}})"
            found = {row[0]: row for row in batched(connection, statement, (tenant.number,), keys)}
            _check_gone(connection, tenant.number, [key for key in keys if key not in found])
            return list(_stored_chunks(connection, tenant.number, [found[key] for key in keys if key in found]))

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Return chunks by their ids, for the parents of hits."""
        with self._snapshot() as (connection, tenant):
            wanted = [hash_bytes(name) for name in possible_ids(chunk_ids)]
            statement = f"{_CHUNKS} WHERE chunks.tenant = ? AND chunks.chunk_id IN ({{}})"
            rows = {row[_ID_AT]: row for row in batched(connection, statement, (tenant.number,), wanted)}
            if missing := [name for name in wanted if name not in rows]:
                self._absence(connection, tenant).of_chunks(missing)
            return list(_stored_chunks(connection, tenant.number, [rows[name] for name in wanted if name in rows]))

    def _check_postings(self, tenant: Tenant, term: _Term, counted: tuple[int, int]) -> None:
        """Raise if a term has other postings than were written."""
        if counted != (term.chunks, term.keys):
            raise DamageError(f"full text finds other chunks by term {term.number} than were written")

    def _absence(self, connection: sqlite3.Connection, tenant: Tenant) -> Absence:
        return Absence(self._pool, connection, tenant)

    def _terms(self, connection: sqlite3.Connection, tenant: Tenant, terms: Sequence[str]) -> dict[str, _Term]:
        """Return what is known of terms; those in no chunk are left out."""
        statement = f"SELECT {columns_of('terms')} FROM terms WHERE tenant = ? AND term IN ({{}})"
        wanted = list(dict.fromkeys(terms))
        rows = list(checked("terms", batched(connection, statement, (tenant.number,), wanted)))
        if len(rows) < len(wanted):
            self._absence(connection, tenant).of_terms({*wanted}.difference(row[2] for row in rows))
        return {term: _Term(number, chunks, keys) for number, _, term, chunks, keys in rows if chunks > 0}

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs (from, to) of these documents in which the first links to the second."""
        wanted = possible_ids(document_ids)
        with self._snapshot() as (connection, tenant):
            statement = f"{SOURCES} WHERE tenant = ? AND document_id IN ({{}})"
            sources = [source_of(row) for row in batched(connection, statement, (tenant.number,), wanted)]
            if len(sources) < len(wanted):
                missing = set(wanted).difference(one.document_id for one in sources)
                self._absence(connection, tenant).of_documents(missing)
        owners: dict[str, list[str]] = {}
        for source in sources:
            for address in source.addresses:
                owners.setdefault(address, []).append(source.document_id)
        return {
            (source.document_id, owner)
            for source in sources
            for target in source.targets
            for owner in owners.get(target, ())
            if owner != source.document_id
        }

    def documents(self) -> Iterable[DocumentState]:
        """Return the documents, ordered by id."""
        with self._snapshot() as (connection, tenant):
            return known_documents(connection, tenant)


# `+tenant` keeps SQLite from using an index on the tenant, which has far more rows than there are keys
_CHUNKS: Final = (
    f"SELECT {columns_of('chunks')}, {columns_of('contents')} "
    "FROM chunks LEFT JOIN contents ON contents.chunk = chunks.id"
)
_CHUNK_WIDTH: Final = columns_of("chunks").count(",") + 1
_ID_AT: Final = columns_of("chunks").split(", ").index("chunks.chunk_id")
SOURCES: Final = f"SELECT source, {columns_of('documents')} FROM documents"


def known_documents(connection: sqlite3.Connection, tenant: Tenant) -> list[DocumentState]:
    """Return a tenant's documents, ordered by id."""
    rows = rows_of(connection, "documents", "WHERE tenant = ? ORDER BY document_id", (tenant.number,))
    known = [DocumentState(*row[2:5], *row[6:8]) for row in rows]
    if len(known) != tenant.documents:
        raise DamageError(f"the list of documents has {len(known):,} of {tenant.documents:,}")
    return known


def hash_bytes(name: str) -> bytes | str:
    """Return a hexadecimal hash as bytes, half as long; any other string as it is."""
    try:
        data = bytes.fromhex(name)
    except ValueError:
        return name
    return data if data.hex() == name else name


def hash_hex(data: bytes | str) -> str:
    """Return a stored hash as hexadecimal digits."""
    return data if isinstance(data, str) else data.hex()


class _Term(NamedTuple):
    """A term of a tenant: its number, in how many chunks it is, and the sum of their keys."""

    number: int
    chunks: int
    keys: int


def _affordable(known: Mapping[str, _Term], chunks: int) -> list[_Term]:
    """Return the terms to select candidates by, the rarest first: those that would cost too much are left out."""
    terms = sorted(known.values(), key=lambda term: (term.chunks, term.number))
    together = accumulate(term.chunks for term in terms)
    most = max(_POSTINGS, int(chunks * _POSTINGS_SHARE))
    return [term for term, so_far in zip(terms, together, strict=True) if so_far <= most] or terms[:1]


def _weights(terms: Sequence[str], known: Mapping[str, _Term], chunks: int) -> dict[int, float]:
    """Return what each term counts, by its number: as the query says, else by its rarity."""
    given = terms.weights if isinstance(terms, WeightedTerms) else {}
    return {term.number: given.get(name, _weight(term.chunks, chunks)) for name, term in known.items()}


def _weight(occurrences: int, chunks: int) -> float:
    return math.log1p((chunks - occurrences + 0.5) / (occurrences + 0.5))


def _matrix(connection: sqlite3.Connection, tenant: Tenant, dimension: int, before: Matrix | None) -> Matrix:
    from spanwise.stores.sqlite.vector_matrix import Matrix, refreshed

    return Matrix(refreshed(connection, tenant, dimension, before.blocks if before else {}))


def _word_index(connection: sqlite3.Connection, tenant: Tenant, before: WordIndex | None) -> WordIndex:
    from spanwise.stores.sqlite.word_index import WordIndex

    return (before or WordIndex()).refreshed(connection, tenant)


def _counted(
    connection: sqlite3.Connection, tenant: Tenant, known: dict[str, _Term], keys: Sequence[int]
) -> list[Candidate]:
    """Count terms in chunks, by their stored numbers."""
    import numpy as np

    statement = f"SELECT {columns_of('numbered')} FROM numbered WHERE tenant = ? AND chunk IN ({{}})"
    found = checked("numbered", batched(connection, statement, (tenant.number,), keys))
    rows = {key: numbers for key, _, numbers in found}
    present = [key for key in keys if key in rows]
    if len(present) < len(keys):
        _check_wordless(connection, tenant.number, [key for key in keys if key not in rows])
    lengths = [len(rows[key]) // 4 for key in present]
    counts: list[dict[str, int]] = [{} for _ in present]
    names = {row.number: term for term, row in known.items()}
    if present and names:
        numbers = np.frombuffer(b"".join(rows[key] for key in present), dtype="<u4")
        owners = np.repeat(np.arange(len(present)), lengths)
        hits = np.isin(numbers, np.array(list(names), dtype=np.uint32))
        for owner, number in zip(owners[hits].tolist(), numbers[hits].tolist(), strict=True):
            term = names[number]
            counts[owner][term] = counts[owner].get(term, 0) + 1
    return [Candidate(*one) for one in zip(present, lengths, counts, strict=True)]


def _check_gone(connection: sqlite3.Connection, tenant: int, keys: Sequence[int]) -> None:
    """Raise if one of these chunks, which aren't there, has left its terms."""
    statement = "SELECT chunk FROM numbered WHERE tenant = ? AND chunk IN ({})"
    for (key,) in batched(connection, statement, (tenant,), keys):
        raise DamageError(f"chunk {key} is missing")


def _check_wordless(connection: sqlite3.Connection, tenant: int, keys: Sequence[int]) -> None:
    """Raise if one of these chunks should have terms."""
    statement = "SELECT id FROM chunks WHERE +tenant = ? AND length > 0 AND id IN ({})"
    for (key,) in batched(connection, statement, (tenant,), keys):
        raise DamageError(f"the terms of chunk {key} are missing")


def _stored_chunks(connection: sqlite3.Connection, tenant: int, rows: Sequence[Any]) -> Iterator[StoredChunk]:
    chunks = list(checked("chunks", (row[:_CHUNK_WIDTH] for row in rows)))
    contents = list(checked("contents", (row[_CHUNK_WIDTH:] for row in rows)))
    wanted = list(dict.fromkeys(row[2] for row in chunks))
    statement = f"{SOURCES} WHERE +tenant = ? AND id IN ({{}})"
    sources = {row[1]: source_of(row) for row in batched(connection, statement, (tenant,), wanted)}
    for (key, _, document, position, *_), (_, text_before, record) in zip(chunks, contents, strict=True):
        if document not in sources:
            raise DamageError(f"the document of chunk {key} is missing")
        source = sources[document]
        yield StoredChunk(key, source.document_id, position, unpacked(record), text_before, source)


def unpacked(data: bytes) -> Any:
    """Return the value of compressed JSON; raise if it is damaged."""
    try:
        return json_value(data)
    except (zlib.error, ValueError, TypeError) as error:
        raise DamageError("a record can't be read") from error


def source_of(row: Sequence[Any]) -> StoredDocument:
    """Return a document from a row of `documents`, its `source` first."""
    data, *columns = row
    _, _, document_id, fingerprint, _, _, _, location, *_, data_checksum = next(checked("documents", [tuple(columns)]))
    if checksum(data) != data_checksum:
        raise DamageError(f"document {document_id} is not as it was written")
    values = unpacked(data)
    addresses, targets = tuple(values["addresses"]), tuple(values["targets"])
    return StoredDocument(
        document_id, fingerprint, values["metadata"], values["language"], addresses, targets, location
    )
