"""What of a chunked document goes into a store: its records, its terms, its links."""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanwise import __version__, plugins
from spanwise.chunking.strategies import STRATEGIES, default_strategy
from spanwise.chunking.strategies.smart import ENDPOINT_OPTIONS
from spanwise.documents.document import AS_WRITTEN, Document
from spanwise.indexing.link_targets import addresses_of, targets_of
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import Chunked
from spanwise.readers import expected_format, reader_origin
from spanwise.records.dialects import PLACE, DialectContext
from spanwise.records.json_lines import json_lines
from spanwise.records.record import prefix_of, records_of
from spanwise.sources.item import SourceItem
from spanwise.stores.values import Entry, StoredDocument
from spanwise.text.terms import ANALYSER, document_terms
from spanwise.text.tokens import Tokenizer, built_in, file_name

INDEXING: Final = "5"
"""Raised when other entries are made of the same file: everything is indexed again then."""
_AS_THE_FILE: Final = AS_WRITTEN | {"markdown"}  # formats whose text is the file, line by line
_CHOOSING_MODEL: Final = frozenset({"endpoint", "model"})
_LONGEST_TEXT_BEFORE: Final = 2_000  # characters
_BETWEEN: Final = frozenset({"heading", "rule"})
_USUAL_TEXT_BEFORE: Final = "\n\n"


class StoreEntries(NamedTuple):
    """A document as a store takes it."""

    source: StoredDocument
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryEncoder:
    """Encodes a chunked job as store entries; `embedder` is the name of the embedder whose vectors they get."""

    embedder: str = ""

    def __call__(self, chunked: Chunked) -> StoreEntries:
        """Return the document and its chunks as a store takes them."""
        job, document, run = chunked.job, chunked.document, chunked.run
        language, location = chunked.task.language, job.item.location
        entries = entries_of(list(records_of(run)), DialectContext.of(run), language, job.item.name)
        metadata = document.metadata.to_dict()
        data = document_bytes(document) if chunked.data is None else chunked.data
        fingerprint = fingerprint_of(job, data, self.embedder)
        if run.notes:  # a proposal failed: it is tried again the next time
            fingerprint += "?"
        addresses, targets = addresses_of(metadata, location), targets_of(metadata, location)
        source = StoredDocument(document.document_id, fingerprint, metadata, language, addresses, targets, location)
        source.check()  # here, so that only this document fails
        return StoreEntries(source, entries)


def fingerprint_of(job: Job, data: bytes, embedder: str) -> str:
    """Return what decides what is stored of a file: a hash of the settings, and one of its bytes with all else."""
    item, settings = job.item, job.settings
    deciding = (dict(settings.metadata), _format_name(item.format), dict(item.metadata), item.location, embedder)
    digest = hashlib.blake2b(data, digest_size=16)
    digest.update(_canonical(deciding))
    return f"{settings_print(job)}-{digest.hexdigest()}"


def settings_print(job: Job) -> str:
    """Return a hash of the version and the settings that a document is read and chunked with."""
    settings, reading = job.settings, job.reading
    deciding = (
        INDEXING, __version__, ANALYSER, settings.strategy_name, _tokenizer_name(settings.tokenizer),
        _distinctive(settings.options), reading.keep_all, reading.figures,
        _plugins_of(job),  # what they make may change with their version
        _default_of(job.item) if settings.by_format else "",
    )  # fmt: skip
    return hashlib.blake2b(_canonical(deciding), digest_size=4).hexdigest()


def has_settings(fingerprint: str, job: Job) -> bool:
    """Whether a stored document was read and chunked with the settings of a job."""
    return fingerprint.startswith(settings_print(job) + "-")


def _canonical(values: Any) -> bytes:
    import orjson

    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS, default=str)


def _default_of(item: SourceItem) -> str:
    known = item.document.metadata.source_type if item.document else expected_format(item.name, item.format)
    return default_strategy(known)


def _format_name(format: Any) -> str | None:
    return format if isinstance(format, str | None) else type(format).__qualname__


def _plugins_of(job: Job) -> list[str]:
    """Return what plug-ins a job uses, with their versions."""
    item, settings = job.item, job.settings
    strategy, tokenizer, proposer = settings.strategy_name, settings.tokenizer, settings.proposer
    found = [
        "" if strategy in STRATEGIES else f"{strategy} {plugins.origin('strategies', strategy)}",
        plugins.origin("tokenizers", tokenizer) if isinstance(tokenizer, str) and not built_in(tokenizer) else "",
        "" if item.document is not None else reader_origin(item.name, item.format),
        "" if proposer is None else str(proposer if isinstance(proposer, str) else type(proposer).__qualname__),
    ]
    return [one for one in found if one]


