"""A pause for the garbage collector while tens of thousands of values without reference cycles are created.

Documents, plans and chunks hold no reference cycles, so the collector finds nothing in them. It would still traverse
all of them again and again while they grow, which costs a large document up to a fifth of its time.
"""

from __future__ import annotations

import gc
import threading
from typing import Final


class _Pause:
    """A context manager that counts its users over all threads; the last exit enables the collector if it was on."""

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
    """Make the collector run rarely in our own process: it creates few cycles, and what is loaded stays."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


collector_paused: Final = _Pause()
"""Pauses the collector for the duration of a `with` block."""
