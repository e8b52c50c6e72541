"""`spanwise chunk`."""

from __future__ import annotations

import argparse

from spanwise.chunking.proposers import Proposer
from spanwise.chunking.strategies import DEFAULT_STRATEGY, FORMAT_STRATEGIES
from spanwise.cli import WRONG_USE
from spanwise.cli.chunk_view import LEGEND
from spanwise.cli.inputs import (
    all_need_extras,
    check_asked,
    config_of,
    files_of,
    flags_of,
    limits_of,
    no_documents,
    piped_item,
    reading_of,
    refuse_to_overwrite,
    show_left_out,
)
from spanwise.cli.output import format_of, on_screen, writer_of
from spanwise.cli.progress import Progress
from spanwise.cli.proposer_view import dry_run, show_report
from spanwise.cli.terminal import counted
from spanwise.errors import OptionError
from spanwise.pipeline.files import LineEncoder, shared_note_ids, with_shared_ids
from spanwise.pipeline.jobs import Job, jobs_of, proposer_for, workers_for
from spanwise.pipeline.process import process_all
from spanwise.pipeline.settings import check_tokenizer, in_force, settings_of
from spanwise.records.columns import Columns, columns_of
from spanwise.records.writers import opened
from spanwise.sources.folder import FoundFiles


def run(arguments: argparse.Namespace) -> int:
    """Chunk what the paths name, report what failed, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    general = in_force([*config.layers(None), *flags], [DEFAULT_STRATEGY, *FORMAT_STRATEGIES.values()])
    dialect = general["dialect"].value if "dialect" in general else None
    fields = None if arguments.fields is None else [name.strip() for name in arguments.fields.split(",")]
    columns = columns_of(dialect, arguments.offsets, fields, arguments.texts)
    whole = columns.dialect is None and columns.fields is None
    output_format = arguments.format or format_of(arguments.output, whole=whole)
    reading = reading_of(arguments)
    check_tokenizer(settings_of(general).tokenizer)  # those of [[files]] are checked when they are known
    found = files_of(config, arguments, [path for path in arguments.paths if path != "-"])
    refuse_to_overwrite(arguments.output, found.files)
    items = [*found.items(arguments.input_format), *([piped_item(arguments)] if "-" in arguments.paths else [])]
    jobs = jobs_of(items, config, flags, reading, tuple(arguments.offsets))
    if not jobs:  # nothing is written then, not even an empty file
        return no_documents(arguments.paths, found)
    check_asked(arguments, jobs)
    if all_need_extras(jobs):
        return WRONG_USE
    if arguments.dry_run:
        return _dry(jobs, found, arguments)
    with proposer_for(jobs) as proposer:
        return _chunk_all(jobs, found, output_format, columns, arguments, proposer)


def _chunk_all(
    jobs: list[Job], found: FoundFiles, output_format: str, columns: Columns, arguments: argparse.Namespace,
    proposer: Proposer | None,
) -> int:  # fmt: skip
    visible = on_screen(arguments.output)
    if output_format == "parquet" and visible:
        raise OptionError("--format", "parquet can't be read on a terminal", hint="try -o chunks.parquet")
    progress = Progress(len(jobs), silent=arguments.quiet or visible)
    progress.report_errors(*found.failed)
    with opened(arguments.output) as file:
        writer = writer_of(output_format, file, columns, arguments.lines)
        shared = shared_note_ids(job.item for job in jobs) if columns.dialect == "notes" else {}
        encode = LineEncoder(columns.dialect, arguments.id_prefix, columns.fields, frozenset(shared.values()))
        outcomes = process_all(jobs, encode, workers_for(arguments.jobs, jobs), proposer, limits_of(arguments))
        for outcome in with_shared_ids(outcomes, shared):
            if outcome.error:
                progress.report_errors(outcome.error, file=outcome.name)
                continue
            lines = outcome.value or b""
            writer.write(outcome.name, lines)
            progress.advance(lines.count(b"\n"), outcome.size)  # a dialect may leave some chunks out
            progress.report_warnings(outcome.name, outcome.notes)
        writer.finish()
    progress.finish()
    if not arguments.quiet:
        _sum_up(progress, found, legend=output_format == "view")
        if proposer is not None:
            show_report(progress.screen, proposer)
    return 1 if progress.failed else 0


def _dry(jobs: list[Job], found: FoundFiles, arguments: argparse.Namespace) -> int:
    """Show what would be sent, and report what can't be read."""
    failed = dry_run(jobs, limits_of(arguments), as_json=arguments.format in {"json", "jsonl"})
    progress = Progress()
    progress.report_errors(*found.failed)
    for outcome in failed:
        progress.report_errors(*filter(None, [outcome.error]), file=outcome.name)
    progress.finish()
    return 1 if progress.failed else 0


def _sum_up(progress: Progress, found: FoundFiles, *, legend: bool) -> None:
    screen, chunks = progress.screen, counted(progress.chunks, "chunk")
    left_out = f"{found.passed_over.total():,} left out, {progress.failed:,} failed"
    counts = screen.painted(f"{counted(progress.documents, 'document')} read, {chunks}, {left_out}", "strong")
    screen.line(f"{counts} ({progress.size / 1e6:.1f} MB in {progress.seconds:.1f} s)")
    show_left_out(screen, found)
    if legend:
        screen.line(LEGEND, "dim")
