"""Confluence: pages in storage format, rendered, or as the REST API gives them.

`storage` parses and walks, `handlers` and `macros` say what becomes of each element and macro, `links` what they point
at, `export` reads the JSON of the API, and `places` finds in the rendered page what stands in the stored one.
"""

from __future__ import annotations

import re
from typing import Any, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.builder import ReadResult
from spanwise.readers.confluence.alignment import placed
from spanwise.readers.confluence.detection import looks_exported, looks_stored
from spanwise.readers.confluence.export import export_of
from spanwise.readers.confluence.storage import StorageWalk, parsed
from spanwise.readers.html import elements_of, read_html
from spanwise.readers.html.tree import parsed as parsed_html
from spanwise.readers.html.visible import shown_in
from spanwise.readers.markup.elements import Element
from spanwise.readers.markup.writer import reading_of

_RENDERED: Final = re.compile(
    r"\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


def read_confluence(text: str, *, keep_all: bool = False) -> ReadResult:
    """Read a page: JSON of the REST API, storage format, or the page as it is shown."""
    if looks_exported(text):
        return _exported(text, keep_all=keep_all)
    if _RENDERED.match(text) and not looks_stored(text):
        return read_html(text, keep_all=keep_all)
    elements, found, left_out = _stored(text, keep_all=keep_all)
    return reading_of(elements, found, left_out)


def _exported(text: str, *, keep_all: bool) -> ReadResult:
    export = export_of(text)
    page = parsed_html(export.shown or "")
    if export.stored is None:
        elements, left = elements_of(page, keep_all=keep_all)
        return reading_of(elements, export.found, left, export.ancestors)._replace(shown=shown_in(page))
    elements, found, left_out = _stored(export.stored, keep_all=keep_all)
    if export.shown is not None:
        elements = placed(elements, elements_of(page, keep_all=True)[0])
    extra = {**export.found.get("extra", {}), **found.get("extra", {})}
    known = {**export.found, **({"extra": extra} if extra else {})}
    return reading_of(elements, known, left_out, export.ancestors)._replace(shown=shown_in(page))


def _stored(text: str, *, keep_all: bool) -> tuple[list[Element], dict[str, Any], list[LeftOut]]:
    tree, noted = parsed(text)
    walk = StorageWalk(keep_all=keep_all)
    elements = walk.through(tree)
    found = {"extra": {"macros": sorted(set(walk.macros))}} if walk.macros else {}
    return elements, found, [*noted, *walk.left_out]
