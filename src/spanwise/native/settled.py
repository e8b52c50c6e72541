"""Chunks from cores that need no context, no overlap and no further cut."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, TypeVar

from spanwise.native.seams import exact_tokens

Chunk = TypeVar("Chunk")
Rules = tuple[frozenset[str], frozenset[str], int]


def settled_alone(
    text: str,
    ends: array[int],
    known: dict[str, int],
    blocks: tuple[Any, ...],
    plans: list[Any],
    rules: Rules,
    shape: Callable[..., Chunk],
) -> list[Chunk | None]:
    """Return a chunk for each planned core that needs no further work, None for each that does.

    Such a core asks for no overlap, lies in its blocks, and fits by the count of `exact_tokens`. The `rules` are the
    kinds of blocks that it must not divide, because their parts repeat context, the kinds that must not be among its
    blocks, and the limit.
    """
    repeating, left_out, limit = rules
    chunks: list[Chunk | None] = []
    for start, end, first, last, overlap, around in plans:
        count = -1
        inside = 0 <= first <= last < len(blocks)
        wanted = inside and not overlap and around is None
        if wanted and _is_plain(blocks[first : last + 1], start, end, repeating, left_out):
            count = exact_tokens(text, ends, known, start, end, "")
        chunks.append(shape(start, end, first, last, count) if 0 <= count <= limit else None)
    return chunks


def _is_plain(
    blocks: tuple[Any, ...], start: int, end: int, repeating: frozenset[str], left_out: frozenset[str]
) -> bool:
    """Whether blocks contain a core, and none of them needs further work."""
    first, last = blocks[0], blocks[-1]
    if start < first.start or end > last.end:
        return False
    if len(blocks) > 1 and any(block.kind in left_out for block in blocks):
        return False
    headless = bool(first.parts) and not first.parts[0].header
    begins_inside = first.kind in repeating and (start > first.start or headless)
    return not begins_inside and not (last.kind in repeating and end < last.end)
