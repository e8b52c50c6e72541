"""What the readers of a process share: connections, each used by one thread at a time, and loaded vectors."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spanwise.stores.sqlite.schema import connected, store_errors

if TYPE_CHECKING:
    from spanwise.stores.sqlite.vector_matrix import Matrix


class Pool:
    """The connections of a process to one store."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    def acquire(self) -> sqlite3.Connection:
        """Return an idle connection, or a new one if all are in use."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connected(self.path, write=False)

    def release(self, connection: sqlite3.Connection) -> None:
        """Return a connection to the pool, which ends its snapshot."""
        if connection.in_transaction:
            connection.rollback()
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection, and release it afterwards."""
        connection = self.acquire()
        try:
            with store_errors(self.path):
                yield connection
        finally:
            self.release(connection)

    def close(self) -> None:
        """Close the idle connections; those in use are closed on release."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for connection in idle:
            connection.close()


class Matrices:
    """The vectors that this process has loaded; changes by other processes are loaded block by block."""

    def __init__(self) -> None:
        self._by_tenant: dict[int, Matrix] = {}
        self._lock = threading.Lock()

    def get(self, connection: sqlite3.Connection, tenant: int, dimension: int) -> Matrix:
        """Return a tenant's vectors as of the connection's snapshot."""
        from spanwise.stores.sqlite.vector_matrix import Matrix, refreshed

        changes = connection.execute("SELECT changes FROM tenants WHERE id = ?", (tenant,)).fetchone()[0]
        with self._lock:
            cached = self._by_tenant.get(tenant) or Matrix()
        if cached.changes == changes:
            return cached
        matrix = Matrix(changes, refreshed(connection, tenant, dimension, cached.blocks))
        with self._lock:
            self._by_tenant[tenant] = matrix
        return matrix
