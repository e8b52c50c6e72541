"""`spanwise index`: files into a store, with progress per stage and a line or a table of what was done."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from typing import Any, Final

from spanwise.cli import WRONG_USE, forget_stdout
from spanwise.cli.inputs import (
    all_need_extras,
    check_asked,
    config_of,
    files_of,
    flags_of,
    limits_of,
    no_documents,
    reading_of,
    show_left_out,
)
from spanwise.cli.progress import Stages
from spanwise.cli.proposer_view import show_report
from spanwise.cli.terminal import Screen, counted, print_json_lines
from spanwise.embedding import Embedder
from spanwise.errors import OptionError
from spanwise.indexing.index import IndexRun, embedder_for, without_calls
from spanwise.indexing.writer import DocumentReport, MissingStore
from spanwise.pipeline.jobs import Job, jobs_of, proposer_for, workers_for
from spanwise.pipeline.settings import Layer
from spanwise.sources.folder import OF_STORE, FoundFiles, without_reader
from spanwise.stores import StoreWriter, open_store, store_files
from spanwise.stores.values import DEFAULT_TENANT, Model
from spanwise.text.terms import check_installed

_STATUSES: Final = ("added", "changed", "unchanged", "deleted", "failed")
_DRY_NAMES: Final = {"added": "new", "deleted": "removed"}  # of statuses, in the table of a dry run


def run(arguments: argparse.Namespace) -> int:
    """Index what the paths name, or show what that would do; what can't be done leaves no empty store behind."""
    check_installed()
    tenant = arguments.tenant or DEFAULT_TENANT
    jobs, found = _jobs(arguments, tenant)
    check_asked(arguments, jobs)
    exists = _exists(arguments.store)
    if not jobs and not exists:
        return no_documents(arguments.paths, found)
    if all_need_extras(jobs):
        return WRONG_USE
    chosen: str | Embedder | None = arguments.embedder
    if not exists and not arguments.dry_run:
        with proposer_for(jobs):  # one that can't be asked is known now
            pass
    if chosen != "auto" or not exists:
        chosen = embedder_for(chosen, None)
        _model(chosen)  # it is loaded now, if that is needed to know its dimension
    if arguments.dry_run and not exists:
        return _index(jobs, found, MissingStore(), embedder_for(chosen, None), arguments)
    with closing(open_store(arguments.store, create=not arguments.dry_run)) as store:
        embedder = embedder_for(chosen, store.model())
        with store.writing(tenant, _model(embedder), arguments.wait) as writer:
            return _index(jobs, found, writer, embedder, arguments)


def _model(embedder: Embedder | None) -> Model | None:
    return Model(embedder.name, embedder.dimension) if embedder else None


def _exists(address: str) -> bool:
    """Whether the store exists; that of a server is assumed to."""
    return "://" in address or os.path.exists(address)  # noqa: PTH110 - for names of any length


def _jobs(arguments: argparse.Namespace, tenant: str) -> tuple[list[Job], FoundFiles]:
    if "-" in arguments.paths:
        raise OptionError("-", "can't be indexed: what is piped in has no name to find it by", hint="give a file")
    config, flags = config_of(arguments, any_tenant=True), flags_of(arguments)
    if arguments.tenant:
        flags = [*flags, Layer("--tenant", {"meta": {"tenant_id": tenant}})]
    reading = reading_of(arguments)
    found = files_of(config, arguments, arguments.paths)
    found.leave_out(store_files(arguments.store), OF_STORE)
    jobs = jobs_of(found.items(arguments.input_format), config, flags, reading)
    for job in jobs:
        if (other := job.settings.metadata.get("tenant_id") or DEFAULT_TENANT) != tenant:
            rule = f"is given to {job.item.name}, but these documents go to {tenant or 'the tenant without a name'}"
            raise OptionError("tenant_id", rule, value=other, hint=f"try --tenant {other}")
    return jobs, found


