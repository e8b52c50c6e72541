"""Tables in PDFs: heads, rows, cells, tables over pages, and how their chunks repeat the head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import spanwise
from made_pdfs import HEIGHT, LEFT, Expected, Sheet, blocks_of, markdown_table, parts_of, read_made
from pdf_makers import ROW, made
from pdf_prints import long_rows, printed, printed_page
from pdf_texts import LANGUAGES, TEXTS
from spanwise import Block, Document
from spanwise.testing.document_laws import assert_document

TABLES = [
    "ruled_table", "shaded_table", "table_of_level_rules", "borderless_table", "table_with_its_head_on_both_pages",
    "borderless_table_over_pages",
]  # fmt: skip
TEXT_BODY = TEXTS["en"].body


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tables(document: Document) -> list[Block]:
    assert_document(document)
    return [block for block in document.blocks if block.kind == "table"]


def rows(document: Document, table: Block) -> list[str]:
    """Return the rows of a table as text, the head with its delimiter."""
    return [str(row) for row in parts_of(document, table.parts)]


def drawn(sheet: Sheet, cells: Sequence[Sequence[str]], columns: Sequence[float], **style: bool) -> None:
    for row in cells:
        for x, cell in zip(columns, row, strict=True):
            sheet.write(LEFT + x + 4, sheet.y + 15, cell, **style)
        sheet.y += ROW


def grid(sheet: Sheet, lines: int, columns: Sequence[float]) -> None:
    """Draw a table grid at the current position; the last of `columns` is its right edge."""
    for row in range(lines + 1):
        sheet.rule(LEFT, sheet.y + row * ROW, columns[-1])
    for x in columns:
        sheet.rule(LEFT + x, sheet.y, 0, lines * ROW)


# ── heads and rows ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", TABLES)
def test_the_head_is_marked_and_every_row_is_a_part(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(made(name, language).data, tmp_path)
    for table in tables(document):
        found = rows(document, table)
        head = "| " + " | ".join(TEXTS[language].rows[0]) + " |"
        assert found[0] == f"{head}\n| --- | --- | --- |"
        assert [part.header for part in table.parts] == [True] + [False] * (len(found) - 1)
        assert "\n".join(found) == document.text[table.start : table.end]


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_its_location(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(made(name, language).data, tmp_path)
    for table in tables(document):
        locations = [part.source_ref or {} for part in table.parts]
        assert {location["page"] for location in locations} == {table.page}
        tops = [location["bbox"][1] for location in locations]
        assert tops == sorted(tops)
        assert all(location["bbox"][0] >= LEFT - 2 for location in locations)
        left, top, right, bottom = (table.source_ref or {})["bbox"]
        for box in (location["bbox"] for location in locations):
            assert left - 1 <= box[0] < box[2] <= right + 1
            assert top - 1 <= box[1] < box[3] <= bottom + 1


def test_a_bar_in_a_cell_is_escaped(tmp_path: Path) -> None:
    sheet = Sheet()
    grid(sheet, 2, (0, 100, 200))
    drawn(sheet, [["Name", "Rule"]], (0, 100), bold=True)
    drawn(sheet, [["a | b", "x"]], (0, 100))
    document = read_made(sheet.done().data, tmp_path)
    assert blocks_of(document) == (Expected("table", "| Name | Rule |\n| --- | --- |\n| a \\| b | x |"),)


def test_an_empty_cell_is_kept(tmp_path: Path) -> None:
    sheet = Sheet()
    cells = [["Pump", "Built", "Place"], ["Anna", "", "hall"], ["", "1961", "cellar"], ["Clara", "1987", ""]]
    grid(sheet, 4, (0, 100, 200, 300))
    drawn(sheet, cells[:1], (0, 100, 200), bold=True)
    drawn(sheet, cells[1:], (0, 100, 200))
    document = read_made(sheet.done().data, tmp_path)
    assert blocks_of(document) == (Expected("table", markdown_table(cells)),)


@pytest.mark.parametrize("language", ["en", "pl", "de", "ru", "zh"])
def test_lines_of_a_cell_are_one_text(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    lines = sheet.wrapped(texts.long_item, 180)
    top, height = sheet.y, 20.0 + 14 * len(lines)
    for y in (top, top + ROW, top + ROW + height):
        sheet.rule(LEFT, y, 300)
    for x in (0, 100, 300):
        sheet.rule(LEFT + x, top, 0, ROW + height)
    drawn(sheet, [texts.rows[0][:2]], (0, 100), bold=True)
    sheet.write(LEFT + 4, sheet.y + 15, texts.rows[1][0])
    sheet.y += 15
    sheet.lines(lines, x=LEFT + 104)
    document = read_made(sheet.done().data, tmp_path)
    expected = markdown_table([texts.rows[0][:2], [texts.rows[1][0], texts.long_item]])
    assert blocks_of(document) == (Expected("table", expected),)


def test_two_tables_on_a_page_are_two(tmp_path: Path) -> None:
    sheet = Sheet()
    for start in (1, 5):
        cells = [["Pump", "Number"], *([f"P{n}", str(n)] for n in range(start, start + 3))]
        grid(sheet, 4, (0, 100, 200))
        drawn(sheet, cells[:1], (0, 100), bold=True)
        drawn(sheet, cells[1:], (0, 100))
        sheet.expect("table", markdown_table(cells))
        sheet.y += 30
        sheet.paragraph(TEXT_BODY[start % 3])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


def test_numbers_on_the_right_of_their_columns_make_a_table_without_rules(tmp_path: Path) -> None:
    sheet = Sheet()
    cells = [["Pump", "Litres", "Share"], ["Anna", "1,250", "40 %"], ["Berta", "980", "31 %"], ["Clara", "905", "29 %"]]
    sheet.paragraph(TEXT_BODY[0])
    for number, row in enumerate(cells):
        for x, cell in zip((0, 160, 240), row, strict=True):
            right = LEFT + x + (0 if x == 0 else 60 - sheet.width(cell, bold=number == 0))
            sheet.write(right, sheet.y + 15, cell, bold=number == 0)
        sheet.y += 16
    sheet.y += 30
    sheet.expect("table", markdown_table(cells))
    sheet.paragraph(TEXT_BODY[1])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


# ── what looks like a table and is none ──────────────────────────────────────────────────────────────────────────


def test_a_box_around_a_paragraph_is_no_table(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.paragraph(TEXT_BODY[0])
    sheet.canvas.rect(LEFT - 6, HEIGHT - sheet.y - 40, 420, 54)
    sheet.paragraph(TEXT_BODY[1])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


@pytest.mark.browser
def test_underlined_words_are_no_table(tmp_path: Path) -> None:
    data = printed_page("underlined")
    assert blocks_of(read_made(data, tmp_path)) == tuple(Expected("paragraph", text) for text in TEXT_BODY)


def test_a_table_of_contents_is_no_table(tmp_path: Path) -> None:
    sheet = Sheet()
    for number, name in enumerate(TEXTS["en"].sections, 1):
        line = f"{number} {name} " + "." * 60
        sheet.write(LEFT, sheet.y, line)
        sheet.write(LEFT + 380, sheet.y, str(number * 4))
        sheet.y += 14
    sheet.y += 10
    sheet.paragraph(TEXT_BODY[0])
    assert tables(read_made(sheet.done().data, tmp_path)) == []


# ── over pages ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.browser
@pytest.mark.parametrize("name", ["long_table", "tagged_long_table"])
def test_a_printed_table_over_pages_has_its_head_on_each(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(printed(name, language).data, tmp_path)
    first, second = tables(document)
    head, *body = rows(document, first)
    again, *rest = rows(document, second)
    expected = markdown_table(long_rows(language)).split("\n")
    assert head == again == "\n".join(expected[:2])
    assert body + rest == expected[2:]
    assert (first.page, second.page) == (1, 2)


def test_a_table_that_goes_on_without_its_head_takes_it_from_the_page_before(language: str, tmp_path: Path) -> None:
    document = read_made(made("table_with_its_head_on_the_first_page", language).data, tmp_path)
    first, second = tables(document)
    assert [len(table.parts) for table in (first, second)] == [21, 20]
    assert not any(part.header for part in second.parts)
    head = rows(document, first)[0]
    chunks = spanwise.chunk(document, max_tokens=200, target_tokens=150, min_tokens=20)
    later = [chunk for chunk in chunks if chunk.chunk_type == "table" and chunk.page_start == 2]
    assert len(later) > 1
    assert all(chunk.full_text.startswith(f"{head}\n| ") for chunk in later)
    assert not any(head in chunk.normalized_text for chunk in later)


def test_every_chunk_of_a_long_table_begins_with_its_head(language: str, tmp_path: Path) -> None:
    document = read_made(made("table_with_its_head_on_both_pages", language).data, tmp_path)
    head = rows(document, tables(document)[0])[0]
    chunks = spanwise.chunk(document, max_tokens=200, target_tokens=150, min_tokens=20)
    parts = [chunk for chunk in chunks if chunk.chunk_type == "table"]
    assert len(parts) > 3
    assert all(chunk.full_text.startswith(f"{head}\n| ") for chunk in parts)
    assert {chunk.page_start for chunk in parts} == {1, 2}
