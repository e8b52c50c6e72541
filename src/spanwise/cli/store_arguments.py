"""The arguments of the commands that use a store: index, search and store."""

from __future__ import annotations

import argparse
from typing import Any

from spanwise.cli.parser import Formatter, Parser, add_files, add_settings, command_of, examples_of, number, seconds
from spanwise.retrieval.request import DIALECTS_OF_SEARCH, UNITS


def add_index(commands: Any) -> None:
    """Add `spanwise index`."""
    command = command_of(
        commands, "index", "put documents into a store, doing only what changed",
        "spanwise index docs/ --store docs.db", "spanwise index docs/ --store docs.db --dry-run",
        "spanwise index docs/ --store docs.db --tenant acme --json", takes="PATH ...")  # fmt: skip
    command.add_argument("paths", nargs="+", metavar="PATH", help="files and folders (.gitignore holds)")
    _where(command)
    command.add_argument("--tenant", metavar="NAME", help="whose documents these are; default: nobody's")
    command.add_argument("--embedder", default="auto", metavar="NAME", help="makes the vectors; none: words alone")
    command.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    command.add_argument("--json", action="store_true", help="a line for each document when it is safe in the store")
    _waiting(command)
    add_files(command, "--workers")
    add_settings(command, tenant=False)


def add_search(commands: Any) -> None:
    """Add `spanwise search`."""
    command = command_of(
        commands, "search", "find passages that answer a question, with their place in the source",
        'spanwise search "who approves a trip?" --store docs.db',
        'spanwise search "who approves a trip?" --store docs.db --tenant acme --budget 1000 --json',
        'spanwise search "daily rate" --store docs.db --type table --path "travel/*" --explain',
        takes="QUERY")  # fmt: skip
    command.add_argument("query", metavar="QUERY", help="words or a question; - for stdin")
    _where(command)
    command.add_argument("--tenant", metavar="NAME", help="whose documents; default: those that belong to none")
    command.add_argument("--no-vectors", dest="vectors", action="store_false", help="search the words alone")
    command.add_argument("--reranker", metavar="NAME", help="scores the best chunks again, such as cohere:MODEL")
    command.add_argument(
        "--config", metavar="FILE", help="[search] in it has weights and reranker; default: the nearest"
    )
    amount = command.add_argument_group("how much")
    amount.add_argument("--limit", type=number, metavar="N", help="passages (5; with a budget as many as it holds)")
    amount.add_argument("--budget", type=number, metavar="N", help="the best sentences, of so many tokens together")
    what = "passage or sentence; by default passages, with a budget sentences"
    amount.add_argument("--unit", choices=UNITS, metavar="NAME", help=what)
    amount.add_argument("--answer", action="store_true", help="only the best sentence, and those nearly as good")
    amount.add_argument("--tokenizer", metavar="NAME", help="counts the budget; default: as for chunk")
    amount.add_argument("--parents", action="store_true", help="the parent's text, of chunks that have one")
    which = command.add_argument_group("which documents")
    which.add_argument("--label", dest="labels", action="append", default=[], metavar="NAME", help="has this label")
    which.add_argument("--space", metavar="KEY", help="is of this space of Confluence")
    which.add_argument("--path", metavar="GLOB", help="its file is named so: * any characters, ? one")
    which.add_argument("--since", metavar="DATE", help="was changed on that day or later")
    which.add_argument("--until", metavar="DATE", help="was changed on that day or earlier")
    which.add_argument("--type", metavar="NAME", help="of the source (pdf, html ...) or of the chunk (table, code ...)")
    output = command.add_argument_group("output")
    output.add_argument("--full", action="store_true", help="the whole text of every passage")
    output.add_argument("--explain", action="store_true", help="the parts of every score")
    output.add_argument("--json", action="store_true", help="as JSON, with everything that is known of a passage")
    what = f"as JSON under the names of {' or '.join(DIALECTS_OF_SEARCH)}, a chunk each"
    output.add_argument("--dialect", choices=DIALECTS_OF_SEARCH, metavar="NAME", help=what)
    output.add_argument("-q", "--quiet", action="store_true", help="no summary")


def add_store(commands: Any) -> None:
    """Add `spanwise store` with its actions."""
    command: argparse.ArgumentParser = commands.add_parser(
        "store", help="look into a store: status, list, delete, verify, repair",
        usage="spanwise store ACTION [options]",
        description="Look into a store, delete documents, see whether all of it agrees, and repair it.",
        epilog=examples_of("spanwise store status --store docs.db", "spanwise store list --store docs.db --json"),
        formatter_class=Formatter, allow_abbrev=False,
    )  # fmt: skip
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    _store_action(actions, "status", "show what is in a store")
    listing = _store_action(actions, "list", "list the documents of a tenant")
    listing.add_argument("--tenant", metavar="NAME", help="whose documents; default: nobody's")
    listing.add_argument("--all-tenants", action="store_true", help="the documents of all")
    deleting = _store_action(actions, "delete", "delete documents", takes="ID ...")
    deleting.add_argument("ids", nargs="+", metavar="ID", help="the documents' ids: see spanwise store list")
    deleting.add_argument("--tenant", metavar="NAME", help="whose documents; default: nobody's")
    _waiting(deleting)
    _store_action(actions, "verify", "see whether all is as it was written, and agrees")
    repairing = _store_action(actions, "repair", "rebuild a damaged store from what is sound in it")
    _waiting(repairing)


def _store_action(actions: Any, name: str, help: str, takes: str = "") -> argparse.ArgumentParser:
    example = f"spanwise store {name} --store docs.db {'8a1f' if takes else ''}".rstrip()
    command = command_of(actions, name, help, example, takes=takes, group="store")
    _where(command)
    if not takes:
        command.add_argument("--json", action="store_true", help="as JSON")
    return command


def _where(command: argparse.ArgumentParser) -> None:
    what = "the store's file, or postgresql://...; default: store in spanwise.toml"
    command.add_argument("--store", metavar="STORE", help=what)


def _waiting(command: argparse.ArgumentParser) -> None:
    what = "seconds to wait for another writer to end (10)"
    command.add_argument("--wait", type=seconds, default=10.0, metavar="N", help=what)
    command.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
