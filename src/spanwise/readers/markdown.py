"""Markdown: CommonMark with GitHub's tables, task lists, strikethrough and footnotes, and front matter.

pulldown-cmark (through pyromark) parses; its events are turned into blocks here. Ranges arrive in UTF-8 bytes and are
mapped to characters in one batch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from spanwise.cuts import trimmed
from spanwise.documents import Block, Link, Part
from spanwise.offsets import characters_of_bytes
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
from spanwise.readers.front_matter import front_matter_end, front_matter_title

DEEPEST_ITEM: Final = 32
"""Items nested deeper than this are text of their ancestor: nobody writes them, and recursion has a limit."""

_KINDS: Final = {
    "Paragraph": "paragraph", "HtmlBlock": "html", "List": "list", "Table": "table",
    "CodeBlock": "code", "BlockQuote": "quote", "FootnoteDefinition": "paragraph", "Rule": "rule",
    "H1": "heading", "H2": "heading", "H3": "heading", "H4": "heading", "H5": "heading", "H6": "heading",
}  # fmt: skip
_LEVELS: Final = {"H1": 1, "H2": 2, "H3": 3, "H4": 4, "H5": 5, "H6": 6}
_PARTS: Final = {"list": ("Item",), "table": ("TableHead", "TableRow")}
_ANCHORED: Final = re.compile(r"\{#[^{}`]*\}[ \t]*#*[ \t]*(?:\n[=-]+)?\Z")  # in the source, where code has its marks
_ANCHOR: Final = re.compile(r"\s*\{#[^{}]*\}\Z")
_OPAQUE: Final = re.compile(r"<(?:pre|script|style|textarea)\b", re.IGNORECASE)


def read_markdown(text: str) -> Reading:
    """Read a Markdown text."""
    builder = Builder(text)
    links = add_markdown(builder, text)
    return Reading(text, tuple(builder.blocks), found_in(text, builder.blocks, links))


def found_in(text: str, blocks: Sequence[Block], links: Sequence[Link]) -> dict[str, Any]:
    """Give what a Markdown text says of itself: its title, from front matter or a first heading, and its links."""
    found: dict[str, Any] = {}
    title = front_matter_title(text, blocks[0].end) if blocks and blocks[0].kind == "front_matter" else None
    names = (block.headings_path[0] for block in blocks if block.level == 1 and block.headings_path)
    if title := title or next(names, None):
        found["title"] = title
    if links:
        found["links"] = tuple(links)
    return found


def add_markdown(builder: Builder, text: str) -> list[Link]:
    """Add the blocks, and give the outgoing links."""
    opening = front_matter_end(text)
    if opening:
        builder.add("front_matter", 0, opening)
    # blanked, not cut off: every position stays; the parser's own front matter may stand in the middle of a text
    body = " " * opening + text[opening:] if opening else text
    heard = _heard(body)
    marks = characters_of_bytes(body, heard.marks)
    if may_hold_figures(body):
        seen: list[Seen] = []
        _place(body, heard, marks, lambda *block: seen.append(Seen(*block)))
        for block in with_figures(body, seen, _figures(body, seen, heard.tags, marks)):
            builder.add(*block)
    else:
        _place(body, heard, marks, builder.add)
    builder.finish()
    return [Link(target, "".join(words)) for target, words in heard.links]


class _Heard(NamedTuple):
    """What one walk over the parser's events leaves behind; `marks` are byte positions, two for each range."""

    names: list[str]  # of top-level blocks
    tops: list[int]  # their places in the list of marks
    marks: list[int]
    words: dict[int, list[str]]  # of headings, by their mark
    parts: dict[int, list[int]]  # of lists and tables, by their mark
    tags: list[tuple[int, bool]]
    links: list[tuple[str, list[str]]]


