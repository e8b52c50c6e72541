"""Indexing killed at any moment: nothing acknowledged is lost, no partial document is stored, a rerun continues."""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import orjson
import pytest

from command import COMMAND, environment, files, ran, records
from spanwise.errors import StoreError
from spanwise.stores import open_store
from spanwise.stores.values import Filters
from spanwise.text.terms import query_words

pytestmark = pytest.mark.process

DOCUMENTS = 260
SECTIONS = 4
KILLS = 6


def name_of(document: str) -> str:
    """Return a unique name for a document, which stemming doesn't merge with another."""
    return "q" + "".join("bcdfghjklm"[int(digit)] for digit in document)


def write_round(folder: Path, number: int) -> None:
    """Rewrite every document: all of its sections contain the document's name and the round."""
    for document in range(DOCUMENTS):
        name = name_of(str(document))
        parts = (f"## Part {part}\n\n{name} says round{number} in {part}.\n" for part in range(SECTIONS))
        (folder / f"docs/{document}.md").write_text("\n".join(parts), encoding="utf-8")


def killed(folder: Path, chance: random.Random) -> list[str]:
    """Start indexing, kill it after a random time, and return the files acknowledged until then."""
    with subprocess.Popen(
        [*COMMAND, "index", "docs", "--store", "s.db", "--json", "--embedder", "none", "--jobs", "1"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        late = chance.random() < 0.7  # otherwise it might be killed before any work
        first = process.stdout.readline() if late else b""
        killing = threading.Timer(chance.uniform(0, 0.5) if late else chance.uniform(0.2, 1.5), process.kill)
        killing.start()
        lines = [first, *process.stdout]
        process.wait()
        killing.cancel()
        killing.join()
    acknowledged = [orjson.loads(line) for line in lines if line.endswith(b"\n")]
    return [line["file"] for line in acknowledged if line["status"] in {"added", "changed", "unchanged"}]


@contextmanager
def readers_beside(folder: Path) -> Iterator[None]:
    """Open and close the store again and again, in threads and in other processes, while it is written."""
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            with suppress(StoreError), closing(open_store(str(folder / "s.db"))) as store:
                list(store.reading("").documents())

    threads = [threading.Thread(target=read) for _ in range(2)]
    line = [*COMMAND, "store", "status", "--store", "s.db"]
    looking = subprocess.Popen(
        ["/bin/sh", "-c", f"while :; do {shlex.join(line)}; done"], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, env=environment(),
    )  # fmt: skip
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        os.killpg(looking.pid, signal.SIGKILL)
        looking.wait()
        for thread in threads:
            thread.join()


def rounds(folder: Path) -> dict[str, set[str]]:
    """Return the rounds in the chunks of each stored document; assert that each document is complete."""
    store = open_store(str(folder / "s.db"))
    assert store.verify() == []
    found: dict[str, set[str]] = {}
    with store.reading("") as reader:
        for known in reader.documents():
            assert known.file_path is not None
            (word,) = query_words(name_of(Path(known.file_path).stem))
            keys = [one.key for one in reader.lexical(word.terms, Filters(), 50)]
            texts = [one.record["normalized_text"] for one in reader.fetch(keys)]
            assert len(texts) == known.chunks
            assert sorted(text.split()[-1] for text in texts) == [f"{part}." for part in range(SECTIONS)]
            found[known.file_path] = {text.split()[2] for text in texts}
    store.close()
    return found


def test_nothing_acknowledged_is_ever_lost(tmp_path: Path) -> None:
    files(tmp_path, {"docs/0.md": ""})
    chance = random.Random(11)
    for number in range(KILLS):
        if number % 3 == 0:  # the runs in between continue where the last one stopped
            write_round(tmp_path, number)
            current = f"round{number}"
        with readers_beside(tmp_path):
            acknowledged = killed(tmp_path, chance)
        there = rounds(tmp_path) if (tmp_path / "s.db").exists() and (tmp_path / "s.db").stat().st_size else {}
        assert set(acknowledged) <= there.keys()
        for file, versions in there.items():
            assert len(versions) == 1, f"{file} is of several rounds: {versions}"
            if file in acknowledged:
                assert versions == {current}
    done = ran("index", "docs", "--store", "s.db", "--json", "--embedder", "none", cwd=tmp_path, timeout=60)
    assert done.code == 0
    assert {line["status"] for line in records(done.out)} <= {"added", "changed", "unchanged"}
    assert rounds(tmp_path) == {f"docs/{document}.md": {current} for document in range(DOCUMENTS)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "s.db"]
