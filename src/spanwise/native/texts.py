"""Looks at every character of a text."""

from __future__ import annotations

import re
from typing import Any, Final

_HINTS: Final = tuple(
    re.compile(hint)
    for hint in (r"\[\[", r"\[!", r"(?:\A|\n)%%", r"#[\w/\-\x80-\U0010ffff]", r"\^[A-Za-z0-9-]", r"<[fF]")
)


def is_text(words: str) -> bool:
    """Whether a string is whole characters only: a lone surrogate is none, and can't be written anywhere."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def misplaced(text: str, blocks: tuple[Any, ...]) -> int:
    """Find the first block that is empty, overlaps another, leaves the text, or has visible text lost before it.

    -1 stands for none, the number of blocks for visible text after the last of them.
    """
    reached = 0
    for index, block in enumerate(blocks):
        _, start, end, *_ = block
        if start < reached or end <= start or end > len(text) or text[reached:start].strip():
            return index
        reached = end
    return len(blocks) if text[reached:].strip() else -1


def hints(text: str) -> tuple[bool, ...]:
    """Say what a text may hold: wiki links, boxes, comments of notes, tags, block ids, figures.

    A hint may be wrong, but where there is none, there is nothing to be found.
    """
    return tuple(hint.search(text) is not None for hint in _HINTS)
