"""A small store with two tenants and vectors, everything that can be asked of it, and ways to damage it at random."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import spanwise
from spanwise.documents.document import Document
from spanwise.errors import StoreError
from spanwise.stores import Store, open_store
from spanwise.testing.store_documents import WordEmbedder

PAGE: Final = 8_192
_FRAME: Final = PAGE + 24  # of the log, behind a header of 32 bytes
_WORDS: Final = ("fox", "hen", "barn", "river", "stone", "winter", "apple", "market", "engine", "copper", "window")
_STRATEGIES: Final[dict[str, Any]] = {"one": {"strategy": "structure"}, "two": {"strategy": "hierarchical"}}


def documents(tenant: str, count: int = 8) -> list[Document]:
    """Return documents of a tenant, with headings, a table, labels, dates and links."""
    chance = random.Random(tenant)
    return [_document(chance, tenant, number) for number in range(count)]


def _document(chance: random.Random, tenant: str, number: int) -> Document:
    sections = [
        f"## Part {part} {chance.choice(_WORDS)}\n\n{' '.join(chance.choices(_WORDS, k=12)).capitalize()}."
        for part in range(chance.randint(1, 3))
    ]
    table = f"| a | b |\n|---|---|\n| {chance.choice(_WORDS)} | {number} |"
    text = "\n\n".join([f"# Page {number}", *sections, table, f"See [more]({tenant}{(number + 1) % 8}.md)."])
    name = f"{tenant}{number}"
    labels, date = [f"l{number % 3}"], f"2026-01-0{number % 9 + 1}"
    return spanwise.read_text(text, document_id=name, file_path=f"{name}.md", labels=labels, updated_at=date)


def indexed(path: Path, tenant: str, some: list[Document] | None = None) -> list[str]:
    """Index a tenant's documents, and return the texts that were embedded for it."""
    embedder = WordEmbedder()
    given = documents(tenant) if some is None else some
    spanwise.index(given, path, tenant=tenant, embedder=embedder, **_STRATEGIES[tenant])
    return embedder.embedded


def make_store(path: Path) -> None:
    """Make the store; both tenants have deleted a document and changed one."""
    for tenant in _STRATEGIES:
        former = documents(tenant, 9)
        former[3] = spanwise.read_text(f"# Page of {tenant}\n\nFormer text.", document_id=f"{tenant}3")
        indexed(path, tenant, former)
        indexed(path, tenant)
        with closing(open_store(path)) as store, store.writing(tenant, None) as writer:
            writer.commit([], [f"{tenant}8"])


def make_log(path: Path) -> None:
    """Make the same store, with the last commits in its log alone."""
    for tenant in _STRATEGIES:
        indexed(path, tenant, documents(tenant, 4))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM tenants").fetchone()  # while it reads the log can't be emptied
        for tenant in _STRATEGIES:
            indexed(path, tenant)
        kept = path.with_suffix(".kept")
        shutil.copy(path, kept)
        shutil.copy(f"{path}-wal", f"{kept}-wal")
    kept.rename(path)
    Path(f"{kept}-wal").rename(f"{path}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)


def copied(sound: Path, folder: Path, name: str = "s.db") -> Path:
    """Copy the store of a name beside another one into a folder, with its log if it has one."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copy(sound.with_name(name + suffix), folder / f"s.db{suffix}")
    return folder / "s.db"


def executed(path: Path, *statements: str) -> None:
    """Change a store with plain SQL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


_SEARCHES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("winter apple market", {}),
    ("castle window", {"limit": 20, "parents": True}),
    ("bridge", {"path": "*2*"}),
    ("engine copper", {"labels": ["l1"], "type": "table"}),
    ("stone", {"since": "2026-01-02", "budget": 60}),
    ("nowhere", {}),
)


