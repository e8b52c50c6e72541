"""Dialects: the same chunks under other systems' names, field by field as the contract lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

import spanwise
from command import files, records
from spanwise.cli import main
from spanwise.errors import OptionError
from spanwise.records.dialects import DIALECTS, translate
from spanwise.text.tokens import tokenizer_of

PAGE = """\
Before any heading.

# Guide

First words of the guide. They are short.

## Rates

| City   | Rate |
|--------|-----:|
| Berlin |   41 |

### Deep

- one ^item

> quoted

```python
x = 1
```

<figure><img src="a.png"></figure>

## Last

"""
LONG = " ".join(f"Sentence number {number} says a little." for number in range(60))
METADATA: dict[str, Any] = {
    "document_id": "doc-1", "tenant_id": "acme", "source_url": "https://example.com/p", "file_path": "a/b.md",
    "author": "Ada", "updated_at": "2026-01-28T10:00:00Z", "labels": ["x", "y"], "space_key": "SP", "page_id": "77",
    "page_version": 3,
}  # fmt: skip

SPEC_V1 = [
    "chunk_id", "tenant_id", "document_id", "chunk_type", "headings_path", "md_text", "char_start", "char_end",
    "block_start_idx", "block_end_idx", "token_estimate", "source_url", "file_path",
]  # fmt: skip
OTHER_METADATA = [
    "source_type", "title", "author", "updated_at", "labels", "space_key", "page_id", "page_version", "links",
]  # fmt: skip
CONFLUENCE = [
    "chunk_id", "page_id", "space_key", "block_indices", "core_block_indices", "overlap_prev_block_indices",
    "overlap_next_block_indices", "normalized_text", "full_text", "embedding_text", "full_heading_hierarchy",
    "text_heading_hierarchy", "nearest_heading_id", "page_title", "page_version", "last_modified", "text_length",
    "navigation", "md_text",
]  # fmt: skip
NOTES = [
    "id", "note_id", "index", "text", "window", "token_count", "section_title", "section_path", "neighbors_prev",
    "neighbors_next", "section_type", "block_id",
]  # fmt: skip
FIXED_SIZE = ["content", "chunkIndex", "startOffset", "endOffset", "chunkType", "metadata"]
FIELDS = {
    "spec-v1": SPEC_V1 + OTHER_METADATA, "confluence": CONFLUENCE, "notes": NOTES, "fixed-size": FIXED_SIZE,
    "pages": ["page_num", "text"],
}  # fmt: skip


def made(text: str = PAGE, strategy: Any = "structure", **options: Any) -> tuple[spanwise.Chunk, ...]:
    document = spanwise.read_text(text, **METADATA)
    return spanwise.chunk(document, strategy, **{"min_tokens": 0} | options)


def both(dialect: str, text: str = PAGE, **options: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs of each chunk's record in a dialect and our own."""
    chunks = made(text, **options)
    ours = [chunk.to_dict() for chunk in chunks]
    return list(zip(translate(chunks, dialect), ours, strict=True))


def test_there_are_the_five_of_the_contract() -> None:
    assert set(DIALECTS) == set(FIELDS)


@pytest.mark.parametrize("dialect", FIELDS)
def test_a_record_has_exactly_the_fields_of_the_contract(dialect: str) -> None:
    pairs = both(dialect)
    assert len(pairs) >= 6
    assert all(set(record) == set(FIELDS[dialect]) for record, _ in pairs)
    assert all(list(record)[: len(FIELDS[dialect])] == FIELDS[dialect] for record, _ in pairs)


@pytest.mark.parametrize("dialect", FIELDS)
def test_a_record_without_metadata_has_the_same_fields(dialect: str) -> None:
    chunks = spanwise.chunk(spanwise.read_text("Only words."))
    (record,) = translate(chunks, dialect)
    assert set(record) == set(FIELDS[dialect])


@pytest.mark.parametrize("dialect", FIELDS)
def test_no_chunks_are_no_records(dialect: str) -> None:
    assert translate(spanwise.chunk(spanwise.read_text("# only a heading")), dialect) == []


