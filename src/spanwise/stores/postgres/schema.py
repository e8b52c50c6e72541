"""The state of the tables in PostgreSQL: their version, their model, and who may see what.

Every statement runs in a transaction that names the tenant it acts for; without one no row is visible, not even to the
owner of the tables. Superusers bypass row-level security, so they switch to the role `spanwise_shelf` first.
"""

from __future__ import annotations

import re
from typing import Any, Final

from spanwise.errors import OptionError, StoreError
from spanwise.stores.postgres.tables import STEPS, TENANT_TABLES
from spanwise.stores.values import Model

VERSION: Final = len(STEPS)
ROLE: Final = "spanwise_shelf"
_MUCH: Final = 10  # one chunk in so many
_MOST_INDEXED: Final = 4_000  # numbers of a vector that an index of pgvector takes

_SET_FACT: Final = """
INSERT INTO spanwise.facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_BIND: Final = """
INSERT INTO spanwise.roles VALUES (quote_ident(%s)::regrole, %s)
ON CONFLICT (role) DO UPDATE SET tenant = excluded.tenant
"""
# a role that is, or may become, one to which row-level security doesn't apply
_UNBINDABLE: Final = """
SELECT r.rolcreaterole OR EXISTS (
    SELECT 1 FROM pg_roles other WHERE pg_has_role(r.oid, other.oid, 'MEMBER') AND (
        other.rolsuper OR other.rolbypassrls
        OR other.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
        OR other.oid IN (SELECT relowner FROM pg_class WHERE relnamespace = 'spanwise'::regnamespace)
        OR other.oid IN (SELECT nspowner FROM pg_namespace WHERE nspname = 'spanwise')
    )
) FROM pg_roles r WHERE r.rolname = %s
"""


def set_tenant(connection: Any, tenant: str) -> None:
    """Set the tenant whose documents the current transaction may access."""
    connection.execute("SELECT set_config('spanwise.tenant', %s, true)", (f"={tenant}",))


def lock(connection: Any) -> None:
    """Lock the schema until the end of the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('spanwise schema', 0))")


def create(connection: Any) -> None:
    """Create missing tables, or bring them up to date; safe to run from several processes at once."""
    with connection.transaction():
        lock(connection)
        version = stored_version(connection) or 0
        if version == 0:
            _check_encoding(connection)
            _create_extension(connection)
        if version < VERSION:
            _update(connection, version)
        if version <= VERSION and bypasses_row_security(connection) and not _has_role(connection):
            _create_role(connection)


def _update(connection: Any, version: int) -> None:
    from psycopg.errors import IntegrityError

    try:
        for step in STEPS[version:]:
            connection.execute(step)
    except IntegrityError as error:
        rule = f"can't be brought up to date: {error.diag.message_primary} ({error.diag.message_detail})"
        hint = "rows that Spanwise didn't write contradict the others: delete them, or index into a new database"
        raise StoreError(connection.info.dbname, rule, hint=hint) from error
    connection.execute(_SET_FACT, ("schema", str(VERSION)))


def _check_encoding(connection: Any) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        hint = "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        raise StoreError(connection.info.dbname, f"can't hold every text: its encoding is {encoding}", hint=hint)


def _create_extension(connection: Any) -> None:
    from psycopg import errors

    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
        hint = "install pgvector 0.8 or later, and let a superuser say CREATE EXTENSION vector"
        raise StoreError("vector", "is an extension that this database doesn't have", hint=hint) from error
    query = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    (version,) = connection.execute(query).fetchone()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < (0, 8):
        hint = "install a later pgvector, and let a superuser say ALTER EXTENSION vector UPDATE"
        raise StoreError("vector", "must be of version 0.8 or later", value=version, hint=hint)


def stored_version(connection: Any) -> int | None:
    """Return the version of the existing tables, or None if there are none."""
    if connection.execute("SELECT to_regclass('spanwise.facts')").fetchone()[0] is None:
        return None
    version = _facts(connection).get("schema")
    return None if version is None else _integer("schema", version)


def stored_model(connection: Any) -> Model | None:
    """Return the model that was last set."""
    facts = _facts(connection)
    return Model(facts["model"], _integer("dimension", facts.get("dimension", ""))) if "model" in facts else None


