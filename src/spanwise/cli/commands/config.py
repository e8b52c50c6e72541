"""`spanwise config`: every value that is in force, and where it was set."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli.inputs import config_of, flags_of
from spanwise.cli.terminal import Screen, print_json, printable, table, value_word
from spanwise.options import options_of
from spanwise.pipeline.settings import Value, declared_options, in_force, settings_of


def run(arguments: argparse.Namespace) -> int:
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
    screen.line(f"config file: {printable(config.layers(None)[0].origin) if config.path else 'none'}\n", "strong")
    rows = [("setting", "value", "from")]
    rows += [(name, printable(value_word(value.value)), printable(value.origin)) for name, value in values.items()]
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
    options = STRATEGIES[said["strategy"].value].options
    taken = options_of(options, settings_of(said).options)
    first = {name: said[name] for name in ("strategy", "tokenizer")}
    inside = {item.name: said.get(item.name, Value(getattr(taken, item.name), "default")) for item in fields(options)}
    return first | inside | {name: value for name, value in said.items() if name not in first and name not in inside}
