"""Tables: which ones are only layout, which rows are the head, and cells that span several columns or rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.markup.elements import Cell, Heading, Paragraph, Reference, Row, Table, flat
from spanwise.readers.markup.inline import Prose, in_cell

_LINE_SEPARATOR: Final = " <br> "
_WIDEST: Final = 64  # rows are padded up to this: wider tables would grow quadratically
_MOST_HEAD_ROWS: Final = 4


def row_of(elements: list[Any], reference: Reference, *, head: bool = False) -> list[Any]:
    """Make a row; content between its cells becomes a cell."""
    cells = tuple(element if isinstance(element, Cell) else Cell((element,)) for element in elements)
    return [Row(cells, reference, head)] if any(cell.elements for cell in cells) else []


def table_of(elements: list[Any], reference: Reference, *, layout: bool = False) -> list[Any]:
    """Make a table, or return its content if it only lays out the page."""
    rows = tuple(
        element if isinstance(element, Row) else Row((element,), reference)
        for element in elements
        if isinstance(element, Row | Cell)
    )
    captions = [element for element in elements if isinstance(element, Paragraph) and element.caption]
    others = [element for element in elements if element not in captions and not isinstance(element, Row | Cell)]
    if not rows or layout or _is_layout(rows):
        inside = [element for row in rows for cell in row.cells for element in cell.elements]
        return [*(caption._replace(caption=False) for caption in captions), *others, *inside]
    return [*others, Table(rows, reference, tuple(caption._replace(caption=False) for caption in captions))]


def _is_layout(rows: Sequence[Row]) -> bool:
    cells = [cell for row in rows for cell in row.cells]
    if any(cell.head for cell in cells) or any(row.head for row in rows):
        return False
    if all(len(row.cells) == 1 for row in rows):
        return True
    return any(isinstance(element, Heading | Table) for cell in cells for element in cell.elements)


class Grid(NamedTuple):
    """The cell texts of a table, and the number of its head rows."""

    rows: list[list[Prose]]
    head: int
    width: int


def grid_of(table: Table) -> Grid:
    """Lay out the cells; a spanning cell has its text in the first position, the others are empty."""
    rows = _spread(table.rows)
    width = max(len(row) for row in rows)
    for row in rows:
        row += [Prose()] * (min(width, _WIDEST) - len(row))
    return Grid(rows, _head_rows(table.rows, rows), width)


def _spread(rows: Sequence[Row]) -> list[list[Prose]]:
    spread: list[list[Prose]] = []
    spare = 1000 + 4 * sum(len(row.cells) for row in rows)  # maximum empty cells to insert, in total
    below: dict[int, int] = {}  # column: rows that a cell above still spans
    for row in rows:
        texts: list[Prose] = []
        reaching, below = below, {}
        for cell in row.cells:
            spare -= _skip_spanned(texts, reaching, below)
            columns = max(1, min(cell.columns, _WIDEST, spare))
            if cell.rows > 1 and spare > 0:
                below |= {len(texts) + column: cell.rows - 1 for column in range(columns)}
            texts.append(in_cell(flat(cell.elements, _LINE_SEPARATOR)))
            texts += [Prose()] * (columns - 1)
            spare -= columns - 1
        if spare > 0:
            below |= {column: left - 1 for column, left in reaching.items() if column >= len(texts) and left > 1}
        spread.append(texts)
    return spread


def _skip_spanned(texts: list[Prose], reaching: Mapping[int, int], below: dict[int, int]) -> int:
    """Append empty cells where cells above span this row, and return their number."""
    start = len(texts)
    while left := reaching.get(len(texts)):
        if left > 1:
            below[len(texts)] = left - 1
        texts.append(Prose())
    return len(texts) - start


def _head_rows(rows: Sequence[Row], texts: Sequence[Sequence[Prose]]) -> int:
    """Count the head rows: those marked as head, else those of head cells only, else one row in bold."""
    count = 0
    for row in rows[:_MOST_HEAD_ROWS]:
        filled = [cell for cell in row.cells if cell.elements]
        if not row.head and not all(cell.head for cell in row.cells if cell.elements or cell.head):
            break
        if not row.head and not any(cell.head for cell in filled):
            break
        count += 1
    if not count and len(rows) > 1:
        first = [prose.text for prose in texts[0] if prose.text]
        if len(first) > 1 and all(text[:2] == text[-2:] == "**" and len(text) > 4 for text in first):
            return 1
    return count
