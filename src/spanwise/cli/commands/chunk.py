"""`spanwise chunk`."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Final

from spanwise.chunking.proposers import Proposer, endpoint_settings
from spanwise.chunking.strategies.smart import ASKING
from spanwise.cli.chunk_view import LEGEND
from spanwise.cli.inputs import (
    config_of,
    flags_of,
    has_reader,
    nothing_found,
    patterns_of,
    prepared_folder,
    refuse_to_overwrite,
    tell,
)
from spanwise.cli.output import Writer, opened, writer_of
from spanwise.cli.proposer_view import dry_run, report_line
from spanwise.cli.terminal import Progress, Screen, counted, for_people, one_line, printable
from spanwise.errors import OptionError, UnreadableError
from spanwise.pipeline.files import Job, Order, Outcome, chunk_all, is_smart
from spanwise.pipeline.settings import (
    Config,
    Layer,
    Settings,
    check_metadata,
    in_force,
    settings_of,
    with_extra,
)
from spanwise.sources.folder import FoundFiles, find_files
from spanwise.text.tokens import TOKENIZERS, tokenizer_of

_WORTH_A_WORKER: Final = 2_000_000  # bytes of text; a process more costs about a fifth of a second
_NAMING: Final = ("document_id", "source_url", "file_path", "page_id")


def run(arguments: argparse.Namespace) -> int:
    """Chunk what is meant, tell what failed, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    general = in_force([*config.layers(None), *flags])
    dialect = general["dialect"].value if "dialect" in general else None
    form = arguments.format or _usual_format(arguments.output, dialect)
    offsets, form_given = tuple(arguments.offsets), arguments.input_format
    figures = prepared_folder(arguments.figures)
    order = Order(dialect, arguments.id_prefix, form_given, offsets, arguments.password, figures, arguments.keep_all)
    if (tokenizer := settings_of(general).tokenizer) not in TOKENIZERS:
        tokenizer_of(tokenizer)  # a wrong file is told once, not for every document; known names need no loading here
    piped = "-" in arguments.paths
    include, exclude = (patterns_of(config, arguments, name) for name in ("include", "exclude"))
    known = (lambda _: True) if arguments.input_format and arguments.include else has_reader
    found = find_files([path for path in arguments.paths if path != "-"], known=known, include=include, exclude=exclude)
    refuse_to_overwrite(arguments.output, found.files)
    jobs = jobs_of(found.files, config, flags, order, piped=piped)
    if not jobs and found.failed:  # nothing is written then, not even an empty file
        screen, progress = for_people(), Progress(0)
        return 1 if [tell(screen, progress, error) for error in found.failed] else 0
    if not jobs:
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(found))
    if arguments.dry_run:
        return _dry(jobs, found, arguments)
    with proposing(jobs) as proposer:
        return _chunk_all(jobs, found, form, arguments, proposer)


def _usual_format(output: str | None, dialect: str | None) -> str:
    """Take the format that a file's ending names; people at a terminal want to look."""
    ending = PurePath(output or "").suffix[1:].lower()
    if ending in {"json", "parquet"}:
        return ending
    watched = output is None and sys.stdout is not None and sys.stdout.isatty()
    return "view" if watched and not dialect else "jsonl"


def _chunk_all(
    jobs: list[Job], found: FoundFiles, form: str, arguments: argparse.Namespace, proposer: Proposer | None
) -> int:
    sizes = [(job, len(job.data) if job.data is not None else size_of(job.file)) for job in jobs]
    workers = workers_for(arguments.jobs, sum(size for _, size in sizes), len(jobs))
    on_screen = arguments.output is None and sys.stdout is not None and sys.stdout.isatty()
    if form == "parquet" and on_screen:
        raise OptionError("--format", "parquet can't be read on a terminal", hint="try -o chunks.parquet")
    progress = Progress(len(jobs), silent=arguments.quiet or on_screen)
    screen = for_people()
    failed = [tell(screen, progress, error) for error in found.failed]
    with opened(arguments.output) as file:
        order = jobs[0].order if jobs else Order()
        writer = writer_of(form, file, order.dialect, lines=arguments.lines, offsets=order.offsets)
        for outcome in chunk_all(sizes, workers, _lost, proposer):
            if outcome.error:
                failed.append(tell(screen, progress, outcome.error, outcome.file))
            else:
                _written(writer, outcome, screen, progress)
        writer.finish()
    progress.clear()
    if not arguments.quiet:
        _sum_up(screen, progress, found, len(failed), legend=form == "view")
        if proposer is not None:
            screen.line(report_line(proposer.report), "head" if proposer.report.fallbacks else "dim")
    return 1 if failed else 0


