"""Sentences chosen when a question is asked: their ranges, their order, the budget, and how they are explained."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from searching import note, stored
from spanwise.chunking.strategies import STRATEGIES
from spanwise.errors import OptionError
from spanwise.retrieval.late_sentences import LONGEST, sentence_ranges
from spanwise.testing.made_markdown import markdown
from spanwise.testing.store_documents import WordEmbedder
from spanwise.text.tokens import TokenMap, tokenizer_of

COUNT = tokenizer_of("cl100k").count
FILLER = "This sentence says nothing of interest at all. " * 30
ZOO = f"# Zoo\n\n{FILLER}The zebra sleeps in the northern house. {FILLER}\n\n## Food\n\nIt eats hay. {FILLER}"


def assert_lawful(hits: Any, documents: dict[str, str], budget: int | None) -> None:
    """Assert that ranges ascend, never overlap, are in their passage, and that the answer is their text."""
    seen: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        text = documents[hit.document_id]
        assert hit.ranges
        assert all(first[1] <= second[0] for first, second in pairwise(hit.ranges))
        assert hit.char_start <= hit.ranges[0][0] < hit.ranges[-1][1] <= hit.char_end
        assert hit.answer == "\n".join(text[start:end] for start, end in hit.ranges)
        assert all(text[start:end].strip() for start, end in hit.ranges)
        seen.setdefault(hit.document_id, []).extend(hit.ranges)
    for ranges in seen.values():
        assert all(first[1] <= second[0] for first, second in pairwise(sorted(ranges)))
    if budget is not None:
        assert sum(COUNT(documents[hit.document_id][start:end]) for hit in hits for start, end in hit.ranges) <= budget
        assert sum(COUNT(hit.answer) for hit in hits) <= budget


@given(text=markdown(), budget=st.integers(16, 400), strategy=st.sampled_from(sorted(STRATEGIES)))
def test_sentences_are_lawful(text: str, budget: int, strategy: str) -> None:
    documents = [note(text, "a"), note(f"{text}\n\n中文句子。另一句！ Zażółć gęślą jaźń.", "b")]
    options: Any = {"proposer": lambda window: [1]} if strategy == "smart" else {}
    store = stored(documents, strategy=strategy, **options)
    texts = {one.document_id: one.text for one in documents}
    for query in ("lorem sentence 句子", text[:60]):
        assert_lawful(spanwise.search(query, store, budget=budget), texts, budget)
        alone = spanwise.search(query, store, unit="sentence", limit=4)
        assert len(alone) <= 4
        assert_lawful(alone, texts, None)


def test_the_sentence_that_answers_is_returned() -> None:
    store = stored([note(ZOO, "zoo")])
    (hit,) = spanwise.search("where does the zebra sleep?", store, answer=True)
    assert hit.answer == "The zebra sleeps in the northern house."
    assert ZOO[slice(*hit.ranges[0])] == hit.answer
    assert hit.answer in hit.normalized_text
    assert (hit.char_start, hit.char_end) != hit.ranges[0]
    assert not hit.truncated


def test_a_budget_is_used_and_kept() -> None:
    store = stored([note(ZOO, "zoo")])
    for budget in (16, 40, 200, 700):
        hits = spanwise.search("zebra sleep", store, budget=budget)
        assert_lawful(hits, {"zoo": ZOO}, budget)
        assert "zebra" in "".join(hit.answer for hit in hits)
        assert sum(COUNT(hit.answer) for hit in hits) > budget * 0.6 or budget == 16


def test_single_sentences_are_never_joined() -> None:
    store = stored([note(ZOO, "zoo")])
    hits = spanwise.search("zebra house", store, unit="sentence", limit=5)
    assert [len(hit.ranges) for hit in hits] == [1] * 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].answer == "The zebra sleeps in the northern house."


def test_the_passage_is_returned_when_asked_for() -> None:
    store = stored([note(ZOO, "zoo")])
    (hit,) = spanwise.search("zebra", store, budget=2000, unit="passage")[:1]
    assert (hit.ranges, hit.answer) == (((hit.char_start, hit.char_end),), hit.normalized_text)
    assert hit.explain.sentence is None
    assert spanwise.search("zebra", store)[0].explain.sentence is None


def test_neighbours_and_headings_help_a_sentence() -> None:
    text = "# Zebras\n\nThey are striped. They live in Africa.\n\n# Lions\n\nThey are brown. They live in Africa too."
    (hit,) = spanwise.search("what colour are zebras striped?", stored([note(text, "n")]), unit="sentence", limit=1)
    assert hit.answer == "They are striped."
    assert hit.explain.sentence is not None
    assert hit.explain.sentence.matched["zebras"]["headings"] == 1


def test_a_score_is_explained() -> None:
    (hit,) = spanwise.search("zebra house", stored([note(ZOO, "zoo")]), unit="sentence", limit=1)
    found = hit.explain.sentence
    assert found is not None
    assert found.words + found.passage + found.vector == pytest.approx(hit.score)
    times = {name: count for name, count in found.matched["zebra"].items() if name != "points"}
    assert times == {"sentence": 1, "near": 1, "around": 1, "far": 1}
    assert hit.to_dict()["explain"]["sentence"]["matched"]["zebra"]["sentence"] == 1
    assert hit.to_dict()["ranges"] == [list(one) for one in hit.ranges]


def test_vectors_take_part() -> None:
    embedder = WordEmbedder()
    documents = [note("Dogs bark at night. Cats sleep by day. Birds sing in the morning.", "n")]
    store = stored(documents, embedder=embedder)
    (hit,) = spanwise.search("cats sleep", store, unit="sentence", limit=1, embedder=embedder)
    assert hit.explain.sentence is not None
    cosine = float(np.asarray(embedder.embed([hit.answer])[0]) @ np.asarray(embedder.embed_query("cats sleep")))
    assert hit.explain.sentence.cosine == pytest.approx(cosine, abs=1e-5)
    assert hit.explain.sentence.vector == pytest.approx(0.3 * max(cosine, 0), abs=1e-5)


def test_links_highlight_the_ranges() -> None:
    document = note(f"{FILLER}The **zebra** sleeps, [well](https://x.org), all day. {FILLER}", "n",
                    source_url="https://wiki.example.org/zoo")  # fmt: skip
    (hit,) = spanwise.search("zebra", stored([document]), answer=True)
    assert hit.url == "https://wiki.example.org/zoo#:~:text=The%20zebra%20sleeps%2C%20well%2C%20all%20day."


def test_stores_agree(tmp_path: Path) -> None:
    documents = [note(ZOO, "zoo"), note("The zebra eats. Lions sleep.", "other")]
    in_memory = stored(documents)
    spanwise.index(documents, tmp_path / "s.db", embedder=None)
    options: Any
    for options in ({"budget": 60}, {"unit": "sentence", "limit": 3}, {"answer": True}):
        found = [
            spanwise.search("zebra sleeps", one, embedder=None, **options) for one in (in_memory, tmp_path / "s.db")
        ]
        assert [hit.ranges for hit in found[0]] == [hit.ranges for hit in found[1]]


@pytest.mark.parametrize(
    ("options", "rule"),
    [({"unit": "word"}, "`unit` must be one of passage, sentence"), ({"unit": "passage", "answer": True}, "`answer`")],
)
def test_wrong_options(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(OptionError, match=rule):
        spanwise.search("x", stored([]), **options)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two!\nThree", ["One.", "Two!", "Three"]),
        ("# Head\n\nText here.", ["Text here."]),
        ("# Head", ["# Head"]),
        ("| a | b |\n|---|---|\n| c | d |", ["| a | b |", "| c | d |"]),
        ("This line is wrapped in the middle of a\nsentence. And on.", [
            "This line is wrapped in the middle of a\nsentence.", "And on.",
        ]),
        ("- one item\n- another", ["- one item", "- another"]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ("   \n", []),
    ],
)  # fmt: skip
def test_sentences_of_a_text(text: str, sentences: list[str]) -> None:
    tokens = TokenMap(text, tokenizer_of("cl100k"))
    assert [text[start:end] for start, end in sentence_ranges(tokens, "en")] == sentences


def test_long_sentences_are_divided() -> None:
    clauses = "; ".join(f"clause {number} of a very long sentence, with a comma" for number in range(60))
    for text in (clauses, clauses.replace(";", ","), clauses.replace("; ", " ").replace(",", ""), "词" * 900):
        tokens = TokenMap(text, tokenizer_of("cl100k"))
        ranges = sentence_ranges(tokens, "en")
        assert len(ranges) > 1
        assert max(COUNT(text[start:end]) for start, end in ranges) <= LONGEST + 4
        assert all(not text[before[1] : after[0]].strip() for before, after in pairwise(ranges))
