"""The columns of a table without rules between them, and its rows if these have no rules either."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Final

from spanwise.readers.pdf.words import Word

_LEAST_GAP: Final = 0.3  # of the size: a narrower gap is a space
_WIDE_GAP: Final = 1.0  # of the size: what separates columns in most rows
_NUMBER: Final = re.compile(r"[-+±~<>≤≥$€£¥%(]*\d[\d.,:/\s%)(±×x-]*[a-zA-Z%€]{0,3}\)?|[-–—]|n/?a", re.IGNORECASE)
FEW_RULES: Final = 4
"""A table with no more horizontal rules has them around its header and at its end, not between rows."""

Column = tuple[float, float]


def columns_of(rows: Sequence[Sequence[Word]]) -> list[Column]:
    """Return the horizontal ranges that hold words, separated by gaps through all rows."""
    words = [word for row in rows for word in row]
    if not words:
        return []
    size = median(word.style.size for word in words) or 10.0
    columns: list[Column] = []
    for left, right in sorted((word.box.left, word.box.right) for word in words):
        if columns and left <= columns[-1][1] + _LEAST_GAP * size:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return _without_chance_gaps(columns, rows, size)


def _without_chance_gaps(columns: list[Column], rows: Sequence[Sequence[Word]], size: float) -> list[Column]:
    """Join columns separated only by chance: in rows with words on both sides, these are close together."""
    kept = columns[:1]
    for column in columns[1:]:
        if _are_separate(kept[-1], column, rows, size):
            kept.append(column)
        else:
            kept[-1] = kept[-1][0], column[1]
    return kept


def _are_separate(before: Column, after: Column, rows: Sequence[Sequence[Word]], size: float) -> bool:
    gaps, alone = [], 0
    for row in rows:
        lefts = [word.box.right for word in row if before[0] <= word.box.left <= before[1]]
        rights = [word.box.left for word in row if after[0] <= word.box.left <= after[1]]
        if lefts and rights:
            gaps.append(min(rights) - max(lefts))
        elif lefts or rights:
            alone += 1
    if not gaps:
        return alone > 0
    return median(gaps) >= _WIDE_GAP * size or alone >= 0.4 * (len(gaps) + alone)


def column_at(left: float, right: float, columns: Sequence[Column]) -> int:
    """Return the index of the column that overlaps a range most, else of the nearest one."""

    def cost(index: int) -> float:
        low, high = columns[index]
        shared = min(right, high) - max(left, low)
        return -shared if shared > 0 else abs(left + right - low - high) / 2 + 10_000

    return min(range(len(columns)), key=cost)


def visual_rows(words: Sequence[Word]) -> list[list[Word]]:
    """Group words that are beside each other, from top to bottom; in a row they keep their order."""
    rows: list[list[Word]] = []
    reach = -1e9
    for word in sorted(words, key=lambda word: word.box.middle):
        if rows and word.box.middle < reach:
            rows[-1].append(word)
        else:
            rows.append([word])
            reach = word.box.middle + 0.5 * word.box.height
    order = {id(word): index for index, word in enumerate(words)}
    return [sorted(row, key=lambda word: order[id(word)]) for row in rows]


def are_rows(lines: Sequence[Sequence[Word]], columns: Sequence[Column]) -> bool:
    """Whether lines between two rules are separate rows and not the lines of one: numbers aren't wrapped."""
    if len(lines) < 2 or len(columns) < 3:
        return False
    full = numbers = cells = 0
    for line in lines:
        texts: dict[int, str] = {}
        for word in line:
            index = column_at(word.box.left, word.box.right, columns)
            texts[index] = texts.get(index, "") + word.text
        full += len(texts) >= 0.6 * len(columns)
        cells += len(texts)
        numbers += sum(_NUMBER.fullmatch(text) is not None for text in texts.values())
    return full >= 0.7 * len(lines) and numbers >= 0.5 * cells


def rows_between(lines: list[list[Word]], columns: Sequence[Column], *, few: bool) -> list[list[Word]]:
    """Split the lines between two rules into rows, if they are more than one."""
    if are_rows(lines, columns):
        return lines
    if not few or len(lines) < 3:
        return [[word for line in lines for word in line]]
    rows: list[list[Word]] = []
    for line in lines:
        first = any(column_at(word.box.left, word.box.right, columns) == 0 for word in line)
        if rows and not first:
            rows[-1] = rows[-1] + line
        else:
            rows.append(line)
    return rows


def in_cells(row: Sequence[Word], columns: Sequence[Column], indices: dict[int, int]) -> dict[int, list[int]]:
    """Return the indices of a row's words by column."""
    cells: dict[int, list[int]] = {}
    for word in row:
        cells.setdefault(column_at(word.box.left, word.box.right, columns), []).append(indices[id(word)])
    return {column: sorted(cell) for column, cell in cells.items()}
