"""The difference between the new chunks of a document and the stored ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from spanwise.stores.values import ChunkState, Entry, record_hash


class Matched(NamedTuple):
    """What is to be done with each chunk."""

    kept: int
    moved: tuple[tuple[int, Entry], ...]
    revectored: tuple[tuple[int, Entry], ...]
    """Kept or moved ones that have no vector yet."""
    added: tuple[Entry, ...]
    deleted: tuple[int, ...]


def is_searched(entry: Entry) -> bool:
    """Whether a chunk is searched for; a parent isn't."""
    return bool(entry.terms_hash)


def matched(stored: Sequence[ChunkState], entries: Sequence[Entry], *, embedding: bool) -> Matched:
    """Find a stored chunk with the same text for each new one, in order: it stays, with its terms and its vector."""
    waiting: dict[tuple[str, str], deque[ChunkState]] = {}
    for old in stored:
        waiting.setdefault((old.content_hash, old.terms_hash), deque()).append(old)
    kept = 0
    moved: list[tuple[int, Entry]] = []
    revectored: list[tuple[int, Entry]] = []
    added: list[Entry] = []
    for entry in entries:
        same = waiting.get((entry.content_hash, entry.terms_hash))
        if not same:
            added.append(entry)
            continue
        old = same.popleft()
        if embedding and not old.has_vector and is_searched(entry):
            revectored.append((old.key, entry))
        if old.record_hash == record_hash(entry):
            kept += 1
        else:
            moved.append((old.key, entry))
    deleted = sorted(old.key for rest in waiting.values() for old in rest)
    return Matched(kept, tuple(moved), tuple(revectored), tuple(added), tuple(deleted))
