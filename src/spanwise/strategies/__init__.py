"""Strategies: a file each, one table."""

from __future__ import annotations

from typing import Final

from spanwise.context import Strategy
from spanwise.errors import OptionError, did_you_mean
from spanwise.strategies.fixed import Fixed
from spanwise.strategies.heading import Heading
from spanwise.strategies.sentence import Sentence
from spanwise.strategies.simple import Simple
from spanwise.strategies.structure import Structure
from spanwise.strategies.window import Window

STRATEGIES: Final[dict[str, Strategy]] = {
    "structure": Structure(),
    "fixed": Fixed(),
    "heading": Heading(),
    "window": Window(),
    "sentence": Sentence(),
    "simple": Simple(),
}


def strategy_of(name: str) -> Strategy:
    """Find a strategy by its name."""
    if not isinstance(name, str) or name not in STRATEGIES:
        hint = did_you_mean(str(name), STRATEGIES)
        raise OptionError("strategy", "is not a known strategy", value=name, hint=hint)
    return STRATEGIES[name]
