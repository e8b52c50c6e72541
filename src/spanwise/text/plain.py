"""Plain text: Markdown as a page shows it, by taking characters out of it.

What is taken out is found once for a text, as ranges. So the plain text of any range of it is a few slices, and every
character of it is one of the source, apart from character references and a space for `<br>`.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents.document import AS_WRITTEN, Document
from spanwise.text.visible import markdown_options

if TYPE_CHECKING:
    import pyromark

_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)|<br\b[^<>]*>|</?[A-Za-z][^<>]*>|&#?\w{1,32};",
    re.DOTALL | re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<br\b", re.IGNORECASE)
_NUMBER: Final = re.compile(rb"\d{1,9}[.)]")
_NOTE_MARKS: Final = re.compile(
    r"(?P<open>==)(?=\S)[^=\n]+(?<=\S)(?P<close>==)|(?P<comment>%%[^%]*%%)|(?P<id>(?<=[ \t])\^[A-Za-z0-9-]+[ \t]*$)"
    r"|(?P<box>(?<=> )\[!\w[\w -]*\][+-]?[ \t]*)|^[ \t]{0,3}#{1,6}[ \t][^\n]*?(?P<anchor>[ \t]*\{#[^{}`\n]*\})[ \t]*$",
    re.MULTILINE,
)
_PLAIN: Final = "_plain_text"  # where a document keeps it
_BLANK_LINES: Final = re.compile(r"\A(?:[ \t]*\n)+")


class Removed(NamedTuple):
    """A range that a page doesn't show, and what it shows instead: mostly nothing."""

    start: int
    end: int
    instead: str = ""


class PlainText:
    """A Markdown text, and what of it a page doesn't show."""

    def __init__(self, text: str, *, is_markdown: bool = True) -> None:
        """Parse the text once; one that is no Markdown is shown as it is."""
        self.text = text
        self._removed = list(_removed(text)) if is_markdown else []
        self._ends = [one.end for one in self._removed]

    def of(self, start: int, end: int) -> str:
        """Return a range as a page shows it."""
        pieces, position = list[str](), start
        for index in range(bisect_left(self._ends, start + 1), len(self._removed)):
            low, high, instead = self._removed[index]
            if low >= end:
                break
            if instead and (low < start or high > end):  # half of a reference is text
                continue
            pieces += self.text[position : max(low, position)], instead
            position = max(position, min(high, end))
        pieces.append(self.text[position:end])
        return "".join(pieces)

    def joined(self, pieces: Iterable[tuple[int, int, str]]) -> str:
        """Return ranges with the joiners before them as a page shows them; what shows nothing has no joiner."""
        return "".join(self.parts(pieces))

    def parts(self, pieces: Iterable[tuple[int, int, str]]) -> list[str]:
        """Return what each range adds to `joined`: its joiner and what it shows, or nothing."""
        found, first, last = list[str](), -1, -1
        for index, (start, end, joiner) in enumerate(pieces):
            shown = self.of(start, end)
            is_visible = bool(shown) and not shown.isspace()
            found.append((joiner + shown if first >= 0 else shown) if is_visible else "")
            if is_visible:
                first, last = index if first < 0 else first, index
        if first >= 0:
            found[first] = _BLANK_LINES.sub("", found[first])  # the indentation of code stays
            found[last] = found[last].rstrip()
        return found


def plain_text_of(document: Document) -> PlainText:
    """Return a document's text with what a page doesn't show of it; it is parsed once, and kept with the document."""
    known = vars(document)
    if _PLAIN not in known:
        known[_PLAIN] = PlainText(document.text, is_markdown=document.metadata.source_type not in AS_WRITTEN)
    found: PlainText = known[_PLAIN]
    return found


class _Kept(NamedTuple):
    """A range in bytes that a page shows, and how, if it differs; `is_code`: marks in it are none."""

    start: int
    end: int
    instead: str | None = None
    is_code: bool = False


def _removed(text: str) -> Iterator[Removed]:
    """Yield what a page doesn't show of a text, in order."""
    raw = text.encode()
    kept = sorted(_kept(raw, text), key=itemgetter(0, 1))
    code, gaps, changed = list[tuple[int, int]](), list[tuple[int, int]](), list[Removed]()
    position = 0
    to_chars = _positions(raw, text, chain.from_iterable(one[:2] for one in kept))
    for one in kept:
        start, end = to_chars[one.start], to_chars[one.end]
        if start > position:
            gaps.append((position, start))
        if one.instead is not None:
            changed.append(Removed(start, end, one.instead))
        if one.is_code:
            code.append((start, end))
        position = max(position, end)
    gaps.append((position, len(text)))
    marks = (mark for gap in gaps for mark in _marks(text, *gap))
    return _merged([*marks, *changed, *_note_marks(text, code)])


def _merged(found: Iterable[Removed]) -> Iterator[Removed]:
    """Yield ranges in order, without those that begin inside another."""
    reached = -1
    for one in sorted(found):
        if one.end > reached and one.start < one.end:
            yield one if one.start >= reached or one.instead else Removed(reached, one.end)
            reached = one.end


