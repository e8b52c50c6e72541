"""The block elements of a page before they are written as text, each with a reference to the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from spanwise.readers.markup.inline import Image, Prose, bold, joined, on_one_line, prefixed

Reference = Mapping[str, Any]


class Paragraph(NamedTuple):
    """A paragraph; `caption` if it is the caption of the table or figure around it."""

    prose: Prose
    reference: Reference
    caption: bool = False


class Heading(NamedTuple):
    """A heading."""

    level: int
    prose: Prose
    reference: Reference


class Code(NamedTuple):
    """A block of code."""

    text: str
    language: str
    reference: Reference


class Rule(NamedTuple):
    """A horizontal rule."""

    reference: Reference


class Quote(NamedTuple):
    """A quotation, or a box with a label such as `info` and maybe a title."""

    elements: tuple[Element, ...]
    reference: Reference
    label: str = ""
    title: Prose = Prose()


class Item(NamedTuple):
    """An item of a list; `checked` if it is a task."""

    elements: tuple[Element, ...]
    reference: Reference
    checked: bool | None = None


class Items(NamedTuple):
    """A list; a numbered one has the number of its first item, and `closing` is the sign after numbers."""

    items: tuple[Item, ...]
    reference: Reference
    first: int | None = None
    closing: str = "."


class Cell(NamedTuple):
    """A cell of a table, which may span several columns and rows."""

    elements: tuple[Element, ...]
    columns: int = 1
    rows: int = 1
    head: bool = False


class Row(NamedTuple):
    """A row of a table; `head` if it belongs to the head."""

    cells: tuple[Cell, ...]
    reference: Reference
    head: bool = False


class Table(NamedTuple):
    """A table; `captions` are written before it."""

    rows: tuple[Row, ...]
    reference: Reference
    captions: tuple[Paragraph, ...] = ()


class Figure(NamedTuple):
    """Images with a caption."""

    images: tuple[Image, ...]
    caption: Prose
    reference: Reference


Element = Paragraph | Heading | Code | Rule | Quote | Items | Table | Figure


def flat(elements: Iterable[Element], separator: str) -> Prose:
    """Return elements as one line of text, with `separator` between what would be lines."""
    return joined((prose for prose in _lines(elements, separator) if prose.text), separator)


def _lines(elements: Iterable[Element], separator: str) -> Iterator[Prose]:
    for element in elements:
        match element:
            case Paragraph(prose) | Heading(_, prose):
                yield on_one_line(prose, separator)
            case Code(text):
                lines = (" ".join(line.split()) for line in text.splitlines())
                yield from (Prose(code_line(line), (), line) for line in lines if line)
            case Quote(inner, _, label, title):
                if label or title.text:
                    yield on_one_line(bold(title if title.text else Prose(label, (), label)), separator)
                yield from _lines(inner, separator)
            case Items():
                yield from _item_lines(element, separator)
            case Table(rows, _, captions):
                yield from _lines(captions, separator)
                yield from (flat([element for cell in row.cells for element in cell.elements], " ") for row in rows)
            case Figure(images, caption):
                if not caption.text:
                    alternative = " ".join(image.alternative for image in images).strip()
                    caption = Prose(alternative, (), alternative)
                yield on_one_line(caption, separator)


def _item_lines(items: Items, separator: str) -> Iterator[Prose]:
    number = items.first
    for item in items.items:
        marker = "" if separator == " " else "- " if number is None else f"{number}{items.closing} "
        number = None if number is None else number + 1
        lines = [prose for prose in _lines(item.elements, separator) if prose.text]
        if lines:
            yield prefixed(marker + checkbox_of(item), lines[0])
            yield from lines[1:]


def code_line(line: str) -> str:
    """Return a line of code as inline code."""
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def checkbox_of(item: Item) -> str:
    """Return the checkbox of a task; empty for other items."""
    return "" if item.checked is None else "[x] " if item.checked else "[ ] "
