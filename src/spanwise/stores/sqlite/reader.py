"""Reads of one tenant's documents in an embedded store."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import orjson

from spanwise.errors import StoreError
from spanwise.stores.filter_rules import first_moment, last_moment, selective_terms
from spanwise.stores.sqlite.pool import Matrices, Pool
from spanwise.stores.sqlite.schema import store_errors
from spanwise.stores.values import Candidate, DocumentState, Filters, Keyed, Statistics, StoredChunk, StoredDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spanwise.stores.sqlite.vector_matrix import Matrix

_AT_ONCE: Final = 500  # values in one statement; SQLite allows at least a thousand
_LOOKED_AT: Final = 2_000  # nearest chunks that are searched for those of a type


class SqliteReader:
    """The documents of one tenant; inside a `with` block all results come from one snapshot."""

    def __init__(self, pool: Pool, matrices: Matrices, tenant: str) -> None:
        """Create a reader of a tenant, which may have no documents."""
        self._pool, self._matrices, self._tenant = pool, matrices, tenant
        self._held: sqlite3.Connection | None = None

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
    def _snapshot(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Yield a connection and the tenant's number; 0, which no tenant has, if it has no documents."""
        connection = self._held or self._pool.acquire()
        try:
            with store_errors(self._pool.path):
                if connection is not self._held:
                    connection.execute("BEGIN")
                row = connection.execute("SELECT id FROM tenants WHERE name = ?", (self._tenant,)).fetchone()
                yield connection, row[0] if row else 0
        except zlib.error as error:
            rule, hint = "is damaged", "look closer with `spanwise store verify`"
            raise StoreError(self._pool.path, rule, hint=hint) from error
        finally:
            if connection is not self._held:
                self._pool.release(connection)

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count this tenant's chunks, and in how many of them each term occurs."""
        with self._snapshot() as (connection, tenant):
            chunks, length = _totals(connection, tenant)
            found = _term_numbers(connection, tenant, terms)
        return Statistics(chunks, length / chunks if chunks else 0.0, {term: found[term][1] for term in found})

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Return the chunks that contain some of the terms, the most promising first."""
        with self._snapshot() as (connection, tenant):
            known = _term_numbers(connection, tenant, terms)
            chunks, _ = _totals(connection, tenant)
            selected = selective_terms({term: count for term, (_, count) in known.items()}, chunks)
            if not selected or limit <= 0:
                return []
            query = " OR ".join(f'"{known[term][0]}"' for term in selected)
            source, values = _filtered(tenant, filters)
            statement = (
                f"SELECT words.rowid FROM words {source} AND words MATCH ? ORDER BY words.rank, words.rowid LIMIT ?"
                if source
                else "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"
            )
            keys = [key for (key,) in connection.execute(statement, (*values, query, limit))]
            return _counted(connection, tenant, known, keys)

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Return the chunks whose vectors are nearest, with their cosines, the nearest first."""
        with self._snapshot() as (connection, tenant):
            if not tenant:
                return []
            matrix = self._matrix(connection, tenant, vector)
            documents = _allowed(connection, tenant, filters)
            if filters.chunk_type is None:
                return matrix.nearest(vector, limit, documents)
            near = matrix.nearest(vector, max(limit, _LOOKED_AT), documents)
            found = _of_type(connection, tenant, near, filters.chunk_type)
            if len(found) < limit and len(near) >= _LOOKED_AT:  # a rare type: all its chunks are compared
                statement = "SELECT id FROM chunks WHERE tenant = ? AND chunk_type = ?"
                keys = _column(connection, statement, (tenant, filters.chunk_type))
                return matrix.nearest(vector, limit, documents, keys)
            return found[:limit]

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given chunks; those without a vector are left out."""
        with self._snapshot() as (connection, tenant):
            if not tenant:
                return {}
            return self._matrix(connection, tenant, vector).cosines(vector, keys)

    def _matrix(self, connection: sqlite3.Connection, tenant: int, vector: NDArray[np.float32]) -> Matrix:
        row = connection.execute("SELECT value FROM properties WHERE name = 'dimension'").fetchone()
        if row and int(row[0]) != len(vector):
            hint = "ask with the embedder that made them: `spanwise store status` names it"
            raise StoreError(self._pool.path, f"holds vectors of {row[0]} numbers", value=len(vector), hint=hint)
        return self._matrices.get(connection, tenant, len(vector))

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Count the terms in the given chunks."""
        with self._snapshot() as (connection, tenant):
            return _counted(connection, tenant, _term_numbers(connection, tenant, terms), keys)

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return chunks by their keys, in the order of the keys."""
        with self._snapshot() as (connection, tenant):
            statement = f"{_CHUNKS} WHERE +chunks.tenant = ? AND chunks.id IN ({{}})"
            found = {row[0]: row for row in _batched(connection, statement, (tenant,), keys)}
            return list(_stored_chunks(connection, [found[key] for key in keys if key in found]))

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Return chunks by their ids, for the parents of hits."""
        with self._snapshot() as (connection, tenant):
            wanted = [hash_bytes(name) for name in dict.fromkeys(chunk_ids)]
            statement = f"{_CHUNKS} WHERE chunks.tenant = ? AND chunks.chunk_id IN ({{}})"
            rows = {row[1]: row for row in _batched(connection, statement, (tenant,), wanted)}
            return list(_stored_chunks(connection, [rows[name] for name in wanted if name in rows]))

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs (from, to) of these documents in which the first links to the second."""
        with self._snapshot() as (connection, tenant):
            statement = f"{_SOURCES} WHERE tenant = ? AND document_id IN ({{}})"
            rows = _batched(connection, statement, (tenant,), list(dict.fromkeys(document_ids)))
            sources = [_source(row) for row in rows]
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
    "SELECT chunks.id, chunks.chunk_id, chunks.position, chunks.document, contents.lead, contents.record "
    "FROM chunks JOIN contents ON contents.chunk = chunks.id"
)
_SOURCES: Final = "SELECT id, document_id, fingerprint, place, source FROM documents"


def known_documents(connection: sqlite3.Connection, tenant: int) -> list[DocumentState]:
    """Return a tenant's documents, ordered by id."""
    statement = (
        "SELECT document_id, fingerprint, chunks, file_path, place FROM documents WHERE tenant = ? ORDER BY document_id"
    )
    return [DocumentState(*row) for row in connection.execute(statement, (tenant,))]


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


