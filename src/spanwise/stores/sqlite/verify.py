"""Consistency checks of an embedded store: documents, chunks, full text and vectors must agree."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

import orjson

from spanwise.stores.sqlite.reader import hash_hex
from spanwise.stores.sqlite.vector_blocks import unpacked_keys
from spanwise.stores.values import Entry, record_hash

_MOST: Final = 20  # messages of one kind

_MUST_BE_EMPTY: Final = {
    "chunk {} belongs to no document": "SELECT id FROM chunks WHERE document NOT IN (SELECT id FROM documents)",
    "chunk {} has no record": "SELECT id FROM chunks WHERE id NOT IN (SELECT chunk FROM contents)",
    "record {} belongs to no chunk": "SELECT chunk FROM contents WHERE chunk NOT IN (SELECT id FROM chunks)",
    "chunk {} is of another tenant than its document": (
        "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document WHERE documents.tenant <> chunks.tenant"
    ),
    "document {} has another number of chunks than it says": (
        "SELECT document_id FROM documents WHERE chunks <> (SELECT count(*) FROM chunks WHERE document = documents.id)"
    ),
    "chunk {} can't be found by its words": (
        "SELECT id FROM chunks WHERE length > 0 AND id NOT IN (SELECT id FROM words_docsize)"
    ),
    "full text knows chunk {}, which isn't there": (
        "SELECT id FROM words_docsize WHERE id NOT IN (SELECT id FROM chunks WHERE length > 0)"
    ),
    "tenant {} has another number of chunks or words than it says": (
        "SELECT name FROM tenants WHERE (chunks, terms) <> "
        "(SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE tenant = tenants.id AND length > 0)"
    ),
    "chunk {} has another number of words than it says": (
        "SELECT id FROM chunks LEFT JOIN numbered ON chunk = id WHERE 4 * length <> coalesce(length(numbers), 0) "
        "OR chunks.tenant <> numbered.tenant"
    ),
    "words of {} belong to no chunk": "SELECT chunk FROM numbered WHERE chunk NOT IN (SELECT id FROM chunks)",
    "vectors {} have no numbers": "SELECT id FROM blocks WHERE id NOT IN (SELECT block FROM vectors)",
    "numbers {} belong to no vectors": "SELECT block FROM vectors WHERE block NOT IN (SELECT id FROM blocks)",
}


def inconsistencies(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield a message for each inconsistency."""
    broken = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST})") if row[0] != "ok"]
    if broken:
        yield from (f"the file is damaged: {message}" for message in broken)
        return
    for message, statement in _MUST_BE_EMPTY.items():
        for (name,) in connection.execute(f"{statement} LIMIT {_MOST}"):
            yield message.format(name)
    yield from _wrong_contents(connection)
    yield from _wrong_terms(connection)
    yield from _wrong_vectors(connection)


def _wrong_contents(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT id, position, chunk_id, record_hash, lead, record FROM chunks JOIN contents ON chunk = id"
    )
    for key, position, chunk_id, stored_hash, text_before, record in rows:
        try:
            data = zlib.decompress(record)
            parsed = orjson.loads(data)
        except (zlib.error, ValueError):
            yield f"the record of chunk {key} can't be read"
            continue
        entry = Entry(data, text_before, "", "", hash_hex(chunk_id), None, "", position)
        if record_hash(entry) != hash_hex(stored_hash) or parsed.get("chunk_id") != hash_hex(chunk_id):
            yield f"the record of chunk {key} is not the one that was written"


def _wrong_terms(connection: sqlite3.Connection) -> Iterator[str]:
    """Compare the counts of each term in full text, the table of terms and the chunks."""
    counted: Counter[int] = Counter()
    for (data,) in connection.execute("SELECT numbers FROM numbered"):
        counted.update(set(struct.unpack(f"<{len(data) // 4}I", data)))
    stated = dict(connection.execute("SELECT id, chunks FROM terms WHERE chunks <> 0"))
    wrong = sorted(number for number in stated.keys() | counted.keys() if stated.get(number, 0) != counted[number])
    yield from (
        f"term {number} stands in {counted[number]} chunks, not {stated.get(number, 0)}" for number in wrong[:_MOST]
    )
    found = {int(term): chunks for term, chunks in connection.execute("SELECT term, doc FROM known_words")}
    wrong = sorted(number for number in found.keys() | counted.keys() if found.get(number, 0) != counted[number])
    yield from (f"full text finds term {number} in {found.get(number, 0)} chunks" for number in wrong[:_MOST])


def _wrong_vectors(connection: sqlite3.Connection) -> Iterator[str]:
    properties = dict(connection.execute("SELECT name, value FROM properties"))
    dimension = int(properties.get("dimension", 0))
    owners = {
        key: (block, document)
        for key, block, document in connection.execute("SELECT id, block, document FROM chunks WHERE block IS NOT NULL")
    }
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