def document_bytes(document: Document) -> bytes:
    """Return bytes for the fingerprint of a document that was not read from any."""
    import orjson

    known = orjson.dumps(document.metadata.to_dict(), option=orjson.OPT_SORT_KEYS, default=str)
    return b"\n".join(
        [document.text.encode("utf-8", "surrogatepass"), known, repr((document.blocks, document.pages)).encode()]
    )


def _distinctive(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that decide which chunks there are: not a model's key, nor what it may cost."""
    return {name: value for name, value in options.items() if name not in ENDPOINT_OPTIONS or name in _CHOOSING_MODEL}


def _tokenizer_name(tokenizer: str | Tokenizer) -> str:
    return _tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer.name


@cache
def _tokenizer(name: str) -> str:
    """Return the name of a tokenizer as records have it."""
    if found := built_in(name):
        return found
    with suppress(OSError, ValueError):
        return file_name(Path(name))
    return name


def entries_of(
    records: Sequence[dict[str, Any]], context: DialectContext, language: str, name: str
) -> tuple[Entry, ...]:
    """Return the chunks of a document as a store takes them; parents aren't searched, and have no dialect."""
    document = context.document
    parents = {record["parent_id"] for record in records} - {None}
    ends, positions = {True: 0, False: 0}, {True: 0, False: 0}
    entries = []
    for record, number in zip(records, _lines(records, document), strict=True):
        is_parent = record["chunk_id"] in parents
        record["line_start"] = number
        if not is_parent:
            record[PLACE] = context.place(record).stored(record)
        start, position = record["char_start"], positions[is_parent]
        before = text_before(document, ends[is_parent], start) if position else ""
        ends[is_parent], positions[is_parent] = record["char_end"], position + 1
        line = json_lines([record], name)[:-1]
        entries.append(entry_of(record, line, before, position, None if is_parent else language))
    return tuple(entries)


def _lines(records: Sequence[dict[str, Any]], document: Document) -> list[int | None]:
    """Return for each record the line of the file that it starts in; None where the document's text isn't the file."""
    if document.metadata.source_type not in _AS_THE_FILE or document.pages:
        return [None] * len(records)
    starts = sorted({record["char_start"] for record in records})
    ends = itertools.accumulate(document.text.count("\n", *span) for span in itertools.pairwise((0, *starts)))
    lines = {start: 1 + number for start, number in zip(starts, ends, strict=True)}
    return [lines[record["char_start"]] for record in records]


def entry_of(record: dict[str, Any], line: bytes, before: str, position: int, language: str | None) -> Entry:
    """Return a chunk as a store takes it, from its record and that as JSON; without a language it isn't searched."""
    searched = "" if language is None else searched_text(record)
    terms = tuple(document_terms(searched, language)) if searched and language is not None else ()
    return Entry(
        line, before, record["content_hash"], _terms_hash(searched, language or ""), record["chunk_id"],
        record["parent_id"], record["chunk_type"], position, terms,
    )  # fmt: skip


def searched_text(record: dict[str, Any]) -> str:
    """Return what is searched of a chunk: title, labels, headings, text; a title that is a heading comes once."""
    metadata, path = record["metadata"], list(record["headings_path"])
    title = metadata.get("title") or ""
    named = [title] if title and (not path or path[0].casefold() != title.casefold()) else []
    text = record["embedding_text"].removeprefix(prefix_of(record))
    return "\n".join([*named, *(metadata.get("labels") or ()), *path, text])


def text_before(document: Document, end: int, start: int) -> str:
    """Return the text between two cores, if a reader of both would expect to see it."""
    if not 0 <= start - end <= _LONGEST_TEXT_BEFORE:
        return _USUAL_TEXT_BEFORE
    between = document.text[end:start]
    if between.strip():
        first = bisect_left(document.block_starts, end)
        last = bisect_left(document.block_starts, start)
        if any(block.kind not in _BETWEEN for block in document.blocks[first:last]):
            return _USUAL_TEXT_BEFORE
    return between.replace("\0", "\ufffd")  # which readers do as well


def _terms_hash(text: str, language: str) -> str:
    """Return a hash of what terms are made from; "" for what isn't searched."""
    if not text:
        return ""
    return hashlib.blake2b(f"{ANALYSER}\x1f{language}\x1f{text}".encode(), digest_size=16).hexdigest()
