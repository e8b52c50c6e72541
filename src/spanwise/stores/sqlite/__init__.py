"""The embedded store: full text, vectors and filters in one file, without a server.

Readers always see a consistent state while one writer writes; what was committed survives a crash of the writer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from spanwise.errors import StoreError
from spanwise.stores.sqlite.locks import write_lock
from spanwise.stores.sqlite.pool import Matrices, Pool
from spanwise.stores.sqlite.reader import SqliteReader
from spanwise.stores.sqlite.schema import VERSION, connected, created, is_blank
from spanwise.stores.sqlite.verify import inconsistencies
from spanwise.stores.sqlite.writer import SqliteWriter
from spanwise.stores.values import Model

_CREATE_SECONDS: Final = 10.0  # that another process may take to create the store


class SqliteStore:
    """A store in one file."""

    def __init__(self, path: str) -> None:
        """Open a file that is a store already."""
        self.path = path
        self._pool = Pool(path)
        self._matrices = Matrices()
        with self._pool.connection():  # a file that can't be read is reported at once
            pass

    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""
        with self._pool.connection() as connection:
            if not connection.execute("SELECT 1 FROM blocks WHERE living > 0 LIMIT 1").fetchone():
                return None
            properties = dict(connection.execute("SELECT name, value FROM properties"))
            return Model(properties["model"], int(properties["dimension"]))

    def reading(self, tenant: str) -> SqliteReader:
        """Return a reader of a tenant's documents."""
        return SqliteReader(self._pool, self._matrices, tenant)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[SqliteWriter]:
        """Hold the write lock, waiting up to `wait` seconds for another writer."""
        with write_lock(self.path, wait):
            stored = self.model()
            if stored and model and stored != model:
                rule = f"holds vectors of {stored.name} ({stored.dimension} numbers), not of {model.name}"
                hint = "index into a new store: the numbers of two models can't be compared"
                raise StoreError(self.path, rule, hint=hint)
            with closing(connected(self.path, write=True)) as connection:
                yield SqliteWriter(connection, self.path, tenant, model)

    def tenants(self) -> list[str]:
        """Return the names of all tenants, for administrators."""
        statement = "SELECT name FROM tenants WHERE id IN (SELECT tenant FROM documents) ORDER BY name"
        with self._pool.connection() as connection:
            return [name for (name,) in connection.execute(statement)]

    def status(self) -> dict[str, Any]:
        """Return what the store holds: kind, schema, model, analyser, documents, chunks, bytes."""
        model = self.model()
        with self._pool.connection() as connection:
            documents, chunks = connection.execute("SELECT count(*), total(chunks) FROM documents").fetchone()
            (vectors,) = connection.execute("SELECT total(living) FROM blocks").fetchone()
            analysers = connection.execute("SELECT DISTINCT analyser FROM documents ORDER BY analyser").fetchall()
        return {
            "kind": "sqlite",
            "where": self.path,
            "schema": VERSION,
            "model": {"name": model.name, "dimension": model.dimension} if model else None,
            "analyser": ", ".join(name for (name,) in analysers),
            "tenants": len(self.tenants()),
            "documents": documents,
            "chunks": int(chunks),
            "vectors": int(vectors),
            "bytes": _size(self.path),
        }

    def verify(self) -> list[str]:
        """Return the inconsistencies found; an empty list if there are none."""
        with self._pool.connection() as connection:
            connection.execute("BEGIN")
            return list(inconsistencies(connection))

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()


def open_sqlite(where: str, *, create: bool = False) -> SqliteStore:
    """Open the store in a file; with `create`, a missing or empty one is created."""
    if create and is_blank(where):
        folder = Path(where).parent
        if not where or not folder.is_dir():
            raise StoreError(where, "can't be made: its folder does not exist", hint=f"mkdir -p {folder}")
        with write_lock(where, _CREATE_SECONDS):
            created(where).close()
    elif create:
        connected(where, write=True).close()  # migrates one of an older version
    return SqliteStore(where)


def _size(path: str) -> int:
    """Return the size of the file and its write-ahead log in bytes."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))  # noqa: PTH110, PTH202
