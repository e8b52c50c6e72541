"""The arguments of every command; the options of strategies are taken from their declarations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from spanwise.chunking.strategies import OTHER_STRATEGY_NAMES, STRATEGIES
from spanwise.cli.evaluate_arguments import add_evaluate
from spanwise.cli.output import FORMATS as OUTPUTS
from spanwise.cli.parser import (
    FORMATS,
    KEEP_ALL,
    Formatter,
    Parser,
    WrongArguments,
    add_files,
    add_plugins,
    add_settings,
    command_of,
    examples_of,
    number,
    own_flag,
)
from spanwise.cli.store_arguments import add_index, add_search, add_store
from spanwise.documents.offsets import MEASURES
from spanwise.records.columns import ALL_TEXTS, TEXTS
from spanwise.records.dialects import DEFAULT_PREFIX, DIALECTS

_EXIT_CODES: Final = (
    "exit codes: 0 all is well, 1 a file failed or a check found a violation, 2 wrong use, 3 not written"
)


def parsed(given: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command line; plug-ins are loaded only if they may be meant."""
    given = [own_flag(argument) for argument in given]
    known = None if not given or {"-h", "--help"} & {*given} else _parsed_alone(given)
    return known or _parsed(build_parser(with_plugins=True), given)


def _parsed_alone(given: Sequence[str]) -> argparse.Namespace | None:
    """Parse arguments without knowing of plug-ins; None if these may change what they mean."""
    try:
        arguments = _parsed(build_parser(is_final=False), given)
    except WrongArguments:
        return None
    return arguments if getattr(arguments, "strategy", None) in {None, *STRATEGIES, *OTHER_STRATEGY_NAMES} else None


def _parsed(parser: Parser, given: Sequence[str]) -> argparse.Namespace:
    if not given:
        parser.print_help()
        parser.exit(2)
    arguments, unknown = parser.parse_known_args(given)
    if hasattr(arguments, "paths"):  # paths may stand before and after options
        arguments.paths += [text for text in unknown if not text.startswith("-")]
        unknown = [text for text in unknown if text.startswith("-")]
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def build_parser(*, with_plugins: bool = False, is_final: bool = True) -> Parser:
    """Build the parser of all commands."""
    parser = Parser(
        prog="spanwise",
        description="Turn documents into chunks for retrieval that know exactly where they came from.",
        epilog=examples_of(
            "spanwise chunk docs/ -o chunks.jsonl", "spanwise check chunks.jsonl --source docs/",
            "spanwise stats chunks.jsonl", "spanwise chunk README.md",
        ) + f"\n\n{_EXIT_CODES}",
        formatter_class=Formatter,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("-V", "--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for add in (
        _chunk,
        _check,
        add_index,
        add_search,
        add_evaluate,
        add_store,
        _inspect,
        _read,
        _reports,
        _settings,
        _extras,
    ):
        add(commands)
    parser.is_final = is_final
    for command in commands.choices.values():
        command.is_final = is_final
    if with_plugins:
        add_plugins(settings_commands(parser))
    return parser


def settings_commands(parser: Parser) -> list[Parser]:
    """Return the commands that take the options of strategies."""
    found = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [command for choices in found for command in choices.values() if command.options]


def _chunk(commands: Any) -> None:
    command = command_of(
        commands, "chunk", "chunk files, folders, or what is piped in",
        "spanwise chunk docs/ -o chunks.jsonl --jobs 4",
        "cat page.md | spanwise chunk - --meta source_url=https://example.com/page | head -3", takes="PATH ...",
        add_help=False)  # fmt: skip
    command.add_argument("paths", nargs="+", metavar="PATH", help="files, folders (.gitignore holds), or - for stdin")
    output = command.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", help="write here; appears whole or not at all")
    what = f"{', '.join(OUTPUTS)}; by default as FILE ends"
    output.add_argument("--format", choices=OUTPUTS, metavar="NAME", help=what)
    # some options are named in the help of another, so that the help fits a screen
    names = ", ".join(DIALECTS).replace("confluence", "confluence (--id-prefix P)")
    output.add_argument("--dialect", choices=DIALECTS, metavar="NAME", help=f"as {names}")
    output.add_argument("--id-prefix", default=DEFAULT_PREFIX, metavar="P", help=argparse.SUPPRESS)
    what = f"only these, in this order; --texts {'|'.join(TEXTS)}: one text"
    output.add_argument("--fields", metavar="A,B", help=what)
    output.add_argument("--texts", choices=(*TEXTS, ALL_TEXTS), metavar="NAME", help=argparse.SUPPRESS)
    output.add_argument("--offsets", action="append", choices=MEASURES, default=[], metavar="NAME",
                        help=f"ranges in {' or '.join(MEASURES)} as well")  # fmt: skip
    output.add_argument("--lines", type=number, default=8, metavar="N", help="lines of a piece in the view; 0: all")
    output.add_argument("--dry-run", action="store_true", help="only say what smart would send, and what that costs")
    output.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    # among the options for output, so that all of them fit a screen
    output.add_argument("-h", "--help", action="help", help="show this help message and exit")
    add_files(command)
    add_settings(command)


def _check(commands: Any) -> None:
    command = command_of(
        commands, "check", "prove that chunks keep the laws",
        "spanwise check chunks.jsonl --source docs/",
        "spanwise check chunks.jsonl --max-tokens 512 --json",
        "spanwise chunk docs/ | spanwise check - --source docs/", takes="CHUNKS")  # fmt: skip
    command.add_argument("chunks", metavar="CHUNKS", help="JSON lines, JSON or Parquet; - for stdin")
    command.add_argument("--source", metavar="PATH", help="the file or folder that was chunked: proves much more")
    command.add_argument("--dialect", choices=DIALECTS, metavar="NAME", help="default: seen by its fields")
    what = f"the unit of offsets in a dialect, if it is not characters: {', '.join(MEASURES)}"
    command.add_argument("--offsets", choices=MEASURES, metavar="NAME", help=what)
    command.add_argument("--include", action="append", default=[], metavar="GLOB", help="as for chunk")
    command.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="as for chunk")
    command.add_argument("--most", type=number, default=20, metavar="N", help="violations shown of a rule; 0: all")
    command.add_argument("--json", action="store_true", help="a record for each finding, then the summary")
    command.add_argument("--input-format", choices=FORMATS, metavar="NAME", help="how the source was read")
    command.add_argument("--password", metavar="WORD", help="opens encrypted PDFs of the source")
    command.add_argument("--figures", metavar="DIR", help="as for chunk, if it was given there")
    command.add_argument("--keep-all", action="store_true", help="as for chunk, if it was given there")
    add_settings(command)


