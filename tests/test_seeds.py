"""Acceptance tests of `fixed` and `structure` on texts of exact size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, pairwise
from typing import Any

import pytest

import spanwise
from spanwise import Chunk, Document, Tokenizer
from spanwise.testing.laws import broken_laws
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import tokenizer_of

WORDS = ("day", "night", "water", "fire", "house", "road", "city", "river", "stone", "tree")


def sentence(size: int, tokenizer: Tokenizer) -> str:
    """Return a sentence of exactly `size` tokens."""
    if tokenizer.name == "approx":  # four characters a token, with the space behind it
        return ("The" + "".join(f" {word}" for word in WORDS) * size)[: 4 * size - 3] + "s."
    words = ["The"]
    for word in cycle(WORDS):
        text = " ".join(words) + "."
        if tokenizer.count(text) == size:
            return text
        words.append(word)
    raise AssertionError


def paragraph(size: int, tokenizer: Tokenizer, of: int = 10) -> str:
    """Return a paragraph with an exact number of tokens, in sentences of `of` tokens."""
    text = " ".join([sentence(of, tokenizer)] * (size // of))
    assert tokenizer.count(text) == size
    return text


def overlap(chunk: Chunk) -> str:
    """Return the text that a chunk repeats from the previous one."""
    pieces = [piece for piece in chunk.pieces if piece.role == "overlap_prev"]
    return chunk.document.text[pieces[0].start : pieces[-1].end] if pieces else ""


def checked(document: Document, strategy: Any, tokenizer: Tokenizer, limit: int) -> tuple[Chunk, ...]:
    """Chunk with default sizes; assert the laws and the same ids in a second run."""
    chunks = spanwise.chunk(document, strategy, tokenizer)
    records = [chunk.to_dict() for chunk in chunks]
    assert broken_laws(document, records, tokenizer, limit) == []
    assert records == [chunk.to_dict() for chunk in spanwise.chunk(document, strategy, tokenizer)]
    return chunks


@pytest.fixture(params=["words", "cl100k", "o200k", "approx"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return tokenizer_of(request.param)


# fixed: four scenarios

IMPOSSIBLE = frozenset({110, 140, 220, 230, 270, 280, 290, 300})
"""Sizes of paragraphs that can't be put together to chunks of 400 to 600 tokens, overlap included.

