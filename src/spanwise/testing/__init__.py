"""Tests for plug-ins: a class for each kind to subclass in pytest, and what they are made of.

    class TestByLines(spanwise.testing.StrategyTests):
        @pytest.fixture
        def strategy(self):
            return ByLines()

Each class has one fixture to write, named after its kind. `pip install "spanwise[testing]"` has what they need.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from spanwise.errors import MissingExtraError

if TYPE_CHECKING:
    from spanwise.testing.embedder_tests import EmbedderTests
    from spanwise.testing.laws import broken_laws
    from spanwise.testing.memory_store import MemoryStore
    from spanwise.testing.proposer_tests import ProposerTests
    from spanwise.testing.reader_tests import ReaderTests
    from spanwise.testing.reranker_tests import RerankerTests
    from spanwise.testing.store_tests import StoreTests
    from spanwise.testing.strategy_tests import StrategyTests
    from spanwise.testing.tokenizer_tests import TokenizerTests

__all__ = [
    "EmbedderTests", "MemoryStore", "ProposerTests", "ReaderTests", "RerankerTests", "StoreTests", "StrategyTests",
    "TokenizerTests", "broken_laws",
]  # fmt: skip

_HOMES = {
    "EmbedderTests": "embedder_tests",
    "MemoryStore": "memory_store",
    "ProposerTests": "proposer_tests",
    "ReaderTests": "reader_tests",
    "RerankerTests": "reranker_tests",
    "StoreTests": "store_tests",
    "StrategyTests": "strategy_tests",
    "TokenizerTests": "tokenizer_tests",
    "broken_laws": "laws",
}


def __getattr__(name: str) -> object:
    """Load a class when it is first asked for; raise MissingExtraError without pytest or Hypothesis."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spanwise.testing' has no attribute {name!r}")
    module = f"spanwise.testing.{_HOMES[name]}"
    if name.endswith("Tests"):
        for needed in ("pytest", "hypothesis"):
            if find_spec(needed) is None:
                hint = 'pip install "spanwise[testing]"'
                raise MissingExtraError(needed, "is needed for the tests of plug-ins", hint=hint)
        import pytest

        pytest.register_assert_rewrite(module)  # so that a failed assertion shows its values
    return getattr(import_module(module), name)
