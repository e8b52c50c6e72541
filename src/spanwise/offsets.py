"""One position in three measures: characters (Python), UTF-8 bytes (Rust, files), UTF-16 units (JavaScript, Java)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy

_STEP: Final = 1 << 18  # windows that stay in the processor's cache: a full-length sum costs memory, and that is time


def characters_at(raw: bytes, byte_positions: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Turn ascending byte positions of UTF-8 into character positions; one inside a character goes after it."""
    import numpy

    data = numpy.frombuffer(raw, numpy.int8)
    if len(data) <= _STEP:  # most documents
        sums = numpy.zeros(len(data) + 1, numpy.int32)
        numpy.cumsum(data >= -64, out=sums[1:])  # continuation bytes are -128 … -65
        small: numpy.ndarray[Any, Any] = sums[byte_positions]
        return small
    characters = numpy.empty(len(byte_positions), numpy.int32)
    edges = numpy.arange(0, len(data) + _STEP, _STEP, dtype=byte_positions.dtype)
    bounds: list[int] = byte_positions.searchsorted(edges, "left").tolist()
    before = 0
    for start, low, high in zip(range(0, len(data), _STEP), bounds, bounds[1:], strict=False):
        sums = numpy.empty(min(_STEP, len(data) - start) + 1, numpy.int32)
        sums[0] = 0
        numpy.cumsum(data[start : start + _STEP] >= -64, out=sums[1:])
        characters[low:high] = sums[byte_positions[low:high] - start] + before
        before += int(sums[-1])
    characters[bounds[-1] :] = before
    return characters


def utf8_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """Turn ascending character positions into UTF-8 byte positions."""
    return _measured(text, positions, lambda piece: len(piece.encode()))


def utf16_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """Turn ascending character positions into UTF-16 unit positions."""
    return _measured(text, positions, lambda piece: len(piece.encode("utf-16-le")) // 2)


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
