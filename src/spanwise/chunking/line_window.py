"""Window and Proposal: the input of a proposer, and its answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

WRONG_ANSWER: Final = "the answer was wrong twice"
"""The failure of a proposal whose answers had faults."""


class Window(NamedTuple):
    """Some lines of a document, to be judged together: `lines[0]` is line 1.

    `before` and `after` are a few lines around them, where nothing can be proposed.
    """

    lines: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Proposal(NamedTuple):
    """The numbers of the lines where a topic starts; without a usable answer, the reason."""

    starts: tuple[int, ...] = ()
    failure: str | None = None


def fault_of(starts: object, lines: int) -> str | None:
    """Return what is wrong with an answer, which must be ascending line numbers of the window; None if it is right."""
    if not isinstance(starts, list | tuple):
        return "it is no list"
    if not all(type(number) is int for number in starts):
        return "it holds something else than whole numbers"
    if any(later <= earlier for earlier, later in pairwise(starts)):
        return "the numbers don't ascend"
    if starts and not (starts[0] >= 1 and starts[-1] <= lines):
        return f"a number is outside 1 to {lines}"
    return None
