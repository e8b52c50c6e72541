"""A damaged embedded store: the damage is found or does no harm, and every error is a StoreError with a way out."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

import spanwise
from damaging import (
    PAGE,
    answers,
    copied,
    damage_file,
    damage_log,
    damage_rows,
    documents,
    executed,
    findings,
    indexed,
    make_log,
    make_store,
)
from spanwise.cli import main
from spanwise.errors import StoreError
from spanwise.stores import open_store
from spanwise.stores.sqlite.locks import write_lock
from spanwise.stores.sqlite.log import lost_commits

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sound store, and one beside it whose last commits are in its log; tests damage copies."""
    folder = tmp_path_factory.mktemp("sound")
    make_store(folder / "s.db")
    make_log(folder / "logged.db")
    return folder / "s.db"


@pytest.fixture(scope="module")
def usual(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the answers of the sound store."""
    return answers(copied(sound, tmp_path_factory.mktemp("usual")))


def assert_found_or_harmless(path: Path, usual: dict[str, Any], how: str) -> None:
    """Assert that what was done to a store is found, or that all of its answers are the usual ones."""
    copy = Path(shutil.copy(path, path.with_name("asked.db")))
    if Path(f"{path}-wal").exists():
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    found, given = findings(path), answers(copy)
    assert found or given == usual, how
    for tenant in ("one", "two"):  # writing meets the damage, or has nothing to do with it
        changed = spanwise.read_text("# Page\n\nAnother winter.", document_id=f"{tenant}1", file_path=f"{tenant}1.md")
        with suppress(StoreError) if found else nullcontext():
            indexed(path, tenant)
            indexed(path, tenant, [changed])
            with closing(open_store(path)) as store, store.writing(tenant, None) as writer:
                writer.commit([], [f"{tenant}2"])
    assert found or not findings(path), how


# ── edits that are planted ───────────────────────────────────────────────────────────────────────────────────────

EDITS: dict[str, tuple[str, ...]] = {
    "a number of a vector": ("UPDATE vectors SET numbers = x'7f' || substr(numbers, 2) WHERE block = 1",),
    "the vectors of two chunks": (
        "UPDATE vectors SET numbers = substr(numbers, 17, 16) || substr(numbers, 1, 16) || substr(numbers, 33)",
    ),
    "a term": ("UPDATE terms SET term = term || 'y' WHERE id = 5",),
    "the terms of two numbers": ("UPDATE terms SET id = -1 WHERE id = 5", "UPDATE terms SET id = 5 WHERE id = 6",
                                 "UPDATE terms SET id = 6 WHERE id = -1"),
    "how often a term is": ("UPDATE terms SET chunks = chunks + 1 WHERE id = 5",),
    "the chunks of a term": ("UPDATE terms SET keys = keys + 1 WHERE id = 5",),
    "the tenant of a term": ("UPDATE terms SET tenant = 2 WHERE id = (SELECT max(id) FROM terms WHERE tenant = 1 "
                             "AND term NOT IN (SELECT term FROM terms WHERE tenant = 2))",),
    "the number of a term": ("UPDATE terms SET id = 9223372036854775807 WHERE id = 5",),
    "a path": ("UPDATE documents SET file_path = 'other.md' WHERE document_id = 'one1'",),
    "a place": ("UPDATE documents SET place = '/etc/passwd' WHERE document_id = 'one1'",),
    "a date": ("UPDATE documents SET updated_at = '2031' WHERE document_id = 'one1'",),
    "a fingerprint": ("UPDATE documents SET fingerprint = fingerprint || '0' WHERE document_id = 'one1'",),
    "an id": ("UPDATE documents SET document_id = 'other' WHERE document_id = 'one1'",),
    "an analyser": ("UPDATE documents SET analyser = '0' WHERE document_id = 'one1'",),
    "a source": ("UPDATE documents SET source = (SELECT source FROM documents WHERE document_id = 'one2') "
                 "WHERE document_id = 'one1'",),
    "the hash of a content": ("UPDATE chunks SET content_hash = x'00' WHERE id = 12",),
    "the hash of a record": ("UPDATE chunks SET record_hash = zeroblob(16) WHERE id = 12",),
    "the hash of the terms": ("UPDATE chunks SET words_hash = zeroblob(16) WHERE id = 12",),
    "the id of a chunk": ("UPDATE chunks SET chunk_id = zeroblob(32) WHERE id = 12",),
    "the type of a chunk": ("UPDATE chunks SET chunk_type = 'code' WHERE id = 12",),
    "the length of a chunk": ("UPDATE chunks SET length = length + 1 WHERE id = 12",),
    "the tenant of a chunk": ("UPDATE chunks SET tenant = 2 WHERE id = 12",),
    "the block of a chunk": ("UPDATE chunks SET block = NULL WHERE id = 12",),
    "the text before a chunk": ("UPDATE contents SET lead = 'not there' WHERE chunk = 12",),
    "the records of two chunks": (
        "UPDATE contents SET chunk = -1 WHERE chunk = 12", "UPDATE contents SET chunk = 12 WHERE chunk = 13",
        "UPDATE contents SET chunk = 13 WHERE chunk = -1",
    ),
    "the numbers of a chunk": ("UPDATE numbered SET numbers = zeroblob(length(numbers)) WHERE chunk = 12",),
    "a label": ("UPDATE labels SET label = 'secret' WHERE label = 'l1'",),
    "a missing label": ("DELETE FROM labels WHERE label = 'l1' AND document = (SELECT min(document) FROM labels "
                        "WHERE label = 'l1')",),
    "another label": ("INSERT INTO labels (tenant, label, document) VALUES (1, 'l1', 1)",),
    "a counter of chunks": ("UPDATE tenants SET chunks = chunks + 1 WHERE id = 1",),
    "a counter of terms": ("UPDATE tenants SET terms = terms * 100 WHERE id = 1",),
    "a counter that is no number": ("UPDATE tenants SET changes = 'many' WHERE id = 1",),
    "the name of a tenant": ("UPDATE tenants SET name = 'three' WHERE id = 1",),
    "the names of two tenants": ("UPDATE tenants SET name = name || '.'",
                                 "UPDATE tenants SET name = CASE id WHEN 1 THEN 'two' ELSE 'one' END"),
    "the model": ("UPDATE properties SET value = 'another' WHERE name = 'model'",),
    "the dimension": ("UPDATE properties SET value = '8' WHERE name = 'dimension'",),
    "a missing tenant": ("DELETE FROM tenants WHERE id = 1",),
    "a missing document": ("DELETE FROM documents WHERE document_id = 'one1'",),
    "a missing chunk": ("DELETE FROM chunks WHERE id = 12",),
    "a missing record": ("DELETE FROM contents WHERE chunk = 12",),
    "missing numbers": ("DELETE FROM numbered WHERE chunk = 12",),
    "a missing term": ("DELETE FROM terms WHERE id = 5",),
    "a missing block": ("DELETE FROM blocks WHERE id = (SELECT max(id) FROM blocks)",),
    "missing vectors": ("DELETE FROM vectors",),
    "a missing property": ("DELETE FROM properties WHERE name = 'model'",),
    "a document twice": (
        "CREATE TEMP TABLE other AS SELECT * FROM documents WHERE document_id = 'one1'",
        "UPDATE other SET id = 99, tenant = 2", "INSERT INTO documents SELECT * FROM other",
    ),
    "postings": ("UPDATE postings SET data = zeroblob(length(data)) WHERE id & 1048575",),
    "the chunks of a segment": ("UPDATE postings SET data = zeroblob(length(data)) WHERE id & 1048575 = 0",),
    "missing postings": ("DELETE FROM postings WHERE id & 1048575",),
    "the chunks of no segment": ("DELETE FROM postings WHERE id & 1048575 = 0",),
    "postings of no segment": ("INSERT INTO postings SELECT id + (99 << 20), data, checksum FROM postings",),
    "a missing segment": ("DELETE FROM segments WHERE id = (SELECT min(id) FROM segments)",),
    "deleted rows": ("UPDATE segments SET deleted = x'0000' WHERE id = (SELECT max(id) FROM segments)",),
    "the tenant of a segment": ("UPDATE segments SET tenant = 2 WHERE tenant = 1",),
    "the last key of a segment": ("UPDATE segments SET last = 1",),
    "a missing index": ("DROP INDEX chunks_by_id",),
    "a trigger": ("CREATE TRIGGER wrong AFTER INSERT ON chunks BEGIN DELETE FROM contents; END",),
    "a former version": ("PRAGMA user_version = 1",),
    "no version": ("PRAGMA user_version = 0",),
    "another application": ("PRAGMA application_id = 7",),
    "the keys that follow": ("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'chunks'",),
    "keys that are no numbers": ("UPDATE sqlite_sequence SET seq = 'x' WHERE name = 'chunks'",),
    "keys that are used up": ("UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'chunks'",),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_a_planted_edit_is_found(name: str, sound: Path, usual: dict[str, Any], tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    executed(path, *EDITS[name])
    assert findings(path)
    assert_found_or_harmless(path, usual, name)


def test_a_page_that_is_cut_off_is_found(sound: Path, usual: dict[str, Any], tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    path.write_bytes(path.read_bytes()[: -PAGE // 2])
    assert findings(path)
    assert_found_or_harmless(path, usual, "half a page is missing")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_damage_is_found_or_harmless(seed: int, sound: Path, usual: dict[str, Any], tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(4):
        for damage in (damage_file, damage_file, damage_rows):
            path = copied(sound, tmp_path)
            assert_found_or_harmless(path, usual, damage(chance, path))
            clear(tmp_path)


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


# ── what users read ──────────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_says_what_is_wrong_what_is_sound_and_how_to_go_on(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    executed(path, EDITS["the id of a chunk"][0])
    with pytest.raises(StoreError) as caught:
        spanwise.search("fox", path, "one", embedder=None, limit=50)
    assert caught.value.rule == "is damaged: row 12 of chunks is not as it was written"
    assert "can still be read" in (caught.value.hint or "")
    assert "spanwise store repair" in (caught.value.hint or "")
    assert spanwise.search("fox", path, "two", embedder=None)  # what it doesn't touch


def test_the_command_lists_findings_also_of_a_store_that_can_not_be_counted(
    sound: Path, tmp_path: Path, capsys: Captured
) -> None:
    path = copied(sound, tmp_path)
    executed(path, *EDITS["a missing tenant"])
    assert main(["store", "verify", "--store", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "violation: document 1 belongs to no tenant" in out
    assert out.splitlines()[-1].startswith("the store: ")
    assert "store repair" in err
    assert main(["store", "verify", "--store", str(path), "--json"]) == 1
    record = orjson.loads(capsys.readouterr().out)
    assert (bool(record["findings"]), record["documents"]) == (True, None)


# ── the log ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_commits_that_are_only_in_the_log_are_read(sound: Path, usual: dict[str, Any], tmp_path: Path) -> None:
    path = copied(sound, tmp_path, "logged.db")
    assert lost_commits(str(path)) is None
    assert answers(path) == usual
    assert findings(path) == []


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_log_is_found_before_it_is_removed(
    seed: int, sound: Path, usual: dict[str, Any], tmp_path: Path
) -> None:
    path = copied(sound, tmp_path, "logged.db")
    how = damage_log(random.Random(seed), path)
    for attempt in (lambda: open_store(path), lambda: open_store(path, create=True), lambda: indexed(path, "one")):
        with pytest.raises(StoreError, match="is damaged: commits in its log can't be read") as caught:
            attempt()
        assert "store repair" in (caught.value.hint or ""), how
    assert_found_or_harmless(path, usual, how)


def test_a_log_is_not_judged_while_it_is_written(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path, "logged.db")
    damage_log(random.Random(1), path)
    with write_lock(str(path), 0):
        open_store(path).close()


def test_what_a_killed_writer_leaves_in_the_log_is_no_damage(sound: Path, tmp_path: Path) -> None:
    whole, frame = sound.with_name("logged.db-wal").stat().st_size, PAGE + 24
    for size in (0, 32, 32 + frame, 32 + 2 * frame + 24, whole - frame, whole - 1):
        path = copied(sound, tmp_path, "logged.db")
        os.truncate(f"{path}-wal", size)
        assert lost_commits(str(path)) is None
        assert findings(path) == []


@pytest.mark.parametrize("mode", ["PASSIVE", "RESTART"])
def test_what_earlier_uses_leave_in_the_log_is_no_damage(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("page_size = 8192", "journal_mode = WAL", "wal_autocheckpoint = 0", "cache_size = 5"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("CREATE TABLE t (data)")
        connection.execute(f"PRAGMA wal_checkpoint({mode})")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t VALUES (?)", [(bytes([number]) * 9_000,) for number in range(40)])
        connection.execute("ROLLBACK")  # most of it is in the log already
        connection.execute("INSERT INTO t VALUES (1)")
        assert Path(f"{path}-wal").stat().st_size > 30 * PAGE
        assert lost_commits(str(path)) is None


def test_the_log_is_emptied_after_a_commit_beside_readers_that_are_done(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path)
    with closing(open_store(path)) as reader:
        assert list(reader.reading("one").documents())
        indexed(path, "one", [*documents("one", 10)])
        assert Path(f"{path}-wal").stat().st_size == 0
        assert len(list(reader.reading("one").documents())) == 10
