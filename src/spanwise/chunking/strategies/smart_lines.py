"""A document as numbered lines, a window of them at a time: all that a model is ever shown of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.chunking.line_window import Window
from spanwise.chunking.packing import divide_once
from spanwise.chunking.strategy import Question
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import LEFT_OUT_KINDS
from spanwise.text.cuts import sentence_cuts

MOST_LINES: Final = 200
"""Lines of a window, so that an answer has an end."""
_SHOWN: Final = 400  # characters of a line that are shown
_SHOWN_AROUND: Final = 120  # and of a line around the window
_BEFORE: Final = 3
_AFTER: Final = 2
_NUMBER: Final = 4  # tokens that a line's number and its end take


class Line(NamedTuple):
    """A heading, a sentence of a paragraph, or another block as a whole; `block` is where it stands."""

    start: int
    end: int
    block: int
    heading: bool


def lines_of(task: ChunkingTask) -> list[Line]:
    """Give the lines of a document in order."""
    sentences = sentence_cuts(task.text, lambda: task.language)
    lines: list[Line] = []
    for index, block in enumerate(task.document.blocks):
        if block.kind in LEFT_OUT_KINDS or block.kind == "rule":
            continue
        if block.kind == "paragraph":
            spans = divide_once(task.text, (block.start, block.end), sentences)
            lines += [Line(start, end, index, False) for start, end in spans]
        else:
            lines.append(Line(block.start, block.end, index, block.kind == "heading"))
    return lines


def questions_of(task: ChunkingTask, lines: Sequence[Line], most: int) -> list[Question]:
    """Put the lines into windows of at most so many tokens; where there is nothing to decide there are none."""
    if sum(not line.heading for line in lines) < 2:
        return []
    return [
        Question(first, last, Window(
            tuple(_shown(task.text, line, _SHOWN) for line in lines[first:last]),
            tuple(_shown(task.text, line, _SHOWN_AROUND) for line in lines[max(first - _BEFORE, 0) : first]),
            tuple(_shown(task.text, line, _SHOWN_AROUND) for line in lines[last : last + _AFTER]),
        ))
        for first, last in _ranges(task, lines, most)
    ]  # fmt: skip


def _ranges(task: ChunkingTask, lines: Sequence[Line], most: int) -> Iterator[tuple[int, int]]:
    """Fill windows in order; each ends before a heading if it can, so that an edit moves few of the later ones."""
    begins, finishes = task.tokens.at_edges([(line.start, min(line.end, line.start + _SHOWN)) for line in lines])
    first = 0
    while first < len(lines):
        last, size = first, 0
        while last < len(lines) and last - first < MOST_LINES:
            size += finishes[last] - begins[last] + _NUMBER
            if size > most and last > first:
                break
            last += 1
        if last < len(lines):
            last = _good_end(lines, first, last)
        yield first, last
        first = last


def _good_end(lines: Sequence[Line], first: int, last: int) -> int:
    """Move the end of a window back to a heading, else to where a block begins, but by a third at most."""
    places = range(last, last - (last - first) // 3, -1)
    for place in places:
        if lines[place].heading and not lines[place - 1].heading:
            return place
    return next((place for place in places if lines[place].block != lines[place - 1].block), last)


def _shown(text: str, line: Line, most: int) -> str:
    """Give a line on one line, whatever it holds, so that no text can pretend to be another line."""
    words = " ".join(text[line.start : min(line.end, line.start + most)].split())
    return f"{words}…" if line.end - line.start > most else words
