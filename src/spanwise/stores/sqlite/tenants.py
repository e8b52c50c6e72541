"""The tenants of an embedded store, each with how much it has: what is less than that has been lost."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from spanwise.stores.sqlite.checksums import DamageError, rows_of


class Tenant(NamedTuple):
    """A row of `tenants`; the numbers but `changes` count rows that are there."""

    number: int
    name: str
    chunks: int = 0
    """Those with terms."""
    terms: int = 0
    """All occurrences in these chunks."""
    changes: int = 0
    documents: int = 0
    vocabulary: int = 0
    vectors: int = 0


def all_tenants(connection: sqlite3.Connection) -> list[Tenant]:
    """Return all tenants, ordered by name; raise if one is missing."""
    known = [Tenant(*row) for row in rows_of(connection, "tenants", "ORDER BY name")]
    numbers = {tenant.number for tenant in known}
    for (number,) in connection.execute("SELECT DISTINCT tenant FROM documents"):
        if number not in numbers:
            raise DamageError("a tenant is missing")
    return known


def tenant_of(connection: sqlite3.Connection, name: str) -> Tenant:
    """Return a tenant; one with the number 0, which no other has, if it has no documents."""
    row = next(rows_of(connection, "tenants", "WHERE name = ?", (name,)), None)
    if row is not None:
        return Tenant(*row)
    return next((tenant for tenant in all_tenants(connection) if tenant.name == name), Tenant(0, name))
