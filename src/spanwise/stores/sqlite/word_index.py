"""Which chunks of a tenant have a query's terms: postings of its terms are read, and scored all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from spanwise.stores.sqlite.checksums import DamageError
from spanwise.stores.sqlite.segments import PAGES, SegmentState, head_of, pages_at, states_of
from spanwise.stores.sqlite.vector_matrix import best_of, members_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanwise.stores.sqlite.postings import Head
    from spanwise.stores.sqlite.tenants import Tenant

_K1: Final = 1.2
_B: Final = 0.75
_BYTES_PER_CHUNK: Final = 50  # of keys, documents and lengths


class LoadedSegment(NamedTuple):
    """A segment whose head is in memory."""

    state: SegmentState
    head: Head
    keys: NDArray[np.int64]
    """Those of deleted chunks are 0."""


class TermPostings(NamedTuple):
    """A term in one segment: the rows of its chunks, and how often each has it."""

    segment: int
    rows: NDArray[np.uint16]
    times: NDArray[np.uint8]


class WordIndex:
    """A snapshot of the segments of one tenant."""

    def __init__(self, segments: Sequence[LoadedSegment] = (), average: float = 1.0) -> None:
        """Create an index from segments ordered by their keys; `average` is the length of a chunk in terms."""
        self.segments = tuple(segments)
        self._average = average

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        return sum(_BYTES_PER_CHUNK * len(one.keys) for one in self.segments)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return np.concatenate([one.keys for one in self.segments])

    @cached_property
    def _documents(self) -> NDArray[np.int64]:
        return np.concatenate([one.head.chunks.documents for one in self.segments])

    @cached_property
    def _damping(self) -> NDArray[np.float32]:
        lengths = np.concatenate([one.head.chunks.lengths for one in self.segments])
        return (_K1 * (1 - _B + _B * lengths / self._average)).astype(np.float32)

    @cached_property
    def _starts(self) -> list[int]:
        """The index of the first row of each segment."""
        return [0, *accumulate(len(one.keys) for one in self.segments)]

    def refreshed(self, connection: sqlite3.Connection, tenant: Tenant) -> WordIndex:
        """Return the index of a later snapshot; of segments that are still there nothing is read again."""
        known = {one.state.number: one for one in self.segments}
        segments = []
        for state in states_of(connection, tenant.number):
            before = known.get(state.number)
            if before is None or before.state != state:
                head = before.head if before else head_of(connection, state)
                before = LoadedSegment(state, head, _living_keys(head, state))
            segments.append(before)
        total = sum(int(np.count_nonzero(one.keys)) for one in segments)
        if total != tenant.chunks:
            raise DamageError(f"full text has {total:,} of {tenant.chunks:,} chunks")
        return WordIndex(segments, max(tenant.terms / max(tenant.chunks, 1), 1.0))

    def postings(self, connection: sqlite3.Connection, terms: Sequence[int]) -> dict[int, list[TermPostings]]:
        """Return the postings of terms by their numbers, read from the file."""
        wanted = np.array(sorted(terms), dtype=np.uint32)
        places: list[tuple[int, int, int]] = []  # page, term, segment
        for at, (state, head, _) in enumerate(self.segments):
            lows = np.searchsorted(head.lasts, wanted, side="left")
            highs = np.searchsorted(head.firsts, wanted, side="right")
            first = state.number * PAGES + 1
            for term, low, high in zip(wanted.tolist(), lows.tolist(), highs.tolist(), strict=True):
                places += [(first + page, term, at) for page in range(low, high)]
        numbers = sorted({page for page, _, _ in places})
        pages = dict(zip(numbers, pages_at(connection, numbers), strict=True))
        found: dict[int, list[TermPostings]] = {term: [] for term in terms}
        for page, term, at in places:
            rows, times = pages[page].of(term)
            if len(rows):
                found[term].append(TermPostings(at, rows, times))
        return found

    def counted(self, postings: Sequence[TermPostings]) -> tuple[int, int]:
        """Return in how many chunks a term stands, and the sum of their keys."""
        keys = [self.segments[at].keys[rows] for at, rows, _ in postings]
        return sum(int(np.count_nonzero(one)) for one in keys), sum(int(one.sum()) for one in keys)

    def best(
        self,
        found: Mapping[int, Sequence[TermPostings]],
        weights: Mapping[int, float],
        limit: int,
        documents: NDArray[np.int64] | None = None,
        among: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, float]]:
        """Return the keys of the chunks with the highest BM25, of some documents, among some keys; None means all."""
        scores = np.zeros(self._starts[-1], dtype=np.float32)
        for term, postings in found.items():
            weight = np.float32(weights[term])
            for at, rows, times in postings:
                part = slice(self._starts[at], self._starts[at + 1])
                scores[part][rows] += weight * times / (times + self._damping[part][rows])
        allowed = scores > 0
        allowed &= self._keys > 0
        if documents is not None:
            allowed &= members_of(documents, self._documents)
        if among is not None:
            allowed &= np.isin(self._keys, among)
        return best_of(scores, self._keys, allowed, limit)


def _living_keys(head: Head, state: SegmentState) -> NDArray[np.int64]:
    keys = head.chunks.keys.copy()
    keys[np.frombuffer(state.deleted, "<u2")] = 0
    return keys
