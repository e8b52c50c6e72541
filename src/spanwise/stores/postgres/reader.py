"""Reads of one tenant's documents: every statement runs in that tenant's own transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from math import log
from typing import TYPE_CHECKING, Any, Final

from spanwise.errors import StoreError
from spanwise.stores.encoding import as_halfvec, json_value
from spanwise.stores.filter_rules import first_moment, last_moment, selective_terms
from spanwise.stores.postgres import schema
from spanwise.stores.postgres.connections import Connections, retried
from spanwise.stores.postgres.tables import CHUNK_COLUMNS, DOCUMENT_COLUMNS, checksum
from spanwise.stores.postgres.verify import inconsistencies
from spanwise.stores.values import (
    Candidate,
    DocumentState,
    Filters,
    Keyed,
    Statistics,
    StoredChunk,
    StoredDocument,
    possible_ids,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO: Final = 20_000
"""Up to this many vectors of a tenant are compared one by one; beyond, the index finds nearly all of the nearest."""

_DOCUMENT: Final = "d.document_id, d.fingerprint, d.metadata, d.language, d.addresses, d.targets, d.place"
_CHUNK: Final = f"c.key, c.position, c.record, c.lead, {_DOCUMENT}"
_INTACT: Final = f"""
    c.checksum = {checksum(CHUNK_COLUMNS, "c")} AND d.checksum = {checksum(DOCUMENT_COLUMNS, "d")}
