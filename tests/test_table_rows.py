"""Tables in `structure`: heads of several rows, rows that are cut between cells, and what their parts repeat."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from made_sheets import Book, Cell
from spanwise import Document
from spanwise.chunking.strategies import STRATEGIES
from spanwise.readers import read_bytes
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of


def table(rows: list[list[str]], head: int = 1) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + "---|" * len(rows[0]), *lines[1:]])


def wide(columns: int, rows: int) -> str:
    head = ["Name", *[f"Column {at}" for at in range(columns)]]
    return table([head, *[[f"Person {row}", *[f"value {row}.{at}" for at in range(columns)]] for row in range(rows)]])


def records(document: Document, **options: Any) -> list[dict[str, Any]]:
    found = [one.to_dict() for one in spanwise.chunk(document, "structure", **options)]
    assert broken_laws(document, found, tokenizer_of("cl100k"), options["max_tokens"]) == []
    return found


def pieces(document: Document, record: dict[str, Any], role: str) -> list[str]:
    return [document.text[one["start"] : one["end"]] for one in record["pieces"] if one["role"] == role]


def test_all_rows_of_a_head_are_repeated_together() -> None:
    rows: list[list[Cell]] = [
        ["Region", "2023", None, "2024"], [None, "Q1", "Q2", "Q1"],
    ]  # fmt: skip
    rows += [[f"Region {at}", at, at, at] for at in range(40)]
    document = read_bytes(Book().sheet("S", rows).data(), "x.xlsx", "xlsx", {})
    head = document.text[document.blocks[1].parts[0].start : document.blocks[1].parts[0].end]
    assert head.count("\n") == 2
    found = records(document, max_tokens=150)
    assert len(found) > 3
    assert all(pieces(document, one, "context") == [head] for one in found[1:])


def test_parts_of_a_row_repeat_its_first_cell_and_the_cells_above() -> None:
    document = spanwise.read_text(wide(60, 3))
    found = [one for one in records(document, max_tokens=200) if "Person 1" in one["full_text"]]
    assert len(found) > 3
    for one in found:
        *context, (core,) = pieces(document, one, "context"), pieces(document, one, "core")
        lines = one["full_text"].split("\n")
        columns = [cell.strip().replace("Column ", "value 1.") for cell in lines[0].strip("| ").split("|")][1:]
        assert [cell.strip() for cell in lines[2].strip("| ").split("|")] == ["Person 1", *columns]
        assert core.startswith("| value 1." if context[0][-1] == "| Person 1" else "| Person 1 |")
        assert one["context_dropped"]  # of the head only a part is repeated


def test_a_head_that_fits_is_repeated_whole_with_the_first_cell() -> None:
    document = spanwise.read_text(table([["Name", "Text"], ["Bob", "One sentence here. " * 60], ["Al", "short"]]))
    first, *others, last = records(document, max_tokens=120)
    assert first["full_text"].startswith("| Name | Text |\n|---|---|\n| Bob | One sentence")
    for one in others:
        assert pieces(document, one, "context") == ["| Name | Text |\n|---|---|", "| Bob", "|"]
        assert one["full_text"].startswith("| Name | Text |\n|---|---|\n| Bob | One sentence here.")
        assert not one["context_dropped"]
    assert last["normalized_text"] == "| Al | short |"


def test_repeated_context_takes_at_most_half() -> None:
    tokens = tokenizer_of("cl100k")
    for columns, limit in ((5, 40), (30, 60), (60, 100), (200, 300)):
        document = spanwise.read_text(wide(columns, 2).replace("Person 1", "A person with a very long name " * 2))
        for one in records(document, max_tokens=limit):
            context = " ".join(pieces(document, one, "context"))
            assert tokens.count(context) <= limit // 2 + 2
            assert context or one["context_dropped"] or one["char_start"] < document.blocks[0].parts[0].end


def test_a_first_cell_that_is_too_long_is_not_repeated() -> None:
    document = spanwise.read_text(table([["a", "b"], ["long words " * 80, "more words " * 80]]))
    last = records(document, max_tokens=100)[-1]
    assert pieces(document, last, "context") == ["| a | b |\n|---|---|"]


CELLS = st.sampled_from(
    [
        "",
        "x",
        "one two",
        "A sentence. Another one.",
        "word " * 30,
        "漢字" * 20,
        "👩‍👩‍👧" * 9,
        "a\\|b",
        "`c\\|d`",
        "long" * 40,
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Return a table, with text around it, of which some rows have cells too few or too many."""
    width = draw(st.integers(1, 25))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width + 1), min_size=1, max_size=6))
    rows[0] = rows[0][:width]
    return f"Before it.\n\n{table(rows)}\n\nAfter it."


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "smart"])
def test_laws_of_tables(strategy: str) -> None:
    @given(tables(), st.sampled_from((16, 17, 30, 64, 200)), st.sampled_from(("plain", "tags")))
    @settings(max_examples=40)
    def hold(text: str, limit: int, template: str) -> None:
        document = spanwise.read_text(text)
        options: dict[str, Any] = {"max_tokens": limit, "template": template}
        chunks = spanwise.chunk(document, STRATEGIES[strategy], **options)
        parents = 2000 if strategy == "hierarchical" else None
        found = [one.to_dict() for one in chunks]
        assert broken_laws(document, found, tokenizer_of("cl100k"), limit, parents) == []

    hold()


@pytest.mark.parametrize("limit", [40, 300])
def test_chunks_of_wide_tables_pass_the_checks(limit: int) -> None:
    document = spanwise.read_text(wide(80, 4))
    chunks = spanwise.chunk(document, "structure", max_tokens=limit)
    findings = spanwise.check(chunks, document, max_tokens=limit)
    assert [finding for finding in findings if finding.level == "violation"] == []


def test_cutting_rows_is_linear() -> None:
    texts = {size: spanwise.read_text(wide(size, 1)) for size in (200, 800)}
    assert_linear(lambda size: spanwise.chunk(texts[size], "structure", max_tokens=100), 200)
    long = {size: spanwise.read_text(table([["a", "b"], ["x", "A sentence. " * size]])) for size in (300, 1200)}
    assert_linear(lambda size: spanwise.chunk(long[size], "structure", max_tokens=100), 300)
