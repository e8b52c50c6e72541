"""A closer look where something isn't found, or where all but some is passed over: rows may have been lost.

A row that is read has its checksum; one that isn't there has none. So rows are counted, and in a store of moderate size
all rows of the table are looked at, once in a process for every state of a tenant.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from spanwise.stores.sqlite.checksums import DamageError, checksum, rows_of
from spanwise.stores.sqlite.pool import Pool
from spanwise.stores.sqlite.tenants import Tenant
from spanwise.stores.values import Filters

_FEW: Final = 20_000  # rows, which take about 50 milliseconds


class Absence:
    """What may be missing of a tenant in a snapshot."""

    def __init__(self, pool: Pool, connection: sqlite3.Connection, tenant: Tenant) -> None:
        self._pool, self._connection, self._tenant = pool, connection, tenant

    def of_terms(self, missing: Iterable[str]) -> None:
        """Raise if terms of the tenant are missing."""
        self._check("terms", self._tenant.vocabulary, 2, missing)

    def of_chunks(self, missing: Iterable[bytes | str]) -> None:
        """Raise if chunks of the tenant are missing."""
        statement = "SELECT coalesce(sum(chunks), 0) FROM documents WHERE tenant = ?"
        (chunks,) = self._connection.execute(statement, (self._tenant.number,)).fetchone()
        self._check("chunks", chunks, 6, missing)

    def of_documents(self, missing: Iterable[str] = ()) -> None:
        """Raise if documents of the tenant are missing."""
        self._check("documents", self._tenant.documents, 2, missing)

    def of_filtered(self, filters: Filters) -> None:
        """Raise if something is missing that might pass the filters."""
        if filters == Filters():
            return
        self.of_documents()
        self.of_chunks(())
        if filters.labels:
            self._check_labels()

    def _check(self, table: str, expected: int, column: int, missing: Iterable[Any]) -> None:
        """Raise if rows are missing or damaged, or if one of the missing values is there after all."""
        number, changes = self._tenant.number, self._tenant.changes
        if self._pool.is_known((table, number), changes):
            return
        counting = f"SELECT count(*) FROM {table} WHERE tenant = ?"
        if self._connection.execute(counting, (number,)).fetchone()[0] != expected:
            raise DamageError(f"rows of {table} are missing")
        if expected <= _FEW:
            rows = list(rows_of(self._connection, table, "WHERE +tenant = ?", (number,)))
            if len(rows) != expected or not {row[column] for row in rows}.isdisjoint(missing):
                raise DamageError(f"rows of {table} can't be found")
        self._pool.know((table, number), changes)

    def _check_labels(self) -> None:
        number, changes = self._tenant.number, self._tenant.changes
        if self._tenant.documents > _FEW or self._pool.is_known(("labels", number), changes):
            return
        labels = labels_of(self._connection, number)
        for row in rows_of(self._connection, "documents", "WHERE tenant = ?", (number,)):
            if labels_checksum(labels.get(row[0], ())) != row[-2]:
                raise DamageError(f"document {row[2]} has other labels than it says")
        self._pool.know(("labels", number), changes)


def labels_of(connection: sqlite3.Connection, tenant: int) -> dict[int, list[str]]:
    """Return the labels of a tenant's documents by their keys."""
    labels: defaultdict[int, list[str]] = defaultdict(list)
    for label, document in connection.execute("SELECT label, document FROM labels WHERE tenant = ?", (tenant,)):
        if not isinstance(label, str):
            raise DamageError(f"a label of document {document} is no text")
        labels[document].append(label)
    return labels


def labels_checksum(labels: Iterable[str]) -> int:
    """Return the checksum of a document's labels."""
    return checksum("\x1f".join(sorted(set(labels))))