def test_an_unknown_dialect_is_refused_with_a_hint() -> None:
    with pytest.raises(OptionError, match="did you mean `notes`"):
        translate(made(), "note")


# -------------------------------------------------------------------------------------------------------- spec-v1


def test_spec_v1_matches_our_record() -> None:
    for record, ours in both("spec-v1", PAGE + LONG, max_tokens=100, target_tokens=60):
        for name in SPEC_V1:
            if name not in {"md_text", "token_estimate", "chunk_type", "source_url", "file_path"}:
                assert record[name] == ours[name], name
        assert record["md_text"] == ours["full_text"]
        assert record["token_estimate"] == tokenizer_of("cl100k").count(ours["full_text"])
        for name in ("source_url", "file_path", *OTHER_METADATA):
            assert record[name] == ours["metadata"][name], name


def test_spec_v1_offsets_are_those_of_the_core() -> None:
    document = spanwise.read_text(PAGE + LONG.replace(" Sentence", "\n\nSentence"))
    chunks = spanwise.chunk(document, max_tokens=100, target_tokens=60)
    assert any(chunk.full_text != chunk.normalized_text for chunk in chunks)
    for record, chunk in zip(translate(chunks, "spec-v1"), chunks, strict=True):
        assert document.text[record["char_start"] : record["char_end"]] == chunk.normalized_text
        assert record["md_text"].endswith(chunk.normalized_text)


def test_spec_v1_knows_six_types() -> None:
    pairs = both("spec-v1")
    assert {record["chunk_type"] for record, _ in pairs} <= {"paragraph", "list", "table", "code", "quote", "mixed"}
    figures = [record for record, ours in pairs if ours["chunk_type"] == "figure"]
    assert [record["chunk_type"] for record in figures] == ["paragraph"]
    kinds = {ours["chunk_type"] for _, ours in pairs if ours["chunk_type"] != "figure"}
    assert {record["chunk_type"] for record, _ in pairs} == kinds


def test_spec_v1_custom_metadata_override_nothing() -> None:
    document = spanwise.read_text("Words.", extra={"team": "hr", "md_text": "false", "title": "false"})
    (record,) = translate(spanwise.chunk(document), "spec-v1")
    assert record["team"] == "hr"
    assert record["md_text"] == "Words."
    assert record["title"] is None


# ----------------------------------------------------------------------------------------------------- confluence


def test_confluence_matches_our_record() -> None:
    same = [
        "block_indices", "core_block_indices", "overlap_prev_block_indices", "overlap_next_block_indices",
        "embedding_text",
    ]  # fmt: skip
    for record, ours in both("confluence", PAGE + LONG, max_tokens=100, target_tokens=60):
        assert {name: record[name] for name in same} == {name: ours[name] for name in same}
        assert (record["page_id"], record["space_key"], record["page_version"]) == ("77", "SP", 3)
        assert (record["page_title"], record["last_modified"]) == ("Guide", "2026-01-28T10:00:00Z")
        assert (record["normalized_text"], record["md_text"]) == (ours["plain_text"], ours["normalized_text"])
        assert record["normalized_text"] in record["full_text"]
        assert not re.search(r"\]\(|\*\*|^#|^- |^```", record["full_text"], re.MULTILINE)
        assert record["text_length"] == len(record["normalized_text"])
        assert record["navigation"] == ours["navigation"] | {"text_length": record["text_length"]}
        assert record["full_heading_hierarchy"] == ours["headings_path"]


def test_confluence_names_chunks_by_their_core_blocks() -> None:
    for record, ours in both("confluence"):
        first, last = ours["core_block_indices"][0], ours["core_block_indices"][-1]
        assert record["chunk_id"] == f"EDU:77:{first}-{last}"


def test_confluence_distinguishes_parts_of_one_block() -> None:
    pairs = both("confluence", f"Short.\n\n---\n\n{LONG}\n", max_tokens=100)
    ids = [record["chunk_id"] for record, _ in pairs]
    parts = len(ids) - 1
    assert parts > 3
    assert ids == ["EDU:77:0-0", "EDU:77:2-2", *(f"EDU:77:2-2.{number}" for number in range(2, parts + 1))]


