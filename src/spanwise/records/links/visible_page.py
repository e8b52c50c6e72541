"""The visible text of a whole page: runs that no edge of an element interrupts, with their positions in the document.

What a browser searches for must be inside one run: a block, a cell, an item, a line of code, a line before `<br>`.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents.document import AS_WRITTEN, Document
from spanwise.text.visible import BLOCK_TAG, BOX, markdown_options

if TYPE_CHECKING:
    import pyromark

_INLINE: Final = frozenset({"Emphasis", "Strong", "Strikethrough", "Link"})
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
# Marks that are visible on some pages and not on others: a searched text must end before them.
_UNSURE: Final = re.compile(r"==|%%[^%]*%%|(?<=\s)\^[A-Za-z0-9-]+\s*$|\[\[|\]\]")
_LINE: Final = re.compile(r"[^\n\t]+")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);|&?[^&]+|&")
_TICKS: Final = re.compile(r"`+ ?")
_PRE: Final = re.compile(r"<(/?)pre\b", re.IGNORECASE)
_LINE_END: Final = re.compile(r"[\n\t]")
_NEVER: Final = re.compile(r"(?!)")
_HARD_SPACES: Final = re.compile(r"\s+\xa0\s*|\xa0\s+")


class VisibleRun(NamedTuple):
    """A text, and for some of its offsets, in order (`anchors`), their positions in the document.

    White space collapses to one space on the page, except in code.
    """

    text: str
    anchors: list[int]
    positions: list[int]
    code: bool


class _Page:
    """The runs of a page; text is collected until an edge closes its run."""

    def __init__(self) -> None:
        self.done: list[VisibleRun] = []
        self.code = False
        self._texts: list[str] = []
        self._length = 0
        self._anchors: list[int] = []
        self._positions: list[int] = []

    def add(self, text: str, position: int) -> None:
        self._anchors.append(self._length)
        self._positions.append(position)
        self._texts.append(text)
        self._length += len(text)

    def edge(self) -> None:
        """Close the run; hard spaces beside other white space don't collapse, so they are edges inside it."""
        text, reached = "".join(self._texts), 0
        if not text:
            return
        for gap in [*(_HARD_SPACES.finditer(text) if "\xa0" in text else ()), None]:
            end = gap.start() if gap else len(text)
            if text[reached:end].strip():
                self._close(text, reached, end)
            reached = gap.end() if gap else end
        self._texts, self._length, self._anchors, self._positions = [], 0, [], []

    def edge_before_word(self) -> None:
        """Close the run before its last word, which goes on with something that can't be searched for."""
        text = "".join(self._texts)
        kept = len(text) - len(text.split()[-1]) if text and not text[-1].isspace() else len(text)
        self._texts = [text[:kept]] if kept else []
        self.edge()

    def _close(self, text: str, start: int, end: int) -> None:
        if end - start == len(text):
            self.done.append(VisibleRun(text, self._anchors, self._positions, self.code))
            return
        first, after = bisect_right(self._anchors, start) - 1, bisect_left(self._anchors, end)
        anchors = [max(anchor - start, 0) for anchor in self._anchors[first:after]]
        positions = self._positions[first:after]
        positions[0] += max(start - self._anchors[first], 0)
        self.done.append(VisibleRun(text[start:end], anchors, positions, self.code))

    def add_parts(self, text: str, position: int, separator: re.Pattern[str]) -> None:
        """Add the text between the matches of a pattern, each of which is an edge."""
        reached = 0
        for mark in separator.finditer(text):
            self.add(text[reached : mark.start()], position + reached)
            self.edge()
            reached = mark.end()
        self.add(text[reached:], position + reached)


def visible_runs(document: Document) -> list[VisibleRun]:
    """Return the visible runs of a document's rendered text, in order."""
    page = _Page()
    if document.metadata.source_type in AS_WRITTEN:
        page.code = True  # a browser shows plain text unchanged
        _add_lines(page, document.text, 0)
    else:
        _Walk(page, document).run()
    page.edge()
    return page.done


def page_runs(document: Document) -> list[VisibleRun]:
    """Return the visible runs of the source's own page; positions are those of `text_offset`."""
    page = _Page()
    for offset, text, code in document.visible:
        page.code = code
        page.add_parts(text, offset, _LINE_END if code else _NEVER)
        page.edge()
    return page.done


def _add_lines(page: _Page, text: str, position: int) -> None:
    for line in _LINE.finditer(text):
        page.add(line[0], position + line.start())
        page.edge()