@contextmanager
def proposing(jobs: list[Job]) -> Iterator[Proposer | None]:
    """Give whoever proposes for all files of `smart`; refuse before any work what can't be asked."""
    settings = {id(job.settings): job.settings for job in jobs if is_smart(job)}
    asking = [endpoint_settings(one.options) for one in settings.values()]
    if not asking:
        yield None
        return
    with Proposer(**{name: getattr(asking[0], name) for name in ASKING}) as proposer:
        yield proposer


def _dry(jobs: list[Job], found: FoundFiles, arguments: argparse.Namespace) -> int:
    """Say what would be sent, and tell what can't be read."""
    failed = dry_run(jobs, as_json=arguments.format in {"json", "jsonl"})
    screen, progress = for_people(), Progress(0)
    told = [tell(screen, progress, error) for error in found.failed]
    told += [tell(screen, progress, outcome.error, outcome.file) for outcome in failed if outcome.error]
    return 1 if told else 0


def _written(writer: Writer, outcome: Outcome, screen: Screen, progress: Progress) -> None:
    writer.write(outcome)
    progress.advance(outcome.chunks, outcome.size)
    for note in outcome.notes:
        progress.clear()
        screen.line(f"{screen.painted('warning:', 'head')} {one_line(outcome.file)}: {one_line(note)}")


def _lost(job: Job) -> Outcome:
    rule = "ended the process that read it (out of memory?)"
    return Outcome(job.file, error=UnreadableError(job.file, rule, hint="try it alone, with --jobs 1"))


def _sum_up(screen: Screen, progress: Progress, found: FoundFiles, failed: int, *, legend: bool) -> None:
    parts = [
        f"{counted(progress.documents, 'document')} read",
        counted(progress.chunks, "chunk"),
        f"{found.passed_over.total():,} left out",
        f"{failed:,} failed",
    ]
    speed = f"{progress.size / 1e6:.1f} MB in {progress.seconds:.1f} s"
    screen.line(screen.painted(", ".join(parts), "strong") + f" ({speed})")
    if found.passed_over:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.passed_over.items()))
        screen.line(printable(f"left out: {reasons}"), "dim")
    if legend:
        screen.line(LEGEND, "dim")


def jobs_of(files: list[str], config: Config, flags: list[Layer], order: Order, *, piped: bool) -> list[Job]:
    """Give each file what is in force for it; equal settings are worked out once."""
    known: dict[tuple[str, ...], Settings] = {}
    jobs = []
    for file in files:
        layers = config.layers(file)
        key = tuple(layer.origin for layer in layers)
        if key not in known:
            known[key] = with_checked_extra(settings_of(in_force([*layers, *flags])))
        jobs.append(Job(file, known[key], order))
    _refuse_shared_names(jobs)
    if piped:
        if sys.stdin is None:
            raise UnreadableError("-", "can't be read: stdin is closed")
        settings = with_checked_extra(settings_of(in_force([*config.layers(None), *flags])))
        jobs.append(Job("-", settings, order, sys.stdin.buffer.read()))
    return jobs


def _refuse_shared_names(jobs: list[Job]) -> None:
    """Refuse to give several documents what only one can have: their chunks would get the same ids."""
    for name in _NAMING:
        named = Counter(job.settings.metadata[name] for job in jobs if name in job.settings.metadata)
        if (times := max(named.values(), default=0)) > 1:
            rule = f"names one document, but {times:,} would get it"
            raise OptionError(f"meta {name}", rule, hint="give it for one file, or a [[files]] entry for each")


def with_checked_extra(settings: Settings) -> Settings:
    """Check metadata once, not for every file, and put those of one's own in their place."""
    check_metadata(settings.metadata)
    return Settings(settings.strategy, settings.tokenizer, settings.options, with_extra(settings.metadata))


def workers_for(asked: int, size: int, files: int) -> int:
    """Say how many processes are worth their start."""
    most = asked or min(os.cpu_count() or 1, size // _WORTH_A_WORKER)
    return max(1, min(most, files))


def size_of(file: str) -> int:
    """Give a file's bytes; none where it can't be seen."""
    with suppress(OSError):
        return Path(file).stat().st_size
    return 0
