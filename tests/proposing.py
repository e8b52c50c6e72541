"""A deterministic proposer for `smart` without a network: mostly valid answers, some nonsense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from spanwise import Window


def moody(window: Window) -> Sequence[int]:
    """Start a topic at about every third line; answer every fourth window with nonsense."""
    mood = crc32("\n".join(window.lines).encode("utf-8", "replace"))
    starts = [number for number, line in enumerate(window.lines, 1) if crc32(line.encode("utf-8", "replace")) % 3 == 0]
    nonsense: list[Any] = [[0], [3, 1], [len(window.lines) + 1], ["1"], [True], None, [1, 1], {"starts": []}]
    return nonsense[mood // 4 % len(nonsense)] if mood % 4 == 0 else starts


def offline(strategy: str) -> dict[str, Any]:
    """Return the extra arguments of `spanwise.chunk` that keep this strategy from using the network."""
    return {"proposer": moody} if strategy == "smart" else {}