def _marks(text: str, start: int, end: int) -> Iterator[Removed]:
    """Yield what of a gap between shown ranges is removed: marks, and lines that hold nothing else.

    White space alone stays; that behind a mark at the start of a line belongs to the mark.
    """
    while start < end:
        line_end = text.find("\n", start, end)
        stop = end if line_end < 0 else line_end
        first = start == 0 or text[start - 1] == "\n"
        if mark := text[start:stop].strip():
            whole = first and (line_end >= 0 or stop == len(text))
            low = text.index(mark[0], start)
            if whole:
                yield Removed(start, min(stop + 1, len(text)))
            else:
                yield Removed(low, stop if first else low + len(mark))
        start = stop + 1


def _note_marks(text: str, code: list[tuple[int, int]]) -> Iterator[Removed]:
    """Yield marks that Markdown's parser takes for text: those of notes, and the anchors of headings."""
    if not any(hint in text for hint in ("==", "%%", "^", "[!", "{#")):
        return
    ends = [end for _, end in code]
    for match in _NOTE_MARKS.finditer(text):
        index = bisect_left(ends, match.start() + 1)
        if index < len(code) and code[index][0] < match.end():
            continue
        for name, value in match.groupdict().items():
            if value is not None:
                yield Removed(*match.span(name))


def _kept(raw: bytes, text: str) -> Iterator[_Kept]:
    """Yield the ranges that a page shows, in bytes."""
    import pyromark

    lists: list[bool] = []
    in_code, reached = False, 0
    for event, place in pyromark.events_with_range(text, options=_options()):
        start, end = place["start"], place["end"]
        if isinstance(event, str):  # a break, which is white space, or a rule
            continue
        kind: str
        value: Any
        ((kind, value),) = event.items()
        if kind == "Text":
            shown = value.encode()
            yield _Kept(start, end, None if in_code or shown == raw[start:end] else value, in_code)
        elif kind == "Code":
            yield from _code(raw, start, end, "\\|" not in value)
        elif kind in {"Html", "InlineHtml"}:
            yield from _html(value, start)
        elif kind in {"Start", "End"}:
            name = value if isinstance(value, str) else next(iter(value))
            opens = kind == "Start"
            if name == "CodeBlock":
                in_code = opens
            elif name == "List":
                lists.append(value["List"] is not None) if opens else lists.pop()
            elif name == "Item" and opens and lists[-1] and (number := _NUMBER.match(raw, start)):
                yield _Kept(start, number.end())
            elif name in {"TableHead", "TableRow"} and opens:
                reached = start
            elif name in {"TableHead", "TableRow"}:
                yield from _bars(raw, reached, end)
            elif name == "TableCell" and opens:
                yield from _bars(raw, reached, start)
                reached = end


def _bars(raw: bytes, start: int, end: int) -> Iterator[_Kept]:
    """Yield the bars between cells."""
    at = raw.find(b"|", start, end)
    while at >= 0:
        yield _Kept(at, at + 1)
        at = raw.find(b"|", at + 1, end)


def _code(raw: bytes, start: int, end: int, in_table: bool) -> Iterator[_Kept]:
    """Yield the inside of a code span; a bar that is escaped for a table loses its backslash."""
    ticks = len(raw[start:end]) - len(raw[start:end].lstrip(b"`"))
    low, high = start + ticks, end - ticks
    inside = raw[low:high]
    if inside[:1] == inside[-1:] == b" " and inside.strip():
        yield _Kept(low, low + 1, "")
        yield _Kept(high - 1, high, "")
        low, high = low + 1, high - 1
    while in_table and (bar := raw.find(b"\\|", low, high)) >= 0:
        yield _Kept(low, bar, is_code=True)
        low = bar + 1
    yield _Kept(low, high, is_code=True)


def _html(tags: str, start: int) -> Iterator[_Kept]:
    """Yield what a browser shows of HTML: the text between tags, a space for a line break, references as characters."""
    at = 0
    for match in _HIDDEN.finditer(tags):
        yield _between(tags, start, at, match.start())
        at, found = match.end(), match.group()
        low, high = (start + len(tags[:edge].encode()) for edge in match.span())
        if _BREAK.match(found):
            yield _Kept(low, high, " ")
        elif found.startswith("&"):
            yield _Kept(low, high, html.unescape(found))
    yield _between(tags, start, at, len(tags))


def _between(tags: str, start: int, low: int, high: int) -> _Kept:
    before = start + len(tags[:low].encode())
    return _Kept(before, before + len(tags[low:high].encode()))


def _positions(raw: bytes, text: str, edges: Iterable[int]) -> Mapping[int, int]:
    """Return positions in characters for positions in bytes."""
    if len(raw) == len(text):
        return _Same()
    found: dict[int, int] = {}
    position = chars = 0
    for edge in sorted(set(edges)):
        chars += len(raw[position:edge].decode("utf-8", "ignore"))
        found[edge], position = chars, edge
    return found


class _Same(dict[int, int]):
    """Positions of ASCII text, where a byte is a character."""

    def __missing__(self, position: int) -> int:
        return position


@cache
def _options() -> pyromark.Options:
    import pyromark

    flags = pyromark.Options
    return markdown_options() | flags.ENABLE_FOOTNOTES | flags.ENABLE_YAML_STYLE_METADATA_BLOCKS
