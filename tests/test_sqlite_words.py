"""Full text of the embedded store: postings in segments, compared with a plain count of the same chunks."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from damaging import executed
from spanwise.retrieval.query import Query, Word, bm25
from spanwise.stores import Store, StoreReader, open_store
from spanwise.stores.sqlite import pool, postings, reader, segments, tables
from spanwise.stores.values import Candidate, Filters, StoreChange
from spanwise.testing.store_documents import MODEL, document, entry, source, vector_of

ALL = Filters()
WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(str(tmp_path / "x.db"), create=True)) as opened:
        yield opened


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make segments and pages so small that a store of some hundred chunks has many."""
    monkeypatch.setattr(postings, "LARGEST", 64)
    monkeypatch.setattr(postings, "_PAGE", 16)
    monkeypatch.setattr(segments, "_AT_ONCE", 20)


def sentence(chance: random.Random) -> str:
    """Return words of which the first are frequent and the last are rare."""
    return " ".join(WORDS[min(int(chance.expovariate(0.15)), len(WORDS) - 1)] for _ in range(chance.randint(1, 30)))


def exact(found: StoreReader, texts: dict[str, str], terms: list[str], limit: int) -> list[float]:
    """Return the best scores of BM25 over all chunks, whose terms are counted one by one."""
    statistics = found.statistics(terms)
    words = tuple(Word(term, (term,), reader._weight(statistics.frequencies[term], statistics.chunks))
                  for term in terms if term in statistics.frequencies)  # fmt: skip
    query = Query("", words, statistics.chunks, statistics.average_length)
    counted = (Counter(text.split()) for text in texts.values())
    candidates = [
        Candidate(number, sum(one.values()), {term: one[term] for term in terms if one[term]})
        for number, one in enumerate(counted)
    ]
    assert statistics.chunks == len(candidates)
    return sorted((score for score in bm25(query, candidates).values() if score), reverse=True)[:limit]


def scores(found: StoreReader, terms: list[str], limit: int, filters: Filters = ALL) -> list[float]:
    statistics = found.statistics(terms)
    words = tuple(Word(term, (term,), reader._weight(count, statistics.chunks))
                  for term, count in statistics.frequencies.items())  # fmt: skip
    query = Query("", words, statistics.chunks, statistics.average_length)
    candidates = found.lexical(terms, filters, limit)
    given = bm25(query, candidates)
    return [given[one.key] for one in candidates]


