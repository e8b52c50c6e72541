"""The contract of every store, with a factory for each kind, and what only the stores of this package promise."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from servers import database
from spanwise import index, read_text, search
from spanwise.errors import OptionError, StoreError
from spanwise.stores import Store, open_store
from spanwise.stores.filter_rules import selective_terms
from spanwise.stores.plugin_store import PluginStore
from spanwise.stores.values import Filters, Model, StoreChange
from spanwise.testing import MemoryStore, StoreTests
from spanwise.testing.store_documents import EMBEDDER, MODEL, document, entry, source
from spanwise.testing.store_tests import ALL, commit, texts

Opening = Callable[[], Store]


@contextmanager
def in_a_file(folder: Path) -> Iterator[Opening]:
    """Yield a function that opens the same embedded store every time."""
    opened: list[Store] = []

    def opening() -> Store:
        opened.append(open_store(str(folder / "store.db"), create=True))
        return opened[-1]

    yield opening
    for store in opened:
        store.close()


@contextmanager
def on_a_server(_: Path) -> Iterator[Opening]:
    """Yield a function that opens the same store in a new database every time."""
    with database() as address:
        opened: list[Store] = []

        def opening() -> Store:
            opened.append(open_store(address, create=True))
            return opened[-1]

        yield opening
        for store in opened:
            store.close()


KINDS: dict[str, Callable[[Path], AbstractContextManager[Opening]]] = {
    "sqlite": in_a_file,
    "postgresql": on_a_server,
}


EACH_KIND = ["sqlite", pytest.param("postgresql", marks=pytest.mark.server)]


@pytest.fixture(params=EACH_KIND)
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opening]:
    with KINDS[request.param](tmp_path) as opening:
        yield opening


@pytest.fixture
def store(opening: Opening) -> Store:
    return opening()


class TestStores(StoreTests):
    """The embedded store, and PostgreSQL."""

    @pytest.fixture
    def store(self, opening: Opening) -> Store:
        return opening()

    @pytest.fixture
    def another(self, opening: Opening) -> Store:
        return opening()

    def test_a_second_writer_is_told_of_the_first(self, store: Store, another: Store) -> None:
        with (
            store.writing("", MODEL),
            pytest.raises(StoreError, match="is being written by") as caught,
            another.writing("", MODEL, wait=0.1),
        ):
            raise AssertionError("it must not get here")
        assert caught.value.hint

    def test_errors_name_the_model_of_the_store(self, store: Store) -> None:
        commit(store, document("a", "fox"))
        with pytest.raises(StoreError, match="of-words") as caught, store.writing("b", Model("another", 16)):
            raise AssertionError("it must not get here")
        assert caught.value.hint
        with pytest.raises(StoreError, match="16 numbers"):
            store.reading("").nearest(np.ones(4, dtype=np.float32), ALL, 5)
        short = replace(entry("torn"), vector=b"\x00")
        with store.writing("", MODEL) as writer, pytest.raises(StoreError, match="16 numbers"):
            writer.commit([StoreChange(source("c"), (short,))])


class TestMemoryStore(StoreTests):
    """The reference that real stores are compared with."""

    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()

    @pytest.fixture
    def another(self, store: Store) -> Store:
        return store


class TestForeignStore(TestMemoryStore):
    """What is put around the store of a plug-in changes nothing."""

    @pytest.fixture
    def store(self) -> Store:
        return PluginStore(MemoryStore(), "store memory")


# ── texts that no store can hold ─────────────────────────────────────────────────────────────────────────────────

NOT_TEXT = ("a\0b", "a\ud800b")


@pytest.mark.parametrize("wrong", NOT_TEXT)
def test_nul_and_half_a_character_are_refused_before_anything_is_written(store: Store, wrong: str) -> None:
    metadata: list[dict[str, Any]] = [{"labels": ["x", wrong]}]
    metadata += [{name: wrong} for name in ("space_key", "file_path", "source_type")]
    filters: list[dict[str, Any]] = [{"labels": (wrong,)}]
    filters += [{name: wrong} for name in ("space", "path", "since", "until", "source_type", "chunk_type")]
    refused: list[Callable[[], object]] = [
        lambda: store.reading(wrong),
        lambda: commit(store, document("a", "fox"), tenant=wrong),
        lambda: commit(store, document("b", "fox"), document(wrong)),
        *(partial(document, "a", "fox", **one) for one in metadata),
        *(partial(Filters, **one) for one in filters),
    ]
    for ask in refused:
        with pytest.raises(OptionError, match="neither NUL nor half a character"):
            ask()
    assert store.tenants() == []
    assert store.verify() == []


@pytest.mark.parametrize("wrong", NOT_TEXT)
def test_nothing_is_found_under_an_id_that_is_no_text(store: Store, wrong: str) -> None:
    commit(store, document("a", "fox", links=("file:b",)), document("b", "wolf"))
    reader = store.reading("")
    assert reader.fetch_ids([wrong]) == []
    assert reader.links([wrong, "a", "b"]) == {("a", "b")}
    with store.writing("", MODEL) as writer:
        assert writer.chunks(wrong) == []
        writer.commit([], [wrong, "b"])
    assert [known.document_id for known in store.reading("").documents()] == ["a"]


@pytest.mark.parametrize("wrong", NOT_TEXT)
def test_a_search_or_a_run_with_a_text_that_is_none(store: Store, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "linked.md").write_text("A [fox](a%00b.md) and a [wolf](wolf.md).", encoding="utf-8")
    (tmp_path / "wolf.md").write_text('---\naliases: ["a\\0b"]\n---\nA grey wolf.', encoding="utf-8")
    (tmp_path / "labelled.md").write_text('---\ntags: ["a\\0b"]\n---\nA whale.', encoding="utf-8")
    report = index(tmp_path, store, embedder=EMBEDDER)
    assert (report.added, report.failed) == (2, 1)
    assert {Path(hit.file_path or "").name for hit in search(f"wolf {wrong}", store, embedder=EMBEDDER)} == {
        "linked.md", "wolf.md",
    }  # fmt: skip
    refused: tuple[Callable[[], object], ...] = (
        lambda: search("wolf", store, wrong),
        lambda: search("wolf", store, labels=[wrong]),
        lambda: search("wolf", store, space=wrong),
        lambda: index(read_text("A bear."), store, tenant=wrong),
        lambda: index(read_text("A bear.", labels=["a\ud800b"]), store),
        lambda: index(read_text("A bear.", extra={"key": "a\ud800b"}), store),
    )
    for ask in refused:
        with pytest.raises(OptionError):
            ask()
    assert len(list(store.reading("").documents())) == 2


def test_names_that_are_too_long_for_an_index_are_refused(store: Store) -> None:
    names = random.Random(1).sample(range(0x4E00, 0x9FFF), 2_000)  # which no compression makes shorter
    long = "".join(map(chr, names))
    commit(store, document(long[:682], "fox"), tenant=long[:170])
    assert texts(store, "fox", tenant=long[:170]) == ["fox"]
    with pytest.raises(OptionError, match="at most 2,048 bytes"):
        commit(store, document(long[:683], "fox"))
    with pytest.raises(OptionError, match="at most 512 bytes"):
        store.reading(long[:171])
    assert store.verify() == []


def test_frequent_terms_are_skipped_unless_alone() -> None:
    assert selective_terms({"the": 90_000, "fox": 12, "wolf": 300}, 100_000) == ["fox", "wolf"]
    assert selective_terms({"the": 90, "fox": 12}, 100) == ["fox", "the"]  # few chunks are cheap
    assert selective_terms({"the": 90_000, "and": 80_000, "or": 70_000, "of": 95_000}, 100_000) == ["or"]
    assert selective_terms({"the": 4_000, "and": 3_000}, 5_000) == ["and", "the"]
    many = {f"w{number}": 90_000 - number for number in range(5)}
    assert selective_terms(many, 1_000_000) == ["w4"]  # the cost of a query is limited
    assert selective_terms({"fox": 12, "day": 9_000, "way": 9_500, "man": 9_900}, 100_000) == ["fox", "day"]
    assert selective_terms({"gone": 0}, 100_000) == [] == selective_terms({}, 0)
