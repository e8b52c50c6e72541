"""Front matter: the YAML or TOML that may open a Markdown file."""

from __future__ import annotations

import re
from typing import Final

_OPENING: Final = re.compile(r"\A(---|\+\+\+)[ \t]*\n")
_CLOSING: Final = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
# a rule and a paragraph may stand at the top as well: only what opens like a key or a comment is front matter
_KEY: Final = re.compile(r"""(?:\#[^\n]*\n)*(?:\Z|["']?[\w.-]+(?:[ ][\w.-]+)*["']?[ \t]*(?:=|:(?:\s|\Z))|\[)""")
_TITLE: Final = re.compile(r"""^title[ \t]*[:=][ \t]*(["']?)(.*?)\1[ \t]*$""", re.MULTILINE)


def front_matter_end(text: str) -> int:
    """Where the front matter ends, after its closing line; 0 without one."""
    opening = _OPENING.match(text)
    if not opening:
        return 0
    closing = _CLOSING[opening[1]].search(text, opening.end())
    if not closing or not _KEY.match(text, opening.end(), closing.start()):
        return 0
    return closing.start() + len(opening[1])


def front_matter_title(text: str, end: int) -> str | None:
    """Give the value of `title`, when it is a plain or quoted string on one line."""
    found = _TITLE.search(text, 0, end)
    return found[2].strip() or None if found else None
