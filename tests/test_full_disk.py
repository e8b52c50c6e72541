"""A disk that takes nothing more, and a pipe that nobody reads: what was promised still holds.

A limit on the size of files stands for a full disk: it needs no rights, and every write beyond it fails.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from command import COMMAND, environment, files, ran, records
from damaging import copied, make_log, make_store
from spanwise.stores import open_store

pytestmark = pytest.mark.process

READS = (
    ("search", "winter apple", "--tenant", "one", "--no-vectors", "--json"),
    ("store", "status", "--json"),
    ("store", "list", "--all-tenants", "--json"),
    ("store", "verify", "--json"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    make_store(folder / "s.db")
    make_log(folder / "logged.db")
    return folder / "s.db"


def ran_on_full_disk(*arguments: str, cwd: Path, room: int = 0) -> subprocess.CompletedProcess[bytes]:
    """Run the command where no file can become larger than so many bytes."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, capture_output=True, env=environment(), timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["s.db", "logged.db"])
def test_a_store_on_a_full_disk_can_be_read(name: str, sound: Path, tmp_path: Path) -> None:
    copied(sound, tmp_path, name)
    (tmp_path / "other").mkdir()
    expected = [ran(*line, "--store", "s.db", cwd=copied(sound, tmp_path / "other", name).parent) for line in READS]
    for line, usual in zip(READS, expected, strict=True):
        done = ran_on_full_disk(*line, "--store", "s.db", cwd=tmp_path)
        assert (done.returncode, done.stderr.decode()) == (0, usual.err)
        assert _without_sizes(done.stdout) == _without_sizes(usual.out)
    assert ran("store", "verify", "--store", "s.db", cwd=tmp_path).code == 0


def _without_sizes(out: bytes) -> list[bytes]:
    return [line for line in out.splitlines() if b'"bytes"' not in line]


def test_what_can_not_be_written_exits_with_3(sound: Path, tmp_path: Path) -> None:
    copied(sound, tmp_path)
    files(tmp_path, {f"docs/{number}.md": f"# {number}\n\n{'word ' * 400}{number}\n" for number in range(40)})
    before = ran("store", "list", "--store", "s.db", "--all-tenants", "--json", cwd=tmp_path).out
    for line in (
        ("index", "docs", "--store", "s.db", "--embedder", "none"),
        ("index", "docs", "--store", "new.db", "--embedder", "none"),
        ("chunk", "docs", "-o", "chunks.jsonl"),
        ("chunk", "docs", "-o", "chunks.parquet"),
    ):
        done = ran_on_full_disk(*line, cwd=tmp_path, room=4_096)
        assert (line, done.returncode) == (line, 3)
        assert b"can't be written" in done.stderr
        assert b"Traceback" not in done.stderr
    assert ran("store", "list", "--store", "s.db", "--all-tenants", "--json", cwd=tmp_path).out == before
    assert ran("store", "verify", "--store", "s.db", cwd=tmp_path).code == 0
    assert not list(tmp_path.glob("chunks*"))
    assert ran("index", "docs", "--store", "new.db", "--embedder", "none", cwd=tmp_path).code == 0


def test_what_was_acknowledged_before_the_disk_was_full_is_there(tmp_path: Path) -> None:
    files(tmp_path, {f"docs/{number}.md": f"# {number}\n\n{'word ' * 100}{number}\n" for number in range(500)})
    line = ("index", "docs", "--store", "s.db", "--embedder", "none", "--json")
    done = ran_on_full_disk(*line, cwd=tmp_path, room=700_000)
    assert done.returncode == 3
    told = {record["document_id"] for record in records(done.stdout)}
    assert told
    listed = ran_on_full_disk("store", "list", "--store", "s.db", "--json", cwd=tmp_path)
    assert {record["document_id"] for record in records(listed.stdout)} == told
    assert ran_on_full_disk("store", "verify", "--store", "s.db", cwd=tmp_path).returncode == 0
    assert ran("index", "docs", "--store", "s.db", "--embedder", "none", cwd=tmp_path).code == 0
    assert ran("store", "verify", "--store", "s.db", cwd=tmp_path).code == 0


def test_indexing_goes_on_when_nobody_reads_its_lines(tmp_path: Path) -> None:
    files(tmp_path, {f"docs/{number}.md": f"# {number}\n\nText {number}.\n" for number in range(400)})
    line = [*COMMAND, "index", "docs", "--store", "s.db", "--embedder", "none", "--json", "--quiet"]
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert orjson.loads(process.stdout.readline())["status"] == "added"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0
    with closing(open_store(tmp_path / "s.db")) as store:
        assert store.status()["documents"] == 400
    shutil.rmtree(tmp_path / "docs")
