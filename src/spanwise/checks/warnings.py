"""Warnings, which are no violations: short chunks, empty sections, uneven sizes, near-duplicates."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from heapq import nsmallest
from statistics import median
from typing import Any, Final
from zlib import crc32

from spanwise.checks.findings import Finding
from spanwise.documents.document import Document

_SHINGLE: Final = 4  # words
_SKETCH: Final = 12  # smallest hashes kept of a text
_ALIKE: Final = 10  # hashes that near-duplicates share at least
_KEYS: Final = 3  # smallest hashes that a sketch is looked up by
_UNEVEN: Final = 20  # times the median


class WarningCollector:
    """The warnings over all chunks; a few numbers are kept of each, so a million chunks take little memory."""

    def __init__(self, noun: str = "chunk") -> None:
        """Start with no chunks; `noun` is what the messages call one."""
        self._noun = noun
        self._sizes = array("l")
        self._short = 0
        self._shorter_than = 0
        self._owners: dict[int, int] = {}  # hash: index of the first sketch that has it
        self._sketches = array("I")
        self._lines = array("l")

    def add(self, line: int, text: str, tokens: int, least: int) -> Iterator[Finding]:
        """Add a chunk, and yield a warning if an earlier one has nearly the same text."""
        self._sizes.append(tokens)
        if tokens < least:
            self._short += 1
            self._shorter_than = max(self._shorter_than, least)
        sketch = _sketch(text)
        if len(sketch) < _SKETCH:
            return
        owner = next((self._owners[value] for value in sketch[:_KEYS] if value in self._owners), None)
        if owner is not None:
            known = self._sketches[owner * _SKETCH : (owner + 1) * _SKETCH]
            if len({*known} & {*sketch}) >= _ALIKE:
                reason = f"says nearly the same as the {self._noun} in line {self._lines[owner]}"
                yield Finding("warning", "near-duplicate", reason)
        for value in sketch[:_KEYS]:
            self._owners.setdefault(value, len(self._lines))
        self._sketches.extend(sketch)
        self._lines.append(line)

    def summary(self) -> Iterator[Finding]:
        """Yield the warnings that are known only after the last chunk."""
        if self._short:
            share = self._short / len(self._sizes)
            number = f"{self._short:,} of {len(self._sizes):,} {self._noun}s ({share:.0%})"
            yield Finding("warning", "short", f"{number} have fewer than {self._shorter_than} tokens")
        if len(self._sizes) > 1:
            middle, largest = median(self._sizes), max(self._sizes)
            if largest > _UNEVEN * max(middle, 1):
                reason = f"the largest {self._noun} has {largest:,} tokens, the median {middle:,.0f}"
                yield Finding("warning", "uneven", reason)


def _sketch(text: str) -> list[int]:
    """Return the smallest hashes of a text's shingles: two texts that share most of them are nearly the same."""
    words = text.casefold().split()
    if len(words) * 16 < len(text):  # written without spaces, as Chinese is
        words = list("".join(words))
    encoded = [word.encode("utf-8", "replace") for word in words]
    shingles = {crc32(b" ".join(encoded[at : at + _SHINGLE])) for at in range(len(encoded) - _SHINGLE + 1)}
    return nsmallest(_SKETCH, shingles)


def empty_sections(document: Document) -> list[str]:
    """Return the headings that have nothing under them, neither text nor a deeper heading."""
    empty: list[str] = []
    open_heading: Any = None
    for block in document.blocks:
        if block.kind == "heading":
            if open_heading and (block.level or 0) <= (open_heading.level or 0):
                empty.append(" › ".join(open_heading.headings_path))
            open_heading = block
        elif block.kind not in {"front_matter", "comment", "definition", "rule"}:
            open_heading = None
    if open_heading:
        empty.append(" › ".join(open_heading.headings_path))
    return empty
