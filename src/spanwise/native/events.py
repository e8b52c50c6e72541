"""The events of the Markdown parser to blocks, links, code and tags."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

from spanwise.native.parts import Part, Range, items, rows

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
) -> tuple[list[Row], list[FoundLink], list[Range], list[Range]]:
    """Walk over the events of the Markdown parser, and give what stands in the text, all ranges in characters.

    First come the blocks on the outermost level: named tuples of (kind, start, end, level, words, parts), the first of
    the `shapes`, without white space around them. `kinds` says what the parser's names are called, and HTML that is a
    "Comment"; `words` are those of a heading, and `parts` are the items of a list or the rows of a table, in the second
    shape. Then the links, as (target, words, whether it is a wiki link, start); `![[embedded]]` notes are among them if
    there may be `embeds`. Then where code stands inside of blocks, if that is wanted (`coded`), and where tags of HTML
    stand in paragraphs (`tagged`).
    """
    walk = _Walk(text, kinds, shapes)
    for event, where in events:
        name, said = (event, None) if event.__class__ is str else next(iter(event.items()))
        start = where["start"]
        if start >= walk.until:
            walk.open(name, said, start, where["end"])
            continue
        if name == "Start":
            walk.enter(*_tag(said), start, where["end"], embeds)
        elif start < walk.words_until:
            walk.say(" " if said is None else said if name in {"Text", "Code"} else "", start)
        if coded and (name == "Code" or (name == "Start" and _tag(said)[0] == "CodeBlock")):
            walk.codes.append((walk.characters[start], walk.characters[where["end"]]))
        elif tagged and name == "InlineHtml" and walk.kind == "paragraph":
            walk.block_tags.append((start, where["end"]))
    walk.close()
    return walk.rows, walk.links, walk.codes, walk.tags


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


def _tag(said: Any) -> tuple[str, Any]:
    """Name the element that begins, and give what is said of it."""
    return (said, None) if said.__class__ is str else next(iter(said.items()))


def _characters(text: str) -> array[int] | range:
    """Give the character that each byte of the text stands in."""
    raw = text.encode()
    if len(raw) == len(text):
        return range(len(raw) + 1)
    import numpy

    begins = (numpy.frombuffer(raw, numpy.uint8) & 0xC0) != 0x80
    before = array("i", [0])
    before.frombytes(begins.cumsum(dtype=numpy.int32).tobytes())
    return before


class _Walk(Generic[Row, Part]):
    """What is known on the way; `kind` is empty before the first block."""

    def __init__(
        self, text: str, kinds: Mapping[str, str], shapes: tuple[Callable[..., Row], Callable[..., Part]]
    ) -> None:
        self.text, self.kinds, (self.shape, self.part_shape) = text, kinds, shapes
        self.characters = _characters(text)
        self.rows: list[Row] = []
        self.links: list[FoundLink] = []
        self.codes: list[Range] = []
        self.tags: list[Range] = []
        self.words_until = self.link_until = 0
        self.link_words: list[str] = []
        self._begin("", None, 0, 0)

    def _begin(self, name: str, level: int | None, start: int, end: int) -> None:
        self.kind, self.level = self.kinds.get(name, ""), level
        self.begin, self.until = start, end
        self.wanted = _PARTS.get(name, ())
        self.words_until = end if level else 0
        self.words: list[str] = []
        self.parts: list[Range] = []
        self.block_tags: list[Range] = []

    def open(self, name: str, said: Any, start: int, end: int) -> None:
        """Begin a block; the empty last cell of a table stands after its table and begins none."""
        tag, more = _tag(said) if name == "Start" else (name, None)
        if tag in self.kinds and (name == "Start" or said is None):
            self.close()
            self._begin(tag, int(more["level"][1]) if more and tag == "Heading" else None, start, end)

    def enter(self, tag: str, more: Any, start: int, end: int, embeds: bool) -> None:
        """Note a part or a link."""
        if tag in self.wanted:
            self.parts.append((start, end))
        elif tag == "Link" or (embeds and tag == "Image" and more["link_type"].__class__ is dict):
            self.link_words, self.link_until = [], end
            self.words_until = max(self.words_until, end)
            wiki = more["link_type"].__class__ is dict
            self.links.append((more["dest_url"], self.link_words, wiki, self.characters[start]))

    def say(self, word: str, start: int) -> None:
        """Add a word to the heading and to the link that it stands in."""
        if self.level:
            self.words.append(word)
        if word and start < self.link_until:
            self.link_words.append(word)

    def close(self) -> None:
        """Add the block that was open, if it shows anything."""
        first, after = self.characters[self.begin], self.characters[self.until]
        words = self.text[first:after].rstrip()
        if not words:
            return
        end = first + len(words)
        start = end - len(words.lstrip())
        self.tags += self._in_characters(self.block_tags)
        ranges, parts = self._in_characters(self.parts), tuple[Part, ...]()
        if ranges and self.kind == "list":  # the parser counts a definition after the last item to the list
            end = start + len(self.text[start : max(high for _, high in ranges)].rstrip())
            parts = items(self.text, ranges, self.part_shape)
        elif ranges:
            parts = rows(self.text, ranges, end, self.part_shape)
        if self.kind == "code":  # the parser starts after the indentation: it belongs to code
            start = self.text.rfind("\n", 0, first) + 1
        comment = self.kind == "html" and is_only_comments(self.text[start:end])
        kind = self.kinds["Comment"] if comment else self.kind
        self.rows.append(self.shape(kind, start, end, self.level, "".join(self.words), parts))

    def _in_characters(self, ranges: list[Range]) -> list[Range]:
        return [(self.characters[start], self.characters[end]) for start, end in ranges]
