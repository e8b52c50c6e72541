"""Error-prone details of PDFs: page numbers in many formats, numbered headings, ligatures, forms, crop boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from made_pdfs import COLUMN, HEIGHT, LEADING, LEFT, SIZE, WIDTH, Expected, Sheet, blocks_of, read_made
from pdf_makers import MIDDLE
from pdf_prints import LONG_CODE, printed_page
from pdf_texts import LANGUAGES, TEXTS
from test_pdf_laws import assert_boxes

TEXT_BODY = TEXTS["en"].body
ROMAN = ("i", "ii", "iii", "iv")
NUMBERS = {
    "en": ["{}", "- {} -", "Page {} of 4", "{} / 4", "{} | Handbook"], "pl": ["Strona {} z 4", "str. {}"],
    "de": ["Seite {} von 4", "S. {}"], "ru": ["Страница {} из 4", "стр. {}"],
    "zh": ["第 {} 页", "第 {} 页 共 4 页", "{}"],
}  # fmt: skip


def same(sheet: Sheet, folder: Path) -> None:
    """Assert that a sheet is read as it was drawn."""
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, folder)) == made_sheet.blocks


# ── margins ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("top", [True, False])
@pytest.mark.parametrize(("language", "form"), [(name, form) for name, forms in NUMBERS.items() for form in forms])
def test_page_numbers_in_every_form_are_left_out(language: str, form: str, top: bool, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    for number, body in enumerate((*texts.body, texts.long_item), 1):
        if number > 1:
            sheet.turn_page()
        if top:
            sheet.write(280, 45, form.format(number), 9)
        sheet.paragraph(body)
        sheet.paragraph(texts.steps[number % 3])
        if not top:
            sheet.write(280, 805, form.format(number), 9)
    made_sheet = sheet.done()
    document = read_made(made_sheet.data, tmp_path)
    assert blocks_of(document) == made_sheet.blocks
    assert [item.text for item in document.left_out] == [form.format(number) for number in range(1, 5)]


def test_roman_page_numbers_are_left_out(tmp_path: Path) -> None:
    sheet = Sheet()
    for number, (roman, body) in enumerate(zip(ROMAN, (*TEXT_BODY, TEXTS["en"].long_item), strict=True)):
        if number:
            sheet.turn_page()
        sheet.paragraph(body)
        sheet.paragraph(TEXTS["en"].steps[number % 3])
        sheet.write(290, 805, roman, 9)
    same(sheet, tmp_path)


def test_left_and_right_pages_may_have_headers_of_their_own(tmp_path: Path) -> None:
    sheet, texts = Sheet(), TEXTS["en"]
    for number in range(6):
        if number:
            sheet.turn_page()
            title = texts.running[number % 2]
            sheet.write(LEFT if number % 2 else WIDTH - LEFT - sheet.width(title, 8), 45, title, 8)
        sheet.paragraph(f"{texts.steps[number % 3]} {texts.body[number % 3]} {number + 11} {texts.items[0]}.")
    made_sheet = sheet.done()
    document = read_made(made_sheet.data, tmp_path)
    assert blocks_of(document) == made_sheet.blocks
    assert [item.reason for item in document.left_out] == ["page header"] * 5


# ── headings that look like something else, and the other way round ──────────────────────────────────────────────


def test_numbered_headings_are_no_list(tmp_path: Path) -> None:
    sheet, sections = Sheet(), TEXTS["en"].sections
    for mark, title, level, size in [
        ("1.", sections[0], 1, 18.0), ("1.1", sections[1], 2, 14.0), ("2.", sections[2], 1, 18.0),
    ]:  # fmt: skip
        sheet.heading(f"{mark} {title}", level, size)
        sheet.paragraph(TEXT_BODY[level])
    same(sheet, tmp_path)


def test_bold_numbered_headings_of_the_usual_size_are_no_list(tmp_path: Path) -> None:
    sheet, sections = Sheet(), TEXTS["en"].sections
    for number, title in enumerate(sections, 1):
        sheet.heading(f"{number}. {title}", 1, bold=True)
        sheet.paragraph(TEXT_BODY[number - 1])
    same(sheet, tmp_path)


def test_a_heading_over_two_lines_is_one(tmp_path: Path) -> None:
    sheet = Sheet()
    title = "How the old pump house beside the canal was built, burnt down and built again"
    sheet.lines(sheet.wrapped(title, COLUMN, 20), size=20)
    sheet.expect("heading", f"# {title}", 1)
    sheet.y += 10
    sheet.paragraph(TEXT_BODY[0])
    same(sheet, tmp_path)


def test_years_and_initials_at_line_starts_are_no_list(tmp_path: Path) -> None:
    sheet = Sheet()
    lines = [
        "The hall was built after the flood of the spring of the year",
        "1954. Nobody had expected it. The plans had been drawn by",
        "J. Hill, who had also drawn the mill and the lock of the canal.",
    ]
    sheet.lines(lines)
    sheet.expect("paragraph", " ".join(lines))
    sheet.y += 8
    sheet.paragraph(TEXT_BODY[0], width=330)
    same(sheet, tmp_path)


# ── code ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.browser
def test_a_name_in_code_inside_a_sentence_is_text(tmp_path: Path) -> None:
    first, second = blocks_of(read_made(printed_page("name of code"), tmp_path))
    assert first == Expected("paragraph", f"Call mean(left, right) for the mean of both values. {TEXT_BODY[0]}")
    assert second == Expected("paragraph", TEXT_BODY[1])


@pytest.mark.browser
@pytest.mark.parametrize("tagged", [True, False])
def test_code_keeps_blank_lines_and_indents(tagged: bool, tmp_path: Path) -> None:
    data = printed_page("tagged code" if tagged else "code")
    blocks = blocks_of(read_made(data, tmp_path))
    assert [block.kind for block in blocks] == ["paragraph", "code", "paragraph"]
    lines = blocks[1].text.split("\n")
    assert [line for line in lines if line] == ["```", *(line for line in LONG_CODE.split("\n") if line), "```"]
    assert "" in lines


# ── letters ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ligatures_are_letters(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.lines(["The ﬁrst oﬃce has a ﬂoor of stone."])
    sheet.expect("paragraph", "The first office has a floor of stone.")
    same(sheet, tmp_path)


def test_letters_drawn_twice_to_look_bold_are_read_once(tmp_path: Path) -> None:
    sheet = Sheet()
    for shift in (0.0, 0.3):
        sheet.write(LEFT + shift, sheet.y, TEXT_BODY[0][:60])
    sheet.expect("paragraph", TEXT_BODY[0][:60].strip())
    same(sheet, tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_that_are_placed_one_by_one_have_spaces(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    for line in sheet.wrapped(texts.body[0], COLUMN):
        x = LEFT
        for word in line.split(" "):
            sheet.write(x, sheet.y, word)
            x += sheet.width(word) + sheet.width(" ")
        sheet.y += LEADING
    sheet.expect("paragraph", texts.body[0])
    same(sheet, tmp_path)


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_boxes_count_from_the_corner_of_what_is_shown(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.canvas.setCropBox((50, 100, WIDTH - 20, HEIGHT - 60))
    sheet.paragraph(TEXT_BODY[0])
    data = sheet.done().data
    document = read_made(data, tmp_path)
    left, top, _, _ = (document.blocks[0].source_ref or {})["bbox"]
    assert (left, top) == pytest.approx((LEFT - 50, 90 - 60 - SIZE), abs=3)
    assert_boxes(document, data)


def test_what_is_drawn_in_a_form_is_read(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.canvas.beginForm("stamp")
    sheet.paragraph(TEXT_BODY[0])
    top = sheet.y
    for row, cells in enumerate([("Pump", "Built"), ("Anna", "1954"), ("Berta", "1961")]):
        for x, cell in zip((4, 104), cells, strict=True):
            sheet.write(LEFT + x, top + 15 + 20 * row, cell, bold=row == 0)
    for row in range(4):
        sheet.rule(LEFT, top + 20 * row, 200)
    for x in (0, 100, 200):
        sheet.rule(LEFT + x, top, 0, 60)
    sheet.expect("table", "| Pump | Built |\n| --- | --- |\n| Anna | 1954 |\n| Berta | 1961 |")
    sheet.canvas.endForm()
    sheet.canvas.doForm("stamp")
    same(sheet, tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_column_may_have_headings_and_lists(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    for x, section, body in ((LEFT, texts.sections[0], texts.body[0]), (MIDDLE, texts.sections[1], texts.body[1])):
        sheet.y = 100
        sheet.write(x, sheet.y, section, 15)
        sheet.expect("heading", f"# {section}", 1)
        sheet.y += 24
        sheet.paragraph(body, x=x, width=210)
        for item in texts.items[1]:
            sheet.canvas.circle(x + 2, HEIGHT - sheet.y + 3, 1.8, stroke=0, fill=1)
            sheet.lines([item], x=x + 14)
        sheet.expect("list", "\n".join(f"- {item}" for item in texts.items[1]))
        sheet.y += 10
        sheet.paragraph(texts.steps[0], x=x, width=210)
    same(sheet, tmp_path)


def test_footnotes_of_several_lines_and_marks(tmp_path: Path) -> None:
    sheet = Sheet()
    for body in (*TEXT_BODY, TEXTS["en"].hyphened[1]):
        sheet.paragraph(body)
    for mark, word in (("1", "The first pump came from a shipyard"), ("2", "The second one was a gift")):
        sheet.write(LEFT, sheet.y, word)
        sheet.write(LEFT + sheet.width(word), sheet.y - 4, mark, 6)
        sheet.write(LEFT + sheet.width(word) + sheet.width(mark, 6), sheet.y, ".")
        sheet.expect("paragraph", f"{word}[^{mark}].")
        sheet.y += 24
    sheet.y = 700
    for mark, note in (("1", TEXT_BODY[1]), ("2", TEXTS["en"].note)):
        sheet.write(LEFT, sheet.y - 3, mark, 5)
        sheet.lines(sheet.wrapped(note, COLUMN, 8)[:1], x=LEFT + 5, size=8)
        sheet.lines(sheet.wrapped(note, COLUMN, 8)[1:], size=8)
        sheet.expect("paragraph", f"[^{mark}]: {note}")
    same(sheet, tmp_path)
