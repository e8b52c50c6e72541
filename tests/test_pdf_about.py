"""Metadata of a PDF (title, author, date, language), its links, and its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from made_pdfs import HEIGHT, LEFT, SIZE, Sheet, blocks_of, figure, read_made
from pdf_makers import MIDDLE, TARGET, made, two_columns
from pdf_prints import printed, printed_page
from pdf_texts import LANGUAGES, TEXTS
from spanwise import Document

HOME = "https://example.org/"


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def targets(document: Document) -> list[tuple[str, str]]:
    return [(link.target, link.text) for link in document.metadata.links]


# ── what the file says of itself ─────────────────────────────────────────────────────────────────────────────────


def test_title_author_date_and_language_come_from_the_file(language: str, tmp_path: Path) -> None:
    found = read_made(made("linked", language).data, tmp_path).metadata
    assert (found.title, found.author, found.language) == (TEXTS[language].title, TEXTS[language].author, language)
    assert found.source_type == "pdf"
    assert (found.updated_at or "").startswith("2000-01-01T00:00:00")


@pytest.mark.browser
def test_a_printed_page_has_its_title_and_language(language: str, tmp_path: Path) -> None:
    found = read_made(printed("handbook", language).data, tmp_path).metadata
    assert (found.title, found.language) == (TEXTS[language].title, language)
    assert (found.updated_at or "").startswith("2026-01-31T12:00:00")


def test_given_metadata_win(tmp_path: Path) -> None:
    found = read_made(made("linked", "pl").data, tmp_path, title="Żółw", language="en", labels=["a"]).metadata
    assert (found.title, found.language, found.labels) == ("Żółw", "en", ("a",))


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - a.docx", "a.pdf"])
def test_a_meaningless_title_is_replaced_by_the_first_heading(title: str, tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.canvas.setTitle(title)
    sheet.heading("Pump house", 1, 20)
    sheet.paragraph(TEXTS["en"].body[0])
    assert read_made(sheet.done().data, tmp_path).metadata.title == "Pump house"


# ── links ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_links_have_target_text_and_location(language: str, tmp_path: Path) -> None:
    document, texts = read_made(made("linked", language).data, tmp_path), TEXTS[language]
    assert targets(document) == [(TARGET, texts.linked[1])]
    assert [document.text[start:].startswith(texts.linked[1]) for start in document.link_starts] == [True]


@pytest.mark.browser
@pytest.mark.parametrize("name", ["leaflet", "untagged_leaflet"])
def test_a_link_over_two_lines_is_one_link(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(printed(name, language).data, tmp_path)
    assert targets(document) == [(TARGET, TEXTS[language].linked[1])]


def _linked(sheet: Sheet, x: float, text: str, target: str, size: float = SIZE) -> None:
    """Write a link on the current line."""
    sheet.write(x, sheet.y, text, size)
    sheet.canvas.linkURL(target, (x, HEIGHT - sheet.y - 3, x + sheet.width(text, size), HEIGHT - sheet.y + size))


def test_links_in_margins_and_captions_do_not_replace_others(tmp_path: Path) -> None:
    sheet, texts = Sheet(), TEXTS["en"]
    for number, body in enumerate(texts.body):
        if number:
            sheet.turn_page()
        sheet.y = 40
        _linked(sheet, LEFT, "Home page", HOME, 8)
        sheet.y = 110
        sheet.paragraph(body)
        if number == 1:
            sheet.picture(LEFT, sheet.y, 100, 80)
            sheet.y += 92
            _linked(sheet, LEFT, "Figure 1. The hall", f"{HOME}hall", 9)
            sheet.y += 40
        _linked(sheet, LEFT, f"Rule number {number}", f"{HOME}{number}")
    document = read_made(sheet.done().data, tmp_path)
    for number in range(3):
        assert (f"{HOME}{number}", f"Rule number {number}") in targets(document)
    for link, start in zip(document.metadata.links, document.link_starts, strict=True):
        assert document.text.startswith(link.text, start)


@pytest.mark.browser
def test_links_in_tables_are_listed(tmp_path: Path) -> None:
    document = read_made(printed_page("link in a table"), tmp_path)
    assert targets(document) == [(TARGET, "of Anna")]


@pytest.mark.parametrize("language", ["en", "pl", "ru"])
def test_a_column_that_begins_with_a_link_goes_on_with_the_paragraph(language: str, tmp_path: Path) -> None:
    def with_link(canvas: Any) -> None:
        canvas.linkURL(HOME, (MIDDLE, HEIGHT - 180, MIDDLE + 30, HEIGHT - 100))

    columns = two_columns(language, more=with_link)
    document = read_made(columns.data, tmp_path)
    assert blocks_of(document) == columns.blocks
    assert targets(document)[0][0] == HOME


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.browser
def test_figures_are_written_under_the_names_that_the_text_has(language: str, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    document = read_made(printed("handbook", language).data, tmp_path, figures=folder)
    (block,) = (block for block in document.blocks if block.kind == "figure")
    name = (block.source_ref or {})["file"]
    assert f'src="{name}"' in document.text[block.start : block.end]
    with Image.open(folder / name) as image:
        assert image.format == "PNG"
        assert image.convert("RGB").getpixel((image.width // 2, image.height // 3)) == (20, 120, 40)


def test_a_picture_without_a_caption_is_a_figure_and_ornaments_are_none(tmp_path: Path) -> None:
    sheet, texts = Sheet(), TEXTS["en"]
    sheet.paragraph(texts.body[0])
    sheet.picture(LEFT, sheet.y, 200, 150)
    sheet.expect("figure", figure())
    sheet.picture(LEFT + 300, sheet.y, 12, 12)
    sheet.y += 180
    sheet.paragraph(texts.body[1])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


def test_a_caption_above_its_picture_belongs_to_it(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    sheet.write(LEFT, sheet.y, texts.caption, 9)
    sheet.picture(LEFT, sheet.y + 6, 200, 150)
    sheet.expect("figure", figure(texts.caption))
    sheet.y += 190
    sheet.paragraph(texts.body[1])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("rotation", range(4))
def test_a_figure_on_a_turned_page_is_written_as_it_is_shown(rotation: int, quarter: int, tmp_path: Path) -> None:
    sheet = Sheet(rotation=rotation, quarter=quarter)
    sheet.paragraph(TEXTS["en"].body[0])
    sheet.picture(LEFT, sheet.y, 200, 100)
    document = read_made(sheet.done().data, tmp_path, figures=tmp_path / "figures")
    (block,) = (block for block in document.blocks if block.kind == "figure")
    left, top, right, bottom = (block.source_ref or {})["bbox"]
    assert (right - left, bottom - top) == pytest.approx((200, 100) if quarter % 2 == 0 else (100, 200), abs=1)
    with Image.open(tmp_path / "figures" / (block.source_ref or {})["file"]) as image:
        assert image.width / image.height == pytest.approx(2 if quarter % 2 == 0 else 0.5, rel=0.05)
        light = image.convert("L").tobytes()
    assert sum(shade < 250 for shade in light) > 0.9 * len(light)  # only the image, without the paper around it
