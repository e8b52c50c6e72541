"""A store on a PostgreSQL server with pgvector: the same protocol, terms and ranks as the embedded one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from spanwise.errors import StoreError
from spanwise.stores.postgres import schema
from spanwise.stores.postgres.connections import Connections
from spanwise.stores.postgres.reader import EXACT_UP_TO, PostgresReader
from spanwise.stores.postgres.writer import PostgresWriter
from spanwise.stores.values import Model

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('spanwise writer ' || %s, 0))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtextextended('spanwise writer ' || %s, 0))"
_RETRY_SECONDS: Final = 0.1
_TABLES: Final = ("documents", "chunks", "frequencies", "tenants")


def open_postgres(address: str, *, create: bool = False) -> PostgresStore:
    """Open the store in a database; with `create`, missing tables are created."""
    connections = Connections(address)
    try:
        with connections.plain() as connection:
            if create:
                schema.create(connection)
            _check(schema.stored_version(connection), connections.where)
    except BaseException:
        connections.close()
        raise
    return PostgresStore(connections)


def _check(version: int | None, where: str) -> None:
    if version is None:
        raise StoreError(where, "is no store: it has no tables of Spanwise", hint="`spanwise index` makes them")
    if version != schema.VERSION:
        rule = f"has tables of version {version}, and this Spanwise knows {schema.VERSION}"
        raise StoreError(where, rule, hint="use the Spanwise that made it, or index into a database of its own")


class PostgresStore:
    """A store in a PostgreSQL database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""
        return self._model() if self._sums()["vectors"] else None

    def reading(self, tenant: str) -> PostgresReader:
        """Return a reader of a tenant's documents."""
        return PostgresReader(self._connections, tenant)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[PostgresWriter]:
        """Hold a tenant's write lock, waiting up to `wait` seconds for another writer."""
        with self._connections.plain() as connection:
            self._lock(connection, tenant, wait)
            try:
                if model:
                    self._set_model(connection, model)
                yield PostgresWriter(self._connections, connection, tenant, model)
                if model and self.reading(tenant).statistics(()).chunks > EXACT_UP_TO:
                    schema.index_vectors(connection)
            finally:
                if not connection.closed:
                    connection.execute(_UNLOCK, (tenant,))

    def tenants(self) -> list[str]:
        """Return the names of all tenants, for administrators."""
        query = 'SELECT tenant FROM spanwise.tenants WHERE documents > 0 ORDER BY tenant COLLATE "C"'
        with self._connections.as_caretaker() as connection:
            return [row[0] for row in connection.execute(query).fetchall()]

    def status(self) -> dict[str, Any]:
        """Return what the store holds: kind, schema, model, analyser, documents, chunks, bytes."""
        tenants, sums, model = self.tenants(), self._sums(), self.model()
        analysers = {name for tenant in tenants for name in self.reading(tenant).analysers()}
        query = "SELECT sum(pg_total_relation_size('spanwise.' || name)) FROM unnest(%s::text[]) AS name"
        with self._connections.plain() as connection:
            size = connection.execute(query, (list(_TABLES),)).fetchone()[0]
        return {
            "kind": "postgresql",
            "where": self._connections.where,
            "schema": schema.VERSION,
            "model": {"name": model.name, "dimension": model.dimension} if model else None,
            "analyser": ", ".join(sorted(analysers)),
            "tenants": len(tenants),
            **sums,
            "bytes": int(size),
        }

    def verify(self) -> list[str]:
        """Return the inconsistencies found; an empty list if there are none."""
        faults = ((tenant, fault) for tenant in self.tenants() for fault in self.reading(tenant).faults())
        return [f"tenant {tenant or '(default)'}: {fault}" for tenant, fault in faults]

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _model(self) -> Model | None:
        with self._connections.plain() as connection:
            facts = dict(connection.execute("SELECT name, value FROM spanwise.facts").fetchall())
        return Model(facts["model"], int(facts["dimension"])) if "model" in facts else None

    def _sums(self) -> dict[str, int]:
        names = ("documents", "chunks", "vectors")
        query = f"SELECT {', '.join(f'coalesce(sum({name}), 0)::bigint' for name in names)} FROM spanwise.tenants"
        with self._connections.as_caretaker() as connection:
            return dict(zip(names, connection.execute(query).fetchone(), strict=True))

    def _lock(self, connection: Any, tenant: str, wait: float) -> None:
        """Take the lock; it ends with the connection, so a writer that was killed leaves none behind."""
        until = time.monotonic() + wait
        while not connection.execute(_LOCK, (tenant,)).fetchone()[0]:
            if time.monotonic() >= until:
                rule = f"is being written by another process, still after {wait:g} seconds"
                raise StoreError(self._connections.where, rule, hint="try again later, or wait longer")
            time.sleep(_RETRY_SECONDS)

    def _set_model(self, connection: Any, model: Model) -> None:
        with connection.transaction():
            schema.lock(connection)
            current = self._model()
            if current == model:
                return
            if stored := self.model():
                rule = f"holds vectors of {stored.name} ({stored.dimension} numbers), not of {model.name}"
                hint = "index into a new store: the numbers of two models can't be compared"
                raise StoreError(self._connections.where, rule, hint=hint)
            schema.set_model(connection, *model)
