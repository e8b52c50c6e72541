"""The writer of elements as Markdown: every range is recorded as its text is appended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Block, LeftOut, Link, Page, Part
from spanwise.readers.builder import Builder, ReadResult
from spanwise.readers.markup.elements import (
    Code,
    Element,
    Figure,
    Heading,
    Item,
    Items,
    Paragraph,
    Quote,
    Reference,
    Rule,
    Table,
    checkbox_of,
    flat,
)
from spanwise.readers.markup.inline import Prose, moved
from spanwise.readers.markup.tables import Grid, grid_of

_DEEPEST: Final = 16  # deeper lists and quotes become one line: indentation must not grow quadratically
_FENCE: Final = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_LAST_NUMBER: Final = 999_999_999
_OTHER: Final = {".": ")", ")": "."}
_LANGUAGE: Final = re.compile(r"[^\s`]+")
_KINDS: Final[dict[type[Any], str]] = {
    Paragraph: "paragraph", Heading: "heading", Code: "code", Rule: "rule", Quote: "quote", Items: "list",
    Table: "table", Figure: "figure",
}  # fmt: skip


class WrittenBlock(NamedTuple):
    """A block and its range in the text; positions of its parts are relative to its start."""

    kind: str
    start: int
    end: int
    level: int | None
    title: str
    parts: tuple[Part, ...]
    reference: Reference


class MarkdownWriter:
    """A writer of elements, one after the other."""

    def __init__(self) -> None:
        self.blocks: list[WrittenBlock] = []
        self.links: list[tuple[int, Link]] = []
        self._pieces: list[str] = []
        self._length = 0
        self._prefix = ""
        self._base = 0  # start of the current block
        self._depth = 0
        self._before: Element | None = None  # the last block, and whether it has the other marker
        self._alternate = False

    @property
    def text(self) -> str:
        """The text written so far."""
        return "".join(self._pieces)

    def write(self, elements: Sequence[Element]) -> None:
        """Write elements, each as a block of its own, after those that were written before."""
        before, alternate = self._before, self._alternate
        for element in _with_captions(elements):
            if self._length:
                self._append("\n\n")
            start = self._base = self._length
            alternate = _touches(before, element) and not alternate
            parts = self._element(element, alternate=alternate)
            level = element.level if isinstance(element, Heading) else None
            title = element.prose.visible if isinstance(element, Heading) else ""
            kind = _KINDS[type(element)]
            self.blocks.append(WrittenBlock(kind, start, self._length, level, title, parts, element.reference))
            before = element
        self._before, self._alternate = before, alternate

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _line(self, *, blank: bool = False) -> None:
        """Start a new line, after an empty one if `blank`."""
        if blank:
            self._append("\n" + self._prefix.rstrip())
        self._append("\n" + self._prefix)

    def _prose(self, prose: Prose) -> None:
        start, wider = self._length, len(self._prefix)
        if prose.links:
            self.links += [(start + position, link) for position, link in moved(prose, "\n", wider)]
        self._append(prose.text.replace("\n", "\n" + self._prefix) if wider else prose.text)

    def _element(self, element: Element, *, alternate: bool) -> tuple[Part, ...]:
        match element:
            case Paragraph(prose):
                self._prose(prose)
            case Heading(level, prose):
                self._append("#" * level + " ")
                self._prose(_not_closed(prose))
            case Code():
                self._code(element)
            case Rule():
                self._append("___" if self._prefix else "---")
            case Figure():
                self._figure(element)
            case Table():
                return self._table(element)
            case Quote() | Items() if self._depth >= _DEEPEST:
                self._prose(flat([element], " "))
            case Quote():
                self._quote(element)
            case Items():
                return self._items(element, alternate=alternate)
        return ()

    def _inside(self, elements: Sequence[Element], prefix: str) -> tuple[Part, ...]:
        """Write the content of an item or quote with a prefix on each line but the first, which has its own."""
        outer, self._prefix = self._prefix, self._prefix + prefix
        self._depth += 1
        parts: list[Part] = []
        before: Element | None = None
        alternate = False
        for element in _with_captions(elements):
            if before is not None:
                follows = isinstance(element, Items) and element.first in {None, 1} and isinstance(before, Paragraph)
                self._line(blank=not follows)
            alternate = _touches(before, element) and not alternate
            parts += self._element(element, alternate=alternate) if isinstance(element, Items) else ()
            if not isinstance(element, Items):
                self._element(element, alternate=False)
            before = element
        self._prefix = outer
        self._depth -= 1
        return tuple(parts)

    def _items(self, items: Items, *, alternate: bool) -> tuple[Part, ...]:
        parts = []
        number = items.first
        for index, item in enumerate(items.items):
            if index:
                self._line()
            parts.append(self._item(item, _marker(number, items.closing, alternate=alternate)))
            number = None if number is None else min(number + 1, _LAST_NUMBER)
        return tuple(parts)

    def _item(self, item: Item, marker: str) -> Part:
        start = self._length - self._base
        self._append(f"{marker} {checkbox_of(item)}")
        inner = self._inside(item.elements, " " * (len(marker) + 1))
        return Part(start, self._length - self._base, inner, item.reference)

    def _quote(self, quote: Quote) -> None:
        self._append("> ")
        outer, self._prefix = self._prefix, self._prefix + "> "
        if quote.label or quote.title.text:
            self._append(f"[!{quote.label or 'note'}]")
            if quote.title.text:
                self._append(" ")
                self._prose(quote.title)
            if quote.elements:
                self._line()
        self._prefix = outer
        self._inside(quote.elements, "> ")

    def _code(self, code: Code) -> None:
        longest = max((len(run) for run in _FENCE.findall(code.text)), default=2)
        fence = "`" * (longest + 1)
        language = _LANGUAGE.match(code.language.strip())
        self._append(fence + (language[0] if language else ""))
        for line in (*code.text.split("\n"), fence):
            self._append(("\n" + self._prefix + line) if line else "\n" + self._prefix.rstrip())

    def _figure(self, figure: Figure) -> None:
        self._append("<figure>")
        for image in figure.images:
            alt = f' alt="{escape(" ".join(image.alternative.split()))}"' if image.alternative.strip() else ""
            self._append(f'<img src="{escape(image.source)}"{alt}>')
        if figure.caption.text:
            self._append("<figcaption>")
            self.links += [(self._length, link) for _, link in figure.caption.links]
            self._append(escape(figure.caption.visible, quote=False) + "</figcaption>")
        self._append("</figure>")

    def _table(self, table: Table) -> tuple[Part, ...]:
        grid = grid_of(table)
        parts = [self._head(grid, table)]
        for row, cells in list(zip(table.rows, grid.rows, strict=True))[grid.head :]:
            self._line()
            start = self._length - self._base
            self._row(cells)
            parts.append(Part(start, self._length - self._base, (), row.reference))
        return tuple(parts)

    def _head(self, grid: Grid, table: Table) -> Part:
        """Write the head and the delimiter row; without a head its cells are empty."""
        start = self._length - self._base
        first = grid.rows[0] if grid.head else []
        self._row([*first, *[Prose()] * (grid.width - len(first))])
        self._line()
        self._append("|" + "---|" * grid.width)
        for cells in grid.rows[1 : grid.head]:
            self._line()
            self._row(cells)
        reference = table.rows[0].reference if grid.head else table.reference
        return Part(start, self._length - self._base, (), reference, header=True)

    def _row(self, cells: Sequence[Prose]) -> None:
        self._append("|")
        for cell in cells:
            self._append(" ")
            self._prose(cell)
            self._append(" |")


def _marker(number: int | None, closing: str, *, alternate: bool) -> str:
    """Return the marker of an item; `alternate` selects the other of two equivalent ones."""
    if number is None:
        return "*" if alternate else "-"
    return f"{number}{_OTHER[closing] if alternate else closing}"


def _touches(before: Element | None, element: Element) -> bool:
    """Whether two lists would be read as one, so that the second needs other markers."""
    if not isinstance(before, Items) or not isinstance(element, Items):
        return False
    return (before.first is None) == (element.first is None) and before.closing == element.closing


def _with_captions(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with captions before their tables."""
    if not any(isinstance(element, Table) and element.captions for element in elements):
        return list(elements)
    written: list[Element] = []
    for element in elements:
        written += [*element.captions, element] if isinstance(element, Table) else [element]
    return written


