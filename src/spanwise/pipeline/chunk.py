"""chunk() and estimate(): one document to chunks, in the steps that the pipeline takes for every job."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spanwise.chunking.pieces import nested
from spanwise.chunking.proposers import Answers, Estimate, Propose, Proposer, answers_from, estimated
from spanwise.chunking.settle import settle
from spanwise.chunking.strategies import as_counted, default_strategy, strategy_of, with_options
from spanwise.chunking.strategy import ChunkPlan, ModelStrategy, Strategy, StrategyLike
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Document
from spanwise.documents.offsets import MEASURES, Measure
from spanwise.errors import OptionError, UnreadableError, did_you_mean
from spanwise.native.gc_pause import collector_paused
from spanwise.options import options_of
from spanwise.readers import read, read_text
from spanwise.records.chunk import Chunks
from spanwise.records.run import Run
from spanwise.text.tokens import Tokenizer, TokenMap, tokenizer_of


class Prepared(NamedTuple):
    """A document that is going to be chunked: options are checked and tokens counted, nothing is planned."""

    task: ChunkingTask
    strategy: Strategy


@with_options
def chunk(
    document: Document | str | os.PathLike[str],
    strategy: str | StrategyLike | None = None,
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    *,
    offsets: Measure | Sequence[Measure] = (),
    proposer: Proposer | Propose | str | None = None,
    **options: Any,
) -> Chunks:
    """Return the chunks of a document; a string is read as Markdown first, a `Path` as a file.

    `strategy` is a name or an object, by default `structure`, `simple` for JSON; `options` are its own. `tokenizer` is
    a name, the path of a tokenizer.json, or an object. `offsets` may name `"utf8"` and `"utf16"`: the records then give
    all ranges in bytes and UTF-16 units as well. `proposer` is for `smart` alone: a `Proposer` that several documents
    share, a function of your own from a `Window` to the numbers of the lines where a topic starts, or the name of a
    plug-in.
    """
    measures = checked_offsets(offsets)
    prepared = prepare(_read(document), strategy, tokenizer, options)
    if not isinstance(prepared.strategy, ModelStrategy):
        if proposer is not None:
            rule = f"is not for the strategy {prepared.strategy.name}"
            raise OptionError("proposer", rule, hint="it is one of smart")
        return finish(prepared, None, measures)
    with answers_from(proposer, prepared.task, options) as answers:
        return finish(prepared, answers, measures)


def estimate(
    document: Document | str | os.PathLike[str],
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    **options: Any,
) -> Estimate:
    """Return what `smart` would send for a document, and at what price; nothing is sent."""
    return estimated(prepare(_read(document), "smart", tokenizer, options).task)


def _read(document: Document | str | os.PathLike[str]) -> Document:
    if isinstance(document, Document):
        return document
    if isinstance(document, str):
        return read_text(document)
    if isinstance(document, os.PathLike):
        return read(Path(document))
    hint = "make one with spanwise.read(path) or spanwise.read_text(text)"
    raise OptionError("document", "must be a Document, a string or a path", value=type(document).__name__, hint=hint)


def checked_offsets(offsets: Sequence[str]) -> tuple[str, ...]:
    """Return the measures that are named; raise OptionError for an unknown one."""
    measures = (offsets,) if isinstance(offsets, str) or not isinstance(offsets, Iterable) else tuple(offsets)
    for name in measures:
        if not isinstance(name, str) or name not in MEASURES:
            raise OptionError("offsets", "is not a known measure", value=name, hint=did_you_mean(str(name), MEASURES))
    return measures


def prepare(
    document: Document,
    strategy: str | StrategyLike | None,
    tokenizer: str | os.PathLike[str] | Tokenizer,
    options: Mapping[str, Any],
) -> Prepared:
    """Check the options, and count the document's tokens."""
    chosen = strategy_of(default_strategy(document.metadata.source_type) if strategy is None else strategy)
    checked = options_of(chosen.options, options)
    try:
        tokens = TokenMap(document.text, tokenizer_of(tokenizer))
    except UnicodeEncodeError as error:
        rule = f"holds a lone surrogate, which is no character, at {error.start}"
        raise UnreadableError("text", rule, hint="spanwise.read_text(text) replaces it") from error
    with collector_paused:
        counted, by_first = as_counted(document, chosen), chosen.described_by_first
        left_out = chosen.left_out_under(checked)
        return Prepared(ChunkingTask(counted, tokens, checked, left_out, described_by_first=by_first), chosen)


def finish(prepared: Prepared, answers: Answers | None = None, offsets: Sequence[str] = ()) -> Chunks:
    """Plan and settle the chunks; `answers` waits for the proposals of a model, if the strategy needs them."""
    task, strategy = prepared
    proposals = answers() if answers is not None else None  # nothing else is kept waiting for them
    with collector_paused:
        plan = strategy.plan(task, proposals) if isinstance(strategy, ModelStrategy) else strategy.plan(task)
        assert isinstance(plan, ChunkPlan)  # `strategy_of` makes sure of it
        chunks, parent_indices = nested(plan.parents, settle(task, strategy, plan.cores))
        options = task.options
        run = Run(
            task.document, strategy.name, chunks, offsets, options.max_heading_levels, parent_indices, plan.notes,
            tokenizer=task.tokens.tokenizer, max_tokens=options.max_tokens,
            parent_tokens=getattr(options, "parent_tokens", None), split_level=getattr(options, "split_level", None),
            traits=strategy.traits, embed=options.embed,
        )  # fmt: skip
        return Chunks(run)
