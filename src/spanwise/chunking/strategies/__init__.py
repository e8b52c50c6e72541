"""Strategies: a file each, one table."""

from __future__ import annotations

from typing import Final

from spanwise.chunking.leaf_blocks import leaf_view
from spanwise.chunking.settle import Strategy
from spanwise.chunking.strategies.blocks import Blocks
from spanwise.chunking.strategies.fixed import Fixed
from spanwise.chunking.strategies.heading import Heading
from spanwise.chunking.strategies.hierarchical import Hierarchical
from spanwise.chunking.strategies.sentence import Sentence
from spanwise.chunking.strategies.simple import Simple
from spanwise.chunking.strategies.smart import Smart
from spanwise.chunking.strategies.structure import Structure
from spanwise.chunking.strategies.window import Window
from spanwise.documents.document import Document
from spanwise.errors import OptionError, did_you_mean

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
