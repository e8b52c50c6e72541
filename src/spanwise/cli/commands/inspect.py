"""`spanwise inspect`: a page for the browser that shows a document with its chunks."""

from __future__ import annotations

import argparse
import os
from pathlib import PurePath
from typing import Final

from spanwise.chunking.strategies import default_strategy
from spanwise.cli.inputs import config_of, flags_of, piped_item, reading_of, refuse_to_overwrite
from spanwise.cli.progress import Progress
from spanwise.cli.terminal import counted, for_terminal, one_line
from spanwise.errors import OptionError
from spanwise.inspection import Inspection, page_of
from spanwise.inspection.build import inspected
from spanwise.pipeline.jobs import Job, with_checked_extra
from spanwise.pipeline.settings import in_force, settings_of
from spanwise.readers import expected_format
from spanwise.records.writers import opened
from spanwise.sources.folder import file_item
from spanwise.sources.item import SourceItem

_EXAMPLE: Final = "page.html"


def run(arguments: argparse.Namespace) -> None:
    """Read and chunk a file as `spanwise chunk` does, and write the page."""
    piped = arguments.file == "-"
    output = arguments.output or _usual_name(arguments.file)
    own = default_strategy(expected_format(arguments.file, arguments.input_format))
    values = in_force([*config_of(arguments).layers(None if piped else arguments.file), *flags_of(arguments)], [own])
    settings = with_checked_extra(settings_of(values))
    if not piped:
        refuse_to_overwrite(output, [arguments.file], flag="--html")
    job = Job(piped_item(arguments) if piped else _item(arguments), settings, reading_of(arguments))
    with (
        inspected(job, pictures=arguments.pictures, pictures_up_to=arguments.pictures_up_to) as inspection,
        opened(output, flag="--html", example=_EXAMPLE) as file,
    ):
        shown = for_terminal(file)
        size = sum(shown.write(part.encode()) for part in page_of(inspection))
    if not arguments.quiet:
        _sum_up(output, inspection, size)


def _usual_name(file: str) -> str:
    """Return a name for the page after that of the file, in the current folder, that no page of the user has."""
    if file == "-":
        hint = f"try --html {_EXAMPLE}, or --html - for stdout"
        raise OptionError("--html", "must be given for what is piped in", hint=hint)
    return f"{PurePath(file).name}.chunks.html"


def _item(arguments: argparse.Namespace) -> SourceItem:
    return file_item(arguments.file, arguments.input_format)


def _sum_up(output: str, inspection: Inspection, size: int) -> None:
    progress, document = Progress(), inspection.document
    reasons = dict.fromkeys(item.reason for item in document.left_out if not item.usual)
    progress.report_warnings(inspection.name, reasons)
    name = "stdout" if output == "-" else one_line(os.fspath(output))
    pages = f", {counted(len(document.pages), 'page')}" if document.pages else ""
    chunks = counted(len(inspection.records), "chunk")
    progress.screen.line(f"{name}: {chunks}{pages}, {max(size // 1000, 1):,} kB")
