"""Strategies that cut after so many lines, and at a share of the text."""

from __future__ import annotations

from collections.abc import Iterator

import spanwise


class ByLinesOptions(spanwise.Options):
    """The options of `by-lines`."""

    lines: int = spanwise.option(3, "lines of a chunk", low=1)
    headings: bool = spanwise.option(False, "whether headings are in the chunks")
    max_tokens: int = spanwise.option(200, "hard limit of a chunk, everything counted", low=16)


class ByLines:
    """Cut after every few lines, wherever that is."""

    name = "by-lines"
    options = ByLinesOptions

    def plan(self, task: spanwise.ChunkingTask) -> Iterator[tuple[int, int]]:
        """Return the lines, a few together."""
        lines = task.text.splitlines(keepends=True)
        start = 0
        for first in range(0, len(lines), task.options.lines):
            end = start + sum(map(len, lines[first : first + task.options.lines]))
            yield start, end
            start = end


class ByShareOptions(spanwise.Options):
    """The options of `by-share`; `max_chars` of built-in strategies is an integer."""

    max_chars: float = spanwise.option(0.5, "share of the text in a chunk", low=0.01, high=1.0)
    overlap_ratio: str = spanwise.option("none", "not used", choices=("none", "some"))


class ByShare(spanwise.Strategy):
    """Cut at a share of the text."""

    name = "by-share"
    options = ByShareOptions
    leaves_out = frozenset({"heading"})

    def plan(self, task: spanwise.ChunkingTask) -> list[spanwise.Span]:
        """Return ranges of about the same size."""
        size = max(int(len(task.text) * task.options.max_chars), 1)
        ends = [*range(size, len(task.text), size), len(task.text)]
        return [spanwise.Span(start, end) for start, end in zip([0, *ends], ends, strict=False) if start < end]
