"""Checks that read every character of a text."""

from __future__ import annotations

import re
from typing import Any, Final

_HINTS: Final = tuple(
    re.compile(hint)
    for hint in (r"\[\[", r"\[!", r"(?:\A|\n)%%", r"#[\w/\-\x80-\U0010ffff]", r"\^[A-Za-z0-9-]", r"<[fF]")
)
_MARKS: Final = re.compile(r"(?===|%%|\[!|\{#|\^)")


def is_text(text: str) -> bool:
    """Whether a string has no lone surrogate, which is no character and can't be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def misplaced(text: str, blocks: tuple[Any, ...]) -> int:
    """Return the index of the first block that is empty, overlaps another, ends after the text, or follows a gap.

    A gap is visible text in no block; one after the last gives the number of blocks. -1 stands for no such block.
    """
    reached = 0
    for index, block in enumerate(blocks):
        _, start, end, *_ = block
        if start < reached or end <= start or end > len(text) or text[reached:start].strip():
            return index
        reached = end
    return len(blocks) if text[reached:].strip() else -1


def hints(text: str) -> tuple[bool, ...]:
    """Return whether a text may hold wiki links, boxes, comments of notes, tags, block ids, figures.

    True may be wrong, False never is.
    """
    return tuple(hint.search(text) is not None for hint in _HINTS)


def mark_hints(text: str) -> list[int]:
    """Return the positions of `==`, `%%`, `[!`, `{#` and `^`: marks of notes that Markdown's parser takes for text."""
    return [found.start() for found in _MARKS.finditer(text)]
