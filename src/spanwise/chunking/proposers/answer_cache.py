"""Answers on disk, by what was asked: one SQLite file that several processes may use at once.

A cache is only ever a shortcut: one that is broken is thrown away, one that can't be written is done without.
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
_LEAST: Final = 65536  # bytes: SQLite's own pages take that much

Done = TypeVar("Done")


class Status(NamedTuple):
    """What a cache holds."""

    path: Path
    answers: int
    size: int


def usual_folder() -> Path:
    """Give the folder where this system keeps the caches of a user."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "spanwise"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "spanwise" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "spanwise"
    return Path.home() / ".cache" / "spanwise"


def key_of(model: str, messages: Messages) -> bytes:
    """Name a question by all that its answer depends on."""
    digest = sha256()
    for words in (VERSION, model, *(words for message in messages for words in message)):
        data = words.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class AnswerCache:
    """The answers of one folder, bounded in size; what was used longest ago goes first."""

    def __init__(self, folder: str | None, megabytes: int) -> None:
        """Open nothing yet."""
        self.path = (Path(folder) if folder else usual_folder()) / _FILE
        self._most = max(megabytes * 1_000_000, _LEAST) if megabytes else 0
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._used: set[bytes] = set()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, ...]]:
        """Find the answers to some questions."""

        def find(connection: sqlite3.Connection) -> dict[bytes, tuple[int, ...]]:
            asked = ((key, connection.execute(_FIND, (key,)).fetchone()) for key in keys)
            return {key: _numbers(row[0]) for key, row in asked if row}

        found = self._done(find) or {}
        self._used |= found.keys()
        return found

    def put(self, key: bytes, starts: Iterable[int]) -> None:
        """Keep an answer."""
        row = (key, " ".join(map(str, starts)), time.time_ns())
        self._done(lambda connection: connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row))

    def close(self) -> None:
        """Write down what was used, make room if there is too much, and let go of the file."""
        if self._open is not None:
            rows = [(time.time_ns(), key) for key in sorted(self._used)]
            self._done(lambda connection: connection.executemany("UPDATE answers SET used = ? WHERE key = ?", rows))
            self._done(self._make_room)
        with self._lock:
            self._let_go()

    def status(self) -> Status:
        """Say what there is; a file that isn't there is not made."""
        there = self.path.exists()
        answers = self._done(lambda connection: connection.execute(_COUNT).fetchone()[0]) if there else 0
        size = self.path.stat().st_size if self.path.exists() else 0
        return Status(self.path, answers or 0, size)

    def clear(self) -> int:
        """Forget all answers, and say how many there were."""
        answers = self.status().answers
        with self._lock:
            self._let_go()
            for path in (self.path, self.path.with_name(f"{_FILE}-journal")):
                with suppress(FileNotFoundError):
                    path.unlink()
        return answers

    def _done(self, work: Callable[[sqlite3.Connection], Done]) -> Done | None:
        """Do something in a transaction; None where that can't be done. A broken file is thrown away."""
        if not self._most:
            return None
        with self._lock:
            try:
                connection = self._open = self._open or self._opened()
                with connection:
                    return work(connection)
            except (OSError, sqlite3.OperationalError):  # no rights, no room, locked for too long: go on without it
                self._most = 0
                self._let_go()
            except (sqlite3.DatabaseError, ValueError):  # no database, or one of another's making
                self._let_go()
                with suppress(OSError):
                    self.path.unlink()
        return None

    def _opened(self) -> sqlite3.Connection:
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
        """Drop a tenth of the answers at a time, those used longest ago, until the rest fits."""
        while _size(connection) > self._most:
            count = connection.execute(_COUNT).fetchone()[0]
            if not count:
                return
            oldest = "SELECT key FROM answers ORDER BY used LIMIT ?"
            connection.execute(f"DELETE FROM answers WHERE key IN ({oldest})", (count // 10 + 1,))
            connection.commit()  # what is freed goes from the file only now

    def _let_go(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = None


def _size(connection: sqlite3.Connection) -> int:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(map(int, words.split()))
