"""What is sound in a damaged store, read row by row, and a sound store put in the place of a damaged one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from spanwise.stores.sqlite.checksums import CHECKED, DamageError, columns_of, is_sound
from spanwise.stores.sqlite.log import empty_log
from spanwise.stores.sqlite.reader import SOURCES, source_of
from spanwise.stores.sqlite.schema import PAGE, created, is_damage, opened_to_salvage
from spanwise.stores.sqlite.vector_blocks import is_key, rows_in
from spanwise.stores.values import Model, StoredDocument

_MOST_KEYS: Final = 10_000_000  # that are tried one by one behind a damaged page
_WRONG: Final = (sqlite3.Error, ValueError, TypeError, LookupError, zlib.error)  # of values that may be anything


class SalvagedChunk(NamedTuple):
    """A chunk of a damaged store."""

    record: bytes
    text_before: str
    vector: bytes | None


class SalvagedDocument(NamedTuple):
    """A document of a damaged store with those of its chunks that are sound."""

    tenant: str
    source: StoredDocument
    chunks: list[SalvagedChunk]
    expected: int
    """How many chunks it had."""
    had_vectors: bool


class Salvage:
    """What can be read of a damaged store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._damaged: set[str] = set()  # tables of which not all can be read
        self._highest = self._highest_key()
        self.model = self._model()
        tenants = list(self._rows("tenants"))
        self._tenants = {row[0]: row[1] for row in tenants}
        self.expected = sum(row[5] for row in tenants)
        """How many documents there were, as far as that is known."""
        self._vectors = self._salvaged_vectors() if self.model else {}
        self._chunks: defaultdict[int, list[int]] = defaultdict(list)
        self._with_vectors: set[int] = set()
        self._owned: set[int] = set()
        for row in self._rows("chunks"):
            self._chunks[row[2]].append(row[0])
            self._owned.add(row[0])
            if row[-2] is not None:
                self._with_vectors.add(row[2])
        self._had_vectors = bool(self.model or self._with_vectors or any(row[7] for row in tenants))
        self._lost: dict[str, None] = {}

    @property
    def lost(self) -> list[str]:
        """The files, or ids, of documents that can't be read, once all others were."""
        return list(self._lost)

    @property
    def is_uncertain(self) -> bool:
        """Whether there may have been more documents than are known."""
        are_counted = "tenants" not in self._damaged and len(self._tenants) >= self.sequences().get("tenants", 0)
        return not are_counted and not self._damaged.isdisjoint(("documents", "chunks", "contents"))

    def sequences(self) -> dict[str, int]:
        """Return the highest key that was given in each table that counts them: no key is ever used again."""
        known: dict[str, int] = {}
        with suppress(*_WRONG):
            known |= {
                name: seq
                for name, seq in self._connection.execute("SELECT name, seq FROM sqlite_sequence")
                if name in CHECKED and is_key(seq)
            }
        return known

    def documents(self) -> Iterator[SalvagedDocument]:
        """Yield the documents that can be read; the others are in `lost` afterwards."""
        strays = self._strays()
        for row in self._sources():
            keys = self._chunks.pop(row[1], [])
            try:
                source = source_of(row)
            except (DamageError, *_WRONG):
                self._lost[str(row[7] or row[3])] = None
                continue
            tenant = self._tenants.get(row[2], source.metadata.get("tenant_id") or "")
            is_unknown = self._had_vectors and len(keys) < row[5]
            chunks = list(self._salvaged_chunks([*keys, *strays.pop((tenant, source.document_id), ())]))
            had_vectors = is_unknown or row[1] in self._with_vectors or any(chunk.vector for chunk in chunks)
            yield SalvagedDocument(tenant, source, chunks, row[5], had_vectors)
        for keys in (*self._chunks.values(), *strays.values()):  # of documents of which nothing else is left
            self._lost |= dict.fromkeys(islice(self._names(keys), 1))

    def _names(self, keys: Sequence[int]) -> Iterator[str]:
        """Yield the files, or ids, of the documents that records name."""
        for chunk in self._salvaged_chunks(keys):
            with suppress(*_WRONG):
                record = orjson.loads(chunk.record)
                yield str(record["metadata"].get("file_path") or record["document_id"])

    def _salvaged_chunks(self, keys: Sequence[int]) -> Iterator[SalvagedChunk]:
        for key in keys:
            for _, text_before, data, _ in self._by_key("contents", key):
                with suppress(*_WRONG):
                    yield SalvagedChunk(zlib.decompress(data), text_before, self._vectors.get(key))

    def _strays(self) -> dict[tuple[str, str], list[int]]:
        """Return the keys of records whose chunks are damaged, by the tenant and the document that they name."""
        found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for key, _, data, _ in self._rows("contents"):
            if key not in self._owned:
                with suppress(*_WRONG):
                    record = orjson.loads(zlib.decompress(data))
                    found[record["metadata"].get("tenant_id") or "", record["document_id"]].append(key)
        return found

    def _model(self) -> Model | None:
        with suppress(*_WRONG):
            properties = {
                row[0]: row[1]
                for row in self._connection.execute(f"SELECT {columns_of('properties')} FROM properties")
                if is_sound("properties", row)
            }
            return Model(properties["model"], int(properties["dimension"]))
        return None

    def _salvaged_vectors(self) -> dict[int, bytes]:
        vectors: dict[int, bytes] = {}
        for block in self._rows("blocks"):
            for _, numbers, _ in self._by_key("vectors", block[0]):
                with suppress(*_WRONG, ZeroDivisionError):
                    vectors |= {row.key: row.vector for row in rows_in(block, numbers)}
        return vectors

    def _highest_key(self) -> int:
        """Return the highest key that may be there."""
        keys = [*self.sequences().values(), 0]
        for table in ("documents", "chunks", "contents", "blocks"):
            with suppress(*_WRONG):
                keys += self._connection.execute(f"SELECT max({CHECKED[table].columns[0]}) FROM {table}").fetchone()
        return max(key for key in keys if type(key) is int and key <= _MOST_KEYS)

    def _sources(self) -> Iterator[Any]:
        return self._all(SOURCES, "documents", "id", 1)

    def _rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield the sound rows of a table, with their checksums."""
        for row in self._all(f"SELECT {columns_of(table)} FROM {table}", table, CHECKED[table].columns[0], 0):
            if is_sound(table, row):
                yield row
            else:
                self._damaged.add(table)

    def _by_key(self, table: str, key: int) -> list[tuple[Any, ...]]:
        """Return the sound row of a key."""
        statement = f"SELECT {columns_of(table)} FROM {table} WHERE {CHECKED[table].columns[0]} = ?"
        with suppress(*_WRONG):
            return [row for row in self._connection.execute(statement, (key,)) if is_sound(table, row)]
        return []

    def _all(self, statement: str, table: str, key: str, at: int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table; from a damaged page on, those of each key that can be found, one by one."""
        seen: set[int] = set()
        try:
            for row in self._connection.execute(statement):
                if row[at] not in seen:
                    seen.add(row[at])
                    yield row
        except sqlite3.Error:
            self._damaged.add(table)
            statement = f"{statement} WHERE {table}.{key} = ?"
            for number in range(self._highest + 1):
                if number not in seen:
                    with suppress(sqlite3.Error):
                        yield from self._connection.execute(statement, (number,)).fetchall()