def _not_closed(prose: Prose) -> Prose:
    """Escape a `#` at the end of a heading: it would be read as a closing sequence."""
    unclosed = prose.text.rstrip("#")
    if unclosed == prose.text or (unclosed and not unclosed.endswith(" ")):
        return prose
    return prose._replace(text=f"{unclosed}\\{prose.text[len(unclosed) :]}")


def read_result(
    elements: Sequence[Element], found: dict[str, Any], left_out: Sequence[LeftOut], headings: Sequence[str] = ()
) -> ReadResult:
    """Write elements and return the result; `headings` are put above every heading path."""
    writer = MarkdownWriter()
    writer.write(elements)
    text = writer.text
    builder = Builder(text)
    for block in writer.blocks:
        builder.add(block.kind, block.start, block.end, block.level, block.title, block.parts, block.reference)
    builder.finish()
    blocks = builder.blocks
    if headings:
        blocks = [block._replace(headings_path=(*headings, *block.headings_path)) for block in blocks]
    return _result(writer, text, blocks, (), found, left_out)


def paged_result(
    pages: Sequence[Sequence[Element]], found: dict[str, Any], left_out: Sequence[LeftOut], *, apart: bool = False
) -> ReadResult:
    """Write the elements of pages, the first of which is page 1, and return the result.

    If they stand `apart`, no page is under the headings of the one before.
    """
    writer = MarkdownWriter()
    counts = []
    for elements in pages:
        writer.write(elements)
        counts.append(len(writer.blocks))
    text = writer.text
    builder = Builder(text)
    ranges: list[Page] = []
    first = reached = 0
    for number, count in enumerate(counts, 1):
        builder.page = number
        if apart:
            builder.leave_headings()
        start = writer.blocks[first].start if first < count else reached
        for block in writer.blocks[first:count]:
            builder.add(block.kind, block.start, block.end, block.level, block.title, block.parts, block.reference)
            reached = block.end
        ranges.append(Page(number, start, reached))
        first = count
    builder.finish()
    return _result(writer, text, builder.blocks, ranges, found, left_out)


def _result(
    writer: MarkdownWriter,
    text: str,
    blocks: Sequence[Block],
    pages: Sequence[Page],
    found: dict[str, Any],
    left_out: Sequence[LeftOut],
) -> ReadResult:
    """Return what was written, with the links in it."""
    found = dict(found)
    links = sorted(writer.links, key=lambda item: item[0])
    if links:
        found["links"] = tuple(link for _, link in links)
    starts = tuple(position for position, _ in links)
    return ReadResult(text, tuple(blocks), found, tuple(pages), tuple(left_out), starts)
