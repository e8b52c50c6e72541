"""Detection of headings and their levels: by tags, else by the outline, else by size and weight."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from spanwise.readers.pdf.layout import Element, Habits

_CAPTION: Final = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)|tabelle|rys(?:unek|\.)|tabela|рис(?:унок|\.)|табл(?:ица|\.)|"
    r"listing|algorithm|图|圖|表|図)\s*\d+",
    re.IGNORECASE,
)
_LARGE: Final = 1.12  # of the usual size
_LONGEST: Final = 200
_LONGEST_TAGGED: Final = 300
_LONGEST_BOLD: Final = 110
_MOST_OF_TEXT: Final = 0.35  # of the characters: if more is tagged as headings, the tags are unreliable
_NUMBERING: Final = re.compile(r"\W*(?:\d+(?:\.\d+)*|[ivxlc]+)[.)]?\s+", re.IGNORECASE)
_NUMBERS: Final = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[^\W\d]")
_CHAPTER: Final = re.compile(r"(?:chapter|kapitel|rozdział|глава)\s+\d+|第[一二三四五六七八九十\d]+章", re.IGNORECASE)
_LITTLE: Final = 700  # characters: a first page with fewer is a cover
_DEEPEST: Final = 6

HeadingStyle = tuple[float, bool]


class Entry(NamedTuple):
    """An entry of the outline."""

    title: str
    level: int
    page: int


def set_headings(pages: Sequence[Sequence[Element]], habits: Habits, outline: Sequence[Entry]) -> None:
    """Turn the paragraphs that are headings into headings."""
    elements = [element for page in pages for element in page]
    tagged = [element for element in elements if element.kind == "heading"]
    for element in tagged:
        if len(element.text) > _LONGEST_TAGGED:
            element.kind, element.level = "paragraph", 0
    tagged = [element for element in tagged if element.kind == "heading"]
    if tagged and _are_believable(tagged, elements):
        _level_by_style([element for element in tagged if not element.level], tagged)
        _add_title(elements, tagged)
        _add_alike([element for element in elements if element.tag is None], habits, tagged)
        return
    for element in tagged:
        element.kind, element.level = "paragraph", 0
    if outline and _set_by_outline(pages, outline):
        _add_alike(elements, habits, [element for element in elements if element.kind == "heading"])
        return
    _set_levels([_by_style(page, habits) for page in pages], pages)


def _set_levels(found: Sequence[Sequence[Element]], pages: Sequence[Sequence[Element]]) -> None:
    """Set the levels of headings by size, except on a cover and for a title; section numbers take precedence."""
    headings = [element for page in found for element in page]
    title = _title_of(headings, pages)
    counted = [element for page in found[_has_cover(pages) :] for element in page if element is not title]
    levels = _levels(sorted({_style(element) for element in counted}, reverse=True))
    shift = int(title is not None)
    for element in headings:
        style = _style(element)
        level = levels[style] + shift if style in levels and element is not title else 1
        _make_heading(element, min(level, _DEEPEST))
    _number_levels(headings, shift)


def _has_cover(pages: Sequence[Sequence[Element]]) -> bool:
    """Whether the first of many pages has little text: its type sizes are decorative."""
    return len(pages) > 3 and sum(len(element.text) for element in pages[0]) < _LITTLE


def _title_of(headings: Sequence[Element], pages: Sequence[Sequence[Element]]) -> Element | None:
    """Return the title: the first of several headings, if it begins the document in a style of its own."""
    first = next((element for page in pages for element in page), None)
    if len(headings) < 3 or headings[0] is not first:
        return None
    return first if sum(_style(element) == _style(first) for element in headings) == 1 else None


def _number_levels(found: Sequence[Element], shift: int) -> None:
    """Set levels by numbers such as 2.1, if several headings have them."""
    numbered = {id(element): depth for element in found if (depth := _depth(element.text))}
    if len(numbered) < 3 or len(set(numbered.values())) < 2:
        return
    alike = {_style(element): numbered[id(element)] for element in found if id(element) in numbered}
    for element in found:
        stated = numbered.get(id(element), alike.get(_style(element), 0))
        if stated and not (shift and element is found[0]):
            element.level = min(stated + shift, _DEEPEST)


def _depth(text: str) -> int:
    """Return how many numbers a heading begins with; 1 for a chapter."""
    if _CHAPTER.match(text):
        return 1
    numbers = _NUMBERS.match(text)
    return len(numbers[1].strip(".").split(".")) if numbers else 0


def _are_believable(tagged: Sequence[Element], elements: Iterable[Element]) -> bool:
    total = sum(len(element.text) for element in elements)
    return sum(len(element.text) for element in tagged) <= _MOST_OF_TEXT * total


def _level_by_style(unknown: Sequence[Element], tagged: Sequence[Element]) -> None:
    """Set the level of headings without one in the file: that of others in the same style, or by size."""
    known = {_style(element): element.level for element in tagged if element.level}
    levels = _levels(sorted({_style(element) for element in unknown}, reverse=True))
    for element in unknown:
        element.level = known.get(_style(element), levels[_style(element)])


def _add_title(elements: Iterable[Element], tagged: Sequence[Element]) -> None:
    """Turn short texts that are larger than all headings into headings: programs don't tag a title as one."""
    largest = max(element.lines[0].size for element in tagged)
    for element in elements:
        short = element.kind == "paragraph" and len(element.text) <= _LONGEST_BOLD and element.text[-1] not in ".。"
        if short and min(line.size for line in element.lines) > 1.15 * largest and any(map(str.isalpha, element.text)):
            _make_heading(element, 1)


