"""StoreTests: the contract of every store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import OptionError, StoreError
from spanwise.stores import Store
from spanwise.stores.values import Filters, Model, StoreChange
from spanwise.testing.examples import EXAMPLES
from spanwise.testing.store_documents import MODEL, document, entry, hashed, parent_entry, source, vector_of

ALL: Final = Filters()
WORDS: Final = ("fox", "wolf", "bear", "whale")
TEXT: Final = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
STEP: Final = st.tuples(st.sampled_from("abc"), st.sampled_from(("", "t")), st.lists(TEXT, max_size=5), st.booleans())
FILTERED: Final[dict[str, dict[str, Any]]] = {
    "a": {
        "labels": ["hr", "travel"],
        "space_key": "HR",
        "updated_at": "2026-01-10T23:30:00-02:00",
        "source_type": "pdf",
    },
    "b": {"labels": ["hr"], "space_key": "IT", "updated_at": "2026-01-10", "source_type": "markdown"},
    "c": {"labels": [], "space_key": None, "updated_at": None, "source_type": "markdown", "file_path": "x/[c]/ż.md"},
}


def commit(store: Store, *changes: StoreChange, tenant: str = "", removed: tuple[str, ...] = ()) -> None:
    """Write changes."""
    with store.writing(tenant, MODEL) as writer:
        writer.commit(changes, removed)


def texts(store: Store, *terms: str, tenant: str = "", filters: Filters = ALL, limit: int = 50) -> list[str]:
    """Return the texts that contain any of the terms."""
    with store.reading(tenant) as reader:
        keys = [one.key for one in reader.lexical(terms, filters, limit)]
        return [found.record["normalized_text"] for found in reader.fetch(keys)]


def near(store: Store, text: str, tenant: str = "", filters: Filters = ALL, limit: int = 50) -> list[str]:
    """Return the texts whose vectors are nearest to that of a text."""
    with store.reading(tenant) as reader:
        keys = [key for key, _ in reader.nearest(vector_of(text), filters, limit)]
        return [found.record["normalized_text"] for found in reader.fetch(keys)]


class StoreTests:
    """Tests for a store; a subclass has a fixture `store` that returns a new one, open and empty.

    Where the store can be opened twice, a fixture `another` returns it opened a second time.
    """

    @pytest.fixture
    def store(self) -> Store:
        """Return an open store without documents."""
        raise NotImplementedError("write a fixture `store` that returns yours, open and empty")

    @pytest.fixture
    def another(self, store: Store) -> Store:
        """Return the same store, opened once more."""
        pytest.skip("write a fixture `another` that returns the same store, opened once more")

    # ── what goes in comes out ───────────────────────────────────────────────────────────────────────────────────────

    def test_a_store_without_documents_finds_nothing(self, store: Store) -> None:
        reader = store.reading("")
        assert reader.lexical(["a"], ALL, 10) == []
        assert list(reader.nearest(vector_of("a"), ALL, 10)) == []
        assert reader.cosines(vector_of("a"), [1, 2]) == {}
        assert reader.counts(["a"], [1]) == []
        assert reader.fetch([1]) == [] == reader.fetch_ids(["x"])
        assert reader.links(["x"]) == set()
        assert list(reader.documents()) == []
        assert reader.statistics(["a"])[:2] == (0, 0.0)
        assert store.tenants() == []
        assert store.model() is None
        assert store.verify() == []

    def test_chunks_come_back_whole_and_in_the_order_of_the_keys(self, store: Store) -> None:
        commit(store, document("a", "red fox", "grey wolf", title="Animals", language="en"))
        with store.reading("") as reader:
            fox, wolf = (reader.lexical([word], ALL, 5)[0].key for word in ("fox", "wolf"))
            found = reader.fetch([wolf, 10**9, fox])
            assert [one.record["normalized_text"] for one in found] == ["grey wolf", "red fox"]
            assert [one.position for one in found] == [1, 0]
            assert [one.text_before for one in found] == ["\n\n", ""]
            assert [one.key for one in found] == [wolf, fox]
            assert found[0].document_id == "a"
            assert found[0].source == source("a", title="Animals", language="en")
            same = reader.fetch_ids([one.record["chunk_id"] for one in found])
            assert same == found
            assert reader.fetch_ids(["not there", "ab" * 32]) == []

    def test_terms_are_counted_in_the_tenants_own_chunks(self, store: Store) -> None:
        commit(store, document("a", "fox fox dog", "dog"), document("b", "fox"))
        commit(store, document("c", "fox fox fox"), tenant="other")
        with store.reading("") as reader:
            statistics = reader.statistics(["fox", "dog", "cat"])
            assert statistics.chunks == 3
            assert statistics.average_length == pytest.approx(5 / 3)
            assert {term: statistics.frequencies.get(term, 0) for term in ("fox", "dog", "cat")} == {
                "fox": 2, "dog": 2, "cat": 0,
            }  # fmt: skip
            best = {one.length: dict(one.counts) for one in reader.lexical(["fox", "dog", "cat"], ALL, 10)}
            assert best[3] == {"fox": 2, "dog": 1}
            keys = [one.key for one in reader.lexical(["dog"], ALL, 10)]
            assert sorted(dict(one.counts).get("fox", 0) for one in reader.counts(["fox"], keys)) == [0, 2]
            assert [one.key for one in reader.counts(["fox"], keys[::-1])] == keys[::-1]

    def test_the_most_promising_come_first_and_no_more_than_asked_for(self, store: Store) -> None:
        commit(store, document("a", *(f"common filler{number} more" for number in range(20)), "common rare"))
        assert texts(store, "rare", "common", limit=3)[0] == "common rare"
        assert len(texts(store, "common", limit=3)) == 3
        assert texts(store, "common", limit=0) == []

    def test_words_of_any_script_and_of_operators_are_only_words(self, store: Store) -> None:
        terms = [
            "żółw",
            "東京",
            "препарат",
            "and",
            "or",
            "not",
            "near",
            "a" * 300,
            "1984",
            "🎉",
            "naïve",
            "x*",
            'say"so',
            "-",
        ]
        commit(store, document("a", *terms))
        for word in terms:
            assert texts(store, word) == [word]
        assert sorted(texts(store, *terms)) == sorted(terms)
        assert texts(store, 'a"b', "(", "") == []

    def test_nearest_gives_cosines_the_nearest_first(self, store: Store) -> None:
        commit(store, document("a", "red fox", "grey wolf", "blue whale"))
        with store.reading("") as reader:
            found = reader.nearest(vector_of("grey wolf"), ALL, 2)
            assert len(found) == 2
            assert found[0][1] == pytest.approx(1.0, abs=0.01)
            assert found[0][1] >= found[1][1]
            for key, cosine in found:
                text = reader.fetch([key])[0].record["normalized_text"]
                assert cosine == pytest.approx(float(vector_of("grey wolf") @ vector_of(text)), abs=0.02)
            keys = [key for key, _ in found]
            assert reader.cosines(vector_of("grey wolf"), [*keys, 10**9]) == pytest.approx(dict(found))
            assert list(reader.nearest(vector_of("grey wolf"), ALL, 0)) == []

    def test_chunks_without_a_vector_are_found_by_their_words(self, store: Store) -> None:
        commit(store, document("a", "red fox", vectors=False), document("b", "grey wolf"))
        assert texts(store, "fox") == ["red fox"]
        assert near(store, "red fox") == ["grey wolf"]
        with store.reading("") as reader:
            (fox,) = reader.lexical(["fox"], ALL, 5)
            assert reader.cosines(vector_of("red fox"), [fox.key]) == {}

    def test_parents_are_fetched_but_never_found(self, store: Store) -> None:
        parent = parent_entry("the whole story of the fox", 0, "a")
        child = entry("red fox", 0, name="a", parent=parent.chunk_id)
        commit(store, StoreChange(source("a"), (parent, child)))
        assert texts(store, "fox", "story", "whole") == ["red fox"]
        assert near(store, "the whole story") == ["red fox"]
        (found,) = store.reading("").fetch_ids([parent.chunk_id])
        assert found.record["normalized_text"] == "the whole story of the fox"
        assert store.reading("").statistics([]).chunks == 1
        (known,) = store.reading("").documents()
        assert known.chunks == 2
        assert store.verify() == []

    def test_links_between_documents(self, store: Store) -> None:
        commit(
            store,
            document("a", "one", links=("file:b", "file:nowhere")),
            document("b", "two", links=("file:a", "file:b")),
            document("c", "three", links=("file:a",)),
        )
        reader = store.reading("")
        assert reader.links(["a", "b"]) == {("a", "b"), ("b", "a")}
        assert reader.links(["a", "b", "c", "x"]) == {("a", "b"), ("b", "a"), ("c", "a")}
        assert reader.links([]) == set()

    def test_many_keys_and_terms_at_once(self, store: Store) -> None:
        commit(store, document("a", *(f"same word{number}" for number in range(1_200))))
        with store.reading("") as reader:
            keys = [one.key for one in reader.lexical(["same"], ALL, 5_000)]
            assert len(keys) == len(reader.fetch(keys)) == len(reader.cosines(vector_of("same"), keys)) == 1_200
            terms = [f"word{number}" for number in range(2_500)]
            assert len(reader.statistics(terms).frequencies) == 1_200
            assert all(one.counts for one in reader.counts(terms, keys))
            assert len(reader.fetch_ids([found.record["chunk_id"] for found in reader.fetch(keys)])) == 1_200

    # ── tenants ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def test_no_tenant_sees_anything_of_another(self, store: Store) -> None:
        names = ("", "acme", "acme2", "ACME", "a'b; --")
        for name in names:
            commit(store, document("same", f"fox of {name or 'nobody'}", links=("file:same",)), tenant=name)
        assert store.tenants() == sorted(names)
        everything: dict[str, set[int]] = {}
        for name in names:
            own = f"fox of {name or 'nobody'}"
            assert texts(store, "fox", tenant=name) == [own] == near(store, "fox of nobody", tenant=name)
            with store.reading(name) as reader:
                assert reader.statistics(["fox"]).chunks == 1
                everything[name] = {one.key for one in reader.lexical(["fox"], ALL, 9)}
        for name in names:
            foreign = sorted(key for other, keys in everything.items() if other != name for key in keys)
            with store.reading(name) as reader:
                assert reader.fetch(foreign) == [] == reader.counts(["fox"], foreign)
                assert reader.cosines(vector_of("fox"), foreign) == {}
                assert len(reader.fetch_ids([hashed(f"same:0:fox of {other or 'nobody'}") for other in names])) == 1
        assert texts(store, "fox", tenant="nobody's") == []

    def test_removing_a_document_leaves_that_of_another_tenant(self, store: Store) -> None:
        commit(store, document("same", "fox"), tenant="a")
        commit(store, document("same", "fox"), tenant="b")
        commit(store, tenant="a", removed=("same", "never there"))
        assert (texts(store, "fox", tenant="a"), texts(store, "fox", tenant="b")) == ([], ["fox"])
        assert store.tenants() == ["b"]
        assert store.verify() == []

    def test_keys_of_another_document_can_not_be_touched(self, store: Store) -> None:
        commit(store, document("a", "fox"), document("b", "wolf"))
        with store.writing("", MODEL) as writer:
            (wolf,) = writer.chunks("b")
            writer.commit([StoreChange(source("a"), moved=((wolf.key, entry("stolen")),), deleted=(wolf.key,))])
        assert texts(store, "wolf") == ["wolf"]
        assert store.verify() == []

    # ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            (Filters(), "abc"),
            (Filters(labels=("hr",)), "ab"),
            (Filters(labels=("hr", "travel")), "a"),
            (Filters(labels=("travel", "nothing")), ""),
            (Filters(space="IT"), "b"),
            (Filters(path="docs/*"), "ab"),
            (Filters(path="docs/?.md"), "ab"),
            (Filters(path="x/[c]/*"), "c"),
            (Filters(path="*/ż.md"), "c"),
            (Filters(path="docs/%"), ""),
            (Filters(path="DOCS/*"), ""),
            (Filters(since="2026-01-11"), "a"),  # 01:30 in UTC
            (Filters(until="2026-01-10"), "b"),
            (Filters(since="2026-01-10", until="2026-01-10"), "b"),
            (Filters(since="2026-01-10T00:00:01Z"), "a"),
            (Filters(until="2026-01-11T02:30:00+01:00"), "ab"),
            (Filters(until="2026-01-11T02:29:59+01:00"), "b"),
            (Filters(source_type="markdown"), "bc"),
            (Filters(chunk_type="table"), "abc"),
            (Filters(chunk_type="code"), ""),
            (Filters(source_type="pdf", space="HR", labels=("hr",), chunk_type="table", path="*a*"), "a"),
            (Filters(space="'; DROP TABLE documents; --"), ""),
        ],
    )
    def test_filters_hold_for_words_and_vectors_alike(self, store: Store, filters: Filters, found: str) -> None:
        changes = [document(name, f"fox {name}", **metadata) for name, metadata in FILTERED.items()]
        tables = [
            replace(one, added=(*one.added, entry(f"wolf {one.source.document_id}", 1, kind="table")))
            for one in changes
        ]
        commit(store, *tables)
        wanted = [f"wolf {name}" for name in found]
        assert sorted(texts(store, "wolf", filters=filters)) == wanted
        assert sorted(text for text in near(store, "wolf", filters=filters) if "wolf" in text) == wanted
        if filters.chunk_type == "table":
            assert (
                sorted(texts(store, "fox", "wolf", filters=filters))
                == wanted
                == sorted(near(store, "fox", filters=filters))
            )

    @pytest.mark.parametrize("filters", [Filters(since="yesterday"), Filters(until="2026-13-01"), Filters(since="")])
    def test_a_date_that_is_none_is_refused(self, store: Store, filters: Filters) -> None:
        commit(store, document("a", "fox"))
        for ask in (texts, near):
            with pytest.raises(OptionError):
                ask(store, "fox", filters=filters)

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def test_a_document_changes_chunk_by_chunk(self, store: Store) -> None:
        commit(store, document("a", "one fox", "two wolves", "three whales"))
        with store.writing("", MODEL) as writer:
            one, two, three = writer.chunks("a")
            assert (one.content_hash, one.terms_hash, one.has_vector) == (
                hashed("one fox"),
                hashed("words one fox"),
                True,
            )
            moved = replace(entry("three whales", 2, name="moved"), terms=(), vector=None)
            change = StoreChange(
                source("a", "2", title="New"), (entry("new bear", 1),), ((three.key, moved),), (), (two.key,)
            )
            writer.commit([change])
            assert [stored.key for stored in writer.chunks("a")][::2] == [one.key, three.key]
            assert writer.known()["a"].fingerprint == "2"
        assert texts(store, "wolves") == []
        assert texts(store, "whales") == ["three whales"] == near(store, "three whales", limit=1)
        assert texts(store, "bear") == ["new bear"]
        (found,) = store.reading("").fetch([three.key])
        assert found.record["chunk_id"] == moved.chunk_id
        assert found.source.metadata["title"] == "New"
        assert store.reading("").fetch_ids([entry("three whales", 2, name="a").chunk_id]) == []
        assert store.verify() == []

    def test_metadata_that_change_are_filtered_by_anew(self, store: Store) -> None:
        commit(store, document("a", "fox", labels=["old", "both"], space_key="X"))
        commit(store, StoreChange(source("a", "2", labels=["new", "both"])))
        for label, there in (("old", False), ("new", True), ("both", True)):
            assert bool(texts(store, "fox", filters=Filters(labels=(label,)))) == there
        assert texts(store, "fox", filters=Filters(space="X")) == []

    def test_vectors_are_known_by_what_was_embedded(self, store: Store) -> None:
        commit(store, document("a", "fox", "wolf"), document("b", "bear", vectors=False))
        commit(store, document("c", "whale"), tenant="other")
        with store.writing("", MODEL) as writer:
            found = writer.vectors([hashed(text) for text in ("wolf", "fox", "bear", "whale", "nothing", "fox")])
            assert found == {hashed(text): entry(text).vector for text in ("fox", "wolf")}
            assert writer.vectors([]) == {}
            (bear,) = writer.chunks("b")
            assert not bear.has_vector
            vector = entry("bear").vector
            assert vector is not None
            writer.commit([StoreChange(source("b", "2"), revectored=((bear.key, vector),))])
            assert writer.chunks("b")[0].has_vector
        assert near(store, "bear", limit=1) == ["bear"]
        assert store.verify() == []

    def test_keys_are_never_used_again(self, store: Store) -> None:
        commit(store, document("a", "fox"))
        with store.writing("", MODEL) as writer:
            before = writer.chunks("a")[0].key
            writer.commit([], ["a"])
            writer.commit([document("a", "wolf")])
            assert writer.chunks("a")[0].key > before
        assert texts(store, "fox") == []

    def test_all_of_a_commit_or_nothing(self, store: Store) -> None:
        commit(store, document("a", "fox"))
        short = replace(entry("torn"), vector=b"\x00")
        with store.writing("", MODEL) as writer:
            with pytest.raises(StoreError):
                writer.commit([document("b", "wolf"), StoreChange(source("c"), (short,))], ["a"])
            assert list(writer.known()) == ["a"]
            writer.commit([document("d", "bear")])
        assert (texts(store, "fox"), texts(store, "wolf"), texts(store, "bear")) == (["fox"], [], ["bear"])
        assert store.verify() == []

    def test_another_model_is_refused_while_there_are_vectors(self, store: Store) -> None:
        commit(store, document("a", "fox"))
        assert store.model() == MODEL
        for other in (Model("another", 16), Model(MODEL.name, 8)):
            with pytest.raises(StoreError), store.writing("b", other):
                raise AssertionError("it must not get here")
        with store.writing("", None) as writer:
            writer.commit([document("b", "wolf", vectors=False)], ["a"])
        assert store.model() is None
        with store.writing("", Model("another", 2)) as writer:
            writer.commit([StoreChange(source("c"), (replace(entry("bear"), vector=b"\x7f\x00"),))])
        assert store.model() == Model("another", 2)
        (found,) = store.reading("").nearest(np.array([1.0, 0.0], dtype=np.float32), ALL, 5)
        assert found[1] == pytest.approx(1.0)
        assert store.verify() == []

    def test_a_query_of_another_dimension_is_refused(self, store: Store) -> None:
        commit(store, document("a", "fox"))
        with pytest.raises(StoreError):
            store.reading("").nearest(np.ones(4, dtype=np.float32), ALL, 5)

    def test_commits_are_visible_after_reopening(self, store: Store, another: Store) -> None:
        first, second = store, another
        commit(first, document("a", "fox"))
        assert texts(second, "fox") == ["fox"] == near(second, "fox")
        commit(second, document("b", "grey fox"), document("c", *(f"wolf {number}" for number in range(30))))
        assert sorted(texts(first, "fox")) == ["fox", "grey fox"] == sorted(near(first, "fox", limit=2))
        commit(first, removed=("a",))
        assert texts(second, "fox") == ["grey fox"]
        assert "fox" not in near(second, "fox")

    def test_a_reader_has_a_snapshot_while_others_write(self, store: Store, another: Store) -> None:
        first, writer = store, another
        commit(writer, document("a", "old fox"))
        with first.reading("") as reader:
            (before,) = reader.lexical(["fox"], ALL, 5)
            commit(writer, document("b", "new fox"), removed=("a",))
            assert [one.key for one in reader.lexical(["fox"], ALL, 5)] == [before.key]
            assert reader.fetch([before.key])[0].record["normalized_text"] == "old fox"
            assert [key for key, _ in reader.nearest(vector_of("fox"), ALL, 5)] == [before.key]
            assert reader.statistics(["fox"]).chunks == 1
        assert texts(first, "fox") == ["new fox"] == near(first, "fox")

    def test_a_second_writer_waits_and_is_refused(self, store: Store, another: Store) -> None:
        first, second = store, another
        with (
            first.writing("", MODEL) as writer,
            pytest.raises(StoreError),
            second.writing("", MODEL, wait=0.1),
        ):
            writer.commit([])
        with second.writing("", MODEL, wait=0.1) as writer:
            writer.commit([document("a", "fox")])

    def test_status_counts(self, store: Store) -> None:
        commit(store, document("a", "fox", "wolf"), document("b", "bear", vectors=False))
        commit(store, document("c", "whale"), tenant="other")
        status = store.status()
        wanted = {
            "documents": 3,
            "chunks": 4,
            "tenants": 2,
            "vectors": 3,
            "model": {"name": "of-words", "dimension": 16},
        }
        assert {name: status[name] for name in wanted} == wanted
        assert status["bytes"] > 0
        assert {"kind", "schema", "analyser"} <= status.keys()

    # ── whatever happens, in whatever order ──────────────────────────────────────────────────────────────────────

    def test_a_store_matches_its_last_writes(self, store: Store) -> None:
        """Replace and remove documents at random; the store always matches a dictionary of texts."""

        @EXAMPLES
        @given(st.lists(STEP, max_size=8))
        def hold(steps: list[tuple[str, str, list[str], bool]]) -> None:
            for tenant in store.tenants():
                commit(
                    store, tenant=tenant, removed=tuple(one.document_id for one in store.reading(tenant).documents())
                )
            assert_last_writes(store, steps)

        hold()


def assert_last_writes(store: Store, steps: Sequence[tuple[str, str, list[str], bool]]) -> None:
    """Write documents step by step, and assert that the store holds the last version of each."""
    expected: dict[tuple[str, str], list[str]] = {}
    for name, tenant, contents, vectors in steps:
        with store.writing(tenant, MODEL) as writer:
            old = tuple(one.key for one in writer.chunks(name))
            if contents:
                writer.commit([replace(document(name, *contents, vectors=vectors), deleted=old)])
                expected[tenant, name] = contents
            else:
                writer.commit([], [name])
                expected.pop((tenant, name), None)
    for tenant in ("", "t"):
        own = [text for (owner, _), contents in expected.items() if owner == tenant for text in contents]
        with store.reading(tenant) as reader:
            statistics = reader.statistics(WORDS)
        assert statistics.chunks == len(own)
        for word in WORDS:
            assert statistics.frequencies.get(word, 0) == sum(word in text.split() for text in own)
            assert sorted(texts(store, word, tenant=tenant)) == sorted(text for text in own if word in text.split())
    assert store.verify() == []