def _index(
    jobs: list[Job], found: FoundFiles, writer: StoreWriter, embedder: Embedder | None, arguments: argparse.Namespace
) -> int:
    silent = arguments.quiet or (arguments.json and sys.stdout is not None and sys.stdout.isatty())
    progress = Stages(silent=silent, embedding=embedder is not None)
    index_run = IndexRun(writer, embedder, dry=arguments.dry_run, progress=progress.show)
    plan = index_run.plan(progress.each("comparing with the store", jobs))
    unseen = [error.subject for error in found.failed]
    if not jobs and not unseen and not index_run.gone(arguments.paths, unseen):
        return no_documents(arguments.paths, found)
    if arguments.dry_run:
        plan = plan._replace(jobs=without_calls(plan.jobs))
    progress.start(len(plan.jobs))
    with proposer_for(plan.jobs) as proposer:
        workers = workers_for(arguments.jobs, plan.jobs)
        reports = chain(
            index_run.write(plan, workers, proposer, limits_of(arguments)),
            index_run.remove(arguments.paths, unseen, without_reader(found.passed)),
        )
        progress.report_errors(*found.failed)
        documents, chunks = _reported(reports, progress, as_json=arguments.json)
        documents["failed"] += len(found.failed)
    progress.finish()
    if not arguments.quiet and not arguments.json:
        _sum_up(documents, chunks, progress, embedding=embedder is not None, dry=arguments.dry_run)
        if index_run.other_settings:
            others = counted(index_run.other_settings, "document")
            progress.screen.line(f"{others} indexed with other settings, or by another version: indexed again", "dim")
        show_left_out(progress.screen, found)
        if proposer is not None and not arguments.dry_run:
            show_report(progress.screen, proposer)
    return 1 if documents["failed"] else 0


def _reported(
    reports: Iterable[DocumentReport], progress: Stages, *, as_json: bool
) -> tuple[Counter[str], Counter[str]]:
    """Report each document when it is safe in the store; count documents by status, and chunks by what was done."""
    documents: Counter[str] = Counter()
    chunks: Counter[str] = Counter()
    for report in reports:
        file = report.file or ""
        documents[report.status] += 1
        chunks.update(add=report.added, keep=report.kept, move=report.moved, delete=report.deleted)
        chunks["embed"] += report.embedded
        if as_json:
            as_json = _is_printed(_record(report))
        if report.error:
            progress.report_errors(report.error, file=file)
        progress.report_warnings(file, report.notes)
    return documents, chunks


def _is_printed(record: dict[str, Any]) -> bool:
    """Print a line; whether anybody reads it: without a reader, as after `| head`, the indexing goes on in silence."""
    try:
        print_json_lines([record])
    except BrokenPipeError:
        forget_stdout()
        return False
    return True


def _record(report: DocumentReport) -> dict[str, Any]:
    record: dict[str, Any] = {
        "document_id": report.document_id, "status": report.status, "chunks": report.chunks,
        "embedded": report.embedded, "file": report.file,
    }  # fmt: skip
    return record | ({"error": str(report.error)} if report.error else {})


def _sum_up(documents: Counter[str], chunks: Counter[str], progress: Stages, *, embedding: bool, dry: bool) -> None:
    """Show a table: on stdout what would be done, on stderr what was done."""
    screen = Screen(sys.stdout) if dry else progress.screen
    names = _DRY_NAMES if dry else {}
    done = ("add", "keep", "move", *(("embed",) if embedding else ()), "delete")
    first = ["documents", *(f"{documents[name]:,} {names.get(name, name)}" for name in _STATUSES)]
    second = ["chunks", *(f"{chunks[name]:,} {name}" for name in done)]
    screen.table([first, second + [""] * (len(first) - len(second))])
    if not embedding:
        screen.line("no embedder: chunks are found by their words alone", "dim")
    if dry:
        screen.line("a dry run: nothing was written", "dim")
        return
    total = screen.painted(counted(documents.total(), "document"), "strong")
    screen.line(f"{total} in {progress.seconds:.1f} s")
