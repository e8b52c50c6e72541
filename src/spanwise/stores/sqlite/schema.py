"""The file of an embedded store: opening and creating it, its version, and errors of SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from spanwise.errors import StoreError, StoreFullError
from spanwise.stores.sqlite import tables
from spanwise.stores.sqlite.checksums import CHECKED, DamageError, checksum, columns_of
from spanwise.stores.sqlite.tables import create_tables, migrate_tables, read_tables

APPLICATION: Final = 0x53704E57
PAGE: Final = 8_192
BUSY_SECONDS: Final = 30.0

_GOING_ON: Final = (
    "what it doesn't touch can still be read; `spanwise store verify` lists the damage, "
    "`spanwise store repair` keeps what is sound and rebuilds the rest"
)
_REASONS: Final[Mapping[int, tuple[str, str | None]]] = {
    sqlite3.SQLITE_READONLY: ("can't be written: it, or its folder, is read-only", None),
    sqlite3.SQLITE_NOTADB: ("is not a store", "name another file"),
    sqlite3.SQLITE_CANTOPEN: ("can't be opened", "look at its folder and its rights"),
    sqlite3.SQLITE_PERM: ("can't be opened: its rights don't allow it", None),
    sqlite3.SQLITE_AUTH: ("can't be opened: its rights don't allow it", None),
    sqlite3.SQLITE_BUSY: ("is in use by another process", "try again"),
    sqlite3.SQLITE_LOCKED: ("is in use by another process", "try again"),
    sqlite3.SQLITE_IOERR: ("can't be read", "does the disk work?"),
    sqlite3.SQLITE_TOOBIG: ("can't hold a text that large", None),
    sqlite3.SQLITE_MISUSE: ("can't be used", None),
}
_SAYING_MORE: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_MISUSE})
FULL: Final = frozenset(
    {
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)  # fmt: skip
"""The errors of a disk that takes nothing more."""


class StoreConnection(sqlite3.Connection):
    """A connection to a store."""

    read_as: int | None = None
    """Of a store of an older version: the state of the file that its segments were made of."""

    def is_current(self) -> bool:
        """Whether what it sees is in the file."""
        return self.read_as is None or self.read_as == self.data_version()

    def data_version(self) -> int:
        """Return a number that changes with every commit of another connection."""
        return int(self.execute("PRAGMA data_version").fetchone()[0])


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Raise errors of SQLite, and damage, as StoreError."""
    try:
        yield
    except DamageError as error:
        raise StoreError(path, f"is damaged: {error}", hint=_GOING_ON) from error
    except UnicodeDecodeError as error:  # of a text that is none, also in a message of SQLite
        raise StoreError(path, "is damaged: a text in it can't be read", hint=_GOING_ON) from error
    except sqlite3.Error as error:
        raise _reported(path, error) from error


