"""A proposer that starts a topic every few lines."""

from __future__ import annotations

from collections.abc import Callable

import spanwise


def every(model: str) -> Callable[[spanwise.Window], list[int]]:
    """Return a function that starts a topic at every line whose number is a multiple; the model is the number."""
    step = int(model or 2)

    def propose(window: spanwise.Window) -> list[int]:
        return list(range(step, len(window.lines) + 1, step))

    return propose
