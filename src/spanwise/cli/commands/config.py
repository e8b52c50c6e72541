"""`spanwise config`: every value that is in force, and where it was set."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import Field, fields
from typing import Any

from spanwise.chunking.strategies import default_strategy, strategy_of
from spanwise.cli.inputs import config_of, flags_of
from spanwise.cli.terminal import Screen, one_line, print_json
from spanwise.options import options_of, value_text
from spanwise.pipeline.settings import Value, in_force, settings_of
from spanwise.readers import expected_format


def run(arguments: argparse.Namespace) -> None:
    """Show every value that is in force, and where it was set."""
    config = config_of(arguments)
    own = default_strategy(expected_format(arguments.file or ""))
    given = in_force([*config.layers(arguments.file), *flags_of(arguments)], [own])
    declared = strategy_of(given["strategy"].value).options.__dataclass_fields__
    values = {name: _without_secret(declared.get(name), name, value) for name, value in _with_defaults(given).items()}
    if config.search:
        origin = config.layers(None)[0].origin
        values |= {f"search.{name}": Value(value, origin) for name, value in config.search.items()}
    if arguments.json:
        file = config.path.as_posix() if config.path else None
        print_json({"config": file, "values": {name: value._asdict() for name, value in values.items()}})
        return
    screen = Screen(sys.stdout)
    screen.line(f"config file: {one_line(config.layers(None)[0].origin) if config.path else 'none'}\n", "strong")
    rows = [(name, one_line(value_text(value.value)), one_line(value.origin)) for name, value in values.items()]
    screen.table([("setting", "value", "from"), *rows])


def _without_secret(declared: Field[Any] | None, name: str, value: Value) -> Value:
    """Show that a secret is set, but not its value; of a store's address all but the password."""
    if name == "store":
        return Value(re.sub(r"(://[^/@:]*:)[^/]*@", r"\1***@", value.value), value.origin)
    hidden = declared is not None and declared.metadata["secret"] and value.value is not None
    return Value("***", value.origin) if hidden else value


def _with_defaults(given: dict[str, Value]) -> dict[str, Value]:
    """Add the options that are not given, as the strategy takes them beside those that are."""
    settings = settings_of(given)
    taken = options_of(strategy_of(settings.strategy).options, settings.options)
    first = {name: given[name] for name in ("strategy", "tokenizer")}
    options = {item.name: Value(getattr(taken, item.name), "default") for item in fields(taken)}
    return first | options | given
