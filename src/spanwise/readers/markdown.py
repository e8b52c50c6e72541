"""Markdown: CommonMark with GitHub's tables, task lists, strikethrough and footnotes, and front matter.

pulldown-cmark (through pyromark) parses; its events are turned into blocks here. Ranges arrive in UTF-8 bytes and are
mapped to characters in one batch.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents import Block, Link
from spanwise.readers.blocks import (
    FIGURE_TAG,
    Builder,
    Reading,
    Seen,
    Tag,
    figure_ranges,
    figure_tags,
    is_only_comments,
    may_hold_figures,
    with_figures,
)
from spanwise.readers.front_matter import front_matter_end, front_matter_says
from spanwise.readers.notes import annotated, comment_ranges, may_hold_marks, tags_in, wiki_link
from spanwise.readers.parts import items_of, rows_of
from spanwise.shown import without_note_marks

if TYPE_CHECKING:
    import pyromark

_KINDS: Final = {
    "Paragraph": "paragraph", "HtmlBlock": "html", "List": "list", "Table": "table",
    "CodeBlock": "code", "BlockQuote": "quote", "FootnoteDefinition": "paragraph", "Rule": "rule",
    "H1": "heading", "H2": "heading", "H3": "heading", "H4": "heading", "H5": "heading", "H6": "heading",
}  # fmt: skip
_LEVELS: Final = {"H1": 1, "H2": 2, "H3": 3, "H4": 4, "H5": 5, "H6": 6}
_PARTS: Final = {"List": ("Item",), "Table": ("TableHead", "TableRow")}
_ANCHORED: Final = re.compile(r"\{#[^{}`]*\}[ \t]*#*[ \t]*(?:\n[=-]+)?\Z")  # in the source, where code has its marks
_ANCHOR: Final = re.compile(r"\s*\{#[^{}]*\}\Z")
_VISIBLE: Final = re.compile(r"\S")
_OPAQUE: Final = re.compile(r"<(?:pre|script|style|textarea)\b", re.IGNORECASE)


def read_markdown(text: str) -> Reading:
    """Read a Markdown text."""
    builder = Builder(text)
    extras = add_markdown(builder, text)
    blocks = annotated(extras.prose, builder.blocks) if extras.marked or "[!" in text else builder.blocks
    return Reading(text, tuple(blocks), found_in(text, blocks, extras), link_starts=tuple(extras.link_starts))


def found_in(text: str, blocks: Sequence[Block], extras: Extras) -> dict[str, Any]:
    """Give what a Markdown text says of itself: by front matter, its title else by a first heading, links, labels."""
    found = front_matter_says(text, blocks[0].end) if blocks and blocks[0].kind == "front_matter" else {}
    if "title" not in found:
        names = (block.headings_path[0] for block in blocks if block.level == 1 and block.headings_path)
        if title := next(names, None):
            found["title"] = title
    if extras.marked and (tags := tags_in(extras.prose, blocks)):
        found["labels"] = tuple(dict.fromkeys((*found.get("labels", ()), *tags)))
    if extras.links:
        found["links"] = tuple(extras.links)
    return found


class Extras(NamedTuple):
    """What was found besides blocks: links, where they stand, and the text with code blanked if it is `marked`."""

    links: list[Link]
    link_starts: list[int]
    prose: str
    marked: bool


def add_markdown(builder: Builder, text: str, *, opens: bool = True) -> Extras:
    """Add the blocks, and give what was found besides; front matter stands only where a document `opens`."""
    opening = front_matter_end(text) if opens else 0
    if opening:
        builder.add("front_matter", 0, opening)
    comments = _comments(text, opening)
    walk = _Walk(_blanked(text, comments), opening)
    walk.codes = [] if may_hold_marks(text) else None
    add = _between_comments(builder.add, comments) if comments else builder.add
    if may_hold_figures(text):
        seen: list[Seen] = []
        walk.add = lambda *block: seen.append(Seen(*block))
        walk.tags = []
        walk.through()
        for block in with_figures(text, seen, _figures(text, seen, walk.tags)):
            add(*block)
    else:
        walk.add = add
        walk.through()
    if comments:
        add("", len(text), len(text))
    builder.finish()
    found = [
        (wiki_link(to, "".join(words)) if wiki else Link(to, "".join(words)), start)
        for (to, words, wiki), start in zip(walk.links, walk.link_starts, strict=True)
    ]
    named = [
        (link, start) for link, start in found if link.target or link.heading or link.block_id or link.text.strip()
    ]
    prose = _blanked(text, sorted(walk.codes)) if walk.codes else text
    return Extras([link for link, _ in named], [start for _, start in named], prose, walk.codes is not None)


def _comments(text: str, opening: int) -> list[tuple[int, int]]:
    """Find the comments of notes; what looks like one inside code is code."""
    found = [span for span in comment_ranges(text) if span[0] >= opening]
    if not found:
        return []
    code: list[tuple[int, int]] = []
    walk = _Walk(text, opening)
    walk.add = lambda kind, start, end, *_: code.append((start, end)) if kind == "code" else None
    walk.through()
    starts = [start for start, _ in code]
    return [span for span in found if not _is_inside(span[0], starts, code)]


def _is_inside(place: int, starts: list[int], ranges: list[tuple[int, int]]) -> bool:
    before = bisect_right(starts, place) - 1
    return before >= 0 and place < ranges[before][1]


def _blanked(text: str, ranges: list[tuple[int, int]]) -> str:
    """Put spaces in place of ranges: the parser doesn't see them, and every position stays."""
    if not ranges:
        return text
    pieces, reached = list[str](), 0
    for start, end in ranges:
        pieces += [text[reached:start], _VISIBLE.sub(" ", text[start:end])]
        reached = end
    return "".join([*pieces, text[reached:]])


