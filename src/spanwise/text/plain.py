"""Plain text: Markdown as a page shows it, by taking characters out of it.

What is taken out is found once for a text, as ranges. So the plain text of any range of it is a few slices, and every
character of it is one of the source, apart from character references and a space for `<br>`.
"""

from __future__ import annotations

import html
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from spanwise.documents.document import AS_WRITTEN, Document
from spanwise.native import Kept, html_ranges, kept_ranges, mark_hints, without_hidden
from spanwise.text.markdown_events import markdown_events

_NOTE_MARKS: Final = re.compile(
    r"(?P<open>==)(?=\S)[^=\n]+(?<=\S)(?P<close>==)|(?P<comment>%%[^%]*%%)|(?P<id>(?<=[ \t])\^[A-Za-z0-9-]+[ \t]*$)"
    r"|(?P<box>(?<=> )\[!\w[\w -]*\][+-]?[ \t]*)|^[ \t]{0,3}#{1,6}[ \t][^\n]*?(?P<anchor>[ \t]*\{#[^{}`\n]*\})[ \t]*$",
    re.MULTILINE,
)
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_PLAIN: Final = "_plain_text"  # where a document keeps it
_KEPT: Final = "_kept_ranges"  # where it keeps what it is made of
_unescaped: Final = lru_cache(maxsize=512)(html.unescape)  # the same few references again and again
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+")
_Places = Iterable[tuple[int, int, str]]


class PlainText:
    """A Markdown text, and what of it a page doesn't show.

    `shown` is the whole text as a page shows it; None where that can't be had in one piece. What is removed begins at
    `starts` and ends at `ends`; after it the shown text goes on at `places`.
    """

    def __init__(self, text: str, *, is_markdown: bool = True, body_start: int = 0, kept: Kept | None = None) -> None:
        """Parse the text once, unless what is `kept` of it is known; one that is no Markdown is shown as it is.

        There is front matter up to `body_start`, and nothing is said of what a page shows of that.
        """
        self.text = text
        self.shown: str | None = text
        self.starts = self.ends = self.places = array("q")
        self._instead_of: dict[int, str] = {}
        if is_markdown:
            if kept is None:
                parsed, events = markdown_events(text, body_start, wiki="[[" in text)
                kept = kept_in(text, body_start, parsed, kept_ranges(parsed, events))
            self.shown, *ranges, self._instead_of = _without_hidden(text, kept)
            self.starts, self.ends, self.places = [array("q", one) for one in ranges]

    def of(self, start: int, end: int) -> str:
        """Return a range as a page shows it."""
        low, high = self.place(start), self.place(end)
        if self.shown is None or low is None or high is None:
            return self._put_together(start, end)
        return self.shown[low:high]

    def place(self, position: int) -> int | None:
        """Return the place of a position in the shown text; None inside a range that is shown as another text."""
        index = bisect_right(self.ends, position)
        place = self.places[index - 1] + position - self.ends[index - 1] if index else position
        if index == len(self.starts) or self.starts[index] >= position:
            return place
        return None if index in self._instead_of else place - position + self.starts[index]

    def _put_together(self, start: int, end: int) -> str:
        pieces, position = list[str](), start
        for index in range(bisect_right(self.ends, start), bisect_left(self.starts, end)):
            low, high, instead = self.starts[index], self.ends[index], self._instead_of.get(index, "")
            if instead and (low < start or high > end):  # half of a reference is text
                continue
            pieces += self.text[position : max(low, position)], instead
            position = max(position, min(high, end))
        pieces.append(self.text[position:end])
        return "".join(pieces)

    def joined(self, pieces: _Places) -> str:
        """Return ranges with the joiners before them as a page shows them; what shows nothing has no joiner."""
        return "".join(self.parts(pieces))

    def parts(self, pieces: _Places) -> list[str]:
        """Return what each range adds to `joined`: its joiner and what it shows, or nothing."""
        found, first, last = list[str](), -1, -1
        for index, (start, end, joiner) in enumerate(pieces):
            shown = self.of(start, end)
            is_visible = bool(shown) and not shown.isspace()
            if is_visible and first >= 0 and joiner.startswith("\n"):  # a removed last line leaves no blank one
                found[last] = found[last].rstrip("\n")
            found.append((joiner + shown if first >= 0 else shown) if is_visible else "")
            if is_visible:
                first, last = index if first < 0 else first, index
        if first >= 0:
            found[first] = found[first][_blank_lines(found[first]) :]  # the indentation of code stays
            found[last] = found[last].rstrip()
        return found

    def spans(self, pieces: _Places) -> list[tuple[int, int, str]] | None:
        """Return the ranges of `shown` that `joined` puts together, with the joiners before them; None if it can't."""
        found, shown = list[tuple[int, int, str]](), self.shown
        if shown is None:
            return None
        for start, end, joiner in pieces:
            low, high = self.place(start), self.place(end)
            if low is None or high is None:
                return None
            if (shown[low:high] or " ").isspace():
                continue
            if found and joiner.startswith("\n"):
                before, end, its_joiner = found[-1]
                found[-1] = before, before + len(shown[before:end].rstrip("\n")), its_joiner
            found.append((low, high, joiner if found else ""))
        if found:
            low, high, _ = found[0]
            found[0] = low + _blank_lines(shown[low:high]), high, ""
            low, high, joiner = found[-1]
            found[-1] = low, low + len(shown[low:high].rstrip()), joiner
        return found