def _inspect(commands: Any) -> None:
    command = command_of(
        commands, "inspect", "write a page for the browser that shows a document with its chunks",
        "spanwise inspect handbook.md --html page.html",
        "spanwise inspect report.pdf --strategy fixed --max-tokens 300",
        "cat page.md | spanwise inspect - --html page.html", takes="FILE")  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    output = command.add_argument_group("output")
    output.add_argument("--html", dest="output", metavar="PAGE", help="default: FILE.chunks.html here; - for stdout")
    output.add_argument("--no-pictures", dest="pictures", action="store_false", help="only text: no pages as they look")
    what = "the last page that gets a picture (200)"
    output.add_argument("--pictures-up-to", type=number, default=200, metavar="N", help=what)
    output.add_argument("-q", "--quiet", action="store_true", help="no summary and no warnings")
    command.add_argument("--input-format", choices=FORMATS, metavar="NAME", help="read as: %(choices)s")
    command.add_argument("--password", metavar="WORD", help="opens an encrypted PDF")
    command.add_argument("--figures", metavar="DIR", help="as for chunk, so that the ids are the same")
    command.add_argument("--keep-all", action="store_true", help=KEEP_ALL)
    command.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata, as for chunk")
    add_settings(command)


def _read(commands: Any) -> None:
    command = command_of(
        commands, "read", "show the text that a file becomes, or its blocks",
        "spanwise read page.md", "spanwise read page.md --blocks", "spanwise read page.md --blocks --json",
        takes="FILE")  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    command.add_argument("--blocks", action="store_true", help="list the blocks: kind, range, tokens, headings, place")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("--input-format", choices=FORMATS, metavar="NAME", help="read as: %(choices)s")
    command.add_argument("--password", metavar="WORD", help="opens an encrypted PDF")
    command.add_argument("--figures", metavar="DIR", help="write the figures of a PDF here")
    command.add_argument("--keep-all", action="store_true", help=KEEP_ALL)
    command.add_argument("--tokenizer", metavar="NAME", help="counts the blocks' tokens; default: cl100k")


