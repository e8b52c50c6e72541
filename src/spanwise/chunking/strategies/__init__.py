"""Strategies: a module each, and one table."""

from __future__ import annotations

from typing import Final

from spanwise.chunking.leaf_blocks import leaf_view
from spanwise.chunking.strategies.blocks import BlocksStrategy
from spanwise.chunking.strategies.fixed import FixedStrategy
from spanwise.chunking.strategies.heading import HeadingStrategy
from spanwise.chunking.strategies.hierarchical import HierarchicalStrategy
from spanwise.chunking.strategies.sentence import SentenceStrategy
from spanwise.chunking.strategies.simple import SimpleStrategy
from spanwise.chunking.strategies.smart import SmartStrategy
from spanwise.chunking.strategies.structure import StructureStrategy
from spanwise.chunking.strategies.window import WindowStrategy
from spanwise.chunking.strategy import Strategy
from spanwise.documents.document import Document
from spanwise.errors import OptionError, did_you_mean

STRATEGIES: Final[dict[str, Strategy]] = {
    "structure": StructureStrategy(),
    "fixed": FixedStrategy(),
    "heading": HeadingStrategy(),
    "window": WindowStrategy(),
    "sentence": SentenceStrategy(),
    "simple": SimpleStrategy(),
    "blocks": BlocksStrategy(),
    "hierarchical": HierarchicalStrategy(),
    "smart": SmartStrategy(),
}


DEFAULT_STRATEGY: Final = "structure"


def strategy_of(name: str) -> Strategy:
    """Return the strategy of a name; raise OptionError if there is none."""
    if not isinstance(name, str) or name not in STRATEGIES:
        hint = did_you_mean(str(name), STRATEGIES)
        raise OptionError("strategy", "is not a known strategy", value=name, hint=hint)
    return STRATEGIES[name]


def as_counted(document: Document, strategy: Strategy) -> Document:
    """Return a document with its blocks as a strategy counts them."""
    return leaf_view(document) if strategy.leafwise else document
