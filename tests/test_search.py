"""Search: results, their order and explanation; tenants; and queries of every kind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanwise
from conftest import DEMO
from searching import TableEmbedder, note, stored
from spanwise import OptionError, StoreError, Weights
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.retrieval import search as search_module
from spanwise.retrieval.hits import PARTS
from spanwise.retrieval.query import MOST_CHARACTERS, MOST_WORDS, Query, Word, bm25_parts, prepared
from spanwise.stores import Store, open_store
from spanwise.stores.values import Candidate, Statistics
from spanwise.testing.memory_store import MemoryStore

DOCUMENTS = (
    (
        "travel",
        "# Travel\n\nTrips are booked in the portal. Keep every receipt.\n\n## Taxi\n\nA taxi is paid at night.",
    ),
    ("safety", "# Safety\n\nWear a helmet near the portal crane."),
    ("kitchen", "# Kitchen\n\nThe machine stands in the kitchen.\n\n## Cleaning\n\nClean it every evening."),
)


def notes(**more: Any) -> list[Document]:
    return [note(text, name, **more.get(name, {})) for name, text in DOCUMENTS]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Yield an empty store of each kind: all must return the same."""
    kept: Store = MemoryStore() if request.param == "memory" else open_store(str(tmp_path / "store.db"), create=True)
    yield kept
    kept.close()


def names(hits: Any) -> list[str]:
    return [hit.document_id for hit in hits]


def test_a_hit_has_its_location_and_explanation(store: Any) -> None:
    stored(notes(travel={"source_url": "https://a.example/travel", "labels": ["hr"]}), store=store)
    hit = spanwise.search("receipt", store)[0]
    document = notes()[0]
    assert hit.document_id == "travel"
    assert hit.normalized_text == document.text[hit.char_start : hit.char_end]
    assert hit.verbatim
    assert [hit.normalized_text[start:end] for start, end in hit.marks] == ["receipt"]
    assert hit.headings_path == ("Travel",)
    assert hit.url is not None
    assert hit.url.startswith("https://a.example/travel#:~:text=")
    assert hit.explain.words == 1
    assert hit.explain.matched is not None
    assert set(hit.explain.matched) == {"receipt"}
    given = hit.to_dict()
    wanted = {"document_id", "chunk_ids", "score", "normalized_text", "headings_path", "page_start", "char_start"}
    assert given.keys() >= wanted | {"char_end", "url", "explain", "full_text", "embedding_text"}


def test_parts_add_up_to_the_score(store: Any) -> None:
    stored(notes(safety={"labels": ["receipt"]}), store=store, links={"safety": ["travel"]})
    for hit in spanwise.search("travel receipt portal", store):
        parts = hit.explain.to_dict()
        assert math.isclose(sum(parts[name] for name in PARTS), hit.score, abs_tol=1e-5)


def test_bm25_is_the_textbook_one() -> None:
    weight = math.log(1 + (10 - 2 + 0.5) / (2 + 0.5))
    query = Query("x", (Word("x", ("x", "xs"), weight),), 10, 20.0)
    parts = bm25_parts(query, Candidate(1, 30, {"x": 2, "xs": 1}))
    assert parts == {"x": pytest.approx(weight * 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 30 / 20)))}


def test_inflections_count_as_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    from spanwise.retrieval import query as query_module
    from spanwise.text.terms import QueryWord

    class Reader:
        def statistics(self, terms: Any) -> Statistics:
            return Statistics(100, 10.0, {"run": 30, "ran": 80, "rare": 1})

    monkeypatch.setattr(
        query_module, "query_words", lambda _: [QueryWord("run", ("run", "ran")), QueryWord("rare", ("rare",))]
    )
    query = prepared("run rare", Reader())  # type: ignore[arg-type]
    assert [word.weight for word in query.words] == pytest.approx([math.log1p(0.5 / 100.5), math.log1p(99.5 / 1.5)])
    assert [word.text for word in query.distinctive] == ["rare"]


