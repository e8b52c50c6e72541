"""The embedded store: invalid files, other versions, a full disk, killed writers, concurrent readers."""

from __future__ import annotations

import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import spanwise.stores.sqlite as embedded
from command import COMMAND, environment, files, ran, without_rights
from spanwise.cli import main
from spanwise.errors import SpanwiseError, StoreError
from spanwise.stores import Store, open_store
from spanwise.stores.sqlite import schema, tables, vector_matrix
from spanwise.stores.values import Filters, StoreChange
from spanwise.testing.store_documents import MODEL, document, entry, source, vector_of

ALL = Filters()
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """Run the command in this process."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return the files of a folder with their contents."""
    return {path.name: path.read_bytes() if path.is_file() else None for path in sorted(folder.iterdir())}


def made(path: Path, *changes: StoreChange) -> Store:
    store = open_store(str(path), create=True)
    with store.writing("", MODEL) as writer:
        writer.commit(changes or [document("a", "red fox", "grey wolf")])
    return store


def damaged(path: Path, *statements: str) -> list[str]:
    """Make a store, change it with plain SQL, and return what `verify` finds."""
    made(path, document("a", "red fox", "grey wolf"), document("b", "bear")).close()
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    store = open_store(str(path))
    found = store.verify()
    store.close()
    return found


# ── what is no store ─────────────────────────────────────────────────────────────────────────────────────────────


def a_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()


def cut_short(path: Path) -> None:
    made(path).close()
    os.truncate(path, 20_000)


def scrambled(path: Path) -> None:
    made(path).close()
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


NOT_STORES: list[tuple[Callable[[Path], Any], str]] = [
    (lambda path: path.write_bytes(b""), "is empty"),
    (lambda path: path.write_bytes(b"just text, and not little of it " * 99), "is not a store"),
    (lambda path: path.write_bytes(os.urandom(9000)), "is not a store"),
    (lambda path: path.write_bytes(b"SQLite format 3\x00" + os.urandom(9000)), "not a store|damaged"),
    (lambda path: path.mkdir(), "is a folder"),
    (a_database, "not a store of Spanwise"),
    (cut_short, "damaged"),
    (scrambled, "damaged|not a store"),
    (lambda path: None, "does not exist"),
    (lambda path: path.symlink_to("nowhere"), "does not exist"),
]


@pytest.mark.parametrize(("make", "said"), NOT_STORES)
@pytest.mark.parametrize("action", ["status", "list", "verify", "delete"])
def test_invalid_stores_are_reported_and_unchanged(
    make: Callable[[Path], Any], said: str, action: str, here: Path, capsys: Captured
) -> None:
    make(here / "x.db")
    before = contents(here)
    code, out, err = run_command(capsys, "store", action, *(["an-id"] if action == "delete" else []), "--store", "x.db")
    assert code in ({1, 2} if said == "damaged" else {2})
    assert said == "damaged" or re.search(said, out + err)
    assert contents(here) == before


@pytest.mark.parametrize(
    ("make", "said"), [pair for pair in NOT_STORES if pair[1] not in {"is empty", "does not exist"}]
)
def test_index_does_not_overwrite_other_files(
    make: Callable[[Path], Any], said: str, here: Path, capsys: Captured
) -> None:
    files(here, {"docs/a.md": "# A\n\nText.\n"})
    make(here / "x.db")
    before = contents(here)
    code, _, err = run_command(capsys, "index", "docs", "--store", "x.db", "--embedder", "none")
    assert code == 2
    assert err.startswith("error: `x.db`")
    assert contents(here) == before


def test_a_store_without_a_folder_or_a_name_is_refused(tmp_path: Path) -> None:
    for name in (str(tmp_path / "no" / "x.db"), "", str(tmp_path / ("x" * 300)), "a\0b"):
        for create in (True, False):
            with pytest.raises(StoreError):
                open_store(name, create=create)


def test_an_unfinished_new_store_is_completed(tmp_path: Path) -> None:
    for name, statements in {
        "a.db": ["PRAGMA journal_mode = WAL"],
        "b.db": ["PRAGMA page_size = 8192", "VACUUM"],
    }.items():
        connection = sqlite3.connect(tmp_path / name)
        for statement in statements:
            connection.execute(statement)
        connection.close()
        with pytest.raises(StoreError):
            open_store(str(tmp_path / name))
        made(tmp_path / name).close()


