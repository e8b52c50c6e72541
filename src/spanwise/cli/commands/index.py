"""`spanwise index`: files into a store, with progress per stage and a line or a table of what was done."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from spanwise.chunking.proposers import Proposer
from spanwise.cli.commands.chunk import jobs_of, proposing, size_of, workers_for
from spanwise.cli.inputs import config_of, flags_of, has_reader, nothing_found, patterns_of, prepared_folder, tell
from spanwise.cli.proposer_view import report_line
from spanwise.cli.terminal import Progress, Screen, bar, counted, for_people, one_line, print_json_lines, table
from spanwise.embedding import Embedder, embedder_of
from spanwise.errors import OptionError, SpanwiseError, UnreadableError
from spanwise.indexing.entries import StoreEntries, Task, analyse_files, without_calls, worker_died
from spanwise.indexing.identity import gone, named
from spanwise.indexing.writer import DocumentReport, IndexWriter, Ledger, MissingStore, split_unchanged
from spanwise.pipeline.files import Job, Order, batched, in_order
from spanwise.pipeline.settings import Layer
from spanwise.sources.folder import FoundFiles, find_files
from spanwise.stores import Store, open_store
from spanwise.stores.values import DEFAULT_TENANT, Model

_STATUSES: Final = ("added", "changed", "unchanged", "deleted", "failed")
_WORDS: Final = {"added": "new", "deleted": "removed"}  # in the table of a plan


class Stages(Progress):
    """Progress by stage: how many documents were read, and how many chunks were made, embedded and written."""

    def __init__(self, total: int, *, silent: bool, embedding: bool) -> None:
        """Begin to count."""
        super().__init__(total, silent=silent)
        self._counts: Counter[str] = Counter()
        self._shown = ("chunk", "embed", "write") if embedding else ("chunk", "write")

    def stage(self, name: str, chunks: int) -> None:
        """Count chunks that went through a stage."""
        self._counts[name] += chunks
        if name == "chunk":
            self.documents += 1
        self.draw()

    def words(self) -> str:
        """Say how far each stage is."""
        done = self.documents / max(self.total, 1)
        stages = (f"{name} {self._counts[name]:,}" for name in self._shown)
        return " · ".join((f"{bar(done, 20):<20} {done:4.0%}", f"read {self.documents:,}/{self.total:,}", *stages))


class _Plan(NamedTuple):
    """What a run is about."""

    jobs: list[Job]
    found: FoundFiles
    tenant: str
    embedder: Embedder | None


def run(arguments: argparse.Namespace) -> int:
    """Index what is meant, or tell what that would do."""
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
        embedder = _embedder(arguments.embedder, None)
        return _work(_Plan(jobs, found, tenant, embedder), MissingStore(), arguments)
    with closing(open_store(arguments.store, create=not arguments.dry_run)) as store:
        embedder = _embedder(arguments.embedder, store.model())
        with _writing(store, tenant, embedder, arguments.wait) as writer:
            return _work(_Plan(jobs, found, tenant, embedder), writer, arguments)


@contextmanager
def _writing(store: Store, tenant: str, embedder: Embedder | None, wait: float) -> Iterator[Ledger]:
    model = Model(embedder.name, embedder.dimension) if embedder else None
    with store.writing(tenant, model, wait) as writer:
        yield writer


def _exists(where: str) -> bool:
    """Whether the store is there; a server's is asked, not looked for."""
    return "://" in where or os.path.exists(where)  # noqa: PTH110 - for names of any length


def _jobs(arguments: argparse.Namespace, tenant: str) -> tuple[list[Job], FoundFiles]:
    if "-" in arguments.paths:
        raise OptionError("-", "can't be indexed: what is piped in has no name to find it by", hint="give a file")
    config, flags = config_of(arguments, any_tenant=True), flags_of(arguments)
    if arguments.tenant:
        flags = [*flags, Layer("--tenant", {"meta": {"tenant_id": tenant}})]
    order = Order(
        None, format=arguments.input_format, password=arguments.password,
        figures=prepared_folder(arguments.figures), keep_all=arguments.keep_all,
    )  # fmt: skip
    include, exclude = (patterns_of(config, arguments, name) for name in ("include", "exclude"))
    known = (lambda _: True) if arguments.input_format and arguments.include else has_reader
    found = find_files(arguments.paths, known=known, include=include, exclude=exclude)
    jobs = jobs_of(found.files, config, flags, order, piped=False)
    for job in jobs:
        if (other := job.settings.metadata.get("tenant_id") or DEFAULT_TENANT) != tenant:
            rule = f"is given to {job.file}, but these documents go to {tenant or 'the tenant without a name'}"
            raise OptionError("tenant_id", rule, value=other, hint=f"try --tenant {other}")
    return jobs, found