def test_stop_words_count_a_quarter() -> None:
    reader = stored(notes()).reading("")
    with_the, without = (prepared(query, reader).words for query in ("the", "wear"))
    assert with_the[0].weight < without[0].weight
    assert spanwise.search("the", stored(notes()))  # they still count


@pytest.mark.parametrize(
    ("part", "query"),
    [("headings", "taxi"), ("title", "travel"), ("labels", "receipt"), ("links_in", "portal"), ("links_out", "portal")],
)
def test_every_boost_counts_by_its_weight(part: str, query: str, store: Any) -> None:
    documents = notes(safety={"labels": ["receipt", "portal"]}, travel={"title": "Travel portal"})
    stored(documents, store=store, links={"safety": ["travel"]})
    plain = dict.fromkeys(Weights.__dataclass_fields__, 0.0)
    without = {hit.chunk_ids: hit for hit in spanwise.search(query + " portal", store, weights=plain)}
    lifted = {hit.chunk_ids: hit for hit in spanwise.search(query + " portal", store, weights={**plain, part: 0.5})}
    assert without.keys() == lifted.keys()
    gains = {ids: lifted[ids].score - without[ids].score for ids in without}
    assert max(gains.values()) > 0
    assert all(gain == pytest.approx(getattr(lifted[ids].explain, part)) for ids, gain in gains.items())
    assert all(-1e-9 <= gain <= 0.5 + 1e-9 for gain in gains.values())


def test_links_lift_those_that_are_linked_and_those_that_link_apart(store: Any) -> None:
    stored(notes(), store=store, links={"safety": ["travel"]})
    hits = {hit.document_id: hit.explain for hit in spanwise.search("portal", store)}
    assert (hits["travel"].links_in > 0, hits["travel"].links_out > 0) == (True, False)
    assert (hits["safety"].links_in > 0, hits["safety"].links_out > 0) == (False, True)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"titel": 1}, "did you mean `title`?"),
        ({"title": -1}, "between 0 and 10"),
        ({"title": "1"}, "must be a number"),
        ({"title": True}, "must be a number"),
        ({"title": math.nan}, "between 0 and 10"),
        ([1], "must be a table"),
    ],
)
def test_invalid_weights_are_refused(weights: Any, words: str) -> None:
    with pytest.raises(OptionError) as refused:
        spanwise.search("x", MemoryStore(), weights=weights)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"limits": 3}, "did you mean `limit`?"),
        ({"limit": 0}, "between 1 and 1000"),
        ({"limit": 1.5}, "between 1 and 1000"),
        ({"limit": True}, "between 1 and 1000"),
        ({"budget": 3}, "at least 16"),
        ({"type": "tables"}, "did you mean `table`?"),
        ({"type": "qqq"}, "known: "),
        ({"since": "yesterday"}, "try 2026-01-31"),
        ({"labels": "hr"}, "must be a list"),
        ({"labels": [1]}, "must be a string"),
        ({"space": 3}, "must be a string"),
    ],
)
def test_invalid_options_are_refused(wish: Any, words: str) -> None:
    with pytest.raises(OptionError) as refused:
        spanwise.search("x", MemoryStore(), **wish)
    assert words in str(refused.value)


@pytest.mark.parametrize(("query", "tenant"), [(None, None), (b"x", None), ("x", 3)])
def test_non_queries_are_refused(query: Any, tenant: Any) -> None:
    with pytest.raises(OptionError):
        spanwise.search(query, MemoryStore(), tenant)


def test_tenants_see_their_own_documents_only(store: Any) -> None:
    stored([note("Our secret zebra.", "ours")], store=store, tenant="acme")
    stored([note("Their secret zebra.", "theirs")], store=store, tenant="other")
    stored([note("Everybody's zebra.", "public")], store=store)
    assert names(spanwise.search("zebra", store)) == ["public"]
    assert names(spanwise.search("zebra", store, "acme")) == ["ours"]
    assert names(spanwise.search("zebra", store, tenant="other")) == ["theirs"]
    assert names(spanwise.search("zebra", store, "nobody")) == []
    assert names(spanwise.search("zebra", store, "*")) == []
    assert "acme" not in str(spanwise.search("zebra", store, "nobody").notes)


