"""A pause for the garbage collector while tens of thousands of values are made that can't be garbage.

Documents, plans and chunks hold no reference cycles, so the collector finds nothing in them. It would still walk over
all of them again and again while they grow, which costs a large document up to a fifth of its time.
"""

from __future__ import annotations

import gc
import threading
from typing import Final


class _Pause:
    """Counts who is inside, over all threads; the last one out switches the collector on again, if it was on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.was_on = False

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.was_on = gc.isenabled()
                gc.disable()
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.was_on:
                gc.enable()


def collect_seldom() -> None:
    """Let the collector rest in a process of our own: what it looks for isn't made here, and what is loaded stays."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


collector_paused: Final = _Pause()
"""Pauses the collector for the length of a `with` block."""
