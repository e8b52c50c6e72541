"""A whole page as it is shown: the stretches of text that no edge of an element interrupts, with where they come from.

What a browser searches for must lie inside one stretch: a block, a cell, an item, a line of code, a line before `<br>`.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents.document import Document
from spanwise.text.visible import BLOCK_TAG, BOX

if TYPE_CHECKING:
    import pyromark

_INLINE: Final = frozenset({"Emphasis", "Strong", "Strikethrough", "Link"})
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
# Marks that some pages show and others don't: what is searched for stops before them.
_UNSURE: Final = re.compile(r"==|%%[^%]*%%|(?<=\s)\^[A-Za-z0-9-]+\s*$|\[\[|\]\]")
_LINE: Final = re.compile(r"[^\n\t]+")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);|&?[^&]+|&")
_TICKS: Final = re.compile(r"`+ ?")
_PRE: Final = re.compile(r"<(/?)pre\b", re.IGNORECASE)
_LINE_END: Final = re.compile(r"[\n\t]")
_NEVER: Final = re.compile(r"(?!)")
_HARD_SPACES: Final = re.compile(r"\s+\xa0\s*|\xa0\s+")


class VisibleRun(NamedTuple):
    """A text, and for some of its positions, in order, where in the document they come from.

    Elsewhere than in code white space collapses to one space on the page.
    """

    text: str
    anchors: list[int]
    places: list[int]
    code: bool


class _Page:
    """Collects words until an edge closes their stretch."""

    def __init__(self) -> None:
        self.done: list[VisibleRun] = []
        self.code = False
        self._words: list[str] = []
        self._length = 0
        self._anchors: list[int] = []
        self._places: list[int] = []

    def add(self, words: str, place: int) -> None:
        self._anchors.append(self._length)
        self._places.append(place)
        self._words.append(words)
        self._length += len(words)

    def edge(self) -> None:
        """Close the stretch; hard spaces beside other white space don't collapse, so they are edges inside it."""
        text, reached = "".join(self._words), 0
        if not text:
            return
        for gap in [*(_HARD_SPACES.finditer(text) if "\xa0" in text else ()), None]:
            end = gap.start() if gap else len(text)
            if text[reached:end].strip():
                self._close(text, reached, end)
            reached = gap.end() if gap else end
        self._words, self._length, self._anchors, self._places = [], 0, [], []

    def edge_before_word(self) -> None:
        """Close the stretch before its last word, which goes on with something that can't be searched for."""
        text = "".join(self._words)
        kept = len(text) - len(text.split()[-1]) if text and not text[-1].isspace() else len(text)
        self._words = [text[:kept]] if kept else []
        self.edge()

    def _close(self, text: str, start: int, end: int) -> None:
        if end - start == len(text):
            self.done.append(VisibleRun(text, self._anchors, self._places, self.code))
            return
        first, after = bisect_right(self._anchors, start) - 1, bisect_left(self._anchors, end)
        anchors = [max(anchor - start, 0) for anchor in self._anchors[first:after]]
        places = self._places[first:after]
        places[0] += max(start - self._anchors[first], 0)
        self.done.append(VisibleRun(text[start:end], anchors, places, self.code))

    def add_parts(self, words: str, place: int, separator: re.Pattern[str]) -> None:
        """Add what stands between the matches of a pattern, each of which is an edge."""
        reached = 0
        for mark in separator.finditer(words):
            self.add(words[reached : mark.start()], place + reached)
            self.edge()
            reached = mark.end()
        self.add(words[reached:], place + reached)


def shown_stretches(document: Document) -> list[VisibleRun]:
    """Give what a page shows of a document, from the first stretch to the last."""
    page = _Page()
    if document.metadata.source_type == "text":
        page.code = True  # a browser shows it as it is
        _add_lines(page, document.text, 0)
    else:
        _Walk(page, document).through()
    page.edge()
    return page.done


def page_stretches(document: Document) -> list[VisibleRun]:
    """Give what the source's own page shows; places are those that `text_offset` counts."""
    page = _Page()
    for offset, text, code in document.shown:
        page.code = code
        page.add_parts(text, offset, _LINE_END if code else _NEVER)
        page.edge()
    return page.done


def _add_lines(page: _Page, text: str, place: int) -> None:
    for line in _LINE.finditer(text):
        page.add(line[0], place + line.start())
        page.edge()


