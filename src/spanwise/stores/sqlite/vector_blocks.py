"""Vectors on disk, written and read in blocks of about a thousand rows.

Nothing here does arithmetic, so writing doesn't import what searching needs.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.stores.sqlite.checksums import DamageError, inserting, rewriting, rows_of, sealed

_BLOCK_ROWS: Final = 1_000
LAST_KEY: Final = 1 << 53


class VectorRow(NamedTuple):
    """A row of a block: the vector of a chunk."""

    key: int
    document: int
    vector: bytes


def packed_keys(keys: Sequence[int]) -> bytes:
    """Encode keys in eight bytes each."""
    return struct.pack(f"<{len(keys)}q", *keys)


def unpacked_keys(data: bytes) -> tuple[int, ...]:
    """Decode keys."""
    return struct.unpack(f"<{len(data) // 8}q", data)


def write_vectors(connection: sqlite3.Connection, tenant: int, added: Sequence[VectorRow]) -> None:
    """Write vectors as blocks; small blocks before them are merged in, so that there are never many."""
    rows = list(added)
    while rows and len(rows) < _BLOCK_ROWS and (last := _last(connection, tenant)):
        number, living, size = last
        if living + len(rows) > _BLOCK_ROWS or size > 2 * len(rows):
            break
        rows += living_rows(connection, number)
        drop_block(connection, number)
    rows.sort()
    for at in range(0, len(rows), _BLOCK_ROWS):
        _write_block(connection, tenant, rows[at : at + _BLOCK_ROWS])


def _last(connection: sqlite3.Connection, tenant: int) -> tuple[int, int, int] | None:
    row = next(rows_of(connection, "blocks", "WHERE tenant = ? ORDER BY id DESC LIMIT 1", (tenant,)), None)
    return (row[0], row[3], row[4]) if row else None


def _write_block(connection: sqlite3.Connection, tenant: int, rows: Sequence[VectorRow]) -> None:
    number = next_key(connection, "blocks")
    keys, documents = packed_keys([row.key for row in rows]), packed_keys([row.document for row in rows])
    block = sealed("blocks", number, tenant, 0, len(rows), len(rows), keys, documents)
    connection.execute(inserting("blocks"), block)
    numbers = b"".join(row.vector for row in rows)
    connection.execute(inserting("vectors"), sealed("vectors", number, numbers))
    moving = "UPDATE chunks SET checksum = checksum + ?1 - coalesce(block, 0), block = ?1 WHERE id = ?2"
    found = connection.executemany(moving, [(number, row.key) for row in rows])
    if found.rowcount != len(rows):
        raise DamageError(f"{len(rows) - found.rowcount:,} chunks with vectors are missing")


def next_key(connection: sqlite3.Connection, table: str) -> int:
    """Return the first key of a table that no row has or had."""
    statement = f"SELECT max(coalesce((SELECT max(id) FROM {table}), 0), coalesce(max(seq), 0)) FROM sqlite_sequence"
    (last,) = connection.execute(f"{statement} WHERE name = ?", (table,)).fetchone()
    if not is_key(last):
        raise DamageError(f"{ascii(last)[:40]} is no key of {table}")
    return int(last) + 1


def is_key(value: object) -> bool:
    """Whether this is a key that may have been given, or 0: nobody ever has more than LAST_KEY rows."""
    return type(value) is int and 0 <= value < LAST_KEY


def living_rows(connection: sqlite3.Connection, number: int) -> list[VectorRow]:
    """Return the rows of a block that are not deleted."""
    block = next(rows_of(connection, "blocks", "WHERE id = ?", (number,)), None)
    vectors = next(rows_of(connection, "vectors", "WHERE block = ?", (number,)), None)
    if block is None or vectors is None:
        raise DamageError(f"the vectors of block {number} are missing")
    return rows_in(block, vectors[1])


def rows_in(block: Sequence[Any], numbers: bytes) -> list[VectorRow]:
    """Return the rows that are not deleted of a row of `blocks` and its vectors."""
    rows = list(zip(unpacked_keys(block[5]), unpacked_keys(block[6]), strict=True))
    width = len(numbers) // len(rows)
    return [
        VectorRow(key, document, numbers[at * width : (at + 1) * width])
        for at, (key, document) in enumerate(rows)
        if key > 0
    ]


def drop_block(connection: sqlite3.Connection, number: int) -> None:
    """Delete a block."""
    connection.execute("DELETE FROM blocks WHERE id = ?", (number,))
    connection.execute("DELETE FROM vectors WHERE block = ?", (number,))


def delete_rows(connection: sqlite3.Connection, deleted: Mapping[int, Sequence[int]]) -> list[VectorRow]:
    """Mark rows of blocks as deleted; drop blocks that are mostly deleted, and return their other rows."""
    rest: list[VectorRow] = []
    for number, keys in deleted.items():
        block = next(rows_of(connection, "blocks", "WHERE id = ?", (number,)), None)
        if block is None:
            raise DamageError(f"the vectors of block {number} are missing")
        _, tenant, changes, _, size, data, documents = block
        gone = set(keys)
        marked = [-key if key in gone else key for key in unpacked_keys(data)]
        living = sum(key > 0 for key in marked)
        row = sealed("blocks", number, tenant, changes + 1, living, size, packed_keys(marked), documents)
        connection.execute(rewriting("blocks"), row)
        if living * 2 < len(marked):
            rest += living_rows(connection, number)
            drop_block(connection, number)
    return rest
