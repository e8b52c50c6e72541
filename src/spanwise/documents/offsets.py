"""Positions in three units: characters (Python), UTF-8 bytes (Rust, files), UTF-16 units (JavaScript, Java)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal


def utf8_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """Convert ascending character positions to UTF-8 byte offsets."""
    return _measured(text, positions, lambda piece: len(piece.encode()))


def utf16_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """Convert ascending character positions to UTF-16 unit offsets."""
    return _measured(text, positions, lambda piece: len(piece.encode("utf-16-le")) // 2)


Measure = Literal["utf8", "utf16"]
MEASURES: Final = {"utf8": utf8_offsets, "utf16": utf16_offsets}


def _measured(text: str, positions: Sequence[int], length: Callable[[str], int]) -> list[int]:
    if text.isascii():
        return list(positions)
    offsets, total, reached = [], 0, 0
    for position in positions:
        total += length(text[reached:position])
        reached = position
        offsets.append(total)
    return offsets
