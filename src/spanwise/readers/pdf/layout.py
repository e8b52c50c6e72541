"""Elements made of lines: paragraphs, list items, code; by tags where the file has them, else by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.lines import Line, is_raised
from spanwise.readers.pdf.list_markers import Marker, markers_of
from spanwise.readers.pdf.page_contents import Contents, Picture
from spanwise.readers.pdf.tables import Table
from spanwise.readers.pdf.tags import Tag

_SENTENCE_END: Final = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]]*\Z")
_FAR: Final = 1.35  # of the usual line distance: beyond it a paragraph ends
_NOTE_MARK: Final = re.compile(r"(?:\d{1,3}|[*†‡§¶]{1,3})\Z")
_NOTES_FROM: Final = 0.5  # of the page's height: footnotes are below
_ADDRESS: Final = re.compile(r"\S+@\S+\Z|\S+://\S+\Z|www\.\S+\Z")
_ALL_MONO: Final = 0.9  # of the characters: in such a document a fixed pitch is no sign of code
_AROUND: Final = 12  # lines before and after a line that show where its column ends
_MANY: Final = 250  # likewise, where a page has more than so many
_ENOUGH: Final = 6
_MOST: Final = 0.85  # of these lines end there or before: a title over two columns doesn't count
_MOSTLY_TAGGED: Final = 0.8  # of a page's characters
_INDENT: Final = (0.6, 5.0)  # of the size: how far a first line is indented
_RAGGED: Final = 0.06  # of the width: lines that are shorter could have taken the next word


@dataclass(slots=True)
class Element:
    """Lines that belong together; their kind may still change."""

    kind: str  # paragraph, item, code, table, figure, heading
    lines: list[Line] = field(default_factory=list)
    marker: Marker | None = None
    depth: int = 0  # of an item
    level: int = 0  # of a heading
    tag: Tag | None = None
    table: Table | None = None
    picture: Picture | None = None
    note: str = ""  # the mark of a footnote
    apart: bool = False  # preceded by more than the usual distance

    @property
    def boxes(self) -> list[Box]:
        """The boxes of its lines, table or picture."""
        if self.table:
            return [self.table.box]
        own = [self.picture.box] if self.picture else []
        return own + [line.box for line in self.lines]

    @property
    def text(self) -> str:
        """Its lines joined by spaces, for comparisons only."""
        return " ".join(line.text for line in self.lines)


class Habits:
    """What is usual in a document: text size, line distances, a fixed pitch, and the pages with reliable tags."""

    def __init__(self, pages: Sequence[Contents]) -> None:
        """Collect statistics of all lines."""
        sizes, distances = Counter[tuple[float, bool]](), Counter[tuple[float, float]]()
        self.tagged: set[int] = set()  # numbers of the pages with reliable tags
        for page in pages:
            sizes += page.sizes
            total = tagged = 0
            previous: Line | None = None
            for line in page.lines:
                length = len(line.text)
                total += length
                tagged += length if page.tags.get(line.style.tag) else 0
                if previous and previous.size == line.size and (step := _step(previous, line)):
                    distances[line.size, step] += 1
                previous = line
            if tagged > _MOSTLY_TAGGED * total:
                self.tagged.add(page.number)
        self.mono = sum(count for (_, mono), count in sizes.items() if mono) > _ALL_MONO * sizes.total()
        usual = Counter({size: count for (size, mono), count in sizes.items() if mono == self.mono})
        most = usual.most_common(1)[0][1] if usual else 0
        self.size = max((size for size, count in usual.items() if count >= 0.5 * most), default=10.0)  # notes are small
        self._steps = _usual(distances)

    def step(self, size: float) -> float:
        """Return the usual distance of lines of this size."""
        return self._steps.get(size, 1.22 * size)


def _step(above: Line, below: Line) -> float:
    """Return the distance of two lines that may be of one paragraph, to half a point; 0 for others."""
    distance = below.box.bottom - above.box.bottom
    if not 0.8 * above.size <= distance <= 2.4 * above.size or above.box.shared_width(below.box) <= 0:
        return 0.0
    return round(distance * 2) / 2


def _usual(distances: Counter[tuple[float, float]]) -> dict[float, float]:
    """Return the most frequent distance for each size; of two that are about as frequent, the smaller."""
    best: dict[float, tuple[int, float]] = {}
    for (size, step), count in distances.items():
        most, usual = best.get(size, (0, 0.0))
        if count > 1.5 * most or (count > most / 1.5 and step < usual):
            best[size] = count, step
    return {size: step for size, (_, step) in best.items()}


def elements_of(page: Contents, skipped: set[int], habits: Habits) -> list[Element]:
    """Group the items of a page into elements, without those whose ids are in `skipped`."""
    elements: list[Element] = []
    run: list[Line] = []
    edges = _column_edges(page)
    for item in [*page.items, None]:
        if isinstance(item, Line):
            if id(item) not in skipped:
                run.append(item)
            continue
        elements += _grouped(run, page, habits, edges)
        run = []
        if isinstance(item, Table):
            elements.append(Element("table", table=item))
        elif isinstance(item, Picture) and id(item) not in skipped:
            elements.append(Element("figure", picture=item))
    return elements


def _grouped(lines: list[Line], page: Contents, habits: Habits, edges: dict[int, float]) -> list[Element]:
    if not lines:
        return []
    markers = markers_of(lines, page.dots)
    tags = [_tag_of(line, page) if page.number in habits.tagged else None for line in lines]
    elements: list[Element] = []
    for index, line in enumerate(lines):
        marker, tag = markers[index], tags[index]
        current = elements[-1] if elements else None
        after = lines[index + 1] if index + 1 < len(lines) else None
        if current and _continues(current, line, after, marker, tag, edges[id(lines[index - 1])], habits):
            current.lines.append(line)
        else:
            elements.append(_new_element(line, marker, tag, habits, current, page.frame.upright_size[1]))
    _set_depths(elements)
    return elements


def _tag_of(line: Line, page: Contents) -> Tag | None:
    """Return the tag of most words of a line; a label only if there is nothing else."""
    tags = [tag for word in line.words if (tag := page.tags.get(word.style.tag))]
    chosen = [tag for tag in tags if not tag.label] or tags
    return Counter(chosen).most_common(1)[0][0] if chosen else None


def _new_element(
    line: Line, marker: Marker | None, tag: Tag | None, habits: Habits, before: Element | None, height: float
) -> Element:
    apart = not before or not before.lines or _distance(before.lines[-1], line) > _FAR * habits.step(line.size)
    if _is_code(line, habits) and (not marker or not marker.sure):
        return Element("code", [line], tag=tag, apart=apart)
    if _starts_note(line, habits) and line.box.top > _NOTES_FROM * height:
        return Element("paragraph", [line], tag=tag, note=line.words[0].text, apart=apart)
    if tag and tag.kind == "heading":
        return Element("heading", [line], tag=tag, level=tag.level, apart=apart)
    if marker and (not tag or tag.items or marker.sure):
        return Element("item", [line], marker=marker, tag=tag, apart=apart)
    if tag and tag.items and not (before and before.tag and before.tag.items == tag.items):
        marker = Marker("-", line.box.left, line.box.left, 0, sure=True)
        return Element("item", [line], marker=marker, tag=tag, apart=apart)
    return Element("paragraph", [line], tag=tag, apart=apart)


def _is_code(line: Line, habits: Habits) -> bool:
    """Whether a line is code: in a fixed pitch, unless it is an address or the whole document is."""
    return line.mono and not habits.mono and line.upright and not _ADDRESS.search(line.text)


def _is_inline(current: Element, last: Line, line: Line, right: float, habits: Habits) -> bool:
    """Whether a line of code is only a long name in a sentence: it is where the next line of text would be."""
    left = current.marker.body if current.marker else min(other.box.left for other in current.lines)
    return (
        abs(line.box.left - left) < 2
        and 0 < _distance(last, line) <= _FAR * habits.step(last.size)
        and not _SENTENCE_END.search(last.text)
        and last.box.right + line.words[0].box.width > right - _RAGGED * (right - left)
    )


def _was_inline(current: Element, line: Line, habits: Habits) -> bool:
    """Whether what seemed to be a line of code is the beginning of a sentence that continues."""
    last = current.lines[-1]
    if len(current.lines) > 1 or line.mono or abs(line.box.left - last.box.left) > 2:
        return False
    near = 0 < _distance(last, line) <= _FAR * habits.step(line.size)
    return near and (line.words[0].text[0].islower() or last.text.endswith(","))


def _distance(above: Line, below: Line) -> float:
    return below.box.bottom - above.box.bottom


def _continues(
    current: Element,
    line: Line,
    after: Line | None,
    marker: Marker | None,
    tag: Tag | None,
    right: float,
    habits: Habits,
) -> bool:
    """Whether a line continues the current element."""
    if not current.lines or not line.upright or not current.lines[-1].upright:
        return bool(current.lines) and not line.upright and not current.lines[-1].upright
    last = current.lines[-1]
    if current.kind == "code":
        if _was_inline(current, line, habits):
            current.kind = "paragraph"
            return True
        return line.mono and 0 < _distance(last, line) < 3.2 * habits.step(line.size)
    if _is_code(line, habits) and not _is_inline(current, last, line, right, habits):
        return False
    if tag and current.tag and tag.element and current.tag.element:
        return tag.element == current.tag.element and tag.kind == current.tag.kind and not (marker and marker.sure)
    if marker or _starts_note(line, habits):
        return False
    if abs(last.size - line.size) > 0.08 * max(last.size, line.size) or last.bold != line.bold:
        return _is_mixed(last, line, right)
    if _distance(last, line) <= 0 or last.box.shared_width(line.box) <= 0:
        return _continues_elsewhere(current, last, line, right)
    if _distance(last, line) > _FAR * habits.step(line.size):
        return False
    if current.marker:
        return _hangs(current.marker, last, line, right)
    return line.size > 1.1 * habits.size or not _is_new_paragraph(last, line, after, right)


def _starts_note(line: Line, habits: Habits) -> bool:
    """Whether a line begins a footnote: a raised mark before small text."""
    first = line.words[0]
    return (
        line.size < 0.95 * habits.size
        and len(line.words) > 1
        and _NOTE_MARK.match(first.text) is not None
        and is_raised(first, line)
    )


def _is_mixed(last: Line, line: Line, right: float) -> bool:
    """Whether a line in another style still belongs: the one before is full, and only the weight changes."""
    if abs(last.size - line.size) > 0.08 * max(last.size, line.size):
        return False
    if last.words[-1].style.bold and line.words[0].style.bold and 0 < _distance(last, line) < 1.6 * line.size:
        return not last.bold and not _is_new_paragraph(last, line, None, right)  # bold words across a line break
    full = last.box.right > right - 2.5 * last.size
    partly = any(word.style.bold for word in last.words) and any(word.style.bold for word in line.words)
    close = 0 < _distance(last, line) < 1.6 * line.size
    return close and full and (partly or len(last.words) > 6) and not _SENTENCE_END.search(last.text)


def _continues_elsewhere(current: Element, last: Line, line: Line, right: float) -> bool:
    """Whether a paragraph continues in the next column: it has no end yet, and its last line is full."""
    if current.kind not in {"paragraph", "item"} or _SENTENCE_END.search(last.text):
        return False
    first = line.words[0].text
    full = last.box.right + min(line.words[0].box.width, 8 * line.size) > right - last.size and len(last.words) > 3
    wide = len(last.words) <= 3 and last.box.right > right - 2 * last.size  # a line of Chinese is one word
    return last.broken or first[0].islower() or last.text.endswith((",", "-")) or full or wide


def _hangs(marker: Marker, last: Line, line: Line, right: float) -> bool:
    """Whether a line continues an item: it is below the item's text, or the item has no hanging indent."""
    if line.box.left >= marker.body - 3:
        return True
    if line.box.left < marker.left - 3:
        return not _SENTENCE_END.search(last.text) and last.box.right > right - 3 * last.size
    return last.box.right > right - 6 * last.size


