"""HTML escaping: whatever a document contains is only ever text."""

from __future__ import annotations

import re
from typing import Final

_TEXT: Final = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;",
    "\r": "&#13;",  # the parser would replace it by a line feed
    "\0": "\ufffd",  # the parser would drop it, and every later position would be wrong
})  # fmt: skip
_JSON: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def escaped(text: str) -> str:
    """Escape text so that a browser restores it character by character."""
    return text.translate(_TEXT)


def label(text: str) -> str:
    """Escape a name or label: on one line, without characters that change direction or break the line."""
    return escaped(_CONTROLS.sub(" ", text))


def inside_script(json: str) -> str:
    """Escape JSON so that nothing in it can end the script element around it."""
    return json.translate(_JSON)


def counted(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 chunk`, `1,200 chunks`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
