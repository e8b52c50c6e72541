"""The reader of plain text: paragraphs between blank lines, and figures."""

from __future__ import annotations

import re
from typing import Final

from spanwise.readers.builder import (
    Builder,
    FoundBlock,
    ReadResult,
    figure_ranges,
    figure_tags,
    may_hold_figures,
    with_figures,
)
from spanwise.text.cuts import trimmed

BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


def read_plain(text: str) -> ReadResult:
    """Read a text without markup."""
    builder = Builder(text)
    add_plain(builder, text)
    return ReadResult(text, tuple(builder.blocks), {})


def add_plain(builder: Builder, text: str) -> None:
    """Add the paragraphs and figures of a text to a builder."""
    blocks = [FoundBlock("paragraph", *span) for span in _paragraphs(text)]
    if may_hold_figures(text):
        blocks = with_figures(text, blocks, figure_ranges(figure_tags(text, 0, len(text))))
    builder.add_all(blocks)


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the trimmed ranges between blank lines."""
    ranges, start = list[tuple[int, int]](), 0
    for end, after in [*[found.span() for found in BLANK_LINES.finditer(text)], (len(text), len(text))]:
        if start < end and not text[start].isspace() and not text[end - 1].isspace():  # nearly always
            ranges.append((start, end))
        elif span := trimmed(text, start, end):
            ranges.append(span)
        start = after
    return ranges