def _facts(connection: Any) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM spanwise.facts").fetchall())


def _integer(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit()):
        raise damaged("spanwise.facts", f"`{name}` is no number")
    return int(value)


def damaged(where: str, reason: str) -> StoreError:
    """Return the error for what was changed by something else than Spanwise."""
    hint = "`spanwise store verify` shows what else is, and `spanwise store repair` keeps what is sound"
    return StoreError(where, f"is damaged: {reason}", hint=hint)


def bypasses_row_security(connection: Any) -> bool:
    """Whether row-level security doesn't apply to the connected role."""
    query = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    return bool(connection.execute(query).fetchone()[0])


def _has_role(connection: Any) -> bool:
    query = """
        SELECT has_table_privilege(rolname, 'spanwise.chunks', 'INSERT') FROM pg_roles WHERE rolname = %s
    """
    return bool(connection.execute(query, (ROLE,)).fetchone() == (True,))


def _create_role(connection: Any) -> None:
    """Create the role for superusers, and allow the index under row-level security, which only they can do."""
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
        connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    _grant(connection, ROLE)
    connection.execute("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF")


def _grant(connection: Any, role: str) -> None:
    """Let a role read and write documents, as far as row-level security lets it see them."""
    from psycopg.sql import SQL, Identifier

    tables = ", ".join(f"spanwise.{table}" for table in TENANT_TABLES)
    for right in (
        "USAGE ON SCHEMA spanwise", "SELECT ON spanwise.facts", f"SELECT, INSERT, UPDATE, DELETE ON {tables}",
        "USAGE ON ALL SEQUENCES IN SCHEMA spanwise",
    ):  # fmt: skip
        connection.execute(SQL("GRANT {} TO {}").format(SQL(right), Identifier(role)))


def bind_role(connection: Any, role: str, tenant: str) -> None:
    """Let a role see and write the documents of one tenant, whatever its sessions set.

    Raise OptionError for a role that doesn't exist, or that row-level security can't bind.
    """
    with connection.transaction():
        lock(connection)
        found = connection.execute(_UNBINDABLE, (role,)).fetchone()
        if found is None:
            raise OptionError("role", "doesn't exist on this server", value=role, hint=f'CREATE ROLE "{role}" LOGIN')
        if found[0]:
            rule = (
                "can't be bound to a tenant: row-level security doesn't apply to it, or to a role that it may take on"
            )
            hint = (
                "bind a role that is no superuser, creates no roles, owns no table of Spanwise, and is in no such role"
            )
            raise OptionError("role", rule, value=role, hint=hint)
        connection.execute(_BIND, (role, tenant))
        _grant(connection, role)


def set_model(connection: Any, name: str, dimension: int) -> None:
    """Store the model of the vectors, in the caller's transaction."""
    for fact in (("model", name), ("dimension", str(dimension))):
        connection.execute(_SET_FACT, fact)
    connection.execute("DROP INDEX IF EXISTS spanwise.chunks_vector")


def index_vectors(connection: Any, dimension: int) -> None:
    """Index the vectors; this slows down writing, so it waits until a tenant has too many to compare each.

    Only the owner of the tables can do it; other roles leave it to the owner's next run.
    """
    missing = """
        SELECT pg_has_role(relowner, 'MEMBER') AND to_regclass('spanwise.chunks_vector') IS NULL
        FROM pg_class WHERE oid = 'spanwise.chunks'::regclass
    """
    if dimension > _MOST_INDEXED or not connection.execute(missing).fetchone()[0]:
        return
    with connection.transaction():
        lock(connection)
        connection.execute(f"""
            CREATE INDEX IF NOT EXISTS chunks_vector ON spanwise.chunks
            USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)
        """)


def analyse(connection: Any, added: int) -> None:
    """Renew the planner's statistics if much was added: until the server does it by itself, searches are slow."""
    query = "SELECT reltuples FROM pg_class WHERE oid = 'spanwise.chunks'::regclass"
    if added * _MUCH > connection.execute(query).fetchone()[0]:
        connection.execute("ANALYZE spanwise.documents, spanwise.chunks, spanwise.frequencies")
