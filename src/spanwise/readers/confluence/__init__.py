"""The Confluence reader: pages in storage format, rendered, or as JSON of the REST API.

`storage` parses and walks, `handlers` and `macros` handle each element and macro, `links` resolves what they point
at, `export` reads the JSON of the API, and `alignment` finds the stored elements in the rendered page.
"""

from __future__ import annotations

import re
from typing import Any, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.builder import ReadResult
from spanwise.readers.confluence.alignment import aligned
from spanwise.readers.confluence.detection import looks_exported, looks_stored
from spanwise.readers.confluence.export import export_of
from spanwise.readers.confluence.storage import StorageWalk, parsed
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.html import elements_of, read_html
from spanwise.readers.html.tree import parsed as parsed_html
from spanwise.readers.html.visible import visible_runs
from spanwise.readers.markup.elements import Element
from spanwise.readers.markup.writer import read_result

_RENDERED: Final = re.compile(
    r"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


def read_confluence(text: str, *, keep_all: bool = False) -> ReadResult:
    """Read a page: JSON of the REST API, storage format, or the rendered page."""
    if looks_exported(text):
        return _exported(text, keep_all=keep_all)
    if _RENDERED.match(text) and not looks_stored(text):
        return read_html(text, keep_all=keep_all)
    elements, found, left_out = _stored(text, keep_all=keep_all)
    return read_result(elements, found, left_out)


def rendered(data: bytes, name: str) -> str | None:
    """Return the HTML that a browser renders for a file of HTML or Confluence; None if it has only storage format."""
    text, _ = cleaned(decoded(data, name)[0])
    return export_of(text).rendered if looks_exported(text) else text


def _exported(text: str, *, keep_all: bool) -> ReadResult:
    export = export_of(text)
    page = parsed_html(export.rendered or "")
    if export.stored is None:
        elements, left = elements_of(page, keep_all=keep_all)
        return read_result(elements, export.found, left, export.ancestors)._replace(visible=visible_runs(page))
    elements, found, left_out = _stored(export.stored, keep_all=keep_all)
    if export.rendered is not None:
        elements = aligned(elements, elements_of(page, keep_all=True)[0])
    extra = {**export.found.get("extra", {}), **found.get("extra", {})}
    known = {**export.found, **({"extra": extra} if extra else {})}
    return read_result(elements, known, left_out, export.ancestors)._replace(visible=visible_runs(page))


def _stored(text: str, *, keep_all: bool) -> tuple[list[Element], dict[str, Any], list[LeftOut]]:
    tree, problems = parsed(text)
    walk = StorageWalk(keep_all=keep_all)
    elements = walk.elements_of(tree)
    found = {"extra": {"macros": sorted(set(walk.macros))}} if walk.macros else {}
    return elements, found, [*problems, *walk.left_out]
