"""The embedded store: full text, vectors and filters in one file, without a server.

Readers see a whole state at any time while one writer writes; what a writer committed outlives its sudden end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from spanwise.errors import StoreError
from spanwise.stores.sqlite.locks import alone
from spanwise.stores.sqlite.pool import Matrices, Pool
from spanwise.stores.sqlite.reader import SqliteReader
from spanwise.stores.sqlite.schema import VERSION, connected, created, is_blank
from spanwise.stores.sqlite.verify import contradictions
from spanwise.stores.sqlite.writer import SqliteWriter
from spanwise.stores.values import Model

_MAKING: Final = 10.0  # seconds that another may take to make the store


class SqliteStore:
    """A store in one file."""

    def __init__(self, path: str) -> None:
        """Look at a file that is a store already."""
        self._path = path
        self._pool = Pool(path)
        self._matrices = Matrices()
        with self._pool.asked():  # what can't be read is told at once
            pass

    def model(self) -> Model | None:
        """Name the embedder whose vectors are kept; None while there are none."""
        with self._pool.asked() as connection:
            if not connection.execute("SELECT 1 FROM blocks WHERE living > 0 LIMIT 1").fetchone():
                return None
            said = dict(connection.execute("SELECT name, value FROM properties"))
            return Model(said["model"], int(said["dimension"]))

    def reading(self, tenant: str) -> SqliteReader:
        """Give a tenant's documents to read."""
        return SqliteReader(self._pool, self._matrices, tenant)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[SqliteWriter]:
        """Become the one who writes, waiting so many seconds for another to end."""
        with alone(self._path, wait):
            there = self.model()
            if there and model and there != model:
                rule = f"holds vectors of {there.name} ({there.dimension} numbers), not of {model.name}"
                hint = "index into a new store: the numbers of two models can't be compared"
                raise StoreError(self._path, rule, hint=hint)
            connection = connected(self._path, write=True)
            try:
                yield SqliteWriter(connection, self._path, tenant, model)
            finally:
                connection.close()

    def tenants(self) -> list[str]:
        """Name the tenants, for those who look after the store."""
        statement = "SELECT name FROM tenants WHERE id IN (SELECT tenant FROM documents) ORDER BY name"
        with self._pool.asked() as connection:
            return [name for (name,) in connection.execute(statement)]

    def status(self) -> dict[str, Any]:
        """Say what is in the store: kind, schema, model, analyser, documents, chunks, bytes."""
        model = self.model()
        with self._pool.asked() as connection:
            documents, chunks = connection.execute("SELECT count(*), total(chunks) FROM documents").fetchone()
            (vectors,) = connection.execute("SELECT total(living) FROM blocks").fetchone()
            analysers = connection.execute("SELECT DISTINCT analyser FROM documents ORDER BY analyser").fetchall()
        return {
            "kind": "sqlite",
            "where": self._path,
            "schema": VERSION,
            "model": {"name": model.name, "dimension": model.dimension} if model else None,
            "analyser": ", ".join(name for (name,) in analysers),
            "tenants": len(self.tenants()),
            "documents": documents,
            "chunks": int(chunks),
            "vectors": int(vectors),
            "bytes": _size(self._path),
        }

    def verify(self) -> list[str]:
        """Look for what contradicts itself; an empty list is good news."""
        with self._pool.asked() as connection:
            connection.execute("BEGIN")
            return list(contradictions(connection))

    def close(self) -> None:
        """Let go of it."""
        self._pool.close()


def open_sqlite(where: str, *, create: bool = False) -> SqliteStore:
    """Open the store in a file; with `create` one that isn't there, or is empty, is made."""
    if create and is_blank(where):
        folder = Path(where).parent
        if not where or not folder.is_dir():
            raise StoreError(where, "can't be made: its folder does not exist", hint=f"mkdir -p {folder}")
        with alone(where, _MAKING):
            created(where).close()
    elif create:
        connected(where, write=True).close()  # one of an older version is brought up to date
    return SqliteStore(where)


def _size(path: str) -> int:
    """Count the bytes of the file and of what is not yet in it."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))  # noqa: PTH110, PTH202
