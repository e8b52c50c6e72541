"""Vectors by the block: about a thousand rows are written, read and compared at once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL: Final = 1_000  # rows of a block
_WHOLE: Final = 127.0  # stands for one in a vector of small integers


class Block(NamedTuple):
    """Some vectors: keys ascend, those of deleted chunks are negative."""

    changes: int
    keys: NDArray[np.int64]
    documents: NDArray[np.int64]
    numbers: NDArray[np.int8]
    lengths: NDArray[np.float32]


class Matrix:
    """The vectors of one tenant in memory, as of one moment."""

    def __init__(self, changes: int = -1, blocks: dict[int, Block] | None = None) -> None:
        """Hold blocks by their numbers; `changes` tells the moment."""
        self.changes = changes
        self.blocks = blocks or {}

    def nearest(self, vector: NDArray[np.float32], limit: int, allowed: Allowed | None) -> list[tuple[int, float]]:
        """Give the keys with the highest cosines."""
        keys: list[NDArray[np.int64]] = []
        scores: list[NDArray[np.float32]] = []
        for block, cosines in self._cosines(vector):
            living = block.keys > 0
            if allowed is not None:
                living &= allowed.among(block)
            keys.append(block.keys[living])
            scores.append(cosines[living])
        if not keys or limit <= 0:
            return []
        every_key, every_score = np.concatenate(keys), np.concatenate(scores)
        if len(every_key) > limit:
            best = np.argpartition(-every_score, limit - 1)[:limit]
            every_key, every_score = every_key[best], every_score[best]
        order = np.lexsort((every_key, -every_score))
        return [(int(every_key[at]), float(every_score[at])) for at in order]

    def _cosines(self, vector: NDArray[np.float32]) -> Iterator[tuple[Block, NDArray[np.float32]]]:
        query = small(vector)
        length = float(np.linalg.norm(query.astype(np.float32))) or 1.0
        for block in self.blocks.values():
            yield block, (products(query, block.numbers) / (block.lengths * length)).astype(np.float32)

    def some(self, vector: NDArray[np.float32], places: Sequence[tuple[int, int]]) -> dict[int, float]:
        """Give the cosines of some chunks, named by block and key."""
        query = small(vector)
        length = float(np.linalg.norm(query.astype(np.float32))) or 1.0
        found: dict[int, float] = {}
        by_block: dict[int, list[int]] = {}
        for number, key in places:
            by_block.setdefault(number, []).append(key)
        for number, wanted in by_block.items():
            block = self.blocks[number]
            rows = np.searchsorted(np.abs(block.keys), np.array(wanted))
            cosines = products(query, block.numbers[rows]) / (block.lengths[rows] * length)
            found |= dict(zip(wanted, map(float, cosines), strict=True))
        return found


class Allowed(NamedTuple):
    """What a search may find: some documents, some chunks; None where all are meant."""

    documents: NDArray[np.int64] | None
    keys: NDArray[np.int64] | None

    def among(self, block: Block) -> NDArray[np.bool_]:
        """Say which rows of a block are meant."""
        meant = np.ones(len(block.keys), dtype=bool)
        if self.documents is not None:
            meant &= np.isin(block.documents, self.documents)
        if self.keys is not None:
            meant &= np.isin(block.keys, self.keys)
        return meant


class Matrices:
    """The vectors that this process has read; what another one wrote is read after it, block by block."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._of: dict[int, Matrix] = {}
        self._lock = threading.Lock()

    def of(self, connection: sqlite3.Connection, tenant: int, dimension: int) -> Matrix:
        """Give a tenant's vectors as of the moment that the connection sees."""
        changes = connection.execute("SELECT changes FROM tenants WHERE id = ?", (tenant,)).fetchone()[0]
        with self._lock:
            known = self._of.get(tenant) or Matrix()
        if known.changes == changes:
            return known
        fresh = Matrix(changes, _refreshed(connection, tenant, dimension, known.blocks))
        with self._lock:
            self._of[tenant] = fresh
        return fresh


