"""A store on a PostgreSQL server with pgvector: the same protocol as the embedded one, the same words and ranks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from spanwise.analysis import ANALYSER
from spanwise.errors import MissingExtraError, StoreError
from spanwise.stores.postgres import schema
from spanwise.stores.postgres.shelf import EXACT_UP_TO, PostgresShelf
from spanwise.stores.postgres.writer import PostgresWriter
from spanwise.stores.values import Model

_CONNECT_SECONDS: Final = 10
_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('spanwise writer ' || %s, 0))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtextextended('spanwise writer ' || %s, 0))"
_LOOK_AGAIN: Final = 0.1


def open_postgres(address: str, *, create: bool = False) -> PostgresStore:
    """Open the store in a database, and make its tables where there are none if that is wanted."""
    try:
        import psycopg
    except ImportError as error:
        rule = "needs a package that isn't installed"
        raise MissingExtraError("postgresql", rule, hint='pip install "spanwise[postgres]"') from error
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=_CONNECT_SECONDS)
    except (psycopg.Error, UnicodeError) as error:
        hint = "postgresql://user@host:port/database; a password is best left to PGPASSWORD or ~/.pgpass"
        raise StoreError("store", f"can't be reached ({_first_line(error)})", hint=hint) from error
    try:
        with as_store_errors():
            if create:
                schema.create(connection, ANALYSER)
            _check(connection)
        return PostgresStore(connection)
    except BaseException:
        connection.close()
        raise


def _check(connection: Any) -> None:
    version = schema.stored_version(connection)
    if version is None:
        raise StoreError(
            "store", "isn't there: this database has no tables of Spanwise", hint="spanwise index makes them"
        )
    if version != schema.VERSION:
        rule = f"has tables of version {version}, and this Spanwise knows {schema.VERSION}"
        raise StoreError("store", rule, hint="use the Spanwise that made it, or index into a database of its own")


class PostgresStore:
    """The store: one connection, for one thread."""

    def __init__(self, connection: Any) -> None:
        """Keep the connection, and find out whether the wall holds for whoever is connected."""
        self._connection = connection
        self._role = schema.ROLE if schema.is_unwalled(connection) else None

    def model(self) -> Model | None:
        """Name the embedder whose vectors are kept; None while there are none."""
        facts = self._facts()
        return Model(facts["model"], int(facts["dimension"])) if "model" in facts else None

    def shelf(self, tenant: str) -> PostgresShelf:
        """Give a tenant's documents to read."""
        return PostgresShelf(lambda: self._as(tenant), tenant)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[PostgresWriter]:
        """Become the one who writes for a tenant, waiting so many seconds for another to end."""
        with as_store_errors():
            self._lock(tenant, wait)
        try:
            with as_store_errors():
                self._keep_model(model)
            yield PostgresWriter(lambda: self._as(tenant), tenant)
            if model and self.shelf(tenant).statistics(()).chunks > EXACT_UP_TO:
                with as_store_errors():
                    schema.index_vectors(self._connection)
        finally:
            if not self._connection.closed:
                with as_store_errors():
                    self._connection.execute(_UNLOCK, (tenant,))

    def tenants(self) -> list[str]:
        """Name the tenants, for those who look after the store."""
        with self._as_caretaker() as connection:
            return [row[0] for row in connection.execute("SELECT tenant FROM spanwise.tenants ORDER BY tenant")]

    def status(self) -> dict[str, Any]:
        """Say what is in the store."""
        facts, counts = self._facts(), [self.shelf(tenant).sizes() for tenant in self.tenants()]
        tables = ("documents", "chunks", "frequencies", "tenants")
        with as_store_errors():
            row = self._connection.execute(
                "SELECT sum(pg_total_relation_size('spanwise.' || name)) FROM unnest(%s::text[]) AS name",
                (list(tables),),
            ).fetchone()
        return {
            "kind": "postgresql",
            "schema": int(facts["schema"]),
            "analyser": facts["analyser"],
            "model": facts.get("model"),
            "dimension": int(facts["dimension"]) if "dimension" in facts else None,
            "tenants": len(counts),
            "documents": sum(documents for documents, _ in counts),
            "chunks": sum(chunks for _, chunks in counts),
            "bytes": int(row[0]),
        }

    def verify(self) -> list[str]:
        """Look for what contradicts itself; an empty list is good news."""
        return [
            f"{tenant or 'default tenant'}: {fault}"
            for tenant in self.tenants()
            for fault in self.shelf(tenant).faults()
        ]

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def _facts(self) -> dict[str, str]:
        with as_store_errors():
            return dict(self._connection.execute("SELECT name, value FROM spanwise.facts").fetchall())

    def _lock(self, tenant: str, wait: float) -> None:
        """Take the lock; it ends with the connection, so a writer that was killed leaves none behind."""
        until = time.monotonic() + wait
        while not self._connection.execute(_LOCK, (tenant,)).fetchone()[0]:
            if time.monotonic() >= until:
                rule = f"is being written by somebody else, and {wait:g} s of waiting were not enough"
                raise StoreError("store", rule, hint="try again later, or wait longer")
            time.sleep(_LOOK_AGAIN)

    def _keep_model(self, model: Model | None) -> None:
        if model is None:
            return
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('spanwise schema', 0))")
            kept = self.model()
            if kept is None:
                schema.keep_model(self._connection, *model)
            elif kept != model:
                raise other_model(kept, model)

    @contextmanager
    def _as(self, tenant: str) -> Iterator[Any]:
        """Open a transaction that sees the documents of one tenant."""
        with as_store_errors(), self._connection.transaction():
            if self._role:
                self._connection.execute(f"SET LOCAL ROLE {self._role}")
            schema.enter(self._connection, tenant)
            yield self._connection

    @contextmanager
    def _as_caretaker(self) -> Iterator[Any]:
        """Open a transaction that sees the names of tenants, and none of their documents."""
        with as_store_errors(), self._connection.transaction():
            if self._role:
                self._connection.execute(f"SET LOCAL ROLE {self._role}")
            self._connection.execute("SELECT set_config('spanwise.caretaker', 'on', true)")
            yield self._connection


def other_model(kept: Model, given: Model) -> StoreError:
    """Say that vectors of two models don't mix."""
    rule = f"holds vectors of {kept.name} ({kept.dimension} numbers), which can't be mixed with others"
    return StoreError("store", rule, value=f"{given.name} ({given.dimension})", hint="index into a store of its own")


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Turn what the server refuses into an error of ours."""
    import psycopg

    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise StoreError("store", "can't be written: the disk is full", hint="nothing was lost; make room") from error
    except psycopg.Error as error:
        raise StoreError("store", f"is in trouble: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
