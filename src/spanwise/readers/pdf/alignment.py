"""Tables without rules between their columns: found by gaps that go through several rows.

False alarms cost more than a table that is read as lines: what looks like prose in columns, like a list or like a
table of contents is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

from spanwise.readers.pdf.columns import Column, columns_of, home_of
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box, around
from spanwise.readers.pdf.lines import Line, split_at_gaps
from spanwise.readers.pdf.tables import Table, cell_text
from spanwise.readers.pdf.words import Word

_LEADER: Final = re.compile(r"(?:\.\s?){4,}|…{2,}|_{4,}")
_MARKER: Final = re.compile(r"(?:[•◦▪▫●○■□◆◇▶►➢➤✓✔‣⁃∙·–—*-]|\(?[0-9a-zA-Z]{1,4}[.)])\Z")
_LONGEST_CELL: Final = 45  # characters on average: longer ones are prose beside prose
_FEWEST_ROWS: Final = 3
_FARTHEST: Final = 3.2  # heights: rows that are farther apart are no rows of one table


class _Row(NamedTuple):
    cells: tuple[Line, ...]
    box: Box


def aligned_tables(lines: Sequence[Line], drawings: Drawings) -> list[tuple[Table, set[int]]]:
    """Find tables among lines that follow one another; with the numbers of their lines."""
    found: list[tuple[Table, set[int]]] = []
    number = 0
    while number < len(lines):
        run = _run(lines, number)
        table = _table(lines, run, drawings) if len(run) >= _FEWEST_ROWS else None
        if table:
            found.append(table)
            number = max(table[1]) + 1
        else:
            number = run[-1] + 1 if len(run) > 1 else number + 1
    return found


def _run(lines: Sequence[Line], first: int) -> list[int]:
    """Collect lines that may be rows of one table: each has gaps, or continues one that has."""
    run: list[int] = []
    for number in range(first, len(lines)):
        line = lines[number]
        gapped = line.upright and not line.mono and len(split_at_gaps(line)) > 1 and not _LEADER.search(line.text)
        if run and not _follows(lines[run[-1]], line):
            break
        if not gapped and not (run and line.upright and _is_short(lines, run, line)):
            break
        run.append(number)
    while run and len(split_at_gaps(lines[run[-1]])) == 1 and len(run) > 1:
        run.pop()
    return run or [first]


def _follows(before: Line, line: Line) -> bool:
    distance = line.box.top - before.box.bottom
    return -0.6 * line.box.height <= distance <= _FARTHEST * max(line.box.height, before.box.height)


def _is_short(lines: Sequence[Line], run: list[int], line: Line) -> bool:
    """Whether a line without a gap may be a cell: at most two in a row, and narrow."""
    widest = max(lines[number].box.width for number in run)
    alone = [len(split_at_gaps(lines[number])) == 1 for number in run[-2:]]
    return line.box.width < 0.55 * widest and not (len(alone) == 2 and all(alone))


def _table(lines: Sequence[Line], run: list[int], drawings: Drawings) -> tuple[Table, set[int]] | None:
    rows = [_Row(tuple(split_at_gaps(lines[number])), lines[number].box) for number in run]
    columns = columns_of([lines[number].words for number in run if len(split_at_gaps(lines[number])) > 1])
    if len(columns) < 2:
        return None
    texts = [_in_columns(row, columns) for row in rows]
    if not _is_table(texts, rows, len(columns)):
        return None
    merged, boxes = _whole_rows(texts, rows)
    written = tuple(tuple(cell_text(cell) for cell in row) for row in merged)
    headed = _is_head(merged, written, boxes, drawings)
    table = Table(around(boxes), written, tuple(boxes), headed, tuple(left for left, _ in columns))
    return table, set(run)


def _in_columns(row: _Row, columns: Sequence[Column]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in columns]
    for cell in row.cells:
        for word in cell.words:
            cells[home_of(word.box.left, word.box.right, columns)].append(word)
    return cells


def _is_table(texts: Sequence[list[list[Word]]], rows: Sequence[_Row], width: int) -> bool:
    filled = [sum(bool(cells[column]) for cells in texts) for column in range(width)]
    if sum(count >= 0.5 * len(texts) for count in filled) < 2 or min(filled) < 2:
        return False
    if sum(len(row.cells) > 1 for row in rows) < _FEWEST_ROWS:
        return False
    words = [" ".join(word.text for word in cell) for cells in texts for cell in cells if cell]
    if sum(map(len, words)) / len(words) > _LONGEST_CELL:
        return False
    firsts = [" ".join(word.text for word in cells[0]) for cells in texts if cells[0]]
    if sum(bool(_MARKER.match(first)) for first in firsts) > 0.5 * len(firsts):
        return False
    return width > 2 or _is_straight(texts)


def _is_straight(texts: Sequence[list[list[Word]]]) -> bool:
    """Whether both of two columns have an edge that nearly all rows keep."""
    for column in range(2):
        cells = [around(word.box for word in row[column]) for row in texts if row[column]]
        lefts, rights = [cell.left for cell in cells], [cell.right for cell in cells]
        if not any(sum(abs(edge - median(edges)) < 2.5 for edge in edges) >= 0.8 * len(edges) for edges in (lefts, rights)):
            return False
    return True


def _whole_rows(texts: list[list[list[Word]]], rows: Sequence[_Row]) -> tuple[list[list[list[Word]]], list[Box]]:
    """Join lines that are one row: fewer cells than half, close below the line before, and nothing in the first."""
    merged: list[list[list[Word]]] = []
    boxes: list[Box] = []
    gaps = [below.box.top - above.box.bottom for above, below in zip(rows, rows[1:], strict=False)]
    usual = median(gaps) if gaps else 0.0
    for index, (cells, row) in enumerate(zip(texts, rows, strict=True)):
        tight = index > 0 and gaps[index - 1] < min(0.35 * row.box.height, usual + 0.5)
        sparse = sum(map(bool, cells)) * 2 < len(cells) or len(row.cells) == 1
        if merged and tight and sparse and not cells[0] and usual > gaps[index - 1] + 1:
            for home, cell in zip(merged[-1], cells, strict=True):
                home += cell
            boxes[-1] = around((boxes[-1], row.box))
        else:
            merged.append([list(cell) for cell in cells])
            boxes.append(row.box)
    return merged, boxes


def _is_head(
    rows: Sequence[list[list[Word]]], texts: Sequence[tuple[str, ...]], boxes: Sequence[Box], drawings: Drawings
) -> bool:
    """Whether the first row is a head: bold above what isn't, under a rule of its own, or words above numbers."""
    first = [word for cell in rows[0] for word in cell]
    rest = [word for row in rows[1:] for cell in row for word in cell]
    if all(word.style.bold for word in first) and not all(word.style.bold for word in rest):
        return True
    width = around(boxes).width
    below = (boxes[0].bottom - 2, boxes[1].top + 2)
    if any(below[0] <= rule.middle <= below[1] and rule.width > 0.6 * width for rule in drawings.rules):
        return True
    counted = [sum(any(map(str.isdigit, cell)) for cell in row) for row in texts]
    return counted[0] == 0 and sum(counted[1:]) >= len(counted) - 1
