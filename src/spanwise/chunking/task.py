"""Task: one document to be chunked one way, and what every step of that looks at."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from spanwise.chunking.line_window import Proposal
from spanwise.chunking.packing import Range
from spanwise.chunking.pieces import SettledChunk
from spanwise.chunking.template import Template
from spanwise.documents.document import LEFT_OUT_KINDS, Document
from spanwise.errors import OptionError
from spanwise.text.cuts import trimmed
from spanwise.text.languages import guess_language
from spanwise.text.tokens import NEAR, TokenMap

_PROSE = frozenset({"paragraph", "list", "quote", "html", "heading"})


class ChunkingTask:
    """One document to be chunked one way: what every step of it looks at."""

    def __init__(
        self, document: Document, tokens: TokenMap, options: Any, leaves_out: frozenset[str] = frozenset()
    ) -> None:
        """Refuse a limit of which the embedder's own tokens take more than half."""
        self.document = document
        self.left_out = LEFT_OUT_KINDS | leaves_out  # the kinds of blocks that are no content here
        self.text = document.text
        self.tokens = tokens
        self.options = options
        self.bare: bool = options.template == "plain"  # nothing stands before the text for the embedder
        self.limit: int = min(sys.maxsize if options.max_tokens is None else options.max_tokens, sys.maxsize)
        self.added: int = tokens.tokenizer.added
        if self.added * 2 > self.limit:
            rule = f"must be at least twice the {self.added} tokens that the embedder adds"
            raise OptionError("max_tokens", rule, value=self.limit, hint=f"try {self.added * 4 + 16}")
        self.joint: int = tokens.tokenizer.count("\n\n") - self.added
        self._language = document.metadata.language
        self.contexts: dict[int, Any] = {}  # what the parts of a block repeat, once it is known
        self.parents: Sequence[SettledChunk] = ()  # what all cores must lie in, where a strategy has two levels
        # waits for what was proposed, if anybody was asked
        self.answers: Callable[[], Sequence[Proposal]] | None = None
        self.numbered: Any = None  # the lines that somebody was shown, once they are known
        self.notes: list[tuple[int, int, str]] = []  # ranges of which the strategy has something to say, in order

    @cached_property
    def _template(self) -> Template:
        return Template(self.options, self.document.metadata.title, self.tokens.tokenizer, self.limit)

    def within(self, limit: int) -> ChunkingTask:
        """Give the same task under another limit."""
        return ChunkingTask(self.document, self.tokens, replace(self.options, max_tokens=limit), self.left_out)

    @cached_property
    def language(self) -> str:
        """The language that sentences are cut by: given, or guessed from a sample of the prose."""
        if self._language:
            return self._language.split("-")[0].lower()  # `de-AT` follows the rules of `de`
        sample, length = [], 0
        for block in self.document.blocks:
            if block.kind in _PROSE:
                sample.append(self.text[block.start : min(block.end, block.start + 4000)])
                length += len(sample[-1])
                if length > 16000:
                    break
        return guess_language("\n".join(sample))

    @cached_property
    def holes(self) -> list[Range]:
        """The ranges that are never content."""
        return [(block.start, block.end) for block in self.document.blocks if block.kind in self.left_out]

    @cached_property
    def _hole_starts(self) -> list[int]:
        return [start for start, _ in self.holes]

    @cached_property
    def _hole_tokens(self) -> list[int]:
        """The tokens of the holes, added up from the first."""
        return list(accumulate((self.tokens.count(*hole) for hole in self.holes), initial=0))

    def prefix(self, block: int) -> tuple[str, int]:
        """Give what the template puts before a chunk that starts with this block, and its tokens."""
        if self.bare:
            return "", 0
        return self._template.prefix(self.document.blocks[block].headings_path)

    def prefix_tokens(self, prefix: str) -> int:
        """Give the tokens of what a template wrote, counted once."""
        return self._template.tokens(prefix)

    def room(self, block: int) -> int:
        """How many tokens are left for context and core of a chunk that starts with this block."""
        return self.limit - self.added - self.prefix(block)[1]

    def has_holes(self, start: int, end: int) -> bool:
        """Whether something inside a range is never content."""
        starts = self._hole_starts
        return bool(starts) and bisect_left(starts, end) > bisect_left(starts, start)

    def content_tokens(self, start: int, end: int) -> int:
        """Tokens of a range by subtraction, without what is never content."""
        size = self.tokens.count(start, end)
        starts = self._hole_starts
        if not starts:
            return size
        return size - self._hole_tokens[bisect_left(starts, end)] + self._hole_tokens[bisect_left(starts, start)]

    def core_fits(self, start: int, end: int, guess: int, limit: int) -> bool:
        """Whether a core fits that is guessed to have so many tokens; counted exactly when it is close."""
        if guess + NEAR <= limit:
            return True
        if guess - NEAR > limit:
            return False
        if not self.has_holes(start, end):
            return self.tokens.exact(start, end) <= limit
        pieces = "\n\n".join(self.text[low:high] for low, high in self.core_ranges(start, end))
        return self.tokens.tokenizer.count(pieces) - self.added <= limit

    def core_ranges(self, start: int, end: int) -> list[Range]:
        """Give a range without what is never content, each piece trimmed but for the outer edges."""
        holes = self.holes
        if not holes:
            return [(start, end)]
        low = bisect_left(holes, (start,))
        low = low - 1 if low and holes[low - 1][1] > start else low
        high = bisect_left(holes, (end,))
        ranges, position = [], start
        for hole in holes[low:high]:
            if hole[0] > position and (piece := trimmed(self.text, position, hole[0])):
                ranges.append((start if position == start else piece[0], piece[1]))
            position = max(position, hole[1])
        if not ranges and position == start:
            return [(start, end)]
        if position < end and (piece := trimmed(self.text, position, end)):
            ranges.append(piece)
        return ranges
