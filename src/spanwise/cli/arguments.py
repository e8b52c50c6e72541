"""The arguments of every command; a strategy's options are read from where they are declared."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import Field
from importlib import import_module
from typing import Any, Final, NoReturn

from spanwise.cli.writing import FORMATS as OUTPUTS
from spanwise.dialects import DEFAULT_PREFIX, DIALECTS
from spanwise.errors import did_you_mean
from spanwise.offsets import MEASURES
from spanwise.readers import INPUTS
from spanwise.settings import DEFAULT_PLANS, declared_options
from spanwise.strategies import STRATEGIES

_WIDTH: Final = 96


class _Later:
    """The module of a command: it is loaded when the command runs, so that no command waits for what others need."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, run: str) -> Callable[[argparse.Namespace], int]:
        def command(arguments: argparse.Namespace) -> int:
            code: int = getattr(import_module(f"spanwise.cli.{self._name}"), run)(arguments)
            return code

        return command


checking, chunking, comparing, describing = map(_Later, ("checking", "chunking", "comparing", "describing"))
indexing, inspecting, linking, reading = map(_Later, ("indexing", "inspecting", "linking", "reading"))
demonstrating, searching, sizing, storing = map(_Later, ("demonstrating", "searching", "sizing", "storing"))
_NAMED: Final = ("max_tokens", "target_tokens", "min_tokens", "overlap_tokens")
_KEEP_ALL: Final = "keep what is not the main content of a web page"
_EXIT_CODES: Final = (
    "exit codes: 0 all is well, 1 a file failed or a check found a violation, 2 wrong use, 3 not written"
)


