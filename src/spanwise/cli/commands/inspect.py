"""`spanwise inspect`: one page for the browser that shows a document with its chunks."""

from __future__ import annotations

import argparse
import os
from pathlib import PurePath
from typing import IO, Final

from spanwise.cli.inputs import config_of, flags_of, piped_item, reading_of, refuse_to_overwrite
from spanwise.cli.terminal import counted, for_people, one_line
from spanwise.errors import OptionError
from spanwise.inspection import Inspection, page_of
from spanwise.inspection.build import inspected
from spanwise.pipeline.jobs import Job, with_checked_extra
from spanwise.pipeline.settings import in_force, settings_of
from spanwise.records.writers import opened
from spanwise.sources.folder import path_text
from spanwise.sources.item import SourceItem

_EXAMPLE: Final = "page.html"


def run(arguments: argparse.Namespace) -> int:
    """Read and chunk a file as `spanwise chunk` does, and write the page."""
    output = arguments.output or _usual_name(arguments.file)
    values = in_force([*config_of(arguments).layers(_named(arguments.file)), *flags_of(arguments)])
    settings = with_checked_extra(settings_of(values))
    if arguments.file != "-":
        refuse_to_overwrite(output, [arguments.file], flag="--html")
    job = Job(_item(arguments), settings, reading_of(arguments))
    with (
        inspected(job, pictures=arguments.pictures, pictures_up_to=arguments.pictures_up_to) as inspection,
        opened(output, flag="--html", example=_EXAMPLE) as file,
    ):
        size = _written(file, inspection)
    if not arguments.quiet:
        _tell(output, inspection, size)
    return 0


def _usual_name(file: str) -> str:
    """Name the page after the file, in the current folder, so that it can't be a page of somebody's own."""
    if file == "-":
        hint = f"try --html {_EXAMPLE}, or --html - for stdout"
        raise OptionError("--html", "must be given for what is piped in", hint=hint)
    return f"{PurePath(file).name}.chunks.html"


def _named(file: str) -> str | None:
    return None if file == "-" else file


def _item(arguments: argparse.Namespace) -> SourceItem:
    if arguments.file == "-":
        return piped_item(arguments)
    return SourceItem(arguments.file, 0, arguments.input_format, metadata={"file_path": path_text(arguments.file)})


def _written(file: IO[bytes], inspection: Inspection) -> int:
    return sum(file.write(words.encode()) for words in page_of(inspection))


def _tell(output: str, inspection: Inspection, size: int) -> None:
    screen = for_people()
    for reason in dict.fromkeys(item.reason for item in inspection.document.left_out if not item.usual):
        screen.line(f"{screen.painted('warning:', 'head')} {one_line(inspection.name)}: {one_line(reason)}")
    parts = [counted(len(inspection.records), "chunk")]
    if pages := len(inspection.document.pages):
        parts.append(counted(pages, "page"))
    place = "stdout" if output == "-" else one_line(os.fspath(output))
    screen.line(f"{place}: {', '.join(parts)}, {max(size // 1000, 1):,} kB")
