"""Writes to one tenant's documents: each commit is applied as a whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from spanwise.errors import ConnectionLostError, StoreError
from spanwise.stores.encoding import as_halfvec, compressed_json
from spanwise.stores.filter_rules import moment
from spanwise.stores.postgres.connections import Connections
from spanwise.stores.postgres.reader import PostgresReader, lexeme
from spanwise.stores.postgres.repair import repaired
from spanwise.stores.postgres.schema import damaged
from spanwise.stores.postgres.tables import CHUNK_COLUMNS, DOCUMENT_COLUMNS, checksum
from spanwise.stores.values import (
    ChunkState,
    DocumentState,
    Entry,
    Model,
    StoreChange,
    StoredDocument,
    possible_ids,
    record_hash,
)
from spanwise.text.terms import ANALYSER

_POSITIONS: Final = 16_383  # that a tsvector can distinguish
_ROOM: Final = 900_000  # bytes of terms that fit a tsvector in any case

_GIVEN: Final = "(SELECT {}) AS given ({})"


def _given(columns: Mapping[str, str]) -> str:
    """Return a row of parameters, named and typed as columns, from which a checksum can be computed."""
    return _GIVEN.format(", ".join(f"%s::{kind}" for kind in columns.values()), ", ".join(columns))


_UPDATED: Final = (*list(DOCUMENT_COLUMNS)[2:], "checksum")
_DOCUMENT: Final = f"""
INSERT INTO spanwise.documents ({", ".join(DOCUMENT_COLUMNS)}, checksum, chunks)
SELECT given.*, {checksum(DOCUMENT_COLUMNS, "given")}, 0 FROM {_given(DOCUMENT_COLUMNS)}
ON CONFLICT (tenant, document_id) DO UPDATE
SET ({", ".join(_UPDATED)}) = ({", ".join(f"excluded.{name}" for name in _UPDATED)})
RETURNING key, xmax = 0
"""
_ADD: Final = f"""
INSERT INTO spanwise.chunks ({", ".join(CHUNK_COLUMNS)}, checksum)
SELECT given.*, {checksum(CHUNK_COLUMNS, "given")} FROM {_given(CHUNK_COLUMNS)}
"""


def _changing(*names: str) -> str:
    """Return the statement that sets columns of a chunk of a document, and its checksum."""
    values = ", ".join(f"{name} = given.{name}" for name in names)
    return f"""
        UPDATE spanwise.chunks c SET {values}, checksum = {checksum(CHUNK_COLUMNS, "c", names)}
        FROM {_given({name: CHUNK_COLUMNS[name] for name in names})}
        WHERE c.tenant = %s AND c.document = %s AND c.key = %s
    """


_MOVE: Final = _changing("position", "chunk_id", "parent_id", "chunk_type", "record_hash", "record", "lead")
_REVECTOR: Final = _changing("vector")
_COUNT: Final = """
UPDATE spanwise.documents SET chunks = (SELECT count(*) FROM spanwise.chunks WHERE document = key_of)
FROM (SELECT %s::bigint AS key_of) k WHERE key = key_of
"""
_FREQUENCIES: Final = """
INSERT INTO spanwise.frequencies AS f (tenant, term, chunks)
SELECT %s, term, chunks FROM unnest(%s::text[], %s::int[]) AS counted (term, chunks)
ON CONFLICT (tenant, term) DO UPDATE SET chunks = f.chunks + excluded.chunks
"""
_SUM: Final = """
UPDATE spanwise.tenants SET documents = documents + %s, chunks = chunks + %s, vectors = vectors + %s,
    searched = searched + %s, terms = terms + %s WHERE tenant = %s
