"""Vectors in memory: read by the block, compared all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WHOLE: Final = 127.0  # stands for one in a vector of small integers


class VectorBlock(NamedTuple):
    """Some vectors: keys ascend, those of deleted chunks are negative."""

    changes: int
    keys: NDArray[np.int64]
    documents: NDArray[np.int64]
    numbers: NDArray[np.int8]
    lengths: NDArray[np.float32]


class Matrix:
    """The vectors of one tenant in memory, as of one moment."""

    def __init__(self, changes: int = -1, blocks: dict[int, VectorBlock] | None = None) -> None:
        """Hold blocks by their numbers; `changes` tells the moment."""
        self.changes = changes
        self.blocks = blocks or {}
        self._all = list(self.blocks.values())

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
    def _starts(self) -> NDArray[np.int64]:
        """Where each block begins among all rows."""
        return np.cumsum([0, *(len(block.keys) for block in self._all)])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The rows by their keys."""
        return np.argsort(self._keys, kind="stable")  # nearly sorted as they are, which this way makes cheap

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
        """Give the keys with the highest cosines, of some documents, among some keys; None stands for all."""
        if not self._all or limit <= 0:
            return []
        query = small(vector)
        scores = np.concatenate([products(query, block.numbers) for block in self._all])
        scores /= self._lengths * _length(query)
        meant = self._keys > 0
        if documents is not None:
            switches = _switches(documents)
            meant &= switches[np.minimum(self._documents, len(switches) - 1)]
        if among is not None:
            meant &= np.isin(self._keys, among)
        scores[~meant] = -np.inf
        count = min(limit, int(meant.sum()))
        best = np.argpartition(-scores, count - 1)[:count] if 0 < count < len(scores) else np.flatnonzero(meant)
        best = best[np.lexsort((self._keys[best], -scores[best]))]
        return list(zip(self._keys[best].tolist(), scores[best].tolist(), strict=True))

    def some(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Give the cosines of some keys; those without a vector are left out."""
        if not self._all or not keys:
            return {}
        wanted = np.unique(np.array(keys, dtype=np.int64))
        wanted = wanted[wanted > 0]
        places = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        rows = self._order[places[self._sorted[places] == wanted]]
        if not len(rows):
            return {}
        blocks = np.searchsorted(self._starts, rows, side="right") - 1
        within = rows - self._starts[blocks]
        pairs = zip(blocks.tolist(), within.tolist(), strict=True)
        numbers = np.stack([self._all[block].numbers[row] for block, row in pairs])
        query = small(vector)
        cosines = products(query, numbers) / (self._lengths[rows] * _length(query))
        return dict(zip(self._keys[rows].tolist(), cosines.tolist(), strict=True))


def _length(query: NDArray[np.int8]) -> float:
    return float(np.linalg.norm(query.astype(np.float32))) or 1.0


def _switches(documents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Give a table that says of each number whether it is meant; the last stands for all beyond it."""
    switches = np.zeros(int(documents.max(initial=0)) + 2, dtype=bool)
    switches[documents] = True
    return switches


def refreshed(
    connection: sqlite3.Connection, tenant: int, dimension: int, known: dict[int, VectorBlock]
) -> dict[int, VectorBlock]:
    """Read the blocks of a tenant that are new, and the keys of those that changed."""
    blocks: dict[int, VectorBlock] = {}
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


def _loaded(connection: sqlite3.Connection, number: int, dimension: int) -> VectorBlock:
    changes, keys, documents, numbers = connection.execute(
        "SELECT changes, keys, documents, numbers FROM blocks JOIN vectors ON block = id WHERE id = ?", (number,)
    ).fetchone()
    matrix = np.frombuffer(numbers, dtype=np.int8).reshape(-1, dimension)
    return VectorBlock(changes, integers(keys), integers(documents), matrix, _lengths(matrix))


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
