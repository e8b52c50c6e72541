"""Texts of chunks walked along their source, for dialects whose records have no ranges."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from spanwise.checks.findings import Faults, shortened
from spanwise.documents.document import LEFT_OUT_KINDS, Document

_SHOWN: Final = 20  # characters


class TextWalk:
    """Where in a document's content the texts of its chunks have come to; white space doesn't count.

    What a strategy may leave out (`optional` kinds of blocks) may be in a text or not.
    """

    def __init__(self, document: Document, optional: Set[str]) -> None:
        """Start before the first chunk."""
        texts, flags = list[str](), bytearray()
        for block in document.blocks:
            if block.kind not in LEFT_OUT_KINDS:
                texts.append("".join(document.text[block.start : block.end].split()))
                flags += bytes([block.kind in optional]) * len(texts[-1])
        self._content, self._optional, self._reached = "".join(texts), flags, 0

    def faults(self, text: str) -> Faults:
        """Check that a text goes on where the one before ended, be it with overlap or a repeated heading before it."""
        own = "".join(text.split())
        if self._goes_on(own):
            return
        for line_end in [index for index, character in enumerate(text[:2000]) if character == "\n"][:4]:
            head = "".join(text[:line_end].split())  # what is repeated above a part: a heading, a table's head, a fence
            if head in self._content[: self._reached] and self._goes_on("".join(text[line_end:].split())):
                return
        later = self._content.find(own, self._reached)
        if later >= 0:
            missing = self._content[self._reached : later]
            self._reached = later + len(own)
            yield "lost", f"between this chunk and the one before, the source says {shortened(missing, _SHOWN)}"
        elif own in self._content:
            yield "twice", f"nothing in it is new: {shortened(text, _SHOWN)}"
        else:
            yield "provenance", f"the source doesn't say this: {shortened(text)}"

    def _goes_on(self, own: str) -> bool:
        """Whether a text begins at or before the place that was reached, and goes on beyond; then that is reached."""
        reached, size = self._reached, len(own)
        found = self._content.rfind(own, max(reached - size + 1, 0), reached + size)
        if found < 0:
            found = self._content.find(own, reached)
            if found < 0 or not all(self._optional[reached:found]):
                return False
        self._reached = found + size
        return True

    def rest(self) -> str:
        """Return the beginning of what no chunk has reached; "" if that is nothing."""
        left = self._optional.find(0, self._reached)
        return shortened(self._content[left : left + _SHOWN], _SHOWN) if left >= 0 else ""
