"""Tables: rows and cells, also inside content controls; a merged cell has its text at its first place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from spanwise.readers.markup.elements import Cell, Element, Reference, Row, Table
from spanwise.readers.ooxml.names import ALTERNATES, W, child, chosen, flag, number, value

_GROUPS: Final = frozenset({f"{W}customXml", f"{W}ins", f"{W}moveTo", f"{W}sdtContent", f"{W}smartTag"})
_FIRST_ROW: Final = 0x0020
_WIDEST: Final = 1000
_DEEPEST_GROUP: Final = 30


def table_elements(
    table: Any, content: Callable[[Any], list[Element]], reference: Callable[[Any], Reference]
) -> list[Element]:
    """Return a table; one of a single cell is a frame, so its content.

    `content` returns the elements of a cell, and `reference` the source reference of an element.
    """
    rows: list[Row] = []
    merged: dict[int, int] = {}
    for row in _parts(table, f"{W}tr"):
        properties = child(row, f"{W}trPr")
        if child(properties, f"{W}del") is not None:
            continue
        cells, merged = _cells(row, properties, content, merged)
        if cells:
            rows.append(Row(tuple(cells), reference(row), flag(properties, f"{W}tblHeader") or False))
    inside = [element for row in rows for cell in row.cells for element in cell.elements]
    if not inside or (len(rows) == 1 and len(rows[0].cells) == 1):
        return inside
    return [Table(tuple(_with_head(rows, child(table, f"{W}tblPr"))), reference(table))]


def _cells(
    row: Any, properties: Any, content: Callable[[Any], list[Element]], above: dict[int, int]
) -> tuple[list[Cell], dict[int, int]]:
    """Return the cells of a row, and the columns of those that may go on below, each with its width."""
    before = min(number(value(properties, f"{W}gridBefore")) or 0, _WIDEST)
    cells = [Cell((), columns=before)] if before > 0 else []
    column, merged = max(before, 0), dict[int, int]()
    for cell in _parts(row, f"{W}tc"):
        known = child(cell, f"{W}tcPr")
        columns = max(1, min(number(value(known, f"{W}gridSpan")) or 1, _WIDEST))
        merge = child(known, f"{W}vMerge")
        goes_on = merge is not None and merge.get(f"{W}val", "continue") == "continue" and column in above
        is_part = value(known, f"{W}hMerge") == "continue" or child(known, f"{W}cellDel") is not None
        cells.append(Cell(() if goes_on or is_part else tuple(content(cell)), columns=columns))
        if merge is not None:
            merged[column] = columns
        column += columns
    return cells, merged


def _with_head(rows: list[Row], properties: Any) -> list[Row]:
    """Return the rows with those of the head marked: as the file says, else the first if the table's look has one."""
    marked = next((index for index, row in enumerate(rows) if not row.head), len(rows))
    if marked == len(rows) > 0:  # Word repeats none of them then
        marked = 1
    is_wide = any(len(row.cells) > 1 for row in rows)
    if not marked and is_wide and _has_first_row(child(properties, f"{W}tblLook")):
        marked = 1
    if len(rows) == 1:
        marked = 0
    return [row._replace(head=index < marked) for index, row in enumerate(rows)]


def _has_first_row(look: Any) -> bool:
    if look is None:
        return False
    if (said := look.get(f"{W}firstRow")) is not None:
        return said.lower() in {"1", "true", "on"}
    try:
        return bool(int(look.get(f"{W}val", "0"), 16) & _FIRST_ROW)
    except ValueError:
        return False


def _parts(element: Any, name: str, depth: int = 0) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, also those in content controls and insertions."""
    for inner in element:
        tag = inner.tag
        if tag == name:
            yield inner
        elif depth < _DEEPEST_GROUP:
            if tag == f"{W}sdt":
                inner = child(inner, f"{W}sdtContent")
            elif tag == ALTERNATES:
                inner = chosen(inner)
            elif tag not in _GROUPS:
                continue
            if inner is not None:
                yield from _parts(inner, name, depth + 1)
