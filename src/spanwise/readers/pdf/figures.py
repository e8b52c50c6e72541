"""Pictures and their captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.layout import Element

_CAPTION: Final = re.compile(
    r"(?:fig(?:ure|\.)?|abb(?:ildung|\.)|rys(?:unek|\.)|рис(?:унок|\.)|图|圖|図)\s*\d+|"
    r"(?:photo|picture|image|chart|diagram|wykres|zdjęcie|bild|foto|фото|диаграмма)\b",
    re.IGNORECASE,
)
_NEAR: Final = 3.0  # of the size: how far a caption may stand from its picture


def with_captions(elements: Sequence[Element]) -> list[Element]:
    """Give each picture the caption that stands beside it in the order of the page."""
    done: list[Element] = []
    taken: set[int] = set()
    for index, element in enumerate(elements):
        if id(element) in taken:
            continue
        if element.kind == "figure" and element.picture:
            after = elements[index + 1] if index + 1 < len(elements) else None
            if after and _names(after, element.picture.box):
                taken.add(id(after))
                element.lines = after.lines
            elif done and _names(done[-1], element.picture.box):
                element.lines = done.pop().lines
        done.append(element)
    return done


def _names(element: Element, picture: Box) -> bool:
    if element.kind != "paragraph" or not element.lines:
        return False
    tagged = element.tag is not None and element.tag.kind == "caption"
    if not tagged and not _CAPTION.match(element.text):
        return False
    first, last = element.lines[0], element.lines[-1]
    below, above = first.box.top - picture.bottom, picture.top - last.box.bottom
    return min(abs(below), abs(above)) <= _NEAR * first.size and first.box.shared_width(picture) > 0