class _Walk:
    """Goes through the events of the parser; what stands in front matter or only describes a picture is not shown."""

    def __init__(self, page: _Page, document: Document) -> None:
        first = document.blocks[0] if document.blocks else None
        opening = first.end if first and first.kind == "front_matter" else 0
        self._page, self._whole, self._text = page, document.text, document.text[opening:]
        self._place = _characters(self._text, opening)
        self._pictures = 0  # that are open
        self._unshown = 0  # where the mark of a box ends
        self._title_end = -1  # where its title ends
        self._markup: list[tuple[str, int]] = []

    def through(self) -> None:
        for event, place in _events(self._text):
            if event == "SoftBreak" and self._place(place) != self._title_end:
                self._page.add(" ", self._place(place))
            elif event.__class__ is str:
                self._page.edge()
            else:
                ((name, value),) = event.items()
                if name == "Start" and value.__class__ is dict and "BlockQuote" in value:
                    self._begin_quote(self._place(place))
                if name in {"Start", "End"}:
                    self._turn(name == "Start", value if value.__class__ is str else next(iter(value)))
                elif name == "Html":
                    self._markup.append((value, self._place(place)))
                elif not self._pictures:
                    self._say(name, value, self._place(place))

    def _begin_quote(self, place: int) -> None:
        """Pass over the mark of a box; its title is a line of its own."""
        if mark := BOX.match(self._whole, place):
            self._unshown, self._title_end = mark.end(), self._whole.find("\n", mark.end())

    def _turn(self, opens: bool, tag: str) -> None:
        """Enter or leave an element."""
        if tag == "HtmlBlock" and not opens:
            _add_html(self._page, self._markup)
            self._markup = []
        if tag not in _INLINE:
            self._page.edge()
        if tag == "CodeBlock":
            self._page.code = opens
        if tag == "Image":
            self._pictures += 1 if opens else -1

    def _say(self, name: str, value: Any, place: int) -> None:
        """Add what is shown inside an element."""
        page = self._page
        if name == "Text" and page.code:
            _add_lines(page, value, place)
        elif name == "Text":
            hidden = max(self._unshown - place, 0)
            page.add_parts(value[hidden:], place + hidden, _UNSURE)
        elif name == "Code":
            ticks = _TICKS.match(self._whole, place)
            page.add(value, ticks.end() if ticks else place)
        elif name == "FootnoteReference":
            page.edge_before_word()  # its number is glued to the word
        elif name != "InlineHtml" or BLOCK_TAG.match(value):
            page.edge()


def _events(text: str) -> Iterator[tuple[Any, int]]:
    import pyromark

    for event, span in pyromark.events_with_range(text, options=_options()):
        yield event, span["start"]


def _add_html(page: _Page, markup: list[tuple[str, int]]) -> None:
    """Add the text between tags; those of blocks are edges, and in `<pre>` so is white space that doesn't collapse."""
    source = "".join(words for words, _ in markup)
    anchors = list(accumulate((len(words) for words, _ in markup), initial=0))
    reached = 0
    for start, end, closes in [*_tags(source), (len(source), len(source), True)]:
        for piece in _ENTITY.finditer(source, reached, start):
            line = bisect_right(anchors, piece.start(), hi=len(markup)) - 1
            place = markup[line][1] + piece.start() - anchors[line]
            words = html.unescape(piece[0]) if piece[0][0] == "&" else piece[0]
            page.add_parts(words, place, _LINE_END if page.code else _NEVER)
        if closes:
            page.edge()
        if found := _PRE.match(source, start, end):
            page.code = not found[1]
        reached = max(reached, end)
    page.code = False


def _tags(source: str) -> Iterator[tuple[int, int, bool]]:
    """Give the ranges that HTML doesn't show, and whether each is the edge of a block."""
    hidden = [(found.start(), found.end()) for found in _HIDDEN.finditer(source)]
    reached = 0
    for start, end in [*hidden, (len(source), len(source))]:
        for tag in _TAG.finditer(source, reached, start):
            yield tag.start(), tag.end(), BLOCK_TAG.match(tag[0]) is not None
        if end > start:
            yield start, end, False
        reached = end


def _characters(text: str, first: int) -> Callable[[int], int]:
    """Give what turns a position in UTF-8 bytes into one in characters of the document."""
    if text.isascii():
        return lambda place: place + first
    import numpy

    begins = (numpy.frombuffer(text.encode(), numpy.uint8) & 0xC0) != 0x80
    before = (numpy.cumsum(begins, dtype=numpy.int32) - begins + first).tolist()
    return lambda place: before[place]


@cache
def _options() -> pyromark.Options:
    import pyromark

    flags = pyromark.Options
    blocks = flags.ENABLE_TABLES | flags.ENABLE_TASKLISTS | flags.ENABLE_FOOTNOTES | flags.ENABLE_GFM
    return blocks | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_WIKILINKS | flags.ENABLE_HEADING_ATTRIBUTES
