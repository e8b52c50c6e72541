"""`spanwise strategies`: every strategy with its options, their defaults and what they mean."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Collection
from dataclasses import Field, fields
from typing import Any, Final

from spanwise import plugins
from spanwise.chunking.plugin_strategy import PluginStrategy
from spanwise.chunking.strategies import OTHER_STRATEGY_NAMES, STRATEGIES, plugin_strategies, strategy_of
from spanwise.chunking.strategy import Strategy
from spanwise.cli.arguments import build_parser, settings_commands
from spanwise.cli.parser import option_flag, own_flags
from spanwise.cli.terminal import Screen, one_line, print_json, stderr_screen
from spanwise.embedding import EMBEDDERS
from spanwise.errors import PluginError
from spanwise.options import options_schema, other_names, value_text
from spanwise.readers import INPUTS
from spanwise.reranking import RERANKERS
from spanwise.stores import SERVERS
from spanwise.text.tokens import TOKENIZERS

_WIDTH: Final = 96
_BUILT_IN: Final[dict[str, Collection[str]]] = {
    "strategies": STRATEGIES, "readers": INPUTS, "tokenizers": TOKENIZERS, "embedders": EMBEDDERS,
    "rerankers": RERANKERS, "stores": SERVERS,
}  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Show every strategy with its options."""
    named: dict[str, Strategy] = {name: strategy_of(name) for name in arguments.names}
    others = {} if named else plugin_strategies()
    found = named or {**STRATEGIES, **{name: one for name, one in others.items() if isinstance(one, Strategy)}}
    if arguments.json:
        print_json(_schema(found))
        return
    screen, taken = Screen(sys.stdout), own_flags(settings_commands(build_parser()))
    for name, strategy in found.items():
        screen.line(f"{name} ({_origin(name)})" if name not in STRATEGIES else name, "strong")
        screen.line(f"  {_purpose(name, strategy)}\n")
        rows = [
            (_flag(item, taken), value_text(item.default), _range(item), item.metadata["help"])
            for item in fields(strategy.options)
        ]
        screen.table([("option", "default", "may be", "what it does"), *rows], wrapped=True, indent="  ")
        if known_as := _other_names(name, strategy):
            screen.line(_wrapped(known_as), "dim")
        screen.line()
    _report_unused(others, named)


def _other_names(name: str, strategy: Strategy) -> str:
    """Return in one line by what names other systems know a strategy and its options."""
    named = [other for other, own in OTHER_STRATEGY_NAMES.items() if own == name]
    options = [
        f"{option_flag(item.name)} = {', '.join(others)}"
        for item in fields(strategy.options)
        if (others := other_names(item.name))
    ]
    return "; ".join(["other names: " + ", ".join(named)] * bool(named) + options)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _report_unused(others: dict[str, Strategy | PluginError], named: dict[str, Strategy]) -> None:
    """Write on stderr which plug-ins can't be used, and why."""
    screen = stderr_screen()
    for error in others.values():
        if isinstance(error, PluginError):
            screen.labelled("warning", one_line(str(error).replace("\nhint: ", "; hint: ")))
    for group, names in _BUILT_IN.items() if not named else ():
        for name in set(names) & set(plugins.names(group)):
            screen.labelled("warning", one_line(f"{plugins.label(group, name)} is not used: {name} is built in"))


def _origin(name: str) -> str:
    return one_line(f"plug-in of {plugins.origin('strategies', name)}")


def _schema(strategies: dict[str, Strategy]) -> dict[str, Any]:
    """Return the JSON Schema of an object that names a strategy and its options."""
    definitions = {
        name: {
            "title": name, "description": _purpose(name, strategy), "type": "object",
            "properties": {"strategy": {"const": name}} | options_schema(strategy.options),
            "required": ["strategy"], "additionalProperties": False,
        }
        for name, strategy in strategies.items()
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A strategy of Spanwise and its options",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in strategies],
        "$defs": definitions,
    }


def _purpose(name: str, strategy: Strategy) -> str:
    """Return in one line what a strategy is for: the first paragraph of a docstring, a plug-in's or its module's."""
    written = strategy.purpose if isinstance(strategy, PluginStrategy) else _module_doc(strategy)
    opening = " ".join(written.split("\n\n")[0].split()).removeprefix(f"`{name}`: ")
    return one_line(opening[:1].upper() + opening[1:])


def _module_doc(strategy: Strategy) -> str:
    return sys.modules[type(strategy).__module__].__doc__ or ""


def _flag(item: Field[Any], taken: Collection[str]) -> str:
    """Return an option as the command line names it; a secret has no flag, only a name in the config file."""
    return str(item.name) if item.metadata["secret"] else option_flag(item.name, taken)


def _range(item: Field[Any]) -> str:
    rules = item.metadata
    if rules["choices"]:
        return " ".join(rules["choices"])
    low, high = rules["low"], rules["high"]
    if low is None and high is None:
        return "on, off" if rules["kind"] is bool else ""
    return f"{low} to {high}" if high is not None else f"from {low}"
