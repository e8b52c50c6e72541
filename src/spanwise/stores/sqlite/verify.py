"""Consistency checks of an embedded store: every row is as it was written, and all rows agree with each other."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

import orjson

from spanwise.stores.filter_rules import moment
from spanwise.stores.sqlite import tables
from spanwise.stores.sqlite.checksums import CHECKED, DamageError, columns_of, is_sound, rows_of
from spanwise.stores.sqlite.reader import SOURCES, hash_hex, source_of
from spanwise.stores.sqlite.segments import PAGES, SegmentState, read_segment, states_of
from spanwise.stores.sqlite.vector_blocks import is_key, unpacked_keys
from spanwise.stores.values import Entry, StoredDocument, record_hash

_MOST: Final = 20  # messages of one kind

_MUST_BE_EMPTY: Final = {
    "document {} belongs to no tenant": "SELECT id FROM documents WHERE tenant NOT IN (SELECT id FROM tenants)",
    "tenant {} has another number of documents than it says": (
        "SELECT name FROM tenants WHERE documents <> (SELECT count(*) FROM documents WHERE tenant = tenants.id)"
    ),
    "chunk {} belongs to no document": "SELECT id FROM chunks WHERE document NOT IN (SELECT id FROM documents)",
    "chunk {} has no record": "SELECT id FROM chunks WHERE id NOT IN (SELECT chunk FROM contents)",
    "record {} belongs to no chunk": "SELECT chunk FROM contents WHERE chunk NOT IN (SELECT id FROM chunks)",
    "chunk {} is of another tenant than its document": (
        "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document WHERE documents.tenant <> chunks.tenant"
    ),
    "document {} has another number of chunks than it says": (
        "SELECT document_id FROM documents WHERE chunks <> (SELECT count(*) FROM chunks WHERE document = documents.id)"
    ),
    "tenant {} has another number of chunks or words than it says": (
        "SELECT name FROM tenants WHERE (chunks, terms) <> "
        "(SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE tenant = tenants.id AND length > 0)"
    ),
    "tenant {} has another number of terms than it says": (
        "SELECT name FROM tenants WHERE vocabulary <> (SELECT count(*) FROM terms WHERE tenant = tenants.id)"
    ),
    "tenant {} has another number of vectors than it says": (
        "SELECT name FROM tenants WHERE vectors <> "
        "(SELECT coalesce(sum(living), 0) FROM blocks WHERE tenant = tenants.id)"
    ),
    "chunk {} has another number of words than it says": (
        "SELECT id FROM chunks LEFT JOIN numbered ON chunk = id WHERE 4 * length <> coalesce(length(numbers), 0) "
        "OR chunks.tenant <> numbered.tenant"
    ),
    "words of {} belong to no chunk": "SELECT chunk FROM numbered WHERE chunk NOT IN (SELECT id FROM chunks)",
    "vectors {} have no numbers": "SELECT id FROM blocks WHERE id NOT IN (SELECT block FROM vectors)",
    "numbers {} belong to no vectors": "SELECT block FROM vectors WHERE block NOT IN (SELECT id FROM blocks)",
    "tenant {} has another number of chunks in full text than it says": (
        "SELECT name FROM tenants WHERE chunks <> "
        "(SELECT coalesce(sum(living), 0) FROM segments WHERE tenant = tenants.id)"
    ),
    "segment {} belongs to no tenant": "SELECT id FROM segments WHERE tenant NOT IN (SELECT id FROM tenants)",
    "postings {} belong to no segment": (
        f"SELECT id FROM postings WHERE id / {PAGES} NOT IN (SELECT id FROM segments)"
    ),
}

Found = Iterator[str]


def inconsistencies(connection: sqlite3.Connection) -> Found:
    """Yield a message for each inconsistency."""
    for find in _CHECKS:
        yield from _guarded(find, connection)


def _guarded(find: Callable[[sqlite3.Connection], Found], connection: sqlite3.Connection) -> Found:
    """Yield what a check finds; where damaged values, which it must look at too, make that fail, yield the damage."""
    try:
        yield from islice(find(connection), 10 * _MOST)
    except (DamageError, sqlite3.DatabaseError, ValueError, TypeError, LookupError, struct.error) as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _NOT_DAMAGE:
            raise
        yield f"the file is damaged: {error}"


_NOT_DAMAGE: Final = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_MISUSE}
)


def _wrong_file(connection: sqlite3.Connection) -> Found:
    for (message,) in connection.execute(f"PRAGMA main.integrity_check({_MOST})"):
        if message != "ok":
            yield f"the file is damaged: {message}"
    schema = dict(rows_of(connection, "properties")).get("schema")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == tables.VERSION and schema != str(tables.schema_checksum(connection)):
        yield "the tables are defined otherwise than they were"


def _wrong_rows(connection: sqlite3.Connection) -> Found:
    for table in CHECKED:
        yield from _guarded(partial(_unsound, table), connection)


def _unsound(table: str, connection: sqlite3.Connection) -> Found:
    rows = connection.execute(f"SELECT {columns_of(table)} FROM {table}")
    wrong = (row[0] for row in rows if not is_sound(table, row))
    yield from (f"row {key!a} of {table} is not as it was written" for key in islice(wrong, _MOST))


def _wrong_relations(connection: sqlite3.Connection) -> Found:
    for message, statement in _MUST_BE_EMPTY.items():
        for (name,) in connection.execute(f"{statement} LIMIT {_MOST}"):
            yield message.format(name)


def _wrong_keys(connection: sqlite3.Connection) -> Found:
    """Compare the highest keys that were given with those that are there."""
    given = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    counting = connection.execute("SELECT name FROM main.sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'").fetchall()
    for (table,) in counting:
        (highest,) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
        if not is_key(given.get(table, 0)) or not is_key(highest) or given.get(table, 0) < highest:
            yield f"keys of {table} would be used again, or are used up"


def _wrong_sources(connection: sqlite3.Connection) -> Found:
    """Compare what is looked up of each document with the document."""
    labels = defaultdict(set)
    for tenant, label, document in connection.execute("SELECT tenant, label, document FROM labels"):
        labels[tenant, document].add(label)
    for row in connection.execute(SOURCES):
        try:
            source = source_of(row)
        except DamageError as error:
            yield str(error)
            continue
        _, key, tenant, document_id, _, _, _, *stated, _, _, _ = row
        if stated != _lookups(source):
            yield f"document {document_id} is found by other properties than it has"
        if labels.pop((tenant, key), set()) != set(source.metadata.get("labels") or ()):
            yield f"document {document_id} has other labels than it says"
    yield from (f"labels of {document} belong to no document" for _, document in islice(labels, _MOST))


def _lookups(source: StoredDocument) -> list[Any]:
    known = source.metadata
    updated = moment(known.get("updated_at"))
    return [known.get("file_path"), source.location, known.get("source_type"), known.get("space_key"), updated]


def _wrong_contents(connection: sqlite3.Connection) -> Found:
    rows = connection.execute(
        "SELECT id, position, chunk_type, chunk_id, content_hash, record_hash, lead, record "
        "FROM chunks JOIN contents ON chunk = id"
    )
    for key, position, kind, chunk_id, content_hash, stored_hash, text_before, record in rows:
        try:
            data = zlib.decompress(record)
            parsed = orjson.loads(data)
            entry = Entry(data, text_before, "", "", hash_hex(chunk_id), None, "", position)
            stated = (record_hash(entry), parsed.get("chunk_id"), parsed.get("chunk_type", kind),
                      parsed.get("content_hash", hash_hex(content_hash)))  # fmt: skip
            written = hash_hex(stored_hash), hash_hex(chunk_id), kind, hash_hex(content_hash)
        except (zlib.error, ValueError, TypeError, AttributeError):
            yield f"the record of chunk {key} can't be read"
            continue
        if stated != written:
            yield f"the record of chunk {key} is not the one that was written"


def _wrong_terms(connection: sqlite3.Connection) -> Found:
    """Compare each term in the table of terms with the chunks."""
    chunks: Counter[int] = Counter()
    keys: defaultdict[int, int] = defaultdict(int)
    for key, data in connection.execute("SELECT chunk, numbers FROM numbered"):
        different = set(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))
        chunks.update(different)
        for number in different:
            keys[number] += key
    stated = {row[0]: row[3:5] for row in connection.execute("SELECT id, 0, 0, chunks, keys FROM terms")}
    for number in islice((number for number in chunks if number not in stated), _MOST):
        yield f"term {number} is missing"
    for number, counts in stated.items():
        if counts != (chunks[number], keys[number]):
            yield f"term {number} stands in {chunks[number]} chunks, not {counts[0]}"


def _wrong_postings(connection: sqlite3.Connection) -> Found:
    """Compare the segments of each tenant with the terms of its chunks."""
    for (tenant,) in connection.execute("SELECT id FROM tenants").fetchall():
        for state in states_of(connection, tenant):
            yield from _guarded(partial(_wrong_segment, state), connection)


def _wrong_segment(state: SegmentState, connection: sqlite3.Connection) -> Found:
    import numpy as np

    from spanwise.stores.sqlite.postings import segment_of

    stored = read_segment(connection, state)
    keys = stored.chunks.keys.tolist()
    statement = (
        "SELECT chunk, document, numbers FROM numbered JOIN chunks ON chunks.id = chunk "
        "WHERE numbered.tenant = ? AND chunk BETWEEN ? AND ? ORDER BY chunk"
    )
    rows = connection.execute(statement, (state.tenant, min(keys, default=0), state.last)).fetchall()
    if [row[0] for row in rows] != keys or len(keys) != state.living:
        yield f"segment {state.number} has other chunks than there are"
        return
    right = segment_of(*zip(*rows, strict=True)) if rows else stored
    pairs: Any = zip((*stored.chunks, *stored.postings), (*right.chunks, *right.postings), strict=True)
    if not all(np.array_equal(one, other) for one, other in pairs):
        yield f"segment {state.number} has other terms than its chunks"


def _wrong_vectors(connection: sqlite3.Connection) -> Found:
    properties = dict(connection.execute("SELECT name, value FROM properties"))
    dimension = int(properties.get("dimension", 0))
    owners = {
        key: (block, document)
        for key, block, document in connection.execute("SELECT id, block, document FROM chunks WHERE block IS NOT NULL")
    }
    if owners and "model" not in properties:
        yield "the name of the model is missing"
    rows = connection.execute(
        "SELECT id, living, size, keys, documents, length(numbers) FROM blocks JOIN vectors ON block = id"
    )
    for block, living, size, keys, documents, length in rows:
        block_keys = unpacked_keys(keys)
        if len(block_keys) != size or length != size * dimension or sum(key > 0 for key in block_keys) != living:
            yield f"vectors {block} have another number of rows than they say"
        for key, document in zip(block_keys, unpacked_keys(documents), strict=False):
            if key > 0 and owners.pop(key, None) != (block, document):
                yield f"vectors {block} hold a row of chunk {key}, which isn't its owner"
    yield from (f"chunk {key} has lost its vector" for key in list(owners)[:_MOST])


_CHECKS: Final = (
    _wrong_file, _wrong_rows, _wrong_relations, _wrong_keys, _wrong_sources, _wrong_contents, _wrong_terms,
    _wrong_postings, _wrong_vectors,
)  # fmt: skip
