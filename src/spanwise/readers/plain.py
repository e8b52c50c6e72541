"""Plain text: paragraphs between blank lines, and figures."""

from __future__ import annotations

import re
from typing import Final

from spanwise.cuts import trimmed
from spanwise.readers.blocks import (
    Builder,
    Reading,
    Seen,
    figure_ranges,
    figure_tags,
    may_hold_figures,
    with_figures,
)
from spanwise.spans import between

BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


def read_plain(text: str) -> Reading:
    """Read a text that has no markup."""
    builder = Builder(text)
    add_plain(builder, text)
    return Reading(text, tuple(builder.blocks), {})


def add_plain(builder: Builder, text: str) -> None:
    """Add the paragraphs and figures."""
    cuts = [found.end() for found in BLANK_LINES.finditer(text)]
    ranges = (trimmed(text, start, end) for start, end in between(cuts, 0, len(text)))
    seen = [Seen("paragraph", *span) for span in ranges if span]
    if may_hold_figures(text):
        seen = with_figures(text, seen, figure_ranges(figure_tags(text, 0, len(text))))
    builder.add_all(seen)