"""
_FROM: Final = "FROM spanwise.chunks c JOIN spanwise.documents d ON d.key = c.document"


class PostgresReader:
    """The documents of one tenant, for reading."""

    def __init__(self, connections: Connections, tenant: str) -> None:
        """Create a reader of a tenant, which may have no documents."""
        self._connections, self._tenant = connections, tenant
        self._snapshot = ExitStack()
        self._held: Any = None

    @retried
    def __enter__(self) -> PostgresReader:
        """Open the snapshot."""
        self._held = self._snapshot.enter_context(self._connections.snapshot(self._tenant))
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the snapshot."""
        self._held = None
        self._snapshot.__exit__(*error)

    @property
    def in_snapshot(self) -> bool:
        """Whether a snapshot is open."""
        return self._held is not None

    def _transaction(self) -> AbstractContextManager[Any]:
        return self._connections.using(self._held) if self._held else self._connections.within(self._tenant)

    @retried
    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count this tenant's chunks, and in how many of them each term occurs."""
        with self._transaction() as connection:
            return self._statistics(connection, terms)

    def _statistics(self, connection: Any, terms: Sequence[str]) -> Statistics:
        _, searched, length = self._sums(connection)
        query = "SELECT term, chunks FROM spanwise.frequencies WHERE tenant = %s AND chunks > 0 AND term = ANY(%s)"
        frequencies = dict(connection.execute(query, (self._tenant, list(terms))).fetchall())
        return Statistics(searched, length / searched if searched else 0.0, frequencies)

    def _sums(self, connection: Any) -> tuple[int, int, int]:
        """Return the tenant's number and its counts of searched chunks and terms."""
        query = "SELECT key, searched, terms FROM spanwise.tenants WHERE tenant = %s"
        return connection.execute(query, (self._tenant,)).fetchone() or (0, 0, 0)

    @retried
    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Return the chunks that contain some of the terms, the most promising first."""
        with self._transaction() as connection:
            statistics = self._statistics(connection, terms)
            selected = selective_terms(statistics.frequencies, statistics.chunks)
            if not selected or limit <= 0:
                return []
            where, values = _conditions(filters)
            weights = [log(1 + statistics.chunks / statistics.frequencies[term]) for term in selected]
            query = f"""
                SELECT c.key {_FROM} WHERE c.tenant = %s AND c.terms @@ %s::tsquery {where}
                ORDER BY (SELECT sum(weight * ts_rank(c.terms, term, 1))
                          FROM unnest(%s::tsquery[], %s::float8[]) AS asked (term, weight)) DESC, c.key LIMIT %s
            """
            number = self._sums(connection)[0]
            quoted = [lexeme(number, term) for term in selected]
            rows = connection.execute(query, (self._tenant, " | ".join(quoted), *values, quoted, weights, limit))
            return self._counted(connection, terms, [row[0] for row in rows.fetchall()])

    @retried
    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Count the terms in the given chunks."""
        with self._transaction() as connection:
            return self._counted(connection, terms, keys)

    def _counted(self, connection: Any, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        query = """
            SELECT c.key, c.length, substr(t.lexeme, strpos(t.lexeme, ':') + 1), cardinality(t.positions)
            FROM spanwise.chunks c LEFT JOIN LATERAL unnest(c.terms) t ON t.lexeme = ANY(%s)
            WHERE c.tenant = %s AND c.key = ANY(%s)
        """
        lengths, counts = dict[int, int](), dict[int, dict[str, int]]()
        number = self._sums(connection)[0]
        wanted = [f"{number}:{term}" for term in terms]
        for key, length, term, count in connection.execute(query, (wanted, self._tenant, list(keys))).fetchall():
            lengths[key] = length
            found = counts.setdefault(key, {})
            if term is not None:
                found[term] = count
        return [Candidate(key, lengths[key], counts[key]) for key in keys if key in lengths]

    @retried
    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Return the chunks whose vectors are nearest, with their cosines, the nearest first."""
        where, values = _conditions(filters)
        with self._transaction() as connection:
            query_vector = self._query_vector(connection, vector)
            materialized = "MATERIALIZED" if self._sums(connection)[1] <= EXACT_UP_TO else "NOT MATERIALIZED"
            connection.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            indexed = f"c.vector::halfvec({len(vector)})"  # as in the index
            query = f"""
                WITH mine AS {materialized} (
                    SELECT c.key, {indexed} AS vector {_FROM} WHERE c.tenant = %s AND c.vector IS NOT NULL {where}
                )
                SELECT key, 1 - (vector <=> %s::halfvec) AS cosine FROM mine ORDER BY vector <=> %s::halfvec LIMIT %s
            """
            rows = connection.execute(query, (self._tenant, *values, query_vector, query_vector, limit)).fetchall()
        return sorted(_without_nan(rows), key=lambda row: (-row[1], row[0]))

    @retried
    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given chunks; those without a vector are left out."""
        query = """
            SELECT key, 1 - (vector <=> %s::halfvec) FROM spanwise.chunks
            WHERE tenant = %s AND key = ANY(%s) AND vector IS NOT NULL
        """
        with self._transaction() as connection:
            query_vector = self._query_vector(connection, vector)
            return dict(_without_nan(connection.execute(query, (query_vector, self._tenant, list(keys))).fetchall()))

    def _query_vector(self, connection: Any, vector: NDArray[np.float32]) -> str:
        """Format a query's vector; raise StoreError if its dimension isn't that of the stored ones."""
        model = schema.stored_model(connection)
        if model and model.dimension != len(vector):
            hint = "ask with the embedder that made them: `spanwise store status` names it"
            rule = f"holds vectors of {model.dimension} numbers"
            raise StoreError(self._connections.where, rule, value=len(vector), hint=hint)
        return as_halfvec(vector)

    @retried
    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return chunks by their keys, in the order of the keys."""
        found = {chunk.key: chunk for chunk in self._fetched("c.key = ANY(%s)", list(keys))}
        return [found[key] for key in keys if key in found]

    @retried
    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Return chunks by their ids, in the order of the ids."""
        found = {
            chunk.record["chunk_id"]: chunk for chunk in self._fetched("c.chunk_id = ANY(%s)", possible_ids(chunk_ids))
        }
        return [found[name] for name in chunk_ids if name in found]

    def _fetched(self, condition: str, values: list[Any]) -> Iterable[StoredChunk]:
        with self._transaction() as connection:
            query = f"SELECT {_INTACT}, {_CHUNK} {_FROM} WHERE c.tenant = %s AND {condition}"
            rows = connection.execute(query, (self._tenant, values)).fetchall()
        for is_intact, key, *_ in rows:
            if not is_intact:
                reason = f"chunk {key} or its document is not as it was written"
                raise schema.damaged(self._connections.where, reason)
        return [_stored_chunk(row[1:]) for row in rows]

    @retried
    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs (from, to) of these documents in which the first links to the second."""
        query = """
            SELECT a.document_id, b.document_id FROM spanwise.documents a, spanwise.documents b
            WHERE a.tenant = %s AND b.tenant = a.tenant AND a.document_id = ANY(%s) AND b.document_id = ANY(%s)
                AND a.key <> b.key AND a.targets && b.addresses
        """
        names = possible_ids(document_ids)
        with self._transaction() as connection:
            return set(connection.execute(query, (self._tenant, names, names)).fetchall())

    @retried
    def documents(self) -> Iterable[DocumentState]:
        """Return the documents, ordered by id."""
        query = f"""
            SELECT {checksum(DOCUMENT_COLUMNS, "d")} = checksum, document_id, fingerprint, chunks, file_path, place
            FROM spanwise.documents d WHERE tenant = %s ORDER BY document_id COLLATE "C"
        """
        with self._transaction() as connection:
            rows = connection.execute(query, (self._tenant,)).fetchall()
        for is_intact, document_id, *_ in rows:
            if not is_intact:
                raise schema.damaged(self._connections.where, f"document {document_id} is not as it was written")
        return [DocumentState(*row) for _, *row in rows]

    @retried
    def analysers(self) -> list[str]:
        """Return the analysers that these documents were indexed with."""
        query = "SELECT DISTINCT analyser FROM spanwise.documents WHERE tenant = %s"
        with self._transaction() as connection:
            return [row[0] for row in connection.execute(query, (self._tenant,)).fetchall()]

    @retried
    def faults(self) -> list[str]:
        """Return what is not as it was written, and what doesn't agree."""
        with self._transaction() as connection:
            return list(inconsistencies(connection, self._tenant))


def _conditions(filters: Filters) -> tuple[str, list[Any]]:
    """Return the filters as SQL conditions, and their values."""
    possible = (
        ("d.labels @> %s", list(filters.labels) or None),
        ("d.space_key = %s", filters.space),
        ("d.file_path LIKE %s", None if filters.path is None else like(filters.path)),
        ("d.updated_at >= %s", None if filters.since is None else first_moment(filters.since)),
        ("d.updated_at <= %s", None if filters.until is None else last_moment(filters.until)),
        ("d.source_type = %s", filters.source_type),
        ("c.chunk_type = %s", filters.chunk_type),
    )
    chosen = [(condition, value) for condition, value in possible if value is not None]
    return "".join(f" AND {condition}" for condition, _ in chosen), [value for _, value in chosen]


def like(pattern: str) -> str:
    """Convert a pattern with `*` and `?` to one for LIKE."""
    for character in "\\%_":
        pattern = pattern.replace(character, f"\\{character}")
    return pattern.replace("*", "%").replace("?", "_")


def lexeme(tenant: int, term: str) -> str:
    """Quote a term, prefixed by its tenant's number: no character is an operator, and other tenants cost nothing."""
    return f"'{tenant}:" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _without_nan(rows: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Drop cosines that are NaN: a vector of zeros has no direction."""
    return [(key, cosine) for key, cosine in rows if cosine == cosine]


def _stored_chunk(row: tuple[Any, ...]) -> StoredChunk:
    key, position, record, text_before, document_id, fingerprint, data, language, addresses, targets, location = row
    metadata = json_value(data)
    source = StoredDocument(document_id, fingerprint, metadata, language, tuple(addresses), tuple(targets), location)
    return StoredChunk(key, document_id, position, json_value(record), text_before, source)
