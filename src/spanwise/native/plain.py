"""The loops that see every token or event, in Python; `compiled` is the same in C, and a test holds them equal."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

Row = TypeVar("Row")
Part = TypeVar("Part")
Range = tuple[int, int]
Shapes = tuple[Callable[..., Row], Callable[..., Part]]
FoundLink = tuple[str, list[str], bool, int]

DEEPEST_ITEM: Final = 32
"""Items nested deeper than this are text of their ancestor: nobody writes them, and recursion has a limit."""

_PARTS: Final = {"List": ("Item",), "Table": ("TableHead", "TableRow")}
# No pre-token of cl100k or o200k goes on with a space after anything visible, with white space or punctuation after a
# letter or number (but o200k joins contractions, so there is no apostrophe here), or with anything visible after a line
# end (but o200k joins slashes to line ends). None looks farther ahead than that either, so each side is encoded alone.
SEAM: Final = re.compile(r"\S(?= )|[^\W_](?=[\s!-&(-/:-@\[-`{-~，。、；：！？])|\n(?=[^\s/])")
"""Where a token begins in both encodings, whatever stands around."""
NEARBY: Final = 64
"""How many characters from an edge a seam is looked for."""


def token_ends(ids: bytes, begun: array[int], base: int) -> bytes:
    """Give the character where each token ends, as 32-bit integers.

    `ids` are the tokens' 32-bit numbers, `begun` says for each number how many characters begin in such a token, and
    the first token begins at character `base`.
    """
    import numpy

    begins = numpy.frombuffer(begun, numpy.int32)[numpy.frombuffer(ids, numpy.uint32)]
    ends: bytes = (begins.cumsum(dtype=numpy.int32) + numpy.int32(base)).tobytes()
    return ends


def is_text(words: str) -> bool:
    """Whether a string is whole characters only: a lone surrogate is none, and can't be written anywhere."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def misplaced(text: str, blocks: tuple[Any, ...]) -> int:
    """Find the first block that is empty, overlaps another, leaves the text, or has visible text lost before it.

    -1 stands for none, the number of blocks for visible text after the last of them.
    """
    reached = 0
    for index, block in enumerate(blocks):
        _, start, end, *_ = block
        if start < reached or end <= start or end > len(text) or text[reached:start].strip():
            return index
        reached = end
    return len(blocks) if text[reached:].strip() else -1


_HINTS: Final = tuple(
    re.compile(hint)
    for hint in (r"\[\[", r"\[!", r"(?:\A|\n)%%", r"#[\w/\-\x80-\U0010ffff]", r"\^[A-Za-z0-9-]", r"<[fF]")
)


def hints(text: str) -> tuple[bool, ...]:
    """Say what a text may hold: wiki links, boxes, comments of notes, tags, block ids, figures.

    A hint may be wrong, but where there is none, there is nothing to be found.
    """
    return tuple(hint.search(text) is not None for hint in _HINTS)


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


def add_blocks(builder: Any, seen: Sequence[Any], shape: Callable[..., object], longest: int) -> None:
    """Add what a reader has seen to its builder, whose positions must be those of the text.

    C makes the blocks in the given `shape` itself, with names of sections that are at most so long.
    """
    for block in seen:
        builder.add(*block)


def items(text: str, ranges: list[Range], shape: Callable[..., Part]) -> tuple[Part, ...]:
    """Give the items of a list, nested ones inside their parents, as (start, end, items in it)."""
    waiting: list[tuple[int, Part]] = []
    for start, end in reversed(_shallow(ranges)):  # backwards, children come before their parent
        children = []
        while waiting and waiting[-1][0] < end:
            children.append(waiting.pop()[1])
        item = text[start:end].rstrip()
        if item:
            first = start + len(item) - len(item.lstrip())
            waiting.append((first, shape(first, start + len(item), tuple(children))))
    return tuple(part for _, part in reversed(waiting))


def _shallow(ranges: list[Range]) -> list[Range]:
    if len(ranges) <= DEEPEST_ITEM:
        return ranges
    kept, ends = [], list[int]()
    for start, end in ranges:
        while ends and ends[-1] <= start:
            ends.pop()
        if len(ends) < DEEPEST_ITEM:
            kept.append((start, end))
        ends.append(end)
    return kept


def _rows(text: str, ranges: list[Range], end: int, shape: Callable[..., Part]) -> tuple[Part, ...]:
    """Give the rows of a table; each reaches to the next, so the header takes its delimiter row along."""
    starts = [start for start, _ in ranges]
    rows = list[Part]()
    for number, (start, after) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        row = text[start:after].rstrip()
        if row:
            first = start + len(row) - len(row.lstrip())
            rows.append(shape(first, start + len(row), header=number == 0))
    return tuple(rows)


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
            parts = _rows(self.text, ranges, end, self.part_shape)
        if self.kind == "code":  # the parser starts after the indentation: it belongs to code
            start = self.text.rfind("\n", 0, first) + 1
        comment = self.kind == "html" and is_only_comments(self.text[start:end])
        kind = self.kinds["Comment"] if comment else self.kind
        self.rows.append(self.shape(kind, start, end, self.level, "".join(self.words), parts))

    def _in_characters(self, ranges: list[Range]) -> list[Range]:
        return [(self.characters[start], self.characters[end]) for start, end in ranges]


def tokens_between(ends: array[int], start: int, end: int) -> int:
    """Count the tokens that end after one character position, up to another."""
    return bisect_right(ends, end) - bisect_right(ends, start)


def ended_at_each(ends: array[int], positions: list[int]) -> list[int]:
    """Give for each character position how many tokens have ended there."""
    return [bisect_right(ends, position) for position in positions]


def exact_tokens(text: str, ends: array[int], known: dict[str, int], start: int, end: int, joiner: str) -> int:
    """Count a span and a joiner after it exactly, if what stands before its first and after its last seam is known.

    Between two seams the difference of ends is exact. `known` are counts of short strings; -1 where these don't do.
    """
    if not 0 <= start < end <= len(text):
        return -1
    first, last = start, end
    while not _is_seam(text, first):
        first += 1
        if first >= end or first - start > NEARBY:
            return -1
    if joiner or not _is_seam(text, last):
        last -= 1
        while last > first and not _is_seam(text, last) and end - last <= NEARBY:
            last -= 1
        if last < first or end - last > NEARBY:
            return -1
    head = known.get(text[start:first], -1) if start < first else 0
    tail = known.get(text[last:end] + joiner, -1) if last < end or joiner else 0
    return -1 if head < 0 or tail < 0 else head + tokens_between(ends, first, last) + tail


def _is_seam(text: str, place: int) -> bool:
    return place in (0, len(text)) or SEAM.match(text, place - 1) is not None
