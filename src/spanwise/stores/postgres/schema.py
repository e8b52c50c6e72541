"""The tables in PostgreSQL, and the wall between tenants: row-level security on each of them.

Every statement runs in a transaction that says whose documents it may touch; without a tenant no row is there, not even
for the owner of the tables. A superuser would walk through the wall, so they put on the role `spanwise_shelf` first.
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
_KEEP: Final = """
INSERT INTO spanwise.facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_WALLED: Final = ("tenants", "documents", "chunks", "frequencies")
# a setting that was never made, or is over, reads as nothing; a tenant may be nameless, so a sign stands before it
_MINE: Final = "tenant = substr(nullif(current_setting('spanwise.tenant', true), ''), 2)"


def enter(connection: Any, tenant: str) -> None:
    """Say in a transaction whose documents it may touch."""
    connection.execute("SELECT set_config('spanwise.tenant', %s, true)", (f"={tenant}",))


def lock(connection: Any) -> None:
    """Be the only one who changes tables, until the end of the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('spanwise schema', 0))")


def create(connection: Any) -> None:
    """Make what isn't there yet; two who do it at once don't get in each other's way."""
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
        for table in _WALLED:
            _wall(connection, table)
        connection.execute("INSERT INTO spanwise.facts VALUES ('schema', %s)", (str(VERSION),))
    if is_unwalled(connection):
        _make_role(connection)


def stored_version(connection: Any) -> int | None:
    """Give the version of the tables that are there, or None where there are none."""
    if connection.execute("SELECT to_regclass('spanwise.facts')").fetchone()[0] is None:
        return None
    row = connection.execute("SELECT value FROM spanwise.facts WHERE name = 'schema'").fetchone()
    return int(row[0]) if row else None


def is_unwalled(connection: Any) -> bool:
    """Whether row-level security doesn't hold for whoever is connected."""
    query = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    return bool(connection.execute(query).fetchone()[0])


def _wall(connection: Any, table: str) -> None:
    # those who look after the store may read names and sums of all tenants, nothing else
    seen = f"{_MINE} OR current_setting('spanwise.caretaker', true) = 'on'" if table == "tenants" else _MINE
    connection.execute(f"ALTER TABLE spanwise.{table} ENABLE ROW LEVEL SECURITY")
    connection.execute(f"ALTER TABLE spanwise.{table} FORCE ROW LEVEL SECURITY")
    connection.execute(f"CREATE POLICY tenants_apart ON spanwise.{table} USING ({seen}) WITH CHECK ({_MINE})")


def _make_role(connection: Any) -> None:
    """Make the role that a superuser puts on; and let the index be used behind the wall, which only they can allow."""
    with connection.transaction():
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA spanwise TO {ROLE}")
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA spanwise TO {ROLE}")
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA spanwise TO {ROLE}")
        connection.execute("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF")


def keep_model(connection: Any, name: str, dimension: int) -> None:
    """Remember whose vectors these are, in the caller's transaction."""
    for fact in (("model", name), ("dimension", str(dimension))):
        connection.execute(_KEEP, fact)
    connection.execute("DROP INDEX IF EXISTS spanwise.chunks_vector")
    connection.execute(f"ALTER TABLE spanwise.chunks ALTER COLUMN vector TYPE halfvec({dimension})")


def index_vectors(connection: Any) -> None:
    """Index the vectors; it makes writing slower, so it comes when a tenant has too many to look at each."""
    connection.execute(
        "CREATE INDEX IF NOT EXISTS chunks_vector ON spanwise.chunks USING hnsw (vector halfvec_cosine_ops)"
    )