def _between_comments(add: Callable[..., None], comments: list[tuple[int, int]]) -> Callable[..., None]:
    """Add comments where their turn comes; those inside a block are its text. A block without a kind ends all."""
    waiting = comments[::-1]

    def add_in_turn(kind: str, start: int, end: int, *more: Any) -> None:
        while waiting and waiting[-1][0] < end:
            comment = waiting.pop()
            if comment[1] <= start:
                add("comment", *comment)
        if kind:
            add(kind, start, end, *more)

    return add_in_turn


class _Walk:
    """One walk over the parser's events: gives each top-level block to `add`, with bytes and characters in step."""

    __slots__ = (
        "_byte", "_character", "_closed_at", "_closed_byte", "_events", "_raw", "_text", "_wiki", "add", "codes",
        "link_starts", "links", "tags",
    )  # fmt: skip

    def __init__(self, text: str, opening: int) -> None:
        self.add: Callable[..., None]
        self.links: list[tuple[str, list[str], bool]] = []  # target, words, and whether it is a wiki link
        self.link_starts: list[int] = []  # bytes, until the block that they stand in is closed
        self.codes: list[tuple[int, int]] | None = None  # where code stands in a block, if that is wanted
        self.tags: list[Tag] | None = None  # of figures, if they are wanted
        self._wiki = "[[" in text
        self._text, self._events = _parsed(text, opening, wiki=self._wiki)
        self._raw = b"" if text.isascii() else self._text.encode()
        self._byte = self._character = self._closed_byte = self._closed_at = 0

    def through(self) -> None:
        """Walk; this loop sees every inline element, so it does as little as it can."""
        tagged, embeds = self.tags is not None, self._wiki and "![[" in self._text
        coded: list[tuple[int, int]] = []
        looking = tagged or self.codes is not None
        name: str | None = None  # of the block that is open, and what of it is wanted
        words: list[str] = []
        parts: list[tuple[int, int]] = []
        tags: list[tuple[int, int]] = []
        wanted: tuple[str, ...] = ()
        link_words: list[str] = []
        begin = until = link_until = words_until = 0
        event: Any  # a dictionary, or a bare word such as "Rule"
        for event, where in self._events:
            start = where["start"]
            if start < until:
                if "Start" in event:
                    tag = event["Start"]
                    if tag.__class__ is str:
                        if tag in wanted:
                            parts.append((start, where["end"]))
                    elif link := tag.get("Link") or (embeds and _embedded(tag)):
                        link_words, link_until = [], where["end"]
                        words_until = max(words_until, link_until)
                        self.links.append((link["dest_url"], link_words, link["link_type"].__class__ is dict))
                        self.link_starts.append(start)
                elif start < words_until:
                    word = _said(event)
                    words.append(word)
                    if start < link_until:
                        link_words.append(word)
                if looking:
                    if tagged and "InlineHtml" in event:
                        tags.append((start, where["end"]))
                    elif self.codes is not None and _is_code(event):
                        coded.append((start, where["end"]))
            elif opened := _top_level(event):
                if name:
                    self._close(name, begin, until, words, parts, tags)
                    if coded:
                        self._place_codes(coded)
                name, begin, until = opened, start, where["end"]
                wanted = _PARTS.get(name, ())
                words_until = until if name in _LEVELS else 0
                words, parts, tags = [], [], []
        if name:
            self._close(name, begin, until, words, parts, tags)
            self._place_codes(coded)

    def _close(
        self,
        name: str,
        begin: int,
        until: int,
        words: list[str],
        parts: list[tuple[int, int]],
        tags: list[tuple[int, int]],
    ) -> None:
        """Add a block with its range in characters, trimmed, and its parts."""
        start, piece = self._placed(begin, until)
        self._closed_byte, self._closed_at = begin, start
        if self._raw and self.link_starts and self.link_starts[-1] >= begin:
            self._place_links(begin, start)
        text = piece.rstrip()
        if not text:
            return
        end = start + len(text)
        kind = _KINDS[name]
        if tags and kind == "paragraph":
            self._note(begin, start, tags)
        if parts:
            ranges = self._in_characters(begin, start, parts)
            start = end - len(text.lstrip())
            if kind == "list":  # the parser counts a definition after the last item to the list
                end = start + len(self._text[start : max(high for _, high in ranges)].rstrip())
            self.add(kind, start, end, None, "", _PART_MAKERS[name](self._text, ranges, end))
            return
        if kind == "code":
            start = self._text.rfind("\n", 0, start) + 1  # the parser starts after the indentation: it belongs to code
        elif text[0] <= " " or text[0].isspace():
            start = end - len(text.lstrip())
        if kind == "heading":
            self.add(kind, start, end, _LEVELS[name], _title(words, text))
        else:
            self.add("comment" if kind == "html" and is_only_comments(text) else kind, start, end)

    def _placed(self, begin: int, until: int) -> tuple[int, str]:
        """Give the character where a block begins, and its text; blocks come in order, so the steps are small."""
        raw = self._raw
        if not raw:
            return begin, self._text[begin:until]
        start = self._character + len(raw[self._byte : begin].decode())
        piece = raw[begin:until].decode()
        self._byte, self._character = until, start + len(piece)
        return start, piece

    def _in_characters(self, begin: int, start: int, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Turn byte ranges inside a block that begins at byte `begin`, character `start`, into character ranges."""
        if not self._raw:
            return ranges
        places = sorted({place for span in ranges for place in span})
        characters, reached, total = dict[int, int](), begin, start
        for place in places:
            total += len(self._raw[reached:place].decode())
            characters[place], reached = total, place
        return [(characters[low], characters[high]) for low, high in ranges]

    def _place_codes(self, coded: list[tuple[int, int]]) -> None:
        """Keep where code stands in the block that was closed just now, in characters."""
        if self.codes is not None:
            self.codes += self._in_characters(self._closed_byte, self._closed_at, coded)
            coded.clear()

    def _place_links(self, begin: int, start: int) -> None:
        """Turn the places of the links of this block, the last ones that were seen, into characters."""
        places = self.link_starts
        first = len(places)
        while first and places[first - 1] >= begin:
            first -= 1
        spans = [(place, place) for place in places[first:]]
        places[first:] = [low for low, _ in self._in_characters(begin, start, spans)]

    def _note(self, begin: int, start: int, ranges: list[tuple[int, int]]) -> None:
        for low, high in self._in_characters(begin, start, ranges):
            html = self._text[low:high]
            if self.tags is not None and FIGURE_TAG.fullmatch(html):
                self.tags.append(Tag(low, high, html[1] != "/"))


def _parsed(text: str, opening: int, *, wiki: bool) -> tuple[str, Iterator[tuple[Any, Any]]]:
    """Parse a text that has front matter up to `opening`, and give the text that the events speak of.

    The parser would find front matter in the middle of a text too, between two rules. So its own way is taken only
    where that can't happen and both agree on the end; else the front matter is blanked, which keeps every position.
    """
    if opening and text.startswith("---") and text.find("\n---", opening) < 0:
        events = _parser(yaml=True, wiki=wiki).events_with_range(text)
        for first, where in events:
            if "MetadataBlock" in str(first) and where == {"start": 0, "end": len(text[:opening].encode())}:
                return text, events
            break
    if opening:
        text = " " * opening + text[opening:]
    return text, _parser(yaml=False, wiki=wiki).events_with_range(text)


@cache
def _parser(*, yaml: bool, wiki: bool) -> pyromark.Markdown:
    """Give the parser, imported when first used; with front matter or wiki links only where the text may have them."""
    import pyromark

    flags = pyromark.Options
    options = flags.ENABLE_TABLES | flags.ENABLE_FOOTNOTES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS
    options |= flags.ENABLE_YAML_STYLE_METADATA_BLOCKS if yaml else flags(0)
    options |= flags.ENABLE_WIKILINKS if wiki else flags(0)
    return pyromark.Markdown(options=options)


def _is_code(event: Any) -> bool:
    if event.__class__ is str:
        return False
    tag = event.get("Start")
    return "Code" in event or (tag.__class__ is dict and "CodeBlock" in tag)


def _embedded(tag: Any) -> Any:
    """Give what `![[embeds]]` points to; an ordinary image is no link."""
    image = tag.get("Image")
    return image if image and image["link_type"].__class__ is dict else None


def _title(words: list[str], text: str) -> str:
    title = "".join(words)
    if ("==" in title or "%%" in title or "^" in title) and "`" not in text:  # in code they are no marks
        title = without_note_marks(title)
    title = " ".join(title.split())
    return _ANCHOR.sub("", title) if "{#" in text and _ANCHORED.search(text) else title


def _top_level(event: Any) -> str | None:
    """Name the block that an event begins; None for the empty last cell of a table, which stands after its table."""
    if event.__class__ is str:
        return "Rule" if event == "Rule" else None
    tag = event.get("Start")
    if tag.__class__ is str or tag is None:
        return tag if tag in _KINDS else None
    if "Heading" in tag:
        return str(tag["Heading"]["level"])
    name: str = next(iter(tag))
    return name if name in _KINDS else None


def _said(event: Any) -> str:
    """Give the words of an inline event as a reader of the page would see them."""
    if event.__class__ is str:
        return " "
    word: str = event.get("Text") or event.get("Code") or ""
    return word


def _figures(text: str, seen: list[Seen], tags: list[Tag]) -> list[tuple[int, int]]:
    """Pair the figure tags that stand in paragraphs and in HTML, but not in code, comments, lists, tables, quotes."""
    for block in seen:
        if block.kind == "html" and not _OPAQUE.match(text, block.start):
            tags += figure_tags(text, block.start, block.end)
    return figure_ranges(sorted(tags))


_PART_MAKERS: Final = {"List": items_of, "Table": rows_of}
