"""A circuit breaker: after failures in a row an endpoint isn't called for a while, so that a dead one costs little."""

from __future__ import annotations

from enum import Enum
from typing import Final

FAILURES: Final = 5
"""Failures in a row after which the breaker opens; a timeout counts twice."""
FIRST_REST: Final = 15.0
LONGEST_REST: Final = 600.0
"""Seconds for which the breaker stays open: twice as long after each further failure."""
PATIENCE: Final = 60.0
"""Seconds for which an endpoint may report that it is busy before the breaker opens."""


class Trouble(Enum):
    """The kinds of failed calls."""

    FAULT = "it failed, and may not fail again"
    TIME = "it took too long"
    BUSY = "the endpoint asks for patience"
    REFUSED = "the endpoint doesn't take this question"
    SHAPE = "the endpoint doesn't take this question, but may take it put more simply"
    USELESS = "no question will be answered: a wrong key, no such model, no such place"


class Breaker:
    """Whether an endpoint may be called; times are seconds of any monotonic clock."""

    def __init__(self) -> None:
        """Start closed: every call is allowed."""
        self._rest = FIRST_REST
        self.succeeded()

    def succeeded(self) -> None:
        """Close the breaker after an answer."""
        self._failures = 0
        self._rest = FIRST_REST
        self._until: float | None = None
        self._probing = False
        self._busy_since: float | None = None

    def answered(self) -> None:
        """Allow the probe after a rest once more: the endpoint responds, and only the question was refused."""
        self._probing = False

    def allows(self, now: float) -> bool:
        """Whether to call now; after a rest one call may probe, and the others don't wait for its result."""
        if self._until is None:
            return True
        if now < self._until or self._probing:
            return False
        self._probing = True
        return True

    def failed(self, now: float, trouble: Trouble, rest: float = 0.0) -> None:
        """Count a failure; open if it is one too many, for the `rest` that the endpoint asks for or the default one."""
        if trouble is Trouble.BUSY:
            self._busy_since = now if self._busy_since is None else self._busy_since
            opens = now - self._busy_since >= PATIENCE
        else:
            self._failures += 2 if trouble is Trouble.TIME else 1
            opens = trouble is Trouble.USELESS or self._failures >= FAILURES
        if opens or rest or self._probing:
            self._until, self._probing = now + min(max(self._rest, rest), LONGEST_REST), False
            self._rest = min(self._rest * 2, LONGEST_REST)
