"""`spanwise store`: what is in a store, deleting documents, whether all of it agrees, and repairing it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any

from spanwise.cli.terminal import Screen, counted, one_line, print_json, print_json_lines, printable, stderr_screen
from spanwise.errors import OptionError, StoreError
from spanwise.indexing.repair import RepairReport, repair
from spanwise.stores import Store, open_store
from spanwise.stores.values import DEFAULT_TENANT


def run_status(arguments: argparse.Namespace) -> None:
    """Show what is in a store."""
    with closing(open_store(arguments.store)) as store:
        status = store.status()
    if arguments.json:
        print_json(status)
    else:
        Screen(sys.stdout).table([(name, _text(value)) for name, value in status.items()])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(printable(str(item)) for item in value.values())
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else printable(str(value))


def run_list(arguments: argparse.Namespace) -> None:
    """List the documents of a tenant, or of all."""
    with closing(open_store(arguments.store)) as store:
        records = list(_documents(store, _tenants(store, arguments)))
    if arguments.json:
        print_json_lines(records)
        return
    rows = [
        (one_line(name), f"{chunks:,}", one_line(tenant or "-"), one_line(file or "-"))
        for name, tenant, chunks, file in (one.values() for one in records)
    ]
    if rows:
        Screen(sys.stdout).table([("document", "chunks", "tenant", "file"), *rows], right=(1,))
    stderr_screen().line(counted(len(records), "document"), "strong")


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
    """Delete documents, and report ids that no document has."""
    tenant, screen = arguments.tenant or DEFAULT_TENANT, stderr_screen()
    with closing(open_store(arguments.store)) as store, store.writing(tenant, None, arguments.wait) as writer:
        known = writer.known()
        wanted = list(dict.fromkeys(arguments.ids))
        there = [name for name in wanted if name in known]
        if there:
            writer.commit([], there)
    for name in wanted:
        if name not in known:
            screen.labelled("error", f"`{one_line(name)}` is not in the store; hint: see spanwise store list", "error")
    if not arguments.quiet:
        screen.line(f"{counted(len(there), 'document')} deleted", "strong")
    return 1 if len(there) < len(wanted) else 0


def run_verify(arguments: argparse.Namespace) -> int:
    """Look for what contradicts itself in a store."""
    with closing(open_store(arguments.store)) as store:
        wrong = store.verify()
        counts = _counts(store, is_damaged=bool(wrong))
    if arguments.json:
        print_json({"findings": wrong, **counts})
        return 1 if wrong else 0
    screen = Screen(sys.stdout)
    for message in wrong:
        screen.labelled("violation", one_line(message), "error")
    there = ", ".join(counted(number, name.removesuffix("s")) for name, number in counts.items() if number is not None)
    screen.line(f"{there or 'the store'}: {f'{len(wrong):,} found' if wrong else 'all agree'}", "strong")
    if wrong:
        stderr_screen().line("hint: `spanwise store repair` keeps what is sound and rebuilds the rest")
    return 1 if wrong else 0


def _counts(store: Store, *, is_damaged: bool) -> dict[str, int | None]:
    """Return the numbers of documents and chunks; None for those of a damaged store that can't be counted."""
    try:
        status = store.status()
    except StoreError:
        if not is_damaged:
            raise
        status = {}
    return {name: status.get(name) for name in ("documents", "chunks")}


def run_repair(arguments: argparse.Namespace) -> int:
    """Rebuild a damaged store from what is sound in it, and report what was kept and what was lost."""
    report = repair(arguments.store, arguments.wait)
    if arguments.json:
        print_json(asdict(report))
    elif not arguments.quiet:
        _show_repair(report)
    return 0 if report.is_whole else 1


def _show_repair(report: RepairReport) -> None:
    screen = stderr_screen()
    if not report.findings:
        screen.line("nothing is damaged, and nothing was changed", "strong")
        return
    for name in report.lost:
        screen.labelled("lost", one_line(name), "error")
    for name in report.incomplete:
        screen.labelled("without vectors", one_line(name))
    if report.is_uncertain:
        screen.labelled("lost", "perhaps more: what was written last, or how much there was, can't be read", "error")
    again = len(report.lost) + report.unnamed
    screen.table(
        [
            ("", "kept", "lost"),
            ("documents", f"{report.documents:,}", f"{again:,}"),
            ("chunks", f"{report.chunks:,}", ""),
            ("vectors", f"{report.vectors:,}", f"of {counted(len(report.incomplete), 'document')}"),
            ("terms, full text", "made again", ""),
        ]
    )
    if report.copy:
        screen.line(f"the damaged store is kept as {one_line(report.copy)}")
    if not report.is_whole:
        screen.line("hint: run `spanwise index` as before: it reads again what was lost, and nothing else")