def test_a_tenants_scores_do_not_depend_on_others(store: Any) -> None:
    stored(notes(), store=store)
    before = [hit.to_dict() for hit in spanwise.search("portal receipt", store)]
    stored([note("portal " * 50, "more")], store=store, tenant="other")
    assert [hit.to_dict() for hit in spanwise.search("portal receipt", store)] == before


def test_filters(store: Any) -> None:
    about = {
        "travel": {
            "labels": ["hr", "money"],
            "space_key": "HR",
            "file_path": "hr/travel.md",
            "updated_at": "2026-01-10",
        },
        "safety": {"labels": ["hr"], "space_key": "ENG", "file_path": "eng/safety.md", "updated_at": "2026-03-01"},
    }
    documents = notes(**about)
    stored([*documents, note("| portal | x |\n|---|---|\n| a | b |", "table", source_type="html")], store=store)

    def found(**options: Any) -> set[str]:
        return set(names(spanwise.search("portal", store, **options)))

    assert found() == {"travel", "safety", "table"}
    assert found(labels=["hr"]) == {"travel", "safety"}
    assert found(labels=["hr", "money"]) == {"travel"}
    assert found(space="ENG") == {"safety"}
    assert found(path="hr/*") == {"travel"}
    assert found(since="2026-01-10") == {"travel", "safety"}
    assert found(since="2026-02-01") == {"safety"}
    assert found(until="2026-01-10") == {"travel"}
    assert found(type="table") == {"table"}
    assert found(type="html") == {"table"}
    assert found(type="pdf") == set()
    assert spanwise.search("portal", store, type="pdf").notes == ("nothing that passes the filters has these words",)


QUESTIONS = (
    "", " ", "\n\t", "?!.,;:", "the of and", '"portal"', 'portal" OR "x', "NEAR(portal receipt, 3)", "portal*",
    "* OR *", "title:portal", "-portal", "portal AND NOT receipt", "(((", "🚀", "👩 portal", "por\x00tal",
    "portal \ud800", "\udfff", "'; DROP TABLE chunks; --", "%", "_", "\\", "$1", "portal{1,99999}", "数据 portal",
    "a" * 100_000, "portal " * 15_000, "é" * 50_000, "中" * 40_000, "\u0301" * 1000, "\u202e portal",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda query: repr(query[:24]))
def test_any_text_is_a_query(question: str, store: Any) -> None:
    stored(notes(), store=store)
    hits = spanwise.search(question, store)
    assert all(hit.score > 0 for hit in hits)
    assert hits or hits.notes
    if "portal" in question.split():
        assert "travel" in names(hits)


def test_long_queries_are_bounded(store: Any) -> None:
    many = [f"word{number}" for number in range(400)]
    stored([note(" ".join(many), "all"), *(note(" ".join(many[:300]), f"n{i}") for i in range(4))], store=store)
    asked: list[int] = []

    class Counting:
        def __init__(self, reader: Any) -> None:
            self.reader = reader

        def __enter__(self) -> Any:
            self.reader.__enter__()
            return self

        def __exit__(self, *error: Any) -> None:
            self.reader.__exit__(*error)

        def lexical(self, terms: Any, *rest: Any) -> Any:
            asked.append(len(terms))
            return self.reader.lexical(terms, *rest)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.reader, name)

    reader = Counting(store.reading(""))
    with reader:
        query = prepared(" ".join(reversed(many)) + " never" * 30_000, reader)
    assert len(query.text) <= MOST_CHARACTERS
    assert len(query.words) == MOST_WORDS
    assert {word.text for word in query.words} <= set(many[300:])  # the rarest


def test_nothing_found_is_explained(store: Any) -> None:
    assert spanwise.search("portal", store).notes == ("there are no documents here",)
    assert spanwise.search("portal", store, "acme").notes == ("there are no documents here for the tenant acme",)
    stored(notes(), store=store)
    assert spanwise.search("zebra", store).notes == ("none of these words stands in the documents",)
    assert spanwise.search("?", store).notes == ("the question has no words to look for",)


