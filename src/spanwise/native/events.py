"""Blocks, links, code and tags from the events of the Markdown parser."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

from spanwise.native.kept import Collector, Kept
from spanwise.native.parts import Part, Range, items, rows
from spanwise.native.ranges import visible_range

Row = TypeVar("Row")
Shapes = tuple[Callable[..., Row], Callable[..., Part]]
FoundLink = tuple[str, list[str], bool, int]

_PARTS: Final = {"List": ("Item",), "Table": ("TableHead", "TableRow")}


def walk(
    text: str,
    events: Iterable[tuple[Any, Any]],
    kinds: Mapping[str, str],
    shapes: Shapes[Row, Part],
    tagged: bool,
    coded: bool,
    embeds: bool,
    keeps: bool,
) -> tuple[list[Row], list[FoundLink], list[Range], list[Range], Kept | None]:
    """Return blocks, links, code and tags from the events of the Markdown parser, all ranges in characters.

    Blocks are those of the outermost level, trimmed, as named tuples (kind, start, end, level, title, parts), the first
    of the `shapes`. `kinds` maps the parser's names to kinds, with "Comment" for HTML that is only comments; `title` is
    the text of a heading, `parts` are the items of a list or the rows of a table, in the second shape. Links are
    (target, pieces of text, whether it is a wiki link, start), with `![[embedded]]` notes if `embeds` is set. Code is
    the ranges of code inside blocks, if `coded` is set; tags are the ranges of HTML tags in paragraphs, if `tagged` is.
    The last is what `kept_ranges` returns, if `keeps` is set.
    """
    walk, collector = _Walk(text, kinds, shapes), Collector(text) if keeps else None
    for event, where in events:
        name, value = (event, None) if event.__class__ is str else next(iter(event.items()))
        start = where["start"]
        if collector:
            collector.take(name, value, start, where["end"])
        if start >= walk.until:
            walk.open(name, value, start, where["end"])
            continue
        if name == "Start":
            walk.enter(*_tag(value), start, where["end"], embeds)
        elif start < walk.text_until:
            walk.add_text(" " if value is None else value if name in {"Text", "Code"} else "", start)
        if coded and (name == "Code" or (name == "Start" and _tag(value)[0] == "CodeBlock")):
            walk.codes.append((walk.characters[start], walk.characters[where["end"]]))
        elif tagged and name == "InlineHtml" and walk.kind == "paragraph":
            walk.block_tags.append((start, where["end"]))
    walk.close()
    return walk.rows, walk.links, walk.codes, walk.tags, collector.found if collector else None


def is_only_comments(html: str) -> bool:
    """Whether a piece of HTML is one or more comments and nothing else; an unclosed one doesn't count."""
    position, end = 0, len(html)
    while html.startswith("<!--", position):
        closing = html.find("-->", position + 2)
        if closing < 0:
            return False
        position = closing + 3
        while position < end and html[position].isspace():
            position += 1
    return position == end


def _tag(value: Any) -> tuple[str, Any]:
    """Return the name of the element that begins, and its attributes."""
    return (value, None) if value.__class__ is str else next(iter(value.items()))


def _characters(text: str) -> array[int] | range:
    """Return the character position of each byte of the text."""
    raw = text.encode()
    if len(raw) == len(text):
        return range(len(raw) + 1)
    import numpy

    begins = (numpy.frombuffer(raw, numpy.uint8) & 0xC0) != 0x80
    before = array("q", [0])
    before.frombytes(begins.cumsum(dtype=numpy.int64).tobytes())
    return before


class _Walk(Generic[Row, Part]):
    """The state of a walk over events; `kind` is empty before the first block."""

    def __init__(
        self, text: str, kinds: Mapping[str, str], shapes: tuple[Callable[..., Row], Callable[..., Part]]
    ) -> None:
        self.text, self.kinds, (self.shape, self.part_shape) = text, kinds, shapes
        self.characters = _characters(text)
        self.rows: list[Row] = []
        self.links: list[FoundLink] = []
        self.codes: list[Range] = []
        self.tags: list[Range] = []
        self.text_until = self.link_until = 0
        self.link_text: list[str] = []
        self._begin("", None, 0, 0)

    def _begin(self, name: str, level: int | None, start: int, end: int) -> None:
        self.kind, self.level = self.kinds.get(name, ""), level
        self.begin, self.until = start, end
        self.wanted = _PARTS.get(name, ())
        self.text_until = end if level else 0
        self.title: list[str] = []
        self.parts: list[Range] = []
        self.block_tags: list[Range] = []

    def open(self, name: str, value: Any, start: int, end: int) -> None:
        """Begin a block; the empty last cell of a table comes after its table and begins none."""
        tag, attributes = _tag(value) if name == "Start" else (name, None)
        if tag in self.kinds and (name == "Start" or value is None):
            self.close()
            self._begin(tag, int(attributes["level"][1]) if attributes and tag == "Heading" else None, start, end)

    def enter(self, tag: str, attributes: Any, start: int, end: int, embeds: bool) -> None:
        """Record a part or a link."""
        if tag in self.wanted:
            self.parts.append((start, end))
        elif tag == "Link" or (embeds and tag == "Image" and attributes["link_type"].__class__ is dict):
            self.link_text, self.link_until = [], end
            self.text_until = max(self.text_until, end)
            wiki = attributes["link_type"].__class__ is dict
            self.links.append((attributes["dest_url"], self.link_text, wiki, self.characters[start]))

    def add_text(self, text: str, start: int) -> None:
        """Add a text to the heading and to the link that it is in."""
        if self.level:
            self.title.append(text)
        if text and start < self.link_until:
            self.link_text.append(text)

    def close(self) -> None:
        """Add the block that was open, if it isn't blank."""
        first = self.characters[self.begin]
        visible = visible_range(self.text, first, self.characters[self.until])
        if not visible:
            return
        start, end = visible
        self.tags += self._in_characters(self.block_tags)
        ranges, parts = self._in_characters(self.parts), tuple[Part, ...]()
        if ranges and self.kind == "list":  # the parser includes a definition after the last item in the list
            end = start + len(self.text[start : max(high for _, high in ranges)].rstrip())
            parts = items(self.text, ranges, self.part_shape)
        elif ranges:
            parts = rows(self.text, ranges, end, self.part_shape)
        if self.kind == "code":  # the parser starts after the indentation, which belongs to code
            start = self.text.rfind("\n", 0, first) + 1
        comment = self.kind == "html" and is_only_comments(self.text[start:end])
        kind = self.kinds["Comment"] if comment else self.kind
        self.rows.append(self.shape(kind, start, end, self.level, "".join(self.title), parts))

    def _in_characters(self, ranges: list[Range]) -> list[Range]:
        return [(self.characters[start], self.characters[end]) for start, end in ranges]
