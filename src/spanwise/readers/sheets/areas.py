"""Areas: the blocks of filled cells of a sheet, divided by empty rows and columns; and which of their rows are head."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.readers.sheets.cells import Merged, Sheet, SheetRow

_DEEPEST: Final = 8  # alternating divisions by rows and by columns: beyond, an area stays whole
_MOST_HEAD_ROWS: Final = 6
_SAMPLE: Final = 20  # rows below a head that are looked at
_MOST_SPANNED: Final = 64  # columns of a merged cell that count as filled
_YEARS: Final = range(1900, 2101)


class Area(NamedTuple):
    """A block of filled cells: its rows, and its first and last column."""

    rows: list[SheetRow]
    left: int
    right: int


def areas_of(sheet: Sheet) -> Iterator[Area]:
    """Yield the areas of a sheet from top to bottom, beside each other from left to right; empties its rows."""
    spanned = _Spanned(sheet)
    band: list[SheetRow] = []
    rows, reached = sheet.rows, -2
    rows.reverse()  # so that what is done is freed
    while rows:
        row = rows.pop()
        if row.number != reached + 1 and band:
            yield from _divided(band, spanned, 1)
            band = []
        band.append(row)
        reached = row.number
    if band:
        yield from _divided(band, spanned, 1)


def _divided(rows: list[SheetRow], spanned: _Spanned, depth: int) -> Iterator[Area]:
    """Divide rows without an empty one between them at empty columns, what remains at empty rows, and so on."""
    ranges = _runs(spanned.columns(rows))
    if len(ranges) == 1 or depth > _DEEPEST:
        yield Area(rows, ranges[0][0], ranges[-1][1])
        return
    lows = [low for low, _ in ranges]
    parts: list[list[SheetRow]] = [[] for _ in ranges]
    for row in rows:
        for at in dict.fromkeys(bisect_right(lows, column) - 1 for column in row.columns):
            parts[at].append(row.within(*ranges[at]))
    for inside in parts:
        edges = [0, *(at for at in range(1, len(inside)) if inside[at].number > inside[at - 1].number + 1), len(inside)]
        for first, after in pairwise(edges):
            if first < after:
                yield from _divided(inside[first:after], spanned, depth + 1)


def _runs(columns: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of neighbouring columns."""
    runs: list[tuple[int, int]] = []
    for column in sorted(columns):
        if runs and column == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], column
        else:
            runs.append((column, column))
    return runs


class _Spanned:
    """The columns that merged cells fill, by row; a merged cell that is very wide or high counts up to a bound."""

    def __init__(self, sheet: Sheet) -> None:
        self._by_row: dict[int, set[int]] = {}
        spare = 10_000 + 4 * sum(len(row.columns) for row in sheet.rows) if sheet.merged else 0
        for top, left, bottom, right in sheet.merged:
            columns = range(left, min(right, left + _MOST_SPANNED) + 1)
            for number in range(top, bottom + 1):
                spare -= len(columns)
                if spare < 0:
                    return
                self._by_row.setdefault(number, set()).update(columns)

    def columns(self, rows: Sequence[SheetRow]) -> set[int]:
        """Return the columns that are filled in any of the rows."""
        filled = {column for columns in {row.columns for row in rows} for column in columns}
        if not self._by_row:
            return filled
        low, high = min(filled), max(filled)
        spanned = (self._by_row.get(row.number, ()) for row in rows)
        return filled | {column for columns in spanned for column in columns if low < column < high}


def head_rows(area: Area, sheet: Sheet) -> int:
    """Count the rows of an area that are its head: declared, in sight while scrolling, or found by what they hold."""
    rows = area.rows
    top, bottom = rows[0].number, rows[-1].number
    for table, count in sheet.tables:
        last = table.top + count - 1
        inside = top <= table.top <= last < bottom and _meets(table, area)
        if inside and last - top < _MOST_HEAD_ROWS:
            return last - top + 1
    most = min(_MOST_HEAD_ROWS, len(rows) - 1)
    if 0 < sheet.frozen - top <= most and not any(_is_data(row) for row in rows[: sheet.frozen - top]):
        return sheet.frozen - top
    if sheet.headed:
        return 2 if most > 1 and _is_title(rows[0], rows[1]) and not _is_data(rows[1]) else 1
    if _is_data(rows[0]) or (len(rows) == 1 and rows[0].values):
        return 0
    count = 1
    while count < most and _goes_on(area, sheet.merged, count):
        count += 1
    return count


def _is_data(row: SheetRow) -> bool:
    """Whether a row holds values that are no names of columns; years are."""
    texts = row.texts if row.values else []
    values = [text for at, text in enumerate(texts) if row.values >> at & 1]
    return any(not (text.isascii() and text.isdigit() and int(text[:9]) in _YEARS) for text in values)


def _goes_on(area: Area, merged: Sequence[Merged], count: int) -> bool:
    """Whether the row after the first `count` head rows is head as well."""
    above, row = area.rows[count - 1], area.rows[count]
    if row.values and _is_data(row):
        return False
    if any(one.top <= above.number and one.bottom >= row.number and _meets(one, area) for one in merged):
        return True  # a cell of the head reaches down into this row
    groups = any(one.top == above.number and one.right > one.left and _meets(one, area) for one in merged)
    only_title = _is_title(above, row)
    fills_gaps = not set(above.columns) >= set(row.columns)
    below = area.rows[count + 1 : count + 1 + _SAMPLE]
    has_values = sum(bool(one.values) for one in below) * 2 > len(below)
    return (groups or only_title or fills_gaps) and (has_values or only_title)


def _is_title(above: SheetRow, row: SheetRow) -> bool:
    return len(above.columns) == 1 and len(row.columns) > 1


def _meets(one: Merged, area: Area) -> bool:
    return one.left <= area.right and one.right >= area.left
