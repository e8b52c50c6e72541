"""Writes to one tenant's documents in an embedded store: each commit is applied as a whole or not at all."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import orjson

from spanwise.errors import StoreError
from spanwise.stores.filter_rules import moment
from spanwise.stores.sqlite.reader import hash_bytes, hash_hex, known_documents
from spanwise.stores.sqlite.schema import store_errors
from spanwise.stores.sqlite.vector_blocks import VectorRow, delete_rows, living_rows, write_vectors
from spanwise.stores.values import ChunkState, DocumentState, Entry, Model, StoreChange, StoredDocument, record_hash
from spanwise.text.terms import ANALYSER

_CACHED_TERMS: Final = 200_000  # whose numbers are kept in memory
_AT_ONCE: Final = 500
_COMPRESSION: Final = 3  # zlib level; a higher one costs much and saves little


class SqliteWriter:
    """The only writer of a tenant's documents."""

    def __init__(self, connection: sqlite3.Connection, path: str, tenant: str, model: Model | None) -> None:
        """Write with a connection of its own; the tenant is created with its first commit."""
        self._connection, self._path, self._tenant, self._model = connection, path, tenant, model
        self._numbers: dict[str, int] = {}
        self._frequency_changes: Counter[int] = Counter()  # by term: chunks added less deleted
        self._added_rows: list[VectorRow] = []
        self._deleted_rows: dict[int, list[int]] = {}
        self._chunks = self._length = 0

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""
        with store_errors(self._path):
            return {one.document_id: one for one in known_documents(self._connection, self._tenant_number())}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""
        statement = (
            "SELECT chunks.id, content_hash, words_hash, record_hash, block IS NOT NULL FROM chunks "
            "JOIN documents ON documents.id = document WHERE documents.tenant = ? AND document_id = ? "
            "ORDER BY position, chunks.id"
        )
        with store_errors(self._path):
            rows = self._connection.execute(statement, (self._tenant_number(), document_id)).fetchall()
        return [
            ChunkState(key, hash_hex(content), hash_hex(terms), hash_hex(record), bool(has))
            for key, content, terms, record, has in rows
        ]

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored, by content hash."""
        wanted = list(dict.fromkeys(content_hashes))
        blocks: dict[int, dict[int, str]] = {}
        with store_errors(self._path):
            for at in range(0, len(wanted), _AT_ONCE):
                part = [hash_bytes(name) for name in wanted[at : at + _AT_ONCE]]
                rows = self._connection.execute(
                    "SELECT content_hash, block, min(id) FROM chunks WHERE tenant = ? AND block IS NOT NULL "
                    f"AND content_hash IN ({','.join('?' * len(part))}) GROUP BY content_hash",
                    (self._tenant_number(), *part),
                )
                for content, block, key in rows:
                    blocks.setdefault(block, {})[key] = hash_hex(content)
            return {
                names[row.key]: row.vector
                for block, names in blocks.items()
                for row in living_rows(self._connection, block)
                if row.key in names
            }

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Apply changes and remove documents in one transaction: durable on return, invisible until then."""
        with store_errors(self._path), self._transaction():
            tenant = self._tenant_number(create=True)
            for document_id in removed:
                self._remove(tenant, document_id)
            for change in changes:
                self._apply(tenant, change)
            self._finish(tenant)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk may have rolled it back already
                self._connection.execute("ROLLBACK")
            self._numbers = {}
            self._reset()
            raise

    def _reset(self) -> None:
        self._frequency_changes, self._added_rows, self._deleted_rows = Counter(), [], {}
        self._chunks = self._length = 0

    def _tenant_number(self, *, create: bool = False) -> int:
        """Return the tenant's number; 0, which no tenant has, if it has no documents yet."""
        if create:
            self._connection.execute("INSERT OR IGNORE INTO tenants (name) VALUES (?)", (self._tenant,))
        row = self._connection.execute("SELECT id FROM tenants WHERE name = ?", (self._tenant,)).fetchone()
        return row[0] if row else 0

    def _apply(self, tenant: int, change: StoreChange) -> None:
        document = self._write_source(tenant, change)
        self._delete(document, change.deleted)
        for key, entry in change.moved:
            self._move(document, key, entry)
        for key, vector in change.revectored:
            self._add_vector(document, key, vector)
        self._load_numbers(tenant, {term for entry in change.added for term in entry.terms})
        for entry in change.added:
            self._add(tenant, document, entry)
        (chunks,) = self._connection.execute("SELECT count(*) FROM chunks WHERE document = ?", (document,)).fetchone()
        self._connection.execute("UPDATE documents SET chunks = ? WHERE id = ?", (chunks, document))

    def _write_source(self, tenant: int, change: StoreChange) -> int:
        source, metadata = change.source, change.source.metadata
        values = (
            source.fingerprint, ANALYSER, metadata.get("file_path"), source.location, metadata.get("source_type"),
            metadata.get("space_key"), moment(metadata.get("updated_at")), _encoded_source(source),
        )  # fmt: skip
        named = "INSERT OR IGNORE INTO documents (tenant, document_id, fingerprint, chunks, analyser, source)"
        self._connection.execute(f"{named} VALUES (?, ?, '', 0, '', '')", (tenant, source.document_id))
        where = "WHERE tenant = ? AND document_id = ?"
        self._connection.execute(
            "UPDATE documents SET fingerprint = ?, analyser = ?, file_path = ?, place = ?, source_type = ?, "
            f"space_key = ?, updated_at = ?, source = ? {where}",
            (*values, tenant, source.document_id),
        )
        row = self._connection.execute(f"SELECT id FROM documents {where}", (tenant, source.document_id)).fetchone()
        document = int(row[0])
        self._connection.execute("DELETE FROM labels WHERE document = ?", (document,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO labels (tenant, label, document) VALUES (?, ?, ?)",
            [(tenant, label, document) for label in metadata.get("labels") or ()],
        )
        return document

    def _add(self, tenant: int, document: int, entry: Entry) -> None:
        numbers = [self._numbers[term] for term in entry.terms]
        key = self._connection.execute(
            "INSERT INTO chunks (tenant, document, position, length, chunk_type, chunk_id, content_hash, words_hash, "
            "record_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tenant, document, entry.position, len(numbers), entry.chunk_type, hash_bytes(entry.chunk_id),
                hash_bytes(entry.content_hash), hash_bytes(entry.terms_hash), hash_bytes(record_hash(entry)),
            ),
        ).lastrowid  # fmt: skip
        assert key is not None  # a row was inserted
        self._connection.execute(
            "INSERT INTO contents (chunk, lead, record) VALUES (?, ?, ?)",
            (key, entry.text_before, zlib.compress(entry.record, _COMPRESSION)),
        )
        if numbers:
            data = struct.pack(f"<{len(numbers)}I", *numbers)
            self._connection.execute("INSERT INTO numbered VALUES (?, ?, ?)", (key, tenant, data))
            text = " ".join(map(str, numbers))
            self._connection.execute("INSERT INTO words (rowid, numbers) VALUES (?, ?)", (key, text))
            self._count(numbers, 1)
        if entry.vector is not None:
            self._added_rows.append(VectorRow(key, document, self._checked(entry.vector)))

    def _move(self, document: int, key: int, entry: Entry) -> None:
        found = self._connection.execute(
            "UPDATE chunks SET position = ?, chunk_type = ?, chunk_id = ?, content_hash = ?, words_hash = ?, "
            "record_hash = ? WHERE id = ? AND document = ?",
            (
                entry.position, entry.chunk_type, hash_bytes(entry.chunk_id), hash_bytes(entry.content_hash),
                hash_bytes(entry.terms_hash), hash_bytes(record_hash(entry)), key, document,
            ),
        )  # fmt: skip
        if found.rowcount:
            self._connection.execute(
                "UPDATE contents SET lead = ?, record = ? WHERE chunk = ?",
                (entry.text_before, zlib.compress(entry.record, _COMPRESSION), key),
            )

    def _add_vector(self, document: int, key: int, vector: bytes) -> None:
        statement = "SELECT 1 FROM chunks WHERE id = ? AND document = ? AND block IS NULL"
        if self._connection.execute(statement, (key, document)).fetchone():
            self._added_rows.append(VectorRow(key, document, self._checked(vector)))

    def _delete(self, document: int, keys: Iterable[int]) -> None:
        statement = "SELECT block, numbers FROM chunks LEFT JOIN numbered ON chunk = id WHERE id = ? AND document = ?"
        for key in keys:
            row = self._connection.execute(statement, (key, document)).fetchone()
            if row is None:
                continue
            block, data = row
            numbers = struct.unpack(f"<{len(data or b'') // 4}I", data or b"")
            if numbers:  # the index deletes a chunk only if given the same terms as on insertion
                deletion = "INSERT INTO words (words, rowid, numbers) VALUES ('delete', ?, ?)"
                self._connection.execute(deletion, (key, " ".join(map(str, numbers))))
                self._count(numbers, -1)
            if block is not None:
                self._deleted_rows.setdefault(block, []).append(key)
            self._connection.execute("DELETE FROM contents WHERE chunk = ?", (key,))
            self._connection.execute("DELETE FROM numbered WHERE chunk = ?", (key,))
            self._connection.execute("DELETE FROM chunks WHERE id = ?", (key,))

    def _remove(self, tenant: int, document_id: str) -> None:
        statement = "SELECT id FROM documents WHERE tenant = ? AND document_id = ?"
        row = self._connection.execute(statement, (tenant, document_id)).fetchone()
        if row is None:
            return
        (document,) = row
        keys = self._connection.execute("SELECT id FROM chunks WHERE document = ?", (document,)).fetchall()
        self._delete(document, [key for (key,) in keys])
        self._connection.execute("DELETE FROM labels WHERE document = ?", (document,))
        self._connection.execute("DELETE FROM documents WHERE id = ?", (document,))

    def _load_numbers(self, tenant: int, terms: set[str]) -> None:
        """Load the numbers of terms, and assign new ones; a number is never reused for another term."""
        if len(self._numbers) > _CACHED_TERMS:
            self._numbers = {}
        missing = sorted(terms.difference(self._numbers))
        for at in range(0, len(missing), _AT_ONCE):
            part = missing[at : at + _AT_ONCE]
            statement = f"SELECT term, id FROM terms WHERE tenant = ? AND term IN ({','.join('?' * len(part))})"
            self._numbers.update(self._connection.execute(statement, (tenant, *part)).fetchall())
        (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM terms").fetchone()
        new = dict(zip((term for term in missing if term not in self._numbers), count(last + 1), strict=False))
        self._connection.executemany(
            "INSERT INTO terms (id, tenant, term, chunks) VALUES (?, ?, ?, 0)",
            [(number, tenant, term) for term, number in new.items()],
        )
        self._numbers |= new

    def _count(self, numbers: Sequence[int], sign: int) -> None:
        """Add a chunk to the counts, or subtract it."""
        (self._frequency_changes.update if sign > 0 else self._frequency_changes.subtract)(set(numbers))
        self._chunks += sign
        self._length += sign * len(numbers)

    def _checked(self, vector: bytes) -> bytes:
        if self._model is None or len(vector) != self._model.dimension:
            wanted = self._model.dimension if self._model else 0
            raise StoreError(self._path, f"takes vectors of {wanted} numbers here", value=len(vector))
        return vector

    def _finish(self, tenant: int) -> None:
        """Write what was collected: counts, vectors and the model."""
        self._connection.executemany(
            "UPDATE terms SET chunks = chunks + ? WHERE id = ?",
            sorted((times, number) for number, times in self._frequency_changes.items() if times),
        )
        rest = delete_rows(self._connection, self._deleted_rows)
        write_vectors(self._connection, tenant, [*rest, *self._added_rows])
        if self._added_rows and self._model:
            properties = [("model", self._model.name), ("dimension", str(self._model.dimension))]
            self._connection.executemany("INSERT OR REPLACE INTO properties VALUES (?, ?)", properties)
        self._connection.execute(
            "UPDATE tenants SET chunks = chunks + ?, terms = terms + ?, changes = changes + 1 WHERE id = ?",
            (self._chunks, self._length, tenant),
        )
        self._reset()


def _encoded_source(source: StoredDocument) -> bytes:
    values: dict[str, Any] = {
        "metadata": dict(source.metadata), "language": source.language,
        "addresses": source.addresses, "targets": source.targets,
    }  # fmt: skip
    return zlib.compress(orjson.dumps(values))
