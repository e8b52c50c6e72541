"""What of a file goes into a store: read, chunked, its words found. This is the work that several processes share."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from spanwise import __version__
from spanwise.chunking.proposers import Proposer
from spanwise.chunking.strategies.smart import ASKING, SmartStrategy
from spanwise.documents.document import Document, derived_document_id
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.indexing.link_targets import addresses_of, targets_of
from spanwise.native.gc_pause import collector_paused
from spanwise.pipeline.chunk import finish, prepare
from spanwise.pipeline.files import Job, is_smart
from spanwise.pipeline.settings import Settings
from spanwise.readers import ReadOptions, load_file, read_bytes
from spanwise.records.chunk import Chunk
from spanwise.records.record import records_of
from spanwise.stores.values import Entry, Source
from spanwise.text.languages import LANGUAGES, guess_language
from spanwise.text.terms import ANALYSER, document_terms
from spanwise.text.tokens import TOKENIZERS

INDEXING: Final = "1"
"""Goes up when the same file gives something else to store: everything is looked at anew then."""
_WHOM: Final = frozenset({"endpoint", "model"})
_LONGEST_LEAD: Final = 2_000  # characters
_BETWEEN: Final = frozenset({"heading", "rule"})
_USUAL_LEAD: Final = "\n\n"


class Task(NamedTuple):
    """A file to be analysed: what is in force for it, where it is, what it is called, and whose vectors it gets."""

    job: Job
    place: str
    file_path: str
    embedder: str = ""


class StoreEntries(NamedTuple):
    """What became of a file."""

    file: str
    place: str
    document_id: str
    source: Source | None = None
    entries: tuple[Entry, ...] = ()
    size: int = 0
    notes: tuple[str, ...] = ()
    error: SpanwiseError | None = None


def analyse_files(tasks: Sequence[Task], proposer: Proposer | None = None) -> list[StoreEntries]:
    """Analyse some files; the proposer is for those of `smart`, and keeps its bounds for all of them."""
    return [analyse_file(task, proposer) for task in tasks]


def without_calls(task: Task) -> Task:
    """Give a task that asks no model: what `smart` would do is then told from the answers that are known."""
    if not is_smart(task.job):
        return task
    settings = task.job.settings
    return task._replace(
        job=task.job._replace(settings=replace(settings, options={**settings.options, "max_calls": 0}))
    )


def analyse_file(task: Task, proposer: Proposer | None = None) -> StoreEntries:
    """Read and chunk a file, and find the words of its chunks."""
    job = task.job
    try:
        with collector_paused:
            return _analysed(task, proposer)
    except SpanwiseError as error:
        return _failed(task, error)
    except (MemoryError, RecursionError) as error:
        rule = "is too large for this machine's memory" if isinstance(error, MemoryError) else "is nested too deeply"
        return _failed(task, UnreadableError(job.file, rule))


def worker_died(task: Task) -> StoreEntries:
    """Say what became of a file that ended its process."""
    rule = "ended the process that read it (out of memory?)"
    error = UnreadableError(task.job.file, rule, hint="try it alone, with --jobs 1")
    return _failed(task, error)


def _failed(task: Task, error: SpanwiseError) -> StoreEntries:
    """Name the document all the same, as it would have been named."""
    given = {"file_path": task.file_path, **task.job.settings.metadata}
    document_id = given.get("document_id") or derived_document_id(given, "")
    return StoreEntries(task.job.file, task.place, document_id, error=error)


def fingerprint_of(task: Task, data: bytes) -> str:
    """Hash a file's bytes with everything else that decides what is stored of it."""
    settings, order = task.job.settings, task.job.order
    said = (
        INDEXING, __version__, ANALYSER, settings.strategy, _tokenizer(settings.tokenizer), _telling(settings.options),
        dict(settings.metadata), order.format, order.keep_all, order.figures, task.file_path, task.place,
        task.embedder,
    )  # fmt: skip
    digest = hashlib.blake2b(data, digest_size=16)
    digest.update(orjson.dumps(said, option=orjson.OPT_SORT_KEYS, default=str))
    return digest.hexdigest()


