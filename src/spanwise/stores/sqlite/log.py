"""Damage in the write-ahead log of an embedded store.

SQLite reads the log up to the first frame that is not as it was written, and takes the rest for an interrupted write.
So damage inside the log undoes commits without an error; here it is told apart from what a killed writer leaves. A log
that is cut off can't be told apart from that; therefore it is emptied after every commit, as far as readers allow it.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from spanwise.stores.sqlite.checksums import DamageError
from spanwise.stores.sqlite.locks import is_locked

_MAGIC: Final = (0x377F0682, 0x377F0683)  # the last bit says whether checksums read big-endian words
_HEADER: Final = 32
_FRAME: Final = 24
_UNREADABLE: Final = "commits in its log can't be read, so it is in an older state"

Sums = tuple[int, int]


class _Frame(NamedTuple):
    page: int
    size: int
    """Of the store in pages, for the last frame of a commit; 0 for others."""
    salts: tuple[int, int]
    sums: Sums
    data: bytes


def empty_log(connection: sqlite3.Connection) -> None:
    """Move what was committed from the log into the store, where every row has its checksum, unless readers need it."""
    with suppress(sqlite3.OperationalError):  # it was committed: a disk that fails now is reported by the next write
        (seconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {seconds}")


def check_log(path: str) -> None:
    """Raise if commits in the log can't be read, before SQLite, which would take them for unfinished, removes it.

    While a writer adds to the log, nothing can be said of it.
    """
    found = lost_commits(path)
    if found and not is_locked(path) and found == lost_commits(path):
        raise DamageError(found)


def lost_commits(path: str) -> str | None:
    """Return what is wrong with the log of a store if nobody writes to it; None if nothing is."""
    try:
        store = Path(os.path.realpath(path))
        log = store.with_name(f"{store.name}-wal")
        if size := log.stat().st_size:
            with log.open("rb") as file:
                return _wrong(file, size, store.stat().st_size)
    except (OSError, ValueError):  # opening it reports the error
        pass
    return None


def _wrong(file: BinaryIO, size: int, store_size: int) -> str | None:
    header = file.read(_HEADER)
    if len(header) < _HEADER:
        return _UNREADABLE
    magic, _, page_size, _, first_salt, second_salt, *stated = struct.unpack(">8I", header)
    order = ">" if magic & 1 else "<"
    sums = _summed((0, 0), header[:24], order)
    if magic not in _MAGIC or list(sums) != stated or not 512 <= page_size <= 65_536:
        return _UNREADABLE
    salts, pages, is_read = (first_salt, second_salt), (size + store_size) // page_size, True
    for frame in _frames(file, page_size):
        follows = is_read and _summed(sums, struct.pack(">2I", frame.page, frame.size) + frame.data, order)
        is_read = follows == frame.sums and frame.salts == salts
        sums = frame.sums
        if not is_read and (follows == frame.sums or not _is_left_over(frame, salts, pages)):
            return _UNREADABLE
    return None


def _frames(file: BinaryIO, page_size: int) -> Iterator[_Frame]:
    while len(data := file.read(_FRAME + page_size)) == _FRAME + page_size:
        page, size, *salts, first, second = struct.unpack(">6I", data[:_FRAME])
        yield _Frame(page, size, (salts[0], salts[1]), (first, second), data[_FRAME:])


def _is_left_over(frame: _Frame, salts: tuple[int, int], pages: int) -> bool:
    """Whether a frame may be of a commit that was interrupted, or of an earlier use of the log."""
    if frame.salts == salts:
        return frame.page > 0 and not frame.size
    return 0 < frame.page <= pages and frame.size <= pages


def _summed(sums: Sums, data: bytes, order: str) -> Sums:
    """Add bytes to the checksum of the log."""
    first, second = sums
    for even, odd in struct.iter_unpack(f"{order}2I", data):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