@pytest.mark.parametrize("strategy", ["structure", "fixed"])
def test_confluence_ids_are_unique(strategy: Any) -> None:
    text = "\n\n".join(["Alpha. Beta. Gamma.", LONG, "Delta.", "", LONG, "Short one."])
    chunks = spanwise.chunk(spanwise.read_text(text), strategy, max_tokens=64)
    ids = [record["chunk_id"] for record in translate(chunks, "confluence")]
    assert len(set(ids)) == len(ids) > 10


def test_confluence_takes_another_prefix_everywhere() -> None:
    for record in translate(made(), "confluence", prefix="KB"):
        assert record["chunk_id"].startswith("KB:77:")
        assert record["nearest_heading_id"] is None or record["nearest_heading_id"].startswith("KB:77-")


def test_confluence_falls_back_on_the_document_where_there_is_no_page() -> None:
    document = spanwise.read_text(PAGE, document_id="doc-9")
    record = translate(spanwise.chunk(document), "confluence")[1]
    assert record["page_id"] is None
    assert record["chunk_id"].startswith("EDU:doc-9:")
    assert record["nearest_heading_id"].startswith("EDU:doc-9-")


def test_the_nearest_heading_is_the_last_one_above() -> None:
    document = spanwise.read_text(PAGE, **METADATA)
    headings = [index for index, block in enumerate(document.blocks) if block.kind == "heading"]
    seen = set()
    for record in translate(made(), "confluence"):
        first = record["core_block_indices"][0]
        above = [index for index in headings if index <= first]
        expected = f"EDU:77-{above[-1]}" if above else None
        assert record["nearest_heading_id"] == expected
        seen.add(expected)
    assert None in seen
    assert len(seen) == 4  # before any heading, under Guide, under Rates, under Deep


def test_the_last_headings_are_kept() -> None:
    deep = [record for record in translate(made(), "confluence") if len(record["full_heading_hierarchy"]) == 3]
    assert deep
    assert all(record["full_heading_hierarchy"] == ["Guide", "Rates", "Deep"] for record in deep)
    assert all(record["text_heading_hierarchy"] == ["Rates", "Deep"] for record in deep)
    for levels in (1, 3, 6):
        given = translate(made(), "confluence", heading_levels=levels)
        chosen = translate(made(max_heading_levels=levels), "confluence")
        for record in (*given, *chosen):
            assert record["text_heading_hierarchy"] == record["full_heading_hierarchy"][-levels:]


# ---------------------------------------------------------------------------------------------------------- notes


def test_notes_match_our_record() -> None:
    for record, ours in both("notes", PAGE + LONG, max_tokens=100, template="tags"):
        assert record["note_id"] == "doc-1"
        assert record["index"] == ours["chunk_index"]
        assert (record["text"], record["window"]) == (ours["full_text"], ours["embedding_text"])
        assert record["window"] != record["text"]
        assert record["token_count"] == tokenizer_of("cl100k").count(record["text"]) < ours["token_count"]
        for name in ("section_type", "block_id"):
            assert record[name] == ours[name]


def test_notes_are_numbered_with_two_digits_or_more() -> None:
    document = spanwise.read_text("ab " * 120, document_id="n")
    ids = [record["id"] for record in translate(spanwise.chunk(document, "simple", max_chars=3), "notes")]
    assert ids[:2] == ["n#c00", "n#c01"]
    assert ids[99:101] == ["n#c99", "n#c100"]


def test_notes_name_their_neighbours() -> None:
    found = [record for record, _ in both("notes")]
    ids = [record["id"] for record in found]
    assert [record["neighbors_prev"] for record in found] == [None, *ids[:-1]]
    assert [record["neighbors_next"] for record in found] == [*ids[1:], None]


