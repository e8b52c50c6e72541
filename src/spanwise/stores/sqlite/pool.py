"""What readers of a process share: connections, each used by one thread at a time, and the vectors that were read."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spanwise.stores.sqlite.schema import connected, explained

if TYPE_CHECKING:
    from spanwise.stores.sqlite.vector_matrix import Matrix


class Pool:
    """The connections of a process to one store."""

    def __init__(self, path: str) -> None:
        """Begin with none."""
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> sqlite3.Connection:
        """Give a connection that nobody uses; a new one where all are in use."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connected(self.path, write=False)

    def give_back(self, connection: sqlite3.Connection) -> None:
        """Take a connection back; the moment that it held is over."""
        if connection.in_transaction:
            connection.rollback()
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def asked(self) -> Iterator[sqlite3.Connection]:
        """Use a connection for some questions."""
        connection = self.take()
        try:
            with self.explained():
                yield connection
        finally:
            self.give_back(connection)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say in words what SQLite complains about."""
        with explained(self.path):
            yield

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for connection in idle:
            connection.close()


class Matrices:
    """The vectors that this process has read; what another one wrote is read after it, block by block."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._of: dict[int, Matrix] = {}
        self._lock = threading.Lock()

    def of(self, connection: sqlite3.Connection, tenant: int, dimension: int) -> Matrix:
        """Give a tenant's vectors as of the moment that the connection sees."""
        from spanwise.stores.sqlite.vector_matrix import Matrix, refreshed

        changes = connection.execute("SELECT changes FROM tenants WHERE id = ?", (tenant,)).fetchone()[0]
        with self._lock:
            known = self._of.get(tenant) or Matrix()
        if known.changes == changes:
            return known
        fresh = Matrix(changes, refreshed(connection, tenant, dimension, known.blocks))
        with self._lock:
            self._of[tenant] = fresh
        return fresh