def _heard(text: str) -> _Heard:
    """Walk the events once; this loop sees every inline element, so it does as little as it can."""
    import pyromark

    flags = pyromark.Options
    options = flags.ENABLE_TABLES | flags.ENABLE_FOOTNOTES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS
    figures = may_hold_figures(text)
    heard = _Heard([], [], [], {}, {}, [], [])
    marks, names, tops = heard.marks, heard.names, heard.tops
    part_marks: list[int] = []
    words: list[str] | None = None  # of the heading that is open
    link_words: list[str] = []
    kind = ""
    wanted: tuple[str, ...] = ()
    until = link_until = words_until = 0
    event: Any  # a dictionary, or a bare word such as "Rule"
    for event, where in pyromark.events_with_range(text, options=options):
        start = where["start"]
        if start < until:
            if "Start" in event:
                tag = event["Start"]
                if tag.__class__ is str:
                    if tag in wanted:
                        part_marks.append(len(marks))
                        marks += (start, where["end"])
                elif "Link" in tag:
                    link_words, link_until = [], where["end"]
                    words_until = max(words_until, link_until)
                    heard.links.append((tag["Link"]["dest_url"], link_words))
            elif start < words_until:
                word = _said(event)
                if words is not None:
                    words.append(word)
                if start < link_until:
                    link_words.append(word)
            if figures and kind == "paragraph" and "InlineHtml" in event:
                _note_tag(heard, event["InlineHtml"], start, where["end"])
        elif name := _top_level(event):
            until, kind, words = where["end"], _KINDS[name], None
            names.append(name)
            tops.append(len(marks))
            wanted = _PARTS.get(kind, ())
            if wanted:
                heard.parts[len(marks)] = part_marks = []
            elif kind == "heading":
                heard.words[len(marks)] = words = []
                words_until = until
            marks += (start, until)
    return heard


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


def _note_tag(heard: _Heard, html: str, start: int, end: int) -> None:
    if FIGURE_TAG.fullmatch(html):
        heard.tags.append((len(heard.marks), html[1] != "/"))
        heard.marks.extend((start, end))


def _place(text: str, heard: _Heard, marks: list[int], add: Callable[..., None]) -> None:
    """Add the top-level blocks with their ranges in characters, trimmed, and their parts."""
    for name, mark in zip(heard.names, heard.tops, strict=True):
        start = marks[mark]
        piece = text[start : marks[mark + 1]].rstrip()
        if not piece:
            continue
        end = start + len(piece)
        kind = _KINDS[name]
        if kind == "code":
            start = text.rfind("\n", 0, start) + 1  # the parser starts after the indentation, which belongs to code
        elif piece[0] <= " " or piece[0].isspace():
            start = end - len(piece.lstrip())
        if kind == "heading":
            title = " ".join("".join(heard.words[mark]).split())
            if _ANCHORED.search(piece):
                title = _ANCHOR.sub("", title)
            add(kind, start, end, _LEVELS[name], title)
        elif kind in _PARTS:
            ranges = [(marks[part], marks[part + 1]) for part in heard.parts[mark]]
            add(kind, start, end, None, "", _parts(text, kind, ranges, end))
        elif kind == "html" and is_only_comments(piece):
            add("comment", start, end)
        else:
            add(kind, start, end)


def _parts(text: str, kind: str, ranges: list[tuple[int, int]], end: int) -> tuple[Part, ...]:
    return _items(text, ranges) if kind == "list" else _rows(text, ranges, end)


def _rows(text: str, ranges: list[tuple[int, int]], end: int) -> tuple[Part, ...]:
    """Give the rows of a table; each reaches to the next, so the header takes its delimiter row along."""
    starts = [start for start, _ in ranges]
    spans = (trimmed(text, *span) for span in zip(starts, [*starts[1:], end], strict=True))
    return tuple(Part(*span, header=row == 0) for row, span in enumerate(spans) if span)


def _items(text: str, ranges: list[tuple[int, int]]) -> tuple[Part, ...]:
    """Give the items of a list, nested ones inside their parents."""
    waiting: list[Part] = []
    for start, end in reversed(_shallow(ranges)):  # backwards, children come before their parent
        children = []
        while waiting and waiting[-1].start < end:
            children.append(waiting.pop())
        if span := trimmed(text, start, end):
            waiting.append(Part(*span, tuple(children)))
    return tuple(reversed(waiting))


def _shallow(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
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


def _figures(text: str, seen: list[Seen], noted: list[tuple[int, bool]], marks: list[int]) -> list[tuple[int, int]]:
    """Pair the figure tags that stand in paragraphs and in HTML, but not in code, comments, lists, tables, quotes."""
    tags = [Tag(marks[mark], marks[mark + 1], opens) for mark, opens in noted]
    for block in seen:
        if block.kind == "html" and not _OPAQUE.match(text, block.start):
            tags += figure_tags(text, block.start, block.end)
    return figure_ranges(sorted(tags))
