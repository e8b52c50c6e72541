"""The document's text in HTML: each page beside its picture, cores in colour, repeated ranges marked.

The style sheet draws labels from attributes. So an element of class `text` holds the document's characters and nothing
else, and positions in the page are positions in the document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from spanwise.inspection.boxes import Box, boxes_of, figure_of
from spanwise.inspection.data import flags_of
from spanwise.inspection.html import counted, escaped, label
from spanwise.inspection.sheets import BlockSlice, ChunkSlice, RepeatedRanges, Sheet, sheets_of
from spanwise.inspection.values import Inspection, Record

_FLOWING: Final = frozenset({"markdown", "html", "confluence", "pdf"})
"""Source types in which line breaks in a paragraph have no meaning."""
_OBVIOUS: Final = frozenset({"heading", "rule"})
"""Kinds that need no note when they are in no chunk: it is obvious what they are."""

_LONGEST_PATH: Final = 120  # characters of a headings path in a label; thousands of chunks may have a long one


def text_of(inspection: Inspection) -> Iterator[str]:
    """Yield all pages as HTML."""
    writer = _Writer(inspection)
    for sheet in sheets_of(inspection):
        yield from writer.sheet(sheet)


class _Writer:
    """A writer of consecutive sheets."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.text = inspection.document.text
        self.repeated = RepeatedRanges(inspection.records)
        self.boxes: dict[int, list[Box]] = boxes_of(inspection)
        parents = (record for record in inspection.records if record["chunk_id"] in inspection.parents)
        self.parents = deque(sorted(parents, key=lambda record: record["char_start"]))

    def sheet(self, sheet: Sheet) -> Iterator[str]:
        page, metadata = sheet.page, self.inspection.document.metadata
        name = f"Page {page}" if page is not None else "The text"
        anchor = f' id="page-{page}"' if page is not None else ""
        yield f'<section class="page"{anchor} aria-label="{name}">'
        yield f"<h2>{name}</h2>" if page is not None else ""
        yield '<div class="sheet">'
        yield from self.picture(page)
        language = f' lang="{label(metadata.language)}"' if metadata.language else ""
        kind = "text flow" if metadata.source_type in _FLOWING else "text"
        yield f'<div class="{kind}"{language}>'
        for piece in sheet.slices:
            yield from self.chunk_slice(piece)
        yield "</div>"
        if not any(part.block is not None for piece in sheet.slices for part in piece.parts):
            yield '<p class="note">There is no text here.</p>'
        yield "</div></section>\n"

    def picture(self, page: int | None) -> Iterator[str]:
        inspection = self.inspection
        if inspection.picture is None or page is None:
            return
        if page > inspection.pictures_up_to:
            message = f"Only pages up to {inspection.pictures_up_to:,} have a picture (--pictures-up-to)."
            yield f'<p class="note picture">{message}</p>'
            return
        picture = inspection.picture(page)
        if picture.png:
            yield from figure_of(inspection, picture, page, self.boxes.get(page, ()))
        else:
            yield f'<p class="note picture">No picture: {label(picture.note)}.</p>'

    def chunk_slice(self, piece: ChunkSlice) -> Iterator[str]:
        if piece.chunk is None:
            yield from (self.part(part, inside=False) for part in piece.parts)
            return
        while self.parents and self.parents[0]["char_start"] <= piece.parts[0].start:
            yield _parent(self.parents.popleft())
        index = piece.chunk
        if all(part.block is None for part in piece.parts):  # an empty page in the middle of a chunk
            text = escaped(self.text[piece.parts[0].start : piece.parts[-1].end])
            yield f'<span data-chunk="{index}">{text}</span>'
            return
        record = self.inspection.records[index]
        kind = f"core k{self.inspection.colours[index]}"
        anchor = f' id="chunk-{index}"' if piece.opening else ""
        yield f'<div class="{kind}"{anchor} data-chunk="{index}">{_label(record, continued=not piece.opening)}'
        yield from (self.part(part, inside=True) for part in piece.parts)
        yield "</div>"

    def part(self, part: BlockSlice, *, inside: bool) -> str:
        if part.block is None:
            return escaped(self.text[part.start : part.end])
        block = self.inspection.document.blocks[part.block]
        text = "".join(self.marked(part.start, part.end))
        names = ["b", block.kind, *([f"h{block.level}"] if block.level else ()), *(() if inside else ["out"])]
        noted = not inside and block.kind not in _OBVIOUS
        note = f' data-note="{block.kind.replace("_", " ")}, in no chunk"' if noted else ""
        return f'<div class="{" ".join(names)}"{note}>{text}</div>'

    def marked(self, start: int, end: int) -> Iterator[str]:
        for low, high, roles in self.repeated.divided(start, end):
            text = escaped(self.text[low:high])
            yield f'<span class="{" ".join(roles)}">{text}</span>' if roles else text


def _parent(record: Record) -> str:
    index = record["chunk_index"]
    return f'<div class="parent" id="chunk-{index}" data-chunk="{index}">{_label(record, continued=False)}</div>'


def _label(record: Record, *, continued: bool) -> str:
    index, size = record["chunk_index"], counted(record["token_count"], "token")
    visible = f"#{index} continued" if continued else " · ".join([f"#{index}", size, *flags_of(record)])
    path = label(" › ".join(record["headings_path"][-2:])[:_LONGEST_PATH])
    description = ", ".join(filter(None, [f"Chunk {index}", size, record["chunk_type"], *flags_of(record), path]))
    stop = ' tabindex="-1" aria-hidden="true"' if continued else f' aria-label="{description}"'
    return f'<a class="label" href="#chunk-{index}" data-label="{visible}"{stop}></a>'
