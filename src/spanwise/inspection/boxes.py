"""A rendered page with the boxes of its blocks drawn over it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spanwise.inspection.html import label
from spanwise.inspection.sheets import chunks_by_block
from spanwise.inspection.values import Inspection
from spanwise.readers.pdf.page_images import PageImage


class Box(NamedTuple):
    """The area of a block on a page: left, top, right, bottom in points from the top left corner."""

    edges: Sequence[float]
    kind: str
    chunks: tuple[int, ...] = ()
    left_out: bool = False


def boxes_of(inspection: Inspection) -> dict[int, list[Box]]:
    """Return the boxes of all blocks, and of what the reader left out, by page."""
    found: dict[int, list[Box]] = {}
    document = inspection.document
    chunks = chunks_by_block(inspection.painted, document)
    for index, block in enumerate(document.blocks):
        for page, edges in _page_boxes(block.source_ref):
            found.setdefault(page, []).append(Box(edges, block.kind, tuple(chunks.get(index, ()))))
    for item in document.left_out:
        for page, edges in _page_boxes(item.source_ref):
            found.setdefault(page, []).append(Box(edges, item.reason, left_out=True))
    return found


def _page_boxes(source: Mapping[str, Any] | None) -> Iterator[tuple[int, Sequence[float]]]:
    """Yield page and edges of the valid boxes of a source_ref; a block in columns has several."""
    page = (source or {}).get("page")
    if source is None or not isinstance(page, int):
        return
    for edges in source.get("boxes") or [source.get("bbox")]:
        if edges and len(edges) == 4 and all(isinstance(edge, int | float) for edge in edges):
            yield page, edges


def figure_of(inspection: Inspection, picture: PageImage, page: int, boxes: Sequence[Box]) -> Iterator[str]:
    """Yield the HTML of a page with its boxes."""
    data = b64encode(picture.png).decode("ascii")
    size = f'width="{picture.width:.0f}" height="{picture.height:.0f}" loading="lazy" decoding="async"'
    yield '<figure class="picture"><div class="frame">'
    yield f'<img alt="Page {page} as it looks" {size} src="data:image/png;base64,{data}">'
    if boxes:
        text = f"The blocks of page {page}"
        yield f'<svg viewBox="0 0 {picture.width:.2f} {picture.height:.2f}" role="img" aria-label="{text}">'
        yield from (_rectangle(inspection, box) for box in boxes)
        yield "</svg>"
    yield "</div></figure>"


def _rectangle(inspection: Inspection, box: Box) -> str:
    left, top, right, bottom = box.edges
    area = f'x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{max(bottom - top, 1):.1f}"'
    kind = label(box.kind.replace("_", " "))
    if not box.chunks:
        reason = f"left out: {kind}" if box.left_out else f"{kind}, in no chunk"
        return f'<rect class="box none" {area}><title>{reason}</title></rect>'
    colour = inspection.colours[box.chunks[0]]
    names = ", ".join(f"#{chunk}" for chunk in box.chunks)
    chunks = " ".join(map(str, box.chunks))
    return f'<rect class="box k{colour}" data-chunks="{chunks}" rx="2" {area}><title>{kind} · {names}</title></rect>'
