"""Connections to a server, taken and given back; each transaction says whose documents it may touch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from spanwise.errors import MissingExtraError, StoreError
from spanwise.stores.postgres import schema

_CONNECT_SECONDS: Final = 10


class Connections:
    """The connections of a store: as many as are in use at once, so that reading goes on while something is written."""

    def __init__(self, address: str) -> None:
        """Connect once, so that an address that leads nowhere is told at once."""
        self._address = address
        self._idle: deque[Any] = deque()
        connection = self.take()
        info = connection.info
        self.where = f"postgresql://{info.user}@{info.host}/{info.dbname}"  # never with a password
        self._role = schema.ROLE if schema.is_unwalled(connection) else None
        self.give_back(connection)

    def take(self) -> Any:
        """Give a connection that nobody uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return connected(self._address)

    def give_back(self, connection: Any) -> None:
        """Take a connection back; one that broke is let go."""
        if connection.closed or connection.broken:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Let go of all that are idle."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """Give a connection outside of the walls: for facts and tables, not for documents."""
        with self.explained():
            connection = self.take()
            try:
                yield connection
            finally:
                self.give_back(connection)

    @contextmanager
    def within(self, tenant: str, connection: Any = None) -> Iterator[Any]:
        """Open a transaction that sees the documents of one tenant, all of one moment."""
        with self.explained():
            mine = self.take() if connection is None else connection
            try:
                with mine.transaction():
                    mine.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    self._behind_the_wall(mine)
                    schema.enter(mine, tenant)
                    yield mine
            finally:
                if connection is None:
                    self.give_back(mine)

    @contextmanager
    def as_caretaker(self) -> Iterator[Any]:
        """Open a transaction that sees the names and sums of tenants, and none of their documents."""
        with self.plain() as connection, connection.transaction():
            self._behind_the_wall(connection)
            connection.execute("SELECT set_config('spanwise.caretaker', 'on', true)")
            yield connection

    def _behind_the_wall(self, connection: Any) -> None:
        if self._role:
            connection.execute(f"SET LOCAL ROLE {self._role}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the server refuses into an error of ours."""
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
