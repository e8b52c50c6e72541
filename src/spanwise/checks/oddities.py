"""What is no violation but worth a look: short chunks, empty sections, uneven sizes, near-duplicates."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from statistics import median
from typing import Any, Final
from zlib import crc32

from spanwise.checks.findings import Finding
from spanwise.documents import Document

_SHINGLE: Final = 4  # words
_SKETCH: Final = 12  # smallest hashes that are kept of a text
_ALIKE: Final = 10  # of them in common
_WORDS: Final = 16  # a text of fewer words is too short to be told apart
_UNEVEN: Final = 20  # times the median


class Oddities:
    """Looks at every text that goes by, and keeps a few numbers of each."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._sizes = array("l")
        self._short = 0
        self._shorter_than = 0
        self._owners: dict[int, int] = {}
        self._sketches: list[frozenset[int]] = []
        self._names: list[tuple[str, str | None]] = []

    def look(self, chunk: str, document: str | None, text: str, tokens: int, least: int) -> Iterator[Finding]:
        """Take in a chunk, and say whether one that came before says nearly the same."""
        self._sizes.append(tokens)
        if tokens < least:
            self._short += 1
            self._shorter_than = max(self._shorter_than, least)
        sketch = _sketch(text)
        if not sketch:
            return
        for value in sorted(sketch)[:4]:
            owner = self._owners.get(value)
            if owner is not None and len(self._sketches[owner] & sketch) >= _ALIKE:
                name, home = self._names[owner]
                where = f" of {home}" if home and home != document else ""
                yield Finding("warning", "near-duplicate", f"says nearly the same as {name}{where}", chunk, document)
                break
        self._sketches.append(sketch)
        self._names.append((chunk, document))
        for value in sorted(sketch)[:4]:
            self._owners.setdefault(value, len(self._sketches) - 1)

    def summary(self) -> Iterator[Finding]:
        """Say what only shows at the end."""
        if self._short:
            share = self._short / len(self._sizes)
            number = f"{self._short:,} of {len(self._sizes):,} chunks ({share:.0%})"
            yield Finding("warning", "short", f"{number} have fewer than {self._shorter_than} tokens")
        if len(self._sizes) > 1:
            middle, largest = median(self._sizes), max(self._sizes)
            if largest > _UNEVEN * max(middle, 1):
                reason = f"the largest chunk has {largest:,} tokens, the median {middle:,.0f}"
                yield Finding("warning", "uneven", reason)


def _sketch(text: str) -> frozenset[int]:
    """Keep the smallest hashes of a text's shingles: two texts that share most of them say nearly the same."""
    words = text.casefold().split()
    if len(words) < _WORDS:
        return frozenset()
    encoded = [word.encode("utf-8", "replace") for word in words]
    shingles = {crc32(b" ".join(encoded[at : at + _SHINGLE])) for at in range(len(encoded) - _SHINGLE + 1)}
    return frozenset(sorted(shingles)[:_SKETCH])


def empty_sections(document: Document) -> list[str]:
    """Name the headings that have nothing under them, neither text nor a deeper heading."""
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
