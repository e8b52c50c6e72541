"""A document as numbered lines, a window of them at a time: all of it that a model ever gets."""

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
"""Lines of a window at most, so that the length of an answer is bounded."""
_MOST: Final = 400  # characters of a line that are sent
_MOST_AROUND: Final = 120  # and of a line around the window
_BEFORE: Final = 3
_AFTER: Final = 2
_NUMBER: Final = 4  # tokens that a line's number and its end take


class Line(NamedTuple):
    """A heading, a sentence of a paragraph, or another block as a whole; `block` is the index of its block."""

    start: int
    end: int
    block: int
    heading: bool


def lines_of(task: ChunkingTask) -> list[Line]:
    """Return the lines of a document in order."""
    sentences = sentence_cuts(task.text, task.language_at)
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
    """Return windows of lines with at most so many tokens; none where there is nothing to decide."""
    if sum(not line.heading for line in lines) < 2:
        return []
    return [
        Question(first, last, Window(
            tuple(_on_one_line(task.text, line, _MOST) for line in lines[first:last]),
            tuple(_on_one_line(task.text, line, _MOST_AROUND) for line in lines[max(first - _BEFORE, 0) : first]),
            tuple(_on_one_line(task.text, line, _MOST_AROUND) for line in lines[last : last + _AFTER]),
        ))
        for first, last in _ranges(task, lines, most)
    ]  # fmt: skip


def _ranges(task: ChunkingTask, lines: Sequence[Line], most: int) -> Iterator[tuple[int, int]]:
    """Yield windows in order; each ends before a heading if it can, so that an edit moves few of the later ones."""
    begins, finishes = task.tokens.at_edges([(line.start, min(line.end, line.start + _MOST)) for line in lines])
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
    indices = range(last, last - (last - first) // 3, -1)
    headings = (index for index in indices if lines[index].heading and not lines[index - 1].heading)
    blocks = (index for index in indices if lines[index].block != lines[index - 1].block)
    return next(headings, next(blocks, last))


def _on_one_line(text: str, line: Line, most: int) -> str:
    """Return the beginning of a line without line ends, so that no text can pretend to be another line."""
    beginning = " ".join(text[line.start : min(line.end, line.start + most)].split())
    return f"{beginning}…" if line.end - line.start > most else beginning
