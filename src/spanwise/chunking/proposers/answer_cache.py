"""The cache of answers on disk: one SQLite file that several processes may use at once.

The cache is optional: a broken file is deleted, and if it can't be written, there is no cache.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from spanwise.chunking.proposers.prompt import VERSION, Messages

_FILE: Final = "smart.sqlite"
_WAIT: Final = 10.0  # seconds for another process to finish writing
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, starts TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID
"""
_INDEX: Final = "CREATE INDEX IF NOT EXISTS answers_used ON answers (used)"
_FIND: Final = "SELECT starts FROM answers WHERE key = ?"
_COUNT: Final = "SELECT count(*) FROM answers"
_LEAST: Final = 65536  # bytes: SQLite's own pages take as much

Done = TypeVar("Done")


class Status(NamedTuple):
    """The path of a cache, its number of answers and its size in bytes."""

    path: Path
    answers: int
    size: int


def default_folder() -> Path:
    """Return the folder for a user's caches on this system."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "spanwise"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "spanwise" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "spanwise"
    return Path.home() / ".cache" / "spanwise"


def key_of(model: str, messages: Messages) -> bytes:
    """Return the key of a question: a hash of everything that its answer depends on."""
    digest = sha256()
    for text in (VERSION, model, *(text for message in messages for text in message)):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class AnswerCache:
    """The answers of one folder, bounded in size; the least recently used are dropped first."""

    def __init__(self, folder: str | None, megabytes: int) -> None:
        """Set the path and the bound; the file is opened on first use."""
        self.path = (Path(folder) if folder else default_folder()) / _FILE
        self._most = max(megabytes * 1_000_000, _LEAST) if megabytes else 0
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._used: set[bytes] = set()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, ...]]:
        """Return the cached answers to some questions."""

        def find(connection: sqlite3.Connection) -> dict[bytes, tuple[int, ...]]:
            asked = ((key, connection.execute(_FIND, (key,)).fetchone()) for key in keys)
            return {key: _numbers(row[0]) for key, row in asked if row}

        found = self._run(find) or {}
        self._used |= found.keys()
        return found

    def put(self, key: bytes, starts: Iterable[int]) -> None:
        """Store an answer."""
        row = (key, " ".join(map(str, starts)), time.time_ns())
        self._run(lambda connection: connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row))

    def close(self) -> None:
        """Record which answers were used, make room if there are too many, and close the file."""
        if self._connection is not None:
            rows = [(time.time_ns(), key) for key in sorted(self._used)]
            self._run(lambda connection: connection.executemany("UPDATE answers SET used = ? WHERE key = ?", rows))
            self._run(self._make_room)
        with self._lock:
            self._disconnect()

    def status(self) -> Status:
        """Return what the cache holds; a missing file is not created."""
        exists = self.path.exists()
        answers = self._run(lambda connection: connection.execute(_COUNT).fetchone()[0]) if exists else 0
        size = self.path.stat().st_size if self.path.exists() else 0
        return Status(self.path, answers or 0, size)

    def clear(self) -> int:
        """Delete all answers, and return how many there were."""
        answers = self.status().answers
        with self._lock:
            self._disconnect()
            for path in (self.path, self.path.with_name(f"{_FILE}-journal")):
                with suppress(FileNotFoundError):
                    path.unlink()
        return answers

    def _run(self, work: Callable[[sqlite3.Connection], Done]) -> Done | None:
        """Run a function in a transaction; return None if that fails. A broken file is deleted."""
        if not self._most:
            return None
        with self._lock:
            try:
                connection = self._connection = self._connection or self._connect()
                with connection:
                    return work(connection)
            except (OSError, sqlite3.OperationalError):  # no rights, no space, locked too long: go on without
                self._most = 0
                self._disconnect()
            except (sqlite3.DatabaseError, ValueError):  # no database, or one of another program
                self._disconnect()
                with suppress(OSError):
                    self.path.unlink()
        return None

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self.path, timeout=_WAIT, check_same_thread=False)
        try:
            connection.execute("PRAGMA auto_vacuum = FULL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
            connection.execute(_INDEX)
            connection.execute("SELECT key, starts, used FROM answers LIMIT 1").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Delete a tenth of the answers at a time, the least recently used, until the rest fits."""
        while _size(connection) > self._most:
            count = connection.execute(_COUNT).fetchone()[0]
            if not count:
                return
            oldest = "SELECT key FROM answers ORDER BY used LIMIT ?"
            connection.execute(f"DELETE FROM answers WHERE key IN ({oldest})", (count // 10 + 1,))
            connection.commit()  # the file shrinks only now

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


def _size(connection: sqlite3.Connection) -> int:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))
