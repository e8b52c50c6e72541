"""Indexing: document identity, changes, link targets; and the commands `spanwise index` and `spanwise store`."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from command import files, on_terminal, records
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.cli.progress import Stages
from spanwise.embedding import Embedder
from spanwise.errors import MissingExtraError, OptionError
from spanwise.indexing.diff import matched
from spanwise.indexing.entries import entries_of, searched_text, text_before
from spanwise.indexing.identity import Named, Names, gone, location_of
from spanwise.indexing.index import IndexEvent
from spanwise.indexing.link_targets import addresses_of, targets_of
from spanwise.records.dialects import DialectContext
from spanwise.stores import open_store
from spanwise.stores.sqlite.writer import SqliteWriter
from spanwise.stores.values import ChunkState, DocumentState, Filters, record_hash
from spanwise.testing.store_documents import WordEmbedder, entry, parent_entry
from spanwise.text.terms import document_terms, query_words

Captured = pytest.CaptureFixture[str]
PAGE = "# Travel\n\nTrips are booked in the portal.\n\n## Rates\n\nBerlin costs 41 a day.\n\n[more](more.md)\n"
MORE = "# More\n\nThe rate in Warsaw is 35.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with three documents."""
    files(tmp_path, {"docs/a.md": PAGE, "docs/more.md": MORE, "docs/deep/c.txt": "Plain words.\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """Replace every named embedder by one that records what it embeds."""
    found = WordEmbedder()

    def chosen(name: str | Embedder | None) -> Embedder | None:
        return found if name is not None else None

    monkeypatch.setattr("spanwise.indexing.index.embedder_of", chosen)
    return found


def indexed(capsys: Captured, *arguments: str, code: int = 0, embedder: str = "none") -> dict[str, dict[str, Any]]:
    """Run `spanwise index --json` and return its lines by file."""
    capsys.readouterr()
    chosen = () if "--embedder" in arguments else ("--embedder", embedder)
    assert main(["index", "--store", "s.db", "--json", *chosen, *arguments]) == code
    return {line["file"]: line for line in records(capsys.readouterr().out)}


def statuses(lines: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {file: line["status"] for file, line in lines.items()}


def listed(tenant: str = "") -> dict[str, str]:
    """Return the document ids in the store by file path."""
    store = open_store("s.db")
    found = {known.file_path or "": known.document_id for known in store.reading(tenant).documents()}
    assert store.verify() == []
    store.close()
    return found


def terms_of_query(query: str) -> list[str]:
    return [term for word in query_words(query) for term in word.terms]


def found_texts(query: str, tenant: str = "") -> list[str]:
    store, terms = open_store("s.db"), terms_of_query(query)
    with store.reading(tenant) as reader:
        keys = [one.key for one in reader.lexical(terms, Filters(), 50)]
        texts = [found.record["normalized_text"] for found in reader.fetch(keys)]
    store.close()
    return texts


# ── what links mean ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_names_of_a_document() -> None:
    metadata = {
        "source_url": "HTTPS://Wiki.Example.com:443/display/HR/Trips/?a=1#top", "file_path": "hr/Trip plan.md",
        "page_id": "77", "space_key": "HR", "title": "Trip  Plan", "extra": {"aliases": ["Journeys"], "id": "t-1"},
    }  # fmt: skip
    assert addresses_of(metadata, "/home/hr/Trip plan.md") == (
        "url:https://wiki.example.com/display/HR/Trips?a=1",
        "file:/home/hr/Trip plan.md",
        "page:77",
        "title:hr/trip plan",
        "note:trip plan", "note:hr/trip plan", "note:home/hr/trip plan", "note:journeys", "note:t-1",
    )  # fmt: skip
    assert addresses_of({}, None) == ()


@pytest.mark.parametrize(
    ("target", "means"),
    [
        ("b.md", "file:/home/docs/b.md"),
        ("../b%20c.md#part", "file:/home/b c.md"),
        ("/abs/b.md?x=1", "file:/abs/b.md"),
        ("sub/page", "file:/home/docs/sub/page.md"),
        ("Trip Plan", "note:trip plan"),
        ("hr/Trip Plan", "note:hr/trip plan"),
        ("https://Example.com/x/#y", "url:https://example.com/x"),
        ("//example.com/x", "url:https://example.com/x"),
    ],
)
def test_link_targets(target: str, means: str) -> None:
    metadata = {"links": [{"target": target, "text": "x"}], "file_path": "docs/a.md"}
    assert means in targets_of(metadata, "/home/docs/a.md")


@pytest.mark.parametrize(
    "target", ["", "#part", "mailto:a@b.c", "tel:1", "data:text/plain,x", "javascript:1", "http://["]
)
def test_links_that_lead_to_no_document(target: str) -> None:
    assert [name for name in targets_of({"links": [{"target": target}]}, "/home/a.md") if name] == []


def test_relative_links_of_a_web_page_and_of_confluence() -> None:
    page = {"links": [{"target": "../b#x"}], "source_url": "https://example.com/docs/a/"}
    assert "url:https://example.com/docs/b" in targets_of(page, None)
    wiki = {"source_type": "confluence", "space_key": "HR"}
    links = [{"target": "Rates"}, {"target": "IT:VPN: how#top"}, {"target": "page:88"}]
    found = targets_of({**wiki, "links": links}, "/home/x.json")
    assert {"title:hr/rates", "title:it/vpn: how", "page:88"} <= set(found)


def test_links_find_each_other(folder: Path, capsys: Captured) -> None:
    indexed(capsys, "docs")
    ids = listed()
    store = open_store("s.db")
    assert store.reading("").links(list(ids.values())) == {(ids["docs/a.md"], ids["docs/more.md"])}
    store.close()


# ── what is new ──────────────────────────────────────────────────────────────────────────────────────────────────

CHUNKS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(old=CHUNKS, new=CHUNKS, vectors=st.booleans())
def test_every_chunk_is_kept_moved_added_or_deleted(old: list[str], new: list[str], vectors: bool) -> None:
    before = [entry(text, position) for position, text in enumerate(old)]
    after = [entry(text, position) for position, text in enumerate(new)]
    stored = [
        ChunkState(key, one.content_hash, one.terms_hash, record_hash(one), vectors) for key, one in enumerate(before)
    ]
    found = matched(stored, after, embedding=True)
    staying = Counter(old) & Counter(new)
    assert found.kept + len(found.moved) == staying.total()
    assert Counter(one.content_hash for one in found.added) == Counter(one.content_hash for one in after) - Counter(
        one.content_hash for one in before
    )
    assert len(found.deleted) == len(old) - staying.total()
    assert len(found.revectored) == (0 if vectors else staying.total())
    keys = [key for key, _ in found.moved]
    assert len({*keys, *found.deleted}) == len(keys) + len(found.deleted)
    if old == new:
        assert found.kept == len(old)


def test_a_parent_never_wants_a_vector() -> None:
    parent = parent_entry("all", 0, "x")
    stored = [ChunkState(1, parent.content_hash, parent.terms_hash, record_hash(parent), has_vector=False)]
    assert matched(stored, [parent], embedding=True) == (1, (), (), (), ())


def test_terms_and_text_before_of_entries() -> None:
    text = "Front\n\n# One\n\nA word.\n\n---\n\n## Two\n\nB word.\n\n<!-- note -->\n\nC word.\n"
    document = spanwise.read_text(text, document_id="d", title="One")
    chunks = spanwise.chunk(document, min_tokens=1, target_tokens=1)
    made = entries_of([one.to_dict() for one in chunks], DialectContext(document, heading_levels=2), "en", "x")
    assert [one.text_before for one in made] == ["", "\n\n# One\n\n", "\n\n---\n\n## Two\n\n", "\n\n"]
    assert [one.position for one in made] == [0, 1, 2, 3]
    whole = "".join(one.text_before + chunk.normalized_text for one, chunk in zip(made[:3], chunks[:3], strict=True))
    assert whole == text[: chunks[2].char_end]
    assert [searched_text(one.to_dict()) for one in chunks][1:3] == ["One\nA word.", "One\nTwo\nB word."]
    assert searched_text(chunks[0].to_dict()) == "One\nFront"
    assert made[2].terms == tuple(document_terms("One\nTwo\nB word.", "en"))
    assert text_before(document, 0, 5_000) == "\n\n"


def test_parents_have_no_terms_and_are_not_counted() -> None:
    document = spanwise.read_text("# A\n\nOne.\n\n# B\n\nTwo.\n", document_id="d")
    children = [one.to_dict() for one in spanwise.chunk(document, min_tokens=1, target_tokens=1)]
    parent = {**children[0], "chunk_id": "p" * 64, "char_end": children[-1]["char_end"]}
    context = DialectContext(document, heading_levels=2)
    made = entries_of([parent, *({**one, "parent_id": "p" * 64} for one in children)], context, "en", "x")
    assert [(one.position, bool(one.terms), bool(one.terms_hash), one.text_before) for one in made] == [
        (0, False, False, ""), (0, True, True, ""), (1, True, True, "\n\n# B\n\n"),
    ]  # fmt: skip


# ── which document a file is ─────────────────────────────────────────────────────────────────────────────────────


def named(file: str, *known: DocumentState) -> Named:
    return Names(known).name(file)


def test_a_file_keeps_its_id_however_its_path_is_spelt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = named("docs/a.md")
    assert (one.file_path, one.location, one.known) == ("docs/a.md", location_of("docs/a.md"), None)
    known = DocumentState("id", "f", 1, one.file_path, one.location)
    for spelling in ("./docs/../docs/a.md", str(folder / "docs" / "a.md")):
        assert named(spelling, known) == (one.location, "docs/a.md", known)
    monkeypatch.chdir(folder / "docs")
    assert named("a.md", known).known == known
    assert named("deep/c.txt", known).file_path == "docs/deep/c.txt"  # like its neighbours
    monkeypatch.chdir("/")
    assert named(str(folder / "docs" / "deep" / "c.txt")).file_path == str(folder / "docs/deep/c.txt")[1:]


def test_a_file_of_the_same_name_elsewhere_is_another_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"p/docs/a.md": "x", "q/docs/a.md": "y"})
    known = DocumentState("id", "f", 1, "docs/a.md", location_of(str(tmp_path / "p/docs/a.md")))
    monkeypatch.chdir(tmp_path / "q")
    other = named("docs/a.md", known)
    assert (other.file_path, other.known) == (other.location, None)
    (tmp_path / "p/docs/a.md").unlink()
    moved = named("docs/a.md", known)
    assert (moved.file_path, moved.known) == ("docs/a.md", known)


def test_only_documents_in_these_paths_are_removed(folder: Path) -> None:
    known = [
        DocumentState(name, "f", 1, name, location_of(f"docs/{name}"))
        for name in ("a.md", "old.md", "deep/old.md", "x/old.md")
    ]
    known += [
        DocumentState("other", "f", 1, "other", location_of("elsewhere/old.md")),
        DocumentState("piped", "f", 1, None),
    ]
    there = [location_of("docs/a.md")]
    assert [one.document_id for one in gone(known, ["docs"], there, [])] == ["old.md", "deep/old.md", "x/old.md"]
    assert [one.document_id for one in gone(known, ["docs"], there, ["docs/x"])] == ["old.md", "deep/old.md"]
    assert [one.document_id for one in gone(known, ["docs/deep/"], there, [])] == ["deep/old.md"]
    assert [one.document_id for one in gone(known, ["doc"], there, [])] == []


# ── spanwise index ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_run_adds_and_the_next_does_nothing(
    folder: Path, capsys: Captured, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = indexed(capsys, "docs", embedder="auto")
    assert statuses(lines) == dict.fromkeys(("docs/a.md", "docs/deep/c.txt", "docs/more.md"), "added")
    assert list(lines["docs/a.md"]) == ["document_id", "status", "chunks", "embedded", "file"]
    assert lines["docs/a.md"]["embedded"] == lines["docs/a.md"]["chunks"] == 2
    assert len(embedder.embedded) == sum(line["chunks"] for line in lines.values())
    embedder.embedded.clear()

    def never(*_: Any) -> Any:
        raise AssertionError("an unchanged file must not be read")

    monkeypatch.setattr("spanwise.pipeline.process.process", never)
    monkeypatch.setattr(SqliteWriter, "commit", never)
    again = indexed(capsys, "docs", embedder="auto")
    assert set(statuses(again).values()) == {"unchanged"}
    assert embedder.embedded == []
    assert [line["chunks"] for line in again.values()] == [line["chunks"] for line in lines.values()]


def test_a_change_embeds_and_writes_only_what_is_new(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    indexed(capsys, "docs", embedder="auto")
    embedder.embedded.clear()
    files(folder, {"docs/a.md": PAGE.replace("41", "45")})
    lines = indexed(capsys, "docs", embedder="auto")
    assert statuses(lines) == {"docs/a.md": "changed", "docs/deep/c.txt": "unchanged", "docs/more.md": "unchanged"}
    assert (lines["docs/a.md"]["chunks"], lines["docs/a.md"]["embedded"]) == (2, 1)
    assert len(embedder.embedded) == 1
    assert len(found_texts("45")) == 1
    assert found_texts("41") == []
    listed()


def test_a_file_that_is_renamed_is_not_embedded_again(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    indexed(capsys, "docs", embedder="auto")
    embedder.embedded.clear()
    (folder / "docs/more.md").rename(folder / "docs/less.md")
    lines = indexed(capsys, "docs", embedder="auto")
    assert statuses(lines)["docs/less.md"] == "added"
    assert statuses(lines)["docs/more.md"] == "deleted"
    assert embedder.embedded == []
    assert sorted(listed()) == ["docs/a.md", "docs/deep/c.txt", "docs/less.md"]


def test_equal_texts_are_embedded_once(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    files(folder, {f"same/{number}/x.md": "Just the same words.\n" for number in range(5)})  # one name is one title
    lines = indexed(capsys, "same", embedder="auto")
    assert embedder.embedded == ["x\nJust the same words."]
    assert sorted(line["embedded"] for line in lines.values()) == [0, 0, 0, 0, 1]


def test_vectors_come_later_when_there_is_an_embedder(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    indexed(capsys, "docs")
    lines = indexed(capsys, "docs", embedder="auto")
    assert sum(line["embedded"] for line in lines.values()) == len(embedder.embedded) == 4
    embedder.embedded.clear()
    assert set(statuses(indexed(capsys, "docs", embedder="auto")).values()) == {"unchanged"}
    indexed(capsys, "docs")  # without an embedder nothing is lost
    indexed(capsys, "docs", embedder="auto")
    assert embedder.embedded == []
    listed()


def test_another_embedder_is_refused(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    indexed(capsys, "docs", embedder="auto")
    embedder.name = "another"
    indexed(capsys, "docs", code=2, embedder="another")


def test_the_stores_embedder_is_the_usual_one(
    folder: Path, capsys: Captured, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(capsys, "docs", embedder="auto")
    asked: list[Any] = []

    def missing(name: Any) -> Any:
        asked.append(name)
        raise MissingExtraError(name, "is not installed", hint="pip install it")

    monkeypatch.setattr("spanwise.indexing.index.embedder_of", missing)
    capsys.readouterr()
    assert main(["index", "--store", "s.db", "docs"]) == 2
    assert "--embedder none" in capsys.readouterr().err
    assert asked == [embedder.name]


def test_removed_documents_disappear_and_others_stay(folder: Path, capsys: Captured) -> None:
    files(folder, {"else/x.md": "Elsewhere.\n"})
    indexed(capsys, "docs", "else")
    (folder / "docs/more.md").unlink()
    (folder / "else/x.md").unlink()
    lines = indexed(capsys, "docs")
    assert statuses(lines) == {"docs/a.md": "unchanged", "docs/deep/c.txt": "unchanged", "docs/more.md": "deleted"}
    assert sorted(listed()) == ["docs/a.md", "docs/deep/c.txt", "else/x.md"]
    assert statuses(indexed(capsys, "else")) == {"else/x.md": "deleted"}
    (folder / "docs/a.md").unlink()
    lines = indexed(capsys, "docs/a.md", code=1)  # a missing file that was named is most likely a typo
    assert lines == {}
    assert sorted(listed()) == ["docs/a.md", "docs/deep/c.txt"]


def test_what_is_no_longer_selected_disappears(folder: Path, capsys: Captured) -> None:
    indexed(capsys, "docs")
    lines = indexed(capsys, "docs", "--exclude", "deep/")
    assert statuses(lines)["docs/deep/c.txt"] == "deleted"
    assert sorted(listed()) == ["docs/a.md", "docs/more.md"]


def test_a_file_that_fails_keeps_its_old_version(folder: Path, capsys: Captured) -> None:
    before = indexed(capsys, "docs")["docs/a.md"]
    files(folder, {"docs/a.md": b"\x00\x01\xff", "docs/new.md": b"\x00\x01\xff"})
    lines = indexed(capsys, "docs", code=1)
    assert lines["docs/a.md"]["status"] == lines["docs/new.md"]["status"] == "failed"
    assert "binary" in lines["docs/a.md"]["error"]
    assert lines["docs/a.md"]["document_id"] == before["document_id"]
    assert len(found_texts("berlin")) == 1
    files(folder, {"docs/a.md": PAGE, "docs/new.md": "New.\n"})
    again = indexed(capsys, "docs")
    assert statuses(again)["docs/a.md"] == "unchanged"
    assert again["docs/new.md"]["document_id"] == lines["docs/new.md"]["document_id"]


@pytest.mark.parametrize("spelling", ["./docs/", "docs/../docs", "{}/docs", "docs/a.md docs"])
def test_a_path_may_be_spelt_in_any_way(spelling: str, folder: Path, capsys: Captured) -> None:
    indexed(capsys, "docs")
    before = listed()
    lines = indexed(capsys, *spelling.format(folder).split())
    assert set(statuses(lines).values()) == {"unchanged"}
    assert listed() == before


def test_from_another_folder_documents_are_the_same(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(capsys, "docs")
    before = listed()
    files(folder, {"docs/new.md": "New.\n"})
    monkeypatch.chdir(folder / "docs")
    lines = indexed(capsys, ".", "--store", "../s.db")
    assert Counter(statuses(lines).values()) == {"unchanged": 3, "added": 1}
    monkeypatch.chdir(folder)
    assert before.items() < listed().items()
    assert "docs/new.md" in listed()


def test_a_moved_folder_is_read_but_not_embedded(
    folder: Path, capsys: Captured, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(folder, {"p/docs/a.md": PAGE})
    monkeypatch.chdir(folder / "p")
    first = indexed(capsys, "docs", embedder="auto")
    embedder.embedded.clear()
    monkeypatch.chdir(folder)
    (folder / "p").rename(folder / "q")
    monkeypatch.chdir(folder / "q")
    lines = indexed(capsys, "docs", embedder="auto")
    assert lines["docs/a.md"]["document_id"] == first["docs/a.md"]["document_id"]
    assert embedder.embedded == []
    assert statuses(indexed(capsys, "docs", embedder="auto")) == {"docs/a.md": "unchanged"}


def test_other_options_make_other_chunks(folder: Path, capsys: Captured) -> None:
    first = indexed(capsys, "docs")
    lines = indexed(capsys, "docs", "--strategy", "fixed")
    assert set(statuses(lines).values()) == {"changed"}
    assert {name: line["document_id"] for name, line in lines.items()} == {
        name: line["document_id"] for name, line in first.items()
    }
    lines = indexed(capsys, "docs", "--strategy", "fixed", "--meta", "team=hr")
    assert set(statuses(lines).values()) == {"changed"}
    store = open_store("s.db")
    assert {one.source.metadata["extra"]["team"] for one in store.reading("").fetch([9, 10, 11, 12])} <= {"hr"}
    store.close()


def test_tenants_are_kept_apart(folder: Path, capsys: Captured) -> None:
    indexed(capsys, "docs", "--tenant", "acme")
    indexed(capsys, "docs/more.md", "--tenant", "beta")
    assert listed() == {}
    assert sorted(listed("acme")) == ["docs/a.md", "docs/deep/c.txt", "docs/more.md"]
    assert set(listed("acme").values()).isdisjoint(listed("beta").values())
    assert len(found_texts("warsaw", tenant="beta")) == 1
    (folder / "docs/more.md").unlink()
    assert statuses(indexed(capsys, "docs", "--tenant", "acme"))["docs/more.md"] == "deleted"
    assert len(found_texts("warsaw", tenant="beta")) == 1
    store = open_store("s.db")
    (found,) = store.reading("acme").fetch(
        [one.key for one in store.reading("acme").lexical(terms_of_query("Berlin"), Filters(), 5)]
    )
    assert found.record["tenant_id"] == "acme"
    store.close()
    capsys.readouterr()
    assert main(["index", "docs", "--store", "s.db", "--meta", "tenant_id=acme"]) == 2
    assert "--tenant acme" in capsys.readouterr().err


def test_an_id_that_another_document_has_is_refused(folder: Path, capsys: Captured) -> None:
    entry_of = '[[files]]\nglob = "docs/{}"\nmeta = {{document_id = "{}"}}\n'
    other, same = (entry_of.format(*pair) for pair in (("a.md", "other"), ("more.md", "same")))
    files(folder, {"spanwise.toml": other + same})
    assert indexed(capsys, "docs")["docs/more.md"]["document_id"] == "same"
    files(folder, {"spanwise.toml": other.replace("other", "same") + same})
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none"]) == 2  # both at once: an early error
    lines = indexed(capsys, "docs/a.md", code=1)
    assert lines["docs/a.md"]["status"] == "failed"
    assert "more.md" in lines["docs/a.md"]["error"]
    assert sorted(listed().values())[-2:] == ["other", "same"]
    (folder / "docs/more.md").unlink()
    lines = indexed(capsys, "docs")
    assert lines["docs/a.md"]["document_id"] == "other"  # the old document of this file is removed in the same commit
    assert sorted(listed()) == ["docs/a.md", "docs/deep/c.txt"]
    assert listed()["docs/a.md"] == "same"


def test_a_dry_run_reports_and_writes_nothing(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    assert main(["index", "docs", "--store", "s.db", "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "3 new" in output
    assert "4 add" in output
    assert "4 embed" in output
    assert not (folder / "s.db").exists()
    indexed(capsys, "docs", embedder="auto")
    embedder.embedded.clear()
    files(folder, {"docs/a.md": "New first.\n\n" + PAGE, "docs/bad.md": b"\x00\xff"})
    (folder / "docs/more.md").unlink()
    before = (folder / "s.db").read_bytes()
    assert main(["index", "docs", "--store", "s.db", "--dry-run"]) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "documents 0 new 1 changed 1 unchanged 1 removed 1 failed" in output
    assert "chunks 1 add 1 keep 2 move 1 embed 1 delete" in output
    assert (folder / "s.db").read_bytes() == before
    assert embedder.embedded == []
    assert sorted(path.name for path in folder.iterdir()) == ["docs", "s.db"]


@pytest.mark.process
def test_many_processes_write_the_same(folder: Path, capsys: Captured) -> None:
    files(folder, {f"many/{number}.md": f"# N{number}\n\nWords of {number}.\n" for number in range(40)})
    alone = indexed(capsys, "many", "--jobs", "1")
    (folder / "s.db").unlink()
    assert indexed(capsys, "many", "--workers", "2") == alone


def test_nothing_to_index_is_reported(folder: Path, capsys: Captured) -> None:
    (folder / "empty").mkdir()
    for arguments in (["empty"], ["-"]):
        assert main(["index", *arguments, "--store", "s.db"]) == 2
        assert capsys.readouterr().err.startswith("error: ")
    assert main(["index", "nowhere", "--store", "s.db"]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert not (folder / "s.db").exists()
    assert main(["index", "docs"]) == 2
    assert "--store" in capsys.readouterr().err


@pytest.mark.process
def test_the_summary_for_people(folder: Path) -> None:
    code, output = on_terminal("index", "docs", "--store", "s.db", "--embedder", "none", cwd=folder)
    assert code == 0
    assert "3 added" in output
    assert "words alone" in output
    assert "3 documents" in output


def test_progress_moves_while_chunks_are_embedded() -> None:
    now = 100.0
    progress = Stages(silent=False, embedding=True, clock=lambda: now)
    progress.start(4)
    for stage, done in (("read", 2), ("chunk", 20), ("embed", 8), ("write", 10), ("embed", 13)):
        now += 1
        progress.show(IndexEvent(stage, done))
    assert progress.text().split("%")[0].endswith("38")  # 10 written and 5 embedded of about 40
    assert "15 chunks embedded · 3/s · 8 s left · 2/4 read" in progress.text()
    for stage, done in (("read", 4), ("chunk", 30), ("embed", 28), ("write", 30)):
        progress.show(IndexEvent(stage, done))
    assert "100% · 30 chunks embedded · 6/s · 0 s left · 4/4 read" in progress.text()
    assert "embedded" not in Stages(silent=False, embedding=False).text()


def test_embedding_reports_progress_between_calls(tmp_path: Path, embedder: WordEmbedder) -> None:
    texts = "\n\n".join(f"# Part {n}\n\nTrip number {n} is booked in the portal." for n in range(200))
    events: list[IndexEvent] = []
    spanwise.index(spanwise.read_text(texts), tmp_path / "s.db", embedder=embedder, progress=events.append)
    assert [event.done for event in events if event.stage == "embed"] == [64, 128, 192, 200]


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_can_be_indexed(strategy: str, folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    lines = indexed(capsys, "docs", "--strategy", strategy, embedder="auto")
    assert set(statuses(lines).values()) == {"added"}
    assert any("Berlin" in text for text in found_texts("berlin"))
    assert set(statuses(indexed(capsys, "docs", "--strategy", strategy, embedder="auto")).values()) == {"unchanged"}
    listed()


# ── a paragraph more ─────────────────────────────────────────────────────────────────────────────────────────────


def made_text(sections: int, paragraphs: int, chance: random.Random) -> list[str]:
    blocks = []
    for number in range(sections):
        blocks.append(f"## Section {number}")
        blocks += [sentences(chance.randint(30, 90), chance) for _ in range(paragraphs)]
    return blocks


def sentences(count: int, chance: random.Random) -> str:
    return " ".join(f"Word{chance.randint(0, 3_000)} and so on." for _ in range(count // 4))


def inserted(
    blocks: Sequence[str], folder: Path, capsys: Captured, embedder: WordEmbedder, index: int
) -> tuple[int, int]:
    """Index a document, insert a paragraph, and return its number of chunks and how many were embedded again."""
    chance = random.Random(index)
    files(folder, {"one/x.md": "\n\n".join(blocks)})
    indexed(capsys, "one", embedder="auto")
    embedder.embedded.clear()
    files(folder, {"one/x.md": "\n\n".join([*blocks[:index], sentences(60, chance), *blocks[index:]])})
    (line,) = indexed(capsys, "one", embedder="auto").values()
    assert line["status"] == "changed"
    assert line["embedded"] == len(embedder.embedded)
    return line["chunks"], line["embedded"]


@pytest.mark.slow
def test_an_added_paragraph_embeds_at_most_four(folder: Path, capsys: Captured, embedder: WordEmbedder) -> None:
    blocks = made_text(255, 11, random.Random(8))
    for index in (2, 1_000, len(blocks)):
        chunks, embedded = inserted(blocks, folder, capsys, embedder, index)
        assert chunks >= 500
        assert 1 <= embedded <= 4
    listed()


def test_without_headings_only_changed_chunks_are_embedded(
    folder: Path, capsys: Captured, embedder: WordEmbedder
) -> None:
    """Chunks are filled in order, so one paragraph may change those after it, until the cuts coincide again."""
    blocks = [block for block in made_text(60, 11, random.Random(9)) if not block.startswith("#")]
    before = spanwise.chunk(spanwise.read_text("\n\n".join(blocks), document_id="d", title="x"))
    _, embedded = inserted(blocks, folder, capsys, embedder, 200)
    after = spanwise.chunk(spanwise.read(folder / "one/x.md"))
    assert embedded == len({one.content_hash for one in after} - {one.content_hash for one in before})
    assert embedded < len(after)


# ── spanwise store ───────────────────────────────────────────────────────────────────────────────────────────────


def test_status_list_delete_verify(folder: Path, capsys: Captured) -> None:
    indexed(capsys, "docs")
    indexed(capsys, "docs/more.md", "--tenant", "acme")
    ids = listed()

    def output_of(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(["store", *arguments, "--store", "s.db"]) == code
        return capsys.readouterr().out

    assert records(output_of("list", "--json")) == [
        {"document_id": name, "tenant_id": None, "chunks": 2 if path == "docs/a.md" else 1, "file_path": path}
        for path, name in sorted(ids.items(), key=lambda pair: pair[1])
    ]
    assert [line["tenant_id"] for line in records(output_of("list", "--json", "--tenant", "acme"))] == ["acme"]
    assert len(records(output_of("list", "--json", "--all-tenants"))) == 4
    assert output_of("list", "--all-tenants").count("docs/more.md") == 2
    output_of("list", "--all-tenants", "--tenant", "acme", code=2)
    status = orjson.loads(output_of("status", "--json"))
    assert (status["documents"], status["chunks"], status["tenants"], status["model"]) == (4, 5, 2, None)
    assert "documents" in output_of("status")
    assert "all agree" in output_of("verify")
    assert orjson.loads(output_of("verify", "--json"))["findings"] == []
    output_of("delete", ids["docs/more.md"])
    assert sorted(listed()) == ["docs/a.md", "docs/deep/c.txt"]
    assert len(listed("acme")) == 1
    output_of("delete", ids["docs/a.md"], "nobody", code=1)
    assert sorted(listed()) == ["docs/deep/c.txt"]
    assert statuses(indexed(capsys, "docs"))["docs/more.md"] == "added"


def test_wrong_seconds_are_refused(folder: Path, capsys: Captured) -> None:
    for wrong in ("-1", "soon", "nan"):
        with pytest.raises(SystemExit):
            main(["index", "docs", "--store", "s.db", f"--wait={wrong}"])
        assert "number of seconds" in capsys.readouterr().err


def test_metadata_must_be_json(folder: Path) -> None:
    with pytest.raises(OptionError):
        replace(spanwise.read_text("x", document_id="d").metadata, extra={"x": object()})


def test_names_that_are_no_text_or_steer_the_terminal(folder: Path, capsys: Captured) -> None:
    (Path(os.fsdecode(b"docs/bad\xff.md"))).write_text("# Odd\n\nOdd words.\n", encoding="utf-8")
    (folder / "docs" / "red\x1b[31m\n.md").write_text("# Red\n\nRed words.\n", encoding="utf-8")
    lines = indexed(capsys, "docs")
    assert {"docs/bad\\xff.md", "docs/red\x1b[31m\n.md"} <= lines.keys()
    assert main(["store", "list", "--store", "s.db"]) == 0
    listed = capsys.readouterr().out
    assert "\x1b" not in listed
    assert len(listed.splitlines()) == len(lines) + 1
    assert main(["search", "x", "--store", "no\x1b[31m.db"]) == 2
    assert "\x1b" not in capsys.readouterr().err


# ── other settings ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_with_other_settings_is_reported(folder: Path, capsys: Captured) -> None:
    def told(*arguments: str) -> str:
        assert main(["index", "docs", "--store", "s.db", "--embedder", "none", *arguments]) == 0
        return capsys.readouterr().err

    assert "other settings" not in told()
    assert "other settings" not in told()
    assert "3 documents indexed with other settings, or by another version: indexed again" in told(
        "--max-tokens", "300"
    )
    report = spanwise.index("docs", "s.db", embedder=None)
    assert (report.changed, report.other_settings) == (3, 3)
    (folder / "docs/a.md").write_text("# Travel\n\nOther words.\n")
    report = spanwise.index("docs", "s.db", embedder=None)
    assert (report.changed, report.other_settings) == (1, 0)