def test_two_may_make_a_store_at_once(tmp_path: Path) -> None:
    wrong: list[SpanwiseError] = []

    def make() -> None:
        try:
            open_store(str(tmp_path / "x.db"), create=True).close()
        except SpanwiseError as error:
            wrong.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    made(tmp_path / "x.db").close()


# ── versions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def set_version(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "x.db").close()
    set_version(tmp_path / "x.db", tables.VERSION + 1)
    for create in (True, False):
        with pytest.raises(StoreError, match="newer Spanwise") as caught:
            open_store(str(tmp_path / "x.db"), create=create)
        assert caught.value.hint


def test_an_older_store_is_brought_up_to_date_when_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "x.db")
    made(tmp_path / "x.db").close()
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    with pytest.raises(StoreError, match="too old"):
        open_store(path, create=True)
    monkeypatch.setitem(tables.MIGRATIONS, tables.VERSION - 1, "ALTER TABLE documents ADD COLUMN colour TEXT; SELECT 1")
    with pytest.raises(StoreError, match="older Spanwise") as caught:
        open_store(path)
    assert "spanwise index" in (caught.value.hint or "")
    store = open_store(path, create=True)
    assert [known.document_id for known in store.reading("").documents()] == ["a"]
    store.close()
    open_store(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (tables.VERSION,)
    assert connection.execute("SELECT colour FROM documents").fetchall() == [(None,)]
    connection.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "x.db").close()
    monkeypatch.setitem(tables.MIGRATIONS, tables.VERSION, "ALTER TABLE documents ADD COLUMN colour TEXT; nonsense")
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    with pytest.raises(StoreError, match="nonsense"):
        open_store(str(tmp_path / "x.db"), create=True)
    connection = sqlite3.connect(tmp_path / "x.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (tables.VERSION - 1,)
    assert "colour" not in str(connection.execute("PRAGMA table_info(documents)").fetchall())
    connection.close()


# ── a full disk, and rights ──────────────────────────────────────────────────────────────────────────────────────


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = made(tmp_path / "x.db")
    usual = schema.connected

    def cramped(path: str, *, write: bool) -> sqlite3.Connection:
        connection = usual(path, write=write)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        return connection

    monkeypatch.setattr(embedded, "connected", cramped)
    with store.writing("", MODEL) as writer:
        large = document("large", *(os.urandom(400).hex() for _ in range(400)))
        with pytest.raises(StoreError, match="disk is full"):
            writer.commit([large], ["a"])
    monkeypatch.undo()
    assert store.verify() == []
    assert [known.document_id for known in store.reading("").documents()] == ["a"]
    with store.writing("", MODEL) as writer:
        writer.commit([large])
    assert store.verify() == []
    store.close()


@pytest.mark.process
def test_a_failing_disk_is_reported(tmp_path: Path) -> None:
    """A limit on the file size makes SQLite's writes fail."""
    files(tmp_path, {f"docs/{number}.md": f"# {number}\n\n{'word ' * 400}{number}\n" for number in range(100)})
    done = subprocess.run(
        [*COMMAND, "index", "docs", "--store", "x.db", "--json", "--embedder", "none"],
        cwd=tmp_path, capture_output=True, env=environment(), timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
    )  # fmt: skip
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"error: `x.db` can't be written: the disk is full")
    assert ran("index", "docs", "--store", "x.db", cwd=tmp_path).code == 0
    assert ran("store", "verify", "--store", "x.db", cwd=tmp_path).code == 0


