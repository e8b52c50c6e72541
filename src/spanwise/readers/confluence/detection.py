"""Detection of Confluence pages without parsing."""

from __future__ import annotations

import re
from typing import Final

_STORED: Final = re.compile(r"<(?:ac|ri):[a-z]")
_PAGE: Final = re.compile(r"<(?:!doctype|html|head|body|script)\b", re.IGNORECASE)
_EXPORTED: Final = re.compile(r'"body"\s*:\s*\{')


def looks_stored(text: str) -> bool:
    """Whether a text has elements that exist only in storage format."""
    return _STORED.search(text) is not None


def looks_stored_alone(data: bytes) -> bool:
    """Whether a file named as HTML is storage format; a whole page that only quotes such elements is not."""
    if b"<ac:" not in data and b"<ri:" not in data:
        return False
    text = data.decode("utf-8", "replace")
    first = _STORED.search(text)
    return first is not None and _PAGE.search(text, 0, first.start()) is None


def looks_exported(text: str) -> bool:
    """Whether a text is JSON of the REST API with the body of a page."""
    return text.lstrip()[:1] == "{" and _EXPORTED.search(text) is not None