def _reports(commands: Any) -> None:
    """Add the commands that report on chunks or notes."""
    command = command_of(
        commands, "stats", "show sizes, types and overlap of chunks; two files side by side",
        "spanwise stats chunks.jsonl", "spanwise stats before.jsonl after.jsonl", takes="CHUNKS [CHUNKS]")  # fmt: skip
    command.add_argument("chunks", nargs="+", metavar="CHUNKS", help="one or two files of chunks; - for stdin")
    command.add_argument("--json", action="store_true", help="as JSON")
    command = command_of(
        commands, "diff", "say which chunks were added, removed, kept and moved",
        "spanwise diff old.jsonl new.jsonl", "spanwise diff old.jsonl new.jsonl --json", takes="OLD NEW")  # fmt: skip
    command.add_argument("old", metavar="OLD", help="chunks before")
    command.add_argument("new", metavar="NEW", help="chunks after")
    command.add_argument("--json", action="store_true", help="a record for each chunk that changed, then the summary")
    command = command_of(
        commands, "links", "show which links of a folder of notes lead nowhere",
        "spanwise links vault/", "spanwise links vault/ --json", takes="FOLDER")  # fmt: skip
    command.add_argument("folder", metavar="FOLDER", help="a folder of linked notes")
    command.add_argument("--json", action="store_true", help="a record for each link, with what it was found to be")


def _settings(commands: Any) -> None:
    """Add the commands that show strategies, plans and settings."""
    command = command_of(
        commands, "strategies", "show the strategies, their options, defaults and what they mean",
        "spanwise strategies", "spanwise strategies fixed --json", takes="[NAME ...]")  # fmt: skip
    command.add_argument("names", nargs="*", metavar="NAME", help="only these")
    command.add_argument("--json", action="store_true", help="as JSON Schema")
    command = command_of(
        commands, "plans", "show the plans: strategy, options, cost, latency and who has them",
        "spanwise plans", "spanwise plans --sample handbook.md", takes="")  # fmt: skip
    command.add_argument("--sample", metavar="FILE", help="measure with this document, and not with one of the demo")
    command.add_argument("--config", metavar="FILE", help="default: the nearest spanwise.toml or pyproject.toml")
    command.add_argument("--json", action="store_true", help="as JSON")
    command = command_of(
        commands, "cache", "show or clear the answers that smart keeps",
        "spanwise cache status", "spanwise cache clear", takes="ACTION")  # fmt: skip
    command.add_argument("action", choices=("status", "clear"), metavar="ACTION", help="status or clear")
    command.add_argument("--cache", metavar="DIR", help="the folder; default: as for chunk")
    command.add_argument("--config", metavar="FILE", help="default: the nearest spanwise.toml or pyproject.toml")
    command.add_argument("--json", action="store_true", help="as JSON")
    command = command_of(
        commands, "config", "show what is in force, and where each value comes from",
        "spanwise config", "spanwise config notes/plan.md", takes="[FILE]")  # fmt: skip
    command.add_argument("file", nargs="?", metavar="FILE", help="for this file")
    command.add_argument("--json", action="store_true", help="as JSON")
    add_settings(command)


def _extras(commands: Any) -> None:
    """Add the commands for a first look and for the shell."""
    command = command_of(
        commands, "demo", "chunk, index and search five handbooks that come along, in five languages",
        "spanwise demo", "spanwise demo pl zh", takes="[LANGUAGE ...]")  # fmt: skip
    command.add_argument("languages", nargs="*", metavar="LANGUAGE", help="en, pl, de, ru, zh")
    command = command_of(
        commands, "completion", "print a script that completes commands and options in your shell",
        'eval "$(spanwise completion bash)"', "spanwise completion zsh > ~/.zfunc/_spanwise",
        takes="SHELL")  # fmt: skip
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="bash, zsh or tcsh")
