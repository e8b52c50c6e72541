"""Page headers, footers and page numbers: text in the margins of successive pages, which is no content."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from spanwise.readers.pdf.lines import Line
from spanwise.readers.pdf.page_contents import Contents, Picture

_BAND: Final = 0.13  # of the page's height, at the top and at the bottom
_APART: Final = 0.45  # of its height: the least distance of furniture from the text
_SAME_HEIGHT: Final = 8.0  # points
_NUMBERS: Final = re.compile(r"\d+|\b[ivxlc]{1,6}\b")
_PAGE_NUMBER: Final = re.compile(
    r"[-–—|\s]*(?:(?:page|p\.|seite|s\.|strona|str\.|стр\.?|страница|第)\s*)?(?:\d{1,4}|[ivxlc]{1,6})"
    r"(?:\s*(?:of|/|von|z|из|页|頁|ページ|共)\s*\d*\s*页?)?[-–—|\s]*",
    re.IGNORECASE,
)


class Furniture(NamedTuple):
    """A line that is no content, and the reason."""

    page: int
    line: Line
    reason: str


def furniture_of(pages: Sequence[Contents], size: float) -> list[Furniture]:
    """Return the headers, footers and page numbers of a document whose text is mostly of this size."""
    candidates = [*_repeated(pages), *_unconfirmed(pages, size), *_artifacts(pages), *_side_margins(pages)]
    found = {id(item.line): item for item in candidates}
    for page in pages:
        for line in _attached(page, found):
            del found[id(line)]
    return sorted(found.values(), key=lambda item: (item.page, item.line.box.top))


def _attached(page: Contents, found: Mapping[int, Furniture]) -> list[Line]:
    """Return lines in the margins as close to the text as its own lines are: they belong to it."""
    lines = sorted((line for line in page.lines if line.upright), key=lambda line: line.box.top)
    attached: list[Line] = []
    for order, sign in ((lines, 1), (lines[::-1], -1)):
        inner: Line | None = None  # the nearest line of the text
        for line in reversed(order):
            if id(line) not in found:
                inner = line
                continue
            gap = (inner.box.top - line.box.bottom if sign > 0 else line.box.top - inner.box.bottom) if inner else 99.0
            beside = inner is not None and inner.box.shared_height(line.box) > 0
            if inner and not beside and gap < _APART * line.box.height and _is_in_margin(line, inner, page, sign):
                attached.append(line)
                inner = line
    return attached


def _is_in_margin(line: Line, inner: Line, page: Contents, sign: int) -> bool:
    """Whether a line is in the top margin (`sign` > 0) or bottom margin, and above or below the text."""
    top = line.box.middle < page.frame.upright_size[1] / 2
    return top == (sign > 0) and line.box.shared_width(inner.box) > 0


def _margin_lines(page: Contents) -> list[tuple[Line, bool]]:
    """Return the lines in the margins, and whether each is at the top."""
    _, height = page.frame.upright_size
    lines = [line for line in page.lines if line.upright]
    tops = [(line, True) for line in lines if line.box.bottom <= _BAND * height]
    return tops + [(line, False) for line in lines if line.box.top >= (1 - _BAND) * height]


def _repeated(pages: Sequence[Contents]) -> list[Furniture]:
    similar: dict[tuple[bool, str], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        for line, top in _margin_lines(page):
            similar[top, _NUMBERS.sub("#", line.text.lower())].append((page.number, line))
    found: list[Furniture] = []
    non_empty = sum(bool(page.lines) for page in pages)
    for (top, text), lines in similar.items():
        for group in _at_one_height(lines):
            numbers = {number for number, _ in group}
            if len(numbers) >= max(2, min(non_empty * 0.25, 10)) and _is_believable(text, group, non_empty):
                found += [Furniture(number, line, _reason(line, top=top)) for number, line in group]
    return found


def _at_one_height(lines: list[tuple[int, Line]]) -> list[list[tuple[int, Line]]]:
    groups: list[list[tuple[int, Line]]] = []
    for number, line in sorted(lines, key=lambda pair: pair[1].box.top):
        if groups and line.box.top - groups[-1][0][1].box.top <= _SAME_HEIGHT:
            groups[-1].append((number, line))
        else:
            groups.append([(number, line)])
    return groups


def _is_believable(text: str, group: list[tuple[int, Line]], pages: int) -> bool:
    """Whether a repeated line is furniture: on a few pages, a heading or an item might be repeated too."""
    if "#" in text and text.strip("#.,-–—|/ ") == "":
        return _increases(group)
    if pages > 3:
        return True
    return len(group) == pages and max(line.size for _, line in group) < 20


def _increases(group: list[tuple[int, Line]]) -> bool:
    """Whether lone numbers increase with the pages, as page numbers do."""
    steps = []
    for number, line in sorted(group, key=lambda pair: pair[0]):
        found = re.search(r"\d+", line.text)
        steps.append(int(found[0]) - number if found else 0)
    return len(set(steps)) <= max(1, len(steps) // 3)


def _unconfirmed(pages: Sequence[Contents], size: float) -> list[Furniture]:
    """Return page numbers, and running titles beside them, that no other page confirms."""
    found: list[Furniture] = []
    for page in pages:
        tops = sorted(line.box.top for line in page.lines if line.upright)
        bottoms = sorted(line.box.bottom for line in page.lines if line.upright)
        for line, top in _margin_lines(page):
            if _gap(line, tops, bottoms, top=top) < 1.2 * line.size or len(tops) < 3:
                continue
            is_outermost = line.box.top <= tops[0] + 1 if top else line.box.bottom >= bottoms[-1] - 1
            if _PAGE_NUMBER.fullmatch(line.text):
                found.append(Furniture(page.number, line, "page number"))
            elif line.size < 0.95 * size and _has_outer_number(line) and is_outermost:
                found.append(Furniture(page.number, line, _reason(line, top=top)))
    return found


def _gap(line: Line, tops: Sequence[float], bottoms: Sequence[float], *, top: bool) -> float:
    """Return the distance of a line in the margin from the text, given the sorted edges of all lines."""
    if top:
        below = bisect_right(tops, line.box.middle)
        return tops[below] - line.box.bottom if below < len(tops) else 0.0
    above = bisect_left(bottoms, line.box.middle)
    return line.box.top - bottoms[above - 1] if above else 0.0


def _has_outer_number(line: Line) -> bool:
    ends = line.words[0].text, line.words[-1].text
    return len(line.words) < 16 and any(end.isdigit() and len(end) < 5 for end in ends)


def _artifacts(pages: Sequence[Contents]) -> list[Furniture]:
    """Return lines in the margins that the file itself marks as no content."""
    return [
        Furniture(page.number, line, _reason(line, top=top))
        for page in pages
        for line, top in _margin_lines(page)
        if all(word.style.artifact for word in line.words)
    ]


def _side_margins(pages: Sequence[Contents]) -> list[Furniture]:
    """Return running titles and page numbers beside the text, at the same position on many pages."""
    similar: dict[tuple[int, str], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        left, right = _text_edges(page)
        for line in page.lines:
            if line.box.right < left or line.box.left > right:
                similar[round(line.box.left / 6), _NUMBERS.sub("#", line.text.lower())].append((page.number, line))
    fewest = max(3, 0.25 * len(pages))
    found: list[Furniture] = []
    for (_, text), lines in similar.items():
        for group in _at_one_height(lines):
            if len({number for number, _ in group}) >= fewest and (text.strip("#") or _increases(group)):
                found += [Furniture(number, line, "text in the margin") for number, line in group]
    return found


def _text_edges(page: Contents) -> tuple[float, float]:
    """Return the left and right edge of the text of a page, by its longer lines."""
    long = [line.box for line in page.lines if line.upright and len(line.words) > 4]
    if len(long) < 5:
        return -1e9, 1e9
    return sorted(box.left for box in long)[len(long) // 10], sorted(box.right for box in long)[-1 - len(long) // 10]


def _reason(line: Line, *, top: bool) -> str:
    if _PAGE_NUMBER.fullmatch(line.text):
        return "page number"
    return "page header" if top else "page footer"


def repeated_pictures(pages: Sequence[Contents]) -> list[tuple[Contents, Picture]]:
    """Return logos and ornaments: pictures at the same position on many pages."""
    similar: dict[tuple[int, ...], list[tuple[Contents, Picture]]] = defaultdict(list)
    for page in pages:
        for item in page.items:
            if isinstance(item, Picture):
                similar[tuple(round(value / 4) for value in item.box)].append((page, item))
    fewest = max(3, 0.25 * len(pages))
    return [pair for group in similar.values() if len(group) >= fewest for pair in group]