class NothingSoundError(Exception):
    """Raised for a file in which nothing of a store can be read."""


class DamagedFile:
    """The file of a damaged store, open to be read and then replaced, while its write lock is held."""

    def __init__(self, path: str) -> None:
        """Open the file; if its first page is damaged, open a copy with the first page of a new store."""
        self.path = os.path.realpath(path)
        self._copy = f"{self.path}.reading"
        self.is_copy = False
        try:
            self.connection: sqlite3.Connection = opened_to_salvage(path)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self.is_copy = True
            self.connection = self._opened_copy()

    def _opened_copy(self) -> sqlite3.Connection:
        try:
            _copy_with_first_page(self.path, self._copy)
            return opened_to_salvage(self._copy)
        except BaseException as error:
            remove_store(self._copy)
            if isinstance(error, sqlite3.Error) and is_damage(error):
                raise NothingSoundError from error
            raise

    def replace(self, sound: str) -> str:
        """Put a sound store in the place of the damaged one, and return the name of the copy that is kept of that.

        Processes that read the store have its file open, so its content is replaced, in one transaction; only a file
        that SQLite can't open is replaced as a file.
        """
        kept = _free_name(f"{self.path}.damaged")
        if not self.is_copy:
            with closing(sqlite3.connect(kept)) as copy:
                self.connection.backup(copy)
            with closing(sqlite3.connect(sound)) as new:
                new.backup(self.connection)
            empty_log(self.connection)
            return kept
        shutil.copyfile(self.path, kept)
        for suffix in ("-wal", "-shm"):  # SQLite would add an old log to the new store
            Path(self.path + suffix).unlink(missing_ok=True)
        Path(sound).replace(self.path)
        return kept

    def close(self) -> None:
        """Close the file, and remove what was needed to read it."""
        self.connection.close()
        remove_store(self._copy)


def remove_store(path: str) -> None:
    """Remove the files of a store that was made for a while."""
    for suffix in ("", "-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)


def _copy_with_first_page(path: str, copy: str) -> None:
    """Copy a file, and give it the first page of a new store: it has the tables at the same places."""
    remove_store(copy)
    created(copy).close()
    page = bytearray(Path(copy).read_bytes()[:PAGE])
    shutil.copyfile(path, copy)
    page[28:32] = (Path(copy).stat().st_size // PAGE).to_bytes(4, "big")
    page[32:40] = bytes(8)  # no free pages are known
    with open(copy, "r+b") as file:  # noqa: PTH123 - to write into it
        file.write(page)


def _free_name(name: str) -> str:
    """Return a name that no file has: this one, or with a number."""
    number = 1
    while Path(free := name if number == 1 else f"{name}{number}").exists():
        number += 1
    return free
