"""The blocks that a page is made of, before they are text; each knows its place in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.markup.inline import Image, Prose, bold, joined, on_one_line, prefixed

Reference = Mapping[str, Any]
_TOP_LEVELS: Final = range(1, 7)


class Paragraph(NamedTuple):
    """A paragraph; `caption` if it is said of the table or figure that it stands in."""

    prose: Prose
    reference: Reference
    caption: bool = False


class Heading(NamedTuple):
    """A heading."""

    level: int
    prose: Prose
    reference: Reference


class Code(NamedTuple):
    """Lines of code."""

    text: str
    language: str
    reference: Reference


class Rule(NamedTuple):
    """A line across the page."""

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
    """A list; a numbered one has the number of its first item."""

    items: tuple[Item, ...]
    reference: Reference
    first: int | None = None


class Cell(NamedTuple):
    """A cell of a table, which may span several columns and rows."""

    elements: tuple[Element, ...]
    columns: int = 1
    rows: int = 1
    head: bool = False


class Row(NamedTuple):
    """A row of a table; `head` if it stands in the head."""

    cells: tuple[Cell, ...]
    reference: Reference
    head: bool = False


class Table(NamedTuple):
    """A table; `captions` are written before it."""

    rows: tuple[Row, ...]
    reference: Reference
    captions: tuple[Paragraph, ...] = ()


class Figure(NamedTuple):
    """Pictures with a caption."""

    images: tuple[Image, ...]
    caption: Prose
    reference: Reference


Element = Paragraph | Heading | Code | Rule | Quote | Items | Table | Figure


def flat(elements: Iterable[Element], edge: str) -> Prose:
    """Write elements as one line of text, with `edge` between what would be lines."""
    return joined((prose for prose in _lines(elements, edge) if prose.text), edge)


def _lines(elements: Iterable[Element], edge: str) -> Iterator[Prose]:
    for element in elements:
        match element:
            case Paragraph(prose) | Heading(_, prose):
                yield on_one_line(prose, edge)
            case Code(text):
                lines = (" ".join(line.split()) for line in text.splitlines())
                yield from (Prose(code_line(line), (), line) for line in lines if line)
            case Quote(inner, _, label, title):
                if label or title.text:
                    yield on_one_line(bold(title if title.text else Prose(label, (), label)), edge)
                yield from _lines(inner, edge)
            case Items():
                yield from _item_lines(element, edge)
            case Table(rows, _, captions):
                yield from _lines(captions, edge)
                yield from (flat([element for cell in row.cells for element in cell.elements], " ") for row in rows)
            case Figure(images, caption):
                if not caption.text:
                    words = " ".join(image.alternative for image in images).strip()
                    caption = Prose(words, (), words)
                yield on_one_line(caption, edge)


def _item_lines(items: Items, edge: str) -> Iterator[Prose]:
    number = items.first
    for item in items.items:
        marker = "" if edge == " " else "- " if number is None else f"{number}. "
        number = None if number is None else number + 1
        lines = [prose for prose in _lines(item.elements, edge) if prose.text]
        if lines:
            yield prefixed(marker + box_of(item), lines[0])
            yield from lines[1:]


def code_line(line: str) -> str:
    """Write a line of code among words."""
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def box_of(item: Item) -> str:
    """Write the box of a task."""
    return "" if item.checked is None else "[x] " if item.checked else "[ ] "


def level_of(number: int) -> int:
    """Give the nearest level that a heading may have."""
    return min(max(number, _TOP_LEVELS.start), _TOP_LEVELS.stop - 1)


def words_in(elements: Sequence[Element]) -> str:
    """Give the words of elements, without marks."""
    return flat(elements, " ").shown
