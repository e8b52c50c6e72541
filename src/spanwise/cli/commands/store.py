"""`spanwise store`: what is in a store, deleting documents, and whether all of it agrees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from spanwise.cli.terminal import Screen, counted, for_people, one_line, print_json, print_json_lines, printable, table
from spanwise.errors import OptionError
from spanwise.stores import Store, open_store
from spanwise.stores.values import DEFAULT_TENANT


def run_status(arguments: argparse.Namespace) -> int:
    """Show what is in a store."""
    with closing(open_store(arguments.store)) as store:
        status = store.status()
    if arguments.json:
        print_json(status)
        return 0
    screen = Screen(sys.stdout)
    rows = [(name, _word(value)) for name, value in status.items()]
    for line in table(rows, width=screen.width):
        screen.line(line)
    return 0


def _word(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{printable(str(item))}" for item in value.values())
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def run_list(arguments: argparse.Namespace) -> int:
    """List the documents of a tenant, or of all."""
    with closing(open_store(arguments.store)) as store:
        records = list(_documents(store, _tenants(store, arguments)))
    if arguments.json:
        print_json_lines(records)
        return 0
    screen = Screen(sys.stdout)
    rows = [("document", "chunks", "tenant", "file")]
    rows += [
        (
            printable(one["document_id"]),
            f"{one['chunks']:,}",
            printable(one["tenant_id"] or "-"),
            printable(one["file_path"] or "-"),
        )
        for one in records
    ]
    for line in table(rows, right=(1,), width=screen.width) if records else ():
        screen.line(line)
    for_people().line(counted(len(records), "document"), "strong")
    return 0


def _tenants(store: Store, arguments: argparse.Namespace) -> list[str]:
    if not arguments.all_tenants:
        return [arguments.tenant or DEFAULT_TENANT]
    if arguments.tenant:
        raise OptionError("--all-tenants", "and --tenant exclude each other", hint="give one of them")
    return store.tenants()


def _documents(store: Store, tenants: list[str]) -> Iterator[dict[str, Any]]:
    for tenant in tenants:
        for known in store.reading(tenant).documents():
            yield {
                "document_id": known.document_id, "tenant_id": tenant or None, "chunks": known.chunks,
                "file_path": known.file_path,
            }  # fmt: skip


def run_delete(arguments: argparse.Namespace) -> int:
    """Delete documents; an id that no document has is told."""
    tenant, screen = arguments.tenant or DEFAULT_TENANT, for_people()
    with closing(open_store(arguments.store)) as store, store.writing(tenant, None, arguments.wait) as writer:
        known = writer.known()
        wanted = list(dict.fromkeys(arguments.ids))
        there = [name for name in wanted if name in known]
        if there:
            writer.commit([], there)
    for name in wanted:
        if name not in known:
            hint = "see spanwise store list"
            screen.line(f"{screen.painted('error:', 'error')} `{one_line(name)}` is not in the store; hint: {hint}")
    if not arguments.quiet:
        screen.line(f"{counted(len(there), 'document')} deleted", "strong")
    return 1 if len(there) < len(wanted) else 0


def run_verify(arguments: argparse.Namespace) -> int:
    """Look for what contradicts itself in a store."""
    with closing(open_store(arguments.store)) as store:
        wrong, status = store.verify(), store.status()
    if arguments.json:
        print_json({"findings": wrong, "documents": status["documents"], "chunks": status["chunks"]})
        return 1 if wrong else 0
    screen = Screen(sys.stdout)
    for words in wrong:
        screen.line(f"{screen.painted('violation:', 'error')} {one_line(words)}")
    parts = counted(status["documents"], "document"), counted(status["chunks"], "chunk")
    verdict = f"{len(wrong):,} found" if wrong else "all agree"
    screen.line(f"{', '.join(parts)}: {verdict}", "strong")
    if wrong:
        for_people().line("hint: delete the store and index the documents again")
    return 1 if wrong else 0
