"""The file of an embedded store: its tables, opening and creating it, and errors of SQLite.

Every term has a number, and a number belongs to one term of one tenant. Full text is searched by these numbers, so no
query can match another tenant's text, whatever it contains.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from spanwise.errors import StoreError

APPLICATION: Final = 0x53704E57
VERSION: Final = 1
PAGE: Final = 8_192
BUSY_SECONDS: Final = 30.0

TABLES: Final = """
CREATE TABLE properties (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tenants (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    chunks INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, document_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL, chunks INTEGER NOT NULL, analyser TEXT NOT NULL,
    file_path TEXT, place TEXT, source_type TEXT, space_key TEXT, updated_at TEXT, source BLOB NOT NULL,
    UNIQUE (tenant, document_id)
);
CREATE TABLE labels (tenant INTEGER NOT NULL, label TEXT NOT NULL, document INTEGER NOT NULL,
    PRIMARY KEY (tenant, label, document)) WITHOUT ROWID;
CREATE INDEX labels_of_documents ON labels (document);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, document INTEGER NOT NULL,
    position INTEGER NOT NULL, length INTEGER NOT NULL, block INTEGER,
    chunk_type TEXT NOT NULL, chunk_id BLOB NOT NULL,
    content_hash BLOB NOT NULL, words_hash BLOB NOT NULL, record_hash BLOB NOT NULL
);
CREATE INDEX chunks_of_documents ON chunks (document, position);
CREATE INDEX chunks_by_id ON chunks (tenant, chunk_id);
CREATE INDEX chunks_by_type ON chunks (tenant, chunk_type);
CREATE INDEX chunks_by_content ON chunks (tenant, content_hash) WHERE block IS NOT NULL;
CREATE TABLE contents (chunk INTEGER PRIMARY KEY, lead TEXT NOT NULL, record BLOB NOT NULL);
CREATE TABLE numbered (chunk INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, numbers BLOB NOT NULL);
CREATE TABLE terms (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, term TEXT NOT NULL, chunks INTEGER NOT NULL,
    UNIQUE (tenant, term)
);
CREATE VIRTUAL TABLE words USING fts5 (numbers, content='', tokenize='ascii');
CREATE VIRTUAL TABLE known_words USING fts5vocab (words, row);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, changes INTEGER NOT NULL, living INTEGER NOT NULL,
    size INTEGER NOT NULL, keys BLOB NOT NULL, documents BLOB NOT NULL
);
CREATE INDEX blocks_of_tenants ON blocks (tenant);
CREATE TABLE vectors (block INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
"""
"""`numbered` holds the terms of a chunk as numbers of four bytes: to count terms, and to delete them from `words`.

`blocks` and `vectors` hold about a thousand vectors a row: a search reads them together, and each only once.

A block's keys ascend; a deleted one is negative, so that `numbers`, which is large, needn't be rewritten.
"""

MIGRATIONS: dict[int, str] = {}
"""The statements that bring a store of a version to the next one."""

_REASONS: Final[Mapping[int, tuple[str, str | None]]] = {
    sqlite3.SQLITE_FULL: ("can't be written: the disk is full", "make room and run the same command again"),
    sqlite3.SQLITE_READONLY: ("can't be written: it, or its folder, is read-only", None),
    sqlite3.SQLITE_NOTADB: ("is not a store", "name another file"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "delete it and index the documents again"),
    sqlite3.SQLITE_CANTOPEN: ("can't be opened", "look at its folder and its rights"),
    sqlite3.SQLITE_PERM: ("can't be opened: its rights don't allow it", None),
    sqlite3.SQLITE_AUTH: ("can't be opened: its rights don't allow it", None),
    sqlite3.SQLITE_BUSY: ("is in use by another process", "try again"),
    sqlite3.SQLITE_LOCKED: ("is in use by another process", "try again"),
    sqlite3.SQLITE_IOERR: ("can't be read or written", "is there room on the disk, and does the disk work?"),
    sqlite3.SQLITE_TOOBIG: ("can't hold a text that large", None),
}


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Raise errors of SQLite as StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        rule, hint = _REASONS.get(code, ("can't be used", None))
        rule = f"{rule} ({error})" if code not in _REASONS or code == sqlite3.SQLITE_IOERR else rule
        raise StoreError(path, rule, hint=hint) from error


def connected(path: str, *, write: bool) -> sqlite3.Connection:
    """Open an existing store and check it; `path` is never created here."""
    _check_file(path)
    with store_errors(path):
        try:
            return _checked(path, "rw", write=write)
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if write or code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or Path(f"{path}-wal").exists():
                raise
            return _checked(path, "ro&immutable=1", write=False)  # for folders where SQLite may not write


def _checked(path: str, mode: str, *, write: bool) -> sqlite3.Connection:
    connection = _opened(path, mode)
    try:
        if mode == "rwc":
            _create(connection)
        check(connection, path, write=write)
        _tune(connection, write=write)
    except BaseException:
        connection.close()
        raise
    return connection


def created(path: str) -> sqlite3.Connection:
    """Create a store; if another process was faster, open that one."""
    with store_errors(path):
        return _checked(path, "rwc", write=True)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in _statements(TABLES):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def is_blank(path: str) -> bool:
    """Whether a store may be created here: there is nothing, or the rest of a creation that was interrupted."""
    location = Path(path)
    if "\0" in path:
        return False
    try:
        if not location.exists() or (location.is_file() and not location.stat().st_size):
            return True
        _check_file(path)
        with closing(_opened(path, "rw")) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return not tables and not connection.execute("PRAGMA application_id").fetchone()[0]
    except (StoreError, sqlite3.Error, OSError, ValueError):
        return False  # opening it reports the error


def check(connection: sqlite3.Connection, path: str, *, write: bool) -> None:
    """Raise StoreError if this is no store or a newer one; migrate an older one if it may be written."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise StoreError(path, "is a database, but not a store of Spanwise", hint="name another file")
    if version > VERSION:
        rule = f"was written by a newer Spanwise (its schema is {version}, this one knows {VERSION})"
        raise StoreError(path, rule, hint="upgrade: pip install --upgrade spanwise")
    if version == VERSION:
        return
    if any(step not in MIGRATIONS for step in range(version, VERSION)):
        raise StoreError(path, f"is too old (its schema is {version})", hint="index the documents into a new one")
    if not write:
        rule = f"was written by an older Spanwise (its schema is {version}, this one's is {VERSION})"
        raise StoreError(path, rule, hint="run `spanwise index` on it once: that brings it up to date")
    _migrate(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been faster
        for step in range(version, VERSION):
            for statement in _statements(MIGRATIONS[step]):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _check_file(path: str) -> None:
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


def _opened(path: str, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(Path(path).absolute()))}?mode={mode}"
    return sqlite3.connect(
        address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )


def _tune(connection: sqlite3.Connection, *, write: bool) -> None:
    connection.execute("PRAGMA cache_size = -65536")
    if write:
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives a loss of power
        connection.execute("PRAGMA journal_size_limit = 67108864")
    else:
        connection.execute("PRAGMA query_only = ON")


def _statements(script: str) -> Iterator[str]:
    """Split a script: run as a whole, it would end the surrounding transaction."""
    return (statement.strip() for statement in script.split(";") if statement.strip())