"""
_DELETED_TERMS: Final = """
SELECT substr(t.lexeme, strpos(t.lexeme, ':') + 1), count(*) FROM spanwise.chunks c, unnest(c.terms) t
WHERE c.tenant = %s AND c.key = ANY(%s) GROUP BY 1
"""


class PostgresWriter:
    """The only writer of a tenant's documents."""

    def __init__(self, connections: Connections, connection: Any, tenant: str, model: Model | None) -> None:
        """Write with the connection that holds the lock: when it is lost, nothing can be written."""
        self._connections, self._connection, self._tenant, self._model = connections, connection, tenant, model
        self.added = 0  # chunks

    def _transaction(self) -> AbstractContextManager[Any]:
        return self._connections.within(self._tenant, self._connection)

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""
        reader = PostgresReader(self._connections, self._tenant)
        return {document.document_id: document for document in reader.documents()}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""
        query = f"""
            SELECT {checksum(CHUNK_COLUMNS, "c")} = c.checksum,
                c.key, c.content_hash, c.words_hash, c.record_hash, c.vector IS NOT NULL
            FROM spanwise.chunks c JOIN spanwise.documents d ON d.key = c.document
            WHERE d.tenant = %s AND d.document_id = ANY(%s) ORDER BY c.position, c.key
        """
        with self._transaction() as connection:
            rows = connection.execute(query, (self._tenant, possible_ids([document_id]))).fetchall()
        if not all(is_intact for is_intact, *_ in rows):
            raise damaged(self._connections.where, f"a chunk of document {document_id} is not as it was written")
        return [ChunkState(*row) for _, *row in rows]

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored, by content hash."""
        query = f"""
            SELECT DISTINCT ON (content_hash) content_hash, vector::text FROM spanwise.chunks c
            WHERE tenant = %s AND content_hash = ANY(%s) AND vector IS NOT NULL
                AND checksum = {checksum(CHUNK_COLUMNS, "c")}
        """
        with self._transaction() as connection:
            rows = connection.execute(query, (self._tenant, list(content_hashes))).fetchall()
        return {name: from_halfvec(vector) for name, vector in rows}

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Apply changes and remove documents in one transaction: durable on return, invisible until then."""
        transaction = None
        try:
            with self._transaction() as connection:
                transaction = self._applied(connection, changes, removed)  # all that is left is to commit
        except ConnectionLostError as error:
            outcome = "aborted" if transaction is None else self._connections.outcome(transaction)
            if outcome == "committed":
                return
            rule, hint = error.rule, "nothing of the last step was written; run the same command again"
            if outcome != "aborted":
                rule = f"{rule} while it committed: whether the last documents were written is not known"
                hint = "run the same command again: that is safe, and does only what is missing"
            raise ConnectionLostError(error.subject, rule, hint=hint) from error

    def _applied(self, connection: Any, changes: Sequence[StoreChange], removed: Sequence[str]) -> str:
        """Apply changes, and return the number of the transaction."""
        connection.execute("INSERT INTO spanwise.tenants (tenant) VALUES (%s) ON CONFLICT DO NOTHING", (self._tenant,))
        if removed:
            self._remove(connection, removed)
        query = "SELECT key, pg_current_xact_id()::text FROM spanwise.tenants WHERE tenant = %s"
        number, transaction = connection.execute(query, (self._tenant,)).fetchone()
        for change in changes:
            self._change(connection, change, number)
        added = [entry.terms for change in changes for entry in change.added if entry.terms]
        self._count(connection, Counter(term for terms in added for term in set(_fitting(terms))), 1)
        return str(transaction)

    def repair(self) -> list[str]:
        """Remove damaged documents, and count all others anew; return the files, or ids, of the removed ones."""
        with self._transaction() as connection:
            return repaired(connection, self._tenant)

    def _remove(self, connection: Any, document_ids: Sequence[str]) -> None:
        values = (self._tenant, possible_ids(document_ids))
        query = """
            SELECT c.key FROM spanwise.chunks c JOIN spanwise.documents d ON d.key = c.document
            WHERE d.tenant = %s AND d.document_id = ANY(%s)
        """
        self._delete_chunks(connection, [row[0] for row in connection.execute(query, values).fetchall()])
        gone = connection.execute("DELETE FROM spanwise.documents WHERE tenant = %s AND document_id = ANY(%s)", values)
        self._sum(connection, -gone.rowcount, 0, 0, 0, 0)

    def _change(self, connection: Any, change: StoreChange, number: int) -> None:
        key, new = connection.execute(_DOCUMENT, (self._tenant, *_document(change.source))).fetchone()
        self._delete_chunks(connection, self._own_keys(connection, key, change.deleted))
        owner = (self._tenant, key)
        rows = [(*owner, *_chunk(entry, number), self._halfvec(entry.vector)) for entry in change.added]
        moved = [(*_moved(entry), *owner, old) for old, entry in change.moved]
        revectored = [(self._halfvec(vector), *owner, old) for old, vector in change.revectored]
        with connection.cursor() as cursor:
            for statement, values in ((_ADD, rows), (_MOVE, moved), (_REVECTOR, revectored)):
                if values:
                    cursor.executemany(statement, values)
        connection.execute(_COUNT, (key,))
        self.added += len(rows)
        vectors = sum(entry.vector is not None for entry in change.added) + len(change.revectored)
        searched = [len(entry.terms) for entry in change.added if entry.terms]
        self._sum(connection, int(new), len(change.added), vectors, len(searched), sum(searched))

    def _own_keys(self, connection: Any, document: int, keys: Sequence[int]) -> list[int]:
        """Return those of the keys that belong to the document."""
        query = "SELECT key FROM spanwise.chunks WHERE tenant = %s AND document = %s AND key = ANY(%s)"
        return [row[0] for row in connection.execute(query, (self._tenant, document, list(keys))).fetchall()]

    def _halfvec(self, vector: bytes | None) -> str | None:
        """Format a vector; raise StoreError if it isn't as long as the model's."""
        wanted = self._model.dimension if self._model else 0
        if vector is None or len(vector) == wanted:
            return None if vector is None else as_halfvec(vector)
        raise StoreError(self._connections.where, f"takes vectors of {wanted} numbers", value=len(vector))

    def _delete_chunks(self, connection: Any, keys: Iterable[int]) -> None:
        """Delete chunks, and subtract them from the sums."""
        values = (self._tenant, list(keys))
        if not values[1]:
            return
        self._count(connection, dict(connection.execute(_DELETED_TERMS, values).fetchall()), -1)
        query = """
            SELECT count(*), count(vector), count(*) FILTER (WHERE length > 0), coalesce(sum(length), 0)
            FROM spanwise.chunks WHERE tenant = %s AND key = ANY(%s)
        """
        self._sum(connection, 0, *[-number for number in connection.execute(query, values).fetchone()])
        connection.execute("DELETE FROM spanwise.chunks WHERE tenant = %s AND key = ANY(%s)", values)

    def _count(self, connection: Any, counts: dict[str, int], sign: int) -> None:
        """Add to the frequencies of terms, or subtract, always in the same order."""
        if not counts:
            return
        terms = sorted(counts)
        values = (self._tenant, terms, [sign * counts[term] for term in terms])
        connection.execute(_FREQUENCIES, values)
        if sign < 0:
            query = "DELETE FROM spanwise.frequencies WHERE tenant = %s AND term = ANY(%s) AND chunks <= 0"
            connection.execute(query, (self._tenant, terms))

    def _sum(self, connection: Any, *changes: int) -> None:
        """Add to the tenant's counts of documents, chunks, vectors, searched chunks and terms."""
        connection.execute(_SUM, (*changes, self._tenant))