def test_what_may_not_be_written_can_be_read(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are accessible to their owner only
        folder = Path(name)
        files(folder, {"docs/a.md": "# A\n\nText.\n"})
        made(folder / "x.db").close()
        monkeypatch.chdir(folder)
        (folder / "x.db").chmod(0o444)
        folder.chmod(0o555)
        with without_rights():
            code, out, _ = run_command(capsys, "store", "list", "--store", "x.db", "--json")
            assert (code, orjson.loads(out)["document_id"]) == (0, "a")
            assert run_command(capsys, "store", "verify", "--store", "x.db")[0] == 0
            for command in (("index", "docs", "--embedder", "none"), ("store", "delete", "a")):
                code, _, err = run_command(capsys, *command, "--store", "x.db")
                assert code == 2
                assert "can't be written" in err
        (folder / "x.db").chmod(0o000)
        with without_rights():
            code, _, err = run_command(capsys, "store", "list", "--store", "x.db")
            assert (code, "can't be opened" in err) == (2, True)
        folder.chmod(0o755)


# ── writers ──────────────────────────────────────────────────────────────────────────────────────────────────────

HOLDS = """
import sys, time
from spanwise.stores import open_store
store = open_store(sys.argv[1], create=True)
with store.writing("", None) as writer:
    print("holding", flush=True)
    time.sleep(60)
"""


@pytest.mark.process
def test_a_living_writer_is_named_and_a_killed_one_unlocked(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        store = open_store(str(path))
        with pytest.raises(StoreError, match=f"process {process.pid} on "), store.writing("", None, wait=0):
            raise AssertionError("it must not get here")
        done = ran("store", "delete", "x", "--store", "x.db", "--wait", "0.1", cwd=tmp_path)
        assert done.code == 2
        assert f"is being written by process {process.pid}" in done.err
        assert "--wait" in done.err
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with store.writing("", None, wait=0) as writer:
        writer.commit([])
    store.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.db"]


def test_one_writer_after_the_other(tmp_path: Path) -> None:
    """Several threads write at once; each waits for the lock, and nothing is lost."""
    store = made(tmp_path / "x.db")
    wrong: list[SpanwiseError] = []

    def write(name: str) -> None:
        try:
            for number in range(5):
                with store.writing(name, MODEL, wait=60) as writer:
                    writer.commit([document(f"{name}{number}", f"fox {number}", "wolf")])
        except SpanwiseError as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("p", "q", "r")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.status()["documents"] == 16
    assert store.verify() == []
    store.close()


def test_readers_see_whole_states_while_a_writer_writes(tmp_path: Path) -> None:
    """A document of ten equal chunks is replaced repeatedly: a reader always sees ten, all of one version."""
    store = made(tmp_path / "x.db", document("a", *["fox version0"] * 10))
    over = threading.Event()
    seen: list[str] = []

    def read() -> None:
        while not over.is_set():
            with store.reading("") as reader:
                keys = [one.key for one in reader.lexical(["fox"], ALL, 50)]
                near = sorted(key for key, _ in reader.nearest(vector_of("fox"), ALL, 50))
                versions = {found.record["normalized_text"] for found in reader.fetch(keys)}
                if len(keys) != 10 or len(versions) != 1 or near != sorted(keys):
                    seen.append(f"{len(keys)} chunks, {versions}, {len(near)} vectors")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    with store.writing("", MODEL) as writer:
        for version in range(1, 40):
            old = tuple(one.key for one in writer.chunks("a"))
            writer.commit([replace(document("a", *[f"fox version{version}"] * 10), deleted=old)])
    over.set()
    for reader in readers:
        reader.join()
    assert seen == []
    store.close()


# ── vectors by the block ─────────────────────────────────────────────────────────────────────────────────────────


def blocks(path: Path) -> list[tuple[int, int]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT living, size FROM blocks ORDER BY id").fetchall()
    connection.close()
    return found


def test_small_blocks_are_merged_and_unused_ones_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    store = made(path, document("first", "fox"))
    with store.writing("", MODEL) as writer:
        for number in range(64):
            writer.commit([document(f"d{number}", f"fox {number}")])
        assert len(blocks(path)) <= 8
        assert sum(living for living, _ in blocks(path)) == 65
        writer.commit([document("large", *(f"wolf {number}" for number in range(2_100)))])
        keys = [one.key for one in writer.chunks("large")]
        writer.commit([StoreChange(source("large", "2"), deleted=tuple(keys[:400]))])
        assert any(living < size for living, size in blocks(path))
        writer.commit([StoreChange(source("large", "3"), deleted=tuple(keys[400:2_000]))])
        assert sum(living for living, _ in blocks(path)) == 165
        assert all(living * 2 >= size for living, size in blocks(path))
    assert store.verify() == []
    assert len(store.reading("").nearest(vector_of("wolf"), ALL, 9_999)) == 165
    store.close()


def test_vectors_are_read_once_and_then_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    usual = vector_matrix._loaded

    def counted(connection: sqlite3.Connection, number: int, dimension: int) -> vector_matrix.VectorBlock:
        loaded.append(number)
        return usual(connection, number, dimension)

    monkeypatch.setattr(vector_matrix, "_loaded", counted)
    store = made(tmp_path / "x.db", document("a", *(f"fox {number}" for number in range(1_500))))
    for _ in range(3):
        store.reading("").nearest(vector_of("fox"), ALL, 5)
    assert len(loaded) == 2
    with store.writing("", MODEL) as writer:
        first = writer.chunks("a")[0].key
        writer.commit([StoreChange(source("a", "2"), deleted=(first,)), document("b", "wolf")])
    found = store.reading("").nearest(vector_of("fox"), ALL, 9_999)
    assert len(found) == 1_500
    assert first not in dict(found)
    assert len(loaded) == 3
    store.close()


def test_without_simsimd_the_cosines_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("simsimd")
    store = made(tmp_path / "x.db", document("a", *(f"fox {number}" for number in range(50))))
    fast = store.reading("").nearest(vector_of("fox 7"), ALL, 20)
    monkeypatch.setattr(vector_matrix, "_simsimd", lambda: None)
    slow = store.reading("").nearest(vector_of("fox 7"), ALL, 20)
    assert dict(slow) == pytest.approx(dict(fast))
    store.close()


def test_a_rare_type_is_found_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import spanwise.stores.sqlite.reader as reading

    monkeypatch.setattr(reading, "_LOOKED_AT", 10)
    texts = [entry(f"fox {number}", number, kind="table" if number % 25 == 0 else "list") for number in range(100)]
    store = made(tmp_path / "x.db", StoreChange(source("a"), tuple(texts)))
    with store.reading("") as reader:
        found = reader.nearest(vector_of("fox 1"), Filters(chunk_type="table"), 50)
        assert {one.record["chunk_type"] for one in reader.fetch([key for key, _ in found])} == {"table"}
        assert len(found) == 4
        assert len(reader.nearest(vector_of("fox 1"), Filters(chunk_type="list"), 5)) == 5
    store.close()


# ── verify ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM documents WHERE document_id = 'a'", "belongs to no document"),
        ("DELETE FROM contents WHERE chunk = 1", "chunk 1 has no record"),
        ("DELETE FROM chunks WHERE id = 1", "belongs to no chunk"),
        ("UPDATE documents SET chunks = 9 WHERE document_id = 'a'", "document a has another number of chunks"),
        ("UPDATE chunks SET tenant = 5 WHERE id = 1", "is of another tenant"),
        ("UPDATE contents SET record = x'00' WHERE chunk = 1", "record of chunk 1 can't be read"),
        ("UPDATE contents SET lead = 'other' WHERE chunk = 1", "is not the one that was written"),
        ("UPDATE chunks SET position = 7 WHERE id = 1", "is not the one that was written"),
        ("UPDATE terms SET chunks = 7 WHERE term = 'fox'", "stands in 1 chunks, not 7"),
        ("DELETE FROM segments", "has another number of chunks in full text than it says"),
        ("DELETE FROM postings WHERE id = (SELECT max(id) FROM postings)", "pages of postings are missing"),
        ("INSERT INTO postings VALUES (0, x'00', 0)", "belong to no segment"),
        ("UPDATE numbered SET numbers = x'01000000' WHERE chunk = 1", "another number of words"),
        ("UPDATE tenants SET terms = 1", "has another number of chunks or words"),
        ("DELETE FROM vectors", "have no numbers"),
        ("UPDATE chunks SET block = 77 WHERE id = 1", "which isn't its owner"),
        ("DELETE FROM blocks", "has lost its vector"),
        ("UPDATE blocks SET living = 0", "another number of rows"),
        ("UPDATE vectors SET numbers = x'00'", "another number of rows"),
    ],
)
def test_verify_finds_contradictions(statement: str, said: str, tmp_path: Path) -> None:
    assert any(said in finding for finding in damaged(tmp_path / "x.db", statement))


def test_verify_on_the_command_line(here: Path, capsys: Captured) -> None:
    damaged(here / "x.db", "DELETE FROM contents WHERE chunk = 1")
    code, out, err = run_command(capsys, "store", "verify", "--store", "x.db")
    assert code == 1
    assert "violation: chunk 1 has no record" in out
    assert "hint:" in err
    code, out, _ = run_command(capsys, "store", "verify", "--store", "x.db", "--json")
    assert (code, orjson.loads(out)["findings"][0]) == (1, "chunk 1 has no record")


def test_a_damaged_record_is_reported_when_fetched(tmp_path: Path) -> None:
    damaged(tmp_path / "x.db", "UPDATE contents SET record = x'0102' WHERE chunk = 1")
    store = open_store(str(tmp_path / "x.db"))
    with pytest.raises(StoreError, match="damaged"):
        store.reading("").fetch([1])
    store.close()
