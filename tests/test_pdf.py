"""Reading PDFs: exact blocks of every made PDF in five languages, their parts, pages, links and margins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import spanwise
from made_pdfs import COLUMN, HEIGHT, LEFT, SIZE, WIDTH, Expected, Sheet, blocks_of, parts_of, read_made
from pdf_makers import MAKERS, MIDDLE, headings_by_size, made
from pdf_prints import PRINTS, printed, printed_page
from pdf_texts import LANGUAGES, TEXTS
from spanwise import Document
from spanwise.testing.document_laws import assert_document

LONG_TABLES = {"long_table", "tagged_long_table"}  # the browser decides where pages break


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def reasons(document: Document) -> list[tuple[str, str, int]]:
    return [(item.reason, item.text, (item.source_ref or {})["page"]) for item in document.left_out]


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MAKERS)
def test_a_drawn_pdf_has_the_blocks_that_were_drawn(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(made(name, language).data, tmp_path)
    assert_document(document)
    assert blocks_of(document) == made(name, language).blocks


@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in PRINTS if name not in LONG_TABLES])
def test_a_printed_pdf_has_the_blocks_of_its_html(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(printed(name, language).data, tmp_path)
    assert_document(document)
    assert blocks_of(document) == printed(name, language).blocks


@pytest.mark.browser
@pytest.mark.parametrize("name", ["handbook", "untagged_handbook"])
def test_every_block_has_its_headings_path(name: str, language: str, tmp_path: Path) -> None:
    document, texts = read_made(printed(name, language).data, tmp_path), TEXTS[language]
    title, (first, second, third) = texts.title, texts.sections
    assert [block.headings_path for block in document.blocks] == [
        (title,), (title,), (title, first), (title, first), (title, first), (title, second), (title, second),
        (title, second), *[(title, second, third)] * 4,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["bullets_written", "bullets_drawn"])
def test_nested_items_are_parts_of_their_item(name: str, language: str, tmp_path: Path) -> None:
    document, texts = read_made(made(name, language).data, tmp_path), TEXTS[language]
    first, (below, beside), last = texts.items
    assert parts_of(document, document.blocks[1].parts) == [
        (f"- {first}\n  - {below}\n  - {beside}", [f"- {below}", f"- {beside}"]), f"- {last}", f"- {texts.long_item}",
    ]  # fmt: skip


def test_numbered_items_keep_their_numbers_and_levels(language: str, tmp_path: Path) -> None:
    document, texts = read_made(made("numbered", language).data, tmp_path), TEXTS[language]
    below, beside = (f"{mark} {text}" for mark, text in zip(("a)", "b)"), texts.items[1], strict=True))
    one, two, three = (f"{number}. {step}" for number, step in enumerate(texts.steps, 1))
    assert parts_of(document, document.blocks[1].parts) == [
        one, (f"{two}\n   {below}\n   {beside}", [below, beside]), three, f"4. {texts.long_item}",
    ]  # fmt: skip


def test_the_outline_wins_over_the_font_size(tmp_path: Path) -> None:
    sheet = Sheet()
    for number, (title, level, size) in enumerate([("Alpha", 1, 12.0), ("Beta", 2, 18.0), ("Gamma", 2, 18.0)]):
        sheet.canvas.bookmarkHorizontal(str(number), 0, HEIGHT - sheet.y)
        sheet.canvas.addOutlineEntry(title, str(number), level - 1)
        sheet.heading(title, level, size)
        sheet.paragraph(TEXTS["en"].body[number])
    made_sheet = sheet.done()
    assert blocks_of(read_made(made_sheet.data, tmp_path)) == made_sheet.blocks


@pytest.mark.browser
def test_tags_win_over_the_font_size(tmp_path: Path) -> None:
    texts = TEXTS["en"].body
    data = printed_page("tags against looks")
    assert blocks_of(read_made(data, tmp_path)) == (
        Expected("heading", "## Small but a heading", 1, 2), Expected("paragraph", texts[0]),
        Expected("paragraph", texts[2]), Expected("paragraph", texts[1]),
    )  # fmt: skip


# ── paragraphs and hyphens ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (["A cart holds the tools of the house, and beside a tool-", "box stands a lamp."], "a tool-box stands"),
        (["The whole crew met at the gate at noon, with their co-", "operation we began."], "co-operation we began."),
        (
            ["On the first day of every month all of the Berlin-", "Warsaw trains stop here on the way east."],
            "Berlin-Warsaw trains",
        ),
        (
            ["We looked for boats and counted between 17 and 20-", "25 of them on the bank of the canal."],
            "20-25 of them",
        ),
        (
            ["Der Bericht des Amtes nannte noch einmal alle Vor-", "und Nachteile, auch kleine Vor- und Nachteile."],
            "alle Vor- und Nach",
        ),
    ],
)
def test_real_hyphens_at_line_ends_stay(lines: Sequence[str], read: str, tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.lines(lines)
    sheet.y += 8
    sheet.paragraph(TEXTS["en"].body[0], width=max(map(sheet.width, lines)))
    document = read_made(sheet.done().data, tmp_path)
    assert read in blocks_of(document)[0].text
    assert len(document.blocks) == 2


def test_a_word_cut_by_a_line_end_is_learned_from_other_pages(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.lines(["Every year the whole crew of the water works meets for the mainten-", "ance of the pumps."])
    sheet.turn_page()
    sheet.paragraph("The maintenance takes a week.")
    text = read_made(sheet.done().data, tmp_path).text
    assert text.startswith("Every year the whole crew of the water works meets for the maintenance of the pumps.")


def test_a_block_never_crosses_a_page(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.lines(sheet.wrapped(TEXTS["en"].body[0], COLUMN)[:1])
    sheet.turn_page()
    sheet.lines(sheet.wrapped(TEXTS["en"].body[0], COLUMN)[1:])
    document = read_made(sheet.done().data, tmp_path)
    assert [block.page for block in document.blocks] == [1, 2]
    assert " ".join(found.text for found in blocks_of(document)) == TEXTS["en"].body[0]


# ── margins ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_headers_footers_and_page_numbers_are_left_out_and_listed(language: str, tmp_path: Path) -> None:
    document, texts = read_made(made("furniture", language).data, tmp_path), TEXTS[language]
    for number in range(1, 5):
        assert sorted(item for item in reasons(document) if item[2] == number) == [
            ("page footer", texts.running[1], number), ("page header", texts.running[0], number),
            ("page number", texts.page.format(number), number),
        ]  # fmt: skip


@pytest.mark.browser
def test_margins_that_a_browser_printed_are_left_out(language: str, tmp_path: Path) -> None:
    document, texts = read_made(printed("furnished", language).data, tmp_path), TEXTS[language]
    expected = [("page header", texts.running[0], n) for n in (1, 2, 3)]
    expected += [("page number", texts.page.format(n), n) for n in (1, 2, 3)]
    assert sorted(reasons(document)) == sorted(expected)


def test_letters_that_begin_alike_on_every_page_keep_their_text(tmp_path: Path) -> None:
    sheet, texts = Sheet(), TEXTS["en"]
    for number, step in enumerate(texts.steps):
        if number:
            sheet.turn_page()
        sheet.paragraph(f"{texts.body[0]} {step}")
        sheet.paragraph(texts.body[number])
    made_sheet = sheet.done()
    document = read_made(made_sheet.data, tmp_path)
    assert blocks_of(document) == made_sheet.blocks
    assert document.left_out == ()


def test_a_number_that_is_text_stays(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.paragraph("The year of the great flood was")
    sheet.paragraph("1954")
    sheet.paragraph("and nobody has forgotten it.")
    assert "1954" in read_made(sheet.done().data, tmp_path).text


# ── columns, rotation, boxes ─────────────────────────────────────────────────────────────────────────────────────


def test_a_paragraph_in_two_columns_has_a_box_in_each(language: str, tmp_path: Path) -> None:
    document = read_made(made("two_columns", language).data, tmp_path)
    reference = next(block.source_ref for block in document.blocks if block.source_ref and "boxes" in block.source_ref)
    left, right = reference["boxes"]
    assert LEFT - 2 <= left[0] < left[2] < MIDDLE < right[2]
    assert right[0] >= MIDDLE - 2
    assert right[1] < left[1]
    assert reference["bbox"] == [left[0], right[1], right[2], left[3]]


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("rotation", range(4))
def test_a_turned_page_reads_as_an_upright_one(rotation: int, quarter: int, tmp_path: Path) -> None:
    turned = headings_by_size("en", rotation=rotation, quarter=quarter)
    document = read_made(turned.data, tmp_path)
    assert blocks_of(document) == turned.blocks
    title = (document.blocks[0].source_ref or {})["bbox"]
    assert title == pytest.approx(
        [
            [LEFT, 85, 398, 107], [HEIGHT - 107, LEFT, HEIGHT - 85, 398],
            [WIDTH - 398, HEIGHT - 107, WIDTH - LEFT, HEIGHT - 85], [85, WIDTH - 398, 107, WIDTH - LEFT],
        ][quarter],
        abs=1,
    )  # fmt: skip


@pytest.mark.parametrize(("rotation", "quarter"), [(1, 0), (3, 0), (0, 1), (0, 3)])
def test_turned_pages_in_every_language(rotation: int, quarter: int, language: str, tmp_path: Path) -> None:
    turned = headings_by_size(language, rotation=rotation, quarter=quarter)
    assert blocks_of(read_made(turned.data, tmp_path)) == turned.blocks


def test_a_note_that_runs_up_the_margin_stays_out_of_the_text_beside_it(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    sheet.paragraph(texts.body[1])
    sheet.canvas.saveState()
    sheet.canvas.translate(40, 300)
    sheet.canvas.rotate(90)
    sheet.canvas.setFont(sheet.font(), SIZE)
    sheet.canvas.drawString(0, 0, texts.running[1])
    sheet.canvas.restoreState()
    blocks = blocks_of(read_made(sheet.done().data, tmp_path))
    assert sorted(blocks) == sorted(Expected("paragraph", text) for text in (*texts.body[:2], texts.running[1]))


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_list_over_two_pages_goes_on_with_its_numbers(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    for number, step in enumerate(texts.steps * 2, 1):
        if number == 4:
            sheet.turn_page()
        sheet.item(f"{number}.", step, LEFT)
    sheet.y += 8
    sheet.paragraph(texts.body[1])
    items = [f"{number}. {step}" for number, step in enumerate(texts.steps * 2, 1)]
    assert blocks_of(read_made(sheet.done().data, tmp_path)) == (
        Expected("paragraph", texts.body[0]), Expected("list", "\n".join(items[:3])),
        Expected("list", "\n".join(items[3:]), 2), Expected("paragraph", texts.body[1], 2),
    )  # fmt: skip


def test_reading_is_the_same_with_a_string_and_a_path(tmp_path: Path) -> None:
    document = read_made(made("paragraphs", "de").data, tmp_path)
    again = spanwise.read(str(tmp_path / "a.pdf"), format="pdf")
    assert (document.text, document.blocks, document.document_id) == (again.text, again.blocks, again.document_id)
