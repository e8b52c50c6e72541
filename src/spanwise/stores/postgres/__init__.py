"""A store on a PostgreSQL server with pgvector: the same protocol, terms and ranks as the embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from spanwise.errors import ConnectionLostError, StoreError
from spanwise.stores.postgres import locks, schema
from spanwise.stores.postgres.connections import Connections, retried
from spanwise.stores.postgres.reader import EXACT_UP_TO, PostgresReader
from spanwise.stores.postgres.verify import faults_of_wall
from spanwise.stores.postgres.writer import PostgresWriter
from spanwise.stores.values import Model, checked_tenant, checked_text

_TABLES: Final = ("documents", "chunks", "frequencies", "tenants")


def open_postgres(address: str, *, create: bool = False) -> PostgresStore:
    """Open the store in a database; with `create`, missing tables are created."""
    store = PostgresStore(Connections(address))
    try:
        store.prepare(create=create)
    except BaseException:
        store.close()
        raise
    return store


def _check(version: int | None, where: str) -> None:
    if version is None:
        raise StoreError(where, "is no store: it has no tables of Spanwise", hint="`spanwise index` makes them")
    if version < schema.VERSION:
        rule = f"was written by an older Spanwise (its tables are of version {version}, this one's of {schema.VERSION})"
        raise StoreError(where, rule, hint="run `spanwise index` on it once: that brings it up to date")
    if version > schema.VERSION:
        rule = f"has tables of version {version}, and this Spanwise knows {schema.VERSION}"
        raise StoreError(where, rule, hint="upgrade: pip install --upgrade spanwise")


class PostgresStore:
    """A store in a PostgreSQL database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def where(self) -> str:
        """The address of the database, without a password."""
        return self._connections.where

    @retried
    def prepare(self, *, create: bool) -> None:
        """Check the tables; with `create`, make those that are missing, and bring older ones up to date."""
        with self._connections.using() as connection:
            if create:
                schema.create(connection)
            _check(schema.stored_version(connection), self.where)

    @retried
    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""
        return self._model() if self._sums()["vectors"] else None

    def reading(self, tenant: str) -> PostgresReader:
        """Return a reader of a tenant's documents."""
        return PostgresReader(self._connections, checked_tenant(tenant))

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[PostgresWriter]:
        """Hold a tenant's write lock, waiting up to `wait` seconds for another writer."""
        tenant = checked_tenant(tenant)
        connection = self._locked(tenant, model, wait)
        try:
            writer = PostgresWriter(self._connections, connection, tenant, model)
            yield writer
            self._finish(connection, tenant, model, writer.added)
        except BaseException:
            connection.close()  # which ends the lock as well, whatever state the connection is in
            raise
        finally:
            self._connections.release(connection)

    @retried
    def _locked(self, tenant: str, model: Model | None, wait: float) -> Any:
        """Return a connection that has a tenant's write lock; nothing is written yet, so it may take two."""
        connection = self._connections.acquired()
        try:
            with self._connections.using(connection):
                connection.execute(locks.KEEPALIVE)
                locks.acquire(connection, locks.of_writer(tenant), wait, self.where)
                if model:
                    self._keep_model(connection, model, wait)
        except BaseException:
            connection.close()
            raise
        return connection

    def _finish(self, connection: Any, tenant: str, model: Model | None, added: int) -> None:
        """Index the vectors and renew the planner's statistics if it is time, and end the lock."""
        try:
            with self._connections.using(connection):
                if model and self.reading(tenant).statistics(()).chunks > EXACT_UP_TO:
                    schema.index_vectors(connection, model.dimension)
                if added:
                    schema.analyse(connection, added)
                locks.release_all(connection)
        except ConnectionLostError:  # all is committed; the lock ends with it, and the next writer makes the index
            connection.close()

    def tenants(self) -> list[str]:
        """Return the names of all tenants, for administrators."""
        return self._all_tenants("WHERE documents > 0")

    @retried
    def _all_tenants(self, condition: str = "") -> list[str]:
        query = f'SELECT tenant FROM spanwise.tenants {condition} ORDER BY tenant COLLATE "C"'
        with self._connections.as_caretaker() as connection:
            return [row[0] for row in connection.execute(query).fetchall()]

    @retried
    def status(self) -> dict[str, Any]:
        """Return what the store holds: kind, schema, model, analyser, documents, chunks, bytes."""
        tenants, sums, model = self.tenants(), self._sums(), self.model()
        analysers = {name for tenant in tenants for name in self.reading(tenant).analysers()}
        query = "SELECT sum(pg_total_relation_size('spanwise.' || name)) FROM unnest(%s::text[]) AS name"
        with self._connections.using() as connection:
            size = connection.execute(query, (list(_TABLES),)).fetchone()[0]
        return {
            "kind": "postgresql",
            "where": self.where,
            "schema": schema.VERSION,
            "model": {"name": model.name, "dimension": model.dimension} if model else None,
            "analyser": ", ".join(sorted(analysers)),
            "tenants": len(tenants),
            **sums,
            "bytes": int(size),
        }

    @retried
    def verify(self) -> list[str]:
        """Return the inconsistencies found; an empty list if there are none."""
        with self._connections.as_caretaker() as connection:
            found = list(faults_of_wall(connection))
        faults = ((tenant, fault) for tenant in self._all_tenants() for fault in self.reading(tenant).faults())
        return found + [f"tenant {tenant or '(default)'}: {fault}" for tenant, fault in faults]

    def repair(self, wait: float = 10.0) -> list[str]:
        """Remove documents that are damaged, so that they can be indexed again, and count all others anew.

        Return the files, or ids, of the removed ones.
        """
        return [name for tenant in self._all_tenants() for name in self._repaired(tenant, wait)]

    def _repaired(self, tenant: str, wait: float) -> list[str]:
        with self.writing(tenant, None, wait) as writer:
            return writer.repair()

    def bind_role(self, role: str, tenant: str) -> None:
        """Let a role of the server see and write the documents of one tenant, whatever its sessions set."""
        with self._connections.using() as connection:
            schema.bind_role(connection, checked_text("role", role), checked_tenant(tenant))

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _model(self) -> Model | None:
        with self._connections.using() as connection:
            return schema.stored_model(connection)

    def _sums(self) -> dict[str, int]:
        names = ("documents", "chunks", "vectors")
        query = f"SELECT {', '.join(f'coalesce(sum({name}), 0)::bigint' for name in names)} FROM spanwise.tenants"
        with self._connections.as_caretaker() as connection:
            return dict(zip(names, connection.execute(query).fetchone(), strict=True))

    def _keep_model(self, connection: Any, model: Model, wait: float) -> None:
        """Keep others from changing the model while vectors of it are written; set it if there are no others' yet."""
        locks.acquire(connection, locks.MODEL, wait, self.where, shared=True)
        if self._model() == model:
            return
        self._check_no_vectors(model)
        locks.release(connection, locks.MODEL, shared=True)
        locks.acquire(connection, locks.MODEL, wait, self.where)
        self._check_no_vectors(model)
        with connection.transaction():
            schema.lock(connection)
            schema.set_model(connection, *model)
        locks.acquire(connection, locks.MODEL, wait, self.where, shared=True)
        locks.release(connection, locks.MODEL)

    def _check_no_vectors(self, model: Model) -> None:
        stored = self.model()
        if stored and stored != model:
            rule = f"holds vectors of {stored.name} ({stored.dimension} numbers), not of {model.name}"
            hint = "index into a new store: the numbers of two models can't be compared"
            raise StoreError(self.where, rule, hint=hint)
