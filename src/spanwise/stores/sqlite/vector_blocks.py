"""Vectors on disk, written and read in blocks of about a thousand rows.

Nothing here does arithmetic, so writing doesn't import what searching needs.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_BLOCK_ROWS: Final = 1_000


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
    found: tuple[int, int, int] | None = connection.execute(
        "SELECT id, living, size FROM blocks WHERE tenant = ? ORDER BY id DESC LIMIT 1", (tenant,)
    ).fetchone()
    return found


def _write_block(connection: sqlite3.Connection, tenant: int, rows: Sequence[VectorRow]) -> None:
    keys, documents = packed_keys([row.key for row in rows]), packed_keys([row.document for row in rows])
    number = connection.execute(
        "INSERT INTO blocks (tenant, changes, living, size, keys, documents) VALUES (?, 0, ?, ?, ?, ?)",
        (tenant, len(rows), len(rows), keys, documents),
    ).lastrowid
    numbers = b"".join(row.vector for row in rows)
    connection.execute("INSERT INTO vectors (block, numbers) VALUES (?, ?)", (number, numbers))
    connection.executemany("UPDATE chunks SET block = ? WHERE id = ?", [(number, row.key) for row in rows])


def living_rows(connection: sqlite3.Connection, number: int) -> list[VectorRow]:
    """Return the rows of a block that are not deleted."""
    keys, documents, numbers = connection.execute(
        "SELECT keys, documents, numbers FROM blocks JOIN vectors ON block = id WHERE id = ?", (number,)
    ).fetchone()
    rows = list(zip(unpacked_keys(keys), unpacked_keys(documents), strict=True))
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
        (data,) = connection.execute("SELECT keys FROM blocks WHERE id = ?", (number,)).fetchone()
        gone = set(keys)
        marked = [-key if key in gone else key for key in unpacked_keys(data)]
        living = sum(key > 0 for key in marked)
        connection.execute(
            "UPDATE blocks SET keys = ?, living = ?, changes = changes + 1 WHERE id = ?",
            (packed_keys(marked), living, number),
        )
        if living * 2 < len(marked):
            rest += living_rows(connection, number)
            drop_block(connection, number)
    return rest
