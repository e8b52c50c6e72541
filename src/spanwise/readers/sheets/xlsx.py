"""XLSX: a walk over the cells of each sheet, which shows every value as its number format does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import Any, Final

from lxml import etree

from spanwise.documents.document import LeftOut
from spanwise.readers.builder import ReadResult
from spanwise.readers.container import Container, refuse_encrypted
from spanwise.readers.sheets.cells import (
    BETWEEN,
    MOST_COLUMNS,
    MOST_ROWS,
    Merged,
    Sheet,
    SheetRow,
    cell_text,
    column_index,
    column_name,
    quoted,
    range_of,
    reference,
)
from spanwise.readers.sheets.number_formats import Formatter, general
from spanwise.readers.sheets.workbook import SheetPart, Workbook, decoded, related, text_of
from spanwise.readers.sheets.writing import SheetWriter

_TAGS: Final = ("{*}row", "{*}col", "{*}mergeCell", "{*}pane")
_DIGITS: Final = "0123456789"
_MOST_KNOWN: Final = 100_000  # texts of numbers that are kept for cells with the same
_LONGEST_LISTED: Final = 200  # characters of what is left out
_FORMULA: Final = "f"  # the kind of a cell whose formula has no value yet
_VALUES: Final = frozenset({"", "n", "b", "d"})
_CELL: Final = re.compile(
    r'<c r="([A-Z]{1,3})[0-9]+"(?: s="([0-9]+)")?(?: t="([A-Za-z]+)")?(?:/>|>(?:<f[^<>]*(?:/>|>[^<]*</f>))?'
    r'(?:<v>|<is><t(?: xml:space="preserve")?>)([^<]*)(?:</v>|</t></is>)</c>)'
)


def read_xlsx(data: bytes, name: str) -> ReadResult:
    """Read a workbook; raise UnreadableError if it is broken, encrypted, or made to exhaust memory."""
    refuse_encrypted(data, name)
    book = Workbook(Container(data, name))
    writer, left_out = SheetWriter(), list(book.left_out)
    for sheet in book.sheets:
        if sheet.hidden:
            left_out.append(LeftOut("hidden sheet", sheet.name, {"sheet": sheet.name}))
            continue
        walk = _SheetWalk(book, sheet)
        writer.write(walk.sheet())
        left_out += walk.left_out
    return writer.result(book.metadata(), left_out)


class _SheetWalk:
    """A walk over the part of one sheet."""

    def __init__(self, book: Workbook, sheet: SheetPart) -> None:
        self._book, self._sheet = book, sheet
        self.left_out: list[LeftOut] = []
        self._merged: list[Merged] = []
        self._frozen = 0
        self._hidden_ranges: list[tuple[int, int]] = []
        self._hidden_texts: dict[int, str] = {}
        self._columns: dict[str, int] = {}  # by their letters
        self._filled: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal ones are kept once
        self._known: dict[tuple[str, str], str] = {}

    def sheet(self) -> Sheet:
        """Return the sheet with all its visible rows."""
        rows = list(self._rows())
        if any(before.number >= after.number for before, after in pairwise(rows)):
            rows = _in_order(rows)
        for column, text in sorted(self._hidden_texts.items()):
            name = column_name(column)
            where = {"sheet": self._sheet.name, "range": f"{quoted(self._sheet.name)}!{name}:{name}"}
            self.left_out.append(LeftOut("hidden column", text, where))
        self.left_out += self._comments()
        return Sheet(self._sheet.name, rows, self._merged, self._frozen, list(self._tables()))

    def _rows(self) -> Iterator[SheetRow]:
        number = -1
        for _, element in self._book.container.events(self._sheet.part, _TAGS):
            kind = element.tag.rpartition("}")[2]
            if kind != "row":
                self._note(kind, element)
                continue
            stated = element.get("r") or ""
            number = int(stated) - 1 if stated.isdecimal() and len(stated) < 8 else number + 1
            if not 0 <= number < MOST_ROWS:
                raise self._book.container.broken(self._sheet.part, f"row {stated or number + 1} is none of a sheet")
            if row := self._row(element, number):
                if element.get("hidden") in {"1", "true"}:
                    self._leave_out(row)
                else:
                    yield row

    def _note(self, kind: str, element: Any) -> None:
        """Note what a sheet states beside its rows."""
        if kind == "mergeCell":
            if found := range_of(element.get("ref") or ""):
                self._merged.append(found)
        elif kind == "pane":
            split = element.get("ySplit") or ""
            self._frozen = int(split) if split.isdecimal() and len(split) < 8 and element.get("state") else 0
        elif element.get("hidden") in {"1", "true"}:
            low, high = element.get("min") or "", element.get("max") or ""
            if low.isdecimal() and high.isdecimal():
                self._hidden_ranges.append((int(low[:6]) - 1, int(high[:6]) - 1))

    def _leave_out(self, row: SheetRow) -> None:
        text = row.joined[:_LONGEST_LISTED].replace(BETWEEN, " | ")
        where = reference(self._sheet.name, row.number, row.columns[0], row.number, row.columns[-1])
        self.left_out.append(LeftOut("hidden row", text, where))

    def _row(self, element: Any, number: int) -> SheetRow | None:
        """Return a row; None if no cell of it shows anything."""
        columns, texts, values = list[int](), list[str](), 0
        column, known = -1, self._columns
        for letters, style, kind, value in _written_cells(element):
            column = known[letters] if letters in known else self._column(letters, column)
            if kind == _FORMULA:
                self._leave_out_formula(value, number, column)
                continue
            text = self._text(kind, value, style) if value else ""
            if not text:
                continue
            if self._hidden_ranges and self._is_hidden(column):
                self._hidden_texts.setdefault(column, text[:_LONGEST_LISTED])
                continue
            if kind in _VALUES:
                values |= 1 << len(texts)
            columns.append(column)
            texts.append(text)
        if not columns:
            return None
        filled = tuple(columns)
        if any(after <= before for before, after in pairwise(filled)):
            return _sorted_row(number, filled, texts)
        return SheetRow(number, self._filled.setdefault(filled, filled), BETWEEN.join(texts), values)

    def _column(self, letters: str, before: int) -> int:
        """Return the column of a cell: that of its letters, else the next."""
        column = column_index(letters) if letters else before + 1
        if not 0 <= column < MOST_COLUMNS:
            rule = f"column {letters or column + 1} is none of a sheet"
            raise self._book.container.broken(self._sheet.part, rule)
        if letters:
            self._columns[letters] = column
        return column

    def _is_hidden(self, column: int) -> bool:
        return any(low <= column <= high for low, high in self._hidden_ranges)

    def _leave_out_formula(self, formula: str, number: int, column: int) -> None:
        where = reference(self._sheet.name, number, column, number, column)
        self.left_out.append(LeftOut("formula without a value", f"={formula[:_LONGEST_LISTED]}", where))

    def _text(self, kind: str, value: str, style: str) -> str:
        """Return what a cell shows, as Markdown."""
        if kind == "s":
            at = int(value) if value.isdecimal() and len(value) < 10 else -1
            return self._book.strings[at] if 0 <= at < len(self._book.strings) else ""
        if not kind or kind == "n":
            return self._number(value, style)
        if kind == "b":
            return "TRUE" if value.strip() == "1" else "FALSE"
        return cell_text(decoded(value))

    def _number(self, value: str, style: str) -> str:
        """Return a number as its style shows it."""
        key = value, style
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = cell_text(self._shown(value, style))
        return self._known[key]

    def _shown(self, value: str, style: str) -> str:
        formats = self._book.formats
        at = int(style) if style.isdecimal() and len(style) < 8 else 0
        shape: Formatter | None = formats[at] if at < len(formats) else None
        try:
            number = float(value)
            return value.strip() if number - number else shape(number) if shape else general(number)
        except (ValueError, ArithmeticError):
            return value.strip()

    def _comments(self) -> Iterator[LeftOut]:
        """Yield the comments on cells."""
        container, name = self._book.container, self._sheet.name
        for part in related(container, self._sheet.part, "/comments"):
            if part not in container:
                continue
            for _, element in container.events(part, "{*}comment"):
                text = " ".join(" ".join(text_of(one) for one in element).split())
                cell = range_of(element.get("ref") or "")
                where = reference(name, cell.top, cell.left, cell.bottom, cell.right) if cell else {"sheet": name}
                yield LeftOut("comment", text, where)

    def _tables(self) -> Iterator[tuple[Merged, int]]:
        """Yield the ranges that are declared as tables, and the rows of each that are its head."""
        container = self._book.container
        for part in related(container, self._sheet.part, "/table"):
            root = container.xml(part)
            found = range_of(root.get("ref") or "") if root is not None else None
            if found:
                rows = root.get("headerRowCount") or "1"
                yield found, int(rows) if rows.isdecimal() and len(rows) < 3 else 1


def _written_cells(row: Any) -> Sequence[tuple[str, str, str, str]]:
    """Return the letters of the column, the style, the kind and the value of each cell of a row.

    Cells that are written as nearly all are, are taken from the row's XML at once: to ask each costs much more.
    """
    if row.prefix is None:
        found = _CELL.findall(etree.tostring(row, encoding="unicode", with_tail=False))
        if len(found) == len(row):
            return [(a, style, kind, unescape(value) if "&" in value else value) for a, style, kind, value in found]
    return [_written_cell(cell) for cell in row if isinstance(cell.tag, str)]


def _written_cell(cell: Any) -> tuple[str, str, str, str]:
    """Return the same of one cell; of a formula that has no value its text, as a kind of its own."""
    letters, style, kind = (cell.get("r") or "").rstrip(_DIGITS), cell.get("s") or "", cell.get("t") or ""
    value, formula = "", ""
    for child in cell:
        name = child.tag.rpartition("}")[2]
        if name == "v":
            value = child.text or ""
        elif name == "is":
            return letters, style, "inlineStr", text_of(child)
        elif name == "f":
            formula = child.text or ""
    return (letters, style, _FORMULA, formula) if formula and not value else (letters, style, kind, value)


def _sorted_row(number: int, columns: Iterable[int], texts: Iterable[str]) -> SheetRow:
    """Return a row whose cells stand in no order; of several in one place the last counts."""
    cells = dict(zip(columns, texts, strict=True))
    filled = sorted(cells)
    return SheetRow(number, tuple(filled), BETWEEN.join([cells[column] for column in filled]))


def _in_order(rows: list[SheetRow]) -> list[SheetRow]:
    """Return rows that stand in no order; those of one number are put together."""
    merged: dict[int, SheetRow] = {}
    for row in rows:
        before = merged.get(row.number)
        merged[row.number] = (
            row
            if before is None
            else _sorted_row(row.number, (*before.columns, *row.columns), (*before.texts, *row.texts))
        )
    return [merged[number] for number in sorted(merged)]