class _Walk:
    """A walk over the events of the parser; front matter and the descriptions of images are not visible."""

    def __init__(self, page: _Page, document: Document) -> None:
        first = document.blocks[0] if document.blocks else None
        opening = first.end if first and first.kind == "front_matter" else 0
        self._page, self._whole, self._text = page, document.text, document.text[opening:]
        self._position = _character_positions(self._text, opening)
        self._open_images = 0
        self._mark_end = 0  # of the last box
        self._title_end = -1  # of the last box
        self._markup: list[tuple[str, int]] = []

    def run(self) -> None:
        import pyromark

        events: Any = pyromark.events_with_range(self._text, options=_options())
        for event, span in events:
            offset = span["start"]
            if event == "SoftBreak" and self._position(offset) != self._title_end:
                self._page.add(" ", self._position(offset))
            elif event.__class__ is str:
                self._page.edge()
            else:
                ((name, value),) = event.items()
                if name == "Start" and value.__class__ is dict and "BlockQuote" in value:
                    self._begin_quote(self._position(offset))
                if name in {"Start", "End"}:
                    self._enter_or_leave(name == "Start", value if value.__class__ is str else next(iter(value)))
                elif name == "Html":
                    self._markup.append((value, self._position(offset)))
                elif not self._open_images:
                    self._add(name, value, self._position(offset))

    def _begin_quote(self, position: int) -> None:
        """Skip the mark of a box; its title is a line of its own."""
        if mark := BOX.match(self._whole, position):
            self._mark_end, self._title_end = mark.end(), self._whole.find("\n", mark.end())

    def _enter_or_leave(self, opens: bool, tag: str) -> None:
        """Enter or leave an element, which is an edge unless it is inline."""
        if tag == "HtmlBlock" and not opens:
            _add_html(self._page, self._markup)
            self._markup = []
        if tag not in _INLINE:
            self._page.edge()
        if tag == "CodeBlock":
            self._page.code = opens
        if tag == "Image":
            self._open_images += 1 if opens else -1

    def _add(self, name: str, value: Any, position: int) -> None:
        """Add the visible content of an element."""
        page = self._page
        if name == "Text" and page.code:
            _add_lines(page, value, position)
        elif name == "Text":
            hidden = max(self._mark_end - position, 0)
            page.add_parts(value[hidden:], position + hidden, _UNSURE)
        elif name == "Code":
            ticks = _TICKS.match(self._whole, position)
            page.add(value, ticks.end() if ticks else position)
        elif name == "FootnoteReference":
            page.edge_before_word()  # its number is joined to the word
        elif name != "InlineHtml" or BLOCK_TAG.match(value):
            page.edge()


def _add_html(page: _Page, markup: list[tuple[str, int]]) -> None:
    """Add the text between tags; block tags are edges, and in `<pre>` so is white space that doesn't collapse."""
    source = "".join(text for text, _ in markup)
    anchors = list(accumulate((len(text) for text, _ in markup), initial=0))
    reached = 0
    for start, end, closes in [*_tags(source), (len(source), len(source), True)]:
        for piece in _ENTITY.finditer(source, reached, start):
            line = bisect_right(anchors, piece.start(), hi=len(markup)) - 1
            position = markup[line][1] + piece.start() - anchors[line]
            text = html.unescape(piece[0]) if piece[0][0] == "&" else piece[0]
            page.add_parts(text, position, _LINE_END if page.code else _NEVER)
        if closes:
            page.edge()
        if found := _PRE.match(source, start, end):
            page.code = not found[1]
        reached = max(reached, end)
    page.code = False


def _tags(source: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the ranges of HTML that are not visible, and whether each is the edge of a block."""
    hidden = [(found.start(), found.end()) for found in _HIDDEN.finditer(source)]
    reached = 0
    for start, end in [*hidden, (len(source), len(source))]:
        for tag in _TAG.finditer(source, reached, start):
            yield tag.start(), tag.end(), BLOCK_TAG.match(tag[0]) is not None
        if end > start:
            yield start, end, False
        reached = end


def _character_positions(text: str, first: int) -> Callable[[int], int]:
    """Return a function from an offset in UTF-8 bytes to a position in characters of the document."""
    if text.isascii():
        return lambda offset: offset + first
    import numpy

    begins = (numpy.frombuffer(text.encode(), numpy.uint8) & 0xC0) != 0x80
    before = (numpy.cumsum(begins, dtype=numpy.int32) - begins + first).tolist()
    return lambda offset: before[offset]


@cache
def _options() -> pyromark.Options:
    import pyromark

    flags = pyromark.Options
    return markdown_options() | flags.ENABLE_FOOTNOTES | flags.ENABLE_GFM | flags.ENABLE_HEADING_ATTRIBUTES
