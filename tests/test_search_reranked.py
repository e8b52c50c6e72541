"""Search in the order of a reranker: passages, sentences and explanations, and what happens when it fails."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import spanwise
from command import files
from fake_endpoint import drip_body, raw, serving, status
from rerankers import ByFunction, Returning, answering_as, cross_encoder
from searching import note, stored
from servers import database
from spanwise.cli import main
from spanwise.retrieval.hits import Hits
from spanwise.stores import open_store

QUESTION = "where does the zebra sleep?"
NOTES = {
    "first": "# Zebra\n\nThe zebra and the zebra house: the zebra sleeps, a zebra sleeps.\n",
    "second": "# Animals\n\n## Nights\n\nAt night the [zebra](http://zoo.example/z) goes to the northern **house**.\n",
    "third": "# Gate\n\nTickets for the zebra are sold at the gate.\n",
    "fourth": "# Keeper\n\nThe keeper can sleep in the evening.\n",
}
KEY = "rr-very-secret"


def zoo(store: Any = None) -> Any:
    documents = [note(text, name, title="Zoo" if name == "second" else None) for name, text in NOTES.items()]
    return stored(documents, store=store)


def names(hits: Any) -> list[str]:
    return [hit.document_id for hit in hits]


def northern(text: str) -> float:
    """Prefer one text, then the shorter."""
    return 3.5 if "northern" in text else -len(text) / 100


@pytest.fixture(scope="module", params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a store with the notes; these tests only read it."""
    if request.param == "memory":
        yield zoo()
    elif request.param == "sqlite":
        path = str(tmp_path_factory.mktemp("zoo") / "zoo.db")
        with closing(open_store(path, create=True)) as opened:
            yield zoo(opened)
    else:
        with database() as address, closing(open_store(address, create=True)) as opened:
            yield zoo(opened)


def test_the_reranker_decides_the_order(store: Any) -> None:
    before = spanwise.search(QUESTION, store)
    assert names(before)[0] == "first"
    reranker = ByFunction(northern)
    hits = spanwise.search(QUESTION, store, reranker=reranker)
    (asked,) = reranker.asked
    assert asked[0] == QUESTION
    assert asked[1][names(before).index("second")] == (
        "Zoo > Animals > Nights\nAt night the zebra goes to the northern house."
    )
    expected = sorted(range(len(before)), key=lambda number: -northern(asked[1][number]))
    assert names(hits) == [names(before)[number] for number in expected]
    assert names(hits)[0] == "second"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hits[0].score, hits[-1].score] == pytest.approx([1.0, 0.1])
    assert hits.notes == ()


def test_it_is_explained(store: Any) -> None:
    before = {hit.document_id: hit for hit in spanwise.search(QUESTION, store)}
    ranks = {name: rank for rank, name in enumerate(before, 1)}
    for rank, hit in enumerate(spanwise.search(QUESTION, store, reranker=ByFunction(northern)), 1):
        given = hit.explain.reranker
        assert given is not None
        assert (given.name, given.rank, given.rank_before) == ("by-function", rank, ranks[hit.document_id])
        assert hit.score == given.points == hit.explain.score
        assert hit.explain.sum == pytest.approx(before[hit.document_id].score)
        assert json.loads(json.dumps(hit.to_dict()))["explain"]["reranker"] == given.to_dict()
    assert all(hit.to_dict()["explain"]["reranker"] is None for hit in before.values())


def test_equal_scores_leave_the_order(store: Any) -> None:
    hits = spanwise.search(QUESTION, store, reranker=ByFunction(lambda text: -7.0))
    assert names(hits) == names(spanwise.search(QUESTION, store))
    assert [hit.score for hit in hits] == pytest.approx([1.0] * 4)


def test_only_the_best_are_read_and_the_others_follow(store: Any) -> None:
    before = spanwise.search(QUESTION, store)
    reranker = ByFunction(lambda text: -float(len(reranker.asked) or 1) if "house:" in text else 5.0)
    hits = spanwise.search(QUESTION, store, reranker=reranker, reranker_chunks=2)
    assert len(reranker.asked[0][1]) == 2
    assert names(hits) == [names(before)[1], names(before)[0], *names(before)[2:]]
    assert [hit.explain.reranker.score is None for hit in hits if hit.explain.reranker] == [False, False, True, True]
    assert hits[2].score < hits[1].score == pytest.approx(0.1)


