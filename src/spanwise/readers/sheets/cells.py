"""The cells of a sheet as text, a row at a time, in little memory; and the names of ranges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from spanwise.documents.document import SourceRef
from spanwise.readers.markup.inline import escaped

BETWEEN: Final = "\0"
"""Between the texts of a row; no text holds it."""
MOST_COLUMNS: Final = 16_384
MOST_ROWS: Final = 1_048_576
_MARKS: Final = re.compile(r"[\\`*_\[\]<&~|]")
_LINE_ENDS: Final = re.compile(r"[^\S\n]*(?:\r\n?|\n|\x0b|\x0c|\x85|\u2028|\u2029)[^\S\n]*")
_PLAIN_NAME: Final = re.compile(r"[^\W\d][\w.]*")
_LIKE_A_CELL: Final = re.compile(r"[A-Za-z]{1,3}[0-9]+")


class SheetRow(NamedTuple):
    """A row: its number and the columns of its filled cells, from 0, their texts as Markdown, and which are values."""

    number: int
    columns: tuple[int, ...]
    joined: str
    values: int = 0
    """A bit for each filled cell, the lowest for the first: whether it is a number, a date or a truth value."""

    @property
    def texts(self) -> list[str]:
        """The texts of the filled cells."""
        return self.joined.split(BETWEEN)

    def within(self, low: int, high: int) -> SheetRow:
        """Return the row with the columns from one to another only, of which at least one is filled."""
        first, after = bisect_left(self.columns, low), bisect_right(self.columns, high)
        if after - first == len(self.columns):
            return self
        texts, values = self.texts, (self.values >> first) & ((1 << (after - first)) - 1)
        return SheetRow(self.number, self.columns[first:after], BETWEEN.join(texts[first:after]), values)


class Merged(NamedTuple):
    """A range of merged cells: its first and last row and column, from 0."""

    top: int
    left: int
    bottom: int
    right: int


class Sheet(NamedTuple):
    """What of a sheet decides how it is written: its name, rows, merged cells, and how many rows stay in sight."""

    name: str | None
    rows: list[SheetRow]
    merged: Sequence[Merged] = ()
    frozen: int = 0
    tables: Sequence[tuple[Merged, int]] = ()
    """The ranges that are declared as tables, and how many rows of each are its head."""
    headed: bool = False
    """Whether the first row is a head in any case."""


def cell_text(text: str) -> str:
    """Return the text of a cell as Markdown on one line; "" if nothing is visible."""
    text = text.strip()
    if not text.isprintable() and text:  # nearly all texts are
        text = _LINE_ENDS.sub("\n", text.replace(BETWEEN, "\ufffd")).replace("\t", " ")
        return "<br>".join(map(_escaped, text.split("\n")))
    return _escaped(text)


def cell_texts(cells: Sequence[str]) -> list[str]:
    """Return the texts of several cells as Markdown."""
    together = "".join(cells)
    if together.isprintable() and not _MARKS.search(together):  # nearly always
        return [cell.strip() for cell in cells]
    return list(map(cell_text, cells))


def _escaped(text: str) -> str:
    return escaped(text).replace("|", "\\|") if _MARKS.search(text) else text


@lru_cache(maxsize=MOST_COLUMNS)
def column_name(column: int) -> str:
    """Return the letters of a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def column_index(letters: str) -> int:
    """Return the number of a column from 0 by its letters; -1 if they are none of a column."""
    column = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z" or column > MOST_COLUMNS:
            return -1
        column = column * 26 + ord(letter) - 64
    return column - 1 if column <= MOST_COLUMNS else -1


_RANGE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Za-z]{1,3})\$?([0-9]{1,7}))?")


def range_of(reference: str) -> Merged | None:
    """Return the cells of a reference such as `A1:F40`; None if it is none."""
    found = _RANGE.fullmatch(reference)
    if not found:
        return None
    left, top = column_index(found[1]), int(found[2]) - 1
    right, bottom = (column_index(found[3]), int(found[4]) - 1) if found[3] else (left, top)
    valid = 0 <= left <= right and 0 <= top <= bottom < MOST_ROWS * 2
    return Merged(top, left, bottom, right) if valid else None


def quoted(sheet: str) -> str:
    """Return the name of a sheet as it stands in references."""
    if _PLAIN_NAME.fullmatch(sheet) and not _LIKE_A_CELL.fullmatch(sheet):
        return sheet
    return "'" + sheet.replace("'", "''") + "'"


def reference(sheet: str | None, top: int, left: int, bottom: int, right: int) -> SourceRef:
    """Return the source reference of a range of cells."""
    cells = f"{column_name(left)}{top + 1}:{column_name(right)}{bottom + 1}"
    return {"range": cells} if sheet is None else {"sheet": sheet, "range": f"{quoted(sheet)}!{cells}"}