def _batched(
    connection: sqlite3.Connection, statement: str, before: tuple[Any, ...], values: Sequence[Any]
) -> Iterator[Any]:
    """Run a statement for some values, not too many at once, and yield the rows."""
    for at in range(0, len(values), _AT_ONCE):
        part = values[at : at + _AT_ONCE]
        yield from connection.execute(statement.format(",".join("?" * len(part))), (*before, *part))


def _totals(connection: sqlite3.Connection, tenant: int) -> tuple[int, int]:
    row = connection.execute("SELECT chunks, terms FROM tenants WHERE id = ?", (tenant,)).fetchone()
    return row or (0, 0)


def _term_numbers(connection: sqlite3.Connection, tenant: int, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the numbers of terms, each with its count of chunks; unknown ones are left out."""
    statement = "SELECT term, id, chunks FROM terms WHERE tenant = ? AND chunks > 0 AND term IN ({})"
    rows = _batched(connection, statement, (tenant,), list(dict.fromkeys(terms)))
    return {term: (number, chunks) for term, number, chunks in rows}


def _counted(
    connection: sqlite3.Connection, tenant: int, known: dict[str, tuple[int, int]], keys: Sequence[int]
) -> list[Candidate]:
    """Count terms in chunks, by their stored numbers."""
    import numpy as np

    statement = "SELECT chunk, numbers FROM numbered WHERE tenant = ? AND chunk IN ({})"
    rows = dict(_batched(connection, statement, (tenant,), keys))
    present = [key for key in keys if key in rows]
    lengths = [len(rows[key]) // 4 for key in present]
    counts: list[dict[str, int]] = [{} for _ in present]
    names = {number: term for term, (number, _) in known.items()}
    if present and names:
        numbers = np.frombuffer(b"".join(rows[key] for key in present), dtype="<u4")
        owners = np.repeat(np.arange(len(present)), lengths)
        hits = np.isin(numbers, np.array(list(names), dtype=np.uint32))
        for owner, number in zip(owners[hits].tolist(), numbers[hits].tolist(), strict=True):
            term = names[number]
            counts[owner][term] = counts[owner].get(term, 0) + 1
    return [Candidate(*one) for one in zip(present, lengths, counts, strict=True)]


def _stored_chunks(connection: sqlite3.Connection, rows: Sequence[Any]) -> Iterator[StoredChunk]:
    wanted = list(dict.fromkeys(row[3] for row in rows))
    sources = {row[0]: _source(row) for row in _batched(connection, f"{_SOURCES} WHERE id IN ({{}})", (), wanted)}
    for key, _, position, document, text_before, record in rows:
        source, values = sources[document], orjson.loads(zlib.decompress(record))
        yield StoredChunk(key, source.document_id, position, values, text_before, source)


def _source(row: Any) -> StoredDocument:
    _, document_id, fingerprint, location, data = row
    values = orjson.loads(zlib.decompress(data))
    addresses, targets = tuple(values["addresses"]), tuple(values["targets"])
    return StoredDocument(
        document_id, fingerprint, values["metadata"], values["language"], addresses, targets, location
    )


def _conditions(tenant: int, filters: Filters) -> tuple[list[str], list[Any]]:
    """Return the filters on documents as SQL conditions, and their values."""
    pairs: list[tuple[str, Any]] = [
        ("space_key = ?", filters.space),
        ("file_path GLOB ?", None if filters.path is None else filters.path.replace("[", "[[]")),
        ("updated_at >= ?", None if filters.since is None else first_moment(filters.since)),
        ("updated_at <= ?", None if filters.until is None else last_moment(filters.until)),
        ("source_type = ?", filters.source_type),
    ]
    given = [pair for pair in pairs if pair[1] is not None]
    conditions, values = [condition for condition, _ in given], [value for _, value in given]
    for label in filters.labels:
        conditions.append("documents.id IN (SELECT document FROM labels WHERE tenant = ? AND label = ?)")
        values += [tenant, label]
    return conditions, values


def _filtered(tenant: int, filters: Filters) -> tuple[str, list[Any]]:
    """Return the joins and conditions of the filters, starting from `words`; empty without filters."""
    conditions, values = _conditions(tenant, filters)
    joined = "CROSS JOIN chunks ON chunks.id = words.rowid"
    if conditions:
        joined += " CROSS JOIN documents ON documents.id = chunks.document"
    if filters.chunk_type is not None:
        conditions.append("chunk_type = ?")
        values.append(filters.chunk_type)
    return (f"{joined} WHERE {' AND '.join(conditions)}", values) if conditions else ("", [])


def _allowed(connection: sqlite3.Connection, tenant: int, filters: Filters) -> NDArray[np.int64] | None:
    """Return the documents that pass the filters; None for all."""
    conditions, values = _conditions(tenant, filters)
    if not conditions:
        return None
    statement = f"SELECT id FROM documents WHERE tenant = ? AND {' AND '.join(conditions)}"
    return _column(connection, statement, (tenant, *values))


def _of_type(connection: sqlite3.Connection, tenant: int, near: Keyed, kind: str) -> list[tuple[int, float]]:
    statement = "SELECT id FROM chunks WHERE +tenant = ? AND +chunk_type = ? AND id IN ({})"
    matching = {key for (key,) in _batched(connection, statement, (tenant, kind), [key for key, _ in near])}
    return [pair for pair in near if pair[0] in matching]


def _column(connection: sqlite3.Connection, statement: str, values: Sequence[Any]) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter((row[0] for row in connection.execute(statement, values)), dtype=np.int64)
