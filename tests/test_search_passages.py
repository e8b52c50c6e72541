"""Passages: neighbours are joined, no character is repeated, positions are exact, and the budget is kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from proposing import offline
from searching import note, stored
from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import Document
from spanwise.retrieval.budget import CutPassage, gathered, within_budget
from spanwise.retrieval.hits import Explanation
from spanwise.retrieval.passages import Passage, PassageUnit, as_units
from spanwise.retrieval.ranking import Ranked
from spanwise.stores import open_store
from spanwise.stores.values import StoredChunk
from spanwise.testing import made_markdown
from spanwise.text.tokens import tokenizer_of

SIZES = {"simple": {"max_chars": 120}, "sentence": {"max_tokens": 40, "max_chars": 150}}


def all_found(document: Document, strategy: str, **options: Any) -> list[StoredChunk]:
    reader = stored([document], strategy=strategy, **options).reading("")
    found: list[StoredChunk] = reader.fetch(sorted(reader.rows))
    parents = {one.record["parent_id"] for one in found}  # these are fetched, but never found
    return [one for one in found if one.record["chunk_id"] not in parents]


def units_of(found: Sequence[StoredChunk]) -> list[PassageUnit]:
    """Return units with chunks ranked in document order."""
    scores = [1 - index / 1_000_000 for index in range(len(found))]  # all near the best: neighbours of half of it join
    chunks = [Ranked(one, score, Explanation(score)) for one, score in zip(found, scores, strict=True)]
    return as_units(chunks, {})


def ranges(passage: Passage) -> tuple[int, int]:
    return passage.source_offset(0), passage.source_offset(len(passage.text) - 1) + 1


def assert_lawful(document: Document, passages: Sequence[CutPassage]) -> None:
    """Assert that every passage is text of the document, in order, and that passages don't overlap."""
    covered = sorted(ranges(one.passage) for one in passages)
    assert all(before[1] <= after[0] for before, after in pairwise(covered))
    ids = [name for one in passages for unit in one.passage.units for name in unit.chunk_ids]
    assert len(ids) == len(set(ids))
    for passage, start, end in passages:
        text, segments = passage.laid_out
        for segment in segments:
            assert text[segment.at : segment.until] == document.text[segment.start : segment.end]
        assert all(one.end <= other.start for one, other in pairwise(segments))
        gaps = [(one.until, other.at) for one, other in pairwise(segments)]
        assert all(not text[one:other].strip() for one, other in gaps)  # text that is not in the source is white space
        if passage.is_verbatim(start, end):
            assert text[start:end] == document.text[passage.source_offset(start) : passage.source_offset(end - 1) + 1]
        units = passage.units
        assert all(one.found.position + 1 == other.found.position for one, other in pairwise(units))


def leads_are_exact(document: Document, found: Sequence[StoredChunk]) -> bool:
    ranges = [(one.record["char_start"], one.record["char_end"]) for one in found]
    gaps = [document.text[before[1] : after[0]] for before, after in pairwise(ranges)]
    return all(one.text_before == gap for one, gap in zip(found[1:], gaps, strict=True))


def options_of(strategy: str) -> dict[str, Any]:
    return {**SIZES.get(strategy, {"max_tokens": 40}), **offline(strategy)}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40)
@given(text=made_markdown.markdown(), chosen=st.randoms(use_true_random=False), share=st.floats(0.2, 1))
def test_neighbours_read_as_the_source(strategy: str, text: str, chosen: Any, share: float) -> None:
    document = note(text, "note")
    found = all_found(document, strategy, **options_of(strategy))
    some = [one for one in found if chosen.random() <= share]
    chosen.shuffle(some)
    passages = gathered(units_of(some), 1000)
    assert_lawful(document, passages)
    assert {name for one in passages for unit in one.passage.units for name in unit.chunk_ids} == {
        one.record["chunk_id"] for one in some
    }
    scores = [one.passage.best.score for one in passages]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"sentence", "hierarchical"}))