def parsed(given: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command line."""
    parser = build_parser()
    if not given:
        parser.print_help()
        parser.exit(2)
    arguments, unknown = parser.parse_known_args(given)
    if hasattr(arguments, "paths"):  # paths may stand before and after options
        arguments.paths += [word for word in unknown if not word.startswith("-")]
        unknown = [word for word in unknown if word.startswith("-")]
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


class _Formatter(argparse.RawDescriptionHelpFormatter):
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


def build_parser() -> Parser:
    """Build the parser of all commands."""
    parser = Parser(
        prog="spanwise",
        description="Turn documents into chunks for retrieval that know exactly where they came from.",
        epilog=_examples(
            "spanwise chunk docs/ -o chunks.jsonl", "spanwise check chunks.jsonl --source docs/",
            "spanwise stats chunks.jsonl", "spanwise chunk README.md",
        ) + f"\n\n{_EXIT_CODES}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("-V", "--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for add in (
        _chunk, _check, _index, _search, _store, _inspect, _read, _stats, _diff, _links, _strategies, _plans, _cache,
        _config, _demo, _completion,
    ):  # fmt: skip
        add(commands)
    return parser


def _command(
    commands: Any,
    name: str,
    help: str,
    run: Callable[[argparse.Namespace], int],
    *examples: str,
    takes: str,
    add_help: bool = True,
    group: str = "",
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        usage=f"spanwise {group}{name} [options] {takes}".rstrip(),
        description=help[0].upper() + help[1:] + ".",
        epilog=_examples(*examples),
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=add_help,
    )
    command.set_defaults(run=run, parser=command)
    return command


def _examples(*lines: str) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


def _chunk(commands: Any) -> None:
    command = _command(
        commands, "chunk", "chunk files, folders, or what is piped in", chunking.run,
        "spanwise chunk docs/ -o chunks.jsonl --jobs 4",
        "cat page.md | spanwise chunk - --meta source_url=https://example.com/page | head -3", takes="PATH ...",
        add_help=False,  # it stands among the options for output, so that all of them fit a screen
    )  # fmt: skip
    command.add_argument("paths", nargs="+", metavar="PATH", help="files, folders (.gitignore holds), or - for stdin")
    output = command.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", help="write here; appears whole or not at all")
    what = f"{', '.join(OUTPUTS)}; by default as FILE ends"
    output.add_argument("--format", choices=OUTPUTS, metavar="NAME", help=what)
    output.add_argument("--dialect", choices=DIALECTS, metavar="NAME", help=f"field names of: {', '.join(DIALECTS)}")
    output.add_argument("--id-prefix", default=DEFAULT_PREFIX, metavar="P", help="of ids in confluence (EDU)")
    output.add_argument("--offsets", action="append", choices=MEASURES, default=[], metavar="NAME",
                        help=f"ranges in {' or '.join(MEASURES)} as well")  # fmt: skip
    output.add_argument("--lines", type=_number, default=8, metavar="N", help="lines of a piece in the view; 0: all")
    output.add_argument("--dry-run", action="store_true", help="only say what smart would send, and what that costs")
    output.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    output.add_argument("-h", "--help", action="help", help="show this help message and exit")
    files = command.add_argument_group("files")
    files.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these, as in .gitignore")
    files.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these, as in .gitignore")
    files.add_argument("--input-format", choices=INPUTS, metavar="NAME", help=f"read all as: {', '.join(INPUTS)}")
    files.add_argument("--password", metavar="WORD", help="opens encrypted PDFs")
    files.add_argument("--figures", metavar="DIR", help="write the figures of PDFs here; the chunks name the files")
    files.add_argument("--keep-all", action="store_true", help=_KEEP_ALL)
    files.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata for every document")
    files.add_argument("--jobs", type=_number, default=0, metavar="N", help="processes; default: as many as pay")
    _settings(command)


def _index(commands: Any) -> None:
    command = _command(
        commands, "index", "put documents into a store, doing only what changed", indexing.run,
        "spanwise index docs/ --store docs.db", "spanwise index docs/ --store docs.db --dry-run",
        "spanwise index docs/ --store docs.db --tenant acme --json", takes="PATH ... --store STORE",
    )  # fmt: skip
    command.add_argument("paths", nargs="+", metavar="PATH", help="files and folders (.gitignore holds)")
    _where(command)
    command.add_argument("--tenant", metavar="NAME", help="whose documents these are; default: nobody's")
    command.add_argument("--embedder", default="auto", metavar="NAME", help="makes the vectors; none: words alone")
    command.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    command.add_argument("--json", action="store_true", help="a line for each document when it is safe in the store")
    _waiting(command)
    files = command.add_argument_group("files")
    files.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these, as in .gitignore")
    files.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these, as in .gitignore")
    files.add_argument("--input-format", choices=INPUTS, metavar="NAME", help=f"read all as: {', '.join(INPUTS)}")
    files.add_argument("--password", metavar="WORD", help="opens encrypted PDFs")
    files.add_argument("--figures", metavar="DIR", help="write the figures of PDFs here; the chunks name the files")
    files.add_argument("--keep-all", action="store_true", help=_KEEP_ALL)
    files.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata for every document")
    what = "processes that read and chunk; default: as many as pay"
    files.add_argument("--jobs", "--workers", type=_number, default=0, metavar="N", help=what)
    _settings(command, tenant=False)


def _where(command: argparse.ArgumentParser) -> None:
    command.add_argument("--store", required=True, metavar="STORE", help="the store's file, or postgresql://...")


def _waiting(command: argparse.ArgumentParser) -> None:
    what = "seconds to wait for another writer to end (10)"
    command.add_argument("--wait", type=_seconds, default=10.0, metavar="N", help=what)
    command.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")


def _store(commands: Any) -> None:
    command: argparse.ArgumentParser = commands.add_parser(
        "store", help="look into a store: status, list, delete, verify", usage="spanwise store ACTION [options]",
        description="Look into a store, delete documents, and see whether all of it agrees.",
        epilog=_examples("spanwise store status --store docs.db", "spanwise store list --store docs.db --json"),
        formatter_class=_Formatter, allow_abbrev=False,
    )  # fmt: skip
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    _store_action(actions, "status", "show what is in a store", storing.run_status)
    listing = _store_action(actions, "list", "list the documents of a tenant", storing.run_list)
    listing.add_argument("--tenant", metavar="NAME", help="whose documents; default: nobody's")
    listing.add_argument("--all-tenants", action="store_true", help="the documents of all")
    deleting = _store_action(actions, "delete", "delete documents", storing.run_delete, takes="ID ...")
    deleting.add_argument("ids", nargs="+", metavar="ID", help="the documents' ids: see spanwise store list")
    deleting.add_argument("--tenant", metavar="NAME", help="whose documents; default: nobody's")
    _waiting(deleting)
    _store_action(actions, "verify", "see whether documents, chunks, full text and vectors agree", storing.run_verify)


def _store_action(
    actions: Any, name: str, help: str, run: Callable[[argparse.Namespace], int], takes: str = ""
) -> argparse.ArgumentParser:
    example = f"spanwise store {name} --store docs.db {'8a1f' if takes else ''}".rstrip()
    command = _command(actions, name, help, run, example, takes=f"{takes} --store STORE".lstrip(), group="store ")
    _where(command)
    if not takes:
        command.add_argument("--json", action="store_true", help="as JSON")
    return command


def _settings(command: argparse.ArgumentParser, *, tenant: bool = True) -> None:
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


def _check(commands: Any) -> None:
    command = _command(
        commands, "check", "prove that chunks keep the laws", checking.run,
        "spanwise check chunks.jsonl --source docs/",
        "spanwise check chunks.jsonl --max-tokens 512 --json",
        "spanwise chunk docs/ | spanwise check - --source docs/", takes="CHUNKS",
    )  # fmt: skip
    command.add_argument("chunks", metavar="CHUNKS", help="JSON lines, JSON or Parquet; - for stdin")
    command.add_argument("--source", metavar="PATH", help="the file or folder that was chunked: proves much more")
    command.add_argument(
        "--dialect", choices=("spec-v1", "confluence"), metavar="NAME", help="default: seen by its fields"
    )
    command.add_argument("--include", action="append", default=[], metavar="GLOB", help="as for chunk")
    command.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="as for chunk")
    command.add_argument("--most", type=_number, default=20, metavar="N", help="violations shown of a rule; 0: all")
    command.add_argument("--json", action="store_true", help="a record for each finding, then the summary")
    command.add_argument("--input-format", choices=INPUTS, metavar="NAME", help="how the source was read")
    command.add_argument("--password", metavar="WORD", help="opens encrypted PDFs of the source")
    command.add_argument("--figures", metavar="DIR", help="as for chunk, if it was given there")
    command.add_argument("--keep-all", action="store_true", help="as for chunk, if it was given there")
    _settings(command)


def _search(commands: Any) -> None:
    command = _command(
        commands, "search", "find passages that answer a question, with their place in the source", searching.run,
        'spanwise search "who approves a trip?" --store docs.db',
        'spanwise search "who approves a trip?" --store docs.db --tenant acme --budget 1000 --json',
        'spanwise search "daily rate" --store docs.db --type table --path "travel/*" --explain',
        takes="QUERY --store STORE",
    )  # fmt: skip
    command.add_argument("query", metavar="QUERY", help="words or a question; - for stdin")
    command.add_argument("--store", required=True, metavar="PATH", help="the store's file, or postgresql://...")
    command.add_argument("--tenant", metavar="NAME", help="whose documents; default: those that belong to none")
    command.add_argument("--no-vectors", dest="vectors", action="store_false", help="search the words alone")
    command.add_argument("--config", metavar="FILE", help="its table [search] has the weights; default: the nearest")
    amount = command.add_argument_group("how much")
    amount.add_argument("--limit", type=_number, metavar="N", help="passages (5; with a budget as many as it holds)")
    amount.add_argument("--budget", type=_number, metavar="N", help="tokens of all passages together")
    amount.add_argument("--tokenizer", metavar="NAME", help="counts the budget; default: as for chunk")
    amount.add_argument("--parents", action="store_true", help="the parent's text, of chunks that have one")
    filters = command.add_argument_group("which documents")
    filters.add_argument("--label", dest="labels", action="append", default=[], metavar="NAME", help="has this label")
    filters.add_argument("--space", metavar="KEY", help="is of this space of Confluence")
    filters.add_argument("--path", metavar="GLOB", help="its file is named so: * any characters, ? one")
    filters.add_argument("--since", metavar="DATE", help="was changed on that day or later")
    filters.add_argument("--until", metavar="DATE", help="was changed on that day or earlier")
    filters.add_argument(
        "--type", metavar="NAME", help="of the source (pdf, html ...) or of the chunk (table, code ...)"
    )
    output = command.add_argument_group("output")
    output.add_argument("--full", action="store_true", help="the whole text of every passage")
    output.add_argument("--explain", action="store_true", help="the parts of every score")
    output.add_argument("--json", action="store_true", help="as JSON, with everything that is known of a passage")
    output.add_argument("-q", "--quiet", action="store_true", help="no summary")


def _inspect(commands: Any) -> None:
    command = _command(
        commands, "inspect", "write a page for the browser that shows a document with its chunks", inspecting.run,
        "spanwise inspect handbook.md --html page.html",
        "spanwise inspect report.pdf --strategy fixed --max-tokens 300",
        "cat page.md | spanwise inspect - --html page.html", takes="FILE",
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    output = command.add_argument_group("output")
    output.add_argument("--html", dest="output", metavar="PAGE", help="default: FILE.chunks.html here; - for stdout")
    output.add_argument("--no-pictures", dest="pictures", action="store_false", help="only text: no pages as they look")
    what = "the last page that gets a picture (200)"
    output.add_argument("--pictures-up-to", type=_number, default=200, metavar="N", help=what)
    output.add_argument("-q", "--quiet", action="store_true", help="no summary and no warnings")
    command.add_argument("--input-format", choices=INPUTS, metavar="NAME", help=f"read as: {', '.join(INPUTS)}")
    command.add_argument("--password", metavar="WORD", help="opens an encrypted PDF")
    command.add_argument("--figures", metavar="DIR", help="as for chunk, so that the ids are the same")
    command.add_argument("--keep-all", action="store_true", help=_KEEP_ALL)
    command.add_argument("--meta", action="append", default=[], metavar="K=V", help="metadata, as for chunk")
    _settings(command)


def _read(commands: Any) -> None:
    command = _command(
        commands, "read", "show the text that a file becomes, or its blocks", reading.run,
        "spanwise read page.md", "spanwise read page.md --blocks", "spanwise read page.md --blocks --json",
        takes="FILE",
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    command.add_argument("--blocks", action="store_true", help="list the blocks: kind, range, tokens, headings, place")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("--input-format", choices=INPUTS, metavar="NAME", help=f"read as: {', '.join(INPUTS)}")
    command.add_argument("--password", metavar="WORD", help="opens an encrypted PDF")
    command.add_argument("--figures", metavar="DIR", help="write the figures of a PDF here")
    command.add_argument("--keep-all", action="store_true", help=_KEEP_ALL)
    command.add_argument("--tokenizer", metavar="NAME", help="counts the blocks' tokens; default: cl100k")


def _stats(commands: Any) -> None:
    command = _command(
        commands, "stats", "show sizes, types and overlap of chunks; two files side by side", sizing.run,
        "spanwise stats chunks.jsonl", "spanwise stats before.jsonl after.jsonl", takes="CHUNKS [CHUNKS]",
    )  # fmt: skip
    command.add_argument("chunks", nargs="+", metavar="CHUNKS", help="one or two files of chunks; - for stdin")
    command.add_argument("--json", action="store_true", help="as JSON")


def _diff(commands: Any) -> None:
    command = _command(
        commands, "diff", "say which chunks were added, removed, kept and moved", comparing.run,
        "spanwise diff old.jsonl new.jsonl", "spanwise diff old.jsonl new.jsonl --json", takes="OLD NEW",
    )  # fmt: skip
    command.add_argument("old", metavar="OLD", help="chunks before")
    command.add_argument("new", metavar="NEW", help="chunks after")
    command.add_argument("--json", action="store_true", help="a record for each chunk that changed, then the summary")


def _links(commands: Any) -> None:
    command = _command(
        commands, "links", "show which links of a folder of notes lead nowhere", linking.run,
        "spanwise links vault/", "spanwise links vault/ --json", takes="FOLDER",
    )  # fmt: skip
    command.add_argument("folder", metavar="FOLDER", help="a folder of linked notes")
    command.add_argument("--json", action="store_true", help="a record for each link, with what it was found to be")


def _strategies(commands: Any) -> None:
    command = _command(
        commands, "strategies", "show the strategies, their options, defaults and what they mean",
        describing.run_strategies, "spanwise strategies", "spanwise strategies fixed --json", takes="[NAME ...]",
    )  # fmt: skip
    command.add_argument("names", nargs="*", metavar="NAME", help="only these")
    command.add_argument("--json", action="store_true", help="as JSON Schema")


def _plans(commands: Any) -> None:
    command = _command(
        commands, "plans", "show the plans: strategy, options, cost, latency and who has them", describing.run_plans,
        "spanwise plans", "spanwise plans --sample handbook.md", takes="",
    )  # fmt: skip
    command.add_argument("--sample", metavar="FILE", help="measure with this document, and not with one of the demo")
    command.add_argument("--config", metavar="FILE", help="default: the nearest spanwise.toml or pyproject.toml")
    command.add_argument("--json", action="store_true", help="as JSON")


def _cache(commands: Any) -> None:
    command = _command(
        commands, "cache", "show or clear the answers that smart keeps", describing.run_cache,
        "spanwise cache status", "spanwise cache clear", takes="ACTION",
    )  # fmt: skip
    command.add_argument("action", choices=("status", "clear"), metavar="ACTION", help="status or clear")
    command.add_argument("--cache", metavar="DIR", help="the folder; default: as for chunk")
    command.add_argument("--config", metavar="FILE", help="default: the nearest spanwise.toml or pyproject.toml")
    command.add_argument("--json", action="store_true", help="as JSON")


def _config(commands: Any) -> None:
    command = _command(
        commands, "config", "show what is in force, and where each value comes from", describing.run_config,
        "spanwise config", "spanwise config notes/plan.md", takes="[FILE]",
    )  # fmt: skip
    command.add_argument("file", nargs="?", metavar="FILE", help="for this file")
    command.add_argument("--json", action="store_true", help="as JSON")
    _settings(command)


def _demo(commands: Any) -> None:
    command = _command(
        commands, "demo", "chunk, index and search five handbooks that come along, in five languages",
        demonstrating.run,
        "spanwise demo", "spanwise demo pl zh", takes="[LANGUAGE ...]",
    )  # fmt: skip
    command.add_argument("languages", nargs="*", metavar="LANGUAGE", help="en, pl, de, ru, zh")


def _completion(commands: Any) -> None:
    command = _command(
        commands, "completion", "print a script that completes commands and options in your shell",
        describing.run_completion, 'eval "$(spanwise completion bash)"', "spanwise completion zsh > ~/.zfunc/_spanwise",
        takes="SHELL",
    )  # fmt: skip
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="bash, zsh or tcsh")


def _number(words: str) -> int:
    number = int(words)
    if number < 0:
        raise ValueError
    return number


def _seconds(words: str) -> float:
    seconds = float(words)
    if not 0 <= seconds < 1e9:
        raise ValueError
    return seconds


_seconds.__name__ = "number of seconds"
_number.__name__ = "number"  # argparse says it when the words are none
