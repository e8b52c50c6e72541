"""The tables of an embedded store, and what brings those of an older version up to date.

Every term has a number, and a number belongs to one term of one tenant. Full text is searched by these numbers, so no
query can match another tenant's text, whatever it contains.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from spanwise.stores.sqlite.checksums import CHECKED, checksum, expression, inserting, sealed
from spanwise.stores.sqlite.segments import index_words

VERSION: Final = 3

_TABLES: Final = """
CREATE TABLE properties (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tenants (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    chunks INTEGER NOT NULL DEFAULT 0, terms INTEGER NOT NULL DEFAULT 0, changes INTEGER NOT NULL DEFAULT 0,
    documents INTEGER NOT NULL DEFAULT 0, vocabulary INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0,
    checksum INTEGER NOT NULL
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, document_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL, chunks INTEGER NOT NULL, analyser TEXT NOT NULL,
    file_path TEXT, place TEXT, source_type TEXT, space_key TEXT, updated_at TEXT,
    labels_checksum INTEGER NOT NULL, source_checksum INTEGER NOT NULL, checksum INTEGER NOT NULL,
    source BLOB NOT NULL,
    UNIQUE (tenant, document_id)
);
CREATE TABLE labels (tenant INTEGER NOT NULL, label TEXT NOT NULL, document INTEGER NOT NULL,
    PRIMARY KEY (tenant, label, document)) WITHOUT ROWID;
CREATE INDEX labels_of_documents ON labels (document);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, document INTEGER NOT NULL,
    position INTEGER NOT NULL, length INTEGER NOT NULL, block INTEGER,
    chunk_type TEXT NOT NULL, chunk_id BLOB NOT NULL,
    content_hash BLOB NOT NULL, words_hash BLOB NOT NULL, record_hash BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX chunks_of_documents ON chunks (document, position);
CREATE INDEX chunks_by_id ON chunks (tenant, chunk_id);
CREATE INDEX chunks_by_type ON chunks (tenant, chunk_type);
CREATE INDEX chunks_by_content ON chunks (tenant, content_hash) WHERE block IS NOT NULL;
CREATE TABLE contents (
    chunk INTEGER PRIMARY KEY, lead TEXT NOT NULL, record BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE numbered (
    chunk INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, numbers BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE terms (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, term TEXT NOT NULL, chunks INTEGER NOT NULL,
    keys INTEGER NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (tenant, term)
);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, changes INTEGER NOT NULL, living INTEGER NOT NULL,
    size INTEGER NOT NULL, keys BLOB NOT NULL, documents BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX blocks_of_tenants ON blocks (tenant);
CREATE TABLE vectors (block INTEGER PRIMARY KEY, numbers BLOB NOT NULL, checksum INTEGER NOT NULL);
"""

_SEGMENTS: Final = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, changes INTEGER NOT NULL, living INTEGER NOT NULL,
    size INTEGER NOT NULL, last INTEGER NOT NULL, deleted BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX segments_of_tenants ON segments (tenant, last);
CREATE TABLE postings (id INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum INTEGER NOT NULL);
"""

TABLES: Final = _TABLES + _SEGMENTS
"""`numbered` holds the terms of a chunk as numbers of four bytes, to count terms.

`terms` holds for each term in how many chunks it is, and the sum of their keys: the postings of a term are compared
with these before they are used, so that a lost page is found.

`segments` and `postings` hold for each term the chunks that it is in, by segments of up to 65,536 chunks, in pages of
some thousand postings; the first page of a segment lists its chunks.

`blocks` and `vectors` hold about a thousand vectors a row: a search reads them together, and each only once.

A block's keys ascend; a deleted one is negative, so that `numbers`, which is large, needn't be rewritten.
"""

_NEW_IN_2: Final[Mapping[str, Mapping[str, str]]] = {
    "tenants": {
        "documents": "(SELECT count(*) FROM main.documents AS d WHERE d.tenant = tenants.id)",
        "vocabulary": "(SELECT count(*) FROM main.terms AS t WHERE t.tenant = tenants.id)",
        "vectors": "(SELECT coalesce(sum(living), 0) FROM main.blocks AS b WHERE b.tenant = tenants.id)",
    },
    "documents": {
        "labels_checksum": (
            "(SELECT checksum(coalesce(group_concat(label, char(31)), '')) FROM "
            "(SELECT label FROM main.labels AS l WHERE l.document = documents.id ORDER BY label))"
        ),
        "source_checksum": "checksum(source)",
    },
    "terms": {
        "keys": "(SELECT coalesce(sum(rowid), 0) FROM main.words WHERE words MATCH '\"' || terms.id || '\"')",
    },
}
"""The columns that version 2 added to those of version 1 besides the checksums, and what they hold."""


_CHECKED_IN_2: Final = tuple(table for table in CHECKED if table not in ("segments", "postings"))


def _to_2() -> Iterator[str]:
    for table in _CHECKED_IN_2:
        new = _NEW_IN_2.get(table, {})
        yield from (f"ALTER TABLE {table} ADD COLUMN {name} INTEGER NOT NULL DEFAULT 0" for name in (*new, "checksum"))
        yield from (f"UPDATE {table} SET {name} = {value}" for name, value in new.items())
        yield f"UPDATE {table} SET checksum = {expression(table)}"


_TO_3: Final = f"DROP TABLE known_words; DROP TABLE words; {_SEGMENTS}"
"""Versions 1 and 2 had the full text of SQLite."""

MIGRATIONS: dict[int, str] = {1: ";".join(_to_2()), 2: _TO_3}
"""The statements that bring a store of a version to the next one; then segments are made if there were none."""


def _read_1() -> Iterator[str]:
    for table in _CHECKED_IN_2:
        new = "".join(f", {value} AS {name}" for name, value in _NEW_IN_2.get(table, {}).items())
        rows = f"SELECT {table}.*{new} FROM main.{table} AS {table}"
        yield f"CREATE TEMP VIEW {table} AS SELECT *, {expression(table)} AS checksum FROM ({rows})"


_READ_2: Final = _SEGMENTS.replace("CREATE TABLE", "CREATE TEMP TABLE").replace("AUTOINCREMENT", "")

READABLE: dict[int, str] = {
    1: ";".join([*_read_1(), _READ_2.replace("INDEX ", "INDEX temp.")]),
    2: _READ_2.replace("INDEX ", "INDEX temp."),
}
"""The statements with which a reader sees a store of an older version as one of this version, without changing it.

Rows of version 1 have no checksums: only what contradicts itself is found. Segments are made in memory.
"""


def create_tables(connection: sqlite3.Connection) -> None:
    """Create all tables, inside a transaction."""
    run_script(connection, TABLES)
    seal_schema(connection)


def migrate_tables(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables of an older version up to date, inside a transaction."""
    for step in range(version, VERSION):
        run_script(connection, MIGRATIONS[step])
    if version < VERSION:
        index_words(connection)
    seal_schema(connection)


def read_tables(connection: sqlite3.Connection, version: int) -> None:
    """Let a connection see the tables of an older version as those of this one, without changing them."""
    run_script(connection, READABLE[version])
    index_words(connection)


def seal_schema(connection: sqlite3.Connection) -> None:
    """Keep a checksum of the tables' definitions."""
    connection.execute("DELETE FROM properties WHERE name = 'schema'")
    connection.execute(inserting("properties"), sealed("properties", "schema", str(schema_checksum(connection))))


def schema_checksum(connection: sqlite3.Connection) -> int:
    """Return the checksum of the tables' definitions."""
    statement = "SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY rowid"
    return checksum(*(value for row in connection.execute(statement) for value in row))


def is_sealed(connection: sqlite3.Connection) -> bool:
    """Whether the tables have a checksum of their definitions, as those of all versions but the first."""
    return connection.execute("SELECT 1 FROM main.properties WHERE name = 'schema'").fetchone() is not None


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run statements one by one: run as a whole, they would end the surrounding transaction."""
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(statement)
