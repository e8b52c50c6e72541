"""A rendered web page: what its frame is built of, and which element shows which ranges of the document's text.

The script builds the page in a frame that runs nothing, and finds in it the text of these units: an element, and the
ranges of the document's text that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple

import orjson

from spanwise.documents.document import Document, Part, SourceRef
from spanwise.documents.offsets import utf16_offsets
from spanwise.inspection.html import escaped, inside_script
from spanwise.inspection.safe_tree import tree_of
from spanwise.inspection.values import Inspection
from spanwise.records.links.visible_page import visible_runs

Range = tuple[int, int]

_POLICY: Final = (
    "default-src 'none'; script-src 'none'; style-src 'none'; img-src data:; frame-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)
_LABEL: Final = re.compile(r"> (\[!\w+\])")
_FRAME: Final = f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'


class RenderedRange(NamedTuple):
    """An element by its XPath, empty where none is known, and ranges of the text that it shows, in order."""

    path: str
    ranges: list[Range]


def rendered_page(inspection: Inspection) -> Iterator[str]:
    """Yield the frame for the page and the data to build it; without scripts only the text is visible."""
    if inspection.rendered_html is None:
        return
    yield '<div class="views" role="group" aria-label="View" hidden>'
    yield '<button type="button" data-view="looks" aria-pressed="true">As it looks</button>'
    yield '<button type="button" data-view="text" aria-pressed="false">As text</button>'
    yield "<span>Pale: what the reader left out. Scripts are off, and nothing is loaded.</span></div>\n"
    yield '<section class="looks" aria-label="The page as it looks" hidden>'
    yield '<p class="note" hidden></p><div class="board"><div class="gutter"></div><div class="glass">'
    yield '<iframe sandbox="allow-same-origin" inert tabindex="-1" title="The page" '
    yield f'srcdoc="{escaped(_FRAME)}"></iframe></div></div></section>\n'
    data = inside_script(_data(inspection.document, inspection.rendered_html))
    yield f'<script type="application/json" id="looks">{data}</script>\n'


def _data(document: Document, html: str) -> str:
    """Return as JSON what to build, the units, and the elements that the reader left out."""
    tree, units = tree_of(html), units_of(document)
    edges = [edge for unit in units for pair in unit.ranges for edge in pair]
    steps = iter([high - low for low, high in pairwise([0, *utf16_offsets(document.text, edges)])])
    left_out = (tree.numbers.get(_path(item.source_ref)) for item in document.left_out)
    known = {
        "steps": tree.steps,
        "sheets": tree.sheets,
        "bare": tree.unstyled,
        "units": [[tree.numbers.get(unit.path, -1), [next(steps) for _ in unit.ranges * 2]] for unit in units],
        "leftOut": [number for number in left_out if number is not None],
    }
    return orjson.dumps(known).decode()


def units_of(document: Document) -> list[RenderedRange]:
    """Return which element shows which ranges of the text; markup is in none."""
    found: list[tuple[str, Range]] = []
    leaves = list(_leaves(document))
    first = 0
    for start, end in _visible_ranges(document):
        while first < len(leaves) and leaves[first][1][1] <= start:
            first += 1
        for index in range(first, len(leaves)):  # a slice would be a copy
            path, (low, high) = leaves[index]
            if low >= end:
                break
            found.append((path, (max(low, start), min(high, end))))
    return [RenderedRange(path, [pair for _, pair in group]) for path, group in groupby(found, itemgetter(0))]


def _visible_ranges(document: Document) -> list[Range]:
    """Return the ranges of the text that a page shows unchanged; the kind of a panel is added by the reader."""
    text = document.text
    labels = {position for found in _LABEL.finditer(text) for position in range(*found.span(1))}
    ranges: list[Range] = []
    for run in visible_runs(document):
        ends = [*run.anchors[1:], len(run.text)]
        for anchor, end, position in zip(run.anchors, ends, run.positions, strict=True):
            visible = run.text[anchor:end]
            if not text.startswith(visible, position):
                continue
            low, high = position, position + len(visible)
            while low in labels:
                low += 1
            if text[low:high].strip():
                ranges.append((low, high))
    return sorted(ranges)


def _leaves(document: Document) -> Iterator[tuple[str, Range]]:
    """Yield the innermost elements, in order, with the ranges of the text that only they hold."""
    for block in document.blocks:
        yield from _divided(block.start, block.end, block.parts, _path(block.source_ref))


def _divided(start: int, end: int, parts: Sequence[Part], path: str) -> Iterator[tuple[str, Range]]:
    for part in parts:
        if part.start > start:
            yield path, (start, part.start)
        yield from _divided(part.start, part.end, part.parts, _path(part.source_ref) or path)
        start = part.end
    if start < end:
        yield path, (start, end)


def _path(source: SourceRef | None) -> str:
    path: Any = (source or {}).get("xpath")
    return path if isinstance(path, str) else ""