def _embedder(chosen: str, model: Model | None) -> Embedder | None:
    """Give the embedder that was named, else the one whose vectors are there, else the usual one if it is installed."""
    if chosen != "auto":
        return embedder_of(None if chosen == "none" else chosen)
    if model is None:
        return embedder_of("auto")
    try:
        return embedder_of(model.name)
    except SpanwiseError as error:
        rule = f"has vectors of {model.name}, which can't be used here ({one_line(str(error)).rstrip('.')})"
        hint = "install it, or say --embedder none: then what is new is found by its words alone"
        raise OptionError("the store", rule, hint=hint) from error


def _work(plan: _Plan, writer: Ledger, arguments: argparse.Namespace) -> int:
    known = writer.known().values()
    names = named(plan.found.files, known)
    model = plan.embedder.name if plan.embedder else ""
    tasks = [Task(job, name.place, name.file_path, model) for job, name in zip(plan.jobs, names, strict=True)]
    unseen = [error.subject for error in plan.found.failed]
    lacking = gone(known, arguments.paths, (name.place for name in names), unseen)
    if not tasks and not lacking and not plan.found.failed:
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(plan.found))
    work, unchanged = split_unchanged(tasks, names)
    silent = arguments.quiet or (arguments.json and sys.stdout is not None and sys.stdout.isatty())
    progress = Stages(len(work), silent=silent, embedding=plan.embedder is not None)
    if arguments.dry_run:
        work = [without_calls(task) for task in work]
    with proposing([task.job for task in work]) as proposer:
        analysed = _analysed(work, proposer, arguments)
        doing = IndexWriter(writer, plan.embedder, dry=arguments.dry_run, stage=progress.stage)
        reports = _told(doing.through(unchanged, analysed, lacking), plan.found, progress, arguments)
    progress.clear()
    if not arguments.quiet and not arguments.json:
        _sum_up(reports, plan, progress, dry=arguments.dry_run)
        if proposer is not None and not arguments.dry_run:
            for_people().line(report_line(proposer.report), "head" if proposer.report.fallbacks else "dim")
    return 1 if reports["documents"]["failed"] or plan.found.failed else 0


def _analysed(work: list[Task], proposer: Proposer | None, arguments: argparse.Namespace) -> Iterator[StoreEntries]:
    """Analyse the files; where a model is asked, in this process, so that one proposer keeps the bounds for all."""
    sizes = [(task, size_of(task.job.file)) for task in work]
    if proposer is not None:
        return in_order(partial(analyse_files, proposer=proposer), batched(sizes), 1, worker_died)
    workers = workers_for(arguments.jobs, sum(size for _, size in sizes), len(work))
    return in_order(analyse_files, batched(sizes), workers, worker_died)


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


def _sum_up(counts: dict[str, Counter[str]], plan: _Plan, progress: Stages, *, dry: bool) -> None:
    """Show a table: on stdout what would be done, on stderr what was done."""
    screen = Screen(sys.stdout) if dry else for_people()
    documents, chunks = counts["documents"], counts["chunks"]
    shown = [(_WORDS.get(name, name) if dry else name, documents[name]) for name in _STATUSES]
    embed = [("embed", chunks["embed"])] if plan.embedder else []
    names = ("add", "keep", "move")
    rows = [("documents", shown), ("chunks", [*((name, chunks[name]) for name in names), *embed])]
    rows[1][1].append(("delete", chunks["delete"]))
    cells = [[title, *(f"{count:,} {name}" for name, count in pairs)] for title, pairs in rows]
    width = max(map(len, cells))
    for line in table([row + [""] * (width - len(row)) for row in cells], width=screen.width):
        screen.line(line)
    if plan.embedder is None:
        screen.line("no embedder: chunks are found by their words alone", "dim")
    if dry:
        screen.line("a dry run: nothing was written", "dim")
        return
    total = counted(sum(documents.values()), "document")
    screen.line(screen.painted(total, "strong") + f" in {progress.seconds:.1f} s")
