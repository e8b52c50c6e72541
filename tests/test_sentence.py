"""The `sentence` strategy: the specified examples, page breaks anywhere, and long runs of tiny pages."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import Chunk
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
TEXTS = st.lists(
    st.sampled_from([
        "word ", "One. ", "two! ", "goes on ", "UPPER ", "\n", "\n\n", "。", "これは文", "👩‍👩‍👧‍👦", "e\u0301", "‼️ ",
        ", ", "<figure>f. a</figure>", "<figure>", "</figure>", ALPHABET, "- item\n", "# Head\n", "ii) x ", "...",
        "тест. ",
    ]),
    max_size=60,
).map("".join)  # fmt: skip


def chunked(pages: list[str], tokenizer: str = "words", **options: Any) -> tuple[Chunk, ...]:
    """Chunk pages; assert every law and that `check` finds nothing."""
    document = spanwise.read_pages(pages)
    chunks = spanwise.chunk(document, "sentence", tokenizer, **options)
    records = [chunk.to_dict() for chunk in chunks]
    assert broken_laws(document, records, tokenizer_of(tokenizer), options.get("max_tokens", 500)) == []
    findings = spanwise.check(records, document, tokenizer, **options)
    assert [finding for finding in findings if finding.level == "violation"] == []
    return chunks


def cores(chunks: tuple[Chunk, ...]) -> list[str]:
    return [chunk.normalized_text for chunk in chunks]


# the examples of the strategy's specification


def test_a_simple_page() -> None:
    text = "Sentence one. Sentence two is slightly longer. Final short one."
    assert [chunk.full_text for chunk in chunked([text])] == [text]


def test_a_figure_in_the_middle() -> None:
    figure = '<figure><img src="x.png" alt="X"></figure>'
    before, after = "Heading line\nIntro before the figure.", "Text that follows the figure. Another sentence."
    chunks = chunked([f"{before} {figure} {after}"])
    assert [chunk.full_text for chunk in chunks] == [f"{before} {figure}", after]


def test_a_long_span_is_cut_in_the_middle() -> None:
    text = ALPHABET * 2
    chunks = chunked([text], "approx", max_tokens=20)
    assert [chunk.full_text for chunk in chunks] == [text[:74], text[50:]]
    assert text[50:74] == "yz0123456789ABCDEFGHIJKL"
    assert [[piece.role for piece in chunk.pieces] for chunk in chunks] == [
        ["core", "overlap_next"],
        ["overlap_prev", "core"],
    ]


def test_a_long_span_is_cut_at_a_word() -> None:
    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda and so on (continues)"
    assert cores(chunked([text], "approx", max_tokens=16)) == [
        "alpha beta gamma delta epsilon zeta eta",
        "theta iota kappa lambda and so on (continues)",
    ]


def test_a_sentence_over_a_page_break_is_put_together() -> None:
    pages = ["The procedure continues to operate", "under heavy load and completes successfully. Follow-up sentence."]
    (chunk,) = chunked(pages)
    assert chunk.full_text.startswith("The procedure continues to operate under heavy load and completes successfully.")
    assert [(piece.role, piece.joiner) for piece in chunk.pieces] == [("core", ""), ("core", " ")]
    assert (chunk.page_start, chunk.page_end) == (1, 2)


def test_an_unfinished_sentence_is_carried_forward() -> None:
    pages = [
        "Intro sentence finishes here. This clause is long but near the limit and the following portion would push it "
        "over",
        "so the trailing fragment carry‑forward moves this trailing portion forward. Remaining context continues here.",
    ]
    chunks = chunked(pages, max_chars=170)
    first, _, unfinished = pages[0].partition(". ")
    assert [chunk.full_text for chunk in chunks] == [f"{first}.", f"{unfinished} {pages[1]}"]


# overlap


def test_overlap_looks_ahead() -> None:
    text = " ".join(f"This is the sentence with the number {number}, of many." for number in range(60))
    chunks = chunked([text], "cl100k", overlap_ratio=0.08)
    assert len(chunks) > 2
    for chunk, after in pairwise(chunks):
        ahead = chunk.full_text.removeprefix(chunk.normalized_text).strip()
        assert 80 <= len(ahead) <= 160
        assert ahead.endswith(".")
        assert after.normalized_text.startswith(ahead)
        assert chunk.overlap_next_block_indices == [0]
    assert chunks[-1].full_text == chunks[-1].normalized_text


def test_overlap_over_a_gap_of_the_next_core() -> None:
    pages = ["The first sentence here has fifty characters, all in. Then it", "goes on here for a while."]
    first, second = chunked(pages, max_chars=58, overlap_ratio=0.2)
    assert second.full_text == "Then it goes on here for a while."
    assert first.full_text == "The first sentence here has fifty characters, all in. Then it goes"
    assert [(piece.role, piece.joiner) for piece in first.pieces[1:]] == [("overlap_next", " "), ("overlap_next", " ")]


def test_the_chunks_as_another_system_reads_them() -> None:
    chunks = chunked(["First page.", "Second page goes", "on here."])
    assert spanwise.translate(chunks, "pages") == [
        {"page_num": 1, "text": "First page."},
        {"page_num": 2, "text": "Second page goes on here."},
    ]


# page breaks anywhere


@given(TEXTS, st.lists(st.integers(0, 2000), max_size=12), st.sampled_from([16, 20, 60, 500]), st.data())
@settings(max_examples=250, deadline=None)
def test_any_page_breaks_keep_the_text(text: str, positions: list[int], max_tokens: int, data: st.DataObject) -> None:
    cuts = sorted(position % (len(text) + 1) for position in positions)
    pages = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    tokenizer = data.draw(st.sampled_from(["cl100k", "words", "approx"]))
    max_chars = data.draw(st.sampled_from([1, 30, 100, 1000]))
    chunks = chunked(pages, tokenizer, max_tokens=max_tokens, max_chars=max_chars)
    assert "".join("".join(cores(chunks)).split()) == "".join(text.split())


@given(st.lists(st.integers(0, 4000), max_size=8))
@settings(max_examples=60, deadline=None)
def test_prose_cut_anywhere_is_mended(positions: list[int]) -> None:
    text = " ".join(f"Sentence {number} goes on and on, over any page that it meets." for number in range(60))
    cuts = sorted({text.find(" ", position % len(text)) for position in positions} - {-1})
    pages = [text[start:end].strip() for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    joined = " ".join(cores(chunked(pages, "cl100k")))
    assert joined == text


# linear


@pytest.mark.slow
@pytest.mark.parametrize("page", ["a", "<figure>x</figure>", "one word, and", "End. a"])
@pytest.mark.parametrize("options", [{}, {"max_tokens": 1_000_000, "max_chars": 1_000_000}, {"max_tokens": 16}])
def test_many_tiny_pages(page: str, options: dict[str, Any]) -> None:
    def work(pages: int) -> None:
        document = spanwise.read_pages([page] * pages)
        chunks = spanwise.chunk(document, "sentence", **options)
        assert "".join("".join(cores(chunks)).split()) == "".join(document.text.split())

    assert_linear(work, 1_000)


# what `check` finds when a chunk breaks a promise


def promises_broken(pages: list[str], made_with: dict[str, Any], **checked_with: Any) -> list[str]:
    """Chunk with some options and return the findings under others."""
    document = spanwise.read_pages(pages)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "sentence", "words", **made_with)]
    findings = spanwise.check(records, document, "words", **checked_with)
    return [finding.reason for finding in findings if finding.rule == "promise"]


@pytest.mark.parametrize(
    ("made_with", "checked_with", "reason"),
    [
        ({}, {"max_chars": 60}, "characters are more than 60"),
        ({"max_chars": 60}, {"max_chars": 60, "overlap_ratio": 0.0}, "though overlap_ratio is 0"),
        ({"max_chars": 60, "overlap_ratio": 0.5}, {"max_chars": 60}, "more than twice what overlap_ratio asks for"),
    ],
)
def test_check_tests_the_promises(made_with: dict[str, Any], checked_with: dict[str, Any], reason: str) -> None:
    text = " ".join(f"Sentence {number} of many words." for number in range(6))
    assert promises_broken([text], made_with, **made_with) == []
    assert any(reason in finding for finding in promises_broken([text], made_with, **checked_with))


def test_check_finds_a_figure_that_does_not_close() -> None:
    document = spanwise.read_pages(["Before. <figure>f</figure> After."])
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "window", "words", template="plain")]
    findings = spanwise.check([{**record, "strategy": "sentence"} for record in records], document, "words")
    assert [finding.reason for finding in findings if finding.rule == "promise"] == ["a figure doesn't close its chunk"]


def test_check_finds_a_sentence_cut_although_it_fits() -> None:
    document = spanwise.read_pages(["First one. This sentence is cut in two. Last."])
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "simple", "words", max_chars=27)]
    findings = spanwise.check([{**record, "strategy": "sentence"} for record in records], document, "words")
    reasons = [finding.reason for finding in findings if finding.rule == "promise"]
    assert reasons == ["a sentence of 6 tokens is cut, though 500 would fit"]
