"""The Markdown reader: CommonMark with GitHub's tables, task lists, strikethrough and footnotes, and front matter.

pulldown-cmark (through pyromark) parses; its events are turned into blocks here. Ranges arrive in UTF-8 bytes and are
mapped to characters in one batch.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Block, Link, Part
from spanwise.native import FoundLink, Kept, Range, hints, walk
from spanwise.readers.builder import (
    FIGURE_TAG,
    Builder,
    FoundBlock,
    ReadResult,
    Tag,
    figure_ranges,
    figure_tags,
    with_figures,
)
from spanwise.readers.markdown.front_matter import front_matter_end, front_matter_metadata
from spanwise.readers.markdown.notes import annotated, comment_ranges, may_hold_marks, tags_in, wiki_link
from spanwise.text.markdown_events import markdown_events
from spanwise.text.plain import kept_in
from spanwise.text.visible import without_note_marks

KINDS: Final = {
    "Paragraph": "paragraph", "HtmlBlock": "html", "List": "list", "Table": "table", "Heading": "heading",
    "CodeBlock": "code", "BlockQuote": "quote", "FootnoteDefinition": "paragraph", "Rule": "rule",
    "Comment": "comment",
}  # fmt: skip
SHAPES: Final = (FoundBlock, Part)
_ANCHORED: Final = re.compile(r"\{#[^{}`]*\}[ \t]*#*[ \t]*(?:\n[=-]+)?\Z")  # in the source, where code has backticks
_ANCHOR: Final = re.compile(r"\s*\{#[^{}]*\}\Z")
_PLAIN_TITLE: Final = re.compile(r"[^\s=%^{]+(?: [^\s=%^{]+)*")  # needs no further processing, like most titles
_IN_LINE: Final = re.compile(r"[^\n]")  # to the parser, white space that Python knows may be text
_OPAQUE: Final = re.compile(r"<(?:pre|script|style|textarea)\b", re.IGNORECASE)


def read_markdown(text: str) -> ReadResult:
    """Read Markdown text."""
    builder = Builder(text)
    extras = add_markdown(builder, text)
    blocks = annotated(extras.prose, builder.blocks) if extras.marked or extras.callouts_hinted else builder.blocks
    found = found_in(text, blocks, extras)
    return ReadResult(text, tuple(blocks), found, link_starts=tuple(extras.link_starts), kept=extras.kept)


def found_in(text: str, blocks: Sequence[Block], extras: Extras) -> dict[str, Any]:
    """Return the metadata of a Markdown text: front matter, the title else from the first heading, links, labels."""
    found = front_matter_metadata(text, blocks[0].end) if blocks and blocks[0].kind == "front_matter" else {}
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
    """What was found besides blocks: links, their positions, and the text with code blanked if it is `marked`.

    With `callouts_hinted` there may be callouts. `kept` is what a page shows, if no comment was blanked.
    """

    links: list[Link]
    link_starts: list[int]
    prose: str
    marked: bool
    callouts_hinted: bool = True
    kept: Kept | None = None


def add_markdown(builder: Builder, text: str, *, at_start: bool = True) -> Extras:
    """Add the blocks and return what else was found; only text `at_start` of a document may have front matter."""
    body_start = front_matter_end(text) if at_start else 0
    if body_start:
        builder.add("front_matter", 0, body_start)
    wiki, callouts_hinted, commented, tags_hinted, ids_hinted, figured = hints(text)
    comments = _comments(text, body_start) if commented else []
    marked = (tags_hinted or ids_hinted) and may_hold_marks(text)
    parsed = _blanked(text, comments)
    rows, links, codes, tags, kept = _walked(parsed, body_start, wiki=wiki, tagged=figured, coded=marked)
    blocks = [_titled(parsed, row) if row.level and not _PLAIN_TITLE.fullmatch(row.title) else row for row in rows]
    if figured:
        blocks = with_figures(text, blocks, _figures(text, blocks, tags))
    builder.add_all(_with_comments(blocks, comments))
    builder.finish()
    named = [one for one in map(_link, links) if one[0][0] or one[0][2] or one[0][3] or one[0][1].strip()]
    if not (callouts_hinted or ids_hinted):  # then only the sign of a tag in code, or right after it, matters
        codes = [span for span in codes if "#" in text[span[0] : span[1] + 1]]
    prose = _blanked(text, sorted(codes))
    kept = kept if parsed is text else None
    return Extras([link for link, _ in named], [start for _, start in named], prose, marked, callouts_hinted, kept)


def _comments(text: str, body_start: int) -> list[tuple[int, int]]:
    """Return the ranges of note comments outside code."""
    found = [span for span in comment_ranges(text) if span[0] >= body_start]
    if not found:
        return []
    code = [(start, end) for kind, start, end, *_ in _walked(text, body_start, wiki="[[" in text)[0] if kind == "code"]
    starts = [start for start, _ in code]
    return [span for span in found if not _is_inside(span[0], starts, code)]


def _is_inside(position: int, starts: list[int], ranges: list[tuple[int, int]]) -> bool:
    before = bisect_right(starts, position) - 1
    return before >= 0 and position < ranges[before][1]


def _blanked(text: str, ranges: list[tuple[int, int]]) -> str:
    """Replace ranges with spaces: the parser ignores them, and all positions stay the same."""
    if not ranges:
        return text
    pieces, reached = list[str](), 0
    for start, end in ranges:
        pieces += [text[reached:start], _IN_LINE.sub(" ", text[start:end])]
        reached = end
    return "".join([*pieces, text[reached:]])


def _with_comments(blocks: list[FoundBlock], comments: list[tuple[int, int]]) -> list[FoundBlock]:
    """Return the blocks and comments in order; a comment inside a block stays part of its text."""
    if not comments:
        return blocks
    ranges = [(block.start, block.end) for block in blocks]
    starts = [block.start for block in blocks]
    alone = [FoundBlock("comment", *span) for span in comments if not _is_inside(span[0], starts, ranges)]
    return sorted([*blocks, *alone], key=lambda block: block.start)


def _walked(
    text: str, body_start: int, *, wiki: bool, tagged: bool = False, coded: bool = False
) -> tuple[list[FoundBlock], list[FoundLink], list[Range], list[Range], Kept | None]:
    """Parse a text with front matter up to `body_start`, and return its blocks, links, code and tags.

    The last is what a page shows.
    """
    parsed, events = markdown_events(text, body_start, wiki=wiki)
    rows, links, codes, tags, kept = walk(parsed, events, KINDS, SHAPES, tagged, coded, wiki and "![[" in text, True)
    return rows, links, codes, tags, kept and kept_in(text, body_start, parsed, kept)


def _titled(text: str, heading: FoundBlock) -> FoundBlock:
    """Return a heading with its title as rendered."""
    kind, start, end, level, title, _ = heading
    return FoundBlock(kind, start, end, level, _title(title, text[start:end]))


def _link(found: FoundLink) -> tuple[Link, int]:
    target, texts, wiki, start = found
    return wiki_link(target, "".join(texts)) if wiki else Link(target, "".join(texts)), start


def _title(title: str, text: str) -> str:
    if ("==" in title or "%%" in title or "^" in title) and "`" not in text:  # in code they are literal
        title = without_note_marks(title)
    title = " ".join(title.split())
    return _ANCHOR.sub("", title) if "{#" in text and _ANCHORED.search(text) else title


def _figures(text: str, blocks: list[FoundBlock], ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the figures in paragraphs and HTML, but not in code, comments, lists, tables or quotes."""
    tags = [Tag(start, end, text[start + 1] != "/") for start, end in ranges if FIGURE_TAG.fullmatch(text, start, end)]
    for block in blocks:
        if block.kind == "html" and not _OPAQUE.match(text, block.start):
            tags += figure_tags(text, block.start, block.end)
    return figure_ranges(sorted(tags))
