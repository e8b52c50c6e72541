"""Drawn PDFs: one function per feature, in every language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from made_pdfs import COLUMN, HEIGHT, LEADING, LEFT, SIZE, TOP, Made, Sheet, figure, markdown_table
from pdf_texts import CODE, TEXTS

TARGET: Final = "https://example.org/parts?a=1"
MIDDLE: Final = 310.0  # left edge of the second of two columns
COLUMNS: Final = (0.0, 130.0, 230.0)  # left edges of the columns of a table
TABLE: Final = 360.0
ROW: Final = 22.0


# ── headings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def headings_by_size(language: str, *, rotation: int = 0, quarter: int = 0) -> Made:
    sheet, texts = Sheet(language, rotation=rotation, quarter=quarter), TEXTS[language]
    sheet.heading(texts.title, 1, 22)
    sheet.paragraph(texts.body[0])
    sheet.heading(texts.sections[0], 2, 16)
    sheet.paragraph(texts.body[1])
    sheet.heading(texts.sections[1], 3, 13)
    sheet.paragraph(texts.body[2])
    sheet.turn_page()
    sheet.heading(texts.sections[2], 2, 16)
    sheet.paragraph(texts.body[0])
    return sheet.done()


def headings_by_weight(language: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    for section, body in zip(texts.sections, texts.body, strict=True):
        sheet.heading(section, 1, bold=True)
        sheet.paragraph(body)
    return sheet.done()


def headings_by_outline(language: str) -> Made:
    """Draw headings in the style of body text, known only from the outline."""
    sheet, texts = Sheet(language), TEXTS[language]
    titles = [(texts.title, 1), (texts.sections[0], 2), (texts.sections[1], 3), (texts.sections[2], 2)]
    for number, (title, level) in enumerate(titles):
        sheet.canvas.bookmarkHorizontal(str(number), 0, HEIGHT - sheet.y)
        sheet.canvas.addOutlineEntry(title, str(number), level - 1)
        sheet.heading(title, level)
        sheet.paragraph(texts.body[number % 3])
        if number == 1:
            sheet.turn_page()
    return sheet.done()


# ── paragraphs ───────────────────────────────────────────────────────────────────────────────────────────────────


def paragraphs(language: str) -> Made:
    """Draw paragraphs separated by space, over two pages."""
    sheet, texts = Sheet(language), TEXTS[language]
    for body in texts.body[:2]:
        sheet.paragraph(body)
    sheet.turn_page()
    sheet.paragraph(texts.body[2])
    return sheet.done()


def indented_paragraphs(language: str) -> Made:
    """Draw paragraphs separated only by the indentation of their first lines."""
    sheet, texts = Sheet(language), TEXTS[language]
    for body in texts.body:
        first = sheet.wrapped(body, COLUMN - 20)[0]
        sheet.lines([first], x=LEFT + 20)
        sheet.lines(sheet.wrapped(body[len(first) :].strip(), COLUMN))
        sheet.expect("paragraph", body)
    return sheet.done()


def hyphened(language: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    lines, truth = texts.hyphened
    sheet.lines(lines)
    sheet.expect("paragraph", truth)
    sheet.y += 8
    sheet.paragraph(texts.body[0])
    return sheet.done()


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _bullets(language: str, outer: str, inner: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    first, (below, beside), last = texts.items
    sheet.paragraph(texts.body[0])
    for mark, text, x in [
        (outer, first, LEFT), (inner, below, LEFT + 20), (inner, beside, LEFT + 20), (outer, last, LEFT),
        (outer, texts.long_item, LEFT),
    ]:  # fmt: skip
        sheet.item(mark, text, x)
    sheet.expect("list", f"- {first}\n  - {below}\n  - {beside}\n- {last}\n- {texts.long_item}")
    sheet.y += 8
    sheet.paragraph(texts.body[1])
    return sheet.done()


def bullets_written(language: str) -> Made:
    return _bullets(language, "-" if language == "zh" else "•", "-" if language == "zh" else "◦")


def bullets_drawn(language: str) -> Made:
    return _bullets(language, "", "")


def numbered(language: str) -> Made:
    """Draw a numbered list with nested items below the second."""
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    below = texts.items[1]
    marks = [("1.", LEFT), ("2.", LEFT), ("a)", LEFT + 20), ("b)", LEFT + 20), ("3.", LEFT), ("4.", LEFT)]
    items = [*texts.steps[:2], *below, texts.steps[2], texts.long_item]
    for (mark, x), text in zip(marks, items, strict=True):
        sheet.item(mark, text, x)
    sheet.expect("list", "\n".join(
        f"{'   ' if x > LEFT else ''}{mark} {text}" for (mark, x), text in zip(marks, items, strict=True)
    ))  # fmt: skip
    sheet.y += 8
    sheet.paragraph(texts.body[1])
    return sheet.done()


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _cells(sheet: Sheet, rows: Sequence[Sequence[str]], *, head: bool) -> None:
    for number, row in enumerate(rows):
        for x, cell in zip(COLUMNS, row, strict=True):
            sheet.write(LEFT + x + 4, sheet.y + 15, cell, bold=head and number == 0)
        sheet.y += ROW


def _grid(sheet: Sheet, rows: int) -> None:
    top = sheet.y
    for row in range(rows + 1):
        sheet.rule(LEFT, top + row * ROW, TABLE)
    for x in (*COLUMNS, TABLE):
        sheet.rule(LEFT + x, top, 0, rows * ROW)


def _tabled(language: str, draw: Callable[[Sheet, int], None], *, head: bool) -> Made:
    """Draw a table between two paragraphs."""
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    draw(sheet, len(texts.rows))
    _cells(sheet, texts.rows, head=head)
    sheet.expect("table", markdown_table(texts.rows))
    sheet.y += 24
    sheet.paragraph(texts.body[1])
    return sheet.done()


def ruled_table(language: str) -> Made:
    return _tabled(language, _grid, head=True)


def shaded_table(language: str) -> Made:
    def shaded(sheet: Sheet, rows: int) -> None:
        sheet.canvas.setFillGray(0.8)
        sheet.canvas.rect(LEFT, HEIGHT - sheet.y - ROW, TABLE, ROW, stroke=0, fill=1)
        sheet.canvas.setFillGray(0)
        _grid(sheet, rows)

    return _tabled(language, shaded, head=False)


def table_of_level_rules(language: str) -> Made:
    def level(sheet: Sheet, rows: int) -> None:
        for row in (0, 1, rows):
            sheet.rule(LEFT, sheet.y + row * ROW, TABLE)

    return _tabled(language, level, head=False)


def borderless_table(language: str) -> Made:
    return _tabled(language, lambda sheet, rows: None, head=True)


def _over_pages(language: str, *, repeated: bool, ruled: bool = True) -> Made:
    """Draw a table over two pages, with its head `repeated` on the second or not."""
    sheet, texts = Sheet(language), TEXTS[language]
    head, *body = texts.rows
    sheet.paragraph(texts.body[0])
    for start in (0, 20):
        rows = [[row[0], str(int(row[1]) + start + number), row[2]] for number, row in enumerate(body * 7)][:20]
        visible = [head, *rows] if repeated or not start else rows
        if start:
            sheet.turn_page()
            sheet.y = TOP
        if ruled:
            _grid(sheet, len(visible))
        _cells(sheet, visible, head=len(visible) > 20)
        sheet.expect("table", markdown_table(visible, head=len(visible) > 20))
    sheet.y += 24
    sheet.paragraph(texts.body[1])
    return sheet.done()


def table_with_its_head_on_both_pages(language: str) -> Made:
    return _over_pages(language, repeated=True)


def table_with_its_head_on_the_first_page(language: str) -> Made:
    return _over_pages(language, repeated=False)


def borderless_table_over_pages(language: str) -> Made:
    return _over_pages(language, repeated=True, ruled=False)


# ── everything else ──────────────────────────────────────────────────────────────────────────────────────────────


def two_columns(language: str, *, across: bool = False, more: Callable[[Any], None] | None = None) -> Made:
    """Draw a title over two columns with a paragraph that continues in the second. `across`: line by line over both."""
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.heading(texts.title, 1, 20)
    top, width = sheet.y, 210.0
    first, second, third = (sheet.wrapped(body, width) for body in texts.body)
    lines, half = [*first, "", *second, "", *third], len(first) + 2
    left = [(LEFT, top + number * LEADING, line) for number, line in enumerate(lines[:half])]
    right = [(MIDDLE, top + number * LEADING, line) for number, line in enumerate(lines[half:])]
    order = sorted([*left, *right], key=lambda entry: (entry[1], entry[0])) if across else [*left, *right]
    for x, y, line in order:
        if line:
            sheet.write(x, y, line)
    if more:
        more(sheet.canvas)
    for body in texts.body:
        sheet.expect("paragraph", body)
    return sheet.done()


def columns_written_across(language: str) -> Made:
    return two_columns(language, across=True)


def furniture(language: str) -> Made:
    """Draw four pages, each with a header, a footer and a page number."""
    sheet, texts = Sheet(language), TEXTS[language]
    for number, body in enumerate((*texts.body, texts.noted[0] + texts.noted[1]), 1):
        sheet.write(LEFT, 40, texts.running[0], 8)
        sheet.paragraph(body)
        sheet.paragraph(texts.steps[number % 3])
        sheet.write(LEFT, 800, texts.running[1], 8)
        sheet.write(480, 815, texts.page.format(number), 8)
        if number < 4:
            sheet.turn_page()
    return sheet.done()


def footnoted(language: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    before, after = texts.noted
    sheet.write(LEFT, sheet.y, before)
    x = LEFT + sheet.width(before)
    sheet.write(x, sheet.y - 4, "1", 6)
    sheet.write(x + sheet.width("1", 6), sheet.y, after)
    sheet.expect("paragraph", f"{before}[^1]{after}")
    sheet.y += 24
    sheet.paragraph(texts.body[1])
    sheet.rule(LEFT, 690, 120)
    sheet.write(LEFT, 700, "1", 5)
    sheet.write(LEFT + 5, 704, texts.note, 8)
    sheet.expect("paragraph", f"[^1]: {texts.note}")
    return sheet.done()


def coded(language: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    step = sheet.width("a", mono=True)
    for line in CODE.split("\n"):
        indent = len(line) - len(line.lstrip())
        sheet.lines([line.lstrip()], x=LEFT + indent * step, mono=True)
    sheet.expect("code", f"```\n{CODE}\n```")
    sheet.y += 10
    sheet.paragraph(texts.body[1])
    return sheet.done()


def pictured(language: str) -> Made:
    sheet, texts = Sheet(language), TEXTS[language]
    sheet.paragraph(texts.body[0])
    sheet.picture(LEFT, sheet.y, 200, 150)
    sheet.write(LEFT, sheet.y + 166, texts.caption, 9)
    sheet.expect("figure", figure(texts.caption))
    sheet.y += 200
    sheet.paragraph(texts.body[1])
    return sheet.done()


def linked(language: str) -> Made:
    """Draw a link in a sentence, and set the file's metadata."""
    sheet, texts = Sheet(language, lang=language), TEXTS[language]
    sheet.canvas.setTitle(texts.title)
    sheet.canvas.setAuthor(texts.author)
    sheet.paragraph(texts.body[0])
    before, link, after = texts.linked
    between = "" if language == "zh" else " "
    x = LEFT
    for text in (before, link, after):
        sheet.write(x, sheet.y, text)
        width = sheet.width(text)
        if text == link:
            corners = (x, HEIGHT - sheet.y - 3, x + width, HEIGHT - sheet.y + SIZE)
            sheet.canvas.linkURL(TARGET, corners)
        x += width + sheet.width(between)
    sheet.expect("paragraph", between.join(texts.linked))
    return sheet.done()


MAKERS: Final[dict[str, Callable[[str], Made]]] = {
    maker.__name__: maker
    for maker in (
        headings_by_size, headings_by_weight, headings_by_outline, paragraphs, indented_paragraphs, hyphened,
        bullets_written, bullets_drawn, numbered, ruled_table, shaded_table, table_of_level_rules, borderless_table,
        table_with_its_head_on_both_pages, table_with_its_head_on_the_first_page, borderless_table_over_pages,
        two_columns, columns_written_across, furniture, footnoted, coded, pictured, linked,
    )
}  # fmt: skip


@cache
def made(name: str, language: str) -> Made:
    """Return a drawn PDF; each is made once."""
    return MAKERS[name](language)
