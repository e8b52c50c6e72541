"""The builder that turns what a reader finds into blocks: it fills gaps and turns headings into paths; and figures.

Every reader uses it, so the guarantees of a document (each visible character in exactly one block, a path for every
block) are enforced once.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from spanwise.documents.document import LONGEST_NAME, Block, LeftOut, Page, Part, SourceRef, VisibleText
from spanwise.documents.span import without
from spanwise.native import Kept, add_blocks, is_only_comments
from spanwise.text.cuts import trimmed

FIGURE_TAG: Final = re.compile(r"<!--|<figure(?=[\s/>])[^<>]*>|</figure\s*>", re.IGNORECASE)
"""Maximum characters of a section name: every chunk repeats it, so it must not grow with the text."""
_new: Final = tuple.__new__
_FIGURE_HINT: Final = re.compile(r"<[fF][iI][gG][uU]")


class ReadResult(NamedTuple):
    """The result of a reader: the text, its blocks, and the metadata found; `kept` is what a page shows of Markdown."""

    text: str
    blocks: tuple[Block, ...]
    metadata: Mapping[str, Any]
    pages: tuple[Page, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    link_starts: tuple[int, ...] = ()
    visible: tuple[VisibleText, ...] = ()
    kept: Kept | None = None


class FoundBlock(NamedTuple):
    """A block as a reader finds it, before its heading path is known."""

    kind: str
    start: int
    end: int
    level: int | None = None
    title: str = ""
    parts: tuple[Part, ...] = ()


class Builder:
    """A builder that takes blocks in order and sets their heading paths; positions are relative to the current page."""

    __slots__ = ("base", "blocks", "headings", "page", "path", "reached", "text")

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self.text = text
        self.base = 0
        self.page: int | None = None
        self.reached = 0
        self.headings: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def begin_page(self, number: int, text: str, base: int) -> None:
        """Continue with the text of a page that starts at `base`; call `finish` at the end of each page."""
        self.page, self.text, self.base, self.reached = number, text, base, 0

    def add(
        self,
        kind: str,
        start: int,
        end: int,
        level: int | None = None,
        title: str = "",
        parts: tuple[Part, ...] = (),
        source_ref: SourceRef | None = None,
    ) -> None:
        """Add the next block; with a `source_ref`, positions of its parts are relative to its start."""
        if source_ref:
            parts = tuple([_moved(part, start) for part in parts])
        if start > self.reached and not self.text[self.reached : start].isspace():
            self.fill(start)
        self.reached = end
        if level is not None:
            self.path = self._path_under(level, title)
        if base := self.base:
            start, end, parts = start + base, end + base, tuple([_moved(part, base) for part in parts])
        # skips Block's own checks: kinds come from a reader's table, and Document checks all ranges again
        self.blocks.append(_new(Block, (kind, start, end, self.path, level, self.page, parts, None, None, source_ref)))

    def add_all(self, blocks: list[FoundBlock]) -> None:
        """Add several blocks."""
        if self.base:
            for block in blocks:
                self.add(*block)
        else:
            add_blocks(self, blocks, Block, LONGEST_NAME)

    def leave_headings(self) -> None:
        """Let what comes next stand under no heading."""
        self.headings.clear()
        self.path = ()

    def finish(self) -> None:
        """Add a block for what is left at the end of the text or page."""
        self.fill(len(self.text))

    def fill(self, end: int) -> None:
        """Add a block for visible text up to `end`: the parser reports no event for link reference definitions."""
        if gap := trimmed(self.text, self.reached, end):
            self.reached = end
            self.add("definition" if self.text.startswith("[", gap[0]) else "paragraph", *gap)

    def _path_under(self, level: int, title: str) -> tuple[str, ...]:
        headings = self.headings
        while headings and headings[-1][0] >= level:
            headings.pop()
        headings.append((level, title[:LONGEST_NAME]))
        return tuple([name for _, name in headings if name])  # an empty heading has no name


def _moved(part: Part, by: int) -> Part:
    inner = tuple(_moved(child, by) for child in part.parts)
    return Part(part.start + by, part.end + by, inner, part.source_ref, part.header, part.block_id)


class Tag(NamedTuple):
    """A `<figure>` or `</figure>` tag and its range."""

    start: int
    end: int
    opens: bool


def may_hold_figures(text: str) -> bool:
    """Whether the text may contain figures; most texts have none."""
    return _FIGURE_HINT.search(text) is not None


def figure_tags(text: str, start: int, end: int) -> Iterator[Tag]:
    """Yield the figure tags in a range of HTML or plain text, skipping HTML comments."""
    while found := FIGURE_TAG.search(text, start, end):
        start = found.end()
        if found[0] == "<!--":
            closing = text.find("-->", start, end)
            start = end if closing < 0 else closing + 3
        else:
            yield Tag(found.start(), found.end(), found[0][1] != "/")


def figure_ranges(tags: Iterable[Tag]) -> list[tuple[int, int]]:
    """Return the ranges of paired tags; of nested figures the outermost counts, an unclosed one is plain text."""
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


def with_figures(text: str, blocks: list[FoundBlock], figures: list[tuple[int, int]]) -> list[FoundBlock]:
    """Return the blocks with figures as blocks of their own; the text around one keeps the kind of its block."""
    if not figures:
        return blocks
    carved = [FoundBlock("figure", start, end) for start, end in figures]
    starts, ends = [start for start, _ in figures], [end for _, end in figures]
    for block in blocks:
        touched = figures[bisect_right(ends, block.start) : bisect_left(starts, block.end)]
        pieces = without(touched, block.start, block.end)
        if pieces == [(block.start, block.end)]:
            carved.append(block)
            continue
        ranges = (trimmed(text, *piece) for piece in pieces)
        carved += [_carved(text, block, *piece) for piece in ranges if piece]
    return sorted(carved, key=lambda block: block.start)


def _carved(text: str, block: FoundBlock, start: int, end: int) -> FoundBlock:
    comment = block.kind == "html" and is_only_comments(text[start:end])
    return FoundBlock("comment" if comment else block.kind, start, end, block.level, block.title)
