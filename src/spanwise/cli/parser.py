"""What the arguments of all commands share: the parser, its error messages, and the arguments for settings."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import Field
from importlib import import_module
from typing import Any, Final, NoReturn

from spanwise import plugins
from spanwise.chunking.strategies import OTHER_STRATEGY_NAMES, STRATEGIES, plugin_strategies
from spanwise.cli.terminal import one_line
from spanwise.errors import PluginError, did_you_mean
from spanwise.options import DEPENDING, FlagText, own_name, own_value, switched
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.settings import DEFAULT_PLANS, declarations, declared_options
from spanwise.readers import INPUTS

_WIDTH: Final = 96
_NAMED: Final = ("max_tokens", "target_tokens", "min_tokens", "overlap_tokens")
_LIMITS: Final = Limits()
_PLUGIN_FLAGS: Final = {"tokenizer": "tokenizers", "embedder": "embedders", "store": "stores"}
KEEP_ALL: Final = "keep what is not the main content of a web page"
OPTION: Final = "option "
"""Begins the names under which the options of strategies are parsed: they may be those of other arguments."""


class Names:
    """The names that an argument takes: built-in ones, and those of plug-ins, which are looked up only if need be.

    `others` are taken too, but not listed.
    """

    def __init__(self, built_in: Collection[str], group: str, others: Collection[str] = ()) -> None:
        self._built_in, self._group, self._others = built_in, group, others

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._others or name in plugins.names(self._group)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._built_in, *plugins.names(self._group))))


FORMATS: Final = Names(
    ("markdown", "text", "html", "confluence", "json", "csv", "pdf", "xlsx"), "readers", frozenset(INPUTS)
)
"""The formats; only those that files often have under other names are listed."""


class LazyCommand:
    """A function of a command's module, which is loaded only when the command runs."""

    def __init__(self, module: str, function: str = "run") -> None:
        self._module, self._function = module, function

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Load the module, run the command and return its exit code; None stands for 0."""
        if getattr(arguments, "store", "") is None:
            arguments.store = import_module("spanwise.cli.inputs").configured_store(arguments)
        code: int | None = getattr(import_module(f"spanwise.cli.commands.{self._module}"), self._function)(arguments)
        return code or 0


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as it is written, in lines of one width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_WIDTH)


class WrongArguments(Exception):  # noqa: N818 - not an error yet
    """Raised by a parser that knows no plug-ins: one that does may understand the arguments."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors have the format of all errors here."""

    options: Any = None
    """The group of arguments for the options of strategies, if the command has any."""
    strategy: argparse.Action | None = None
    """The argument that names the strategy."""
    is_final: bool = True
    """Whether an error is to be printed, or left to a parser that knows more."""

    def error(self, message: str) -> NoReturn:
        """Print an error with a hint, and exit."""
        if not self.is_final:
            raise WrongArguments(message)
        flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
        hint = f"see {self.prog} --help"
        if unknown := re.match(r"unrecognized arguments: (--?[\w-]+)", message):
            near = did_you_mean(unknown[1], flags)
            hint = near if near.startswith("did you mean") else hint
        elif wrong := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            hint = did_you_mean(wrong[1], re.findall(r"[\w-]+", wrong[2]))
            message = message[: wrong.start()] + f"is not known: {wrong[1]!r}"
        self.exit(2, f"error: {one_line(message)}\nhint: {one_line(hint)}\n")


