"""Segments on disk: written by each commit, and merged as a store grows, so that there are never many.

The keys of a segment follow those of the one before it. Only the list of its deleted rows is ever rewritten; a segment
that is mostly deleted is written anew.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from spanwise.stores.sqlite.checksums import DamageError, inserting, rewriting, rows_of, sealed
from spanwise.stores.sqlite.vector_blocks import next_key

if TYPE_CHECKING:
    from spanwise.stores.sqlite.postings import Head, Page, Segment

PAGES: Final = 1 << 20  # the number of a page is that of its segment times this, and its own
_AT_ONCE: Final = 4_096  # chunks that are put into postings together


class WordRow(NamedTuple):
    """The terms of a chunk, as they are stored."""

    key: int
    document: int
    numbers: bytes


class SegmentState(NamedTuple):
    """A row of `segments`."""

    number: int
    tenant: int
    changes: int
    living: int
    size: int
    last: int
    """The highest key."""
    deleted: bytes
    """The rows that are deleted, two bytes each."""


def states_of(connection: sqlite3.Connection, tenant: int) -> list[SegmentState]:
    """Return a tenant's segments, ordered by their keys."""
    rows = rows_of(connection, "segments", "WHERE tenant = ? ORDER BY last", (tenant,))
    return [SegmentState(*row) for row in rows]


def head_of(connection: sqlite3.Connection, state: SegmentState) -> Head:
    """Return the first page of a segment."""
    from spanwise.stores.sqlite.postings import head_in

    row = next(rows_of(connection, "postings", "WHERE id = ?", (state.number * PAGES,)), None)
    head = None if row is None else head_in(row[1])
    if head is None or len(head.chunks.keys) != state.size:
        raise DamageError(f"the chunks of segment {state.number} are missing")
    return head


def pages_at(connection: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[Page]:
    """Yield pages by their numbers, which ascend."""
    from spanwise.stores.sqlite.postings import page_in

    for at in range(0, len(numbers), 500):
        part = numbers[at : at + 500]
        condition = f"WHERE id IN ({','.join('?' * len(part))}) ORDER BY id"
        rows = list(rows_of(connection, "postings", condition, part))
        if [row[0] for row in rows] != list(part):
            raise DamageError("pages of postings are missing")
        yield from (page_in(row[1]) for row in rows)


def read_segment(connection: sqlite3.Connection, state: SegmentState) -> Segment:
    """Return a segment without its deleted chunks."""
    import numpy as np

    from spanwise.stores.sqlite.postings import Segment, living, postings_in

    head = head_of(connection, state)
    first = state.number * PAGES + 1
    pages = list(pages_at(connection, range(first, first + len(head.firsts))))
    return living(Segment(head.chunks, postings_in(pages)), np.frombuffer(state.deleted, "<u2"))


def add_words(connection: sqlite3.Connection, tenant: int, added: Sequence[WordRow]) -> None:
    """Write the terms of chunks, whose keys are higher than those of all before; small segments are merged in."""
    from spanwise.stores.sqlite.postings import merged, segment_of

    for at in range(0, len(added), _AT_ONCE):
        part = added[at : at + _AT_ONCE]
        before = _merged_in(connection, tenant, len(part))
        parts = [read_segment(connection, one) for one in before]
        for one in before:
            _drop(connection, one.number)
        new = segment_of([row.key for row in part], [row.document for row in part], [row.numbers for row in part])
        _write(connection, tenant, merged([*parts, new]))


def _merged_in(connection: sqlite3.Connection, tenant: int, added: int) -> list[SegmentState]:
    """Return the last segments, those that are no larger than what comes after them, in order."""
    from spanwise.stores.sqlite.postings import LARGEST

    found: list[SegmentState] = []
    for row in rows_of(connection, "segments", "WHERE tenant = ? ORDER BY last DESC", (tenant,)):
        state = SegmentState(*row)
        if state.living > added or state.living + added > LARGEST:
            break
        found.append(state)
        added += state.living
    return found[::-1]


def delete_words(connection: sqlite3.Connection, tenant: int, keys: Iterable[int]) -> None:
    """Mark chunks as deleted; segments that are mostly deleted are written anew."""
    import numpy as np

    groups: defaultdict[SegmentState, list[int]] = defaultdict(list)
    for key in sorted(keys):
        groups[_segment_with(connection, tenant, key)].append(key)
    for state, gone in groups.items():
        stored = head_of(connection, state).chunks.keys
        rows = np.searchsorted(stored, gone)
        if not np.array_equal(stored[np.minimum(rows, state.size - 1)], gone):
            raise DamageError(f"chunks of segment {state.number} are missing")
        deleted = np.union1d(np.frombuffer(state.deleted, "<u2"), rows.astype("<u2"))
        left = state.size - len(deleted)
        new = state._replace(changes=state.changes + 1, living=left, deleted=deleted.astype("<u2").tobytes())
        if left * 2 >= state.size:
            connection.execute(rewriting("segments"), sealed("segments", *new))
        else:
            rest = read_segment(connection, new) if left else None
            _drop(connection, state.number)
            if rest is not None:
                _write(connection, tenant, rest)


def _segment_with(connection: sqlite3.Connection, tenant: int, key: int) -> SegmentState:
    condition = "WHERE tenant = ? AND last >= ? ORDER BY last LIMIT 1"
    row = next(rows_of(connection, "segments", condition, (tenant, key)), None)
    if row is None:
        raise DamageError(f"the words of chunk {key} are missing")
    return SegmentState(*row)


def _write(connection: sqlite3.Connection, tenant: int, segment: Segment) -> None:
    from spanwise.stores.sqlite.postings import pages_of

    number, keys = next_key(connection, "segments"), segment.chunks.keys
    state = SegmentState(number, tenant, 0, len(keys), len(keys), int(keys[-1]), b"")
    connection.execute(inserting("segments"), sealed("segments", *state))
    pages = (sealed("postings", number * PAGES + at, page) for at, page in enumerate(pages_of(segment)))
    connection.executemany(inserting("postings"), pages)


def _drop(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("DELETE FROM segments WHERE id = ?", (number,))
    connection.execute("DELETE FROM postings WHERE id BETWEEN ? AND ?", (number * PAGES, (number + 1) * PAGES - 1))


def index_words(connection: sqlite3.Connection) -> None:
    """Make the segments of all chunks that are stored."""
    statement = (
        "SELECT numbered.tenant, chunk, document, numbers FROM numbered JOIN chunks ON chunks.id = chunk "
        "ORDER BY numbered.tenant, chunk"
    )
    waiting: list[WordRow] = []
    owner = 0
    for tenant, *row in connection.execute(statement):
        if tenant != owner or len(waiting) == _AT_ONCE:
            add_words(connection, owner, waiting)
            waiting = []
        owner = tenant
        waiting.append(WordRow(*row))
    add_words(connection, owner, waiting)