def _blank_lines(text: str) -> int:
    """Return how many characters are in the blank lines that a text begins with."""
    found = _BLANK_LINES.match(text) if text[:1].isspace() else None
    return found.end() if found else 0


def plain_text_of(document: Document) -> PlainText:
    """Return a document's text with what a page doesn't show of it; it is found once, and kept with the document."""
    known = vars(document)
    if _PLAIN not in known:
        is_markdown, first = document.metadata.source_type not in AS_WRITTEN, document.blocks[:1]
        body_start = first[0].end if first and first[0].kind == "front_matter" else 0
        kept = known.pop(_KEPT, None)
        known[_PLAIN] = PlainText(document.text, is_markdown=is_markdown, body_start=body_start, kept=kept)
    found: PlainText = known[_PLAIN]
    return found


def kept_in(text: str, body_start: int, parsed: str, kept: Kept) -> Kept:
    """Return what is kept of a parsed text as ranges of the text itself, the front matter of which may be blanked."""
    by = 0 if parsed is text else len(text[:body_start].encode()) - body_start
    if not by:
        return kept
    ranges, changed, tags = kept
    moved = array("q", [edge + by if edge >= 0 else edge - by for edge in array("q", ranges)])
    changed = [(start + by, end + by, instead) for start, end, instead in changed]
    return moved.tobytes(), changed, [(start + by, end + by, value) for start, end, value in tags]


def remember_kept(document: Document, kept: Kept | None) -> Document:
    """Keep what the reader knows of what a page shows, so that the text needn't be parsed again."""
    if kept is not None:
        vars(document)[_KEPT] = kept
    return document


def with_plain_text_of(document: Document, other: Document) -> Document:
    """Let a document of the same text share what is known of it."""
    known = vars(other)
    vars(document).update({name: known[name] for name in (_PLAIN, _KEPT) if name in known})
    return document


def _without_hidden(text: str, kept: Kept) -> tuple[str | None, bytes, bytes, bytes, dict[int, str]]:
    ranges, changed, tags = kept
    if tags:
        found = [html_ranges(value, start) for start, end, value in tags if start == end]
        ranges += array("q", [edge for edges, _ in found for edge in edges]).tobytes()
        references = ((start, end, _unescaped(value)) for start, end, value in tags if start < end)
        changed = [*changed, *(one for _, instead in found for one in instead), *references]
    return without_hidden(text, ranges, changed, list(_note_marks(text)))


def _note_marks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield marks that Markdown's parser takes for text: those of notes, and the anchors of headings.

    Each is the range of the whole, and the part of it that is removed.
    """
    for low, high in _hinted_lines(text):
        for match in _NOTE_MARKS.finditer(text, low, high):
            for name, value in match.groupdict().items():
                if value is not None:
                    yield *match.span(), *match.span(name)


def _hinted_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines that may hold marks; or the whole text, because comments can reach over several lines."""
    hints, start, end, is_found = mark_hints(text), 0, -1, False
    if sum(text.startswith("%%", at) for at in hints) > 1:
        yield 0, len(text)
        return
    for at in hints:
        if at > end:
            start, end, is_found = text.rfind("\n", 0, at) + 1, text.find("\n", at), False
            end = len(text) if end < 0 else end
        if not is_found and _may_be_mark(text, at, start):
            is_found = True
            yield start, end


def _may_be_mark(text: str, at: int, line: int) -> bool:
    """Whether what is before a hint, in a line that starts there, allows a mark."""
    if text[at] == "^":
        return text[at - 1 : at] in {" ", "\t"}
    if text[at] == "[":
        return at > 1 and text.startswith("> ", at - 2)
    return text[at] != "{" or _HEADING.match(text, line) is not None