def _document(source: StoredDocument) -> tuple[Any, ...]:
    import orjson

    metadata = source.metadata
    return (
        source.document_id, source.fingerprint, compressed_json(orjson.dumps(dict(metadata))), source.language,
        ANALYSER, list(source.addresses), list(source.targets), list(metadata.get("labels") or ()),
        metadata.get("space_key"), metadata.get("file_path"), source.location, metadata.get("source_type"),
        moment(metadata.get("updated_at")),
    )  # fmt: skip


def _chunk(entry: Entry, number: int) -> tuple[Any, ...]:
    return (
        entry.position, entry.chunk_id, entry.parent_id, entry.chunk_type, entry.content_hash, entry.terms_hash,
        record_hash(entry), compressed_json(entry.record), entry.text_before, len(entry.terms),
        _as_tsvector(entry.terms, number),
    )  # fmt: skip


def _moved(entry: Entry) -> tuple[Any, ...]:
    values = entry.position, entry.chunk_id, entry.parent_id, entry.chunk_type
    return *values, record_hash(entry), compressed_json(entry.record), entry.text_before


def _fitting(terms: Sequence[str]) -> Sequence[str]:
    """Return as many terms as a tsvector can hold; only a chunk of a megabyte has more."""
    room = _ROOM
    for number, term in enumerate(terms[:_POSITIONS]):
        room -= len(term.encode()) + 8
        if room < 0:
            return terms[:number]
    return terms[:_POSITIONS]


def _as_tsvector(terms: Sequence[str], number: int) -> str:
    """Format terms with their positions: without these, the count of each would be lost."""
    positions: dict[str, list[int]] = {}
    for position, term in enumerate(_fitting(terms), start=1):
        positions.setdefault(term, []).append(position)
    return " ".join(f"{lexeme(number, term)}:{','.join(map(str, found[:255]))}" for term, found in positions.items())


def from_halfvec(text: str) -> bytes:
    """Parse a vector as pgvector writes it."""
    import numpy as np

    return np.array([float(number) for number in text.strip("[]").split(",")], dtype=np.int8).tobytes()
