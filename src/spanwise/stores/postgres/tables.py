"""The tables in PostgreSQL, as steps: each brings them from one version to the next, a new database takes them all.

A released step is never changed, so a database that grew up has the same tables as a new one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

TENANT_TABLES: Final = ("tenants", "documents", "chunks", "frequencies")
"""The tables with rows of tenants: row-level security holds for each of them."""

DOCUMENT_COLUMNS: Final = {
    "tenant": "text", "document_id": "text", "fingerprint": "text", "metadata": "bytea", "language": "text",
    "analyser": "text", "addresses": "text[]", "targets": "text[]", "labels": "text[]", "space_key": "text",
    "file_path": "text", "place": "text", "source_type": "text", "updated_at": "text",
}  # fmt: skip
"""What is written of a document, with types."""

CHUNK_COLUMNS: Final = {
    "tenant": "text", "document": "bigint", "position": "int", "chunk_id": "text", "parent_id": "text",
    "chunk_type": "text", "content_hash": "text", "words_hash": "text", "record_hash": "text", "record": "bytea",
    "lead": "text", "length": "int", "terms": "tsvector", "vector": "halfvec",
}  # fmt: skip
"""What is written of a chunk, with types."""


def checksum(columns: dict[str, str], table: str, given: Collection[str] = ()) -> str:
    """Return the SQL expression for the checksum of a row; the columns in `given` are taken from a row of that name.

    It is written with the row and compared when the row is read, so a row that was changed in any other way is noticed.
    """
    names = ((f"{'given' if name in given else table}.{name}", kind) for name, kind in columns.items())
    # the text of a bytea depends on a setting
    values = (f"encode(sha256({name}), 'hex')" if kind == "bytea" else name for name, kind in names)
    return f"sha256(convert_to(ROW({', '.join(values)})::text, 'UTF8'))"


_OWN_TENANT_1: Final = "tenant = substr(nullif(current_setting('spanwise.tenant', true), ''), 2)"
_OWN_TENANT: Final = """tenant = (
    SELECT coalesce(spanwise.bound_tenant(), substr(nullif(current_setting('spanwise.tenant', true), ''), 2)))"""
_IS_CARETAKER: Final = """(
    SELECT current_setting('spanwise.caretaker', true) = 'on' AND spanwise.bound_tenant() IS NULL)"""


def _for_each_table(statement: str) -> str:
    return "\n".join(f"{statement.format(table=f'spanwise.{table}')};" for table in TENANT_TABLES)


# A setting that was never made, or has ended, reads as empty; a tenant's name may be empty too, so `=` precedes it.
_STEP_1: Final = f"""
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
{_for_each_table("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")}
{_for_each_table(f"CREATE POLICY tenants_apart ON {{table}} USING ({_OWN_TENANT_1}) WITH CHECK ({_OWN_TENANT_1})")}
ALTER POLICY tenants_apart ON spanwise.tenants
    USING ({_OWN_TENANT_1} OR current_setting('spanwise.caretaker', true) = 'on');
"""

# Rows have checksums; a chunk's document is of its own tenant; a role may be bound to one tenant, whatever it sets.
# A role is stored by its number, which it keeps when it is renamed. The length of vectors is no part of their type: to
# change it would hide all chunks from a transaction that has begun. The next writer creates their index again.
_STEP_2: Final = f"""
{_for_each_table("ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")}
CREATE TABLE spanwise.roles (role regrole PRIMARY KEY, tenant text NOT NULL);
ALTER TABLE spanwise.roles ENABLE ROW LEVEL SECURITY;
CREATE FUNCTION spanwise.bound_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS 'SELECT tenant FROM spanwise.roles WHERE role = quote_ident(session_user)::regrole';
{_for_each_table(f"ALTER POLICY tenants_apart ON {{table}} USING ({_OWN_TENANT}) WITH CHECK ({_OWN_TENANT})")}
ALTER POLICY tenants_apart ON spanwise.tenants USING ({_OWN_TENANT} OR {_IS_CARETAKER});
ALTER TABLE spanwise.tenants ADD CHECK (least(documents, chunks, vectors, searched, terms) >= 0);
DROP INDEX IF EXISTS spanwise.chunks_vector;
ALTER TABLE spanwise.documents ADD COLUMN checksum bytea;
ALTER TABLE spanwise.chunks ADD COLUMN checksum bytea, ALTER COLUMN vector TYPE halfvec;
UPDATE spanwise.documents d SET checksum = {checksum(DOCUMENT_COLUMNS, "d")};
UPDATE spanwise.chunks c SET checksum = {checksum(CHUNK_COLUMNS, "c")};
ALTER TABLE spanwise.documents ALTER COLUMN checksum SET NOT NULL, ADD UNIQUE (tenant, key),
    ADD FOREIGN KEY (tenant) REFERENCES spanwise.tenants (tenant);
ALTER TABLE spanwise.chunks ALTER COLUMN checksum SET NOT NULL, ADD CHECK (length >= 0),
    DROP CONSTRAINT chunks_document_fkey,
    ADD FOREIGN KEY (tenant, document) REFERENCES spanwise.documents (tenant, key) ON DELETE CASCADE;
{_for_each_table("ALTER TABLE {table} FORCE ROW LEVEL SECURITY")}
"""

STEPS: Final = (_STEP_1, _STEP_2)
