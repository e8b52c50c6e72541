"""The writer of sheets as Markdown: a heading a sheet, a table an area; ranges are recorded as text is appended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from spanwise.documents.document import LeftOut, Part, SourceRef
from spanwise.readers.builder import Builder, ReadResult
from spanwise.readers.markup.elements import Heading
from spanwise.readers.markup.inline import Inline, at_line_start
from spanwise.readers.markup.writer import MarkdownWriter
from spanwise.readers.sheets.areas import Area, areas_of, head_rows
from spanwise.readers.sheets.cells import BETWEEN, Sheet, SheetRow, reference

_EMPTY: Final = "  |"
_EMPTY_CELLS: Final = 64  # for each filled one: cells far from each other must not fill the memory with what is between


class SheetWriter:
    """A writer of sheets, one after the other."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._found: list[tuple[Any, ...]] = []
        self._spare = 0

    def write(self, sheet: Sheet) -> None:
        """Write a sheet, under a heading if it has a name; empties its rows."""
        if sheet.name is not None:
            self._heading(sheet.name)
        for area in areas_of(sheet):
            if len(area.rows) == 1 and area.left == area.right:
                self._paragraph(sheet, area)
            else:
                self._table(sheet, area, head_rows(area, sheet))
                sheet = sheet._replace(headed=False)

    def result(self, found: dict[str, Any], left_out: Sequence[LeftOut]) -> ReadResult:
        """Return what was written."""
        text = "".join(self._pieces)
        self._pieces.clear()
        builder = Builder(text)
        for *block, where in self._found:  # added without it, because then the builder would move all parts
            builder.add(*block)
            builder.blocks[-1] = builder.blocks[-1]._replace(source_ref=where)
        builder.finish()
        return ReadResult(text, tuple(builder.blocks), found, (), tuple(left_out))

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _begin(self) -> int:
        if self._length:
            self._append("\n\n")
        return self._length

    def _heading(self, name: str) -> None:
        inline = Inline()
        inline.add_text(name)
        prose = inline.take()
        if not prose.text:
            return
        writer = MarkdownWriter()
        writer.write([Heading(1, prose, {})])
        start = self._begin()
        self._append(writer.text)
        self._found.append(("heading", start, self._length, 1, prose.visible, (), {"sheet": name}))

    def _paragraph(self, sheet: Sheet, area: Area) -> None:
        row, start = area.rows[0], self._begin()
        self._append(at_line_start(row.joined))
        where = reference(sheet.name, row.number, area.left, row.number, area.right)
        self._found.append(("paragraph", start, self._length, None, "", (), where))

    def _table(self, sheet: Sheet, area: Area, head: int) -> None:
        start, width, rows = self._begin(), area.right - area.left + 1, area.rows
        self._spare = 1000 + _EMPTY_CELLS * sum([len(row.columns) for row in rows])
        name, left, right = sheet.name, area.left, area.right
        whole = reference(name, rows[0].number, left, rows[-1].number, right)
        for row in rows[: head or 1]:
            if not head:
                self._append("|" + _EMPTY * width)
            else:
                self._append(self._row(row, left, right))
            self._append("\n|" + "---|" * width + "\n" if row is rows[0] else "\n")
        self._length -= 1
        self._pieces[-1] = self._pieces[-1][:-1]
        above = reference(name, rows[0].number, left, rows[head - 1].number, right) if head else whole
        parts = [Part(start, self._length, (), above, header=True), *self._parts(sheet, area, head)]
        self._found.append(("table", start, self._length, None, "", tuple(parts), whole))

    def _parts(self, sheet: Sheet, area: Area, head: int) -> list[Part]:
        parts, name, left, right = list[Part](), sheet.name, area.left, area.right
        full = tuple(range(left, right + 1))
        for row in area.rows[head:]:
            line = f"| {row.joined.replace(BETWEEN, ' | ')} |" if row.columns == full else self._row(row, left, right)
            self._append("\n")
            begin = self._length
            self._append(line)
            where: SourceRef = reference(name, row.number, left, row.number, right)
            parts.append(Part(begin, self._length, (), where))
        return parts

    def _row(self, row: SheetRow, left: int, right: int) -> str:
        """Return a row with a cell for every column, while there are not far more empty ones than filled ones."""
        pieces, reached = ["|"], left
        for column, text in zip(row.columns, row.texts, strict=True):
            pieces += self._empty(column - reached), f" {text} |"
            reached = column + 1
        pieces.append(self._empty(right + 1 - reached))
        return "".join(pieces)

    def _empty(self, count: int) -> str:
        taken = min(count, self._spare)
        self._spare -= taken
        return _EMPTY * taken
