"""`spanwise strategies`, `spanwise config` and `spanwise completion`: what there is and what is in force."""

from __future__ import annotations

import argparse
import sys
from dataclasses import Field, fields
from typing import Any, Final

from spanwise.cli import planning
from spanwise.cli.chunking import config_of, flags_of
from spanwise.cli.terminal import Screen, print_json, shown, table
from spanwise.settings import Layer, Value, declared_options, in_force, settings_of
from spanwise.strategies import STRATEGIES, strategy_of

_JSON_TYPES: Final = {int: "integer", float: "number", bool: "boolean", str: "string"}


def run_strategies(arguments: argparse.Namespace) -> int:
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
            (_flag(item), _word(item.default), _range(item), item.metadata["help"])
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


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _range(item: Field[Any]) -> str:
    rules = item.metadata
    if rules["choices"]:
        return " ".join(rules["choices"])
    low, high = rules["low"], rules["high"]
    if low is None and high is None:
        return "on, off" if rules["kind"] is bool else ""
    return f"{low} to {high}" if high is not None else f"from {low}"


def run_config(arguments: argparse.Namespace) -> int:
    """Show every value that is in force, and where it was said."""
    config = config_of(arguments)
    said = in_force([*config.layers(arguments.file), *flags_of(arguments)])
    settings_of(said)
    values = {name: _without_secret(name, value) for name, value in _with_defaults(said).items()}
    if config.search:
        values |= {
            f"search.{name}": Value(value, config.layers(None)[0].origin) for name, value in config.search.items()
        }
    if arguments.json:
        file = config.path.as_posix() if config.path else None
        print_json({"config": file, "values": {name: value._asdict() for name, value in values.items()}})
        return 0
    screen = Screen(sys.stdout)
    screen.line(f"config file: {shown(config.layers(None)[0].origin) if config.path else 'none'}\n", "strong")
    rows = [("setting", "value", "from")]
    rows += [(name, shown(_word(value.value)), shown(value.origin)) for name, value in values.items()]
    for line in table(rows, width=screen.width):
        screen.line(line)
    return 0


def _without_secret(name: str, value: Value) -> Value:
    """Show that a secret was said, and not which."""
    declared = declared_options().get(name)
    hidden = declared is not None and declared.metadata["secret"] and value.value is not None
    return Value("***", value.origin) if hidden else value


def _with_defaults(said: dict[str, Value]) -> dict[str, Value]:
    """Fill in the options that nobody spoke of, as the strategy takes them beside those that were said."""
    from spanwise.options import options_of

    options = STRATEGIES[said["strategy"].value].options
    taken = options_of(options, settings_of(said).options)
    first = {name: said[name] for name in ("strategy", "tokenizer")}
    inside = {item.name: said.get(item.name, Value(getattr(taken, item.name), "default")) for item in fields(options)}
    return first | inside | {name: value for name, value in said.items() if name not in first and name not in inside}


def run_plans(arguments: argparse.Namespace) -> int:
    """Show every plan."""
    return planning.run_plans(arguments, config_of(arguments))


def run_cache(arguments: argparse.Namespace) -> int:
    """Show or empty the cache that `chunk` would use here."""
    said = in_force([*config_of(arguments).layers(None), Layer("spanwise cache", {"strategy": "smart"})])
    options: dict[str, Any] = {name: said[name].value for name in ("cache", "cache_mb") if name in said}
    if arguments.cache is not None:
        options["cache"] = arguments.cache
    return planning.run_cache(arguments, options)


def run_completion(arguments: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    import shtab

    from spanwise.cli.arguments import build_parser

    print(shtab.complete(build_parser(), arguments.shell))
    return 0
