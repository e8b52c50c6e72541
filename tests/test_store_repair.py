"""Repairing an embedded store: what is sound is kept, what is lost is named, and the next indexing makes it whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from command import ran
from damaging import (
    PAGE,
    answers,
    copied,
    damage_file,
    damage_log,
    documents,
    executed,
    findings,
    indexed,
    make_log,
    make_store,
)
from spanwise.cli import main
from spanwise.errors import StoreError, StoreFullError
from spanwise.indexing import repair as repairing
from spanwise.indexing.entries import entry_of
from spanwise.indexing.repair import RepairReport, repair
from spanwise.stores import open_store

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


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of the sound store."""
    return copied(sound, tmp_path)


def assert_repaired(path: Path, report: RepairReport, usual: dict[str, Any]) -> None:
    """Assert that a store is sound, that a second repair does nothing, and that indexing makes it as it was."""
    assert report.findings
    assert findings(path) == []
    before = path.read_bytes()
    assert repair(str(path)) == RepairReport()
    assert path.read_bytes() == before
    assert {one.name for one in path.parent.iterdir()} == {"s.db", Path(report.copy or "").name}
    given = answers(path)
    assert not any(isinstance(answer, StoreError) for answer in given.values())
    there = {one.document_id for tenant in ("one", "two") for one in given[f"{tenant}: documents"]}
    assert len(there) == report.documents
    if report.is_whole:
        assert given == usual
    embedded = [text for tenant in ("one", "two") for text in indexed(path, tenant)]
    assert not (report.is_whole and embedded)
    assert answers(path) == usual


REBUILT = {  # nothing of this is lost: it is made again from the records
    "terms": "DELETE FROM terms",
    "full text": "DELETE FROM postings",
    "numbers of terms": "DELETE FROM numbered",
    "labels": "DELETE FROM labels",
    "counters": "UPDATE tenants SET chunks = 0, terms = 0",
    "all tenants' counters": "UPDATE tenants SET checksum = 0",
    "chunks": "UPDATE chunks SET content_hash = x'00'",
    "keys": "DELETE FROM sqlite_sequence",
    "version": "PRAGMA user_version = 1",
    "an index": "DROP INDEX chunks_by_id",
    "a trigger": "CREATE TRIGGER wrong AFTER INSERT ON chunks BEGIN DELETE FROM contents; END",
}


@pytest.mark.parametrize("name", REBUILT)
def test_what_can_be_made_again_is_made_again(name: str, path: Path, usual: dict[str, Any]) -> None:
    executed(path, REBUILT[name])
    report = repair(str(path))
    assert (report.is_whole, report.documents, report.lost) == (True, 16, ())
    assert report.vectors == usual["status"]["vectors"]
    assert_repaired(path, report, usual)


def test_lost_documents_are_named_and_read_again(path: Path, usual: dict[str, Any]) -> None:
    executed(
        path,
        "UPDATE contents SET record = zeroblob(9) WHERE chunk = (SELECT min(id) FROM chunks "
        "WHERE document = (SELECT id FROM documents WHERE document_id = 'one1'))",
        "UPDATE documents SET source = x'00' WHERE document_id = 'two2'",
        "DELETE FROM documents WHERE document_id = 'two5'",
    )
    report = repair(str(path))
    assert (sorted(report.lost), report.unnamed, report.documents) == (["one1.md", "two2.md", "two5.md"], 0, 13)
    assert_repaired(path, report, usual)


def test_lost_vectors_are_made_again_and_others_kept(path: Path, usual: dict[str, Any]) -> None:
    executed(path, "UPDATE vectors SET numbers = zeroblob(16) WHERE block IN (SELECT id FROM blocks WHERE tenant = 2)")
    report = repair(str(path))
    assert (report.documents, report.lost, bool(report.vectors)) == (16, (), True)
    assert {name.removesuffix(".md")[:-1] for name in report.incomplete} == {"two"}
    assert indexed(path, "one") == []
    assert_repaired(path, report, usual)


def test_a_lost_model_loses_the_vectors(path: Path, usual: dict[str, Any]) -> None:
    executed(path, "DELETE FROM properties")
    report = repair(str(path))
    assert (report.documents, report.vectors, len(report.incomplete)) == (16, 0, 16)
    assert_repaired(path, report, usual)


def test_a_damaged_first_page_is_replaced(path: Path, usual: dict[str, Any]) -> None:
    data = path.read_bytes()
    path.write_bytes(os.urandom(PAGE) + data[PAGE:])
    report = repair(str(path))
    assert (report.documents, report.is_whole) == (16, True)
    assert Path(report.copy or "").read_bytes()[PAGE:] == data[PAGE:]
    assert_repaired(path, report, usual)


def test_commits_that_the_log_has_lost_are_named_and_made_again(
    sound: Path, usual: dict[str, Any], tmp_path: Path, capsys: Captured
) -> None:
    path = copied(sound, tmp_path, "logged.db")
    damage_log(random.Random(2), path)
    assert main(["store", "repair", "--store", str(path), "--json"]) == 1
    record = orjson.loads(capsys.readouterr().out)
    assert "log" in record["findings"][0]
    assert record["is_uncertain"]
    values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in record.items()}
    report = RepairReport(**values)
    assert_repaired(path, report, usual)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_damage_is_repaired(seed: int, sound: Path, usual: dict[str, Any], tmp_path: Path) -> None:
    chance, repaired = random.Random(seed), 0
    while repaired < 3:
        path = copied(sound, tmp_path)
        damage_file(chance, path)
        if findings(path):
            repaired += 1
            report = None
            with suppress(StoreError):  # if nothing is left of it
                report = repair(str(path))
            if report:
                assert_repaired(path, report, usual)
        for one in tmp_path.iterdir():
            one.unlink()


