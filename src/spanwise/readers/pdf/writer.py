"""Markdown text written from elements, page by page, with what is known of every block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any, Final, NamedTuple

from spanwise import native
from spanwise.documents.document import Part
from spanwise.readers.pdf.geometry import Box, Frame, around
from spanwise.readers.pdf.hyphens import Vocabulary, flowed
from spanwise.readers.pdf.layout import Element
from spanwise.readers.pdf.lines import LINK, Line, is_raised, unmarked
from spanwise.readers.pdf.list_markers import without_marker
from spanwise.readers.pdf.tables import Table
from spanwise.readers.pdf.words import Word

_DEEPEST_ITEM: Final = 8
_AFTER_NOTE: Final = ",.;:!?)]»”"
_LEAST_SPACE: Final = 0.4  # of a letter's width, in code: less is spacing between letters
_FENCE: Final = re.compile(r"`{3,}")


class WrittenBlock(NamedTuple):
    """A block: its text and what is known of it; positions count from the block's start."""

    kind: str
    text: str
    source_ref: dict[str, Any]
    level: int | None = None
    title: str = ""
    parts: tuple[Part, ...] = ()
    links: tuple[tuple[int, int], ...] = ()  # start of each link, and its index on the page


class MarkdownWriter:
    """A writer of the elements of one page."""

    def __init__(
        self, number: int, frame: Frame, vocabulary: Vocabulary, figure_name: Callable[[int, int], str]
    ) -> None:
        """Create a writer; `figure_name` takes the page number and the number of the figure on it."""
        self._number, self._frame, self._vocabulary, self._figure_name = number, frame, vocabulary, figure_name
        self._notes: set[str] = set()

    def blocks(self, elements: Sequence[Element], *, headless: bool = False) -> Iterator[WrittenBlock]:
        """Yield all elements as blocks; if `headless`, the first table continues one from the page before."""
        self._notes = {element.note for element in elements if element.note}
        figures = 0
        for kind, group in groupby(elements, key=lambda element: element.kind):
            if kind == "item":
                yield self._list(list(group))
                continue
            for element in group:
                if kind == "table" and element.table:
                    yield self._table(element.table, headless=headless)
                    headless = False
                elif kind == "figure":
                    figures += 1
                    yield self._figure(element, figures)
                elif kind == "code":
                    yield self._code(element)
                else:
                    yield self._paragraph(element)

    def _with_note_marks(self, line: Line, words: Sequence[Word]) -> list[Word]:
        """Return the words of a line, with the marks of notes on this page in Markdown."""
        if not self._notes:
            return list(words)
        written: list[Word] = []
        for word in words:
            if word.text in self._notes and is_raised(word, line):
                written.append(word._replace(text=f"[^{word.text}]", spaced=False))
            elif written and written[-1].text.startswith("[^") and word.text[0] in _AFTER_NOTE:
                written.append(word._replace(spaced=False))
            else:
                written.append(word)
        return written

    def _block(self, kind: str, text: str, boxes: Sequence[Box], **more: Any) -> WrittenBlock:
        links, clean = unmarked(text)
        return WrittenBlock(kind, clean, self._reference(boxes), links=tuple(links), **more)

    def _reference(self, boxes: Sequence[Box]) -> dict[str, Any]:
        columns = [self._frame.from_upright(box) for box in _columns(boxes)]
        reference: dict[str, Any] = {"page": self._number, "bbox": _rounded(around(columns))}
        if len(columns) > 1:
            reference["boxes"] = [_rounded(box) for box in columns]
        return reference

    def _paragraph(self, element: Element) -> WrittenBlock:
        lines = [self._with_note_marks(line, line.words) for line in element.lines]
        if element.note:
            lines[0] = list(element.lines[0].words[1:])
        text = (f"[^{element.note}]: " if element.note else "") + flowed(lines, self._vocabulary)
        if element.kind != "heading":
            return self._block("paragraph", text, element.boxes)
        title = " ".join(unmarked(text)[1].split())
        level = min(max(element.level, 1), 6)
        return self._block("heading", "#" * level + " " + text, element.boxes, level=level, title=title)

    def _list(self, items: Sequence[Element]) -> WrittenBlock:
        text, spans = "", list[tuple[int, int, int]]()  # start, end without nested items, depth
        indents: list[int] = []
        for item in items:
            depth = min(item.depth, len(indents), _DEEPEST_ITEM)
            marker = item.marker.text if item.marker else "-"
            indents[depth:] = [(indents[depth - 1] if depth else 0) + len(marker) + 1]
            lines = [self._with_note_marks(line, line.words) for line in item.lines]
            if item.marker:
                lines[0] = self._with_note_marks(item.lines[0], without_marker(item.lines[0], item.marker))
            indent = indents[depth - 1] if depth else 0
            text += "\n" if text else ""
            start = len(text) + indent
            text += f"{' ' * indent}{marker} {flowed(lines, self._vocabulary)}"
            spans.append((start, len(text), depth))
        links, clean = unmarked(text)
        ranges = [(_unmarked_position(start, text), _unmarked_position(end, text)) for start, end in _nested(spans)]
        parts = native.items(clean, ranges, Part)
        boxes = [line.box for item in items for line in item.lines]
        return WrittenBlock("list", clean, self._reference(boxes), parts=parts, links=tuple(links))

    def _table(self, table: Table, *, headless: bool) -> WrittenBlock:
        marked = [_row(row) for row in table.rows]
        rows = [unmarked(row)[1] for row in marked]
        if not headless:
            for lines in (marked, rows):
                lines[0] += "\n" + _row(["---"] * len(table.rows[0]))
        parts: list[Part] = []
        start = 0
        for index, row in enumerate(rows):
            reference = {"page": self._number, "bbox": _rounded(self._frame.from_upright(table.boxes[index]))}
            parts.append(Part(start, start + len(row), (), reference, header=index == 0 and not headless))
            start += len(row) + 1
        return self._block("table", "\n".join(marked), [table.box], parts=tuple(parts))

    def _code(self, element: Element) -> WrittenBlock:
        code = _code(element.lines)
        longest = max((len(run) for run in _FENCE.findall(code)), default=2)
        fence = "`" * (longest + 1)
        return self._block("code", f"{fence}\n{code}\n{fence}", element.boxes)

    def _figure(self, element: Element, count: int) -> WrittenBlock:
        name = self._figure_name(self._number, count)
        caption = flowed([line.words for line in element.lines], self._vocabulary)
        inner = f"<figcaption>{escape(caption, quote=False)}</figcaption>" if caption else ""
        text = f'<figure><img src="{escape(name)}">{inner}</figure>'
        written = self._block("figure", text, element.boxes)
        picture = _rounded(self._frame.from_upright(element.boxes[0]))
        return written._replace(source_ref={**written.source_ref, "file": name, "picture": picture})


