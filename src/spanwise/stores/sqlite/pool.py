"""What the readers of a process share: connections, each used by one thread at a time, and loaded vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from spanwise.errors import StoreFullError
from spanwise.stores.sqlite.schema import StoreConnection, connected, connected_alone, store_errors

if TYPE_CHECKING:
    from spanwise.stores.sqlite.tenants import Tenant
    from spanwise.stores.sqlite.vector_matrix import Matrix
    from spanwise.stores.sqlite.word_index import WordIndex

MOST_BYTES: Final = 2 << 30  # of vectors, and as many of the lists of chunks that full text needs


class _Sized(Protocol):
    @property
    def bytes(self) -> int: ...


Snapshot = TypeVar("Snapshot", bound=_Sized)


class Pool:
    """The connections of a process to one store."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._idle: list[StoreConnection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._known: dict[tuple[str, int], int] = {}
        self._alone = _Alone(path)

    def acquire(self) -> StoreConnection:
        """Return an idle connection, or a new one if all are in use; on a full disk a thread has only one."""
        while idle := self._popped():
            if idle.is_current():
                return idle
            idle.close()
        if self._alone.is_mine():
            return self._alone.acquire()
        try:
            return connected(self.path, write=False)
        except StoreFullError:
            return self._alone.acquire()

    def _popped(self) -> StoreConnection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def release(self, connection: StoreConnection) -> None:
        """Return a connection to the pool, which ends its snapshot."""
        if connection is self._alone.connection:
            self._alone.release()
            return
        if connection.in_transaction:
            connection.rollback()
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def connection(self) -> Iterator[StoreConnection]:
        """Yield a connection, and release it afterwards."""
        connection = self.acquire()
        try:
            with store_errors(self.path):
                yield connection
        finally:
            self.release(connection)

    def is_known(self, what: tuple[str, int], changes: int) -> bool:
        """Whether a table of a tenant was found sound in this state."""
        return self._known.get(what) == changes

    def know(self, what: tuple[str, int], changes: int) -> None:
        """Remember that a table of a tenant is sound in this state."""
        self._known[what] = changes

    def renew(self) -> None:
        """Close the idle connections: a store of an older version is read otherwise than once it is up to date."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed on release."""
        self._closed = True
        self.renew()


class _Alone:
    """The only connection to a store on a full disk: open while it is in use, and used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self.connection: StoreConnection | None = None
        self._path = path
        self._turn = threading.RLock()
        self._thread: int | None = None
        self._uses = 0

    def is_mine(self) -> bool:
        """Whether this thread uses it."""
        return self._thread == threading.get_ident()

    def acquire(self) -> StoreConnection:
        """Wait for the turn of this thread, and return the connection."""
        self._turn.acquire()
        try:
            if self.connection is None:
                self.connection = connected_alone(self._path)
        except BaseException:
            self._turn.release()
            raise
        self._thread = threading.get_ident()
        self._uses += 1
        return self.connection

    def release(self) -> None:
        """End a use; the last one closes the connection."""
        self._uses -= 1
        if not self._uses and self.connection is not None:
            self.connection.close()
            self.connection = self._thread = None
        self._turn.release()


class Loaded(Generic[Snapshot]):
    """What this process has loaded of tenants; of changes by other processes only the new is loaded.

    It holds the tenants that were asked for last: as many as fit, and always the last one.
    """

    def __init__(self) -> None:
        self._by_tenant: dict[int, tuple[int, Snapshot]] = {}
        self._lock = threading.Lock()

    def get(self, tenant: Tenant, refresh: Callable[[Snapshot | None], Snapshot]) -> Snapshot:
        """Return what is loaded of a tenant in its present state; `refresh` makes it of that of another state."""
        with self._lock:
            changes, known = self._by_tenant.pop(tenant.number, (-1, None))
            if known is not None:
                self._by_tenant[tenant.number] = changes, known  # the last one
        if known is not None and changes == tenant.changes:
            return known
        new = refresh(known)
        with self._lock:
            self._by_tenant.pop(tenant.number, None)
            self._by_tenant[tenant.number] = tenant.changes, new
            self._forget(sum(one.bytes for _, one in self._by_tenant.values()) - MOST_BYTES)
        return new

    def _forget(self, excess: int) -> None:
        for number in list(self._by_tenant)[:-1]:
            if excess <= 0:
                return
            excess -= self._by_tenant.pop(number)[1].bytes


class Caches(NamedTuple):
    """What the readers of a store have in memory."""

    matrices: Loaded[Matrix]
    words: Loaded[WordIndex]
