"""`spanwise strategies`: every strategy with its options, their defaults and what they mean."""

from __future__ import annotations

import argparse
import sys
from dataclasses import Field, fields
from typing import Any, Final

from spanwise.chunking.strategies import STRATEGIES, strategy_of
from spanwise.cli.terminal import Screen, print_json, table, value_word

_JSON_TYPES: Final = {int: "integer", float: "number", bool: "boolean", str: "string"}


def run(arguments: argparse.Namespace) -> int:
    """Show every strategy with its options."""
    names = [strategy_of(name).name for name in arguments.names] or list(STRATEGIES)
    if arguments.json:
        print_json(schema_of(names))
        return 0
    screen = Screen(sys.stdout)
    for name in names:
        screen.line(name, "strong")
        screen.line(f"  {_purpose(name)}\n")
        rows = [("option", "default", "may be", "what it does")]
        rows += [
            (_flag(item), value_word(item.default), _range(item), item.metadata["help"])
            for item in fields(STRATEGIES[name].options)
        ]
        for line in table(rows, width=screen.width - 2, wrapped=True):
            screen.line(f"  {line}")
        screen.line()
    return 0


def schema_of(names: list[str]) -> dict[str, Any]:
    """Give the JSON Schema of an object that names a strategy and its options."""
    definitions = {name: _schema(name) for name in names}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A strategy of Spanwise and its options",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": definitions,
    }


def _schema(name: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"strategy": {"const": name}}
    properties |= {item.name: _property(item) for item in fields(STRATEGIES[name].options)}
    return {
        "title": name,
        "description": _purpose(name),
        "type": "object",
        "properties": properties,
        "required": ["strategy"],
        "additionalProperties": False,
    }


def _property(item: Field[Any]) -> dict[str, Any]:
    rules = item.metadata
    kind: Any = _JSON_TYPES[rules["kind"]]
    found = {
        "type": [kind, "null"] if item.default is None else kind,
        "default": item.default,
        "description": rules["help"],
        "minimum": rules["low"],
        "maximum": rules["high"],
        "enum": list(rules["choices"]) or None,
    }
    return {key: value for key, value in found.items() if value is not None or key == "default"}


def _purpose(name: str) -> str:
    """Give what the strategy's own module says of it, in one line."""
    words = (sys.modules[type(STRATEGIES[name]).__module__].__doc__ or "").split("\n\n")
    opening = " ".join(words[0].split()).removeprefix(f"`{name}`: ")
    return opening[0].upper() + opening[1:]


def _flag(item: Field[Any]) -> str:
    """Name an option as the command line does; a secret has no flag, only a name in the config file."""
    return str(item.name) if item.metadata["secret"] else f"--{item.name.replace('_', '-')}"


def _range(item: Field[Any]) -> str:
    rules = item.metadata
    if rules["choices"]:
        return " ".join(rules["choices"])
    low, high = rules["low"], rules["high"]
    if low is None and high is None:
        return "on, off" if rules["kind"] is bool else ""
    return f"{low} to {high}" if high is not None else f"from {low}"
