"""Tables found by tags or by rules, and whether their first row is a header."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.readers.pdf.columns import FEW_RULES, are_rows, columns_of, in_cells, rows_between, visual_rows
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box, around
from spanwise.readers.pdf.lines import joined, line_of, lines_of, separator, split_at_gaps
from spanwise.readers.pdf.tags import Cell, Tag
from spanwise.readers.pdf.words import Word

_NEAR: Final = 3.0  # points: rules this close are meant to meet
_LEAST_FILLED: Final = 0.3  # of the cells of a grid: a plot has fewer
_FEWEST_LONE_ROWS: Final = 3  # in a table of one column
_MOST_CELLS: Final = 20_000
_MOST_RULES: Final = 3_000


class Table(NamedTuple):
    """Rows of cells; the first row may be a header."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    boxes: tuple[Box, ...]  # one for each row
    headed: bool
    columns: tuple[float, ...] = ()  # left edges, to recognise the table on the next page


class Grid(NamedTuple):
    """The positions of the rules of a table, and which of its cells are merged."""

    xs: list[float]
    ys: list[float]
    cells: dict[tuple[int, int], tuple[int, int]]  # row and column to those of the merged cell
    shaded: list[Box]

    @property
    def box(self) -> Box:
        """The box that the rules enclose."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def tagged_tables(words: Sequence[Word], tags: dict[int, Tag]) -> list[tuple[Table, set[int]]]:
    """Return the tables that the file tags, with the indices of their words."""
    found: dict[int, dict[tuple[int, int], list[int]]] = {}
    cells: dict[tuple[int, int, int], Cell] = {}
    for index, word in enumerate(words):
        tag = tags.get(word.style.tag)
        if tag and (cell := tag.cell):
            found.setdefault(cell.table, {}).setdefault((cell.row, cell.column), []).append(index)
            cells[cell.table, cell.row, cell.column] = cell
    tables = []
    for table, cell_words in found.items():
        known = {(row, column): cells[table, row, column] for row, column in cell_words}
        texts, widths, headers = _placed_cells(words, cell_words, known)
        if len(texts) > 1 and _is_in_order(words, texts):
            used = {index for indices in cell_words.values() for index in indices}
            tables.append((made_table(words, texts, widths, headed=headers), used))
    return tables


def _is_in_order(words: Sequence[Word], rows: Sequence[dict[int, list[int]]]) -> bool:
    """Whether cells are positioned as tagged; some programs write the tags in drawing order."""
    wrong = 0
    for row in rows:
        lefts = [min(words[index].box.left for index in row[column]) for column in sorted(row)]
        wrong += lefts != sorted(lefts)
    return wrong <= 0.1 * len(rows)


def _placed_cells(
    words: Sequence[Word], cell_words: dict[tuple[int, int], list[int]], known: dict[tuple[int, int], Cell]
) -> tuple[list[dict[int, list[int]]], int, bool]:
    """Return rows, width and whether headed; cells move right where a spanning cell takes their column."""
    taken: set[tuple[int, int]] = set()
    rows: dict[int, dict[int, list[int]]] = {}
    width = 0
    for row, column in sorted(cell_words):
        cell, at = known[row, column], column
        while (row, at) in taken:
            at += 1
        taken |= {(row + down, at + right) for down in range(cell.rows) for right in range(cell.columns)}
        rows.setdefault(row, {})[at] = cell_words[row, column]
        width = max(width, at + cell.columns)
    first = min(rows, default=0)
    headed = any(cell.header for (row, _), cell in known.items() if row == first)
    return [rows[row] for row in sorted(rows)], width, headed


def ruled_tables(words: Sequence[Word], drawings: Drawings) -> list[tuple[Table, set[int]]]:
    """Return the tables drawn with rules, with the indices of their words."""
    tables = []
    for grid in grids(drawings):
        inside = [index for index, word in enumerate(words) if grid.box.holds(word.box.center, word.box.middle)]
        if _is_coarse([words[index] for index in inside], grid):
            tables.append((_table_by_gaps(words, inside, grid), set(inside)))
            continue
        texts = _by_cell(words, inside, grid)
        filled = sum(map(len, texts.values()))
        whole = len(set(grid.cells.values()))
        if filled < 2 or filled < _LEAST_FILLED * whole:
            continue
        if max(map(len, texts.values())) < 2 and len(texts) < _FEWEST_LONE_ROWS:  # a frame around text
            continue
        rows = [part for row in sorted(texts) for part in _split_row(words, texts[row], grid)]
        headed = _is_head(words, rows[0], grid)
        table = made_table(words, rows, len(grid.xs) - 1, headed=headed, columns=tuple(grid.xs), box=grid.box)
        tables.append((table, set(inside)))
    return tables


def _is_coarse(words: Sequence[Word], grid: Grid) -> bool:
    """Whether the rules separate only groups of columns: most lines have gaps inside one cell."""
    lines = visual_rows(words)
    gapped = 0
    for line in lines:
        pieces = split_at_gaps(line_of(sorted(line, key=lambda word: word.box.left)))
        columns = [bisect_right(grid.xs, piece.box.center) for piece in pieces]
        gapped += len(set(columns)) < len(columns)
    return len(lines) >= 4 and gapped >= 0.5 * len(lines)


def _table_by_gaps(words: Sequence[Word], inside: Sequence[int], grid: Grid) -> Table:
    """Return the table of a grid whose cells hold several columns: these are found by gaps."""
    bands = []
    for above, below in pairwise(grid.ys):
        band = [words[index] for index in inside if above <= words[index].box.middle < below]
        bands += [visual_rows(band)] if band else []
    columns = columns_of([line for band in bands for line in band])
    few = len(grid.ys) <= FEW_RULES or len(bands) * 2 < sum(map(len, bands))
    indices = {id(words[index]): index for index in inside}
    rows = [row for band in bands for row in rows_between(band, columns, few=few)]
    cells = [in_cells(row, columns, indices) for row in rows]
    return made_table(words, cells, len(columns), headed=_is_head(words, cells[0], grid), columns=tuple(grid.xs))


def _by_cell(words: Sequence[Word], inside: Iterable[int], grid: Grid) -> dict[int, dict[int, list[int]]]:
    texts: dict[int, dict[int, list[int]]] = {}
    for index in inside:
        box = words[index].box
        row = min(max(bisect_right(grid.ys, box.middle) - 1, 0), len(grid.ys) - 2)
        column = min(max(bisect_right(grid.xs, box.center) - 1, 0), len(grid.xs) - 2)
        row, column = grid.cells[row, column]
        texts.setdefault(row, {}).setdefault(column, []).append(index)
    return texts


def _split_row(words: Sequence[Word], row: dict[int, list[int]], grid: Grid) -> list[dict[int, list[int]]]:
    """Split a row of the grid that holds several rows without rules between them."""
    indices = {id(words[index]): index for cell in row.values() for index in cell}
    lines = visual_rows([words[index] for index in sorted(indices.values())])
    if not are_rows(lines, list(pairwise(grid.xs))):
        return [row]
    columns = {index: column for column, cell in row.items() for index in cell}
    parts: list[dict[int, list[int]]] = [{} for _ in lines]
    for line, part in zip(lines, parts, strict=True):
        for index in sorted(indices[id(word)] for word in line):
            part.setdefault(columns[index], []).append(index)
    return parts


def _is_head(words: Sequence[Word], row: dict[int, list[int]], grid: Grid) -> bool:
    """Whether a first row is a header: bold, or with a background of its own."""
    indices = [index for cell in row.values() for index in cell]
    if all(words[index].style.bold for index in indices):
        return True
    first = Box(grid.xs[0], grid.ys[0], grid.xs[-1], grid.ys[1])
    return any(area.shared_area(first) > 0.8 * area.area for area in grid.shaded)


def made_table(
    words: Sequence[Word],
    rows: Sequence[dict[int, list[int]]],
    width: int,
    *,
    headed: bool,
    columns: tuple[float, ...] = (),
    box: Box | None = None,
) -> Table:
    """Return a table of words given by their indices, row by row and column by column."""
    texts, boxes = [], []
    for row in rows:
        texts.append(tuple(cell_text([words[index] for index in row.get(column, ())]) for column in range(width)))
        boxes.append(around(words[index].box for cell in row.values() for index in cell))
    return Table(box or around(boxes), tuple(texts), tuple(boxes), headed, columns)


def cell_text(words: Sequence[Word]) -> str:
    """Join the words of a cell, line by line; hyphens stay, because tables hold many names."""
    text = ""
    for line in lines_of(words):
        line_text = joined(line.words, marked=True)
        text = text + line_text if not text or text.endswith("-") else text + separator(text, line_text) + line_text
    return text


def grids(drawings: Drawings) -> list[Grid]:
    """Return the grids that rules form."""
    rules = [*drawings.rules, *(edge for area in drawings.areas for edge in _edges(area))]
    if len(rules) > _MOST_RULES:
        return []
    horizontals = merged_rules([rule for rule in rules if rule.width >= rule.height], horizontal=True)
    verticals = merged_rules([rule for rule in rules if rule.width < rule.height], horizontal=False)
    groups = (group for group in _groups(horizontals, verticals) if min(map(len, group)) >= 2)
    found = [grid for group in groups if (grid := _grid(*group, drawings.areas))]
    return [grid for grid in found if not any(_is_within(grid.box, other.box) for other in found if other is not grid)]


def _is_within(box: Box, other: Box) -> bool:
    return box.shared_area(other) > 0.9 * box.area and other.area > box.area


def _edges(area: Box) -> list[Box]:
    left, top, right, bottom = area
    return [
        Box(left, top, right, top), Box(left, bottom, right, bottom),
        Box(left, top, left, bottom), Box(right, top, right, bottom),
    ]  # fmt: skip


def merged_rules(rules: list[Box], *, horizontal: bool) -> list[Box]:
    """Merge rules that continue one another or are drawn twice."""

    def position(rule: Box) -> float:
        return rule.middle if horizontal else rule.center

    def ends(rule: Box) -> tuple[float, float]:
        return (rule.left, rule.right) if horizontal else (rule.top, rule.bottom)

    done: list[tuple[float, float, float]] = []
    row: list[Box] = []
    for rule in [*sorted(rules, key=position), None]:
        if rule is not None and (not row or position(rule) - position(row[0]) <= _NEAR / 2):
            row.append(rule)
            continue
        at = sum(map(position, row)) / len(row) if row else 0.0
        reach: tuple[float, float] | None = None
        for low, high in sorted(map(ends, row)):
            if reach and low <= reach[1] + _NEAR:
                reach = reach[0], max(reach[1], high)
            else:
                done += [(at, *reach)] if reach else []
                reach = low, high
        done += [(at, *reach)] if reach else []
        row = [rule] if rule is not None else []
    return [Box(low, at, high, at) if horizontal else Box(at, low, at, high) for at, low, high in done]


def _groups(horizontals: list[Box], verticals: list[Box]) -> list[tuple[list[Box], list[Box]]]:
    """Group the rules that touch each other."""
    parents = list(range(len(horizontals) + len(verticals)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    for index, rule in enumerate(horizontals):
        for other, vertical in enumerate(verticals):
            if (
                rule.left - _NEAR <= vertical.left <= rule.right + _NEAR
                and vertical.top - _NEAR <= rule.top <= vertical.bottom + _NEAR
            ):
                parents[root(index)] = root(len(horizontals) + other)
    groups: dict[int, tuple[list[Box], list[Box]]] = {}
    for index, rule in enumerate([*horizontals, *verticals]):
        groups.setdefault(root(index), ([], []))[index >= len(horizontals)].append(rule)
    return list(groups.values())


def _grid(horizontals: list[Box], verticals: list[Box], areas: list[Box]) -> Grid | None:
    """Return the grid of rules that touch; cells without a rule between them are merged."""
    xs = _distinct([rule.left for rule in verticals] + _open_sides(horizontals, verticals))
    ys = _distinct([rule.top for rule in horizontals])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 1 or columns < 1 or rows * columns < 2 or rows * columns > _MOST_CELLS:
        return None
    cells = _merged_cells(xs, ys, horizontals, verticals)
    if len(set(cells.values())) < 2:
        return None
    box = Box(xs[0], ys[0], xs[-1], ys[-1])
    shaded = [area for area in areas if box.shared_area(area) > 0.9 * area.area and area.area < 0.9 * box.area]
    return Grid(xs, ys, cells, shaded)


def _open_sides(horizontals: list[Box], verticals: list[Box]) -> list[float]:
    """Return the positions where rows without a rule at their side end."""
    left, right = min(rule.left for rule in horizontals), max(rule.right for rule in horizontals)
    low, high = min(rule.left for rule in verticals), max(rule.left for rule in verticals)
    return [left] * (left < low - 4 * _NEAR) + [right] * (right > high + 4 * _NEAR)


def _distinct(values: list[float]) -> list[float]:
    """Return values in order, without those nearly equal to the one before."""
    distinct: list[float] = []
    for value in sorted(values):
        if not distinct or value - distinct[-1] > _NEAR:
            distinct.append(value)
    return distinct


def _merged_cells(
    xs: list[float], ys: list[float], horizontals: list[Box], verticals: list[Box]
) -> dict[tuple[int, int], tuple[int, int]]:
    rows, columns = len(ys) - 1, len(xs) - 1
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(rows):
        for column in range(columns):
            middle, center = (ys[row] + ys[row + 1]) / 2, (xs[column] + xs[column + 1]) / 2
            owner = row, column
            if column and not _has_rule(verticals, xs[column], middle, horizontal=False):
                owner = cells[row, column - 1]
            elif row and not _has_rule(horizontals, center, ys[row], horizontal=True):
                owner = cells[row - 1, column]
            cells[row, column] = owner
    return cells


def _has_rule(rules: list[Box], x: float, y: float, *, horizontal: bool) -> bool:
    if horizontal:
        return any(abs(rule.top - y) <= _NEAR and rule.left - 1 <= x <= rule.right + 1 for rule in rules)
    return any(abs(rule.left - x) <= _NEAR and rule.top - 1 <= y <= rule.bottom + 1 for rule in rules)
