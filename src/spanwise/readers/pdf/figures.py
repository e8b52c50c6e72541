"""Figures: pictures with their captions, and saving them to files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spanwise.documents.document import Block
from spanwise.errors import OptionError
from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.layout import Element
from spanwise.readers.pdf.page_images import Pixels, full_png

if TYPE_CHECKING:
    import pypdfium2

_CAPTION: Final = re.compile(
    r"(?:fig(?:ure|\.)?|abb(?:ildung|\.)|rys(?:unek|\.)|рис(?:унок|\.)|图|圖|図)\s*\d+|"
    r"(?:photo|picture|image|chart|diagram|wykres|zdjęcie|bild|foto|фото|диаграмма)\b",
    re.IGNORECASE,
)
_SCALE: Final = 200 / 72  # pixels per point: figures are written at 200 dpi
_LARGEST: Final = 4000.0  # pixels along a side
_NEAR: Final = 3.0  # of the size: the largest distance of a caption from its picture


def with_captions(elements: Sequence[Element]) -> list[Element]:
    """Attach to each picture the caption next to it in the order of the page."""
    done: list[Element] = []
    taken: set[int] = set()
    for index, element in enumerate(elements):
        if id(element) in taken:
            continue
        if element.kind == "figure" and element.picture:
            after = elements[index + 1] if index + 1 < len(elements) else None
            if after and _is_caption_of(after, element.picture.box):
                taken.add(id(after))
                element.lines = after.lines
            elif done and _is_caption_of(done[-1], element.picture.box):
                element.lines = done.pop().lines
        done.append(element)
    return done


def _is_caption_of(element: Element, picture: Box) -> bool:
    if element.kind != "paragraph" or not element.lines:
        return False
    tagged = element.tag is not None and element.tag.kind == "caption"
    if not tagged and not _CAPTION.match(element.text):
        return False
    first, last = element.lines[0], element.lines[-1]
    below, above = first.box.top - picture.bottom, picture.top - last.box.bottom
    distance = min(abs(below), abs(above))
    return distance <= (_NEAR if first.box.shared_width(picture) > 0 else _NEAR / 2) * first.size


def save_figures(document: pypdfium2.PdfDocument, blocks: Sequence[Block], folder: Path) -> None:
    """Write the picture of each figure to the file that its placeholder names."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for block in blocks:
            if block.kind == "figure" and block.source_ref:
                pixels = _pixels(document, block.source_ref["page"], Box(*block.source_ref["picture"]))
                Path(block.source_ref["file"]).write_bytes(full_png(pixels))
    except OSError as error:
        rule = f"can't take the figures ({error.strerror or error})"
        raise OptionError("figures", rule, value=str(folder), hint="name a folder that can be written to") from error


def _pixels(document: pypdfium2.PdfDocument, number: int, box: Box) -> Pixels:
    """Render a part of a page."""
    with closing(document[number - 1]) as page:
        width, height = page.get_size()
        scale = min(_SCALE, _LARGEST / max(box.width, box.height, 1.0))
        margins = (max(box.left, 0), max(height - box.bottom, 0), max(width - box.right, 0), max(box.top, 0))
        with closing(page.render(scale=scale, crop=margins)) as bitmap:
            pixels: Pixels = bitmap.to_numpy().copy()
            return pixels