def test_sentences_follow_the_passage(store: Any) -> None:
    """A sentence takes its share of the score of the passage from the reranker."""
    plain = spanwise.search(QUESTION, store, unit="sentence")
    hits = spanwise.search(QUESTION, store, unit="sentence", reranker=ByFunction(northern))
    shares = {hit.document_id: hit.explain.sentence for hit in hits}
    assert shares["second"] is not None
    assert shares["second"].passage == pytest.approx(0.3)
    for hit in hits:
        assert hit.explain.sentence is not None
        assert hit.explain.reranker is not None
        assert hit.explain.sentence.passage == pytest.approx(0.3 * hit.explain.reranker.points)
    words = {hit.document_id: hit.explain.sentence.words for hit in plain if hit.explain.sentence}
    assert {name: share.words for name, share in shares.items() if share} == pytest.approx(words)
    within = spanwise.search(QUESTION, store, budget=60, reranker=ByFunction(northern))
    assert "northern" in " ".join(hit.answer for hit in within)


def test_parents_and_dialects_have_the_new_order() -> None:
    long = note("\n\n".join(f"Zebra number {n} sleeps." + " More of it." * 40 for n in range(12)), "long")
    parted = stored([long, note(NOTES["second"], "second")], strategy="hierarchical", max_tokens=64, parent_tokens=128)
    hits = spanwise.search(QUESTION, parted, parents=True, reranker=ByFunction(northern))
    assert names(hits)[0] == "second"
    found = spanwise.search(QUESTION, zoo(), dialect="confluence", limit=2, reranker=ByFunction(northern))
    assert len(found) == 2
    assert found[0]["score"] == 1.0
    assert "northern" in json.dumps(found[0])


