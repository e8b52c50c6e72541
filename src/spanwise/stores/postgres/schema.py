"""The tables in PostgreSQL, and row-level security on each of them, which separates the tenants.

Every statement runs in a transaction that names the tenant it acts for; without one no row is visible, not even to the
owner of the tables. Superusers bypass row-level security, so they switch to the role `spanwise_shelf` first.
"""

from __future__ import annotations

from typing import Any, Final

from spanwise.errors import StoreError

VERSION: Final = 1
ROLE: Final = "spanwise_shelf"

_TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS spanwise;
CREATE TABLE IF NOT EXISTS spanwise.facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS spanwise.tenants (
    key int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL UNIQUE,
    documents bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0,
    searched bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS spanwise.documents (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    document_id text NOT NULL,
    fingerprint text NOT NULL,
    metadata bytea NOT NULL,
    language text NOT NULL,
    analyser text NOT NULL,
    addresses text[] NOT NULL,
    targets text[] NOT NULL,
    labels text[] NOT NULL,
    space_key text,
    file_path text,
    place text,
    source_type text,
    updated_at text COLLATE "C",
    chunks int NOT NULL,
    UNIQUE (tenant, document_id)
);
CREATE TABLE IF NOT EXISTS spanwise.chunks (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    document bigint NOT NULL REFERENCES spanwise.documents ON DELETE CASCADE,
    position int NOT NULL,
    chunk_id text NOT NULL,
    parent_id text,
    chunk_type text NOT NULL,
    content_hash text NOT NULL,
    words_hash text NOT NULL,
    record_hash text NOT NULL,
    record bytea NOT NULL,
    lead text NOT NULL,
    length int NOT NULL,
    terms tsvector NOT NULL,
    vector halfvec
);
CREATE TABLE IF NOT EXISTS spanwise.frequencies (
    tenant text NOT NULL,
    term text COLLATE "C" NOT NULL,
    chunks int NOT NULL,
    PRIMARY KEY (tenant, term)
);
CREATE INDEX IF NOT EXISTS chunks_document ON spanwise.chunks (document, position);
CREATE INDEX IF NOT EXISTS chunks_chunk_id ON spanwise.chunks (tenant, chunk_id);
CREATE INDEX IF NOT EXISTS chunks_content_hash ON spanwise.chunks (tenant, content_hash);
CREATE INDEX IF NOT EXISTS chunks_terms ON spanwise.chunks USING gin (terms);
"""
_SET_FACT: Final = """
INSERT INTO spanwise.facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_TENANT_TABLES: Final = ("tenants", "documents", "chunks", "frequencies")
# a setting that was never made, or has ended, reads as empty; a tenant's name may be empty too, so `=` precedes it
_OWN_ROWS: Final = "tenant = substr(nullif(current_setting('spanwise.tenant', true), ''), 2)"


def set_tenant(connection: Any, tenant: str) -> None:
    """Set the tenant whose documents the current transaction may access."""
    connection.execute("SELECT set_config('spanwise.tenant', %s, true)", (f"={tenant}",))


def lock(connection: Any) -> None:
    """Lock the schema until the end of the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('spanwise schema', 0))")


def create(connection: Any) -> None:
    """Create missing tables; safe to run from several processes at once."""
    import psycopg

    with connection.transaction():
        lock(connection)
        if stored_version(connection) is not None:
            return
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.Error as error:
            hint = "install pgvector 0.8 or later, and let a superuser say CREATE EXTENSION vector"
            raise StoreError("vector", "is an extension that this database doesn't have", hint=hint) from error
        connection.execute(_TABLES)
        for table in _TENANT_TABLES:
            _enable_row_security(connection, table)
        connection.execute("INSERT INTO spanwise.facts VALUES ('schema', %s)", (str(VERSION),))
    if bypasses_row_security(connection):
        _create_role(connection)


def stored_version(connection: Any) -> int | None:
    """Return the version of the existing tables, or None if there are none."""
    if connection.execute("SELECT to_regclass('spanwise.facts')").fetchone()[0] is None:
        return None
    row = connection.execute("SELECT value FROM spanwise.facts WHERE name = 'schema'").fetchone()
    return int(row[0]) if row else None


def bypasses_row_security(connection: Any) -> bool:
    """Whether row-level security doesn't apply to the connected role."""
    query = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    return bool(connection.execute(query).fetchone()[0])


def _enable_row_security(connection: Any, table: str) -> None:
    # administrators may read the names and sums of all tenants, nothing else
    visible = f"{_OWN_ROWS} OR current_setting('spanwise.caretaker', true) = 'on'" if table == "tenants" else _OWN_ROWS
    connection.execute(f"ALTER TABLE spanwise.{table} ENABLE ROW LEVEL SECURITY")
    connection.execute(f"ALTER TABLE spanwise.{table} FORCE ROW LEVEL SECURITY")
    connection.execute(f"CREATE POLICY tenants_apart ON spanwise.{table} USING ({visible}) WITH CHECK ({_OWN_ROWS})")


def _create_role(connection: Any) -> None:
    """Create the role for superusers, and allow the index under row-level security, which only they can do."""
    with connection.transaction():
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA spanwise TO {ROLE}")
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA spanwise TO {ROLE}")
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA spanwise TO {ROLE}")
        connection.execute("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF")


def set_model(connection: Any, name: str, dimension: int) -> None:
    """Store the model of the vectors, in the caller's transaction."""
    for fact in (("model", name), ("dimension", str(dimension))):
        connection.execute(_SET_FACT, fact)
    connection.execute("DROP INDEX IF EXISTS spanwise.chunks_vector")
    connection.execute(f"ALTER TABLE spanwise.chunks ALTER COLUMN vector TYPE halfvec({dimension})")


def index_vectors(connection: Any) -> None:
    """Index the vectors; this slows down writing, so it waits until a tenant has too many to compare each."""
    connection.execute(
        "CREATE INDEX IF NOT EXISTS chunks_vector ON spanwise.chunks USING hnsw (vector halfvec_cosine_ops)"
    )
