"""`spanwise strategies`: every strategy with its options, their defaults and what they mean."""

from __future__ import annotations

import argparse
import sys
from dataclasses import Field, fields
from typing import Any

from spanwise.chunking.strategies import STRATEGIES, strategy_of
from spanwise.cli.terminal import Screen, print_json
from spanwise.options import options_schema, value_text


def run(arguments: argparse.Namespace) -> None:
    """Show every strategy with its options."""
    names = [strategy_of(name).name for name in arguments.names] or list(STRATEGIES)
    if arguments.json:
        print_json(_schema(names))
        return
    screen = Screen(sys.stdout)
    for name in names:
        screen.line(name, "strong")
        screen.line(f"  {_purpose(name)}\n")
        rows = [
            (_flag(item), value_text(item.default), _range(item), item.metadata["help"])
            for item in fields(STRATEGIES[name].options)
        ]
        screen.table([("option", "default", "may be", "what it does"), *rows], wrapped=True, indent="  ")
        screen.line()


def _schema(names: list[str]) -> dict[str, Any]:
    """Return the JSON Schema of an object that names a strategy and its options."""
    definitions = {
        name: {
            "title": name, "description": _purpose(name), "type": "object",
            "properties": {"strategy": {"const": name}} | options_schema(STRATEGIES[name].options),
            "required": ["strategy"], "additionalProperties": False,
        }
        for name in names
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A strategy of Spanwise and its options",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": definitions,
    }


def _purpose(name: str) -> str:
    """Return the first paragraph of the docstring of the strategy's module, in one line."""
    paragraph = (sys.modules[type(STRATEGIES[name]).__module__].__doc__ or "").split("\n\n")[0]
    opening = " ".join(paragraph.split()).removeprefix(f"`{name}`: ")
    return opening[0].upper() + opening[1:]


def _flag(item: Field[Any]) -> str:
    """Return an option as the command line names it; a secret has no flag, only a name in the config file."""
    return str(item.name) if item.metadata["secret"] else f"--{item.name.replace('_', '-')}"


def _range(item: Field[Any]) -> str:
    rules = item.metadata
    if rules["choices"]:
        return " ".join(rules["choices"])
    low, high = rules["low"], rules["high"]
    if low is None and high is None:
        return "on, off" if rules["kind"] is bool else ""
    return f"{low} to {high}" if high is not None else f"from {low}"
