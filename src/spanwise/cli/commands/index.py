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

from spanwise.cli.inputs import config_of, files_of, flags_of, nothing_found, reading_of, tell
from spanwise.cli.proposer_view import report_line
from spanwise.cli.terminal import Progress, Screen, bar, counted, for_people, one_line, print_json_lines, table
from spanwise.embedding import Embedder
from spanwise.errors import OptionError, UnreadableError
from spanwise.indexing.index import IndexEvent, IndexRun, embedder_for, without_calls
from spanwise.indexing.writer import DocumentReport, MissingStore
from spanwise.pipeline.jobs import Job, jobs_of, proposer_for, workers_for
from spanwise.pipeline.settings import Layer
from spanwise.sources.folder import FoundFiles
from spanwise.stores import StoreWriter, open_store
from spanwise.stores.values import DEFAULT_TENANT, Model

_STATUSES: Final = ("added", "changed", "unchanged", "deleted", "failed")
_WORDS: Final = {"added": "new", "deleted": "removed"}  # in the table of a plan


class Stages(Progress):
    """Progress by stage: how many documents were read, and how many chunks were made, embedded and written."""

    def __init__(self, *, silent: bool, embedding: bool) -> None:
        """Start to count; the total is set when it is known."""
        super().__init__(0, silent=silent)
        self._counts: Counter[str] = Counter()
        self._stages = ("chunk", "embed", "write") if embedding else ("chunk", "write")

    def show(self, event: IndexEvent) -> None:
        """Show how far a stage is."""
        self._counts[event.stage] = event.done
        self.documents = self._counts["read"]
        if event.stage != "read":
            self.draw()

    def words(self) -> str:
        """Return how far each stage is, in a line."""
        done = self.documents / max(self.total, 1)
        stages = (f"{name} {self._counts[name]:,}" for name in self._stages)
        return " · ".join((f"{bar(done, 20):<20} {done:4.0%}", f"read {self.documents:,}/{self.total:,}", *stages))


def run(arguments: argparse.Namespace) -> int:
    """Index what the paths name, or show what that would do."""
    tenant = arguments.tenant or DEFAULT_TENANT
    jobs, found = _jobs(arguments, tenant)
    exists = _exists(arguments.store)
    if not jobs and not exists:
        for error in found.failed:
            tell(for_people(), Progress(0), error)
        if found.failed:
            return 1
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(found))
    if arguments.dry_run and not exists:
        return _index(jobs, found, MissingStore(), embedder_for(arguments.embedder, None), arguments)
    with closing(open_store(arguments.store, create=not arguments.dry_run)) as store:
        embedder = embedder_for(arguments.embedder, store.model())
        model = Model(embedder.name, embedder.dimension) if embedder else None
        with store.writing(tenant, model, arguments.wait) as writer:
            return _index(jobs, found, writer, embedder, arguments)


def _exists(address: str) -> bool:
    """Whether the store is there; whether a server has one is asked later."""
    return "://" in address or os.path.exists(address)  # noqa: PTH110 - for names of any length


def _jobs(arguments: argparse.Namespace, tenant: str) -> tuple[list[Job], FoundFiles]:
    if "-" in arguments.paths:
        raise OptionError("-", "can't be indexed: what is piped in has no name to find it by", hint="give a file")
    config, flags = config_of(arguments, any_tenant=True), flags_of(arguments)
    if arguments.tenant:
        flags = [*flags, Layer("--tenant", {"meta": {"tenant_id": tenant}})]
    reading = reading_of(arguments)
    found = files_of(config, arguments, arguments.paths)
    jobs = jobs_of(found.items(arguments.input_format), config, flags, reading)
    for job in jobs:
        if (other := job.settings.metadata.get("tenant_id") or DEFAULT_TENANT) != tenant:
            rule = f"is given to {job.item.name}, but these documents go to {tenant or 'the tenant without a name'}"
            raise OptionError("tenant_id", rule, value=other, hint=f"try --tenant {other}")
    return jobs, found


