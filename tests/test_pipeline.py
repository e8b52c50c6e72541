"""The pipeline API: strings, paths, folders and documents in; chunks, outcomes, a store and reports out."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import spanwise
from spanwise import Chunks, Document, IndexEvent, IndexReport, OptionError, SourceItem, UnreadableError
from spanwise.cli import main
from spanwise.readers import ReadOptions, read_bytes
from spanwise.testing.store_documents import WordEmbedder

PAGE = "# Trips\n\nBook trips in the portal.\n\n## Rates\n\nThe daily rate is 41 euros.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / "docs" / name).write_text(PAGE.replace("Trips", f"Trips {name}"), encoding="utf-8")
    return tmp_path


def counts(report: IndexReport) -> dict[str, int]:
    names = ("added", "changed", "unchanged", "deleted", "failed")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def index(sources: Any, store: Any = "s.db", **more: Any) -> IndexReport:
    return spanwise.index(sources, store, **{"embedder": None, **more})


# ── chunk ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_string_and_a_path_are_read_first(folder: Path) -> None:
    document = spanwise.read("docs/a.md")
    from_path = spanwise.chunk(Path("docs/a.md"))
    assert [chunk.to_dict() for chunk in from_path] == [chunk.to_dict() for chunk in spanwise.chunk(document)]
    from_text = spanwise.chunk(PAGE)
    assert [chunk.normalized_text for chunk in from_text] == [
        "Book trips in the portal.",
        "The daily rate is 41 euros.",
    ]
    assert spanwise.estimate(PAGE).windows == spanwise.estimate(spanwise.read_text(PAGE)).windows


def test_a_missing_path_is_unreadable(folder: Path) -> None:
    with pytest.raises(UnreadableError, match="can't be opened"):
        spanwise.chunk(Path("docs/none.md"))


def test_chunks_are_a_tuple_with_their_run() -> None:
    chunks = spanwise.chunk(PAGE, None)
    assert isinstance(chunks, tuple)
    assert isinstance(chunks, Chunks)
    assert chunks.run.document.text == PAGE
    assert spanwise.chunk("").run.settled == []
    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert again.run.strategy == "structure"


def test_chunks_are_checked_as_they_are() -> None:
    document = spanwise.read_text(PAGE)
    chunks = spanwise.chunk(document)
    assert spanwise.check(chunks, document) == spanwise.check([chunk.to_dict() for chunk in chunks], document)
    assert not [one for one in spanwise.check(chunks, document) if one.level == "violation"]


@pytest.mark.parametrize("language", ["de-AT", "de_AT", "DE"])
def test_a_language_is_decided_once_for_sentences_and_terms(language: str, folder: Path) -> None:
    text = "Das Amt prüft ca. Ende Mai die Anträge. Danach wird entschieden. " * 30
    given, plain = (spanwise.read_text(text, language=name, document_id="d") for name in (language, "de"))
    cuts = [[chunk.char_start for chunk in spanwise.chunk(one, max_tokens=64)] for one in (given, plain)]
    assert cuts[0] == cuts[1]
    index([given])
    assert stored_language("s.db", given) == "de"


def test_a_language_without_tables_is_kept(folder: Path) -> None:
    document = spanwise.read_text("Le chat est sur la table. The end of it all.", language="fr", document_id="d")
    index([document])
    assert stored_language("s.db", document) == "fr"
    (hit, *_) = spanwise.search("chat", "s.db", embedder=None)
    assert "chat" in hit.normalized_text


def stored_language(path: str, document: Document) -> str:
    with closing(spanwise.open_store(path)) as store:
        (chunk, *_) = store.reading("").fetch_ids([spanwise.chunk(document)[0].chunk_id])
    return chunk.source.language


# ── chunk_files ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_outcomes_are_in_order_with_failures(folder: Path) -> None:
    (folder / "docs" / "b.md").write_bytes(b"\xff\xfe\x00")
    given = spanwise.read_text("One.", document_id="given")
    sources: list[str | Document] = ["docs", given, "none.md"]
    outcomes = list(spanwise.chunk_files(sources))
    assert [outcome.name for outcome in outcomes] == ["docs/a.md", "docs/b.md", "docs/c.md", "given", "none.md"]
    assert [outcome.error is None for outcome in outcomes] == [True, False, True, True, False]
    records = [orjson.loads(line) for line in (outcomes[0].value or b"").splitlines()]
    assert records == [chunk.to_dict() for chunk in spanwise.chunk(Path("docs/a.md"))]


@pytest.mark.process
def test_processes_make_no_difference(folder: Path) -> None:
    alone, together = (list(spanwise.chunk_files("docs", "fixed", jobs=jobs, max_tokens=64)) for jobs in (1, 2))
    assert [outcome.value for outcome in alone] == [outcome.value for outcome in together]
    assert counts(index("docs", jobs=2)) == {"added": 3}
    assert counts(index("docs")) == {"unchanged": 3}


@pytest.mark.process
def test_a_script_needs_no_guard(folder: Path) -> None:
    script = "import spanwise\nprint(spanwise.index('docs', 'x.db', embedder=None, jobs=2).added)\n"
    (folder / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_what_the_command_writes_is_what_the_function_yields(folder: Path) -> None:
    assert main(["chunk", "docs", "-o", "out.jsonl", "--max-tokens", "64", "--offsets", "utf16"]) == 0
    outcomes = spanwise.chunk_files("docs", max_tokens=64, offsets=("utf16",))
    assert Path("out.jsonl").read_bytes() == b"".join(outcome.value or b"" for outcome in outcomes)


@pytest.mark.parametrize("sources", [5, [5], [None]])
def test_what_is_no_source_is_refused(sources: Any, folder: Path) -> None:
    with pytest.raises(OptionError, match="sources"):
        next(spanwise.chunk_files(sources))


def test_wrong_options_are_refused_before_any_work(folder: Path) -> None:
    shared: list[dict[str, Any]] = [
        {"max_tokens": 3}, {"strategy": "zzz"}, {"tokenizer": "none.json"}, {"wrong": 1}, {"jobs": "x"}, {"jobs": -1},
    ]  # fmt: skip
    for more in (*shared, {"dialect": "zzz"}):
        with pytest.raises(OptionError):
            spanwise.chunk_files("docs", **more)
    for more in (*shared, {"embedder": "zzz"}, {"embedder": 5}, {"tenant": 5}):
        with pytest.raises(OptionError):
            index("docs", **more)
        assert not Path("s.db").exists()
    with pytest.raises(OptionError, match="store"):
        index("docs", 5)


def test_no_secret_is_shown(folder: Path) -> None:
    (outcome,) = spanwise.chunk_files("docs/a.md")
    hidden = outcome.job._replace(reading=ReadOptions(password="geheim"))
    assert "geheim" not in repr(outcome._replace(job=hidden))


# ── index ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_indexed_and_only_changes_are_done_again(folder: Path) -> None:
    first = index("docs")
    assert counts(first) == {"added": 3}
    assert first.chunks == sum(report.chunks for report in first.documents) == 6
    (folder / "docs" / "a.md").write_text("# New\n\nOther words.\n", encoding="utf-8")
    (folder / "docs" / "c.md").unlink()
    assert counts(index("docs")) == {"changed": 1, "unchanged": 1, "deleted": 1}
    assert counts(index("docs/b.md")) == {"unchanged": 1}
    (hit, *_) = spanwise.search("other words", "s.db", embedder=None)
    assert hit.document_id == index("docs/a.md").documents[0].document_id


def test_the_command_and_the_function_write_the_same_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.indexing.writer._SECONDS", float("inf"))  # only counts decide when to commit
    index("docs", "python.db")
    assert main(["index", "docs", "--store", "command.db", "--embedder", "none", "-q"]) == 0
    dumps = []
    for name in ("python.db", "command.db"):
        with sqlite3.connect(name) as store:
            dumps.append([line for line in store.iterdump() if "created" not in line])
    assert dumps[0] == dumps[1]
    assert counts(index("docs", "command.db")) == {"unchanged": 3}


def test_documents_from_anywhere_are_indexed(folder: Path) -> None:
    def queue() -> Iterator[Document | Path]:
        yield spanwise.read_text("One fox.", document_id="one", source_url="https://a.example/1")
        yield Path("docs/a.md")
        yield spanwise.read_text("Two foxes.", document_id="two")

    first = index(queue())
    assert counts(first) == {"added": 3}
    assert [report.document_id for report in first.documents if report.document_id in {"one", "two"}] == ["one", "two"]
    assert counts(index(queue())) == {"unchanged": 3}
    changed = [spanwise.read_text("Two wolves.", document_id="two")]
    assert counts(index(changed)) == {"changed": 1}
    assert counts(index(iter(()))) == {}
    with closing(spanwise.open_store(Path("s.db"))) as store:
        assert len(list(store.reading("").documents())) == 3


MAIL = SourceItem("mail/1", format="markdown", data=b"# Mail\n\nA fox.")


@pytest.mark.parametrize("known", [
    {"metadata": {"document_id": "7"}}, {"metadata": {"source_url": "https://a.example/7"}}, {"location": "imap:7"},
    {"location": "s3://b/7.md", "metadata": {"file_path": "s3://b/7.md"}},
])  # fmt: skip
def test_items_of_an_own_source_are_recognised(known: dict[str, Any], folder: Path) -> None:
    item = replace(MAIL, **known)
    assert counts(index([item])) == {"added": 1}
    assert counts(index([item])) == {"unchanged": 1}
    assert counts(index("docs")) == {"added": 3}  # nothing of another source is deleted with a folder
    titled = replace(item, metadata={**item.metadata, "title": "Other"})
    assert counts(index([titled])) == {"changed": 1}
    changed = index([replace(item, data=b"# Mail\n\nA wolf.")])
    assert counts(changed) in ({"changed": 1}, {"added": 1, "deleted": 1})
    assert [hit.normalized_text for hit in spanwise.search("mail fox wolf", "s.db", embedder=None)] == ["A wolf."]


def test_an_own_source_may_fail_in_any_way(folder: Path) -> None:
    class Cloud(SourceItem):
        def fetch(self) -> bytes:
            raise KeyError("no such object")

    report = index([Cloud("s3://b/1.md", location="s3://b/1.md"), "docs/a.md"])
    assert counts(report) == {"added": 1, "failed": 1}
    assert "no such object" in str(report.documents[0].error)


def test_what_was_listed_before_a_source_fails_is_indexed(folder: Path) -> None:
    def broken() -> Iterator[str]:
        yield "docs/a.md"
        raise RuntimeError("the queue is gone")

    with pytest.raises(RuntimeError, match="the queue is gone"):
        index(broken())
    assert counts(index("docs/a.md")) == {"unchanged": 1}


def test_ctrl_c_while_a_source_is_listed_stops_at_once(folder: Path) -> None:
    def interrupted() -> Iterator[str]:
        yield "docs/a.md"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(interrupted())
    assert counts(index("docs/a.md")) == {"added": 1}


def test_an_error_of_the_caller_ends_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.indexing.index._AT_ONCE", 1)

    def broken(event: IndexEvent) -> None:
        raise ValueError(event.stage)

    with pytest.raises(ValueError, match="read"):
        index(iter(["docs/a.md", "docs/b.md", "docs/c.md"]), progress=broken)


@pytest.mark.parametrize(("raised", "message"), [
    (MemoryError(), "too large for the memory that it may take"), (UnreadableError("a", "is locked"), "`a` is locked"),
])  # fmt: skip
def test_errors_of_a_source_keep_their_meaning(raised: Exception, message: str, folder: Path) -> None:
    class Cloud(SourceItem):
        def fetch(self) -> bytes:
            raise raised

    (report,) = index([Cloud("a.md", location="s3://a")]).documents
    assert message in str(report.error)


class StrangeError(UnreadableError):
    """An error that can be pickled, but not made again."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "is locked", hint="unlock it")