def test_a_sound_store_is_left_alone(path: Path, capsys: Captured) -> None:
    before = path.read_bytes()
    assert main(["store", "repair", "--store", str(path)]) == 0
    assert "nothing is damaged" in capsys.readouterr().err
    assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])


def test_a_store_behind_a_link_is_repaired_where_it_is(path: Path, usual: dict[str, Any]) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    data = path.read_bytes()
    path.write_bytes(bytes(PAGE) + data[PAGE:])
    report = repair(str(link))
    assert link.is_symlink()
    link.unlink()
    assert_repaired(path, report, usual)


# ── hopeless files ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_hopeless_store_is_left_alone(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:PAGE] + bytes(len(data) - PAGE))
    with pytest.raises(StoreError, match="no document can be read in it") as caught:
        repair(str(path))
    assert caught.value.hint == "delete it and index the documents again"
    assert (list(tmp_path.iterdir()), path.stat().st_size) == ([path], len(data))


@pytest.mark.parametrize("data", [b"just text " * 999, b"SQLite format 3\x00" + bytes(9_000)])
def test_what_is_no_store_is_not_to_be_deleted(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(data)
    with pytest.raises(StoreError) as caught:
        repair(str(path))
    assert caught.value.hint
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], data)


def test_another_database_is_not_to_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    executed(path, "CREATE TABLE t (a)")
    with pytest.raises(StoreError, match="not a store of Spanwise") as caught:
        repair(str(path))
    assert caught.value.hint == "name another file"


def test_a_full_disk_leaves_the_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(PAGE) + path.read_bytes()[PAGE:]
    path.write_bytes(data)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(StoreFullError, match="No space left") as caught:
        repair(str(path))
    assert caught.value.hint
    assert (list(path.parent.iterdir()), path.read_bytes()) == ([path], data)


# ── beside others ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reader_goes_on_while_the_store_is_repaired(path: Path, usual: dict[str, Any]) -> None:
    executed(path, "DELETE FROM labels")
    with closing(open_store(path)) as store:
        with store.reading("one") as reader:
            before = list(reader.documents())
            report = repair(str(path))
            assert list(reader.documents()) == before  # of its snapshot
        assert list(store.reading("one").documents()) == before
        assert store.verify() == []
    assert_repaired(path, report, usual)


def test_a_writer_is_waited_for(path: Path) -> None:
    executed(path, "DELETE FROM labels")
    with (
        closing(open_store(path)) as store,
        store.writing("one", None),
        pytest.raises(StoreError, match="is being written by process"),
    ):
        repair(str(path), wait=0)
    assert findings(path)


KILLED = """
import os, signal, sys
from spanwise.indexing import repair as repairing
from spanwise.stores.sqlite import salvage
name, path = sys.argv[1:]
owner = {"_rebuilt": repairing, "replace": salvage.DamagedFile, "empty_log": salvage}[name]
usual = getattr(owner, name)
def killed(*given):
    result = None if name == "replace" else usual(*given)
    os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(owner, name, killed)
repairing.repair(path)
"""


@pytest.mark.process
@pytest.mark.parametrize(("where", "is_new"), [("_rebuilt", False), ("replace", False), ("empty_log", True)])
def test_a_repair_that_is_killed_leaves_the_old_store_or_the_new_one(
    where: str, is_new: bool, path: Path, usual: dict[str, Any]
) -> None:
    executed(path, "DELETE FROM labels")
    found = findings(path)
    done = subprocess.run([sys.executable, "-c", KILLED, where, str(path)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert findings(path) == ([] if is_new else found)
    if not is_new:
        shutil.rmtree(path.with_name("s.db.damaged"), ignore_errors=True)
        assert_repaired(path, repair(str(path)), usual)


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.process
def test_the_command_says_what_was_kept_and_what_was_lost(path: Path, tmp_path: Path) -> None:
    executed(path, "UPDATE documents SET source = x'00' WHERE document_id = 'two2'", "DELETE FROM labels")
    done = ran("store", "repair", "--store", "s.db", cwd=tmp_path)
    assert done.code == 1
    assert "lost: two2.md" in done.err
    assert "the damaged store is kept as" in done.err
    assert "s.db.damaged" in done.err
    assert "spanwise index" in done.err
    assert ran("store", "verify", "--store", "s.db", cwd=tmp_path).code == 0
    with closing(sqlite3.connect(tmp_path / "s.db.damaged")) as kept:
        assert kept.execute("SELECT count(*) FROM documents").fetchone() == (16,)


def test_documents_are_only_taken_whole(path: Path) -> None:
    executed(path, "DELETE FROM contents WHERE chunk = (SELECT max(id) FROM chunks WHERE tenant = 1)")
    report = repair(str(path))
    with closing(open_store(path)) as store:
        kept = {one.document_id: one.chunks for one in store.reading("one").documents()}
    assert len(report.lost) == 1
    assert len(kept) == len(documents("one")) - 1


def test_nothing_is_replaced_by_a_store_that_is_not_sound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executed(path, "DELETE FROM labels")
    before = findings(path)
    monkeypatch.setattr(repairing, "entry_of", lambda *given: replace(entry_of(*given), chunk_type="another"))
    with pytest.raises(StoreError, match="can't be repaired"):
        repair(str(path))
    assert findings(path) == before
