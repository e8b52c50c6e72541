"""What all commands' arguments have in common: the parser, its words for what is wrong, and the settings."""

from __future__ import annotations

import argparse
import re
import textwrap
from dataclasses import Field
from importlib import import_module
from typing import Any, Final, NoReturn

from spanwise.chunking.strategies import STRATEGIES
from spanwise.errors import did_you_mean
from spanwise.pipeline.settings import DEFAULT_PLANS, declared_options
from spanwise.readers import INPUTS

_WIDTH: Final = 96
_NAMED: Final = ("max_tokens", "target_tokens", "min_tokens", "overlap_tokens")
KEEP_ALL: Final = "keep what is not the main content of a web page"


class LazyCommand:
    """A function of a command's module; the module is loaded when the command runs, so that no other waits for it."""

    def __init__(self, module: str, function: str = "run") -> None:
        self._module, self._function = module, function

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Load the module and run the command."""
        code: int = getattr(import_module(f"spanwise.cli.commands.{self._module}"), self._function)(arguments)
        return code


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as it is written, in lines of one width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_WIDTH)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong the way all errors here are said."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, with a hint, and end."""
        flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
        hint = f"see {self.prog} --help"
        if unknown := re.match(r"unrecognized arguments: (--?[\w-]+)", message):
            near = did_you_mean(unknown[1], flags)
            hint = near if near.startswith("did you mean") else hint
        elif wrong := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            hint = did_you_mean(wrong[1], re.findall(r"[\w-]+", wrong[2]))
            message = message[: wrong.start()] + f"is not known: {wrong[1]!r}"
        self.exit(2, f"error: {message}\nhint: {hint}\n")


def command_of(
    commands: Any,
    name: str,
    help: str,
    *examples: str,
    takes: str,
    add_help: bool = True,
    group: str = "",
) -> argparse.ArgumentParser:
    """Add a command, or an action of the command `group`, and return what its arguments are added to."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        usage=f"spanwise {group and group + ' '}{name} [options] {takes}".rstrip(),
        description=help[0].upper() + help[1:] + ".",
        epilog=examples_of(*examples),
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=add_help,
    )
    run = LazyCommand(group, f"run_{name}") if group else LazyCommand(name)
    command.set_defaults(run=run, parser=command)
    return command


def examples_of(*lines: str) -> str:
    """Give the last part of a help text."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


def add_files(command: argparse.ArgumentParser) -> Any:
    """Add which files are meant and how they are read; give the group, for more of the kind."""
    files = command.add_argument_group("files")
    files.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these, as in .gitignore")
    files.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these, as in .gitignore")
    files.add_argument("--input-format", choices=INPUTS, metavar="NAME", help=f"read all as: {', '.join(INPUTS)}")
    files.add_argument("--password", metavar="WORD", help="opens encrypted PDFs")
    files.add_argument("--figures", metavar="DIR", help="write the figures of PDFs here; the chunks name the files")
    files.add_argument("--keep-all", action="store_true", help=KEEP_ALL)
    files.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata for every document")
    return files


def add_settings(command: argparse.ArgumentParser, *, tenant: bool = True) -> None:
    """Add plan, strategy, tokenizer, config file and all options; of the last few are named, to keep help short."""
    default, *others = STRATEGIES
    flags = " ".join(f"--{name.replace('_', '-')}" for name in _NAMED)
    paragraph = textwrap.fill(f"{flags}, and more: spanwise strategies", _WIDTH - 4)
    group = command.add_argument_group("chunking", paragraph)
    group.add_argument(
        "--strategy", choices=STRATEGIES, metavar="NAME", help=", ".join([f"{default} (default)", *others])
    )
    plans = f"{', '.join(DEFAULT_PLANS)} or your own; --tenant NAME: that tenant's"
    group.add_argument("--plan", metavar="NAME", help=plans)
    if tenant:
        group.add_argument("--tenant", metavar="NAME", help=argparse.SUPPRESS)
    group.add_argument("--tokenizer", metavar="NAME", help="cl100k, o200k, approx, words, or a tokenizer.json")
    group.add_argument("--config", metavar="FILE", help="default: the nearest spanwise.toml or pyproject.toml")
    for item in declared_options().values():
        if not item.metadata["secret"]:  # the command line can be seen by others
            _add_option(group, item)


def _add_option(group: Any, item: Field[Any]) -> None:
    flag, rules = f"--{item.name.replace('_', '-')}", item.metadata
    if rules["kind"] is bool:
        action: Any = argparse.BooleanOptionalAction
        group.add_argument(flag, action=action, default=None, help=argparse.SUPPRESS)
    else:
        kind = rules["kind"]
        group.add_argument(flag, type=kind, choices=rules["choices"] or None, metavar="N", help=argparse.SUPPRESS)


def number(words: str) -> int:
    """Read a whole number that is not negative."""
    value = int(words)
    if value < 0:
        raise ValueError
    return value


def seconds(words: str) -> float:
    """Read a time to wait."""
    value = float(words)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


seconds.__name__ = "number of seconds"
number.__name__ = "number"  # argparse says it when the words are none