@settings(max_examples=20)
@given(text=made_markdown.markdown())
def test_all_chunks_together_are_the_document(strategy: str, text: str) -> None:
    document = note(text, "note")
    found = all_found(document, strategy, **options_of(strategy))
    taken = gathered(units_of(found), 1000)
    # a comment is left out of a core, and out of what is read between two
    in_one_piece = all(len([1 for piece in one.record["pieces"] if piece["role"] == "core"]) == 1 for one in found)
    for passage, start, end in taken:
        first, last = ranges(passage)
        exact = in_one_piece and leads_are_exact(document, found)
        assert passage.is_verbatim(start, end) == exact
        assert not exact or passage.text == document.text[first:last]
    assert len(taken) <= 1


def test_overlap_and_repeated_heads_are_not_repeated() -> None:
    rows = "\n".join(f"| row {number} | {number * 7} |" for number in range(40))
    prose = "\n\n".join(["One sentence more. " * 3 + "And another one, which is longer."] * 12)
    text = f"# T\n\n{prose}\n\n| a | b |\n|---|---|\n{rows}\n\nThe end of it."
    document = note(text, "note")
    found = all_found(document, "structure", max_tokens=60, target_tokens=35, min_tokens=1, overlap_tokens=12)
    assert any(piece["role"] == "overlap_prev" for one in found for piece in one.record["pieces"])
    assert any(piece["role"] == "context" for one in found for piece in one.record["pieces"])
    (passage,) = gathered(units_of(found), 5)
    assert passage.passage.text == text[5:]
    assert passage.passage.text.count("| a | b |") == 1


def test_a_sentence_over_a_page_break_keeps_its_positions() -> None:
    pages = ["First page. It ends in the middle of a", "sentence that goes on here. Then one more. " * 8]
    document = spanwise.read_pages(pages, document_id="paged")
    found = all_found(document, "sentence", max_tokens=40, max_chars=120)
    passages = gathered(units_of(found), 5)
    assert_lawful(document, passages)
    assert not passages[0].passage.is_verbatim(0, len(passages[0].passage.text))
    assert "middle of a sentence that goes on" in passages[0].passage.text


def test_only_neighbours_are_joined() -> None:
    document = note("\n\n".join(f"# H{number}\n\nText number {number}." for number in range(6)), "note")
    found = all_found(document, "structure")
    passages = gathered(units_of([found[index] for index in (4, 0, 2, 1)]), 5)
    positions = [[unit.found.position for unit in one.passage.units] for one in passages]
    assert positions == [[4], [0, 1, 2]]
    assert passages[1].passage.best.found.position == 0


def test_a_limit_counts_passages_not_chunks() -> None:
    document = note("\n\n".join(f"# H{number}\n\nText number {number}." for number in range(9)), "note")
    found = all_found(document, "structure")
    passages = gathered(units_of([found[index] for index in (0, 4, 1, 5, 8, 2)]), 2)
    assert [[unit.found.position for unit in one.passage.units] for one in passages] == [[0, 1], [4, 5]]


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", ["cl100k", "approx", "words"])
@settings(max_examples=60)
@given(text=made_markdown.markdown(), chosen=st.randoms(use_true_random=False), budget=st.integers(16, 200))
def test_a_budget_is_never_passed(tokenizer: str, text: str, chosen: Any, budget: int) -> None:
    document = note(text, "note")
    found = all_found(document, "structure", max_tokens=90)
    chosen.shuffle(found)
    counter = tokenizer_of(tokenizer)
    passages = within_budget(units_of(found), 1000, budget, counter, lambda _: [])
    assert_lawful(document, passages)
    texts = [passage.text[start:end] for passage, start, end in passages]
    assert sum(map(counter.count, texts)) <= budget
    assert all(text.strip() == text and text for text in texts if not text.startswith((" ", "\t")))
    assert bool(texts) == bool(found)