def test_a_missing_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        spanwise.search("x", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("no store at all, but long enough to look like one " * 40)
    with pytest.raises(SpanwiseError):
        spanwise.search("x", str(tmp_path / "text.db"))


def test_hits_are_values(store: Any) -> None:
    stored(notes(), store=store)
    hits = spanwise.search("portal", store)
    assert isinstance(hits, tuple)
    with pytest.raises(AttributeError):
        hits[0].score = 3.0  # type: ignore[misc]
    assert hits == spanwise.search("portal", store)


def vector(*numbers: float) -> Any:
    made = np.array(numbers, np.float32)
    return made / np.linalg.norm(made)


class Meaning(TableEmbedder):
    """An embedder for which a query about helmets is close to safety."""

    def __init__(self, name: str = "meaning", dimension: int = 4) -> None:
        super().__init__({}, vector(1, *[0] * (dimension - 1)), name)

    def embed(self, texts: Any) -> Any:
        return np.stack([vector(1, 0, 0, 0.1) if "helmet" in text else vector(0, 1, 0, 0) for text in texts])


def test_a_model_finds_what_no_word_does(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(notes(), store=store, embedder=Meaning())
    monkeypatch.setattr(search_module, "embedder_of", lambda name: Meaning() if name == "meaning" else name)
    hits = spanwise.search("Kopfschutz", store)
    assert names(hits)[:1] == ["safety"]
    assert hits[0].explain.cosine == pytest.approx(1, abs=0.02)
    assert spanwise.search("Kopfschutz", store, embedder=None) == ()
    assert names(spanwise.search("Kopfschutz", store, embedder=Meaning()))[:1] == ["safety"]


def test_another_model_is_refused(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(notes(), store=store, embedder=Meaning())
    monkeypatch.setattr(search_module, "embedder_of", lambda chosen: chosen)
    with pytest.raises(OptionError, match="must be the model whose vectors the store holds"):
        spanwise.search("x", store, embedder=Meaning("other"))
    with pytest.raises(OptionError, match="must be the model"):
        spanwise.search("x", store, embedder=Meaning("meaning", 5))


def test_without_its_model_search_uses_terms(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(notes(), store=store, embedder=Meaning())

    def missing(name: Any) -> Any:
        raise spanwise.MissingExtraError(str(name), "is not installed", hint="pip install it")

    monkeypatch.setattr(search_module, "embedder_of", missing)
    hits = spanwise.search("portal", store)
    assert names(hits) == names(spanwise.search("portal", store, embedder=None))
    assert len(hits.notes) == 1
    assert "words alone" in hits.notes[0]
    assert "pip install it" in hits.notes[0]
    with pytest.raises(spanwise.MissingExtraError):
        spanwise.search("portal", store, embedder="another")


def test_with_a_dead_endpoint_search_uses_terms(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Down(Meaning):
        def embed_query(self, text: str) -> Any:
            raise SpanwiseError("http://127.0.0.1:1", "does not answer")

    stored(notes(), store=store, embedder=Meaning())
    monkeypatch.setattr(search_module, "embedder_of", lambda _: Down())
    hits = spanwise.search("portal", store)
    assert set(names(hits)) == {"travel", "safety"}
    assert "does not answer" in hits.notes[0]


def test_all_stores_agree(tmp_path: Path) -> None:
    documents = [spanwise.read(path, document_id=path.stem) for path in sorted(DEMO.glob("*.md"))]
    kept = open_store(str(tmp_path / "s.db"), create=True)
    in_memory, in_file = (stored(documents, store=one, max_tokens=120) for one in (MemoryStore(), kept))
    for question in (
        "who approves a trip?",
        "Prüfung von Palettenregalen",
        "хранение архивов",
        "权限申请",
        "numer seryjny",
    ):
        first, second = (
            [hit.to_dict() for hit in spanwise.search(question, one, limit=10)] for one in (in_memory, in_file)
        )
        assert first == second
        assert first
    kept.close()
