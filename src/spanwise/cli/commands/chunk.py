"""`spanwise chunk`."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePath

from spanwise.chunking.proposers import Proposer
from spanwise.cli.chunk_view import LEGEND
from spanwise.cli.inputs import (
    config_of,
    files_of,
    flags_of,
    nothing_found,
    piped_item,
    reading_of,
    refuse_to_overwrite,
    tell,
)
from spanwise.cli.output import writer_of
from spanwise.cli.proposer_view import dry_run, report_line
from spanwise.cli.terminal import Progress, Screen, counted, for_people, one_line, printable
from spanwise.errors import OptionError, UnreadableError
from spanwise.pipeline.files import LineEncoder
from spanwise.pipeline.jobs import Job, jobs_of, proposer_for, workers_for
from spanwise.pipeline.process import Outcome, process_all
from spanwise.pipeline.settings import in_force, settings_of
from spanwise.records.writers import Writer, opened
from spanwise.sources.folder import FoundFiles
from spanwise.text.tokens import TOKENIZERS, tokenizer_of


def run(arguments: argparse.Namespace) -> int:
    """Chunk what the paths name, report what failed, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    general = in_force([*config.layers(None), *flags])
    dialect = general["dialect"].value if "dialect" in general else None
    output_format = arguments.format or _usual_format(arguments.output, dialect)
    reading = reading_of(arguments)
    if (tokenizer := settings_of(general).tokenizer) not in TOKENIZERS:
        tokenizer_of(tokenizer)  # a wrong file is reported once, not for every document; known names need no loading
    found = files_of(config, arguments, [path for path in arguments.paths if path != "-"])
    refuse_to_overwrite(arguments.output, found.files)
    items = [*found.items(arguments.input_format), *([piped_item(arguments)] if "-" in arguments.paths else [])]
    jobs = jobs_of(items, config, flags, reading, tuple(arguments.offsets))
    if not jobs and found.failed:  # nothing is written then, not even an empty file
        screen, progress = for_people(), Progress(0)
        return 1 if [tell(screen, progress, error) for error in found.failed] else 0
    if not jobs:
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(found))
    if arguments.dry_run:
        return _dry(jobs, found, arguments)
    with proposer_for(jobs) as proposer:
        return _chunk_all(jobs, found, (output_format, dialect), arguments, proposer)


def _usual_format(output: str | None, dialect: str | None) -> str:
    """Return the format that the suffix of a file names; on a terminal, the view for people."""
    ending = PurePath(output or "").suffix[1:].lower()
    if ending in {"json", "parquet"}:
        return ending
    watched = output is None and sys.stdout is not None and sys.stdout.isatty()
    return "view" if watched and not dialect else "jsonl"


def _chunk_all(
    jobs: list[Job],
    found: FoundFiles,
    output: tuple[str, str | None],
    arguments: argparse.Namespace,
    proposer: Proposer | None,
) -> int:
    output_format, dialect = output
    on_screen = arguments.output is None and sys.stdout is not None and sys.stdout.isatty()
    if output_format == "parquet" and on_screen:
        raise OptionError("--format", "parquet can't be read on a terminal", hint="try -o chunks.parquet")
    progress = Progress(len(jobs), silent=arguments.quiet or on_screen)
    screen = for_people()
    failed = [tell(screen, progress, error) for error in found.failed]
    with opened(arguments.output) as file:
        writer = writer_of(output_format, file, dialect, lines=arguments.lines, offsets=tuple(arguments.offsets))
        encode = LineEncoder(dialect, arguments.id_prefix)
        for outcome in process_all(jobs, encode, workers_for(arguments.jobs, jobs), proposer):
            if outcome.error:
                failed.append(tell(screen, progress, outcome.error, outcome.name))
            else:
                _written(writer, outcome, screen, progress)
        writer.finish()
    progress.clear()
    if not arguments.quiet:
        _sum_up(screen, progress, found, len(failed), legend=output_format == "view")
        if proposer is not None:
            screen.line(report_line(proposer.report), "head" if proposer.report.fallbacks else "dim")
    return 1 if failed else 0


def _dry(jobs: list[Job], found: FoundFiles, arguments: argparse.Namespace) -> int:
    """Show what would be sent, and report what can't be read."""
    failed = dry_run(jobs, as_json=arguments.format in {"json", "jsonl"})
    screen, progress = for_people(), Progress(0)
    reported = [tell(screen, progress, error) for error in found.failed]
    reported += [tell(screen, progress, outcome.error, outcome.name) for outcome in failed if outcome.error]
    return 1 if reported else 0


def _written(writer: Writer, outcome: Outcome[bytes], screen: Screen, progress: Progress) -> None:
    lines = outcome.value or b""
    writer.write(outcome.name, lines)
    progress.advance(lines.count(b"\n"), outcome.size)  # a dialect may leave some chunks out
    for note in outcome.notes:
        progress.clear()
        screen.line(f"{screen.painted('warning:', 'head')} {one_line(outcome.name)}: {one_line(note)}")


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