def test_what_is_cut_keeps_the_sentences_that_answer() -> None:
    filler = "This sentence says nothing of interest. " * 20
    document = note(f"# H\n\n{filler}The zebra sleeps here. {filler}", "note")
    hits = spanwise.search("zebra", stored([document]), budget=30, unit="passage")
    assert len(hits) == 1
    assert hits[0].truncated
    assert "The zebra sleeps here." in hits[0].normalized_text
    assert hits[0].normalized_text == document.text[hits[0].char_start : hits[0].char_end]
    assert tokenizer_of("cl100k").count(hits[0].normalized_text) <= 30
    assert hits[0].full_text == hits[0].normalized_text


def test_of_a_sentence_that_is_too_long_the_part_that_answers_is_kept() -> None:
    filler = " ".join(f"item{number}," for number in range(60))
    document = note(f"# H\n\nShort and beside the point. {filler} the zebra sleeps, {filler} and so on.", "note")
    (hit,) = spanwise.search("zebra", stored([document]), budget=40, unit="passage")
    assert hit.truncated
    assert "zebra" in hit.normalized_text
    assert hit.normalized_text == document.text[hit.char_start : hit.char_end]
    assert tokenizer_of("cl100k").count(hit.normalized_text) <= 40


def test_missing_words_do_not_prevent_marks() -> None:
    filler = [note(f"# N{number}\n\nA duck on the pond of number{number}.", f"n{number}") for number in range(30)]
    filler += [note(f"# M{number}\n\nA swan by the lake of place{number}.", f"m{number}") for number in range(15)]
    (hit,) = spanwise.search("xylophone duck", stored(filler), limit=1)
    assert [hit.normalized_text[start:end] for start, end in hit.marks] == ["duck"]


def test_a_parent_replaces_its_chunks_once() -> None:
    document = note("\n\n".join(f"Paragraph {number} about zebras." for number in range(4)), "note")
    reader = stored([document], strategy="fixed", max_tokens=20, target_tokens=16, min_tokens=1).reading("")
    children = reader.fetch(sorted(reader.rows))[:3]
    whole = document.text
    parent = StoredChunk(
        99, "note", 0,
        {**children[0].record, "chunk_id": "parent", "normalized_text": whole, "full_text": whole, "char_start": 0,
         "char_end": len(whole), "pieces": [{"start": 0, "end": len(whole), "role": "core", "joiner": ""}]},
        "", children[0].source,
    )  # fmt: skip
    adopted = [
        StoredChunk(one.key, "note", one.position, {**one.record, "parent_id": "parent"}, one.text_before, one.source)
        for one in children
    ]
    chunks = [Ranked(one, 1.0, Explanation(1.0)) for one in adopted]
    assert len(adopted) > 1
    (unit,) = as_units(chunks, {"parent": parent})
    assert unit.is_parent
    assert unit.chunk_ids == tuple(one.record["chunk_id"] for one in children)
    (passage,) = gathered([unit], 5)
    assert passage.passage.text == whole
    assert len(as_units(chunks, {})) == len(adopted)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_parents_on_request(kind: str, tmp_path: Path) -> None:
    sections = (f"## Part {number}\n\n" + f"The zebra of part {number} sleeps. " * 60 for number in range(6))
    document = note("# Animals\n\n" + "\n\n".join(sections), "animals")
    store = None if kind == "memory" else open_store(str(tmp_path / "s.db"), create=True)
    kept = stored([document], store=store, strategy="hierarchical", max_tokens=120, parent_tokens=500)
    children = spanwise.search("zebra sleeps", kept, limit=3)
    assert children
    assert all(hit.parent_id is None for hit in children)
    hits = spanwise.search("zebra sleeps", kept, limit=3, parents=True)
    assert hits
    assert all(hit.parent_id is not None for hit in hits)
    assert min(len(hit.normalized_text) for hit in hits) > max(len(hit.normalized_text) for hit in children) / 2
    ranges = sorted((hit.char_start, hit.char_end) for hit in hits)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    for hit in hits:
        assert not hit.verbatim or hit.normalized_text == document.text[hit.char_start : hit.char_end]
        assert hit.parent_id not in hit.chunk_ids
    kept.close()