def _unmarked_position(position: int, text: str) -> int:
    """Return a position without the link marks before it: each is two characters."""
    return position - 2 * text.count(LINK, 0, position)


def _nested(spans: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return ranges in which each item reaches to the end of the items nested in it."""
    ranges = []
    for index, (start, end, depth) in enumerate(spans):
        for _, later, deeper in spans[index + 1 :]:
            if deeper <= depth:
                break
            end = later
        ranges.append((start, end))
    return ranges


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _code(lines: Sequence[Line]) -> str:
    """Return code line by line, with the indentation and gaps that it has on the page."""
    left = min(line.box.left for line in lines)
    letters = sum(len(word.text) for line in lines for word in line.words)
    width = sum(word.box.width for line in lines for word in line.words) / max(letters, 1) or 5.0
    written = []
    previous: Line | None = None
    for line in lines:
        if previous and line.box.bottom - previous.box.bottom > 1.9 * line.box.height:
            written.append("")
        text, reached = "", left
        for word in line.words:
            gap = (word.box.left - reached) / width
            text += " " * (max(round(gap), 1) if gap > _LEAST_SPACE else 0) + word.text + ("-" if word.broken else "")
            reached = word.box.right
        written.append(text.rstrip())
        previous = line
    return "\n".join(written)


def _columns(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes of columns; a line higher than the one before begins another column."""
    columns: list[list[Box]] = [[boxes[0]]]
    for box in boxes[1:]:
        last = columns[-1][-1]
        if box.bottom < last.top and box.shared_width(last) <= 0:
            columns.append([])
        columns[-1].append(box)
    return [around(column) for column in columns]


def _rounded(box: Box) -> list[float]:
    return [round(value, 1) for value in box]
