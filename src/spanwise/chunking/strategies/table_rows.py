"""What the parts of a table's row repeat that is cut between its cells: the head, and the row's first cell.

Where the whole head would take more than half of a chunk, only its first cell and those above the part are repeated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from spanwise.chunking.packing import Range
from spanwise.chunking.pieces import NO_CONTEXT, RepeatedContext
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Block, Part, table_head
from spanwise.text.cuts import cell_cuts, trimmed
from spanwise.text.tokens import NEAR

_LINE: Final = "\n"
_BESIDE: Final = " "

_Pieces = list[tuple[Range, str]]
"""Ranges to repeat, each with the white space before it."""


class PricedContext(NamedTuple):
    """What a part of a row repeats, at most how many tokens that takes, and how much was left out of it: 0 for none."""

    repeated: RepeatedContext
    price: int
    rank: int


def cut_row(block: Block, start: int, end: int) -> Part | None:
    """Return the row of a table that a range is a part of; None if it is a whole row, or more, or the head."""
    at = bisect_right(block.parts, start, key=_start) - 1
    if block.kind != "table" or at < 0:
        return None
    row = block.parts[at]
    is_whole = start <= row.start and end >= row.end
    return None if row.header or is_whole or end > row.end else row


def row_context(task: ChunkingTask, index: int, row: Part, core: Range) -> PricedContext:
    """Return what a part of a row repeats: as much of head and first cell as half of the limit takes."""
    head = table_head(task.document.blocks, index)
    cells = _cells(task, row.start, row.end)
    first = max(bisect_right(cells, core[0]) - 1, 0)
    last = max(bisect_right(cells, core[1] - 1) - 1, first)
    beside = _beside(task, cells, first, core[0]) if first else []
    lines = [(span, _BESIDE if order else _LINE) for order, span in enumerate(beside)]
    if head is None:
        return _first_that_fits(task, [([], lines, False), ([], [], bool(lines))])
    whole = [((head.start, head.end), _LINE)]
    above = _above(task, head, first, last)
    return _first_that_fits(
        task, [(whole, lines, False), (above, lines, True), (whole, [], False), ([], lines, True), ([], [], True)]
    )


def _first_that_fits(task: ChunkingTask, choices: Sequence[tuple[_Pieces, _Pieces, bool]]) -> PricedContext:
    """Return the first choice that takes at most half of the limit.

    A choice is what is repeated of the head, what of the row, and whether something of the head is left out.
    """
    for rank, (above, beside, dropped) in enumerate(choices):
        pieces = [*above, *beside]
        price = sum(task.tokens.count(*span) + NEAR for span, _ in pieces)
        if price > task.limit // 2 >= price - 2 * NEAR * len(pieces):  # too close for the map
            line_end = task.tokens.tokenizer.count("\n") - task.added
            price = sum(task.tokens.exact(*span) + line_end for span, _ in pieces)
        if price <= task.limit // 2 and pieces:
            spans, joiners = tuple(span for span, _ in pieces), tuple(joiner for _, joiner in pieces)
            repeated = RepeatedContext(spans, (), dropped, _BESIDE if beside else _LINE, joiners)
            return PricedContext(repeated, price, rank)
    return PricedContext(RepeatedContext(dropped=True) if choices[-1][2] else NO_CONTEXT, 0, len(choices))


def most_context(task: ChunkingTask, index: int, row: Part) -> int:
    """Return the most tokens that any part of a row repeats."""
    head, cells = table_head(task.document.blocks, index), _cells(task, row.start, row.end)
    price = task.tokens.count(cells[0], cells[1]) + 2 * NEAR
    return min(price + task.tokens.count(head.start, head.end) if head else price, task.limit // 2)


def row_groups(task: ChunkingTask, index: int, units: Sequence[Range], rooms: tuple[int, int]) -> list[tuple[int, int]]:
    """Group the cells of a row, or parts of them: one is added while the group is below target and fits its context.

    No cell is added for which the group would have to repeat less of the head. A short last group joins the one before.
    `rooms` are that of the first group and that of the others.
    """
    groups, first = list[tuple[int, int]](), 0
    begins, finishes = task.tokens.at_edges(units)

    def together(low: int, high: int, least: int) -> bool:
        span = units[low][0], units[high - 1][1]
        price, rank = _context(task, index, span)
        return rank <= least and task.tokens.fits(*span, rooms[low > 0] - price)

    while first < len(units):
        after, least = first + 1, _context(task, index, units[first])[1]
        while after < len(units) and finishes[after - 1] - begins[first] < task.options.target_tokens:
            if not together(first, after + 1, least):
                break
            after += 1
        groups.append((first, after))
        first = after
    short = len(groups) > 1 and finishes[-1] - begins[groups[-1][0]] < task.options.min_tokens
    if short and together(groups[-2][0], len(units), _context(task, index, units[groups[-2][0]])[1]):
        groups[-2:] = [(groups[-2][0], len(units))]
    return groups


def _context(task: ChunkingTask, index: int, span: Range) -> tuple[int, int]:
    """Return the tokens of what a range repeats, and how much it leaves out of that."""
    row = cut_row(task.document.blocks[index], *span)
    return row_context(task, index, row, span)[1:] if row else (0, 0)


def _above(task: ChunkingTask, head: Part, first: int, last: int) -> list[tuple[Range, str]]:
    """Return the first cell of each line of the head and those above a part of a row, with the joiners before them."""
    found: list[tuple[Range, str]] = []
    start = head.start
    while start < head.end:
        line_end = task.text.find("\n", start, head.end)
        end = head.end if line_end < 0 else line_end
        cells = _cells(task, start, end)
        spans = [(cells[0], cells[1])] if first else []
        if first < len(cells) - 1:
            spans.append((cells[first], cells[min(last + 1, len(cells) - 1)]))
        for order, span in enumerate(_visible(task, spans)):
            found.append((span, _BESIDE if order else _LINE))
        start = end + 1
    return found


def _beside(task: ChunkingTask, cells: Sequence[int], first: int, start: int) -> list[Range]:
    """Return the first cell of a row, and the bar before the cell that a part begins inside of."""
    opening = [(cells[first], cells[first] + 1)] if start > cells[first] and task.text[cells[first]] == "|" else []
    return _visible(task, [(cells[0], cells[1]), *opening])


def _visible(task: ChunkingTask, spans: Sequence[Range]) -> list[Range]:
    return [found for span in spans if (found := trimmed(task.text, *span))]


def _cells(task: ChunkingTask, start: int, end: int) -> list[int]:
    """Return where the cells of a line start, and its end."""
    known = task.once(_known_cells)
    if start not in known:
        known[start] = [start, *cell_cuts(task.text)(start, end), end]
    return known[start]


def _known_cells(_: ChunkingTask) -> dict[int, list[int]]:
    """Return the cells of a task's lines that were found so far: none."""
    return {}


def _start(part: Part) -> int:
    return part.start