def _style(element: Element) -> HeadingStyle:
    line = element.lines[0]
    return round(line.size * 2) / 2, line.bold


def _levels(styles: Sequence[HeadingStyle]) -> dict[HeadingStyle, int]:
    """Assign levels to styles from the largest down; sizes that are nearly equal count as one."""
    levels: dict[HeadingStyle, int] = {}
    level, last = 0, None
    for style in styles:
        if last is None or style[1] != last[1] or last[0] - style[0] > 0.04 * last[0]:
            level += 1
        levels[style] = min(level, _DEEPEST)
        last = style
    return levels


def _make_heading(element: Element, level: int) -> None:
    element.kind, element.level, element.marker = "heading", level, None


def _set_by_outline(pages: Sequence[Sequence[Element]], outline: Sequence[Entry]) -> bool:
    """Turn the entries of the outline into headings; return False, with no change, if too few are in the text."""
    found: list[tuple[Element, int]] = []
    for entry in outline:
        title = _key(entry.title)
        for number in (entry.page, entry.page + 1, entry.page - 1):
            if not 0 <= number < len(pages):
                continue
            match = next((element for element in pages[number] if _has_title(element, title)), None)
            if match and title:
                found.append((match, entry.level))
                break
    if len(found) < max(2, 0.5 * len(outline)):
        return False
    for element, level in found:
        _make_heading(element, min(level, _DEEPEST))
    return True


def _key(text: str) -> str:
    return re.sub(r"\W+", "", _NUMBERING.sub("", text, count=1)).lower()


def _has_title(element: Element, title: str) -> bool:
    if element.kind not in {"paragraph", "item"} or len(element.lines) > 3:
        return False
    return _key(element.text) == title or re.sub(r"\W+", "", element.text).lower() == title


def _add_alike(elements: Sequence[Element], habits: Habits, known: Sequence[Element]) -> None:
    """Add elements in the style of known headings; outlines often lack the last level."""
    levels: dict[HeadingStyle, Counter[int]] = {}
    for element in known:
        levels.setdefault(_style(element), Counter())[element.level] += 1
    for element in _by_style(elements, habits):
        style = _style(element)
        if style in levels:
            _make_heading(element, levels[style].most_common(1)[0][0])
        elif style[0] >= _LARGE * habits.size:
            above = [most.most_common(1)[0][0] for other, most in levels.items() if other > style]
            _make_heading(element, min(max(above, default=0) + 1, _DEEPEST))


def _by_style(page: Sequence[Element], habits: Habits) -> list[Element]:
    """Return the paragraphs that have the style of headings."""
    found = []
    for index, element in enumerate(page):
        after = page[index + 1] if index + 1 < len(page) else None
        if _may_be_heading(element, habits) and (
            _is_large(element, habits) or _is_bold_heading(element, after, habits)
        ):
            found.append(element)
    return found


def _may_be_heading(element: Element, habits: Habits) -> bool:
    if element.kind not in {"paragraph", "item"} or element.note or len(element.lines) > 3:
        return False
    if element.kind == "item" and element.marker and element.marker.text == "-":
        return False
    text = element.text
    letters = sum(map(str.isalpha, text))
    return (
        letters >= 2
        and len(text) <= _LONGEST
        and element.lines[0].upright
        and not (element.lines[0].mono and not habits.mono)
        and not _CAPTION.match(text)
    )


def _is_large(element: Element, habits: Habits) -> bool:
    size = min(line.size for line in element.lines)
    if element.text.endswith((".", "。")) and len(element.text) > 40 and size < 1.3 * habits.size:
        return False  # a sentence in larger type, as in an introduction
    return size >= _LARGE * habits.size and size > habits.size + 0.9


def _is_bold_heading(element: Element, after: Element | None, habits: Habits) -> bool:
    """Whether a bold line of the usual size is by itself above other text."""
    text = element.text
    if not all(line.bold for line in element.lines) or element.lines[0].size < 0.95 * habits.size:
        return False
    if len(text) > _LONGEST_BOLD or len(element.lines) > 2 or text[-1] in ".,;:!" or not element.apart:
        return False
    if text[0].islower() or after is None:
        return False
    return not (after.lines and after.kind == "paragraph" and after.lines[0].bold and not _NUMBERING.match(text))
