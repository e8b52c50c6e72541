"""Window and Proposal: what whoever proposes cuts is shown, and what it may answer."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """Some lines of a document, to be judged together: `lines[0]` is line 1.

    `before` and `after` are a little of what stands around them; nothing can be proposed there.
    """

    lines: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Proposal(NamedTuple):
    """The numbers of the lines where a topic starts; without an answer that can be used, the reason why not."""

    starts: tuple[int, ...] = ()
    failure: str | None = None


def fault_of(starts: object, lines: int) -> str | None:
    """Say what is wrong with an answer: it must be ascending numbers of lines of the window, and nothing else."""
    if not isinstance(starts, list | tuple):
        return "it is no list"
    if not all(type(number) is int for number in starts):
        return "it holds something else than whole numbers"
    if any(later <= earlier for earlier, later in pairwise(starts)):
        return "the numbers don't ascend"
    if starts and not (starts[0] >= 1 and starts[-1] <= lines):
        return f"a number is outside 1 to {lines}"
    return None
