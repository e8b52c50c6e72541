"""Links: areas of a page that lead out of the document, and the words that they cover."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from spanwise.documents.document import Link
from spanwise.readers.pdf.geometry import Box, Frame
from spanwise.readers.pdf.lines import MOST_LINKS, separator
from spanwise.readers.pdf.words import Word

if TYPE_CHECKING:
    import pypdfium2

_PARTLY: Final = 0.85  # of its width: a word of which a link covers less is split


class _Anchor(NamedTuple):
    box: Box
    target: str


def with_links(
    document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, frame: Frame, words: list[Word]
) -> tuple[list[Word], list[Link]]:
    """Return the words, the first of each link with the index of the link, and the links."""
    anchors = [_Anchor(frame.displayed(*corners), target) for corners, target in _targets(document, page) if target]
    if not anchors:
        return words, []
    links: list[Link] = []
    done: list[Word] = []
    last: _Anchor | None = None
    for word in [piece for whole in words for piece in _pieces(whole, anchors)]:
        anchor = _anchor_of(word.box, anchors)
        text = _covered(word, anchor.box) if anchor else ""
        if anchor and last and anchor.target == last.target:
            before = links[-1].text
            gap = separator(before, text) if word.spaced else ""
            links[-1] = links[-1]._replace(text=before + gap + text)
            done.append(word)
        elif anchor and len(links) < MOST_LINKS:
            done.append(word._replace(link=len(links)))
            links.append(Link(anchor.target, text))
        else:
            done.append(word)
        last = anchor
    return done, links


def _pieces(word: Word, anchors: Sequence[_Anchor]) -> list[Word]:
    """Split a word of which a link covers only a part, as in Chinese, which has no spaces."""
    box, length = word.box, len(word.text)
    if word.text.isascii() or length < 2 or word.style.quarter:
        return [word]
    cover = next((a.box for a in anchors if a.box.holds(a.box.left, box.middle) and a.box.shared_width(box) > 0), None)
    if cover is None or cover.shared_width(box) >= _PARTLY * box.width or box.width <= 0:
        return [word]
    step = box.width / length
    cuts = [0, round((cover.left - box.left) / step), round((cover.right - box.left) / step), length]
    cuts = sorted({min(max(cut, 0), length) for cut in cuts})
    pieces = []
    for start, end in pairwise(cuts):
        piece_box = Box(box.left + start * step, box.top, box.left + end * step, box.bottom)
        spaced, broken = word.spaced and start == 0, word.broken and end == length
        pieces.append(word._replace(text=word.text[start:end], box=piece_box, spaced=spaced, broken=broken))
    return pieces


def _covered(word: Word, anchor: Box) -> str:
    """Return the text of a word without the punctuation after the link."""
    return word.text.rstrip(".,;:!?") or word.text if word.box.right > anchor.right + 1 else word.text


def _anchor_of(box: Box, anchors: Sequence[_Anchor]) -> _Anchor | None:
    x, y = box.center, box.middle
    return next((anchor for anchor in anchors if anchor.box.holds(x, y)), None)


def _targets(
    document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage
) -> Iterator[tuple[tuple[float, float, float, float], str]]:
    import pypdfium2.raw as raw

    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MOST_LINKS):
        if not raw.FPDFLink_Enumerate(page, position, link):
            return
        action, corners = raw.FPDFLink_GetAction(link), raw.FS_RECTF()
        if not action or not raw.FPDFLink_GetAnnotRect(link, corners):
            continue
        length = raw.FPDFAction_GetURIPath(document, action, None, 0)
        buffer = ctypes.create_string_buffer(max(length, 1))
        raw.FPDFAction_GetURIPath(document, action, buffer, length)
        target = buffer.value.decode("utf-8", "replace").strip()
        yield (corners.left, corners.top, corners.right, corners.bottom), target
