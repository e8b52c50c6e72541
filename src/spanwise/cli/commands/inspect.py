"""`spanwise inspect`: one page for the browser that shows a document with its chunks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path, PurePath
from typing import IO, Any, Final

from spanwise.chunking.strategies import strategy_of
from spanwise.cli.commands.chunk import with_checked_extra
from spanwise.cli.inputs import config_of, flags_of, prepared_folder, refuse_to_overwrite
from spanwise.cli.output import opened
from spanwise.cli.terminal import counted, for_people, one_line
from spanwise.documents.document import Document
from spanwise.errors import OptionError, UnreadableError
from spanwise.inspection import Inspection, TargetSizes, page_of
from spanwise.options import options_of
from spanwise.pipeline.chunk import chunk
from spanwise.pipeline.files import Job, Order, document_of
from spanwise.pipeline.settings import Settings, in_force, settings_of
from spanwise.readers.confluence.rendered import rendered
from spanwise.readers.pdf.page_images import Picture, page_pictures

_PDF: Final = b"%PDF-"
_EXAMPLE: Final = "page.html"


def run(arguments: argparse.Namespace) -> int:
    """Read and chunk a file as `spanwise chunk` does, and write the page."""
    output = arguments.output or _usual_name(arguments.file)
    said_of_file = in_force([*config_of(arguments).layers(_named(arguments.file)), *flags_of(arguments)])
    settings = with_checked_extra(settings_of(said_of_file))
    if arguments.file != "-":
        refuse_to_overwrite(output, [arguments.file], flag="--html")
    order = Order(
        format=arguments.input_format,
        password=arguments.password,
        figures=prepared_folder(arguments.figures),
        keep_all=arguments.keep_all,
    )
    job = Job(arguments.file, settings, order, _piped(arguments.file))
    document, _ = document_of(job)
    records = [
        found.to_dict()
        for found in chunk(document, settings.strategy, settings.tokenizer, offsets=("utf16",), **settings.options)
    ]
    looks = _looks(job, document) if arguments.pictures else None
    with _pictures(job, document, wanted=arguments.pictures) as picture:
        inspection = replace(
            _inspection(job, document, records),
            picture=picture,
            pictures_up_to=arguments.pictures_up_to,
            looks=looks,
        )
        with opened(output, flag="--html", example=_EXAMPLE) as file:
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


def _piped(file: str) -> bytes | None:
    if file != "-":
        return None
    if sys.stdin is None:
        raise UnreadableError("-", "can't be read: stdin is closed")
    return sys.stdin.buffer.read()


def _inspection(job: Job, document: Document, records: list[dict[str, Any]]) -> Inspection:
    settings = job.settings
    options = _options(settings)
    return Inspection(
        document,
        records,
        settings.strategy,
        PurePath(settings.tokenizer).name,
        options,
        TargetSizes(*(options.get(name) for name in ("max_tokens", "target_tokens", "min_tokens", "parent_tokens"))),
        document.metadata.file_path or "",
    )


def _options(settings: Settings) -> Mapping[str, Any]:
    """Give all options as the strategy takes them: those that were said, and the defaults that bow to them."""
    taken = options_of(strategy_of(settings.strategy).options, settings.options)
    return {item.name: getattr(taken, item.name) for item in fields(taken) if not item.metadata["secret"]}


@contextmanager
def _pictures(job: Job, document: Document, *, wanted: bool) -> Iterator[Callable[[int], Picture] | None]:
    """Give what draws the pages, if the file is one of drawn pages."""
    if not wanted or not document.pages or not _is_pdf(job):
        yield None
        return
    source = job.data if job.data is not None else job.file
    with page_pictures(source, password=job.order.password) as picture:
        yield picture


def _looks(job: Job, document: Document) -> str | None:
    """Give the HTML of a page, if the blocks say which of its elements they are."""
    if not any("xpath" in (block.source_ref or ()) for block in document.blocks):
        return None
    return rendered(job.data if job.data is not None else Path(job.file).read_bytes(), job.file)


def _is_pdf(job: Job) -> bool:
    if job.data is not None:
        return _PDF in job.data[:1024]
    with Path(job.file).open("rb") as file:
        return _PDF in file.read(1024)


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
