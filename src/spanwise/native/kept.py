"""What a page shows of Markdown, as ranges of its bytes, collected from the events of the parser."""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterable
from typing import Any, Final

Kept = tuple[bytes, list[tuple[int, int, str]], list[tuple[int, int, str]]]
"""Ranges that are shown; those shown as another text; HTML and references that `html_ranges` has to look at."""

_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)|<br\b[^<>]*>|</?[A-Za-z][^<>]*>|&#?\w{1,32};",
    re.DOTALL | re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<br\b", re.IGNORECASE)
_ODD: Final = re.compile(
    r"&#?\w*[^\x00-\x7F]|</?\w*[^\x00-\x7F]|<(?:script|style|template)\b", re.ASCII | re.IGNORECASE
)
_NUMBER: Final = re.compile(rb"\d{1,9}[.)]")


def kept_ranges(text: str, events: Iterable[tuple[Any, Any]]) -> Kept:
    """Return what a page shows of a text, by the events of the parser.

    Ranges are pairs of 64-bit integers: a start and an end in bytes, or the complement of the end for code. A range
    that is shown as another text is listed with it as well. References are left to the caller, and HTML that may hold
    names of elements or references that aren't ASCII, or an element that hides its text.
    """
    collector = Collector(text)
    for event, where in events:
        name, value = (event, None) if event.__class__ is str else next(iter(event.items()))
        collector.take(name, value, where["start"], where["end"])
    return collector.found


class Collector:
    """Collects what is shown from one event after the other."""

    def __init__(self, text: str) -> None:
        """Begin before the first event."""
        self._raw = text.encode()
        self._ranges = array("q")
        self._changed: list[tuple[int, int, str]] = []
        self._tags: list[tuple[int, int, str]] = []
        self._ordered: list[bool] = []  # the lists that are open
        self._in_code, self._reached = False, 0

    @property
    def found(self) -> Kept:
        """What was collected."""
        return self._ranges.tobytes(), self._changed, self._tags

    def take(self, name: str, value: Any, start: int, end: int) -> None:
        """Take the next event; one without a value is a break, which is white space, or a rule."""
        if value is None:
            return
        if name == "Text":
            self._ranges.extend((start, ~end if self._in_code else end))
            if not self._in_code and value.encode() != self._raw[start:end]:
                self._changed.append((start, end, value))
        elif name == "Code":
            self._code(start, end, "\\|" not in value)
        elif name in {"Html", "InlineHtml"}:
            if _ODD.search(value):
                self._tags.append((start, start, value))
            else:
                self._html(value, start)
        elif name in {"Start", "End"}:
            tag, inner = (value, None) if value.__class__ is str else next(iter(value.items()))
            (self._open if name == "Start" else self._close)(tag, inner, start, end)

    def _html(self, value: str, start: int) -> None:
        """Add what is shown of HTML, with the references in it as they are written."""
        shown, changed = html_ranges(value, start)
        self._ranges.extend(shown)
        for low, high, instead in changed:
            source = value.encode()[low - start : high - start].decode()
            if source.startswith("&"):
                self._tags.append((low, high, source))
            else:
                self._changed.append((low, high, instead))

    def _open(self, tag: str, inner: Any, start: int, end: int) -> None:
        if tag == "CodeBlock":
            self._in_code = True
        elif tag == "List":
            self._ordered.append(inner is not None)
        elif tag == "Item" and self._ordered and self._ordered[-1] and (number := _NUMBER.match(self._raw, start)):
            self._ranges.extend((start, number.end()))
        elif tag in {"TableHead", "TableRow"}:
            self._reached = start
        elif tag == "TableCell":
            self._bars(self._reached, start)
            self._reached = end

    def _close(self, tag: str, _: Any, _start: int, end: int) -> None:
        if tag == "CodeBlock":
            self._in_code = False
        elif tag == "List":
            del self._ordered[-1:]
        elif tag in {"TableHead", "TableRow"}:
            self._bars(self._reached, end)

    def _bars(self, start: int, end: int) -> None:
        """Add the bars between cells."""
        at = self._raw.find(b"|", start, end)
        while at >= 0:
            self._ranges.extend((at, at + 1))
            at = self._raw.find(b"|", at + 1, end)

    def _code(self, start: int, end: int, in_table: bool) -> None:
        """Add the inside of a code span; a bar that is escaped for a table loses its backslash."""
        whole = self._raw[start:end]
        ticks = len(whole) - len(whole.lstrip(b"`"))
        low, high = start + ticks, end - ticks
        inside = self._raw[low:high] if low < high else b""
        if inside[:1] == inside[-1:] == b" " and inside.strip():
            self._ranges.extend((low, low + 1, high - 1, high))
            self._changed += [(low, low + 1, ""), (high - 1, high, "")]
            low, high = low + 1, high - 1
        while in_table and (bar := self._raw.find(b"\\|", low, max(low, high))) >= 0:
            self._ranges.extend((low, ~bar))
            low = bar + 1
        self._ranges.extend((low, ~high))


def html_ranges(tags: str, start: int) -> tuple[list[int], list[tuple[int, int, str]]]:
    """Return what a browser shows of HTML that starts at a byte: starts and ends in turn, and what is shown otherwise.

    The text between tags is shown, a space for a line break, and references as characters.
    """
    ranges, changed, at, reached = list[int](), list[tuple[int, int, str]](), 0, start
    for match in _HIDDEN.finditer(tags):
        low = reached + len(tags[at : match.start()].encode())
        ranges += reached, low
        at, found = match.end(), match.group()
        reached = low + len(found.encode())
        if _BREAK.match(found) or found.startswith("&"):
            ranges += low, reached
            changed.append((low, reached, html.unescape(found) if found.startswith("&") else " "))
    ranges += reached, reached + len(tags[at:].encode())
    return ranges, changed