For `approx`, which counts the lines between paragraphs, 150 is one more: four of them are 601 tokens.
"""


def is_possible(cores: Sequence[int], left: int, before: int = 0) -> bool:
    """Whether so many paragraphs can be divided into chunks of 400 to 600 tokens, overlap of 12 % included.

    `cores` has the sizes of one paragraph, of two, and so on.
    """
    sizes = ((number, core + round(0.12 * before)) for number, core in enumerate(cores[:left], 1))
    fitting = [number for number, size in sizes if 400 <= size <= 600]
    return left == 0 or any(is_possible(cores, left - number, cores[number - 1]) for number in fitting)


@pytest.mark.parametrize("size", [20, *range(40, 310, 10)])
def test_fixed_scenario_1_a_document_becomes_chunks_of_about_500_tokens(size: int, tokenizer: Tokenizer) -> None:
    paragraphs = [paragraph(size, tokenizer)] * round(2000 / size)
    chunks = checked(spanwise.read_text("\n\n".join(paragraphs)), "fixed", tokenizer, 750)
    assert 4 <= len(chunks) <= 5
    sizes = [chunk.token_count for chunk in chunks]
    known = [tokenizer.count("\n\n".join(paragraphs[:number])) for number in range(1, min(len(paragraphs), 31))]
    possible = size <= 40 or is_possible(known, len(paragraphs))
    assert possible == (size not in IMPOSSIBLE | ({150} if tokenizer.name == "approx" else set()))
    assert not possible or all(400 <= size <= 600 for size in sizes), sizes
    assert not overlap(chunks[0])
    cores = [tokenizer.count(chunk.normalized_text) for chunk in chunks]
    for before, chunk in zip(cores, chunks[1:], strict=False):
        assert 0.10 <= tokenizer.count(overlap(chunk)) / before <= 0.15


@pytest.mark.parametrize("of", [7, 11, 15, 19])
def test_fixed_overlap_keeps_chunks_within_their_sizes(of: int, tokenizer: Tokenizer) -> None:
    for size in range(of * (40 // of + 1), 300, of):
        paragraphs = [paragraph(size, tokenizer, of)] * round(2000 / size)
        known = [tokenizer.count("\n\n".join(paragraphs[:number])) for number in range(1, min(len(paragraphs), 31))]
        chunks = spanwise.chunk("\n\n".join(paragraphs), "fixed", tokenizer)
        sizes = [chunk.token_count for chunk in chunks]
        assert not is_possible(known, len(paragraphs)) or all(400 <= one <= 600 for one in sizes), (size, sizes)
        for before, chunk in pairwise(chunks):
            assert 0.10 <= tokenizer.count(overlap(chunk)) / tokenizer.count(before.normalized_text) <= 0.15


def test_fixed_scenario_2_a_paragraph_within_the_limit_is_not_cut(tokenizer: Tokenizer) -> None:
    text = "\n\n".join([paragraph(200, tokenizer)] * 3)
    document = spanwise.read_text(text)
    first, second = checked(document, "fixed", tokenizer, 750)
    assert first.core_block_indices == [0, 1]
    assert second.core_block_indices == [2]
    assert second.normalized_text == paragraph(200, tokenizer)
    assert 0.10 <= tokenizer.count(overlap(second)) / tokenizer.count(first.normalized_text) <= 0.15


def test_fixed_scenario_3_a_large_paragraph_is_cut_between_sentences(tokenizer: Tokenizer) -> None:
    text = paragraph(1000, tokenizer, of=20)
    chunks = checked(spanwise.read_text(text), "fixed", tokenizer, 750)
    assert len(chunks) == 2
    assert chunks[1].char_start in sentence_starts(text, 0, len(text))
    cores = [tokenizer.count(chunk.normalized_text) for chunk in chunks]
    assert all(400 <= core <= 600 for core in cores), cores


def test_fixed_scenario_4_headings_separate_sections_that_are_large_enough(tokenizer: Tokenizer) -> None:
    text = "\n\n".join(f"## Section {number}\n\n{paragraph(150, tokenizer)}" for number in (1, 2, 3))
    chunks = checked(spanwise.read_text(text), "fixed", tokenizer, 750)
    assert [chunk.headings_path for chunk in chunks] == [("Section 1",), ("Section 2",), ("Section 3",)]
    assert all(chunk.normalized_text.startswith("## Section") for chunk in chunks)


def test_fixed_joins_sections_that_are_too_small(tokenizer: Tokenizer) -> None:
    text = "\n\n".join(f"## Section {number}\n\n{paragraph(40, tokenizer)}" for number in (1, 2))
    assert len(checked(spanwise.read_text(text), "fixed", tokenizer, 750)) == 1


def test_fixed_takes_page_breaks_for_paragraph_boundaries(tokenizer: Tokenizer) -> None:
    pages = [paragraph(400, tokenizer), paragraph(400, tokenizer), paragraph(400, tokenizer)]
    chunks = checked(spanwise.read_pages(pages), "fixed", tokenizer, 750)
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 1), (2, 2), (3, 3)]


def test_fixed_evens_out_pages(tokenizer: Tokenizer) -> None:
    chunks = checked(spanwise.read_pages([paragraph(280, tokenizer)] * 4), "fixed", tokenizer, 750)
    sizes = [chunk.token_count for chunk in chunks]
    assert max(sizes) <= 1.25 * min(sizes), sizes


# structure: seven documents

Make = Callable[[Tokenizer], Document]


def headings(tokenizer: Tokenizer) -> Document:
    parts = [
        "# Guide", paragraph(300, tokenizer),
        "## Setup", paragraph(400, tokenizer), paragraph(400, tokenizer),
        "### Linux", paragraph(100, tokenizer),
        "## Use", paragraph(700, tokenizer), paragraph(300, tokenizer),
    ]  # fmt: skip
    return spanwise.read_text("\n\n".join(parts))


def nested_lists(tokenizer: Tokenizer) -> Document:
    short = [f"- {sentence(20, tokenizer)}\n  - {sentence(20, tokenizer)}" for _ in range(5)]
    long = [f"- {sentence(20, tokenizer)}\n  - {sentence(20, tokenizer)}" for _ in range(30)]
    return spanwise.read_text("# Short\n\n" + "\n".join(short) + "\n\n# Long\n\n" + "\n".join(long))


def large_table(tokenizer: Tokenizer) -> Document:
    rows = [f"| {number} | {WORDS[number % 10]} | {WORDS[number % 7]} |" for number in range(250)]
    return spanwise.read_text("# Rows\n\n| id | name | city |\n|----|------|------|\n" + "\n".join(rows))


def no_headings(tokenizer: Tokenizer) -> Document:
    return spanwise.read_text("\n\n".join([paragraph(280, tokenizer, of=20)] * 5))


def code(tokenizer: Tokenizer) -> Document:
    lines = "\n".join(["    make house of stone at road"] * 30)
    parts = [paragraph(200, tokenizer), f"```python\n{lines}\n```", paragraph(200, tokenizer)]
    return spanwise.read_text("# Code\n\n" + "\n\n".join(parts))


def confluence_page(tokenizer: Tokenizer) -> Document:
    parts = [
        "# Onboarding", f"See [the rules](https://wiki.example.org/rules). {paragraph(150, tokenizer)}",
        "## Accounts", paragraph(200, tokenizer), "- " + "\n- ".join([sentence(20, tokenizer)] * 8),
        "## Contacts", f"Ask [the desk](https://wiki.example.org/desk). {paragraph(60, tokenizer)}",
    ]  # fmt: skip
    url = "https://wiki.example.org/onboarding"
    return spanwise.read_text("\n\n".join(parts), source_url=url, page_id="42", space_key="HR", page_version=3)


def paged(tokenizer: Tokenizer) -> Document:
    table = "| id | name |\n|----|------|\n" + "\n".join(f"| {number} | {WORDS[number % 10]} |" for number in range(40))
    listed = "\n".join([f"{number}. {sentence(20, tokenizer)}" for number in range(1, 9)])
    pages = [f"# Report\n\n{paragraph(200, tokenizer)}\n\n{table}", f"{listed}\n\n{paragraph(200, tokenizer)}"]
    return spanwise.read_pages(pages, format="markdown")


SEVEN = [
    (headings, ["paragraph"] * 5),
    (nested_lists, ["list"] * 3),
    (large_table, ["table"] * 3),
    (no_headings, ["paragraph"] * 2),
    (code, ["paragraph", "code", "paragraph"]),
    (confluence_page, ["paragraph", "paragraph", "list", "paragraph"]),
    (paged, ["paragraph", "table", "list", "paragraph"]),
]


@pytest.mark.parametrize(("make", "types"), SEVEN, ids=lambda value: getattr(value, "__name__", ""))
def test_structure_number_types_limits_and_ids(make: Make, types: list[str], tokenizer: Tokenizer) -> None:
    chunks = checked(make(tokenizer), "structure", tokenizer, 900)
    if make is not large_table or tokenizer.name == "words":  # its rows have other sizes in other tokenizers
        assert [chunk.chunk_type for chunk in chunks] == types
    assert {chunk.chunk_type for chunk in chunks} == set(types)
    again = spanwise.chunk(make(tokenizer), "structure", tokenizer)
    assert [chunk.chunk_id for chunk in chunks] == [chunk.chunk_id for chunk in again]


def test_structure_headings_are_paths(tokenizer: Tokenizer) -> None:
    chunks = spanwise.chunk(headings(tokenizer), tokenizer=tokenizer)
    paths = [("Guide",), ("Guide", "Setup"), ("Guide", "Setup", "Linux"), ("Guide", "Use"), ("Guide", "Use")]
    assert [chunk.headings_path for chunk in chunks] == paths
    assert [bool(overlap(chunk)) for chunk in chunks] == [False, False, False, False, True]
    assert tokenizer.count(overlap(chunks[4])) <= 80
    assert not any("#" in chunk.full_text for chunk in chunks)


def test_structure_nested_items_stay_with_their_parent(tokenizer: Tokenizer) -> None:
    document = nested_lists(tokenizer)
    chunks = spanwise.chunk(document, tokenizer=tokenizer)
    tops = {part.start for block in document.blocks for part in block.parts}
    assert all(chunk.char_start in tops for chunk in chunks)


def test_structure_every_part_of_a_table_has_its_head(tokenizer: Tokenizer) -> None:
    chunks = spanwise.chunk(large_table(tokenizer), tokenizer=tokenizer)
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.full_text.startswith("| id | name | city |\n|----|------|------|\n| ")
        assert not overlap(chunk)
    assert sum(chunk.normalized_text.count("\n") + 1 for chunk in chunks) == 252


def test_structure_text_without_headings_overlaps(tokenizer: Tokenizer) -> None:
    first, second = spanwise.chunk(no_headings(tokenizer), tokenizer=tokenizer)
    assert first.headings_path == second.headings_path == ()
    assert (first.core_block_indices, second.core_block_indices) == ([0, 1, 2], [3, 4])
    assert overlap(second).startswith("The ")
    assert 60 <= tokenizer.count(overlap(second)) <= 80


def test_structure_links_and_page_of_a_wiki_page(tokenizer: Tokenizer) -> None:
    document = confluence_page(tokenizer)
    assert [link.text for link in document.metadata.links] == ["the rules", "the desk"]
    chunk = spanwise.chunk(document, tokenizer=tokenizer)[-1]
    assert chunk.headings_path == ("Onboarding", "Contacts")
    assert chunk.metadata.page_id == "42"
    assert chunk.navigation["url"].startswith("https://wiki.example.org/onboarding#:~:text=Ask%20the%20desk.")


def test_structure_chunks_have_their_page(tokenizer: Tokenizer) -> None:
    chunks = spanwise.chunk(paged(tokenizer), tokenizer=tokenizer)
    assert [chunk.page_start for chunk in chunks] == [1, 1, 2, 2]
    assert [chunk.page_end for chunk in chunks] == [1, 1, 2, 2]
