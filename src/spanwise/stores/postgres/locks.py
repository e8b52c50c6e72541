"""Locks of writers: each belongs to a connection and ends with it, so a writer that was killed leaves none behind."""

from __future__ import annotations

import time
from typing import Any, Final

from spanwise.errors import StoreError

# a server notices within a minute that a writer's machine is gone, and ends its locks
KEEPALIVE: Final = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
MODEL: Final = "spanwise model"
"""Shared by all who write vectors, and held alone by the one who changes the model."""
_RETRY_SECONDS: Final = 0.1


def of_writer(tenant: str) -> str:
    """Return the name of the lock of a tenant's only writer."""
    return f"spanwise writer {tenant}"


def acquire(connection: Any, name: str, wait: float, where: str, *, shared: bool = False) -> None:
    """Take a lock, waiting up to `wait` seconds for others; raise StoreError if they keep it."""
    query = f"SELECT pg_try_advisory_lock{'_shared' * shared}(hashtextextended(%s, 0))"
    until = time.monotonic() + wait
    while not connection.execute(query, (name,)).fetchone()[0]:
        if time.monotonic() >= until:
            rule = f"is being written by another process, still after {wait:g} seconds"
            raise StoreError(where, rule, hint="try again later, or wait longer")
        time.sleep(_RETRY_SECONDS)


def release(connection: Any, name: str, *, shared: bool = False) -> None:
    """End a lock."""
    connection.execute(f"SELECT pg_advisory_unlock{'_shared' * shared}(hashtextextended(%s, 0))", (name,))


def release_all(connection: Any) -> None:
    """End all locks of a connection."""
    connection.execute("SELECT pg_advisory_unlock_all()")
