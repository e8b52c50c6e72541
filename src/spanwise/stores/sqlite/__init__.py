"""The embedded store: full text, vectors and filters in one file, without a server.

Readers always see a consistent state while one writer writes; what was committed survives a crash of the writer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from spanwise.errors import StoreError
from spanwise.stores.sqlite.checksums import DamageError, rows_of
from spanwise.stores.sqlite.locks import write_lock
from spanwise.stores.sqlite.log import check_log
from spanwise.stores.sqlite.pool import Caches, Loaded, Pool
from spanwise.stores.sqlite.reader import SqliteReader
from spanwise.stores.sqlite.schema import connected, created, is_blank, is_older, store_errors
from spanwise.stores.sqlite.tenants import all_tenants
from spanwise.stores.sqlite.verify import inconsistencies
from spanwise.stores.sqlite.writer import SqliteWriter
from spanwise.stores.values import Model, checked_tenant

_CREATE_SECONDS: Final = 10.0  # that another process may take to create the store


class SqliteStore:
    """A store in one file."""

    def __init__(self, path: str) -> None:
        """Open a file that is a store already."""
        self.path = path
        self._pool = Pool(path)
        self._caches = Caches(Loaded(), Loaded())
        with self._pool.connection():  # a file that can't be read is reported at once
            pass

    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""
        with self._pool.connection() as connection:
            if not any(tenant.vectors for tenant in all_tenants(connection)):
                return None
            properties = dict(rows_of(connection, "properties"))
            if not {"model", "dimension"} <= properties.keys():
                raise DamageError("the name of the model is missing")
            return Model(properties["model"], int(properties["dimension"]))

    def reading(self, tenant: str) -> SqliteReader:
        """Return a reader of a tenant's documents."""
        return SqliteReader(self._pool, self._caches, checked_tenant(tenant))

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[SqliteWriter]:
        """Hold the write lock, waiting up to `wait` seconds for another writer."""
        tenant = checked_tenant(tenant)
        with write_lock(self.path, wait):
            stored = self.model()
            if stored and model and stored != model:
                rule = f"holds vectors of {stored.name} ({stored.dimension} numbers), not of {model.name}"
                hint = "index into a new store: the numbers of two models can't be compared"
                raise StoreError(self.path, rule, hint=hint)
            with closing(connected(self.path, write=True)) as connection:
                self._pool.renew()
                yield SqliteWriter(connection, self.path, tenant, model)

    def tenants(self) -> list[str]:
        """Return the names of all tenants, for administrators."""
        with self._pool.connection() as connection:
            return [tenant.name for tenant in all_tenants(connection) if tenant.documents]

    def status(self) -> dict[str, Any]:
        """Return what the store holds: kind, schema, model, analyser, documents, chunks, bytes."""
        model = self.model()
        with self._pool.connection() as connection:
            connection.execute("BEGIN")
            tenants = [tenant for tenant in all_tenants(connection) if tenant.documents]
            documents = list(rows_of(connection, "documents"))
            if len(documents) != sum(tenant.documents for tenant in tenants):
                raise DamageError("documents are missing")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        return {
            "kind": "sqlite",
            "where": self.path,
            "schema": version,
            "model": {"name": model.name, "dimension": model.dimension} if model else None,
            "analyser": ", ".join(sorted({row[5] for row in documents})),
            "tenants": len(tenants),
            "documents": len(documents),
            "chunks": sum(row[4] for row in documents),
            "vectors": sum(tenant.vectors for tenant in tenants),
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
    with store_errors(where):
        check_log(where)
    if create and is_blank(where):
        folder = Path(where).parent
        if not where or not folder.is_dir():
            raise StoreError(where, "can't be made: its folder does not exist", hint=f"mkdir -p {folder}")
        with write_lock(where, _CREATE_SECONDS):
            created(where).close()
    elif create and is_older(where):
        with write_lock(where, _CREATE_SECONDS):  # an older Spanwise may be writing
            connected(where, write=True).close()
    return SqliteStore(where)


def created_for_repair(path: str, sequences: Mapping[str, int]) -> SqliteStore:
    """Create a store whose keys follow the given ones, for processes that still know those."""
    with store_errors(path), closing(created(path)) as connection:
        connection.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", sequences.items())
    return SqliteStore(path)


def _size(path: str) -> int:
    """Return the size of the file and its write-ahead log in bytes."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))  # noqa: PTH110, PTH202