def command_of(
    commands: Any, name: str, help: str, *examples: str, takes: str, add_help: bool = True, group: str = ""
) -> Parser:
    """Add a command, or an action of the command `group`, and return the parser to which its arguments are added."""
    command: Parser = commands.add_parser(
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


def add_files(command: argparse.ArgumentParser, *jobs_too: str) -> None:
    """Add the arguments that choose files and how they are read; `jobs_too` are other names of `--jobs`."""
    files = command.add_argument_group("files")
    files.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these, as in .gitignore")
    what = "not these, as in .gitignore; --follow-links: links out of a folder too"
    files.add_argument("--exclude", action="append", default=[], metavar="GLOB", help=what)
    files.add_argument("--input-format", choices=FORMATS, metavar="NAME", help="read all as: %(choices)s")
    files.add_argument("--password", metavar="WORD", help="opens encrypted PDFs")
    files.add_argument("--figures", metavar="DIR", help="write the figures of PDFs here; the chunks name the files")
    files.add_argument("--keep-all", action="store_true", help=KEEP_ALL)
    files.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata for every document")
    # named in the help of others, so that the help fits a screen
    files.add_argument("--follow-links", action="store_true", help=argparse.SUPPRESS)
    files.add_argument("--file-timeout", type=seconds, default=_LIMITS.seconds, help=argparse.SUPPRESS)
    files.add_argument("--file-memory", type=number, default=_LIMITS.megabytes, help=argparse.SUPPRESS)
    what = f"processes; a file may take --file-timeout {_LIMITS.seconds:g} s, --file-memory {_LIMITS.megabytes} MB"
    files.add_argument("--jobs", *jobs_too, type=number, default=0, metavar="N", help=what)


def add_settings(command: Parser, *, tenant: bool = True) -> None:
    """Add plan, strategy, tokenizer, config file and all options; few options are in the help, to keep it short."""
    default, *others = STRATEGIES
    flags = " ".join(f"--{name.replace('_', '-')}" for name in _NAMED)
    paragraph = textwrap.fill(f"{flags}, and more: spanwise strategies", _WIDTH - 4)
    group = command.add_argument_group("chunking", paragraph)
    names = ", ".join([f"{default} (default)", *others])
    choices = Names(STRATEGIES, "strategies", OTHER_STRATEGY_NAMES)
    command.strategy = group.add_argument("--strategy", choices=choices, metavar="NAME", help=names)
    plans = f"{', '.join(DEFAULT_PLANS)} or your own; --tenant NAME: that tenant's"
    group.add_argument("--plan", metavar="NAME", help=plans)
    if tenant:
        group.add_argument("--tenant", metavar="NAME", help=argparse.SUPPRESS)
    what = "cl100k, o200k, approx, words or a tokenizer.json; --proposer: of smart"
    group.add_argument("--tokenizer", metavar="NAME", help=what)
    group.add_argument("--proposer", metavar="NAME", help=argparse.SUPPRESS)
    what = "default: the nearest spanwise.toml or pyproject.toml; --env-file FILE"
    group.add_argument("--config", metavar="FILE", help=what)
    group.add_argument("--env-file", metavar="FILE", help=argparse.SUPPRESS)
    command.options = group
    for item in declared_options().values():
        _add_option(command, option_flag(item.name), [item])
    for name in DEPENDING:
        command.options.add_argument(f"--{name}", dest=f"{OPTION}{name}", type=size_or_range, help=argparse.SUPPRESS)


def own_flag(argument: str) -> str:
    """Return a flag under the option's own name, if it is one by which another system knows it (`--CHUNK_OVERLAP`)."""
    flag, sign, value = argument.partition("=")
    if not flag.startswith("--"):
        return argument
    off = flag.startswith("--no-")
    name = flag[5 if off else 2 :].replace("-", "_")
    own = own_name(name, declared_options())
    if own not in declared_options() or name in DEPENDING:
        return argument
    if sign and not off and declared_options()[own].metadata["kind"] is bool and (on := switched(value)) is not None:
        off, sign, value = not on, "", ""
    return f"--{'no-' if off else ''}{own.replace('_', '-')}{sign}{value}"


def option_flag(name: str, taken: Collection[str] = ()) -> str:
    """Return the flag of an option; `taken` are flags that commands have for something else."""
    flag = f"--{name.replace('_', '-')}"
    return f"--strategy-{flag[2:]}" if flag in taken else flag


def own_flags(commands: Sequence[Parser]) -> set[str]:
    """Return the flags that commands have besides those for the options of strategies."""
    actions = [action for command in commands for action in command._actions if not action.dest.startswith(OPTION)]
    return {flag for action in actions for flag in action.option_strings}


def add_plugins(commands: Sequence[Parser]) -> None:
    """Add the strategies of plug-ins and their options to commands that were built without."""
    found, taken = plugin_strategies(), own_flags(commands)
    names = [f"{name} (not loaded)" if isinstance(one, PluginError) else name for name, one in found.items()]
    for command in commands:
        if command.strategy is not None and names:
            command.strategy.help = ", ".join([f"{command.strategy.help}", *names])
        for action in command._actions:
            if (group := _PLUGIN_FLAGS.get(action.dest)) and (others := plugins.names(group)):
                action.help = f"{action.help}; plug-ins: {', '.join(others)}"
        for name, items in declarations().items():
            if name not in declared_options() or len(items) > 1:
                _add_option(command, option_flag(name, taken), items)


def _add_option(command: Parser, flag: str, items: Sequence[Field[Any]]) -> None:
    """Add the flag of an option, or change it: where strategies declare it in different ways, any value is taken."""
    if all(item.metadata["secret"] for item in items):  # the command line can be seen by others
        return
    kinds = {item.metadata["kind"] for item in items}
    how: dict[str, Any] = {"dest": f"{OPTION}{items[0].name}", "help": argparse.SUPPRESS, "metavar": "N"}
    if kinds == {bool}:
        how |= {"action": argparse.BooleanOptionalAction, "default": None}
        del how["metavar"]
    elif len(items) == 1:
        how |= {"type": _typed(kinds.pop()), "choices": items[0].metadata["choices"] or None}
    else:
        how |= {"type": FlagText, **({"nargs": "?", "const": FlagText("on")} if bool in kinds else {})}
    for known in [action for action in command._actions if flag in action.option_strings]:
        command.options._remove_action(known)
        for one in known.option_strings:
            del command._option_string_actions[one]
    command.options.add_argument(flag, **how)
    if how.get("nargs"):
        no = {"action": "store_const", "const": FlagText("off"), "dest": how["dest"], "help": argparse.SUPPRESS}
        command.options.add_argument(f"--no-{flag[2:]}", **no)


def _typed(kind: type) -> Any:
    """Return what keeps the text of a value that can be converted: the strategy may want another type."""

    def keep(text: str) -> FlagText:
        kind(text)
        return FlagText(text)

    keep.__name__ = kind.__name__  # argparse names the type by it in the error for a wrong value
    return keep


def size_or_range(text: str) -> FlagText:
    """Keep the text of a size, or of one size and another (`50,80`)."""
    int(own_value("overlap", FlagText(text)))
    return FlagText(text)


size_or_range.__name__ = "number of tokens"


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