def test_notes_name_their_section() -> None:
    found = {record["text"].split()[0]: record for record, _ in both("notes")}
    assert (found["Before"]["section_title"], found["Before"]["section_path"]) == (None, "/")
    assert (found["First"]["section_title"], found["First"]["section_path"]) == ("Guide", "/Guide")
    assert (found["-"]["section_title"], found["-"]["section_path"]) == ("Deep", "/Guide/Rates/Deep")


# ----------------------------------------------------------------------------------------------- fixed-size, pages


def test_fixed_size_matches_our_record() -> None:
    pairs = both("fixed-size", PAGE + LONG, strategy="fixed", max_tokens=100)
    for record, ours in pairs:
        assert record["content"] == ours["full_text"]
        assert record["chunkIndex"] == ours["chunk_index"]
        assert (record["startOffset"], record["endOffset"]) == (ours["char_start"], ours["char_end"])
        assert record["chunkType"] == "fixed-size"
        overlap = any(piece["role"] in {"overlap_prev", "overlap_next"} for piece in ours["pieces"])
        expected = {"strategy": "FIXED_SIZE", "tokenCount": ours["token_count"], "hasOverlap": overlap}
        assert record["metadata"] == expected
    assert {record["metadata"]["hasOverlap"] for record, _ in pairs} == {True, False}


def test_pages_give_their_numbers() -> None:
    document = spanwise.read_pages(["First page.", "", "Third page."])
    chunks = spanwise.chunk(document)
    numbers = [(record["page_num"], record["text"]) for record in translate(chunks, "pages")]
    assert numbers == [(chunk.page_start, chunk.full_text) for chunk in chunks]
    assert numbers[0][0] == 1


def test_what_has_no_pages_is_page_one() -> None:
    assert {record["page_num"] for record, _ in both("pages")} == {1}


# ----------------------------------------------------------------------------------------------- on the command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files(tmp_path, {"a.md": PAGE, "b.md": LONG}))
    return tmp_path


@pytest.mark.parametrize("dialect", FIELDS)
def test_the_command_line_writes_the_same(dialect: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chunk", ".", "--dialect", dialect, "--max-tokens", "64", "--min-tokens", "0", "-q"]) == 0
    chunks = [spanwise.chunk(spanwise.read(name), max_tokens=64, min_tokens=0) for name in ("a.md", "b.md")]
    assert records(capsys.readouterr().out) == [record for one in chunks for record in translate(one, dialect)]


@pytest.mark.parametrize("dialect", FIELDS)
def test_json_and_parquet_hold_the_same(dialect: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyarrow import parquet

    common = ["chunk", ".", "--dialect", dialect, "-q"]
    outside = folder / ".out"  # what is written beside the documents would be read the next time
    outside.mkdir()
    assert main(common) == main([*common, "--format", "json", "-o", str(outside / "x.json")]) == 0
    assert main([*common, "--format", "parquet", "-o", str(outside / "x.parquet")]) == 0
    expected = records(capsys.readouterr().out)
    assert orjson.loads((outside / "x.json").read_bytes()) == expected
    assert parquet.read_table(outside / "x.parquet").to_pylist() == expected


def test_prefix_and_levels_are_flags(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--dialect", "confluence", "--id-prefix", "KB", "--max-heading-levels", "1", "--meta", "page_id=5"]
    assert main(["chunk", "a.md", *flags, "-q"]) == 0
    found = records(capsys.readouterr().out)
    assert all(record["chunk_id"].startswith("KB:5:") for record in found)
    assert max(len(record["text_heading_hierarchy"]) for record in found) == 1
    assert max(len(record["full_heading_hierarchy"]) for record in found) == 3


def test_parts_are_counted_per_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(folder, {"c.md": LONG})
    assert main(["chunk", "b.md", "c.md", "--dialect", "confluence", "--max-tokens", "100", "-q"]) == 0
    ids = [record["chunk_id"] for record in records(capsys.readouterr().out)]
    assert sum(name.endswith(":0-0") for name in ids) == 2
    assert sum(name.endswith(":0-0.2") for name in ids) == 2
    assert len(set(ids)) == len(ids)