def _index(
    jobs: list[Job],
    found: FoundFiles,
    writer: StoreWriter,
    embedder: Embedder | None,
    arguments: argparse.Namespace,
) -> int:
    silent = arguments.quiet or (arguments.json and sys.stdout is not None and sys.stdout.isatty())
    progress = Stages(silent=silent, embedding=embedder is not None)
    doing = IndexRun(writer, embedder, dry=arguments.dry_run, progress=progress.show)
    plan = doing.plan(jobs)
    unseen = [error.subject for error in found.failed]
    if not jobs and not unseen and not doing.gone(arguments.paths, unseen):
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(found))
    if arguments.dry_run:
        plan = plan._replace(jobs=without_calls(plan.jobs))
    progress.total = len(plan.jobs)
    with proposer_for(plan.jobs) as proposer:
        # where a model is asked, in this process, so that one proposer keeps the bounds for all
        workers = 1 if proposer else workers_for(arguments.jobs, plan.jobs)
        written = doing.write(plan, workers, proposer)
        reports = _told(chain(written, doing.remove(arguments.paths, unseen)), found, progress, arguments)
    progress.clear()
    if not arguments.quiet and not arguments.json:
        _sum_up(reports, progress, embedding=embedder is not None, dry=arguments.dry_run)
        if proposer is not None and not arguments.dry_run:
            for_people().line(report_line(proposer.report), "head" if proposer.report.fallbacks else "dim")
    return 1 if reports["documents"]["failed"] or found.failed else 0


def _told(
    reports: Iterable[DocumentReport], found: FoundFiles, progress: Stages, arguments: argparse.Namespace
) -> dict[str, Counter[str]]:
    """Tell of each document when it is safe, and count."""
    documents: Counter[str] = Counter()
    chunks: Counter[str] = Counter()
    screen = for_people()
    for error in found.failed:
        tell(screen, progress, error)
    for report in reports:
        documents[report.status] += 1
        chunks.update(add=report.added, keep=report.kept, move=report.moved, delete=report.deleted)
        chunks["embed"] += report.embedded
        if arguments.json:
            print_json_lines([_line(report)])
        if report.error:
            tell(screen, progress, report.error, report.file or "")
        for note in report.notes:
            progress.clear()
            words = f"{one_line(report.file or '')}: {one_line(note)}"
            screen.line(f"{screen.painted('warning:', 'head')} {words}")
    return {"documents": documents, "chunks": chunks}


def _line(report: DocumentReport) -> dict[str, Any]:
    line: dict[str, Any] = {
        "document_id": report.document_id, "status": report.status, "chunks": report.chunks,
        "embedded": report.embedded, "file": report.file,
    }  # fmt: skip
    return line | ({"error": str(report.error)} if report.error else {})


def _sum_up(counts: dict[str, Counter[str]], progress: Stages, *, embedding: bool, dry: bool) -> None:
    """Show a table: on stdout what would be done, on stderr what was done."""
    screen = Screen(sys.stdout) if dry else for_people()
    documents, chunks = counts["documents"], counts["chunks"]
    shown = [(_WORDS.get(name, name) if dry else name, documents[name]) for name in _STATUSES]
    embed = [("embed", chunks["embed"])] if embedding else []
    names = ("add", "keep", "move")
    rows = [("documents", shown), ("chunks", [*((name, chunks[name]) for name in names), *embed])]
    rows[1][1].append(("delete", chunks["delete"]))
    cells = [[title, *(f"{count:,} {name}" for name, count in pairs)] for title, pairs in rows]
    width = max(map(len, cells))
    for line in table([row + [""] * (width - len(row)) for row in cells], width=screen.width):
        screen.line(line)
    if not embedding:
        screen.line("no embedder: chunks are found by their words alone", "dim")
    if dry:
        screen.line("a dry run: nothing was written", "dim")
        return
    total = counted(sum(documents.values()), "document")
    screen.line(screen.painted(total, "strong") + f" in {progress.seconds:.1f} s")
