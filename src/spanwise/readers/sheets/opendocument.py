"""ODS: the cells of an OpenDocument spreadsheet, which holds every value as it is displayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from spanwise.documents.document import LeftOut, is_iso
from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.container import Container
from spanwise.readers.sheets.cells import (
    BETWEEN,
    MOST_COLUMNS,
    MOST_ROWS,
    Merged,
    Sheet,
    SheetRow,
    cell_text,
    column_name,
    quoted,
    reference,
)
from spanwise.readers.sheets.writing import SheetWriter

_CONTENT: Final = "content.xml"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE: Final = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_TAGS: Final = (f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}table-column", f"{_STYLE}style")
_MOST_REPEATED: Final = 1_000  # of a cell or row that isn't empty
_LONGEST_LISTED: Final = 200
_VALUES: Final = frozenset({"float", "percentage", "currency", "date", "time", "boolean"})


def read_ods(data: bytes, name: str) -> ReadResult:
    """Read a spreadsheet; raise UnreadableError if it is broken, encrypted, or made to exhaust memory."""
    container = Container(data, name)
    manifest = container.xml("META-INF/manifest.xml", doctype=True)
    if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
        raise UnreadableError(name, "is encrypted with a password", hint="open it and save it without the password")
    walk = _Walk(container)
    walk.run()
    return walk.writer.result(_metadata(container), walk.left_out)


def _metadata(container: Container) -> dict[str, Any]:
    """Return what the file states about itself."""
    root = container.xml("meta.xml")
    names = {"title": "title", "creator": "author", "initial-creator": "author", "date": "updated_at"}
    found: dict[str, Any] = {}
    for one in root.iter("{*}title", "{*}initial-creator", "{*}creator", "{*}date") if root is not None else ():
        if text := " ".join((one.text or "").split()):
            found[names[one.tag.rpartition("}")[2]]] = text
    return found if is_iso(found.get("updated_at", "2000-01-01")) else found | {"updated_at": None}


class _Walk:
    """A walk over the sheets of a file."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.writer = SheetWriter()
        self.left_out: list[LeftOut] = []
        self._hidden_styles: set[str] = set()
        self._begin("", is_hidden=False)

    def _begin(self, name: str, *, is_hidden: bool) -> None:
        self._name, self._is_hidden = name, is_hidden
        self._rows: list[SheetRow] = []
        self._merged: list[Merged] = []
        self._number = self._column = 0
        self._hidden_columns: list[tuple[int, int]] = []
        self._hidden_texts: dict[int, str] = {}
        self._spare = 100_000  # repeated rows and cells

    def run(self) -> None:
        """Write all sheets."""
        for event, element in self._container.events(_CONTENT, _TAGS, starts=True):
            tag = element.tag.rpartition("}")[2]
            if event == "start":
                if tag == "table":
                    style = element.get(f"{_TABLE}style-name") or ""
                    name = element.get(f"{_TABLE}name") or "Sheet"
                    self._begin(name, is_hidden=style in self._hidden_styles)
            elif tag == "style":
                if any(one.get(f"{_TABLE}display") == "false" for one in element):
                    self._hidden_styles.add(element.get(f"{_STYLE}name") or "")
            elif tag == "table-column":
                self._take_column(element)
            elif tag == "table-row":
                self._take_row(element)
            else:
                self._finish()

    def _finish(self) -> None:
        if self._is_hidden:
            self.left_out.append(LeftOut("hidden sheet", self._name, {"sheet": self._name}))
            return
        for column, text in sorted(self._hidden_texts.items()):
            where = f"{quoted(self._name)}!{column_name(column)}:{column_name(column)}"
            self.left_out.append(LeftOut("hidden column", text, {"sheet": self._name, "range": where}))
        self.writer.write(Sheet(self._name, self._rows, self._merged))

    def _take_column(self, element: Any) -> None:
        count = _count(element, "number-columns-repeated")
        if element.get(f"{_TABLE}visibility") in {"collapse", "filter"}:
            self._hidden_columns.append((self._column, self._column + count - 1))
        self._column += count

    def _take_row(self, element: Any) -> None:
        number, count = self._number, _count(element, "number-rows-repeated")
        self._number += count
        if self._is_hidden or number >= MOST_ROWS:
            return
        row = self._row(element, number)
        if row is None:
            return
        if element.get(f"{_TABLE}visibility") in {"collapse", "filter"}:
            text = row.joined[:_LONGEST_LISTED].replace(BETWEEN, " | ")
            where = reference(self._name, number, row.columns[0], number, row.columns[-1])
            self.left_out.append(LeftOut("hidden row", text, where))
            return
        times = min(count, _MOST_REPEATED, max(self._spare // len(row.columns), 1))
        self._spare -= (times - 1) * len(row.columns)
        self._rows += [row._replace(number=number + at) for at in range(times)]

    def _row(self, element: Any, number: int) -> SheetRow | None:
        """Return a row; None if no cell of it shows anything."""
        columns, texts, values, column = list[int](), list[str](), 0, 0
        for cell, count in _cells(element):
            text = cell_text(_shown(cell)) if len(cell) else ""
            for note in cell.iterchildren(f"{_OFFICE}annotation"):
                said = " ".join(" ".join(note.itertext(f"{_TEXT}p")).split())
                self.left_out.append(LeftOut("comment", said, reference(self._name, number, column, number, column)))
            times = min(count, _MOST_REPEATED, max(self._spare, 1)) if text else 0
            self._spare -= max(times - 1, 0)
            for at in range(column, min(column + times, MOST_COLUMNS)):
                if any(low <= at <= high for low, high in self._hidden_columns):
                    self._hidden_texts.setdefault(at, text[:_LONGEST_LISTED])
                    continue
                if cell.get(f"{_OFFICE}value-type") in _VALUES:
                    values |= 1 << len(texts)
                columns.append(at)
                texts.append(text)
            self._note_merged(cell, number, column)
            column = min(column + count, MOST_COLUMNS)
        return SheetRow(number, tuple(columns), BETWEEN.join(texts), values) if columns else None

    def _note_merged(self, cell: Any, number: int, column: int) -> None:
        wide, high = _count(cell, "number-columns-spanned"), _count(cell, "number-rows-spanned")
        if wide > 1 or high > 1:
            self._merged.append(Merged(number, column, number + high - 1, column + wide - 1))


def _cells(row: Any) -> Iterator[tuple[Any, int]]:
    """Yield the cells of a row, each with how often it is repeated; those below a merged one hold nothing."""
    for cell in row:
        if cell.tag in {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}:
            yield cell, _count(cell, "number-columns-repeated")


def _shown(cell: Any) -> str:
    """Return the displayed text of a cell, a line for each paragraph."""
    return "\n".join(_paragraph(one) for one in cell.iterchildren(f"{_TEXT}p"))


def _paragraph(element: Any) -> str:
    pieces = [element.text or ""]
    for child in element:
        name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
        if name == "line-break":
            pieces.append("\n")
        elif name in {"s", "tab"}:
            pieces.append(" ")
        elif name != "annotation":
            pieces.append(_paragraph(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _count(element: Any, name: str) -> int:
    stated = element.get(f"{_TABLE}{name}") or ""
    return max(int(stated), 1) if stated.isdecimal() and len(stated) < 9 else 1