class Guarded(SourceItem):
    """An item that is sent to a child."""

    def fetch(self) -> bytes:
        if "strange" in self.name:
            raise StrangeError(self.name)
        if "value" in self.name:
            raise UnreadableError(self.name, "is locked", value=threading.Lock(), hint="unlock it")
        return b"Text."


@pytest.mark.process
def test_errors_that_can_not_be_sent_keep_their_words() -> None:
    items = [Guarded(name) for name in ("a.md", "strange.md", "b.md", "value.md", "c.md")]
    outcomes = list(spanwise.chunk_files(items))
    assert [str(one.error) if one.error else "read" for one in outcomes] == [
        "read", "`strange.md` is locked\nhint: unlock it", "read", "`value.md` is locked\nhint: unlock it", "read",
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [0, 120])
def test_a_fault_of_ours_costs_one_file(limit: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(data: bytes, name: str, *more: Any) -> Document:
        if name == "docs/b.md":
            raise IndexError("list index\nout of range")
        return read_bytes(data, name, *more)

    monkeypatch.setattr("spanwise.pipeline.process.read_bytes", faulty)
    monkeypatch.setattr("spanwise.pipeline.guard.may_fork", lambda: True)
    first, second, third = spanwise.chunk_files("docs", file_timeout=limit, file_memory=0)
    assert first.value
    assert third.value
    message = "`docs/b.md` can't be processed: IndexError: list index out of range (test_pipeline.py, line "
    assert str(second.error).startswith(message)
    assert "\nhint: this is a fault of the program" in str(second.error)
    report = index("docs", file_timeout=limit, file_memory=0)
    assert counts(report) == {"added": 2, "failed": 1}


def test_what_was_listed_before_a_source_fails_is_chunked(folder: Path) -> None:
    def broken() -> Iterator[str]:
        yield "docs/a.md"
        raise RuntimeError("the queue is gone")

    outcomes = spanwise.chunk_files(broken())
    assert next(outcomes).name == "docs/a.md"
    with pytest.raises(RuntimeError, match="the queue is gone"):
        next(outcomes)


def test_a_document_keeps_the_location_of_its_file(folder: Path) -> None:
    index("docs")
    document = spanwise.read("docs/a.md", document_id=index("docs/a.md").documents[0].document_id)
    assert counts(index([document])) == {"changed": 1}
    (folder / "docs" / "a.md").unlink()
    assert counts(index("docs")) == {"unchanged": 2, "deleted": 1}


def test_a_bad_file_fails_alone(folder: Path) -> None:
    (folder / "docs" / "b.md").write_bytes(b"\xff\xfe\x00")
    report = index(["docs", "none.md"])
    assert counts(report) == {"added": 2, "failed": 2}
    assert all(one.error for one in report.documents if one.status == "failed")
    (folder / "docs" / "x.bin").write_bytes(b"x")
    assert index("docs").passed_over == {"no reader for .bin": 1}


def test_two_documents_of_one_id_are_refused(folder: Path) -> None:
    report = index([spanwise.read_text(text, document_id="same") for text in ("One.", "Two.")])
    assert counts(report) == {"added": 1, "failed": 1}


def test_a_tenant_sees_its_own_documents(folder: Path) -> None:
    index("docs/a.md", tenant="acme")
    given = spanwise.read_text("A fox.", document_id="fox")
    index([given], tenant="other")
    assert [hit.document_id for hit in spanwise.search("fox", "s.db", tenant="other", embedder=None)] == ["fox"]
    assert not spanwise.search("fox", "s.db", tenant="acme", embedder=None)
    theirs = spanwise.read_text("A fox.", document_id="fox", tenant_id="acme")
    for source in (theirs, replace(MAIL, metadata={"document_id": "m", "tenant_id": "acme"})):
        report = index([source], tenant="other")
        assert counts(report) == {"failed": 1}
        assert "tenant" in str(report.documents[0].error)


def test_progress_is_reported_in_events(folder: Path) -> None:
    events: list[IndexEvent] = []
    embedder = WordEmbedder()
    report = index("docs", embedder=embedder, progress=events.append)
    last = {event.stage: event for event in events}
    assert last["read"] == ("read", 3, 3)
    assert {name: last[name].done for name in ("chunk", "embed", "write")} == {"chunk": 6, "embed": 6, "write": 6}
    assert report.embedded == 6
    events.clear()
    index("docs", embedder=embedder, progress=events.append)
    assert events == [("read", 0, 0)]


def test_the_total_is_unknown_while_a_source_is_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.indexing.index._AT_ONCE", 2)
    events: list[IndexEvent] = []
    documents = (spanwise.read_text(f"Number {number}.", document_id=str(number)) for number in range(5))
    index(documents, progress=events.append)
    read = [(event.done, event.total) for event in events if event.stage == "read"]
    assert read == [(1, None), (2, None), (3, None), (4, None), (4, 5), (5, 5)]


@pytest.mark.server
def test_limits_of_a_model_hold_for_the_whole_run(folder: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.indexing.index._AT_ONCE", 2)
    texts = ["\n\n".join(f"Sentence {number} of {name}." for number in range(8)) for name in "abcdef"]
    documents = [spanwise.read_text(text, document_id=str(number)) for number, text in enumerate(texts)]
    report = index(documents, strategy="smart", max_calls=1)
    assert counts(report) == {"added": 6}
    # the five that fell back to `structure` are tried again
    assert counts(index(documents, strategy="smart", max_calls=1)) == {"changed": 5, "unchanged": 1}


def test_a_store_in_its_own_folder_is_not_read(folder: Path) -> None:
    """A file without a suffix is text to a reader; closing it would drop the locks of SQLite."""
    index("docs", "docs/store")
    again = index("docs", Path("docs/store"))
    assert counts(again) == {"unchanged": 3}
    assert again.passed_over["part of the store"] >= 1  # with its log, while it is open
    assert main(["index", "docs", "--store", "docs/store", "--embedder", "none", "-q"]) == 0
    assert counts(index("docs", "docs/store")) == {"unchanged": 3}


def test_an_open_store_stays_open(folder: Path) -> None:
    store = spanwise.open_store("s.db", create=True)
    try:
        assert counts(index("docs", store)) == {"added": 3}
        assert len(list(store.reading("").documents())) == 3
    finally:
        store.close()


def test_a_file_is_fetched_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []
    usual = os.open

    def counted(path: str, *arguments: Any, **more: Any) -> int:
        fetched.extend([path] if str(path).endswith(".md") else [])
        return usual(path, *arguments, **more)

    monkeypatch.setattr(os, "open", counted)
    index("docs", file_timeout=0, file_memory=0)  # in this process
    assert fetched == ["docs/a.md", "docs/b.md", "docs/c.md"]
    fetched.clear()
    (folder / "docs" / "a.md").write_text("# New\n\nOther words.\n", encoding="utf-8")
    assert counts(index("docs", file_timeout=0, file_memory=0)) == {"changed": 1, "unchanged": 2}
    assert fetched == ["docs/a.md", "docs/b.md", "docs/c.md"]
