"""Vectors in memory, loaded block by block and compared all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from spanwise.embedding import quantized
from spanwise.stores.sqlite.checksums import DamageError, rows_of
from spanwise.stores.sqlite.tenants import Tenant

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BYTES_PER_ROW: Final = 50  # of keys, documents and lengths


class VectorBlock(NamedTuple):
    """The vectors of a block; keys ascend, those of deleted chunks are negative."""

    changes: int
    keys: NDArray[np.int64]
    documents: NDArray[np.int64]
    numbers: NDArray[np.int8]
    lengths: NDArray[np.float32]


class Matrix:
    """A snapshot of the vectors of one tenant."""

    def __init__(self, blocks: dict[int, VectorBlock]) -> None:
        """Create a matrix from blocks by their numbers."""
        self.blocks = blocks
        self._all = list(self.blocks.values())

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        return sum(block.numbers.nbytes + _BYTES_PER_ROW * len(block.keys) for block in self._all)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return np.concatenate([block.keys for block in self._all])

    @cached_property
    def _documents(self) -> NDArray[np.int64]:
        return np.concatenate([block.documents for block in self._all])

    @cached_property
    def _lengths(self) -> NDArray[np.float32]:
        return np.concatenate([block.lengths for block in self._all])

    @cached_property
    def _inverse(self) -> NDArray[np.float32]:
        return np.reciprocal(self._lengths)

    @cached_property
    def _alive(self) -> NDArray[np.bool_]:
        return self._keys > 0

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The index of the first row of each block."""
        return np.cumsum([0, *(len(block.keys) for block in self._all)])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The rows in the order of their keys."""
        return np.argsort(self._keys, kind="stable")  # cheap, because they are nearly sorted

    @cached_property
    def _sorted(self) -> NDArray[np.int64]:
        return self._keys[self._order]

    def nearest(
        self,
        vector: NDArray[np.float32],
        limit: int,
        documents: NDArray[np.int64] | None = None,
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, float]]:
        """Return the keys with the highest cosines, of some documents, among some keys; None means all."""
        if not self._all or limit <= 0:
            return []
        query = quantized(vector)
        scores = np.empty(len(self._keys), dtype=np.float32)
        for start, block in zip(self._starts.tolist(), self._all, strict=False):
            scores[start : start + len(block.keys)] = products(query, block.numbers)
        scores *= self._inverse
        scores /= _length(query)
        allowed = self._alive
        if documents is not None:
            allowed = allowed & members_of(documents, self._documents)
        if among is not None:
            allowed = allowed & np.isin(self._keys, among)
        return best_of(scores, self._keys, allowed, limit)

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given keys; those without a vector are left out."""
        if not self._all or not keys:
            return {}
        wanted = np.unique(np.array(keys, dtype=np.int64))
        wanted = wanted[wanted > 0]
        indices = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        rows = self._order[indices[self._sorted[indices] == wanted]]
        if not len(rows):
            return {}
        blocks = np.searchsorted(self._starts, rows, side="right") - 1
        within = rows - self._starts[blocks]
        pairs = zip(blocks.tolist(), within.tolist(), strict=True)
        numbers = np.stack([self._all[block].numbers[row] for block, row in pairs])
        query = quantized(vector)
        cosines = products(query, numbers) / (self._lengths[rows] * _length(query))
        return dict(zip(self._keys[rows].tolist(), cosines.tolist(), strict=True))


def _length(query: NDArray[np.int8]) -> float:
    return float(np.linalg.norm(query.astype(np.float32))) or 1.0


def members_of(chosen: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each of some documents whether it is among the chosen ones."""
    table = np.zeros(int(chosen.max(initial=0)) + 2, dtype=bool)  # the last entry is for all beyond it
    table[chosen] = True
    return table[np.minimum(documents, len(table) - 1)]


def best_of(
    scores: NDArray[np.float32], keys: NDArray[np.int64], allowed: NDArray[np.bool_], limit: int
) -> list[tuple[int, float]]:
    """Return the keys of the highest scores that are allowed, the highest first; of equals those that come first."""
    rows = np.flatnonzero(allowed)
    count = min(limit, len(rows))
    if count <= 0:
        return []
    values = scores if len(rows) == len(scores) else scores[rows]
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    best = rows[np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])]
    best = best[np.lexsort((keys[best], -scores[best]))]
    return list(zip(keys[best].tolist(), scores[best].tolist(), strict=True))


def refreshed(
    connection: sqlite3.Connection, tenant: Tenant, dimension: int, cached: dict[int, VectorBlock]
) -> dict[int, VectorBlock]:
    """Return all blocks of a tenant, loading the new ones and the keys of those that changed."""
    blocks: dict[int, VectorBlock] = {}
    statement = "SELECT id, changes FROM blocks WHERE tenant = ? ORDER BY id"
    for number, changes in connection.execute(statement, (tenant.number,)).fetchall():
        before = cached.get(number)
        if before is None:
            blocks[number] = _loaded(connection, number, dimension)
        elif before.changes == changes:
            blocks[number] = before
        else:
            (row,) = rows_of(connection, "blocks", "WHERE id = ?", (number,))
            blocks[number] = before._replace(changes=row[2], keys=integers(row[5]))
    living = sum(int((block.keys > 0).sum()) for block in blocks.values())
    if living != tenant.vectors:
        raise DamageError(f"{living:,} of {tenant.vectors:,} vectors are there")
    return blocks


def _loaded(connection: sqlite3.Connection, number: int, dimension: int) -> VectorBlock:
    rows = zip(
        rows_of(connection, "blocks", "WHERE id = ?", (number,)),
        rows_of(connection, "vectors", "WHERE block = ?", (number,)),
        strict=False,
    )
    for (_, _, changes, _, size, keys, documents), (_, numbers) in rows:
        if len(numbers) == size * dimension and len(keys) == len(documents) == 8 * size:
            matrix = np.frombuffer(numbers, dtype=np.int8).reshape(-1, dimension)
            return VectorBlock(changes, integers(keys), integers(documents), matrix, _lengths(matrix))
    raise DamageError(f"the vectors of block {number} are missing")


def _lengths(matrix: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the lengths of vectors; that of a zero vector is one, because it is divided by."""
    wide = matrix.astype(np.float32)
    lengths: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    lengths[lengths == 0] = 1.0
    return lengths


def integers(data: bytes) -> NDArray[np.int64]:
    """Decode keys."""
    return np.frombuffer(data, dtype="<i8")


def products(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the dot products of a vector with every row."""
    if simsimd := _simsimd():
        result: NDArray[np.float32] = np.asarray(simsimd.cdist(query[None, :], rows, metric="dot"), np.float32)[0]
    else:
        result = rows.astype(np.float32) @ query.astype(np.float32)
    return result


@cache
def _simsimd() -> Any:
    """Return the module that multiplies small integers fast; None if it isn't installed."""
    try:
        import simsimd
    except ImportError:
        return None
    return simsimd
