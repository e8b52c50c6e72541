"""Repair of a tenant's rows: what isn't as it was written is removed, and what remains is counted anew."""

from __future__ import annotations

from typing import Any, Final

from spanwise.stores.postgres.tables import CHUNK_COLUMNS, DOCUMENT_COLUMNS, checksum

SUMS: Final = """
SELECT (SELECT count(*) FROM spanwise.documents WHERE tenant = %(tenant)s), count(*), count(vector),
    count(*) FILTER (WHERE length > 0), coalesce(sum(length), 0)
FROM spanwise.chunks WHERE tenant = %(tenant)s
"""
"""Counts a tenant's documents, chunks, vectors, searched chunks and terms."""
FREQUENCIES: Final = """
SELECT substr(t.lexeme, strpos(t.lexeme, ':') + 1) AS term, count(*) AS chunks
FROM spanwise.chunks c, unnest(c.terms) t WHERE c.tenant = %(tenant)s GROUP BY 1
"""
"""Counts the chunks of each term."""

_REMOVE: Final = f"""
DELETE FROM spanwise.documents d WHERE tenant = %(tenant)s AND (
    d.checksum <> {checksum(DOCUMENT_COLUMNS, "d")}
    OR d.chunks <> (SELECT count(*) FROM spanwise.chunks c WHERE c.document = d.key)
    OR EXISTS (
        SELECT 1 FROM spanwise.chunks c WHERE c.document = d.key AND c.checksum <> {checksum(CHUNK_COLUMNS, "c")}
    )
) RETURNING coalesce(file_path, document_id)
"""
_COUNT: Final = (
    "DELETE FROM spanwise.frequencies WHERE tenant = %(tenant)s",
    f"INSERT INTO spanwise.frequencies SELECT %(tenant)s, term, chunks FROM ({FREQUENCIES}) AS counted",
    f"UPDATE spanwise.tenants SET (documents, chunks, vectors, searched, terms) = ({SUMS}) WHERE tenant = %(tenant)s",
)


def repaired(connection: Any, tenant: str) -> list[str]:
    """Repair the rows of a tenant, in a transaction of it; return the files, or ids, of removed documents."""
    values = {"tenant": tenant}
    removed = sorted(name for (name,) in connection.execute(_REMOVE, values).fetchall())
    for statement in _COUNT:
        connection.execute(statement, values)
    return removed
