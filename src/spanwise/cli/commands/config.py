"""`spanwise config`: every value that is in force, and where it was set."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli.inputs import config_of, flags_of
from spanwise.cli.terminal import Screen, print_json, printable
from spanwise.options import options_of, value_text
from spanwise.pipeline.settings import Value, declared_options, in_force, settings_of


def run(arguments: argparse.Namespace) -> None:
    """Show every value that is in force, and where it was set."""
    config = config_of(arguments)
    given = in_force([*config.layers(arguments.file), *flags_of(arguments)])
    values = {name: _without_secret(name, value) for name, value in _with_defaults(given).items()}
    if config.search:
        origin = config.layers(None)[0].origin
        values |= {f"search.{name}": Value(value, origin) for name, value in config.search.items()}
    if arguments.json:
        file = config.path.as_posix() if config.path else None
        print_json({"config": file, "values": {name: value._asdict() for name, value in values.items()}})
        return
    screen = Screen(sys.stdout)
    screen.line(f"config file: {printable(config.layers(None)[0].origin) if config.path else 'none'}\n", "strong")
    rows = [(name, printable(value_text(value.value)), printable(value.origin)) for name, value in values.items()]
    screen.table([("setting", "value", "from"), *rows])


def _without_secret(name: str, value: Value) -> Value:
    """Show that a secret is set, but not its value."""
    declared = declared_options().get(name)
    hidden = declared is not None and declared.metadata["secret"] and value.value is not None
    return Value("***", value.origin) if hidden else value


def _with_defaults(given: dict[str, Value]) -> dict[str, Value]:
    """Add the options that are not given, as the strategy takes them beside those that are."""
    settings = settings_of(given)
    taken = options_of(STRATEGIES[settings.strategy].options, settings.options)
    first = {name: given[name] for name in ("strategy", "tokenizer")}
    options = {item.name: Value(getattr(taken, item.name), "default") for item in fields(taken)}
    return first | options | given
