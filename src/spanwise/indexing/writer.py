"""The work of indexing: what changed is embedded and committed, a few documents at a time; what is safe is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import orjson

from spanwise.embedding import Embedder, quantized
from spanwise.errors import DocumentError, SpanwiseError
from spanwise.indexing.diff import Matched, is_searched, matched
from spanwise.indexing.entries import StoreEntries, Task, fingerprint_of
from spanwise.indexing.identity import Named, is_taken
from spanwise.stores.values import ChunkState, DocumentState, Entry, StoreChange

_TEXTS: Final = 256  # to embed at once
_CHUNKS: Final = 2_000  # written at once
_DOCUMENTS: Final = 128
_SECONDS: Final = 2.0  # that a finished document waits at most for others


class Ledger(Protocol):
    """What is known of a tenant's documents, and where changes go."""

    def known(self) -> dict[str, DocumentState]:
        """Give the documents that are there."""

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Give the chunks of a document, in order."""

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Give the vectors that are already known, by what was embedded."""

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Make the changes and remove documents."""


class MissingStore:
    """The writer of a store that isn't there yet."""

    def known(self) -> dict[str, DocumentState]:
        """Give nothing."""
        return {}

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Give nothing."""
        return []

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Give nothing."""
        return {}

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Nothing is ever written here."""
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

    analysed: StoreEntries
    found: Matched
    replaces: str | None
    status: str


def split_unchanged(tasks: Sequence[Task], names: Sequence[Named]) -> tuple[list[Task], list[DocumentReport]]:
    """Part the files that must be looked into from those whose documents are as they were."""
    work: list[Task] = []
    unchanged: list[DocumentReport] = []
    for task, name in zip(tasks, names, strict=True):
        if name.known and _fingerprint(task) == name.known.fingerprint:
            chunks = name.known.chunks
            unchanged.append(
                DocumentReport(name.known.document_id, "unchanged", chunks, file=task.job.file, kept=chunks)
            )
        else:
            work.append(task)
    return work, unchanged


def _fingerprint(task: Task) -> str | None:
    with suppress(OSError, ValueError):  # who reads it tells
        return fingerprint_of(task, Path(task.job.file).read_bytes())
    return None


class IndexWriter:
    """One run over the documents of a tenant; `stage` is told how many chunks went through each stage."""

    def __init__(
        self,
        writer: Ledger,
        embedder: Embedder | None,
        *,
        dry: bool = False,
        stage: Callable[[str, int], None] = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin; a dry run finds out what would be done, and does nothing."""
        self._writer, self._embedder, self._dry, self._stage, self._clock = writer, embedder, dry, stage, clock
        self._known = writer.known()
        self._by_place = {one.place: one for one in self._known.values() if one.place}
        self._files: dict[str, str] = {}  # of the documents of this run
        self._waiting: list[_Waiting] = []
        self._since = 0.0
        self._would_embed: set[str] = set()

    def through(
        self, unchanged: Iterable[DocumentReport], analysed: Iterable[StoreEntries], gone: Sequence[DocumentState]
    ) -> Iterator[DocumentReport]:
        """Do all that is to be done, and tell of each document when it is safe."""
        for report in unchanged:
            self._files[report.document_id] = report.file or ""
            yield report
        for outcome in analysed:
            if outcome.source is None:
                yield self._failed(outcome, outcome.error)
                continue
            self._stage("chunk", len(outcome.entries))
            if error := self._refused(outcome):
                yield self._failed(outcome, error)
                continue
            self._wait(outcome)
            if self._is_time():
                yield from self._flush()
        yield from self._flush()
        yield from self._remove(gone)

    def _failed(self, outcome: StoreEntries, error: SpanwiseError | None) -> DocumentReport:
        """Tell of a file that can't be indexed; what the store has of it stays."""
        known = self._by_place.get(outcome.place)
        if known:
            self._files.setdefault(known.document_id, outcome.file)
        name = known.document_id if known else outcome.document_id
        return DocumentReport(name, "failed", known.chunks if known else 0, file=outcome.file, error=error)

    def _refused(self, outcome: StoreEntries) -> SpanwiseError | None:
        """Refuse an id that another file's document has."""
        document_id = outcome.document_id
        other = is_taken(document_id, outcome.place, self._known)
        owner = self._files.get(document_id) or (other.place if other else None)
        if owner is None:
            self._files[document_id] = outcome.file
            return None
        hint = "give each file a document_id of its own, or none"
        return DocumentError("document_id", f"is also that of {owner}", value=document_id, hint=hint)

    def _wait(self, outcome: StoreEntries) -> None:
        document_id = outcome.document_id
        is_known = document_id in self._known
        stored = self._writer.chunks(document_id) if is_known else []
        found = matched(stored, outcome.entries, embedding=self._embedder is not None)
        before = self._by_place.get(outcome.place)
        replaces = before.document_id if before and before.document_id != document_id else None
        if not self._waiting:
            self._since = self._clock()
        self._waiting.append(_Waiting(outcome, found, replaces, "changed" if is_known else "added"))

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
            vectors |= self._embedded(missing)
            removed = [one.replaces for one in waiting if one.replaces]
            self._writer.commit([_change(one, vectors) for one in waiting], removed)
            self._stage("write", sum(len(one.analysed.entries) for one in waiting))
        told: set[str] = set()
        for one in waiting:
            fresh = {entry.content_hash for entry in _to_embed(one.found)} & missing.keys() - told
            told |= fresh
            yield from _reports(one, len(fresh))

    def _embedded(self, missing: Mapping[str, Entry]) -> dict[str, bytes]:
        """Embed what nobody has embedded yet."""
        if not missing or self._embedder is None:
            return {}
        texts = [orjson.loads(entry.record)["embedding_text"] for entry in missing.values()]
        vectors: dict[str, bytes] = {}
        names = list(missing)
        for at in range(0, len(texts), _TEXTS):
            rows = quantized(self._embedder.embed(texts[at : at + _TEXTS]))
            vectors |= {name: row.tobytes() for name, row in zip(names[at : at + _TEXTS], rows, strict=True)}
            self._stage("embed", len(rows))
        return vectors

    def _remove(self, gone: Sequence[DocumentState]) -> Iterator[DocumentReport]:
        """Remove documents whose files are gone."""
        rest = [one for one in gone if one.document_id not in self._files]
        for at in range(0, len(rest), _DOCUMENTS):
            part = rest[at : at + _DOCUMENTS]
            if not self._dry:
                self._writer.commit([], [one.document_id for one in part])
            yield from (_deleted(one.document_id, one.chunks, one.file_path) for one in part)


