"""Strategies: a module each, and one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, ParamSpec, TypeVar

from spanwise import plugins
from spanwise.chunking.leaf_blocks import leaf_view
from spanwise.chunking.plugin_strategy import PluginStrategy, plugin_strategy
from spanwise.chunking.strategies.blocks import BlocksStrategy
from spanwise.chunking.strategies.fixed import FixedStrategy
from spanwise.chunking.strategies.heading import HeadingStrategy
from spanwise.chunking.strategies.hierarchical import HierarchicalStrategy
from spanwise.chunking.strategies.sentence import SentenceStrategy
from spanwise.chunking.strategies.simple import SimpleStrategy
from spanwise.chunking.strategies.smart import SmartStrategy
from spanwise.chunking.strategies.structure import StructureStrategy
from spanwise.chunking.strategies.window import WindowStrategy
from spanwise.chunking.strategy import Strategy, StrategyLike, StrategyTraits
from spanwise.documents.document import Document
from spanwise.errors import OptionError, PluginError, SpanwiseError, did_you_mean
from spanwise.options import Options

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
FORMAT_STRATEGIES: Final[Mapping[str, str]] = {"json": "simple", "jsonl": "simple"}
"""The default strategies of the formats that have one of their own."""
OTHER_STRATEGY_NAMES: Final[Mapping[str, str]] = {
    "FIXED_SIZE": "fixed",
    "fixed-size": "fixed",
    "FixedSizeChunkingStrategy": "fixed",
    "SMART": "smart",
    "LlmSmartChunkingStrategy": "smart",
    "HIERARCHICAL": "hierarchical",
    "HierarchicalChunkingStrategy": "hierarchical",
    "by_heading": "heading",
    "strategy_by_heading": "heading",
    "sliding_window": "window",
    "strategy_sliding_window": "window",
    "SentenceTextSplitter": "sentence",
    "SimpleTextSplitter": "simple",
}
"""Names that other systems have for strategies."""
_BUILT_IN: Final = frozenset(map(type, STRATEGIES.values()))
_KIND: Final = "strategies"
Given = ParamSpec("Given")
Made = TypeVar("Made")


def strategy_of(wanted: str | StrategyLike) -> Strategy:
    """Return the strategy of a name, or an object as one; raise OptionError if there is none, PluginError if it fails.

    A built-in name wins over that of a plug-in.
    """
    if isinstance(wanted, PluginStrategy) or type(wanted) in _BUILT_IN:
        return wanted  # type: ignore[return-value]
    if not isinstance(wanted, str):
        return _own(wanted)
    if (found := known_strategy(wanted)) is None:
        hint = did_you_mean(wanted, strategy_names())
        raise OptionError("strategy", "is not a known strategy", value=wanted, hint=hint)
    return found


def default_strategy(source_type: str | None) -> str:
    """Return the name of the strategy that documents of a format have by default."""
    return FORMAT_STRATEGIES.get(source_type or "", DEFAULT_STRATEGY)


def known_strategy(name: str) -> Strategy | None:
    """Return the strategy of a name, None if there is none; raise PluginError if it can't be loaded."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name not in plugins.names(_KIND):
        return STRATEGIES.get(OTHER_STRATEGY_NAMES.get(name, ""))
    return plugins.made(_KIND, name, lambda make, who: plugin_strategy(make(), who, name))


def own_strategy_name(name: str) -> str:
    """Return the name of a strategy, whatever another system calls it; a name that is not known stays as it is."""
    if name in STRATEGIES or name not in OTHER_STRATEGY_NAMES or name in plugins.names(_KIND):
        return name
    return OTHER_STRATEGY_NAMES[name]


def strategy_names() -> list[str]:
    """Return the names of all strategies: the built-in ones, then those of plug-ins, which need not load."""
    return [*STRATEGIES, *(name for name in plugins.names(_KIND) if name not in STRATEGIES)]


def plugin_strategies() -> dict[str, Strategy | PluginError]:
    """Return the strategies of all plug-ins by name; in place of one that can't be loaded, the error."""
    found: dict[str, Strategy | PluginError] = {}
    for name in strategy_names()[len(STRATEGIES) :]:
        try:
            found[name] = strategy_of(name)
        except PluginError as error:
            found[name] = error
        except SpanwiseError as error:
            found[name] = PluginError(plugins.label(_KIND, name), f"can't be loaded ({error.subject} {error.rule})")
    return found


def _own(wanted: Any) -> Strategy:
    """Return an object of the caller as a strategy."""
    if not hasattr(wanted, "plan"):
        hint = did_you_mean("", STRATEGIES)
        raise OptionError("strategy", "must be a name, or an object with `plan`", value=wanted, hint=hint)
    found = plugin_strategy(wanted, f"strategy {getattr(wanted, 'name', type(wanted).__name__)}")
    if found.name in STRATEGIES:
        rule = "has the name of a built-in strategy"
        raise PluginError(f"strategy {found.name}", rule, value=type(wanted).__name__, hint="give it one of its own")
    return found


def with_options(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """Complete the docstring of a function that takes the options of any built-in strategy."""
    if function.__doc__:  # `python -OO` has none
        lines = [f"    {name}: {_defaults(strategy.options)}" for name, strategy in STRATEGIES.items()]
        head = f"{function.__doc__}\n    The options of each strategy, with their defaults:\n"
        function.__doc__ = "\n".join([head, *lines])
    return function


def _defaults(options: type[Options]) -> str:
    return ", ".join(f"{item.name}={item.default!r}" for item in fields(options))


def as_counted(document: Document, strategy: Strategy | StrategyTraits) -> Document:
    """Return a document with its blocks as a strategy counts them."""
    return leaf_view(document) if strategy.leafwise else document