def _questions(store: Store) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what can be asked of a store, each with its name."""
    for tenant in _STRATEGIES:
        for (text, options), embedder in product(_SEARCHES, (None, WordEmbedder())):
            search = partial(spanwise.search, text, store, tenant, embedder=embedder, **options)
            yield f"{tenant}: {text}, {embedder and embedder.name}", partial(_hits, search)
        yield f"{tenant}: documents", partial(_documents, store, tenant)
    yield "status", lambda: {**store.status(), "bytes": 0, "where": ""}
    yield "tenants", store.tenants


def _hits(search: Callable[[], Iterable[spanwise.Hit]]) -> list[dict[str, Any]]:
    return [hit.to_dict() for hit in search()]


def _documents(store: Store, tenant: str) -> list[Any]:
    return list(store.reading(tenant).documents())


def answers(path: Path) -> dict[str, Any]:
    """Return all answers of a store; those of a damaged one may be StoreErrors, and any other error is raised."""
    found: dict[str, Any] = {}
    try:
        with closing(open_store(path)) as store:
            for name, ask in _questions(store):
                try:
                    found[name] = ask()
                except StoreError as error:
                    found[name] = error
    except StoreError as error:
        found["open"] = error
    assert all(answer.hint for answer in found.values() if isinstance(answer, StoreError)), found
    return found


def findings(path: Path) -> list[str]:
    """Return what `verify` finds, or why the store can't be opened."""
    try:
        with closing(open_store(path)) as store:
            return store.verify()
    except StoreError as error:
        return [str(error)]


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _flip(chance: random.Random, data: bytearray) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _flip_header(chance: random.Random, data: bytearray) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start + chance.randrange(100)] ^= 1 << chance.randrange(8)


def _flip_many(chance: random.Random, data: bytearray) -> None:
    for _ in range(20):
        _flip(chance, data)


def _zero(chance: random.Random, data: bytearray) -> None:
    start, size = chance.randrange(len(data) // PAGE) * PAGE, chance.choice((512, PAGE))
    data[start : start + size] = bytes(size)


def _scramble(chance: random.Random, data: bytearray) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.randbytes(PAGE)


def _cut(chance: random.Random, data: bytearray) -> None:
    del data[chance.randrange(1, len(data)) :]


def _swap(chance: random.Random, data: bytearray) -> None:
    one, other = (number * PAGE for number in chance.sample(range(len(data) // PAGE), 2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


FILE_DAMAGE: Final = (_flip, _flip, _flip_header, _flip_many, _zero, _scramble, _cut, _swap)
_TABLES: Final = {
    "properties": "name", "tenants": "id", "documents": "id", "chunks": "id", "contents": "chunk", "numbered": "chunk",
    "terms": "id", "blocks": "id", "vectors": "block", "segments": "id", "postings": "id",
    "sqlite_sequence": "name",
}  # fmt: skip


def damage_file(chance: random.Random, path: Path) -> str:
    """Damage the bytes of a store, and return how."""
    data = bytearray(path.read_bytes())
    damage = chance.choice(FILE_DAMAGE)
    damage(chance, data)
    path.write_bytes(data)
    return damage.__name__


def damage_rows(chance: random.Random, path: Path) -> str:
    """Change or delete a row with SQL, and return how."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        while True:
            try:
                return _damaged_row(chance, connection)
            except sqlite3.IntegrityError:
                continue


def _damaged_row(chance: random.Random, connection: sqlite3.Connection) -> str:
    table, key = chance.choice(list(_TABLES.items()))
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = connection.execute(f"SELECT {key}, * FROM {table}").fetchall()
    at, (number, *row) = chance.randrange(len(names)), chance.choice(rows)
    if chance.random() < 0.2:
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))
        return f"delete {number} of {table}"
    value = chance.choice([*(other[at + 1] for other in rows), 0, -1, 1 << 62, "x", b"\xff\xfe", "", 1.5])
    connection.execute(f"UPDATE {table} SET {names[at]} = ? WHERE {key} = ?", (value, number))
    return f"set {names[at]} of {number} of {table}: {row[at]!r} becomes {value!r}"[:200]


def damage_log(chance: random.Random, path: Path) -> str:
    """Damage the log of a store inside a frame, and return how."""
    log = Path(f"{path}-wal")
    data = bytearray(log.read_bytes())
    start = 32 + chance.randrange((len(data) - 32) // _FRAME) * _FRAME
    kind = chance.choice(("flip", "flip", "zero", "header"))
    if kind == "flip":
        data[start + chance.randrange(_FRAME)] ^= 1 << chance.randrange(8)
    elif kind == "zero":
        data[start : start + _FRAME] = bytes(_FRAME)
    else:
        data[chance.randrange(32)] ^= 1 << chance.randrange(8)
    log.write_bytes(data)
    return f"{kind} of the log at {start}"
