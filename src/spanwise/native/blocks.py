"""Blocks under their headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def add_blocks(builder: Any, seen: Sequence[Any], shape: Callable[..., object], longest: int) -> None:
    """Add what a reader has seen to its builder, whose positions must be those of the text.

    C makes the blocks in the given `shape` itself, with names of sections that are at most so long.
    """
    for block in seen:
        builder.add(*block)
