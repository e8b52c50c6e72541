"""Tables that have rules between their rows only, or above and below them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from spanwise.readers.pdf.columns import Column, are_rows, columns_of, home_of, visual_rows
from spanwise.readers.pdf.drawings import Drawings
from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.tables import Table, made_table, united
from spanwise.readers.pdf.words import Word

_SAME_END: Final = 5.0  # points: rules of one table begin and end together
_FEWEST_RULES: Final = 3
_FARTHEST: Final = 320.0  # points between two rules of one table
_LONGEST_CELL: Final = 60  # characters on average


def open_tables(words: Sequence[Word], drawings: Drawings, used: set[int]) -> list[tuple[Table, set[int]]]:
    """Find tables between level rules; with the numbers of their words."""
    flat = united([rule for rule in drawings.rules if rule.width > 30 and rule.height <= 3], level=True)
    found: list[tuple[Table, set[int]]] = []
    for rules in _stacks(flat):
        box = Box(rules[0].left - 3, rules[0].top, max(rule.right for rule in rules) + 3, rules[-1].top)
        inside = [
            number
            for number, word in enumerate(words)
            if box.holds((word.box.left + word.box.right) / 2, word.box.middle)
        ]
        if len(inside) < 4 or used & set(inside):
            continue
        if table := _table(words, inside, rules, box):
            found.append((table, set(inside)))
            used = used | set(inside)
    return found


def _stacks(flat: Sequence[Box]) -> list[list[Box]]:
    """Group rules of equal length below one another."""
    stacks: list[list[Box]] = []
    for rule in sorted(flat, key=lambda rule: rule.top):
        for stack in stacks:
            last = stack[-1]
            alike = abs(last.left - rule.left) <= _SAME_END and abs(last.right - rule.right) <= _SAME_END
            if alike and rule.top - last.top <= _FARTHEST:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return [stack for stack in stacks if len(stack) >= _FEWEST_RULES]


def _table(words: Sequence[Word], inside: Sequence[int], rules: Sequence[Box], box: Box) -> Table | None:
    numbers = {id(words[number]): number for number in inside}
    bands: list[list[list[Word]]] = []
    for above, below in pairwise(rules):
        band = [words[number] for number in inside if above.top <= words[number].box.middle < below.top]
        if band:
            bands.append(visual_rows(band))
    columns = columns_of([line for band in bands for line in band])
    if len(columns) < 2 or not _are_cells(bands, columns):
        return None
    rows: list[dict[int, list[int]]] = []
    for band in bands:
        lines = band if are_rows(band, columns) else [[word for line in band for word in line]]
        for line in lines:
            row: dict[int, list[int]] = {}
            for word in line:
                row.setdefault(home_of(word.box.left, word.box.right, columns), []).append(numbers[id(word)])
            rows.append({column: sorted(cell) for column, cell in row.items()})
    if len(rows) < 2:
        return None
    return made_table(words, rows, len(columns), headed=True, columns=tuple(left for left, _ in columns), box=box)


def _are_cells(bands: Sequence[Sequence[Sequence[Word]]], columns: Sequence[Column]) -> bool:
    """Whether what stands between the rules is cells rather than prose."""
    lines = [line for band in bands for line in band]
    filled = [{home_of(word.box.left, word.box.right, columns) for word in line} for line in lines]
    if sum(len(cells) > 1 for cells in filled) < max(2, 0.4 * len(lines)):
        return False
    letters = sum(len(word.text) + 1 for line in lines for word in line)
    return letters / sum(map(len, filled)) <= _LONGEST_CELL
