"""What the arguments of all commands share: the parser, its error messages, and the arguments for settings."""

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
    """A function of a command's module, which is loaded only when the command runs."""

    def __init__(self, module: str, function: str = "run") -> None:
        self._module, self._function = module, function

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Load the module, run the command and return its exit code; None stands for 0."""
        code: int | None = getattr(import_module(f"spanwise.cli.commands.{self._module}"), self._function)(arguments)
        return code or 0


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as it is written, in lines of one width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_WIDTH)


class Parser(argparse.ArgumentParser):
    """A parser whose errors have the format of all errors here."""

    def error(self, message: str) -> NoReturn:
        """Print an error with a hint, and exit."""
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
    commands: Any, name: str, help: str, *examples: str, takes: str, add_help: bool = True, group: str = ""
) -> argparse.ArgumentParser:
    """Add a command, or an action of the command `group`, and return the parser to which its arguments are added."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=help, usage=f"spanwise {group and group + ' '}{name} [options] {takes}".rstrip(),
        description=help[0].upper() + help[1:] + ".", epilog=examples_of(*examples), formatter_class=Formatter,
        allow_abbrev=False, add_help=add_help,
    )  # fmt: skip
    run = LazyCommand(group, f"run_{name}") if group else LazyCommand(name)
    command.set_defaults(run=run, parser=command)
    return command


def examples_of(*lines: str) -> str:
    """Return the last part of a help text."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


def add_files(command: argparse.ArgumentParser) -> Any:
    """Add the arguments that choose files and how they are read; return their group."""
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
    """Add plan, strategy, tokenizer, config file and all options; few options are in the help, to keep it short."""
    default, *others = STRATEGIES
    flags = " ".join(f"--{name.replace('_', '-')}" for name in _NAMED)
    paragraph = textwrap.fill(f"{flags}, and more: spanwise strategies", _WIDTH - 4)
    group = command.add_argument_group("chunking", paragraph)
    names = ", ".join([f"{default} (default)", *others])
    group.add_argument("--strategy", choices=STRATEGIES, metavar="NAME", help=names)
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
    how: dict[str, Any] = {"type": rules["kind"], "choices": rules["choices"] or None, "metavar": "N"}
    if rules["kind"] is bool:
        how = {"action": argparse.BooleanOptionalAction, "default": None}
    group.add_argument(flag, **how, help=argparse.SUPPRESS)


def number(text: str) -> int:
    """Return a whole number that is not negative."""
    if (value := int(text)) < 0:
        raise ValueError
    return value


def seconds(text: str) -> float:
    """Return a time to wait."""
    if not 0 <= (value := float(text)) < 1e9:
        raise ValueError
    return value


seconds.__name__ = "number of seconds"
number.__name__ = "number"  # argparse names the type by it in the error for a wrong value
