"""Tables without rules between their columns: found by cells that are aligned in rows and columns.

A file writes a table cell by cell: after the last line of a cell the next one begins further right, beside the first.
A false positive costs more than a table that is read as lines: what may be prose in columns, a list or a table of
contents is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Final

from spanwise.readers.pdf.columns import Column, column_at, columns_of
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box, around
from spanwise.readers.pdf.lines import Line, split_at_gaps
from spanwise.readers.pdf.tables import Table, cell_text
from spanwise.readers.pdf.words import Word

_LEADER: Final = re.compile(r"(?:\.\s?){4,}|…{2,}|_{4,}")
_MARKER: Final = re.compile(r"(?:[•◦▪▫●○■□◆◇▶►➢➤✓✔‣⁃∙·–—*-]|\(?[0-9a-zA-Z]{1,4}[.)])\Z")
_LONGEST_CELL: Final = 45  # characters on average, of cells of one line: longer ones are prose beside prose
_LONGEST_BLOCK: Final = 220  # the same for cells of several lines
_FEWEST_ROWS: Final = 3
_FEWEST_PROSE_ROWS: Final = 4
_LEAST_PROSE: Final = 12  # characters on average: shorter lines are cells
_FARTHEST: Final = 3.2  # heights: rows that are farther apart are not of one table
_HIGHEST: Final = 160.0  # points: a higher row is a page in columns
_NEXT_LINE: Final = 1.6  # of the size: the largest line distance in one cell


@dataclass(slots=True)
class _Row:
    """Cells beside each other, each a list of lines."""

    cells: list[list[Line]]
    line_indices: set[int] = field(default_factory=set)

    @property
    def box(self) -> Box:
        return around(line.box for cell in self.cells for line in cell)

    @property
    def words(self) -> list[Word]:
        return [word for cell in self.cells for line in cell for word in line.words]


def aligned_tables(lines: Sequence[Line], drawings: Drawings) -> list[tuple[Table, set[int]]]:
    """Return the tables among consecutive lines, with the indices of their lines."""
    found: list[tuple[Table, set[int]]] = []
    for rows in _runs(_rows(lines)):
        if _prose_columns(rows):
            continue
        first = 0
        while len(rows) - first >= _FEWEST_ROWS - 1:
            table = _table(rows[first:], drawings)
            if table:
                found.append((table, {line_index for row in rows[first:] for line_index in row.line_indices}))
                break
            first += 1
            while first < len(rows) and len(rows[first].cells) < 2:
                first += 1
    return found


def written_across(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order where a file writes columns of prose across, line by line."""
    ordered: dict[int, list[Line]] = {}  # by the index of the first line that they replace
    replaced: set[int] = set()
    for rows in _runs(_rows(lines)):
        if columns := _prose_columns(rows):
            pieces = [piece for row in rows for cell in row.cells for piece in cell]
            line_indices = {line_index for row in rows for line_index in row.line_indices}
            piece_columns = [column_at(piece.box.left, piece.box.right, columns) for piece in pieces]
            order = sorted(range(len(pieces)), key=piece_columns.__getitem__)  # inside a column the order stays
            ordered[min(line_indices)] = [pieces[index] for index in order]
            replaced |= line_indices
    done: list[Line] = []
    for line_index, line in enumerate(lines):
        done += ordered.get(line_index, [line] if line_index not in replaced else [])
    return done


def _prose_columns(rows: Sequence[_Row]) -> list[Column]:
    """Return the columns of rows that are lines of prose beside each other; empty for anything else."""
    single = sum(all(len(cell) == 1 for cell in row.cells) for row in rows)
    if len(rows) < _FEWEST_PROSE_ROWS or single < 0.6 * len(rows):
        return []
    columns = columns_of([row.words for row in rows if len(row.cells) > 1])
    if not 2 <= len(columns) <= 3:
        return []
    cells = [line for row in rows for cell in row.cells for line in cell]
    letters = sum(len(cell.text) for cell in cells) / len(cells)
    wide = sum(cell.box.width > 0.8 * _width(cell, columns) for cell in cells)
    lowercase = sum(cell.text[0].islower() for cell in cells)
    cased = sum(cell.text[0].isalpha() and cell.text[0].lower() != cell.text[0].upper() for cell in cells)
    flows = lowercase >= 0.4 * cased if cased >= 0.5 * len(cells) else wide >= 0.7 * len(cells)
    return columns if flows and letters >= _LEAST_PROSE and wide >= 0.6 * len(cells) else []


def _width(cell: Line, columns: Sequence[Column]) -> float:
    left, right = columns[column_at(cell.box.left, cell.box.right, columns)]
    return right - left


def _rows(lines: Sequence[Line]) -> Iterator[_Row | None]:
    """Yield lines as rows of cells, and None where no table can continue."""
    row: _Row | None = None
    for line_index, line in enumerate(lines):
        if not line.upright or line.mono or _LEADER.search(line.text):
            yield from (row, None)
            row = None
            continue
        for index, piece in enumerate(split_at_gaps(line)):
            if row is None:
                row = _Row([[piece]])
            elif index == 0 and _continues(row.cells[-1], piece):
                row.cells[-1].append(piece)
            elif _is_beside(row, piece):
                row.cells.append([piece])
            else:
                yield row
                row = _Row([[piece]])
            row.line_indices.add(line_index)
    yield row


