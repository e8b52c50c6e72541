"""A pool of connections to a server; each transaction names the tenant whose documents it may access."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from spanwise.errors import MissingExtraError, StoreError
from spanwise.stores.postgres import schema

_CONNECT_SECONDS: Final = 10


class Connections:
    """The connections of a store: as many as are used at once, so that reading continues during a write."""

    def __init__(self, address: str) -> None:
        """Connect once, so that a wrong address is reported at once."""
        self._address = address
        self._idle: deque[Any] = deque()
        connection = self.acquire()
        info = connection.info
        self.where = f"postgresql://{info.user}@{info.host}/{info.dbname}"  # never with a password
        self._role = schema.ROLE if schema.bypasses_row_security(connection) else None
        self.release(connection)

    def acquire(self) -> Any:
        """Return an idle connection, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            return connected(self._address)

    def release(self, connection: Any) -> None:
        """Return a connection to the pool; a broken one is closed."""
        if connection.closed or connection.broken:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """Yield a connection without a tenant: for facts and tables, not for documents."""
        with self.store_errors():
            connection = self.acquire()
            try:
                yield connection
            finally:
                self.release(connection)

    @contextmanager
    def within(self, tenant: str, connection: Any = None) -> Iterator[Any]:
        """Open a transaction that sees one snapshot of one tenant's documents."""
        with self.store_errors():
            used = self.acquire() if connection is None else connection
            try:
                with used.transaction():
                    used.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    self._set_role(used)
                    schema.set_tenant(used, tenant)
                    yield used
            finally:
                if connection is None:
                    self.release(used)

    @contextmanager
    def as_caretaker(self) -> Iterator[Any]:
        """Open a transaction that sees the names and sums of tenants, and none of their documents."""
        with self.plain() as connection, connection.transaction():
            self._set_role(connection)
            connection.execute("SELECT set_config('spanwise.caretaker', 'on', true)")
            yield connection

    def _set_role(self, connection: Any) -> None:
        if self._role:
            connection.execute(f"SET LOCAL ROLE {self._role}")

    @contextmanager
    def store_errors(self) -> Iterator[None]:
        """Raise errors of the server as StoreError."""
        import psycopg

        try:
            yield
        except psycopg.errors.DiskFull as error:
            rule, hint = "can't be written: the server's disk is full", "nothing is lost; make room and go on"
            raise StoreError(self.where, rule, hint=hint) from error
        except psycopg.Error as error:
            raise StoreError(self.where, f"is in trouble ({_first_line(error)})") from error


def connected(address: str) -> Any:
    """Connect to a server."""
    try:
        import psycopg
    except ImportError as error:
        rule = "needs a package that isn't installed"
        raise MissingExtraError("postgresql", rule, hint='pip install "spanwise[postgres]"') from error
    try:
        return psycopg.connect(address, autocommit=True, connect_timeout=_CONNECT_SECONDS)
    except (psycopg.Error, UnicodeError) as error:
        hint = "postgresql://user@host:port/database; a password is best left to PGPASSWORD or ~/.pgpass"
        raise StoreError("store", f"can't be reached ({_first_line(error)})", hint=hint) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
