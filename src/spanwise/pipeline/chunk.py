"""read(), read_text(), read_pages(), chunk(), estimate(): for people in a hurry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spanwise.chunking.pieces import nested
from spanwise.chunking.proposers import Estimate, Propose, Proposer, answers_from, estimated
from spanwise.chunking.settle import ChunkingTask, Strategy, settle
from spanwise.chunking.strategies import as_counted, strategy_of
from spanwise.chunking.strategies.smart import SmartStrategy
from spanwise.documents.document import Document
from spanwise.documents.offsets import MEASURES
from spanwise.errors import OptionError, UnreadableError, did_you_mean
from spanwise.native.gc_pause import collector_paused
from spanwise.options import options_of
from spanwise.readers import ReadOptions, read_file, read_page_strings, read_string
from spanwise.records.chunk import Chunk
from spanwise.records.record import Run
from spanwise.text.tokens import Tokenizer, TokenMap, tokenizer_of


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    password: str | None = None,
    figures: str | os.PathLike[str] | None = None,
    keep_all: bool = False,
    **metadata: Any,
) -> Document:
    """Read a file. The extension says what it is, unless `format` does; `metadata` is what you know better.

    `password` opens an encrypted PDF. `figures` names a folder that the figures of a PDF are written to.
    With `keep_all` a web page keeps its navigation, banners and whatever else is not its main content.
    """
    return read_file(path, format, metadata, ReadOptions(password, figures, keep_all))


def read_text(text: str, format: str = "markdown", *, keep_all: bool = False, **metadata: Any) -> Document:
    """Read a string: Markdown, plain text, HTML or a page of Confluence; `keep_all` is as for `read`."""
    return read_string(text, format, metadata, access=ReadOptions(keep_all=keep_all))


def read_pages(pages: Iterable[str], *, format: str = "text", **metadata: Any) -> Document:
    """Read text that is already in pages, one string a page."""
    return read_page_strings(pages, format, metadata)


class Prepared(NamedTuple):
    """A document that is going to be chunked: all is checked and counted, nothing is planned."""

    task: ChunkingTask
    strategy: Strategy
    offsets: tuple[str, ...]


def chunk(
    document: Document,
    strategy: str = "structure",
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    *,
    offsets: Sequence[str] = (),
    proposer: Proposer | Propose | None = None,
    **options: Any,
) -> tuple[Chunk, ...]:
    """Turn a document into chunks.

    `options` are those of the strategy. `offsets` may name `"utf8"` and `"utf16"`: the records then give all ranges in
    bytes and UTF-16 units as well. `proposer` is for `smart` alone: a `Proposer` that several documents share, or a
    function of your own from a `Window` to the numbers of the lines where a topic starts.
    """
    begun = prepare(document, strategy, tokenizer, offsets, options)
    if not isinstance(begun.strategy, SmartStrategy):
        if proposer is not None:
            raise OptionError("proposer", f"is not for the strategy {strategy}", hint="it is one of smart")
        return finish(begun)
    with answers_from(proposer, begun.task, options) as answers:
        begun.task.answers = answers
        return finish(begun)


def estimate(document: Document, tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k", **options: Any) -> Estimate:
    """Say what `smart` would send for a document, and at what price; nothing is sent."""
    return estimated(prepare(document, "smart", tokenizer, (), options).task)


def prepare(
    document: Document,
    strategy: str,
    tokenizer: str | os.PathLike[str] | Tokenizer,
    offsets: Sequence[str],
    options: Mapping[str, Any],
) -> Prepared:
    """Check what is given, and count the document's tokens."""
    if not isinstance(document, Document):
        hint = "make one with spanwise.read(path) or spanwise.read_text(text)"
        raise OptionError("document", "must be a Document", value=type(document).__name__, hint=hint)
    chosen = strategy_of(strategy)
    settings = options_of(chosen.options, options)
    measures = (offsets,) if isinstance(offsets, str) or not isinstance(offsets, Iterable) else tuple(offsets)
    for name in measures:
        if not isinstance(name, str) or name not in MEASURES:
            raise OptionError("offsets", "is not a known measure", value=name, hint=did_you_mean(str(name), MEASURES))
    try:
        tokens = TokenMap(document.text, tokenizer_of(tokenizer))
    except UnicodeEncodeError as error:
        rule = f"holds a lone surrogate, which is no character, at {error.start}"
        raise UnreadableError("text", rule, hint="spanwise.read_text(text) replaces it") from error
    with collector_paused:
        return Prepared(
            ChunkingTask(as_counted(document, strategy), tokens, settings, chosen.leaves_out), chosen, measures
        )


def finish(begun: Prepared) -> tuple[Chunk, ...]:
    """Plan and settle the chunks."""
    task, strategy, measures = begun
    if task.answers is not None:
        task.answers()  # nothing else is kept waiting for them
    with collector_paused:
        settled = settle(task, strategy, strategy.plan(task))
        row, homes = nested(task.parents, settled)
        run = Run(task.document, strategy.name, row, measures, task.options.max_heading_levels, homes, task.notes)
        return tuple([Chunk(run, index) for index in range(len(row))])
