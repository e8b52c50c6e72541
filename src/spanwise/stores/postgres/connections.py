"""A pool of connections to a server; each transaction names the tenant whose documents it may access."""

from __future__ import annotations

import logging
import re
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import unquote

from spanwise.errors import ConnectionLostError, MissingExtraError, StoreError, StoreFullError
from spanwise.stores.postgres import schema

# a peer that is gone without a word is noticed within a minute; what the address says comes first
_SETTINGS: Final = {
    "connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}  # fmt: skip
_OUTCOME_SECONDS: Final = 5.0  # that a server may take to notice the end of a connection
_RETRY_SECONDS: Final = 0.1
_IN_ADDRESS: Final = re.compile(r"//[^:@/?]*:(?P<password>.*)@|//[^:@/?]*:(?P<port>[^@/?]*)|password=(?P<named>[^&]*)")
_SILENT: Final = logging.NullHandler()

Self = TypeVar("Self")
Given = ParamSpec("Given")
T = TypeVar("T")


def retried(
    read: Callable[Concatenate[Self, Given], T],
) -> Callable[Concatenate[Self, Given], T]:
    """Let a read that lost its connection run once more on another one, unless its snapshot is lost with it."""

    @wraps(read)
    def reading(self: Self, *given: Given.args, **named: Given.kwargs) -> T:
        try:
            return read(self, *given, **named)
        except ConnectionLostError:
            if getattr(self, "in_snapshot", False):
                raise
            return read(self, *given, **named)

    return reading  # type: ignore[return-value]


class Connections:
    """The connections of a store: as many as are used at once, so that reading continues during a write."""

    def __init__(self, address: str) -> None:
        """Connect once, so that a wrong address is reported at once."""
        self._address = address
        self._closed = False
        self._idle = deque([connected(address)])
        self.where, self._role = "postgresql", ""
        self._introduce()

    @retried
    def _introduce(self) -> None:
        """Find out who is connected to what."""
        with self.using() as connection:
            info = connection.info
            self.where = f"postgresql://{info.user}@{info.host}/{info.dbname}"  # never with a password
            self._role = schema.ROLE if schema.bypasses_row_security(connection) else ""

    def close(self) -> None:
        """Close all idle connections; those in use are closed after it."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle.pop().close()

    @contextmanager
    def using(self, connection: Any = None) -> Iterator[Any]:
        """Yield a connection without a transaction: an idle or a new one, or the given one, which stays the caller's.

        What goes wrong with it is raised as a StoreError, so such a block holds statements and nothing else.
        """
        used = self.acquired() if connection is None else connection
        from psycopg import Error

        try:
            yield used
        except (Error, UnicodeError) as error:
            raise self._store_error(error, is_lost=used.closed) from error
        finally:
            if connection is None:
                self.release(used)

    @contextmanager
    def within(self, tenant: str, connection: Any = None) -> Iterator[Any]:
        """Open a transaction that sees one snapshot of one tenant's documents."""
        with self.using(connection) as used, used.transaction():
            self._see(used, tenant)
            yield used

    @contextmanager
    def snapshot(self, tenant: str) -> Iterator[Any]:
        """Hold a snapshot of one tenant's documents; an error in the block is the caller's own."""
        from psycopg import Error

        connection = self.acquired()
        try:
            with self.using(connection):
                connection.execute("BEGIN")
                self._see(connection, tenant)
            yield connection
        finally:
            with suppress(Error):  # if it was cut off by then, nothing is lost
                connection.rollback()
            self.release(connection)

    def _see(self, connection: Any, tenant: str) -> None:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self._set_role(connection)
        schema.set_tenant(connection, tenant)

    @contextmanager
    def as_caretaker(self) -> Iterator[Any]:
        """Open a transaction that sees the names and sums of tenants, and none of their documents."""
        with self.using() as connection, connection.transaction():
            self._set_role(connection)
            connection.execute("SELECT set_config('spanwise.caretaker', 'on', true)")
            yield connection

    def outcome(self, transaction: str) -> str | None:
        """Return what became of a transaction that was cut off: `committed` or `aborted`; None if that isn't known."""
        until = time.monotonic() + _OUTCOME_SECONDS
        while time.monotonic() < until:
            with suppress(StoreError), self.using() as connection:
                (found,) = connection.execute("SELECT pg_xact_status(%s::xid8)", (transaction,)).fetchone()
                if found != "in progress":
                    return str(found)
            time.sleep(_RETRY_SECONDS)
        return None

    def _set_role(self, connection: Any) -> None:
        if self._role:
            connection.execute(f"SET LOCAL ROLE {self._role}")

    def acquired(self) -> Any:
        """Return an idle connection that still stands, or a new one; `release` takes it back."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._connected()
            if _stands(connection):
                return connection
            connection.close()

    def _connected(self) -> Any:
        try:
            return connected(self._address)
        except ConnectionLostError as error:  # its address was right when the store was opened
            raise ConnectionLostError(self.where, error.rule, hint="try again when the server is up") from None

    def release(self, connection: Any) -> None:
        """Return a connection to the pool; one that is broken, or left inside a transaction, is closed."""
        from psycopg.pq import TransactionStatus

        if connection.info.transaction_status == TransactionStatus.IDLE and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()

    def _store_error(self, error: Exception, *, is_lost: bool) -> StoreError:
        from psycopg import DataError
        from psycopg.errors import DiskFull, InsufficientPrivilege

        reason = _first_line(error)
        if is_lost:
            self._close_idle()  # they are about to end as well if the server does
            return ConnectionLostError(self.where, f"lost the connection to its server ({reason})", hint="try again")
        match error:
            case DiskFull():
                rule, hint = "can't be written: the server's disk is full", "make room and run the same command again"
                return StoreFullError(self.where, rule, hint=hint)
            case InsufficientPrivilege():
                rule, hint = (
                    f"doesn't allow this ({reason})",
                    "connect as the owner of its tables, or let them grant it",
                )
            case DataError() | UnicodeError():
                rule, hint = f"can't hold or find this value ({reason})", "no text in PostgreSQL can have it"
            case _:
                rule, hint = f"is in trouble ({reason})", "the server's log says more"
        return StoreError(self.where, rule, hint=hint)


def connected(address: str) -> Any:
    """Connect to a server."""
    try:
        import psycopg
    except ImportError as error:
        rule = "needs a package that isn't installed"
        raise MissingExtraError("postgresql", rule, hint='pip install "spanwise[postgres]"') from error
    logging.getLogger("psycopg").addHandler(_SILENT)  # it warns of a rollback that failed, beside the error itself
    reason = "it holds NUL"
    try:
        if "\0" not in address:  # it would end there
            return psycopg.connect(address, autocommit=True, client_encoding="utf8", **_settings(address))
    except (psycopg.Error, UnicodeError, ValueError) as error:
        reason = _without_secrets(_first_line(error), address)
    hint = "postgresql://user@host:port/database; a password is best left to PGPASSWORD or ~/.pgpass"
    # not from the error, which may show a password
    raise ConnectionLostError("store", f"can't be reached ({reason})", hint=hint)


def _settings(address: str) -> dict[str, Any]:
    from psycopg.conninfo import conninfo_to_dict

    stated = conninfo_to_dict(address)
    return {name: value for name, value in _SETTINGS.items() if name not in stated}


def _stands(connection: Any) -> bool:
    """Whether an idle connection can still be used: only its end arrives unasked."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return not selector.select(0)


def _without_secrets(message: str, address: str) -> str:
    """Remove from a message what is or may be meant as a password; a wrong address is quoted in pieces."""
    for found in _IN_ADDRESS.finditer(address):
        for part in re.split(r"[@:/?&=%\[\]]", found["password"] or found["port"] or found["named"] or ""):
            if part and not (found["port"] and part.isdigit()):
                message = message.replace(part, "***").replace(unquote(part), "***")
    return message


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
