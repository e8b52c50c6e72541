"""From what a reader saw to blocks: figures carved out, gaps filled, headings turned into paths.

Every reader ends here, so that the promises of a document (each visible character in exactly one block, a path for
every block) are kept in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from spanwise.cuts import trimmed
from spanwise.documents import Block, LeftOut, Page, Part
from spanwise.spans import without

FIGURE_TAG: Final = re.compile(r"<!--|<figure\b[^<>]*>|</figure\s*>", re.IGNORECASE)
_FIGURE_HINT: Final = re.compile(r"<[fF][iI][gG][uU]")


class Seen(NamedTuple):
    """A block as a reader saw it, before its place among headings and pages is known."""

    kind: str
    start: int
    end: int
    level: int | None = None
    title: str = ""
    parts: tuple[Part, ...] = ()
    page: int | None = None


class Reading(NamedTuple):
    """What a reader gives back: the text, its blocks, and what it learned on the way."""

    text: str
    blocks: tuple[Block, ...]
    found: Mapping[str, Any]
    pages: tuple[Page, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class Tag(NamedTuple):
    """A `<figure>` or `</figure>` and where it stands."""

    start: int
    end: int
    opens: bool


def may_hold_figures(text: str) -> bool:
    """Whether a search for figures can find any; most texts have none."""
    return _FIGURE_HINT.search(text) is not None


def figure_tags(text: str, start: int, end: int) -> Iterator[Tag]:
    """Find the figure tags in a stretch of HTML or plain text, leaving HTML comments aside."""
    while found := FIGURE_TAG.search(text, start, end):
        start = found.end()
        if found[0] == "<!--":
            closing = text.find("-->", start, end)
            start = end if closing < 0 else closing + 3
        else:
            yield Tag(found.start(), found.end(), found[0][1] != "/")


def figure_ranges(tags: Iterable[Tag]) -> list[tuple[int, int]]:
    """Pair the tags; of nested figures the outermost counts, an unclosed one is plain text."""
    opened: list[int] = []
    ranges: list[tuple[int, int]] = []
    for tag in tags:
        if tag.opens:
            opened.append(tag.start)
        elif opened:
            start = opened.pop()
            while ranges and ranges[-1][0] > start:
                ranges.pop()
            ranges.append((start, tag.end))
    return ranges


def with_figures(text: str, seen: list[Seen], figures: list[tuple[int, int]]) -> list[Seen]:
    """Give each figure a block of its own; what stood around it in a block stays as that block's kind."""
    if not figures:
        return seen
    carved = [Seen("figure", start, end) for start, end in figures]
    for block in seen:
        pieces = without(figures, block.start, block.end)
        if pieces == [(block.start, block.end)]:
            carved.append(block)
            continue
        ranges = (trimmed(text, *piece) for piece in pieces)
        carved += [Seen(block.kind, *piece, block.level, block.title) for piece in ranges if piece]
    return sorted(carved, key=lambda block: block.start)


def with_gaps_filled(text: str, seen: list[Seen]) -> list[Seen]:
    """Give visible text between blocks a block: link reference definitions leave no other trace."""
    filled: list[Seen] = []
    reached = 0
    for block in seen:
        if block.start > reached and (gap := trimmed(text, reached, block.start)):
            filled.append(_gap(text, *gap))
        filled.append(block)
        reached = block.end
    if gap := trimmed(text, reached, len(text)):
        filled.append(_gap(text, *gap))
    return filled


def blocks_of(seen: Iterable[Seen]) -> tuple[Block, ...]:
    """Turn what was seen into blocks, each with the path of headings above it."""
    blocks: list[Block] = []
    open_headings: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for kind, start, end, level, title, parts, page in seen:
        if level is not None:
            while open_headings and open_headings[-1][0] >= level:
                open_headings.pop()
            open_headings.append((level, title))
            path = tuple(name for _, name in open_headings if name)  # an empty heading has no name to give
        blocks.append(Block(kind, start, end, path, level, page, parts))
    return tuple(blocks)


def _gap(text: str, start: int, end: int) -> Seen:
    return Seen("definition" if text.startswith("[", start) else "paragraph", start, end)
