"""The checksum of every row of an embedded store: damage is reported where it is met, and never read as data.

A checksum covers all columns of its row, with its key and its owner, so that rows which change places are found too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

import orjson


class Checked(NamedTuple):
    """A table with a checksum in each row."""

    columns: tuple[str, ...]
    """The first one is the key."""
    counters: tuple[str, ...] = ()
    """Integers that are added to: their sum is added to the checksum, so that SQL can keep it right."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CHECKED: Final[Mapping[str, Checked]] = {
    "properties": Checked(_names("name value")),
    "tenants": Checked(_names("id name"), _names("chunks terms changes documents vocabulary vectors")),
    "documents": Checked(
        _names("id tenant document_id fingerprint chunks analyser file_path place source_type space_key updated_at"
               " labels_checksum source_checksum")
    ),
    "chunks": Checked(
        _names("id tenant document position length chunk_type chunk_id content_hash words_hash record_hash"),
        _names("block"),
    ),
    "contents": Checked(_names("chunk lead record")),
    "numbered": Checked(_names("chunk tenant numbers")),
    "terms": Checked(_names("id tenant term"), _names("chunks keys")),
    "blocks": Checked(_names("id tenant changes living size keys documents")),
    "vectors": Checked(_names("block numbers")),
    "segments": Checked(_names("id tenant changes living size last deleted")),
    "postings": Checked(_names("id data")),
}  # fmt: skip
"""A document's `source` is large and seldom read: its own checksum is a column."""

_WEIGHTS: Final = (1, 3, 5, 7, 11, 13)  # of counters, so that what one gains another can't lose unseen


class DamageError(Exception):
    """Raised where what is stored is not what was written."""


def checksum(*values: Any) -> int:
    """Return the checksum of columns; it is also a function of SQL."""
    return _summed(values)


def _summed(values: Sequence[Any]) -> int:
    return crc32(orjson.dumps([crc32(value) if type(value) is bytes else value for value in values]))


def _with_counters(total: int, counters: Sequence[Any]) -> int | None:
    """Return the checksum of a row with counters; None if one of them is no integer."""
    for weight, value in zip(_WEIGHTS, counters, strict=False):
        if type(value) is int:
            total += weight * value
        elif value is not None:
            return None
    return total


def rows_of(
    connection: sqlite3.Connection, table: str, condition: str = "", values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a table, all columns in the order of `CHECKED`, counters last; raise if one is damaged."""
    statement = f"SELECT {columns_of(table)} FROM {table} {condition}"
    return checked(table, connection.execute(statement, values))


def columns_of(table: str) -> str:
    """Return the columns that `checked` takes, for a statement."""
    names = (*CHECKED[table].columns, *CHECKED[table].counters, "checksum")
    return ", ".join(f"{table}.{name}" for name in names)


def checked(table: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows without their checksums; raise if one is damaged."""
    has_counters = bool(CHECKED[table].counters)
    for row in rows:
        values = row[:-1]
        if not is_sound(table, row) if has_counters else _summed(values) != row[-1]:
            raise DamageError(f"row {_shown(row[0])} of {table} is not as it was written")
        yield values


def is_sound(table: str, row: Sequence[Any]) -> bool:
    """Whether a row, with its checksum at the end, is as it was written."""
    width = len(CHECKED[table].columns)
    return bool(_with_counters(_summed(row[:width]), row[width:-1]) == row[-1])


def expression(table: str) -> str:
    """Return the checksum of a row as SQL."""
    columns, counters = CHECKED[table]
    added = (f" + {weight} * coalesce({name}, 0)" for weight, name in zip(_WEIGHTS, counters, strict=False))
    return f"checksum({', '.join(columns)}){''.join(added)}"


def adding(table: str, *counters: str) -> str:
    """Return a statement that adds to counters of a row; its values are the amounts in this order, and the key.

    A damaged row stays one: the statement adds the same to the counter and to the checksum.
    """
    columns, known = CHECKED[table]
    changes = [f"{name} = {name} + ?{at}" for at, name in enumerate(counters, 1)]
    total = " + ".join(f"{_WEIGHTS[known.index(name)]} * ?{at}" for at, name in enumerate(counters, 1))
    where = f"WHERE {columns[0]} = ?{len(counters) + 1}"
    return f"UPDATE {table} SET {', '.join(changes)}, checksum = checksum + {total} {where}"


def inserting(table: str, *more: str) -> str:
    """Return a statement that inserts a row; its values are those of `sealed`, and those of `more` columns."""
    names = (*CHECKED[table].columns, *CHECKED[table].counters, "checksum", *more)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def rewriting(table: str, *more: str) -> str:
    """Return a statement that rewrites the row of a key; its values are the same as for `inserting`."""
    names = (*CHECKED[table].columns, *CHECKED[table].counters, "checksum", *more)
    changes = ", ".join(f"{name} = ?{at}" for at, name in enumerate(names[1:], 2))
    return f"UPDATE {table} SET {changes} WHERE {names[0]} = ?1"


def sealed(table: str, *row: Any) -> tuple[Any, ...]:
    """Return the columns of a row with its checksum."""
    width = len(CHECKED[table].columns)
    return (*row, _with_counters(_summed(row[:width]), row[width:]))


def _shown(key: object) -> str:
    return ascii(key)[:40]
