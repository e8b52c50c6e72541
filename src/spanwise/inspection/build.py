"""From a job to what its page shows: records, options, drawn pages, and the page as it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from pathlib import PurePath
from typing import Any, Final

from spanwise.chunking.strategies import strategy_of
from spanwise.chunking.strategy import Strategy
from spanwise.documents.document import Document
from spanwise.inspection.values import Inspection, TargetSizes
from spanwise.options import options_of
from spanwise.pipeline.chunk import chunk
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import read_job
from spanwise.readers.confluence import rendered
from spanwise.readers.pdf.page_images import PageImage, page_images

_PDF: Final = b"%PDF-"
_SIZES: Final = ("max_tokens", "target_tokens", "min_tokens", "parent_tokens")


@contextmanager
def inspected(job: Job, *, pictures: bool, pictures_up_to: int) -> Iterator[Inspection]:
    """Read and chunk a job, and return what its page shows; pages are drawn as long as the context lasts."""
    data, document = read_job(job)
    settings = job.settings
    strategy, given = settings.chunking(document)
    chunks = chunk(
        document, strategy, settings.tokenizer, offsets=("utf16",), proposer=settings.proposer, **given,
    )  # fmt: skip
    options = _options(strategy, given)
    html = _rendered(job, data, document) if pictures else None
    tokenizer = PurePath(str(settings.tokenizer)).name
    with _images(job, data, document if pictures else None) as picture:
        yield Inspection(
            document, [one.to_dict() for one in chunks], strategy_of(strategy).name, tokenizer, options,
            TargetSizes(*map(options.get, _SIZES)), document.metadata.file_path or "", picture, pictures_up_to, html,
        )  # fmt: skip


def _options(strategy: str | Strategy, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return all options as the strategy takes them: those that were given, and defaults that adapt to them."""
    taken = options_of(strategy_of(strategy).options, given)
    return {item.name: getattr(taken, item.name) for item in fields(taken) if not item.metadata["secret"]}


def _images(
    job: Job, data: bytes | None, document: Document | None
) -> AbstractContextManager[Callable[[int], PageImage] | None]:
    """Return what draws the pages of a PDF; None for other documents."""
    if document is None or not document.pages or data is None or _PDF not in data[:1024]:
        return nullcontext()
    return page_images(data, password=job.reading.password)


def _rendered(job: Job, data: bytes | None, document: Document) -> str | None:
    """Return the HTML of a page, if the blocks know which of its elements they are."""
    if data is None or not any("xpath" in (block.source_ref or ()) for block in document.blocks):
        return None
    return rendered(data, job.item.name)