def _continues(cell: list[Line], piece: Line) -> bool:
    last = cell[-1]
    step = piece.box.bottom - last.box.bottom
    return abs(piece.box.left - cell[0].box.left) < 0.8 * piece.size and 0 < step <= _NEXT_LINE * piece.size


def _is_beside(row: _Row, piece: Line) -> bool:
    box = row.box
    return (
        piece.box.left > max(line.box.right for line in row.cells[-1]) - 1
        and piece.box.shared_height(box) > 0.3 * piece.box.height
        and box.height <= _HIGHEST
    )


def _runs(rows: Iterator[_Row | None]) -> Iterator[list[_Row]]:
    """Yield rows that may be one table: close together, with several cells, or a narrow one between such."""
    run: list[_Row] = []
    for row in rows:
        if row is not None and run and _follows(run, row):
            run.append(row)
            continue
        while run and len(run[-1].cells) < 2:
            run.pop()
        if len(run) >= 2:
            yield run
        run = [row] if row is not None and len(row.cells) > 1 else []
    if len(run) >= 2:
        yield run


def _follows(run: list[_Row], row: _Row) -> bool:
    before, box = run[-1].box, row.box
    height = median(line.box.height for cell in row.cells for line in cell)
    if not -0.6 * height <= box.top - before.bottom <= _FARTHEST * height:
        return False
    if len(row.cells) > 1:
        return True
    widest = max(other.box.width for other in run)
    alone = [len(other.cells) == 1 for other in run[-2:]]
    return box.width < 0.55 * widest and not (len(alone) == 2 and all(alone))


def _table(rows: Sequence[_Row], drawings: Drawings) -> Table | None:
    columns = columns_of([row.words for row in rows if len(row.cells) > 1])
    if len(columns) < 2 or len(rows) < (_FEWEST_ROWS if len(columns) < 3 else 2):
        return None
    texts = [_in_columns(row, columns) for row in rows]
    if not _is_table(texts, rows, len(columns)):
        return None
    merged, boxes = _whole_rows(texts, rows)
    written = tuple(tuple(cell_text(cell) for cell in row) for row in merged)
    headed = len(merged) > 1 and _is_head(merged, written, boxes, drawings)
    return Table(around(boxes), written, tuple(boxes), headed, tuple(left for left, _ in columns))


def _in_columns(row: _Row, columns: Sequence[Column]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in columns]
    for word in row.words:
        cells[column_at(word.box.left, word.box.right, columns)].append(word)
    return cells


def _is_table(texts: Sequence[list[list[Word]]], rows: Sequence[_Row], width: int) -> bool:
    filled = [sum(bool(cells[column]) for cells in texts) for column in range(width)]
    if sum(count >= 0.5 * len(texts) for count in filled) < 2 or (min(filled) < 2 and len(texts) > 2):
        return False
    if sum(len(row.cells) > 1 for row in rows) < min(_FEWEST_ROWS, len(rows)):
        return False
    cell_texts = [" ".join(word.text for word in cell) for cells in texts for cell in cells if cell]
    blocks = sum(any(len(cell) > 1 for cell in row.cells) for row in rows)
    longest = _LONGEST_BLOCK if blocks and len(rows) >= _FEWEST_ROWS else _LONGEST_CELL
    if sum(map(len, cell_texts)) / len(cell_texts) > longest:
        return False
    firsts = [" ".join(word.text for word in cells[0]) for cells in texts if cells[0]]
    if sum(bool(_MARKER.match(first)) for first in firsts) > 0.5 * len(firsts):
        return False
    if sum(len(first) == 1 and not first.isalnum() for first in firsts) > 0.6 * len(firsts):
        return False  # bullets of any kind
    return width > 2 or _is_straight(texts)


def _is_straight(texts: Sequence[list[list[Word]]]) -> bool:
    """Whether both of two columns have an edge at which nearly all rows are aligned."""
    for column in range(2):
        cells = [around(word.box for word in row[column]) for row in texts if row[column]]
        sides = [cell.left for cell in cells], [cell.right for cell in cells]
        if not any(sum(abs(edge - median(side)) < 2.5 for edge in side) >= 0.8 * len(side) for side in sides):
            return False
    return True


def _whole_rows(texts: list[list[list[Word]]], rows: Sequence[_Row]) -> tuple[list[list[list[Word]]], list[Box]]:
    """Join lines of one row: under half of the cells filled, not the first, and close below the line before."""
    merged: list[list[list[Word]]] = []
    boxes: list[Box] = []
    row_boxes = [row.box for row in rows]
    gaps = [below.top - above.bottom for above, below in pairwise(row_boxes)]
    usual = median(gaps) if gaps else 0.0
    for index, (cells, row, box) in enumerate(zip(texts, rows, row_boxes, strict=True)):
        tight = index > 0 and gaps[index - 1] < min(0.35 * row.cells[0][0].box.height, usual - 1)
        sparse = sum(map(bool, cells)) * 2 < len(cells) or len(row.cells) == 1
        if merged and tight and sparse and not cells[0]:
            for target, cell in zip(merged[-1], cells, strict=True):
                target += cell
            boxes[-1] = around((boxes[-1], box))
        else:
            merged.append([list(cell) for cell in cells])
            boxes.append(box)
    return merged, boxes


def _is_head(
    rows: Sequence[list[list[Word]]], texts: Sequence[tuple[str, ...]], boxes: Sequence[Box], drawings: Drawings
) -> bool:
    """Whether the first row is a header: bold above other weights, above a rule, or text above numbers."""
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
