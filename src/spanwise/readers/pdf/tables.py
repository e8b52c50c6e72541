"""Tables: by tags, by ruled lines, or by how the words are aligned; and what of a table is its head."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.readers.pdf.columns import FEW_RULES, are_rows, columns_of, in_cells, rows_between, visual_rows
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box, around
from spanwise.readers.pdf.lines import glue, joined, line_of, lines_of, split_at_gaps
from spanwise.readers.pdf.tags import Cell, Tag
from spanwise.readers.pdf.words import Word

_NEAR: Final = 3.0  # points: rules that are meant to meet
_LEAST_FILLED: Final = 0.3  # of the cells of a grid: a plot has fewer words
_FEWEST_LONE_ROWS: Final = 3  # of a table that has one column
_MOST_CELLS: Final = 20_000
_MOST_RULES: Final = 3_000


class Table(NamedTuple):
    """Rows of cells; the first rows may be its head."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    boxes: tuple[Box, ...]  # one for each row
    headed: bool
    columns: tuple[float, ...] = ()  # where they begin, to know the table again on the next page


class Grid(NamedTuple):
    """Where the rules of a table stand, and which of its cells are one."""

    xs: list[float]
    ys: list[float]
    cells: dict[tuple[int, int], tuple[int, int]]  # row and column to those of the cell that takes their place
    shaded: list[Box]

    @property
    def box(self) -> Box:
        """What the rules enclose."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def tagged_tables(words: Sequence[Word], tags: dict[int, Tag]) -> list[tuple[Table, set[int]]]:
    """Find the tables that the file itself names; with the numbers of their words."""
    found: dict[int, dict[tuple[int, int], list[int]]] = {}
    cells: dict[tuple[int, int, int], Cell] = {}
    for number, word in enumerate(words):
        tag = tags.get(word.style.tag)
        if tag and (cell := tag.cell):
            found.setdefault(cell.table, {}).setdefault((cell.row, cell.column), []).append(number)
            cells[cell.table, cell.row, cell.column] = cell
    tables = []
    for name, places in found.items():
        known = {(row, column): cells[name, row, column] for row, column in places}
        texts, widths, headers = _placed_cells(words, places, known)
        if len(texts) > 1 and _is_in_order(words, texts):
            used = {number for numbers in places.values() for number in numbers}
            tables.append((made_table(words, texts, widths, headed=headers), used))
    return tables


def _is_in_order(words: Sequence[Word], rows: Sequence[dict[int, list[int]]]) -> bool:
    """Whether cells stand as their tags say; some programs write the tags in the order in which they drew."""
    wrong = 0
    for row in rows:
        lefts = [min(words[number].box.left for number in row[column]) for column in sorted(row)]
        wrong += lefts != sorted(lefts)
    return wrong <= 0.1 * len(rows)


def _placed_cells(
    words: Sequence[Word], places: dict[tuple[int, int], list[int]], known: dict[tuple[int, int], Cell]
) -> tuple[list[dict[int, list[int]]], int, bool]:
    """Move cells right where one above or before them takes their place."""
    taken: set[tuple[int, int]] = set()
    rows: dict[int, dict[int, list[int]]] = {}
    width = 0
    for row, column in sorted(places):
        cell, at = known[row, column], column
        while (row, at) in taken:
            at += 1
        taken |= {(row + down, at + right) for down in range(cell.rows) for right in range(cell.columns)}
        rows.setdefault(row, {})[at] = places[row, column]
        width = max(width, at + cell.columns)
    first = min(rows, default=0)
    headed = any(cell.header for (row, _), cell in known.items() if row == first)
    return [rows[row] for row in sorted(rows)], width, headed


def ruled_tables(words: Sequence[Word], drawings: Drawings) -> list[tuple[Table, set[int]]]:
    """Find the tables that are drawn with rules; with the numbers of their words."""
    tables = []
    for grid in grids(drawings):
        inside = [number for number, word in enumerate(words) if _is_in(word, grid.box)]
        if _is_coarse([words[number] for number in inside], grid):
            tables.append((_finer(words, inside, grid), set(inside)))
            continue
        texts = _by_cell(words, inside, grid)
        filled = sum(map(len, texts.values()))
        whole = len(set(grid.cells.values()))
        if filled < 2 or filled < _LEAST_FILLED * whole:
            continue
        if max(map(len, texts.values())) < 2 and len(texts) < _FEWEST_LONE_ROWS:  # a frame around text
            continue
        rows = [part for row in sorted(texts) for part in _parted(words, texts[row], grid)]
        headed = _is_head(words, rows[0], grid)
        table = made_table(words, rows, len(grid.xs) - 1, headed=headed, columns=tuple(grid.xs), box=grid.box)
        tables.append((table, set(inside)))
    return tables


def _is_coarse(words: Sequence[Word], grid: Grid) -> bool:
    """Whether the rules part only groups of columns: most lines have gaps inside one cell."""
    lines = visual_rows(words)
    gapped = 0
    for line in lines:
        pieces = split_at_gaps(line_of(sorted(line, key=lambda word: word.box.left)))
        homes = [bisect_right(grid.xs, (piece.box.left + piece.box.right) / 2) for piece in pieces]
        gapped += len(set(homes)) < len(homes)
    return len(lines) >= 4 and gapped >= 0.5 * len(lines)


def _finer(words: Sequence[Word], inside: Sequence[int], grid: Grid) -> Table:
    """Make a table of a grid whose cells hold several columns: these are found by the gaps."""
    bands = []
    for above, below in pairwise(grid.ys):
        band = [words[number] for number in inside if above <= words[number].box.middle < below]
        bands += [visual_rows(band)] if band else []
    columns = columns_of([line for band in bands for line in band])
    few = len(grid.ys) <= FEW_RULES or len(bands) * 2 < sum(map(len, bands))
    numbers = {id(words[number]): number for number in inside}
    rows = [row for band in bands for row in rows_between(band, columns, few=few)]
    cells = [in_cells(row, columns, numbers) for row in rows]
    return made_table(words, cells, len(columns), headed=_is_head(words, cells[0], grid), columns=tuple(grid.xs))


def _is_in(word: Word, box: Box) -> bool:
    return box.holds((word.box.left + word.box.right) / 2, word.box.middle)


def _by_cell(words: Sequence[Word], inside: Iterable[int], grid: Grid) -> dict[int, dict[int, list[int]]]:
    texts: dict[int, dict[int, list[int]]] = {}
    for number in inside:
        box = words[number].box
        row = min(max(bisect_right(grid.ys, box.middle) - 1, 0), len(grid.ys) - 2)
        column = min(max(bisect_right(grid.xs, (box.left + box.right) / 2) - 1, 0), len(grid.xs) - 2)
        row, column = grid.cells[row, column]
        texts.setdefault(row, {}).setdefault(column, []).append(number)
    return texts


def _parted(words: Sequence[Word], row: dict[int, list[int]], grid: Grid) -> list[dict[int, list[int]]]:
    """Part a row of the grid that holds several rows without rules between them."""
    numbers = {id(words[number]): number for cell in row.values() for number in cell}
    lines = visual_rows([words[number] for number in sorted(numbers.values())])
    if not are_rows(lines, list(pairwise(grid.xs))):
        return [row]
    homes = {number: column for column, cell in row.items() for number in cell}
    parts: list[dict[int, list[int]]] = []
    for line in lines:
        part: dict[int, list[int]] = {}
        for number in sorted(numbers[id(word)] for word in line):
            part.setdefault(homes[number], []).append(number)
        parts.append(part)
    return parts


def _is_head(words: Sequence[Word], row: dict[int, list[int]], grid: Grid) -> bool:
    """Whether a first row is a head: bold, or on a ground of its own."""
    numbers = [number for cell in row.values() for number in cell]
    if all(words[number].style.bold for number in numbers):
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
    """Make a table of words that are named by their numbers, row by row and column by column."""
    texts, boxes = [], []
    for row in rows:
        texts.append(tuple(cell_text([words[number] for number in row.get(column, ())]) for column in range(width)))
        boxes.append(around(words[number].box for cell in row.values() for number in cell))
    return Table(box or around(boxes), tuple(texts), tuple(boxes), headed, columns)


def cell_text(words: Sequence[Word]) -> str:
    """Put the words of a cell together, line after line; hyphens stay, because tables hold many names."""
    text = ""
    for line in lines_of(words):
        said = joined(line.words, marked=True)
        text = text + said if not text or text.endswith("-") else text + glue(text, said) + said
    return text


def grids(drawings: Drawings) -> list[Grid]:
    """Find the grids that rules form."""
    rules = [*drawings.rules, *(edge for area in drawings.areas for edge in _edges(area))]
    if len(rules) > _MOST_RULES:
        return []
    flat = united([rule for rule in rules if rule.width >= rule.height], level=True)
    steep = united([rule for rule in rules if rule.width < rule.height], level=False)
    found = []
    for group_flat, group_steep in _groups(flat, steep):
        if len(group_flat) >= 2 and len(group_steep) >= 2 and (grid := _grid(group_flat, group_steep, drawings.areas)):
            found.append(grid)
    return [grid for grid in found if not any(_is_within(grid.box, other.box) for other in found if other is not grid)]


def _is_within(box: Box, other: Box) -> bool:
    return box.shared_area(other) > 0.9 * box.area and other.area > box.area


def _edges(area: Box) -> list[Box]:
    left, top, right, bottom = area
    return [
        Box(left, top, right, top), Box(left, bottom, right, bottom),
        Box(left, top, left, bottom), Box(right, top, right, bottom),
    ]  # fmt: skip


def united(rules: list[Box], *, level: bool) -> list[Box]:
    """Make one of rules that go on in one another or are drawn twice."""

    def place(rule: Box) -> float:
        return rule.middle if level else (rule.left + rule.right) / 2

    def ends(rule: Box) -> tuple[float, float]:
        return (rule.left, rule.right) if level else (rule.top, rule.bottom)

    done: list[tuple[float, float, float]] = []
    row: list[Box] = []
    for rule in [*sorted(rules, key=place), None]:
        if rule is not None and (not row or place(rule) - place(row[0]) <= _NEAR / 2):
            row.append(rule)
            continue
        at = sum(map(place, row)) / len(row) if row else 0.0
        reach: tuple[float, float] | None = None
        for low, high in sorted(map(ends, row)):
            if reach and low <= reach[1] + _NEAR:
                reach = reach[0], max(reach[1], high)
            else:
                done += [(at, *reach)] if reach else []
                reach = low, high
        done += [(at, *reach)] if reach else []
        row = [rule] if rule is not None else []
    return [Box(low, at, high, at) if level else Box(at, low, at, high) for at, low, high in done]


def _groups(flat: list[Box], steep: list[Box]) -> list[tuple[list[Box], list[Box]]]:
    """Group the rules that touch each other."""
    home = list(range(len(flat) + len(steep)))

    def root(index: int) -> int:
        while home[index] != index:
            home[index] = home[home[index]]
            index = home[index]
        return index

    for index, rule in enumerate(flat):
        for other, upright in enumerate(steep):
            if (
                rule.left - _NEAR <= upright.left <= rule.right + _NEAR
                and upright.top - _NEAR <= rule.top <= upright.bottom + _NEAR
            ):
                home[root(index)] = root(len(flat) + other)
    groups: dict[int, tuple[list[Box], list[Box]]] = {}
    for index, rule in enumerate([*flat, *steep]):
        groups.setdefault(root(index), ([], []))[index >= len(flat)].append(rule)
    return list(groups.values())


def _grid(flat: list[Box], steep: list[Box], areas: list[Box]) -> Grid | None:
    """Make a grid of rules that touch; cells without a rule between them are one."""
    xs = _places([rule.left for rule in steep] + _open_sides(flat, steep))
    ys = _places([rule.top for rule in flat])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 1 or columns < 1 or rows * columns < 2 or rows * columns > _MOST_CELLS:
        return None
    cells = _merged(xs, ys, flat, steep)
    if len(set(cells.values())) < 2:
        return None
    box = Box(xs[0], ys[0], xs[-1], ys[-1])
    shaded = [area for area in areas if box.shared_area(area) > 0.9 * area.area and area.area < 0.9 * box.area]
    return Grid(xs, ys, cells, shaded)


def _open_sides(flat: list[Box], steep: list[Box]) -> list[float]:
    """Give where rows end that have no rule at their sides."""
    left, right = min(rule.left for rule in flat), max(rule.right for rule in flat)
    low, high = min(rule.left for rule in steep), max(rule.left for rule in steep)
    return [left] * (left < low - 4 * _NEAR) + [right] * (right > high + 4 * _NEAR)


def _places(values: list[float]) -> list[float]:
    """Give values in order, those that are nearly equal once."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _NEAR:
            places.append(value)
    return places


def _merged(
    xs: list[float], ys: list[float], flat: list[Box], steep: list[Box]
) -> dict[tuple[int, int], tuple[int, int]]:
    rows, columns = len(ys) - 1, len(xs) - 1
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(rows):
        for column in range(columns):
            middle, center = (ys[row] + ys[row + 1]) / 2, (xs[column] + xs[column + 1]) / 2
            home = row, column
            if column and not _ruled(steep, xs[column], middle, level=False):
                home = cells[row, column - 1]
            elif row and not _ruled(flat, center, ys[row], level=True):
                home = cells[row - 1, column]
            cells[row, column] = home
    return cells


def _ruled(rules: list[Box], x: float, y: float, *, level: bool) -> bool:
    if level:
        return any(abs(rule.top - y) <= _NEAR and rule.left - 1 <= x <= rule.right + 1 for rule in rules)
    return any(abs(rule.left - x) <= _NEAR and rule.top - 1 <= y <= rule.bottom + 1 for rule in rules)
