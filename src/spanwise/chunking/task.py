"""ChunkingTask: one document to be chunked one way."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import Any, Final, TypeVar

from spanwise.chunking.packing import Range
from spanwise.chunking.template import Template
from spanwise.documents.document import LEFT_OUT_KINDS, Document, describing_block, is_described_by_next
from spanwise.errors import OptionError
from spanwise.native import LARGEST
from spanwise.text.cuts import trimmed
from spanwise.text.languages import document_language, paragraph_language, stated_language
from spanwise.text.plain import PlainText, plain_text_of
from spanwise.text.tokens import NEAR, TokenMap

T = TypeVar("T")
_START: Final = attrgetter("start")


class ChunkingTask:
    """One document to be chunked one way: its text, tokens and options, and what every step derives from them."""

    def __init__(
        self,
        document: Document,
        tokens: TokenMap,
        options: Any,
        leaves_out: frozenset[str] = frozenset(),
        *,
        described_by_first: bool = False,
    ) -> None:
        """Raise OptionError if the tokens that the embedder adds take more than half of the limit."""
        self.described_by_first = described_by_first
        self.document = document
        self.left_out = LEFT_OUT_KINDS | leaves_out  # kinds of blocks that are no content here
        self.text = document.text
        self.tokens = tokens
        self.options = options
        self.no_prefix: bool = options.template == "plain"  # the template puts nothing before the text
        self.is_embedded_plain: bool = options.embed == "plain"
        self.limit: int = min(sys.maxsize if options.max_tokens is None else options.max_tokens, sys.maxsize)
        self.added: int = tokens.tokenizer.added
        if self.added * 2 > self.limit:
            rule = f"must be at least twice the {self.added} tokens that the embedder adds"
            raise OptionError("max_tokens", rule, value=self.limit, hint=f"try {self.added * 4 + 16}")
        self.joint: int = min(tokens.tokenizer.count("\n\n") - self.added, LARGEST)
        self._memo: dict[Callable[[ChunkingTask], Any], Any] = {}

    def once(self, make: Callable[[ChunkingTask], T]) -> T:
        """Return `make(task)`, computed on the first call only."""
        if make not in self._memo:
            self._memo[make] = make(self)
        found: T = self._memo[make]
        return found

    @cached_property
    def _template(self) -> Template:
        template = Template(self.options, self.document.metadata.title, self.tokens.tokenizer, self.limit)
        paths = [(), *{block[3]: None for block in self.document.blocks if block[0] == "heading"}]
        template.count_at_once([path for path in paths if path or self.document.metadata.title])
        return template

    @property
    def prefixes(self) -> Mapping[tuple[str, ...], tuple[str, int]] | None:
        """What is known to stand before the chunks under some headings, with its tokens; None without a template."""
        return None if self.no_prefix else self._template.known

    @cached_property
    def plain(self) -> PlainText:
        """The document as a page shows it."""
        return plain_text_of(self.document)

    @cached_property
    def shown(self) -> TokenMap | None:
        """The tokens of the document as a page shows it; None where its chunks have to be counted by themselves."""
        text = self.plain.shown
        return None if text is None or self.tokens.tokenizer.seam is None else self.tokens.of(text)

    def within(self, limit: int) -> ChunkingTask:
        """Return the same task under another limit."""
        options, by_first = replace(self.options, max_tokens=limit), self.described_by_first
        return ChunkingTask(self.document, self.tokens, options, self.left_out, described_by_first=by_first)

    @cached_property
    def language(self) -> str:
        """The language of the document."""
        return document_language(self.document)

    def language_at(self, position: int) -> str:
        """Return the language of the paragraph, item or row at a position: the stated one, else guessed by itself."""
        if self._stated:
            return self.language
        block = self.document.blocks[block_at(self.document, position)]
        unit = block.parts[max(bisect_right(block.parts, position, key=_START) - 1, 0)] if block.parts else block
        known = self._languages
        if unit.start not in known:
            known[unit.start] = paragraph_language(
                self.text[unit.start : min(unit.end, unit.start + 1000)], self.language
            )
        return known[unit.start]

    @cached_property
    def _stated(self) -> bool:
        return stated_language(self.document) is not None

    @cached_property
    def _languages(self) -> dict[int, str]:
        """The languages that were guessed so far, by where their text starts."""
        return {}

    @cached_property
    def excluded(self) -> list[Range]:
        """The ranges that are never content."""
        return [(block.start, block.end) for block in self.document.blocks if block.kind in self.left_out]

    @cached_property
    def _excluded_starts(self) -> list[int]:
        return [start for start, _ in self.excluded]

    @cached_property
    def _excluded_tokens(self) -> list[int]:
        """The tokens of the excluded ranges, added up from the first."""
        return list(accumulate((self.tokens.count(*one) for one in self.excluded), initial=0))

    def prefix(self, block: int, last: int | None = None) -> tuple[str, int]:
        """Return what the template puts before a chunk from one block to another, and its tokens.

        Without `last` the chunk is taken to go on beyond the headings that it starts with.
        """
        if self.no_prefix:
            return "", 0
        blocks = self.document.blocks
        if not self.described_by_first and is_described_by_next(blocks[block]):
            block = self._described[block] if last is None else describing_block(blocks, block, last)
        return self._template.prefix(blocks[block].headings_path)

    def prefixes_of(self, spans: Iterable[tuple[int, int]]) -> list[tuple[str, int]]:
        """Return `prefix` of many ranges of blocks, from the first of each to its last."""
        blocks, known, found = self.document.blocks, self._template.known, list[tuple[str, int]]()
        for first, last in spans:
            block = blocks[first]
            if first < last and not self.described_by_first and is_described_by_next(block):
                found.append(self.prefix(first, last))
            else:
                found.append(known.get(block[3]) or self._template.prefix(block[3]))
        return found

    @cached_property
    def _described(self) -> list[int]:
        """For each block the one whose headings a chunk has that starts with it."""
        blocks = self.document.blocks
        described = list(range(len(blocks)))
        for index in range(len(blocks) - 2, -1, -1):
            if is_described_by_next(blocks[index]):
                described[index] = described[index + 1]
        return described

    def prefix_tokens(self, prefix: str) -> int:
        """Return the tokens of a prefix, counted once."""
        return self._template.tokens(prefix)

    def room(self, block: int) -> int:
        """Return how many tokens are left for context and core of a chunk that starts with this block."""
        return self.limit - self.added - self.prefix(block)[1]

    def has_excluded(self, start: int, end: int) -> bool:
        """Whether a range contains something that is never content."""
        starts = self._excluded_starts
        return bool(starts) and bisect_left(starts, end) > bisect_left(starts, start)

    def content_tokens(self, start: int, end: int) -> int:
        """Return the tokens of a range by subtraction, without what is never content."""
        size = self.tokens.count(start, end)
        starts = self._excluded_starts
        if not starts:
            return size
        sums = self._excluded_tokens
        return size - sums[bisect_left(starts, end)] + sums[bisect_left(starts, start)]

    def core_fits(self, start: int, end: int, guess: int, limit: int) -> bool:
        """Whether a core fits that is guessed to have so many tokens; counted exactly when it is close."""
        if guess + NEAR <= limit:
            return True
        if guess - NEAR > limit:
            return False
        if not self.has_excluded(start, end):
            return self.tokens.exact(start, end) <= limit
        pieces = "\n\n".join(self.text[low:high] for low, high in self.core_ranges(start, end))
        return self.tokens.tokenizer.count(pieces) - self.added <= limit

    def core_ranges(self, start: int, end: int) -> list[Range]:
        """Return a range without what is never content, each piece trimmed but for the outer edges."""
        excluded = self.excluded
        if not excluded:
            return [(start, end)]
        low = bisect_left(excluded, (start,))
        low = low - 1 if low and excluded[low - 1][1] > start else low
        high = bisect_left(excluded, (end,))
        ranges, position = [], start
        for low_end, high_end in excluded[low:high]:
            if low_end > position and (piece := self._trimmed(position, low_end)):
                ranges.append((start if position == start else piece[0], piece[1]))
            position = max(position, high_end)
        if not ranges and position == start:
            return [(start, end)]
        if position < end and (piece := self._trimmed(position, end)):
            ranges.append(piece)
        return ranges

    def _trimmed(self, start: int, end: int) -> Range | None:
        """Trim white space off both ends of a range, but for the indentation of code."""
        found = trimmed(self.text, start, end)
        if found:
            block = self.document.blocks[block_at(self.document, found[0])]
            if block.kind == "code" and start <= block.start:
                return block.start, found[1]
        return found


def block_at(document: Document, position: int) -> int:
    """Return the index of the block that contains a position, or of the last one before it."""
    return max(bisect_right(document.block_starts, position) - 1, 0)