def states(path: str) -> list[tuple[int, int]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT living, size FROM segments ORDER BY last").fetchall()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(3))
def test_the_best_chunks_are_those_of_a_plain_count_after_every_change(seed: int, store: Store) -> None:
    chance = random.Random(seed)
    texts: dict[str, str] = {}
    with store.writing("", MODEL) as writer:
        for _ in range(25):
            removed = chance.sample(sorted({name.split("/")[0] for name in texts}), k=min(len(texts) // 40, 3))
            name = f"d{chance.randrange(12)}"
            removed = [one for one in removed if one != name]
            old = tuple(one.key for one in writer.chunks(name))
            new = [sentence(chance) for _ in range(chance.randint(1, 40))]
            writer.commit([replace(document(name, *new), deleted=old)], removed)
            gone = {name, *removed}
            texts = {key: text for key, text in texts.items() if key.split("/")[0] not in gone}
            texts |= {f"{name}/{number}": text for number, text in enumerate(new)}
            with store.reading("") as found:
                terms = chance.sample(WORDS, 5)
                assert scores(found, terms, 20) == pytest.approx(exact(found, texts, terms, 20))
    assert store.verify() == []
    where = str(store.status()["where"])
    assert len(states(where)) <= 12
    assert all(living * 2 >= size and size <= 64 for living, size in states(where))


@pytest.mark.usefixtures("small")
def test_a_tenant_has_segments_of_its_own(store: Store) -> None:
    for tenant in ("one", "two", "one", "two"):
        with store.writing(tenant, MODEL) as writer:
            writer.commit([document(f"d{number}", f"fox of {tenant}") for number in range(30)])  # twice
    for tenant, other in (("one", "two"), ("two", "one")):
        with store.reading(tenant) as found:
            records = found.fetch([one.key for one in found.lexical(["fox", other], ALL, 100)])
            assert {one.record["normalized_text"] for one in records} == {f"fox of {tenant}"}
            assert len(records) == 60
    assert store.verify() == []


def test_filters_are_applied_before_the_best_are_chosen(store: Store) -> None:
    with store.writing("", MODEL) as writer:
        writer.commit([document("many", *(["fox"] * 3_000))])
        rare = entry("fox among many other words", 0, name="rare", kind="table")
        writer.commit([StoreChange(source("rare", labels=["rare"]), (rare,))])
    with store.reading("") as found:
        assert len(found.lexical(["fox"], ALL, 50)) == 50
        for filters in (Filters(labels=("rare",)), Filters(path="docs/rare*"), Filters(chunk_type="table")):
            (only,) = found.lexical(["fox"], filters, 5)
            assert (only.length, only.counts) == (5, {"fox": 1})
            ((key, _),) = found.nearest(vector_of("fox"), filters, 5)
            assert key == only.key


def test_terms_that_cost_too_much_are_left_out_but_never_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writing("", MODEL) as writer:
        writer.commit([document("a", *(["the fox"] * 30), "the wolf", "the bear")])
    monkeypatch.setattr(reader, "_POSTINGS", 3)
    monkeypatch.setattr(reader, "_POSTINGS_SHARE", 0.0)
    with store.reading("") as found:
        assert [one.counts for one in found.lexical(["the", "wolf"], ALL, 9)] == [{"the": 1, "wolf": 1}]
        assert len(found.lexical(["the"], ALL, 99)) == 32


def test_a_word_may_stand_in_a_chunk_more_often_than_a_byte_counts(store: Store) -> None:
    with store.writing("", MODEL) as writer:
        writer.commit([document("a", " ".join(["fox"] * 700), "fox wolf")])
    with store.reading("") as found:
        assert [one.counts for one in found.lexical(["fox"], ALL, 9)] == [{"fox": 700}, {"fox": 1}]
    assert store.verify() == []


@pytest.mark.usefixtures("small")
def test_readers_see_whole_states_while_segments_are_merged(store: Store) -> None:
    """A document of ten equal chunks is replaced again and again: a reader always sees ten of one version."""
    over = threading.Event()
    seen: list[str] = []
    with store.writing("", MODEL) as writer:
        writer.commit([document("a", *["fox version0"] * 10)])

        def read() -> None:
            while not over.is_set():
                with store.reading("") as found:
                    chunks = found.fetch([one.key for one in found.lexical(["fox"], ALL, 50)])
                    if len(chunks) != 10 or len({one.record["normalized_text"] for one in chunks}) != 1:
                        seen.append(f"{len(chunks)} chunks")

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for version in range(1, 30):
            old = tuple(one.key for one in writer.chunks("a"))
            more = document(f"d{version}", *(["wolf"] * 15))
            writer.commit([replace(document("a", *[f"fox version{version}"] * 10), deleted=old), more])
        over.set()
        for thread in threads:
            thread.join()
    assert seen == []
    assert store.verify() == []


def test_tenants_that_were_asked_for_long_ago_are_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for tenant in ("one", "two", "three"):
        with store.writing(tenant, MODEL) as writer:
            writer.commit([document(tenant, "fox", "wolf")])
    monkeypatch.setattr(pool, "MOST_BYTES", 220)
    caches = store._caches  # type: ignore[attr-defined]
    for tenant in ("one", "two", "one", "three", "three"):
        assert len(store.reading(tenant).lexical(["fox"], ALL, 5)) == 1
        assert len(store.reading(tenant).nearest(vector_of("fox"), ALL, 5)) == 2
    assert list(caches.words._by_tenant) == [1, 3]
    assert list(caches.matrices._by_tenant) == [3]


# ── stores of version 2 ──────────────────────────────────────────────────────────────────────────────────────────


def made_older(path: str) -> None:
    """Turn a store into one of version 2, which had the full text of SQLite."""
    executed(
        Path(path),
        "DROP TABLE segments",
        "DROP TABLE postings",
        "CREATE VIRTUAL TABLE words USING fts5 (numbers, content='', tokenize='ascii')",
        "CREATE VIRTUAL TABLE known_words USING fts5vocab (words, row)",
        "DELETE FROM sqlite_sequence WHERE name = 'segments'",
        "PRAGMA user_version = 2",
    )
    with closing(sqlite3.connect(path)) as connection:
        tables.seal_schema(connection)
        connection.commit()


def test_a_store_of_version_2_is_read_and_brought_up_to_date(store: Store) -> None:
    chance = random.Random(5)
    for tenant in ("", "acme"):
        with store.writing(tenant, MODEL) as writer:
            writer.commit([document(f"d{number}", *(sentence(chance) for _ in range(9))) for number in range(20)])
    where = str(store.status()["where"])
    queries = [chance.sample(WORDS, 4) for _ in range(10)]

    def answers(opened: Store) -> list[object]:
        with opened.reading("") as one, opened.reading("acme") as other:
            return [each.lexical(terms, ALL, 30) for each in (one, other) for terms in queries]

    before = answers(store)
    store.close()
    made_older(where)
    content = Path(where).read_bytes()
    with closing(open_store(where)) as older:
        assert (older.status()["schema"], older.verify(), answers(older)) == (2, [], before)
        assert Path(where).read_bytes() == content
        with closing(open_store(where, create=True)) as newer:
            assert (newer.status()["schema"], newer.verify(), answers(newer)) == (tables.VERSION, [], before)
        assert answers(older) == before, "a reader that was there before"
        with closing(open_store(where, create=True)) as newer, newer.writing("", MODEL) as writer:
            writer.commit([document("new", "unheard")])
        assert len(older.reading("").lexical(["unheard"], ALL, 5)) == 1
