"""A pause for the garbage collector while tens of thousands of values are made that can't be garbage.

Documents, plans and chunks hold no reference cycles, so the collector finds nothing in them. It would still walk over
all of them again and again while they grow, which costs a large document up to a fifth of its time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Pause:
    """Counts who is inside, over all threads; the last one out switches the collector on again, if it was on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.was_on = False


_PAUSE = _Pause()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector for the length of a `with` block."""
    with _PAUSE.lock:
        if _PAUSE.inside == 0:
            _PAUSE.was_on = gc.isenabled()
            gc.disable()
        _PAUSE.inside += 1
    try:
        yield
    finally:
        with _PAUSE.lock:
            _PAUSE.inside -= 1
            if _PAUSE.inside == 0 and _PAUSE.was_on:
                gc.enable()