def _telling(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options that decide what chunks there are: not the key of a model, nor what it may cost."""
    return {name: value for name, value in options.items() if name not in ASKING or name in _WHOM}


@cache
def _tokenizer(name: str) -> str:
    """Name a tokenizer; one that is a file by what is in it."""
    if name not in TOKENIZERS:
        with suppress(OSError, ValueError):
            return hashlib.blake2b(Path(name).read_bytes(), digest_size=16).hexdigest()
    return name


def _analysed(task: Task, proposer: Proposer | None) -> StoreEntries:
    job = task.job
    data, name, form = load_file(job.file, job.order.format)
    given = {"file_path": task.file_path, **job.settings.metadata}
    document = read_bytes(
        data, name, form, given, ReadOptions(job.order.password, job.order.figures, job.order.keep_all)
    )
    chunks = _chunks(document, job.settings, proposer)
    language = document_language(document)
    entries: tuple[Entry, ...] = ()
    if chunks:
        run = chunks[0]._run
        entries = entries_of(list(records_of(run)), run.document, language, job.file)
    fell_back = bool(chunks and chunks[0]._run.notes)  # then it is tried again the next time
    metadata = document.metadata.to_dict()
    source = Source(
        document.document_id, fingerprint_of(task, data) + ("?" if fell_back else ""), metadata, language,
        addresses_of(metadata, task.place), targets_of(metadata, task.place), task.place,
    )  # fmt: skip
    notes = tuple(dict.fromkeys(item.reason for item in document.left_out if not item.usual))
    return StoreEntries(job.file, task.place, document.document_id, source, entries, len(data), notes)


def _chunks(document: Document, settings: Settings, proposer: Proposer | None) -> tuple[Chunk, ...]:
    begun = prepare(document, settings.strategy, settings.tokenizer, (), settings.options)
    if proposer is not None and isinstance(begun.strategy, SmartStrategy):
        begun.task.answers = proposer.ask(begun.task, begun.strategy.questions(begun.task), settings.options)
    return finish(begun)


def document_language(document: Document) -> str:
    """Give the language whose words these are: what the document says, else a guess."""
    said = (document.metadata.language or "").replace("_", "-").partition("-")[0].lower()
    return said if said in LANGUAGES else guess_language(document.text)


def entries_of(records: Sequence[dict[str, Any]], document: Document, language: str, name: str) -> tuple[Entry, ...]:
    """Give the chunks of a document as a store takes them; those that others call their parent aren't searched."""
    parents = {record["parent_id"] for record in records} - {None}
    ends, positions = {True: 0, False: 0}, {True: 0, False: 0}
    entries = []
    for record in records:
        is_parent = record["chunk_id"] in parents
        start, position = record["char_start"], positions[is_parent]
        lead = lead_of(document, ends[is_parent], start) if position else ""
        ends[is_parent], positions[is_parent] = record["char_end"], position + 1
        words = "" if is_parent else searched_text(record)
        entries.append(
            Entry(
                _written(record, name), lead, record["content_hash"], _words_hash(words, language),
                record["chunk_id"], record["parent_id"], record["chunk_type"], position,
                tuple(document_terms(words, language)) if words else (),
            )
        )  # fmt: skip
    return tuple(entries)


def searched_text(record: dict[str, Any]) -> str:
    """Give what is searched of a chunk: title, headings and full text; a title that is also a heading stands once."""
    title, path = record["metadata"].get("title") or "", list(record["headings_path"])
    named = [title] if title and (not path or path[0].casefold() != title.casefold()) else []
    return "\n".join([*named, *path, record["full_text"]])


def lead_of(document: Document, end: int, start: int) -> str:
    """Give what stands between two cores, if that is what a reader of both would expect to see."""
    if not 0 <= start - end <= _LONGEST_LEAD:
        return _USUAL_LEAD
    between = document.text[end:start]
    if between.strip():
        first = bisect_left(document.block_starts, end)
        last = bisect_left(document.block_starts, start)
        if any(block.kind not in _BETWEEN for block in document.blocks[first:last]):
            return _USUAL_LEAD
    return between


def _words_hash(words: str, language: str) -> str:
    """Hash what terms are made of; nothing for what isn't searched."""
    if not words:
        return ""
    return hashlib.blake2b(f"{ANALYSER}\x1f{language}\x1f{words}".encode(), digest_size=16).hexdigest()


def _written(record: dict[str, Any], name: str) -> bytes:
    try:
        return orjson.dumps(record)
    except TypeError as error:  # an integer over 64 bits, or half a character, in metadata of one's own
        raise UnreadableError(name, f"has metadata that JSON can't say ({error})") from error
