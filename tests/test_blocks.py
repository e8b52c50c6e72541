"""The `blocks` strategy: leaves and their numbers, both overlaps, the `confluence` dialect, findings of `check`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import spanwise
from growth import assert_linear
from spanwise.chunking.leaf_blocks import leaf_view
from spanwise.errors import OptionError
from spanwise.records.dialects import translate
from spanwise.testing.laws import broken_laws, by_leaf
from spanwise.text.tokens import tokenizer_of

PAGE = """\
# Клиника

Лечение проводилось в течение трёх месяцев.

## Результаты

- Первая группа
  - подгруппа А
- Вторая группа

### Эффективность

| Препарат | Доля |
|---|---|
| X | 0.8 |
| Y | 0.2 |

Побочные эффекты минимальны. Клинические испытания завершены.
"""


def made(text: str, tokenizer: str = "words", **options: Any) -> tuple[spanwise.Chunk, ...]:
    document = spanwise.read_text(text, page_id="12345", space_key="MED", page_version=7)
    return spanwise.chunk(document, "blocks", tokenizer, **options)


# leaves


def test_items_and_rows_are_blocks() -> None:
    (chunk,) = made(PAGE)
    document = chunk.document
    leaves = [document.text[block.start : block.end] for block in document.blocks]
    assert leaves[3:6] == ["- Первая группа", "- подгруппа А", "- Вторая группа"]
    assert leaves[7:10] == ["| Препарат | Доля |\n|---|---|", "| X | 0.8 |", "| Y | 0.2 |"]
    assert chunk.core_block_indices == list(range(len(leaves)))
    assert [block.kind for block in document.blocks[3:10]] == ["list"] * 3 + ["heading"] + ["table"] * 3
    assert document.blocks[5].headings_path == ("Клиника", "Результаты")


def test_leaf_view_without_lists_and_tables_is_the_document() -> None:
    document = spanwise.read_text("# A\n\nOne.\n\n> Two.")
    assert leaf_view(document) is document


@pytest.mark.parametrize("text", ["- - - a", "-\n  - a\n\n  b\n- [ ] - c", "1. a\n   - b\n   c\n2.\n3. - d\n     e"])
def test_leaves_lie_between_the_edges_of_items(text: str) -> None:
    document = spanwise.read_text(text)
    assert [leaf[1:3] for leaf in leaf_view(document).blocks] == [leaf[1:3] for leaf in by_leaf(document).blocks]


def test_items_have_their_id_and_rows_that_of_their_table() -> None:
    text = "- one ^first\n- two\n- three ^third\n\n| a |\n|---|\n| b |\n\n^rows\n"
    leaves = leaf_view(spanwise.read_text(text)).blocks
    assert [leaf.block_id for leaf in leaves[:5]] == ["first", None, "third", "rows", "rows"]


# overlap


@pytest.mark.parametrize("tokenizer", ["words", "cl100k", "approx"])
@pytest.mark.parametrize("limit", [16, 40, 64, 512])
def test_overlap_is_of_the_neighbours_cores_and_joining_repeats_nothing(limit: int, tokenizer: str) -> None:
    chunks = made(PAGE * 12, tokenizer, max_tokens=limit)
    records = [chunk.to_dict() for chunk in chunks]
    assert broken_laws(chunks[0].document, records, tokenizer_of(tokenizer), limit) == []
    joined = "".join(record["normalized_text"] for record in records)
    assert "".join(joined.split()) == "".join((PAGE * 12).split())
    for before, after in pairwise(records):
        repeated = set(after["overlap_prev_block_indices"]), set(before["overlap_next_block_indices"])
        assert repeated[0] <= set(before["core_block_indices"])
        assert repeated[1] <= set(after["core_block_indices"])
    with_both = [record for record in records[1:-1] if len({piece["role"] for piece in record["pieces"]}) == 3]
    assert limit < 64 or len(with_both) == len(records[1:-1])


def test_more_overlap_than_half_is_refused() -> None:
    with pytest.raises(OptionError, match="half of `max_tokens`"):
        made(PAGE, max_tokens=64, overlap_tokens=33)


@pytest.mark.parametrize(("name", "value"), [("overlap_next_tokens", 33), ("core_tokens", 65), ("core_tokens", 15)])
def test_sizes_that_contradict_the_limit_are_refused(name: str, value: int) -> None:
    with pytest.raises(OptionError, match=f"`{name}` must be") as caught:
        made(PAGE, "words", max_tokens=64, **{name: value})
    assert caught.value.hint


# small cores


SENTENCES = " ".join(f"Sentence {number} says a few words." for number in range(60))


def test_small_cores_overlap_several_chunks() -> None:
    options: dict[str, Any] = {"max_tokens": 100, "core_tokens": 16, "overlap_tokens": 40, "overlap_next_tokens": 20}
    document = spanwise.read_text(f"{SENTENCES}\n\nShort.\n\n{SENTENCES}")
    records = [made.to_dict() for made in spanwise.chunk(document, "blocks", "words", template="plain", **options)]
    assert broken_laws(document, records, tokenizer_of("words"), 100) == []
    findings = spanwise.check(records, document, "words", template="plain", **options)
    assert [finding for finding in findings if finding.level == "violation"] == []
    assert max(len(record["normalized_text"].split()) for record in records) <= 16
    for record in records[4:-4]:
        before, after = (
            sum(len(document.text[p["start"] : p["end"]].split()) for p in record["pieces"] if p["role"] == role)
            for role in ("overlap_prev", "overlap_next")
        )
        assert 34 < before <= 40
        assert 14 < after <= 20


def test_overlap_is_embedded_but_not_in_the_core() -> None:
    document = spanwise.read_text(f"The lynx was seen. {SENTENCES}")
    chunks = spanwise.chunk(document, "blocks", "words", max_tokens=96, core_tokens=16, overlap_tokens=32)
    assert [number for number, chunk in enumerate(chunks) if "lynx" in chunk.embedding_text] == [0, 1, 2]
    assert [number for number, chunk in enumerate(chunks) if "lynx" in chunk.normalized_text] == [0]


def test_without_core_tokens_only_neighbours_overlap() -> None:
    document = spanwise.read_text(SENTENCES)
    chunks = spanwise.chunk(document, "blocks", "words", max_tokens=64, overlap_tokens=20, overlap_next_tokens=7)
    for before, chunk in pairwise(chunks):
        assert all(piece.start >= before.char_start for piece in chunk.pieces)
        overlaps = [piece for piece in before.pieces if piece.role == "overlap_next"]
        assert sum(len(document.text[piece.start : piece.end].split()) for piece in overlaps) <= 7


def test_headings_and_their_text_have_small_cores_too() -> None:
    chunks = made(PAGE * 3, max_tokens=64, core_tokens=16, overlap_tokens=16)
    assert all(len(chunk.normalized_text.split()) <= 16 for chunk in chunks)
    assert not any(chunk.core_block_indices == [0] for chunk in chunks)


def test_check_knows_the_size_of_cores() -> None:
    document = spanwise.read_text(SENTENCES)
    options: dict[str, Any] = {"max_tokens": 64, "overlap_tokens": 16, "template": "plain"}
    records = [made.to_dict() for made in spanwise.chunk(document, "blocks", "words", core_tokens=30, **options)]
    assert reasons(records, document, core_tokens=30, **options) == []
    findings = reasons(records, document, core_tokens=16, **options)
    assert any("tokens, more than core_tokens (16)" in reason for reason in findings)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["- a\n", "a\n\n", "# a\n\n"])
@pytest.mark.parametrize("options", [{}, {"max_tokens": 1_000_000, "overlap_tokens": 400_000}, {"max_tokens": 16}])
def test_many_tiny_leaves(unit: str, options: dict[str, int]) -> None:
    def work(leaves: int) -> None:
        chunks = made(unit * leaves, "cl100k", **options)
        length = sum(len("".join(chunk.normalized_text.split())) for chunk in chunks)
        assert length == leaves * len("".join(unit.split()))

    assert_linear(work, 1_000)


# the dialect `confluence`


def test_every_field_of_the_dialect() -> None:
    document = spanwise.read_text(
        PAGE, page_id="12345", space_key="MED", page_version=7, updated_at="2026-01-28T10:00:00Z",
        source_url="https://wiki.example.com/x/1",
    )  # fmt: skip
    chunks = spanwise.chunk(document, "blocks", "words", max_tokens=30, overlap_tokens=6)
    records = translate(chunks, "confluence")
    assert [one["chunk_id"] for one in records] == ["EDU:12345:0-5", "EDU:12345:6-7", "EDU:12345:8-10"]
    record = records[1]
    assert (record["overlap_prev_block_indices"], record["overlap_next_block_indices"]) == ([4, 5], [8])
    assert (record["core_block_indices"], record["block_indices"]) == ([6, 7], [4, 5, 6, 7, 8])
    assert record["md_text"] == document.text[chunks[1].char_start : chunks[1].char_end]
    assert record["normalized_text"] == chunks[1].plain_text
    around = "  подгруппа А\nВторая группа\n\n", "\n| X | 0.8 |"
    assert record["normalized_text"] in record["full_text"]
    tags = "[PAGE] Клиника\n[SECTION] Результаты > Эффективность\n[TEXT] "
    assert record["embedding_text"] == tags + around[0] + record["normalized_text"] + around[1]
    assert record["embedding_text"] == tags + record["full_text"]
    assert record["full_heading_hierarchy"] == ["Клиника", "Результаты", "Эффективность"]
    assert record["text_heading_hierarchy"] == ["Результаты", "Эффективность"]
    assert [one["nearest_heading_id"] for one in records] == ["EDU:12345-0", "EDU:12345-6", "EDU:12345-6"]
    assert (record["page_title"], record["page_version"]) == ("Клиника", 7)
    assert (record["last_modified"], record["space_key"]) == ("2026-01-28T10:00:00Z", "MED")
    assert record["text_length"] == len(record["normalized_text"]) == record["navigation"]["text_length"]
    assert record["navigation"]["text_offset_start"] == chunks[1].char_start
    assert [one["navigation"]["highlight_metadata"]["block_type"] for one in records] == ["h1", "h3", "tr"]


def test_parts_of_a_split_block_are_distinguished() -> None:
    chunks = made("Before.\n\n" + "One two three. " * 12 + "\n\nAfter.", max_tokens=16, template="plain")
    ids = [record["chunk_id"] for record in translate(chunks, "confluence")]
    assert ids[:3] == ["EDU:12345:0-0", "EDU:12345:1-1", "EDU:12345:1-1.2"]
    assert ids[-1] == "EDU:12345:2-2"


# what `check` finds when a chunk breaks a promise


def reasons(records: list[dict[str, Any]], document: spanwise.Document, **options: Any) -> list[str]:
    findings = spanwise.check(records, document, "words", **options)
    return [finding.reason for finding in findings if finding.rule == "promise"]


def test_check_knows_the_limit_of_overlap() -> None:
    document = spanwise.read_text("\n\n".join(f"Text {number} here." for number in range(12)))
    options: dict[str, Any] = {"max_tokens": 24, "template": "plain"}
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "blocks", "words", overlap_tokens=8, **options)]
    assert reasons(records, document, overlap_tokens=8, **options) == []
    findings = reasons(records, document, overlap_tokens=1, **options)
    assert any("overlap before has 6 tokens" in reason for reason in findings)
    assert any("overlap after has 6 tokens" in reason for reason in findings)


def test_check_finds_leaves_that_are_cut() -> None:
    document = spanwise.read_text("One two. Three four.\n\nFive.")
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "simple", "words", max_chars=9)]
    findings = reasons([{**record, "strategy": "blocks"} for record in records], document)
    assert "a paragraph of 4 tokens is cut, though 512 would fit" in findings
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "simple", "words", max_chars=12)]
    findings = reasons([{**record, "strategy": "blocks"} for record in records], document)
    assert "a part of a split block stands in one chunk with others" in findings


def findings_with_overlap(overlap: tuple[str, str]) -> list[str]:
    """Replace the overlap of the second of two chunks by other text of the first, and return the findings."""
    paragraphs = (
        "One two three. Four.",
        "Five six seven.",
        "Eight nine ten eleven.",
        "Twelve thirteen fourteen and so on.",
    )
    text = "\n\n".join(paragraphs)
    document = spanwise.read_text(text)
    options: dict[str, Any] = {"max_tokens": 16, "overlap_tokens": 5, "template": "plain"}
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "blocks", "words", **options)]
    assert [record["core_block_indices"] for record in records] == [[0, 1, 2], [3]]
    assert reasons(records, document, **options) == []
    start, end = text.index(overlap[0]), text.index(overlap[1]) + len(overlap[1])
    core = text[records[1]["char_start"] :]
    full = f"{text[start:end]}\n\n{core}"
    before = [index for index, block in enumerate(document.blocks) if block.start < end and block.end > start]
    records[1] |= {
        "full_text": full, "embedding_text": full, "token_count": len(full.split()),
        "overlap_prev_block_indices": before, "block_indices": [*before, 3],
    }  # fmt: skip
    records[1]["pieces"][0] |= {"start": start, "end": end}
    return reasons(records, document, **options)


def test_check_finds_overlap_that_splits_a_block() -> None:
    torn = "overlap_prev tears a block, though it holds another one whole"
    assert findings_with_overlap(("seven.", "eleven.")) == [torn]


def test_check_finds_overlap_that_is_not_the_edge_of_a_core() -> None:
    assert findings_with_overlap(("Five", "seven.")) == ["overlap_prev is not the edge of the core of the chunk beside"]