FAILING = {
    "too few": Returning([1.0]),
    "not finite": Returning([float("nan")] * 4),
    "raises": Returning(RuntimeError("out of\nmemory")),
    "raises ours": Returning(spanwise.OptionError("model", "is gone")),
    "ends the process": Returning(SystemExit(1)),
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("options", [{}, {"budget": 100}, {"unit": "sentence", "limit": 3}, {"answer": True}])
def test_when_it_fails_the_order_is_that_without_it(store: Any, name: str, options: Any) -> None:
    plain = spanwise.search(QUESTION, store, **options)
    hits = spanwise.search(QUESTION, store, reranker=FAILING[name], **options)
    assert tuple(hits) == tuple(plain)
    assert len(hits.notes) == 1
    assert "the reranker returning can't be used, so the order is that without it" in hits.notes[0]
    assert "\n" not in hits.notes[0]


@pytest.mark.server
@pytest.mark.parametrize(
    "behaviour", [drip_body, status(500), status(401, b"bad rr-very-secret"), raw(b'{"results": 1}')]
)
def test_an_endpoint_that_fails_costs_its_time_alone(behaviour: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = zoo()
    plain = spanwise.search(QUESTION, store)
    with serving(behaviour) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        monkeypatch.setenv("SPANWISE_RERANKER_KEY", KEY)
        start = time.monotonic()
        hits = spanwise.search(QUESTION, store, reranker="vllm:mine", reranker_timeout=0.5)
        assert time.monotonic() - start < 2.5
    assert tuple(hits) == tuple(plain)
    assert len(hits.notes) == 1
    assert KEY not in hits.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reranker": "nothing:x"}, "is not known"),
        ({"reranker": "cohere"}, "must name its model"),
        ({"reranker": "tei"}, "SPANWISE_RERANKER_URL"),
        ({"reranker": "onnx:/nowhere"}, "model.onnx"),
        ({"reranker": 7}, "object with `name`"),
        ({"reranker_chunks": 0}, "between 1 and 500"),
        ({"reranker_chunks": 2.5}, "an integer"),
        ({"reranker_timeout": 0}, "between 0.05 and 600"),
        ({"reranker_timeout": float("nan")}, "between 0.05 and 600"),
        ({"reranker_timeout": "5"}, "a number"),
        ({"rerank": "x"}, "did you mean `reranker`"),
    ],
)
def test_wrong_options_are_refused(options: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANWISE_RERANKER_URL", raising=False)
    with pytest.raises(spanwise.OptionError, match=words):
        spanwise.search("zebra", zoo(), **options)


def test_a_model_that_can_not_be_loaded_is_refused(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path, ["zebra"], outputs=3)
    with pytest.raises(spanwise.OptionError, match="one number for each text"):
        spanwise.search("zebra", zoo(), reranker=f"onnx:{folder}")


def test_a_local_model_reads_the_chunks(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path, sorted({*re.findall(r"\w+", " ".join(NOTES.values()).lower())}))
    hits = spanwise.search("zebra tickets sold gate", zoo(), reranker=f"onnx:{folder}")
    assert names(hits)[0] == "third"
    assert hits.notes == ()


def test_nothing_found_asks_nobody() -> None:
    reranker = ByFunction(northern)
    hits = spanwise.search("giraffe", zoo(), reranker=reranker)
    assert (tuple(hits), reranker.asked) == ((), [])
    assert hits.notes == ("none of these words stands in the documents",)


def test_what_it_reads_is_bounded() -> None:
    title, text = "Zebra " * 400, "zebra " * 30_000
    reranker = ByFunction(len)
    document = note(f"# One\n\n{text}", "long", title=title)
    spanwise.search("zebra " * 3_000, stored([document], strategy="fixed", target_tokens=60_000), reranker=reranker)
    ((question, (read, *_)),) = reranker.asked
    assert len(question) == 2_000
    assert 20_000 <= len(read) <= 20_501
    assert read.startswith("Zebra Zebra")


@example([1.7e308, -1.7e308, 0.0, 1.0])
@example([5e-324, 0.0, 5e-324, -5e-324])
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_any_scores_give_a_descending_order(scores: list[float]) -> None:
    hits = spanwise.search(QUESTION, ZOO, reranker=Returning(scores))
    assert hits.notes == ()
    points = [hit.score for hit in hits]
    assert points == sorted(points, reverse=True)
    assert all(0.1 - 1e-8 <= one <= 1 for one in points)
    assert len({*points}) == 4
    given = [hit.explain.reranker for hit in hits if hit.explain.reranker]
    assert [(one.score, -one.rank_before) for one in given] == sorted(
        ((one.score, -one.rank_before) for one in given), reverse=True
    )


ZOO = zoo()


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder with an index of the notes."""
    monkeypatch.chdir(files(tmp_path, {f"docs/{name}.md": text for name, text in NOTES.items()}))
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("SPANWISE_RERANKER_URL", "SPANWISE_RERANKER_KEY", "CO_API_KEY", "COHERE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    capsys.readouterr()
    return tmp_path


SEARCH = ["search", "zebra tickets", "--store", "s.db"]


@pytest.mark.server
def test_by_a_flag(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(answering_as("cohere")) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        assert main([*SEARCH, "--reranker", "infinity:mine", "--explain"]) == 0
    captured = capsys.readouterr()
    assert "reranked" in captured.out
    assert re.search(r"reranked +1\.000 +infinity:mine: 0\.\d+, rank \d → 1\n", captured.out)
    assert re.search(r"reranked +0\.100 +infinity:mine: 0\.\d+, rank \d → 3\n", captured.out)
    assert "note" not in captured.err


@pytest.mark.server
def test_a_failure_is_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SEARCH, "--json"]) == 0
    plain = capsys.readouterr().out
    with serving(status(401, b"wrong rr-very-secret")) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        monkeypatch.setenv("SPANWISE_RERANKER_KEY", KEY)
        assert main([*SEARCH, "--reranker", "infinity:mine", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.out == plain
    assert "the reranker infinity:mine can't be used" in captured.err
    assert "is the key right?" in captured.err
    assert KEY not in captured.err


def test_in_the_config_file(folder: Path, acme: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SEARCH, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)["hits"]
    Path("spanwise.toml").write_text('[search]\ntitle = 0.3\nreranker = "shortest:2"\nreranker_chunks = 3\n')
    assert main([*SEARCH, "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert [hit["explain"]["reranker"]["name"] for hit in hits] == ["shortest:2"] * len(hits)
    scores = [hit["explain"]["reranker"]["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit["chunk_ids"] for hit in hits] != [hit["chunk_ids"] for hit in plain]
    assert main([*SEARCH, "--reranker", "none", "--json"]) == 0
    assert [hit["chunk_ids"] for hit in json.loads(capsys.readouterr().out)["hits"]] == [
        hit["chunk_ids"] for hit in plain
    ]
    assert main(["config"]) == 0
    shown = capsys.readouterr().out
    assert "search.reranker" in shown
    assert "shortest" in shown


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('reranker = "shrtest:x"', "is not known"),
        ('reranker = "cohere"', "must name its model"),
        ("reranker = 3", "must be a string"),
        ("reranker_chunks = 0", "between 1 and 500"),
        ("reranker_timout = 3", "is not a weight of search"),
    ],
)
def test_a_wrong_config_is_refused(folder: Path, lines: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spanwise.toml").write_text(f"[search]\n{lines}\n")
    assert main([*SEARCH, "--json"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "[search] in spanwise.toml" in captured.err


def test_a_key_that_is_missing_harms_only_search(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spanwise.toml").write_text('[search]\nreranker = "cohere:mine"\n')
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    assert main(SEARCH) == 2
    assert "CO_API_KEY" in capsys.readouterr().err


def test_hits_are_hits() -> None:
    assert isinstance(spanwise.search(QUESTION, ZOO, reranker="none"), Hits)