def _reported(path: str, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in FULL:
        full = "make room and run the same command again"
        return StoreFullError(path, "can't be written: the disk is full, or fails", hint=full)
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        code = sqlite3.SQLITE_MISUSE
    if code & 0xFF not in _REASONS:  # all statements are ours, so what is wrong is the file
        return StoreError(path, f"is damaged ({error})", hint=_GOING_ON)
    rule, hint = _REASONS[code & 0xFF]
    return StoreError(path, f"{rule} ({error})" if code & 0xFF in _SAYING_MORE else rule, hint=hint)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error is of what is in the file, and not of the disk, the rights or another process."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code not in FULL and (code & 0xFF not in _REASONS or code & 0xFF == sqlite3.SQLITE_NOTADB)


def connected(path: str, *, write: bool) -> StoreConnection:
    """Open an existing store and check it; `path` is never created here."""
    check_file(path)
    with store_errors(path):
        try:
            return _checked(path, "rw", write=write)
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if write or code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or _has_log(path):
                raise
            return _checked(path, "ro&immutable=1", write=False)  # for folders where SQLite may not write


def connected_alone(path: str) -> StoreConnection:
    """Open a store for reading without `-shm`, for which a full disk has no room; meanwhile nobody else can open it."""
    with store_errors(path):
        return _checked(path, "rw", write=False, alone=True)


def _has_log(path: str) -> bool:
    log = Path(f"{os.path.realpath(path)}-wal")
    return log.exists() and log.stat().st_size > 0


def _checked(path: str, mode: str, *, write: bool, alone: bool = False) -> StoreConnection:
    connection = _opened(path, mode)
    try:
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # keeps in memory what `-shm` is for
        if mode == "rwc":
            _create(connection)
        check(connection, path, write=write)
        _tune(connection, write=write)
    except BaseException:
        connection.close()
        raise
    return connection


def created(path: str) -> StoreConnection:
    """Create a store; if another process was faster, open that one."""
    with store_errors(path):
        return _checked(path, "rwc", write=True)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        create_tables(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {tables.VERSION}")
    connection.execute("COMMIT")


def opened_to_salvage(path: str) -> StoreConnection:
    """Open a store of which anything may be damaged; raise sqlite3.Error if its tables aren't known."""
    connection = _opened(path, "rw")
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")  # a damaged row has a wrong checksum
        connection.execute("PRAGMA writable_schema = ON")  # a file that is too short can be read
        with suppress(DamageError):  # of the version
            check(connection, path, write=False)
        for table in CHECKED:
            connection.execute(f"SELECT {columns_of(table)} FROM {table} LIMIT 0")
    except StoreError as error:
        connection.close()
        if "newer" in error.rule:
            raise
        raise sqlite3.DatabaseError(str(error)) from error
    except BaseException:
        connection.close()
        raise
    return connection


def is_blank(path: str) -> bool:
    """Whether a store may be created here: there is nothing, or the rest of a creation that was interrupted."""
    location = Path(path)
    if "\0" in path:
        return False
    try:
        if not location.exists() or (location.is_file() and not location.stat().st_size):
            return True
        check_file(path)
        with closing(_opened(path, "rw")) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return not tables and not connection.execute("PRAGMA application_id").fetchone()[0]
    except (StoreError, sqlite3.Error, OSError, ValueError):
        return False  # opening it reports the error


def is_older(path: str) -> bool:
    """Whether this is a store of an older version, which the next writer brings up to date."""
    check_file(path)
    with store_errors(path), closing(_opened(path, "rw")) as connection:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        return bool(
            application == APPLICATION and connection.execute("PRAGMA user_version").fetchone()[0] < tables.VERSION
        )


def check(connection: StoreConnection, path: str, *, write: bool) -> None:
    """Raise StoreError if this is no store or a newer one; an older one is migrated, or only read as it is."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise StoreError(path, "is a database, but not a store of Spanwise", hint="name another file")
    if version > tables.VERSION:
        rule = f"was written by a newer Spanwise (its schema is {version}, this one knows {tables.VERSION})"
        raise StoreError(path, rule, hint="upgrade: pip install --upgrade spanwise")
    if version == tables.VERSION:
        return
    if version < 2 and tables.is_sealed(connection):
        raise DamageError(f"its tables are not of version {version}, as it says")
    if any(step not in tables.MIGRATIONS for step in range(version, tables.VERSION)):
        raise StoreError(path, f"is too old (its schema is {version})", hint="index the documents into a new one")
    if write:
        _migrate(connection)
    elif version in tables.READABLE:
        _read_older(connection, version)
    else:
        rule = f"was written by an older Spanwise (its schema is {version}, this one's is {tables.VERSION})"
        raise StoreError(path, rule, hint="run `spanwise index` on it once: that brings it up to date")


def _read_older(connection: StoreConnection, version: int) -> None:
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("BEGIN")
    read_tables(connection, version)
    connection.read_as = connection.data_version()
    connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been faster
        migrate_tables(connection, version)
        connection.execute(f"PRAGMA user_version = {tables.VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def check_file(path: str) -> None:
    """Raise StoreError for what can't be a store, without opening it.

    Closing a file drops all locks of the process on it, also those of its SQLite connections: another process would
    then take itself for the last one, and delete the log that this one is still writing to.
    """
    location = Path(path)
    try:
        if location.is_dir():
            raise StoreError(path, "is a folder", hint="name a file in it, such as documents.db")
        if not location.exists():
            raise StoreError(path, "does not exist", hint="make it with `spanwise index PATHS --store STORE`")
        if not location.is_file():
            raise StoreError(path, "is not a store", hint="name another file")
        size = location.stat().st_size
    except (OSError, ValueError) as error:
        raise StoreError(path, f"can't be opened ({getattr(error, 'strerror', None) or error})") from error
    if not size:
        raise StoreError(path, "is empty", hint="name another file")


def _opened(path: str, mode: str) -> StoreConnection:
    address = f"file:{quote(str(Path(path).absolute()))}?mode={mode}"
    connection = StoreConnection(
        address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    connection.create_function("checksum", -1, checksum, deterministic=True)
    return connection


def _tune(connection: sqlite3.Connection, *, write: bool) -> None:
    connection.execute("PRAGMA cache_size = -65536")
    if write:
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives a loss of power
        connection.execute("PRAGMA journal_size_limit = 67108864")
    else:
        connection.execute("PRAGMA query_only = ON")
