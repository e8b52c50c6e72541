"""Embed and commit what changed, a few documents at a time, and report each document when it is safe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import orjson

from spanwise.documents.document import derived_document_id
from spanwise.embedding import Embedder, quantized
from spanwise.errors import DocumentError, PluginError, SpanwiseError
from spanwise.indexing.diff import Matched, is_searched, matched
from spanwise.indexing.entries import StoreEntries
from spanwise.indexing.identity import is_taken
from spanwise.pipeline.process import Outcome
from spanwise.stores import StoreWriter
from spanwise.stores.values import ChunkState, DocumentState, Entry, StoreChange

_TEXTS: Final = 256  # to embed before they are written
_AT_ONCE: Final = 64  # that an embedder gets: between two calls progress is reported
_CHUNKS: Final = 2_000  # written at once
_DOCUMENTS: Final = 128
_SECONDS: Final = 2.0  # that a finished document waits at most for others


class MissingStore:
    """The writer of a store that isn't there yet."""

    def known(self) -> dict[str, DocumentState]:
        """Return nothing."""
        return {}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return nothing."""
        return []

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return nothing."""
        return {}

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Raise: nothing is ever written here."""
        raise NotImplementedError


class DocumentReport(NamedTuple):
    """What became of a document; the numbers are of its chunks."""

    document_id: str
    status: str  # added, changed, unchanged, deleted or failed
    chunks: int = 0
    embedded: int = 0
    file: str | None = None
    error: SpanwiseError | None = None
    added: int = 0
    kept: int = 0
    moved: int = 0
    deleted: int = 0
    size: int = 0
    notes: tuple[str, ...] = ()


class _Waiting(NamedTuple):
    """A document that is ready but for its vectors."""

    outcome: Outcome[StoreEntries]
    document: StoreEntries
    found: Matched
    replaces: str | None
    status: str


class IndexWriter:
    """Writes the documents of one run; `stage` is called with how many chunks went through a stage."""

    def __init__(
        self,
        writer: StoreWriter,
        embedder: Embedder | None,
        *,
        known: Mapping[str, DocumentState] | None = None,
        dry: bool = False,
        stage: Callable[[str, int], None] = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a run; a dry one only finds out what would be done."""
        self._writer, self._embedder, self._dry, self._stage, self._clock = writer, embedder, dry, stage, clock
        self._known = writer.known() if known is None else known
        self._by_location = {one.location: one for one in self._known.values() if one.location}
        self._files: dict[str, str] = {}  # of the documents of this run
        self._waiting: list[_Waiting] = []
        self._since = 0.0
        self._would_embed: set[str] = set()

    def write(
        self, unchanged: Iterable[DocumentReport], outcomes: Iterable[Outcome[StoreEntries]]
    ) -> Iterator[DocumentReport]:
        """Embed and commit documents, and yield a report on each when it is safe in the store."""
        for report in unchanged:
            self._files[report.document_id] = report.file or ""
            yield report
        for outcome in outcomes:
            if outcome.value is None:
                yield self._failed(outcome, outcome.error)
                continue
            self._stage("chunk", len(outcome.value.entries))
            if error := self._refused(outcome, outcome.value.source.document_id):
                yield self._failed(outcome, error)
                continue
            self._wait(outcome, outcome.value)
            if self._is_time():
                yield from self._flush()
        yield from self._flush()

    def _failed(self, outcome: Outcome[StoreEntries], error: SpanwiseError | None) -> DocumentReport:
        """Report a file that can't be indexed; what the store has of it stays."""
        item = outcome.job.item
        known = self._by_location.get(item.location) if item.location else None
        if known:
            self._files.setdefault(known.document_id, item.name)
        document_id = known.document_id if known else _document_id(outcome)
        return DocumentReport(document_id, "failed", known.chunks if known else 0, file=item.name, error=error)

    def _refused(self, outcome: Outcome[StoreEntries], document_id: str) -> SpanwiseError | None:
        """Return an error for an id that another file's document has."""
        location = outcome.job.item.location
        other = is_taken(document_id, location, self._known) if location else None  # a given document replaces its own
        owner = self._files.get(document_id) or (other.location if other else None)
        if owner is None:
            self._files[document_id] = outcome.name
            return None
        hint = "give each file a document_id of its own, or none"
        return DocumentError("document_id", f"is also that of {owner}", value=document_id, hint=hint)

    def _wait(self, outcome: Outcome[StoreEntries], document: StoreEntries) -> None:
        document_id, location = document.source.document_id, document.source.location
        is_known = document_id in self._known
        stored = self._writer.chunks(document_id) if is_known else []
        found = matched(stored, document.entries, embedding=self._embedder is not None)
        before = self._by_location.get(location) if location else None
        replaces = before.document_id if before and before.document_id != document_id else None
        if not self._waiting:
            self._since = self._clock()
        status = "changed" if is_known else "added"
        self._waiting.append(_Waiting(outcome, document, found, replaces, status))

    def _is_time(self) -> bool:
        written = sum(len(one.found.added) + len(one.found.moved) for one in self._waiting)
        texts = sum(len(one.found.added) + len(one.found.revectored) for one in self._waiting) if self._embedder else 0
        return (
            len(self._waiting) >= _DOCUMENTS
            or written >= _CHUNKS
            or texts >= _TEXTS
            or self._clock() - self._since >= _SECONDS
        )

    def _flush(self) -> Iterator[DocumentReport]:
        """Embed and commit what is waiting."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        wanted: dict[str, Entry] = {}
        if self._embedder:
            wanted = {entry.content_hash: entry for one in waiting for entry in _to_embed(one.found)}
        vectors = self._writer.vectors(list(wanted)) if wanted else {}
        missing = {name: entry for name, entry in wanted.items() if name not in vectors}
        if self._dry:
            missing = {name: entry for name, entry in missing.items() if name not in self._would_embed}
            self._would_embed |= missing.keys()
        else:
            try:
                vectors |= self._embedded(missing)
            except PluginError as error:  # which of the documents it can't embed is found one by one
                yield from self._flush_each(waiting) if len(waiting) > 1 else [self._failed(waiting[0].outcome, error)]
                return
            removed = [one.replaces for one in waiting if one.replaces]
            self._writer.commit([_change(one, vectors) for one in waiting], removed)
            self._stage("write", sum(len(one.document.entries) for one in waiting))
        counted: set[str] = set()
        for one in waiting:
            fresh = {entry.content_hash for entry in _to_embed(one.found)} & missing.keys() - counted
            counted |= fresh
            yield from _reports(one, len(fresh))

    def _flush_each(self, waiting: Sequence[_Waiting]) -> Iterator[DocumentReport]:
        for one in waiting:
            self._waiting = [one]
            yield from self._flush()

    def _embedded(self, missing: Mapping[str, Entry]) -> dict[str, bytes]:
        """Embed the chunks whose vectors are missing."""
        if not missing or self._embedder is None:
            return {}
        texts = {name: orjson.loads(entry.record)["embedding_text"] for name, entry in missing.items()}
        names = sorted(texts, key=lambda name: len(texts[name]))  # models pad texts to the longest of a call
        vectors: dict[str, bytes] = {}
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            rows = quantized(self._embedder.embed([texts[name] for name in some]))
            vectors |= {name: row.tobytes() for name, row in zip(some, rows, strict=True)}
            self._stage("embed", len(rows))
        return vectors

    def remove(self, gone: Sequence[DocumentState]) -> Iterator[DocumentReport]:
        """Remove documents whose files are gone, and yield a report on each."""
        rest = [one for one in gone if one.document_id not in self._files]
        for at in range(0, len(rest), _DOCUMENTS):
            part = rest[at : at + _DOCUMENTS]
            if not self._dry:
                self._writer.commit([], [one.document_id for one in part])
            yield from (_deleted(one.document_id, one.chunks, one.file_path) for one in part)


def _to_embed(found: Matched) -> list[Entry]:
    return [entry for entry in (*found.added, *(entry for _, entry in found.revectored)) if is_searched(entry)]


def _change(one: _Waiting, vectors: Mapping[str, bytes]) -> StoreChange:
    added = [
        replace(entry, vector=vectors.get(entry.content_hash)) if is_searched(entry) else entry
        for entry in one.found.added
    ]
    revectored = [(key, vectors[entry.content_hash]) for key, entry in one.found.revectored]
    return StoreChange(one.document.source, tuple(added), one.found.moved, tuple(revectored), one.found.deleted)


def _reports(one: _Waiting, embedded: int) -> Iterator[DocumentReport]:
    found, outcome, document = one.found, one.outcome, one.document
    yield DocumentReport(
        document.source.document_id, one.status, len(document.entries), embedded, outcome.name,
        added=len(found.added), kept=found.kept, moved=len(found.moved), deleted=len(found.deleted),
        size=outcome.size, notes=outcome.notes,
    )  # fmt: skip
    if one.replaces:
        yield _deleted(one.replaces, 0, outcome.name)


def _document_id(outcome: Outcome[StoreEntries]) -> str:
    """Return the id that a document would have had that could not be read."""
    item, metadata = outcome.job.item, {**outcome.job.item.metadata, **outcome.job.settings.metadata}
    if not metadata.get("file_path") and not metadata.get("source_url"):
        return item.name  # a document that was given goes by its id
    return metadata.get("document_id") or derived_document_id(metadata, "")


def _deleted(document_id: str, chunks: int, file: str | None) -> DocumentReport:
    return DocumentReport(document_id, "deleted", 0, file=file, deleted=chunks)
