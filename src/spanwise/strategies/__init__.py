"""Strategies: a file each, one table."""

from __future__ import annotations

from typing import Final

from spanwise.context import Strategy
from spanwise.documents import Document
from spanwise.errors import OptionError, did_you_mean
from spanwise.leaves import leaf_view
from spanwise.strategies.blocks import Blocks
from spanwise.strategies.fixed import Fixed
from spanwise.strategies.heading import Heading
from spanwise.strategies.hierarchical import Hierarchical
from spanwise.strategies.sentence import Sentence
from spanwise.strategies.simple import Simple
from spanwise.strategies.smart import Smart
from spanwise.strategies.structure import Structure
from spanwise.strategies.window import Window

STRATEGIES: Final[dict[str, Strategy]] = {
    "structure": Structure(),
    "fixed": Fixed(),
    "heading": Heading(),
    "window": Window(),
    "sentence": Sentence(),
    "simple": Simple(),
    "blocks": Blocks(),
    "hierarchical": Hierarchical(),
    "smart": Smart(),
}


def strategy_of(name: str) -> Strategy:
    """Find a strategy by its name."""
    if not isinstance(name, str) or name not in STRATEGIES:
        hint = did_you_mean(str(name), STRATEGIES)
        raise OptionError("strategy", "is not a known strategy", value=name, hint=hint)
    return STRATEGIES[name]


def as_counted(document: Document, strategy: str) -> Document:
    """Give a document with its blocks as a strategy counts them."""
    return leaf_view(document) if STRATEGIES[strategy].leafwise else document
