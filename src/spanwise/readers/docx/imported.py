"""Parts in other formats that a document takes in as they are: HTML, text, or another document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Final

from spanwise.errors import UnreadableError
from spanwise.readers.container import ZIP
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.html import elements_of
from spanwise.readers.html.tree import parsed
from spanwise.readers.markup.elements import Element, Paragraph, Reference
from spanwise.readers.markup.inline import Inline
from spanwise.readers.plain import BLANK_LINES

_PAGES: Final = frozenset({".html", ".htm", ".xhtml"})
_TEXTS: Final = frozenset({".txt"})


def imported_elements(
    data: bytes, part: str, reference: Reference, inner: Callable[[bytes, str], list[Element]]
) -> list[Element] | None:
    """Return what such a part holds; None if it can't be read. `inner` reads another document."""
    suffix = PurePosixPath(part.lower()).suffix
    try:
        if data.startswith(ZIP):
            return [with_part(one, part) for one in inner(data, part)]
        if suffix in _PAGES:
            text, _ = cleaned(decoded(data, part)[0])
            return [with_part(one, part) for one in elements_of(parsed(text, part), keep_all=True)[0]]
        if suffix in _TEXTS:
            text, _ = cleaned(decoded(data, part)[0])
            return [_paragraph(one, {**reference, "part": part}) for one in BLANK_LINES.split(text) if one.strip()]
    except UnreadableError:
        return None
    return None


def _paragraph(text: str, reference: Reference) -> Paragraph:
    inline = Inline()
    inline.add_text(text)
    return Paragraph(inline.take(), reference)


def with_part(element: Any, part: str) -> Any:
    """Return an element with the name of the part that it comes from in all its references."""
    changed: dict[str, Any] = {}
    if "reference" in element._fields:
        changed["reference"] = {**element.reference, "part": part}
    for name in ("elements", "items", "rows", "cells", "captions"):
        if isinstance(getattr(element, name, None), tuple):
            changed[name] = tuple(with_part(one, part) for one in getattr(element, name))
    return element._replace(**changed) if changed else element
