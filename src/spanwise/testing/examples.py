"""How the tests of plug-ins use Hypothesis: the same examples on every machine, and no deadline."""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, settings

EXAMPLES: Final = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
