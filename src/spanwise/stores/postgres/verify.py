"""Consistency checks: each row of a tenant as it was written, all sums right, and the wall between tenants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spanwise.stores.postgres.repair import FREQUENCIES, SUMS
from spanwise.stores.postgres.tables import CHUNK_COLUMNS, DOCUMENT_COLUMNS, TENANT_TABLES, checksum

_MOST: Final = 20  # messages of one kind

_MUST_BE_EMPTY: Final = {
    "document {} is not as it was written": f"""
        SELECT document_id FROM spanwise.documents d
        WHERE tenant = %(tenant)s AND checksum <> {checksum(DOCUMENT_COLUMNS, "d")} ORDER BY 1
    """,
    "chunk {} is not as it was written": f"""
        SELECT key FROM spanwise.chunks c
        WHERE tenant = %(tenant)s AND checksum <> {checksum(CHUNK_COLUMNS, "c")} ORDER BY 1
    """,
    "document {} has another number of chunks than it says": """
        SELECT document_id FROM spanwise.documents d WHERE tenant = %(tenant)s
            AND chunks <> (SELECT count(*) FROM spanwise.chunks c WHERE c.document = d.key) ORDER BY 1
    """,
    "the sum of {} is wrong": f"""
        SELECT name FROM spanwise.tenants t, ({SUMS}) AS c (documents, chunks, vectors, searched, terms), LATERAL (
            VALUES ('documents', t.documents, c.documents), ('chunks', t.chunks, c.chunks),
                ('vectors', t.vectors, c.vectors), ('searched chunks', t.searched, c.searched),
                ('terms', t.terms, c.terms)
        ) AS sums (name, stated, counted) WHERE tenant = %(tenant)s AND stated <> counted
    """,
    "the number of chunks with the term {} is wrong": f"""
        SELECT term FROM ({FREQUENCIES}) AS counted FULL JOIN (
            SELECT term, chunks FROM spanwise.frequencies WHERE tenant = %(tenant)s
        ) AS stated USING (term) WHERE counted.chunks IS DISTINCT FROM stated.chunks ORDER BY 1
    """,
}
_WALL: Final = {
    "row-level security of spanwise.{} is not as it was set up: the database may not keep tenants apart": f"""
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'spanwise'::regnamespace AND c.relname IN {TENANT_TABLES} AND NOT (
            c.relrowsecurity AND c.relforcerowsecurity
            AND (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) = 1
        ) ORDER BY 1
    """,
    "spanwise.{} shows rows to a statement that names no tenant: its policy was changed": """
        SELECT name FROM (
            SELECT 'documents', EXISTS (SELECT 1 FROM spanwise.documents)
            UNION ALL SELECT 'chunks', EXISTS (SELECT 1 FROM spanwise.chunks)
            UNION ALL SELECT 'frequencies', EXISTS (SELECT 1 FROM spanwise.frequencies)
        ) AS shown (name, is_shown) WHERE is_shown AND spanwise.bound_tenant() IS NULL
    """,
}


def inconsistencies(connection: Any, tenant: str) -> Iterator[str]:
    """Yield a message for each inconsistency of a tenant, in a transaction of that tenant."""
    yield from _found(connection, _MUST_BE_EMPTY, {"tenant": tenant})


def faults_of_wall(connection: Any) -> Iterator[str]:
    """Yield a message for each way around the wall between tenants, in a transaction that names no tenant."""
    yield from _found(connection, _WALL)


def _found(connection: Any, queries: Mapping[str, str], values: Mapping[str, str] | None = None) -> Iterator[str]:
    for message, query in queries.items():
        for (name,) in connection.execute(f"{query} LIMIT {_MOST}", values).fetchall():
            yield message.format(name)