def _to_embed(found: Matched) -> list[Entry]:
    return [entry for entry in (*found.added, *(entry for _, entry in found.revectored)) if is_searched(entry)]


def _change(one: _Waiting, vectors: Mapping[str, bytes]) -> StoreChange:
    assert one.analysed.source is not None  # it was read
    added = [
        replace(entry, vector=vectors.get(entry.content_hash)) if is_searched(entry) else entry
        for entry in one.found.added
    ]
    revectored = [(key, vectors[entry.content_hash]) for key, entry in one.found.revectored]
    return StoreChange(one.analysed.source, tuple(added), one.found.moved, tuple(revectored), one.found.deleted)


def _reports(one: _Waiting, embedded: int) -> Iterator[DocumentReport]:
    found, analysed = one.found, one.analysed
    yield DocumentReport(
        analysed.document_id, one.status, len(analysed.entries), embedded, analysed.file,
        added=len(found.added), kept=found.kept, moved=len(found.moved), deleted=len(found.deleted),
        size=analysed.size, notes=analysed.notes,
    )  # fmt: skip
    if one.replaces:
        yield _deleted(one.replaces, 0, analysed.file)


def _deleted(document_id: str, chunks: int, file: str | None) -> DocumentReport:
    return DocumentReport(document_id, "deleted", 0, file=file, deleted=chunks)
