"""Adding blocks under their headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def add_blocks(builder: Any, found: Sequence[Any], shape: Callable[..., object], longest: int) -> None:
    """Add the blocks that a reader found to its builder, whose positions must be those of the text.

    C creates the blocks itself, as the named tuple `shape`, and cuts names of sections at `longest` characters.
    Raise ValueError for a range that is reversed or starts outside of the text.
    """
    for block in found:
        _, start, end, *_ = block
        if not 0 <= start <= end:
            raise ValueError("a block has 0 <= start <= end")
        if start > len(builder.text):
            raise ValueError("a block starts after the end of the text")
        builder.add(*block)
