"""Tables with rules only between their rows, or only above and below them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.readers.pdf.columns import FEW_RULES, Column, column_at, columns_of, in_cells, rows_between, visual_rows
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box, around
from spanwise.readers.pdf.lines import line_of, split_at_gaps
from spanwise.readers.pdf.tables import Table, made_table, merged_rules
from spanwise.readers.pdf.words import Word

_SAME_END: Final = 5.0  # points: tolerance for the ends of the rules of one table
_FEWEST_RULES: Final = 3
_FARTHEST: Final = 320.0  # points between two rules of one table
_LONGEST_CELL: Final = 60  # characters on average

Rows = list[list[Word]]


class _Band(NamedTuple):
    """The words between two rules, line by line."""

    lines: Rows

    @property
    def gapped(self) -> bool:
        """Whether a line has a gap wider than any in a sentence."""
        return any(len(split_at_gaps(line_of(line))) > 1 for line in self.lines)


def open_tables(words: Sequence[Word], drawings: Drawings, used: set[int]) -> list[tuple[Table, set[int]]]:
    """Return the tables between horizontal rules, with the indices of their words."""
    merged = merged_rules([rule for rule in drawings.rules if rule.width > 30 and rule.height <= 3], horizontal=True)
    free = [word for index, word in enumerate(words) if index not in used]
    indices = {id(word): index for index, word in enumerate(words)}
    found: list[tuple[Table, set[int]]] = []
    for rules in _stacks(merged):
        made = _table(words, free, indices, rules)
        if made and not any(made[1] & other for _, other in found):
            found.append(made)
    return found


def _stacks(horizontals: Sequence[Box]) -> list[list[Box]]:
    """Group rules that are below one another and equally long."""
    stacks: list[list[Box]] = []
    for rule in sorted(horizontals, key=lambda rule: rule.top):
        for stack in stacks:
            last = stack[-1]
            alike = abs(last.left - rule.left) <= _SAME_END and abs(last.right - rule.right) <= _SAME_END
            if alike and rule.top - last.top <= _FARTHEST:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return [stack for stack in stacks if len(stack) >= _FEWEST_RULES - 1]


def _table(
    words: Sequence[Word], free: Sequence[Word], indices: dict[int, int], rules: Sequence[Box]
) -> tuple[Table, set[int]] | None:
    left, right = rules[0].left - 3, max(rule.right for rule in rules) + 3
    beside = [word for word in free if left <= word.box.center <= right]
    bands = _bands(beside, rules)
    if sum(band.gapped for band in bands) < 1 or not bands:
        return None
    columns = columns_of([line for band in bands for line in band.lines])
    head = _head_above(beside, bands[0], columns) if len(columns) > 1 else []
    bands = [*([_Band(head)] if head else []), *bands]
    if len(columns) < 2 or len(rules) + bool(head) < _FEWEST_RULES or not _are_cells(bands, columns):
        return None
    rows = [row for band in bands for row in rows_between(band.lines, columns, few=len(rules) <= FEW_RULES)]
    if len(rows) < 2:
        return None
    cells = [in_cells(row, columns, indices) for row in rows]
    taken = {index for row in cells for cell in row.values() for index in cell}
    starts = tuple(low for low, _ in columns)
    box = around(words[index].box for index in taken)
    return made_table(words, cells, len(columns), headed=True, columns=starts, box=box), taken


def _bands(words: Sequence[Word], rules: Sequence[Box]) -> list[_Band]:
    """Split words at rules; prose at either end is not part of the table."""
    between = ([word for word in words if a.top <= word.box.middle < b.top] for a, b in pairwise(rules))
    bands = [_Band(visual_rows(inside)) for inside in between if inside]
    while bands and not bands[-1].gapped:
        bands.pop()
    while bands and not bands[0].gapped:
        bands.pop(0)
    return bands


def _head_above(words: Sequence[Word], first: _Band, columns: Sequence[Column]) -> Rows:
    """Return the lines of a header above the first rule."""
    top = min(word.box.top for line in first.lines for word in line)
    height = first.lines[0][0].box.height
    head: Rows = []
    for line in reversed(visual_rows([word for word in words if word.box.bottom <= top])):
        box = around(word.box for word in line)
        if top - box.bottom > 1.3 * height or not _is_in_columns(line, columns):
            break
        head.insert(0, line)
        top = box.top
    return head


def _is_in_columns(line: Sequence[Word], columns: Sequence[Column]) -> bool:
    """Whether a line is in several columns, with gaps between them."""
    filled = {column_at(word.box.left, word.box.right, columns) for word in line}
    return len(filled) > 1 and len(split_at_gaps(line_of(line))) >= min(len(filled), 2)


def _are_cells(bands: Sequence[_Band], columns: Sequence[Column]) -> bool:
    """Whether the text between the rules is cells rather than prose."""
    lines = [line for band in bands for line in band.lines]
    filled = [{column_at(word.box.left, word.box.right, columns) for word in line} for line in lines]
    if sum(len(cells) > 1 for cells in filled) < max(2, 0.4 * len(lines)):
        return False
    letters = sum(len(word.text) + 1 for line in lines for word in line)
    return letters / sum(map(len, filled)) <= _LONGEST_CELL