def _refreshed(
    connection: sqlite3.Connection, tenant: int, dimension: int, known: dict[int, Block]
) -> dict[int, Block]:
    blocks: dict[int, Block] = {}
    rows = connection.execute("SELECT id, changes FROM blocks WHERE tenant = ? ORDER BY id", (tenant,)).fetchall()
    for number, changes in rows:
        before = known.get(number)
        if before is None:
            blocks[number] = _loaded(connection, number, dimension)
        elif before.changes == changes:
            blocks[number] = before
        else:
            keys = connection.execute("SELECT keys FROM blocks WHERE id = ?", (number,)).fetchone()[0]
            blocks[number] = before._replace(changes=changes, keys=integers(keys))
    return blocks


def _loaded(connection: sqlite3.Connection, number: int, dimension: int) -> Block:
    changes, keys, documents, numbers = connection.execute(
        "SELECT changes, keys, documents, numbers FROM blocks JOIN vectors ON block = id WHERE id = ?", (number,)
    ).fetchone()
    matrix = np.frombuffer(numbers, dtype=np.int8).reshape(-1, dimension)
    return Block(changes, integers(keys), integers(documents), matrix, _lengths(matrix))


def _lengths(matrix: NDArray[np.int8]) -> NDArray[np.float32]:
    """Give the lengths of vectors; that of nothing counts as one, because one divides by it."""
    wide = matrix.astype(np.float32)
    lengths: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    lengths[lengths == 0] = 1.0
    return lengths


def integers(data: bytes) -> NDArray[np.int64]:
    """Read keys back."""
    return np.frombuffer(data, dtype="<i8")


def small(vector: NDArray[np.float32]) -> NDArray[np.int8]:
    """Give a vector of length one as small integers."""
    rounded: NDArray[np.int8] = np.clip(np.rint(np.asarray(vector) * _WHOLE), -_WHOLE, _WHOLE).astype(np.int8)
    return rounded


def products(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Multiply a vector with every row."""
    if not len(rows):
        return np.zeros(0, dtype=np.float32)
    if simsimd := _simsimd():
        result: NDArray[np.float32] = np.asarray(simsimd.cdist(query[None, :], rows, metric="dot"), np.float32)[0]
    else:
        result = rows.astype(np.float32) @ query.astype(np.float32)
    return result


@cache
def _simsimd() -> Any:
    """Give the fast way to multiply small integers; None where it isn't installed."""
    try:
        import simsimd
    except ImportError:
        return None
    return simsimd


class Fresh(NamedTuple):
    """A vector that is to be written."""

    key: int
    document: int
    vector: bytes


def write_vectors(connection: sqlite3.Connection, tenant: int, fresh: Sequence[Fresh]) -> None:
    """Write vectors as blocks; small blocks before them are taken in, so that there never are many."""
    rows = list(fresh)
    while rows and len(rows) < FULL and (last := _last(connection, tenant)):
        number, living, size = last
        if living + len(rows) > FULL or size > 2 * len(rows):
            break
        rows += living_rows(connection, number)
        drop_block(connection, number)
    rows.sort()
    for at in range(0, len(rows), FULL):
        _write_block(connection, tenant, rows[at : at + FULL])


def _last(connection: sqlite3.Connection, tenant: int) -> tuple[int, int, int] | None:
    found: tuple[int, int, int] | None = connection.execute(
        "SELECT id, living, size FROM blocks WHERE tenant = ? ORDER BY id DESC LIMIT 1", (tenant,)
    ).fetchone()
    return found


def _write_block(connection: sqlite3.Connection, tenant: int, rows: Sequence[Fresh]) -> None:
    keys = np.array([row.key for row in rows], dtype="<i8").tobytes()
    documents = np.array([row.document for row in rows], dtype="<i8").tobytes()
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
    every = list(zip(integers(keys).tolist(), integers(documents).tolist(), strict=True))
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
        every = integers(data).copy()
        every[np.isin(every, np.array(keys, dtype=np.int64))] *= -1
        living = int((every > 0).sum())
        connection.execute(
            "UPDATE blocks SET keys = ?, living = ?, changes = changes + 1 WHERE id = ?",
            (every.tobytes(), living, number),
        )
        if living * 2 < len(every):
            rest += living_rows(connection, number)
            drop_block(connection, number)
    return rest
