"""Vectors on disk: about a thousand rows are written and read at once.

Nothing here does arithmetic, so writing doesn't wait for what searching needs.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_FULL: Final = 1_000  # rows of a block


class Fresh(NamedTuple):
    """A vector that is to be written."""

    key: int
    document: int
    vector: bytes


def packed_keys(keys: Sequence[int]) -> bytes:
    """Write keys in eight bytes each."""
    return struct.pack(f"<{len(keys)}q", *keys)


def unpacked_keys(data: bytes) -> tuple[int, ...]:
    """Read keys back."""
    return struct.unpack(f"<{len(data) // 8}q", data)


def write_vectors(connection: sqlite3.Connection, tenant: int, fresh: Sequence[Fresh]) -> None:
    """Write vectors as blocks; small blocks before them are taken in, so that there never are many."""
    rows = list(fresh)
    while rows and len(rows) < _FULL and (last := _last(connection, tenant)):
        number, living, size = last
        if living + len(rows) > _FULL or size > 2 * len(rows):
            break
        rows += living_rows(connection, number)
        drop_block(connection, number)
    rows.sort()
    for at in range(0, len(rows), _FULL):
        _write_block(connection, tenant, rows[at : at + _FULL])


def _last(connection: sqlite3.Connection, tenant: int) -> tuple[int, int, int] | None:
    found: tuple[int, int, int] | None = connection.execute(
        "SELECT id, living, size FROM blocks WHERE tenant = ? ORDER BY id DESC LIMIT 1", (tenant,)
    ).fetchone()
    return found


def _write_block(connection: sqlite3.Connection, tenant: int, rows: Sequence[Fresh]) -> None:
    keys, documents = packed_keys([row.key for row in rows]), packed_keys([row.document for row in rows])
    number = connection.execute(
        "INSERT INTO blocks (tenant, changes, living, size, keys, documents) VALUES (?, 0, ?, ?, ?, ?)",
        (tenant, len(rows), len(rows), keys, documents),
    ).lastrowid
    numbers = b"".join(row.vector for row in rows)
    connection.execute("INSERT INTO vectors (block, numbers) VALUES (?, ?)", (number, numbers))
    connection.executemany("UPDATE chunks SET block = ? WHERE id = ?", [(number, row.key) for row in rows])


def living_rows(connection: sqlite3.Connection, number: int) -> list[Fresh]:
    """Give what a block holds of chunks that are still there."""
    keys, documents, numbers = connection.execute(
        "SELECT keys, documents, numbers FROM blocks JOIN vectors ON block = id WHERE id = ?", (number,)
    ).fetchone()
    every = list(zip(unpacked_keys(keys), unpacked_keys(documents), strict=True))
    width = len(numbers) // len(every)
    return [
        Fresh(key, document, numbers[at * width : (at + 1) * width])
        for at, (key, document) in enumerate(every)
        if key > 0
    ]


def drop_block(connection: sqlite3.Connection, number: int) -> None:
    """Delete a block."""
    connection.execute("DELETE FROM blocks WHERE id = ?", (number,))
    connection.execute("DELETE FROM vectors WHERE block = ?", (number,))


def bury(connection: sqlite3.Connection, dead: Mapping[int, Sequence[int]]) -> list[Fresh]:
    """Mark rows of blocks as deleted; blocks that are mostly deleted go, and the rest of them is given back."""
    rest: list[Fresh] = []
    for number, keys in dead.items():
        (data,) = connection.execute("SELECT keys FROM blocks WHERE id = ?", (number,)).fetchone()
        gone = set(keys)
        every = [-key if key in gone else key for key in unpacked_keys(data)]
        living = sum(key > 0 for key in every)
        connection.execute(
            "UPDATE blocks SET keys = ?, living = ?, changes = changes + 1 WHERE id = ?",
            (packed_keys(every), living, number),
        )
        if living * 2 < len(every):
            rest += living_rows(connection, number)
            drop_block(connection, number)
    return rest
