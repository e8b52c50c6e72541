"""The document's text in HTML: a page beside its picture, every core in its colour, what is repeated marked.

Labels are drawn by the style sheet from attributes. So an element of class `text` holds the document's characters and
nothing else, and positions in the page are positions in the document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from spanwise.inspection.boxes import Box, boxes_of, figure_of
from spanwise.inspection.data import flags_of
from spanwise.inspection.html import counted, escaped, named
from spanwise.inspection.sheets import BlockSlice, ChunkSlice, RepeatedRanges, Sheet, sheets_of
from spanwise.inspection.values import Inspection, Record

_FLOWING: Final = frozenset({"markdown", "html", "confluence", "pdf"})
"""Sources in which the line ends of a paragraph mean nothing."""
_TELLING: Final = frozenset({"heading", "rule"})
"""Kinds that need no note when they are in no chunk: everybody sees what they are."""

_SPOKEN: Final = 120  # characters of a headings path that a label says; a long one may stand over thousands of chunks


def text_of(inspection: Inspection) -> Iterator[str]:
    """Write all pages."""
    writer = _Writer(inspection)
    for sheet in sheets_of(inspection):
        yield from writer.sheet(sheet)


class _Writer:
    """Writes sheets one after the other."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.text = inspection.document.text
        self.again = RepeatedRanges(inspection.records)
        self.boxes: dict[int, list[Box]] = boxes_of(inspection)
        parents = (record for record in inspection.records if record["chunk_id"] in inspection.parents)
        self.parents = deque(sorted(parents, key=lambda record: record["char_start"]))

    def sheet(self, sheet: Sheet) -> Iterator[str]:
        page, metadata = sheet.page, self.inspection.document.metadata
        name = f"Page {page}" if page is not None else "The text"
        place = f' id="page-{page}"' if page is not None else ""
        yield f'<section class="page"{place} aria-label="{name}">'
        yield f"<h2>{name}</h2>" if page is not None else ""
        yield '<div class="sheet">'
        yield from self.picture(page)
        language = f' lang="{named(metadata.language)}"' if metadata.language else ""
        kind = "text flow" if metadata.source_type in _FLOWING else "text"
        yield f'<div class="{kind}"{language}>'
        for stretch in sheet.stretches:
            yield from self.stretch(stretch)
        yield "</div>"
        if not any(part.block is not None for stretch in sheet.stretches for part in stretch.parts):
            yield '<p class="note">There is no text here.</p>'
        yield "</div></section>\n"

    def picture(self, page: int | None) -> Iterator[str]:
        inspection = self.inspection
        if inspection.picture is None or page is None:
            return
        if page > inspection.pictures_up_to:
            words = f"Only pages up to {inspection.pictures_up_to:,} have a picture (--pictures-up-to)."
            yield f'<p class="note picture">{words}</p>'
            return
        picture = inspection.picture(page)
        if picture.png:
            yield from figure_of(inspection, picture, page, self.boxes.get(page, ()))
        else:
            yield f'<p class="note picture">No picture: {named(picture.note)}.</p>'

    def stretch(self, stretch: ChunkSlice) -> Iterator[str]:
        if stretch.chunk is None:
            yield from (self.part(part, inside=False) for part in stretch.parts)
            return
        while self.parents and self.parents[0]["char_start"] <= stretch.parts[0].start:
            yield _parent(self.parents.popleft())
        index = stretch.chunk
        if all(part.block is None for part in stretch.parts):  # an empty page in the middle of a chunk
            words = escaped(self.text[stretch.parts[0].start : stretch.parts[-1].end])
            yield f'<span data-chunk="{index}">{words}</span>'
            return
        record = self.inspection.records[index]
        kind = f"core k{self.inspection.colours[index]}"
        place = f' id="chunk-{index}"' if stretch.opening else ""
        yield f'<div class="{kind}"{place} data-chunk="{index}">{_label(record, again=not stretch.opening)}'
        yield from (self.part(part, inside=True) for part in stretch.parts)
        yield "</div>"

    def part(self, part: BlockSlice, *, inside: bool) -> str:
        if part.block is None:
            return escaped(self.text[part.start : part.end])
        block = self.inspection.document.blocks[part.block]
        words = "".join(self.marked(part.start, part.end))
        names = ["b", block.kind, *([f"h{block.level}"] if block.level else ())]
        note = ""
        if not inside:
            names.append("out")
            kind = block.kind.replace("_", " ")
            note = f' data-note="{kind}, in no chunk"' if block.kind not in _TELLING else ""
        return f'<div class="{" ".join(names)}"{note}>{words}</div>'

    def marked(self, start: int, end: int) -> Iterator[str]:
        for low, high, roles in self.again.divided(start, end):
            words = escaped(self.text[low:high])
            yield f'<span class="{" ".join(roles)}">{words}</span>' if roles else words


def _parent(record: Record) -> str:
    index = record["chunk_index"]
    return f'<div class="parent" id="chunk-{index}" data-chunk="{index}">{_label(record, again=False)}</div>'


def _label(record: Record, *, again: bool) -> str:
    index, size = record["chunk_index"], counted(record["token_count"], "token")
    shown = f"#{index} continued" if again else " · ".join([f"#{index}", size, *flags_of(record)])
    path = named(" › ".join(record["headings_path"][-2:])[:_SPOKEN])
    spoken = ", ".join(filter(None, [f"Chunk {index}", size, record["chunk_type"], *flags_of(record), path]))
    stop = ' tabindex="-1" aria-hidden="true"' if again else f' aria-label="{spoken}"'
    return f'<a class="label" href="#chunk-{index}" data-label="{shown}"{stop}></a>'
