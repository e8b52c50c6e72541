"""Chunks of PDFs: the acceptance document, pages as boundaries, headings as sections."""

from __future__ import annotations

from pathlib import Path

import pytest

import spanwise
from made_pdfs import LEFT, Made, Sheet, blocks_of, markdown_table, read_made
from pdf_makers import made
from pdf_prints import printed
from pdf_texts import LANGUAGES, TEXTS
from spanwise import Tokenizer
from spanwise.text.tokens import tokenizer_of
from test_seeds import WORDS, checked, paragraph, sentence

ROW = 12.0


@pytest.fixture(params=["words", "cl100k", "o200k"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return tokenizer_of(request.param)


def ruled(sheet: Sheet, rows: list[list[str]]) -> None:
    """Draw a table of two columns."""
    for number in range(len(rows) + 1):
        sheet.rule(LEFT, sheet.y + number * ROW, 200)
    for x in (0, 60, 200):
        sheet.rule(LEFT + x, sheet.y, 0, len(rows) * ROW)
    for number, row in enumerate(rows):
        for x, cell in zip((4, 64), row, strict=True):
            sheet.write(LEFT + x, sheet.y + 9, cell, 8, bold=number == 0)
        sheet.y += ROW
    sheet.expect("table", markdown_table(rows))


def report(tokenizer: Tokenizer) -> Made:
    """Return a PDF with a heading, a paragraph and a table on one page, a list and a paragraph on the next."""
    sheet = Sheet()
    sheet.y = 40
    sheet.heading("Report", 1, 20)
    sheet.paragraph(paragraph(200, tokenizer))
    ruled(sheet, [["id", "name"], *([str(number), WORDS[number % 10]] for number in range(40))])
    sheet.turn_page()
    items = [sentence(20, tokenizer)] * 8
    for number, item in enumerate(items, 1):
        sheet.item(f"{number}.", item, LEFT)
    sheet.expect("list", "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1)))
    sheet.y += 12
    sheet.paragraph(paragraph(200, tokenizer))
    return sheet.done()


# ── the acceptance document: a table, lists and paragraphs ───────────────────────────────────────────────────────


def test_structure_number_types_limits_and_ids_of_a_pdf(tokenizer: Tokenizer, tmp_path: Path) -> None:
    made_report = report(tokenizer)
    document = read_made(made_report.data, tmp_path)
    assert blocks_of(document) == made_report.blocks
    chunks = checked(document, "structure", tokenizer, 900)
    assert [chunk.chunk_type for chunk in chunks] == ["paragraph", "table", "list", "paragraph"]
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 1), (1, 1), (2, 2), (2, 2)]
    assert {chunk.headings_path for chunk in chunks} == {("Report",)}
    again = spanwise.chunk(read_made(report(tokenizer).data, tmp_path), "structure", tokenizer)
    assert [chunk.chunk_id for chunk in again] == [chunk.chunk_id for chunk in chunks]


def test_the_pdf_gives_the_chunks_of_its_markdown(tokenizer: Tokenizer, tmp_path: Path) -> None:
    made_report = report(tokenizer)
    document = read_made(made_report.data, tmp_path, document_id="a")
    texts = [block.text for block in made_report.blocks]
    pages = ["\n\n".join(texts[:3]), "\n\n".join(texts[3:])]
    written = spanwise.read_pages(pages, format="markdown", document_id="a")
    assert document.text == written.text
    chunks, others = (spanwise.chunk(each, "structure", tokenizer) for each in (document, written))
    assert [chunk.chunk_id for chunk in chunks] == [chunk.chunk_id for chunk in others]
    assert [chunk.full_text for chunk in chunks] == [chunk.full_text for chunk in others]


@pytest.mark.browser
@pytest.mark.parametrize("name", ["handbook", "untagged_handbook"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_structure_types_paths_and_pages_in_every_language(name: str, language: str, tmp_path: Path) -> None:
    document, texts = read_made(printed(name, language).data, tmp_path), TEXTS[language]
    chunks = spanwise.chunk(document, min_tokens=1)
    title, (first, second, third) = texts.title, texts.sections
    seen = [(chunk.chunk_type, chunk.headings_path, chunk.page_start, chunk.page_end) for chunk in chunks]
    assert ("table", (title, second), 2, 2) in seen
    assert ("code", (title, second, third), 2, 2) in seen
    assert {path for _, path, _, _ in seen} == {(title,), (title, first), (title, second), (title, second, third)}
    assert all(start == end == (1 if path[-1] in {title, first} else 2) for _, path, start, end in seen)


# ── pages and headings ───────────────────────────────────────────────────────────────────────────────────────────


def test_fixed_takes_page_breaks_for_paragraph_boundaries(tokenizer: Tokenizer, tmp_path: Path) -> None:
    sheet = Sheet()
    for number in range(3):
        if number:
            sheet.turn_page()
        sheet.paragraph(f"{WORDS[number].title()} {paragraph(400, tokenizer)}")
    document = read_made(sheet.done().data, tmp_path)
    chunks = checked(document, "fixed", tokenizer, 750)
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 1), (2, 2), (3, 3)]


def test_a_chunk_over_pages_has_both_pages(tmp_path: Path) -> None:
    document = read_made(made("paragraphs", "en").data, tmp_path)
    for strategy in ("structure", "fixed", "heading", "window"):
        (chunk,) = spanwise.chunk(document, strategy)
        assert (chunk.page_start, chunk.page_end) == (1, 2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_heading_gives_every_section_its_chunk(language: str, tmp_path: Path) -> None:
    document, texts = read_made(made("headings_by_size", language).data, tmp_path), TEXTS[language]
    chunks = spanwise.chunk(document, "heading", strict=True)
    opened = [f"# {texts.title}", f"## {texts.sections[0]}", f"## {texts.sections[2]}"]
    assert [chunk.normalized_text.split("\n")[0] for chunk in chunks] == opened
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(1, 1), (1, 1), (2, 2)]


def test_records_have_the_location_in_the_pdf(tmp_path: Path) -> None:
    document = read_made(made("headings_by_size", "de").data, tmp_path)
    for chunk in spanwise.chunk(document, "heading"):
        record = chunk.to_dict()
        blocks = [document.blocks[index] for index in record["core_block_indices"]]
        assert [block.page for block in blocks] == [(block.source_ref or {})["page"] for block in blocks]
        assert (record["page_start"], record["page_end"]) == (blocks[0].page, blocks[-1].page)
        assert record["metadata"]["source_type"] == "pdf"
