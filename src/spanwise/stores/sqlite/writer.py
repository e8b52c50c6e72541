"""Writes to one tenant's documents in an embedded store: each commit is applied as a whole or not at all."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import orjson

from spanwise.errors import StoreError
from spanwise.stores.filter_rules import moment
from spanwise.stores.sqlite.absence import labels_checksum
from spanwise.stores.sqlite.checksums import DamageError, adding, checksum, inserting, rewriting, rows_of, sealed
from spanwise.stores.sqlite.log import empty_log
from spanwise.stores.sqlite.reader import hash_bytes, hash_hex, known_documents
from spanwise.stores.sqlite.schema import store_errors
from spanwise.stores.sqlite.segments import WordRow, add_words, delete_words
from spanwise.stores.sqlite.tenants import Tenant, tenant_of
from spanwise.stores.sqlite.vector_blocks import VectorRow, delete_rows, living_rows, next_key, write_vectors
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

_CACHED_TERMS: Final = 200_000  # whose numbers are kept in memory
_AT_ONCE: Final = 500
_LAST_NUMBER: Final = 1 << 31  # of a term; a larger one was never given
_COMPRESSION: Final = 3  # zlib level; a higher one costs much and saves little


class SqliteWriter:
    """The only writer of a tenant's documents."""

    def __init__(self, connection: sqlite3.Connection, path: str, tenant: str, model: Model | None) -> None:
        """Write with a connection of its own; the tenant is created with its first commit."""
        self._connection, self._path, self._name, self._model = connection, path, tenant, model
        self._numbers: dict[str, int] = {}
        self._reset()

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""
        with store_errors(self._path):
            return {one.document_id: one for one in known_documents(self._connection, self._tenant())}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""
        if not possible_ids([document_id]):
            return []
        with store_errors(self._path):
            tenant, condition = self._tenant().number, "WHERE tenant = ? AND document_id = ?"
            document = next(rows_of(self._connection, "documents", condition, (tenant, document_id)), None)
            if document is None:
                return []
            rows = list(rows_of(self._connection, "chunks", "WHERE document = ? ORDER BY position, id", document[:1]))
            if len(rows) != document[4]:
                raise DamageError(f"document {document_id} has {len(rows):,} of {document[4]:,} chunks")
        return [
            ChunkState(key, hash_hex(content), hash_hex(terms), hash_hex(record), block is not None)
            for key, _, _, _, _, _, _, content, terms, record, block in rows
        ]

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored, by content hash."""
        wanted = list(dict.fromkeys(content_hashes))
        blocks: dict[int, dict[int, str]] = {}
        with store_errors(self._path):
            tenant = self._tenant().number
            for at in range(0, len(wanted), _AT_ONCE):
                part = [hash_bytes(name) for name in wanted[at : at + _AT_ONCE]]
                rows = self._connection.execute(
                    "SELECT content_hash, block, min(id) FROM chunks WHERE tenant = ? AND block IS NOT NULL "
                    f"AND content_hash IN ({','.join('?' * len(part))}) GROUP BY content_hash",
                    (tenant, *part),
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
            tenant = self._tenant().number or self._create_tenant()
            self._next_key = next_key(self._connection, "chunks")
            for document_id in possible_ids(removed):
                self._remove(tenant, document_id)
            for change in changes:
                self._apply(tenant, change)
            self._finish(tenant)
        empty_log(self._connection)

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
        self._frequency_changes: Counter[int] = Counter()  # by term: chunks added less deleted
        self._key_changes: defaultdict[int, int] = defaultdict(int)  # by term: their keys
        self._added_words: list[WordRow] = []
        self._deleted_words: list[int] = []
        self._added_rows: list[VectorRow] = []
        self._deleted_rows: dict[int, list[int]] = {}
        self._chunks = self._length = self._documents = self._vocabulary = 0

    def _tenant(self) -> Tenant:
        return tenant_of(self._connection, self._name)

    def _create_tenant(self) -> int:
        """Create the tenant, and return its number."""
        number = next_key(self._connection, "tenants")
        self._connection.execute(inserting("tenants"), sealed("tenants", *Tenant(number, self._name)))
        return number

    def _apply(self, tenant: int, change: StoreChange) -> None:
        document, is_new = self._document(tenant, change.source.document_id)
        self._delete(document, change.deleted)
        for key, entry in change.moved:
            self._move(document, key, entry)
        for key, vector in change.revectored:
            self._add_vector(document, key, vector)
        self._load_numbers(tenant, {term for entry in change.added for term in entry.terms})
        for entry in change.added:
            self._add(tenant, document, entry)
        self._write_source(tenant, document, change.source, is_new=is_new)

    def _document(self, tenant: int, document_id: str) -> tuple[int, bool]:
        """Return the key of a document, and whether it is new."""
        row = self._connection.execute(_DOCUMENT, (tenant, document_id)).fetchone()
        return (row[0], False) if row else (next_key(self._connection, "documents"), True)

    def _write_source(self, tenant: int, document: int, source: StoredDocument, *, is_new: bool) -> None:
        metadata, data = source.metadata, _encoded_source(source)
        (chunks,) = self._connection.execute("SELECT count(*) FROM chunks WHERE document = ?", (document,)).fetchone()
        row = sealed(
            "documents", document, tenant, source.document_id, source.fingerprint, chunks, ANALYSER,
            metadata.get("file_path"), source.location, metadata.get("source_type"), metadata.get("space_key"),
            moment(metadata.get("updated_at")), labels_checksum(metadata.get("labels") or ()), checksum(data),
        )  # fmt: skip
        statement = (inserting if is_new else rewriting)("documents", "source")
        self._connection.execute(statement, (*row, data))
        self._documents += is_new
        self._connection.execute("DELETE FROM labels WHERE document = ?", (document,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO labels (tenant, label, document) VALUES (?, ?, ?)",
            [(tenant, label, document) for label in metadata.get("labels") or ()],
        )

    def _add(self, tenant: int, document: int, entry: Entry) -> None:
        numbers = [self._numbers[term] for term in entry.terms]
        key, self._next_key = self._next_key, self._next_key + 1
        row = _chunk_row(key, tenant, document, entry, len(numbers), None)
        self._connection.execute(_INSERT_CHUNK, row)
        content = sealed("contents", key, entry.text_before, zlib.compress(entry.record, _COMPRESSION))
        self._connection.execute(_INSERT_CONTENT, content)
        if numbers:
            data = struct.pack(f"<{len(numbers)}I", *numbers)
            self._connection.execute(_INSERT_NUMBERS, sealed("numbered", key, tenant, data))
            self._added_words.append(WordRow(key, document, data))
            self._count(key, numbers, 1)
        if entry.vector is not None:
            self._added_rows.append(VectorRow(key, document, self._checked(entry.vector)))

    def _move(self, document: int, key: int, entry: Entry) -> None:
        for row in rows_of(self._connection, "chunks", "WHERE id = ? AND document = ?", (key, document)):
            new = _chunk_row(key, row[1], document, entry, row[4], row[-1])
            self._connection.execute(rewriting("chunks"), new)
            content = sealed("contents", key, entry.text_before, zlib.compress(entry.record, _COMPRESSION))
            self._connection.execute(rewriting("contents"), content)

    def _add_vector(self, document: int, key: int, vector: bytes) -> None:
        statement = "SELECT 1 FROM chunks WHERE id = ? AND document = ? AND block IS NULL"
        if self._connection.execute(statement, (key, document)).fetchone():
            self._added_rows.append(VectorRow(key, document, self._checked(vector)))

    def _delete(self, document: int, keys: Iterable[int]) -> None:
        for key in keys:
            row = next(rows_of(self._connection, "chunks", "WHERE id = ? AND document = ?", (key, document)), None)
            if row is None:
                continue
            words = next(rows_of(self._connection, "numbered", "WHERE chunk = ?", (key,)), None)
            if (words is not None) != (row[4] > 0):
                raise DamageError(f"the terms of chunk {key} are missing")
            if words is not None:
                self._deleted_words.append(key)
                self._count(key, struct.unpack(f"<{len(words[2]) // 4}I", words[2]), -1)
            if row[-1] is not None:
                self._deleted_rows.setdefault(row[-1], []).append(key)
            self._connection.execute("DELETE FROM contents WHERE chunk = ?", (key,))
            self._connection.execute("DELETE FROM numbered WHERE chunk = ?", (key,))
            self._connection.execute("DELETE FROM chunks WHERE id = ?", (key,))

    def _remove(self, tenant: int, document_id: str) -> None:
        row = self._connection.execute(_DOCUMENT, (tenant, document_id)).fetchone()
        if row is None:
            return
        (document,) = row
        keys = self._connection.execute("SELECT id FROM chunks WHERE document = ?", (document,)).fetchall()
        self._delete(document, [key for (key,) in keys])
        self._connection.execute("DELETE FROM labels WHERE document = ?", (document,))
        self._connection.execute("DELETE FROM documents WHERE id = ?", (document,))
        self._documents -= 1

    def _load_numbers(self, tenant: int, terms: set[str]) -> None:
        """Load the numbers of terms, and assign new ones; a number is never reused for another term."""
        if len(self._numbers) > _CACHED_TERMS:
            self._numbers = {}
        missing = sorted(terms.difference(self._numbers))
        for at in range(0, len(missing), _AT_ONCE):
            part = missing[at : at + _AT_ONCE]
            condition = f"WHERE tenant = ? AND term IN ({','.join('?' * len(part))})"
            rows = rows_of(self._connection, "terms", condition, (tenant, *part))
            self._numbers.update((term, number) for number, _, term, *_ in rows)
        (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM terms").fetchone()
        if last >= _LAST_NUMBER:
            raise DamageError(f"{last} is the number of no term")
        new = dict(zip((term for term in missing if term not in self._numbers), count(last + 1), strict=False))
        added = [(number, tenant, term, 0, 0, checksum(number, tenant, term)) for term, number in new.items()]
        self._connection.executemany(_INSERT_TERM, added)
        self._vocabulary += len(new)
        self._numbers |= new

    def _count(self, key: int, numbers: Sequence[int], sign: int) -> None:
        """Add a chunk to the counts, or subtract it."""
        different = set(numbers)
        (self._frequency_changes.update if sign > 0 else self._frequency_changes.subtract)(different)
        changes, change = self._key_changes, sign * key
        for number in different:
            changes[number] += change
        self._chunks += sign
        self._length += sign * len(numbers)

    def _checked(self, vector: bytes) -> bytes:
        if self._model is None or len(vector) != self._model.dimension:
            wanted = self._model.dimension if self._model else 0
            raise StoreError(self._path, f"takes vectors of {wanted} numbers here", value=len(vector))
        return vector

    def _finish(self, tenant: int) -> None:
        """Write what was collected: counts, vectors and the model."""
        times, keys = self._frequency_changes, self._key_changes
        counts = [(times[number], keys[number], number) for number in sorted(keys)]
        counting = self._connection.executemany(_COUNT_TERM, counts)
        if counts and counting.rowcount != len(counts):
            raise DamageError(f"{len(counts) - counting.rowcount:,} terms are missing")
        if self._deleted_words:
            delete_words(self._connection, tenant, self._deleted_words)
        if self._added_words:
            add_words(self._connection, tenant, self._added_words)
        deleted = sum(len(keys) for keys in self._deleted_rows.values())
        rest = delete_rows(self._connection, self._deleted_rows)
        write_vectors(self._connection, tenant, [*rest, *self._added_rows])
        if self._added_rows and self._model:
            for name, value in (("model", self._model.name), ("dimension", str(self._model.dimension))):
                self._connection.execute("DELETE FROM properties WHERE name = ?", (name,))
                self._connection.execute(inserting("properties"), sealed("properties", name, value))
        vectors = len(self._added_rows) - deleted
        self._connection.execute(
            adding("tenants", *Tenant._fields[2:]),
            (self._chunks, self._length, 1, self._documents, self._vocabulary, vectors, tenant),
        )
        self._reset()


_INSERT_CHUNK: Final = inserting("chunks")
_INSERT_CONTENT: Final = inserting("contents")
_INSERT_NUMBERS: Final = inserting("numbered")
_INSERT_TERM: Final = inserting("terms")
_COUNT_TERM: Final = adding("terms", "chunks", "keys")
_DOCUMENT: Final = "SELECT id FROM documents WHERE tenant = ? AND document_id = ?"


def _chunk_row(key: int, tenant: int, document: int, entry: Entry, length: int, block: int | None) -> tuple[Any, ...]:
    return sealed(
        "chunks", key, tenant, document, entry.position, length, entry.chunk_type, hash_bytes(entry.chunk_id),
        hash_bytes(entry.content_hash), hash_bytes(entry.terms_hash), hash_bytes(record_hash(entry)), block,
    )  # fmt: skip


def _encoded_source(source: StoredDocument) -> bytes:
    values: dict[str, Any] = {
        "metadata": dict(source.metadata), "language": source.language,
        "addresses": source.addresses, "targets": source.targets,
    }  # fmt: skip
    return zlib.compress(orjson.dumps(values))
