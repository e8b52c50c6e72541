"""The filters of a search as SQL, and statements for many values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from spanwise.stores.filter_rules import first_moment, last_moment
from spanwise.stores.values import Filters, Keyed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_AT_ONCE: Final = 500  # values in one statement; SQLite allows at least a thousand


def batched(
    connection: sqlite3.Connection, statement: str, before: tuple[Any, ...], values: Sequence[Any]
) -> Iterator[Any]:
    """Run a statement for some values, not too many at once, and yield the rows."""
    for at in range(0, len(values), _AT_ONCE):
        part = values[at : at + _AT_ONCE]
        yield from connection.execute(statement.format(",".join("?" * len(part))), (*before, *part)).fetchall()


def _conditions(tenant: int, filters: Filters) -> tuple[list[str], list[Any]]:
    """Return the filters on documents as SQL conditions, and their values."""
    pairs: list[tuple[str, Any]] = [
        ("space_key = ?", filters.space),
        ("file_path GLOB ?", None if filters.path is None else filters.path.replace("[", "[[]")),
        ("updated_at >= ?", None if filters.since is None else first_moment(filters.since)),
        ("updated_at <= ?", None if filters.until is None else last_moment(filters.until)),
        ("source_type = ?", filters.source_type),
    ]
    given = [pair for pair in pairs if pair[1] is not None]
    conditions, values = [condition for condition, _ in given], [value for _, value in given]
    for label in filters.labels:
        conditions.append("documents.id IN (SELECT document FROM labels WHERE tenant = ? AND label = ?)")
        values += [tenant, label]
    return conditions, values


def allowed_documents(connection: sqlite3.Connection, tenant: int, filters: Filters) -> NDArray[np.int64] | None:
    """Return the documents that pass the filters; None for all."""
    conditions, values = _conditions(tenant, filters)
    if not conditions:
        return None
    statement = f"SELECT id FROM documents WHERE tenant = ? AND {' AND '.join(conditions)}"
    return column(connection, statement, (tenant, *values))


def of_type(connection: sqlite3.Connection, tenant: int, near: Keyed, kind: str) -> list[tuple[int, float]]:
    """Return those of some chunks that are of a type."""
    statement = "SELECT id FROM chunks WHERE +tenant = ? AND +chunk_type = ? AND id IN ({})"
    matching = {key for (key,) in batched(connection, statement, (tenant, kind), [key for key, _ in near])}
    return [pair for pair in near if pair[0] in matching]


def column(connection: sqlite3.Connection, statement: str, values: Sequence[Any]) -> NDArray[np.int64]:
    """Return the only column of a result."""
    import numpy as np

    return np.fromiter((row[0] for row in connection.execute(statement, values)), dtype=np.int64)