def _is_new_paragraph(last: Line, line: Line, after: Line | None, right: float) -> bool:
    size, ended = line.size, _SENTENCE_END.search(last.text) is not None
    indent = line.box.left - last.box.left
    if _INDENT[0] * size < indent < _INDENT[1] * size:
        outdents = after is not None and after.box.left < line.box.left - _INDENT[0] * size
        if (outdents or after is None or ended) and (ended or line.words[0].text[:1].isupper()):
            return True
    first_width = line.words[0].box.width + 0.3 * size
    width = max(right - min(last.box.left, line.box.left), 1.0)
    fits = last.box.right + first_width < right - _RAGGED * width
    if not fits:
        return False
    first = line.words[0].text[:1]
    return ended or (not first.islower() and last.box.right < right - 0.25 * width)


def _column_edges(page: Contents) -> dict[int, float]:
    """Return the right edge of each line's column, by the id of the line.

    That is where most lines around it end that begin at about the same position; if these are few, the lines and
    tables of the whole page decide, unless there are more than a page has.
    """
    lines = page.lines
    extents = [(line.box.left, line.box.right, line.size) for line in lines]
    everything = extents + [(item.box.left, item.box.right, 0.0) for item in page.items if isinstance(item, Table)]
    found: dict[int, float] = {}
    for index, line in enumerate(lines):
        near = _right_edges(extents[max(index - _AROUND, 0) : index + _AROUND + 1], line)
        if len(near) < _ENOUGH:
            some = everything if len(everything) <= _MANY else extents[max(index - _MANY, 0) : index + _MANY + 1]
            found[id(line)] = max(_right_edges(some, line), default=line.box.right)
        else:
            found[id(line)] = sorted(near)[int(_MOST * (len(near) - 1))]
    return found


def _right_edges(extents: Iterable[tuple[float, float, float]], line: Line) -> list[float]:
    """Return the right edges of those that begin at about the position of a line and aren't larger."""
    start, reach, largest = line.box.left, 4 * line.size, 1.2 * line.size
    return [right for left, right, size in extents if abs(left - start) < reach and size < largest]


def _set_depths(elements: Iterable[Element]) -> None:
    """Set the nesting depth of items: by tags, else by the left edges of their markers."""
    stack: list[float] = []
    for element in elements:
        if element.kind != "item" or not element.marker:
            stack = []
            continue
        if element.tag and element.tag.items:
            element.depth = len(element.tag.items) - 1
            continue
        left, size = element.marker.left, element.lines[0].size
        while stack and left < stack[-1] - 0.5 * size:
            stack.pop()
        if not stack or left > stack[-1] + 0.5 * size:
            stack.append(left)
        element.depth = len(stack) - 1
