"""repair(): a damaged store is rebuilt from the records and documents in it that are sound."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import orjson

from spanwise.errors import StoreError, StoreFullError
from spanwise.indexing.entries import entry_of
from spanwise.stores import open_store
from spanwise.stores.postgres import open_postgres
from spanwise.stores.sqlite import created_for_repair
from spanwise.stores.sqlite.locks import write_lock
from spanwise.stores.sqlite.log import lost_commits
from spanwise.stores.sqlite.salvage import DamagedFile, NothingSoundError, Salvage, SalvagedDocument, remove_store
from spanwise.stores.sqlite.schema import check_file, store_errors
from spanwise.stores.values import Entry, StoreChange

_AT_ONCE: Final = 100  # documents in a commit


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair found, kept and lost."""

    findings: tuple[str, ...] = ()
    """What was wrong; nothing was done if that is empty."""
    documents: int = 0
    """Documents that were kept; their terms and full text were made again."""
    chunks: int = 0
    vectors: int = 0
    incomplete: tuple[str, ...] = ()
    """The files, or ids, of documents that have lost vectors: they are found by their words until indexed again."""
    lost: tuple[str, ...] = ()
    """The files, or ids, of documents that were removed: their records can't be read."""
    unnamed: int = 0
    """How many more documents there were, of which not even a name can be read."""
    is_uncertain: bool = False
    """Whether more may be lost than is known: commits in the log, or counts of documents, can't be read."""
    copy: str | None = None
    """Where the damaged store was kept."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost."""
        return not (self.incomplete or self.lost or self.unnamed or self.is_uncertain)


def repair(address: str, wait: float = 10.0) -> RepairReport:
    """Rebuild a damaged store from what is sound in it; wait up to `wait` seconds for a writer.

    What is lost is read again by the next indexing. The store is replaced only once the new one is whole.
    """
    if address.startswith(("postgresql://", "postgres://")):
        return _repaired_on_server(address, wait)
    check_file(address)
    with write_lock(address, wait):
        undone = lost_commits(address)
        findings, error = _findings(address)
        if undone:
            findings = (undone, *findings)
        if not findings:
            return RepairReport()
        try:
            with store_errors(address), _disk_errors(address), closing(DamagedFile(address)) as damaged:
                report = _repaired(damaged, findings)
        except NothingSoundError as nothing:
            if error is not None and "not a store" in error.rule:  # but of something else
                raise error from nothing
            hint = "delete it and index the documents again"
            raise StoreError(address, "is damaged, and no document can be read in it", hint=hint) from nothing
        return replace(report, is_uncertain=report.is_uncertain or undone is not None)


@contextmanager
def _disk_errors(path: str) -> Iterator[None]:
    """Raise errors of the system as StoreError."""
    try:
        yield
    except OSError as error:
        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        rule = f"can't be repaired: no copy of it can be written ({error.strerror})"
        raise kind(path, rule, hint="it needs room for two more of its size beside it") from error


def _repaired_on_server(address: str, wait: float) -> RepairReport:
    """Remove damaged documents from a database, and count the others anew."""
    with closing(open_postgres(address)) as store:
        findings = tuple(store.verify())
        lost = tuple(store.repair(wait)) if findings else ()
        if remaining := store.verify() if findings else ():
            hint = "restore row-level security from a backup, or index into a new database"
            raise StoreError(store.where, f"can't be repaired: {remaining[0]}", hint=hint)
        status = store.status()
    return RepairReport(findings, status["documents"], status["chunks"], status["vectors"], lost=lost)


def _findings(path: str) -> tuple[tuple[str, ...], StoreError | None]:
    """Return what is wrong with a store, and the error if it can't be opened."""
    try:
        with closing(open_store(path)) as store:
            return tuple(store.verify()), None
    except StoreError as error:
        return (error.rule,), error


def _repaired(damaged: DamagedFile, findings: tuple[str, ...]) -> RepairReport:
    """Replace a store by what is sound in it."""
    path = f"{damaged.path}.repaired"
    remove_store(path)
    try:
        report = _rebuilt(Salvage(damaged.connection), path)
        if not report.documents:
            raise NothingSoundError
        return replace(report, findings=findings, copy=damaged.replace(path))
    finally:
        remove_store(path)


def _rebuilt(salvage: Salvage, path: str) -> RepairReport:
    """Write what is sound into a new store."""
    kept = chunks = vectors = 0
    incomplete: list[str] = []
    lost: list[str] = []
    with closing(created_for_repair(path, salvage.sequences())) as store:
        documents = salvage.documents()
        while batch := list(islice(documents, _AT_ONCE)):
            changes: dict[str, list[StoreChange]] = {}
            for one in batch:
                name = str(one.source.metadata.get("file_path") or one.source.document_id)
                entries = _entries(one)
                if entries is None:
                    lost.append(name)
                    continue
                source = one.source
                if one.had_vectors and any(entry.vector is None for entry in entries if entry.terms_hash):
                    incomplete.append(name)
                    source = replace(source, fingerprint="")  # the next indexing makes the vectors
                changes.setdefault(one.tenant, []).append(StoreChange(source, tuple(entries)))
                kept, chunks = kept + 1, chunks + len(entries)
                vectors += sum(entry.vector is not None for entry in entries)
            for tenant, some in changes.items():
                with store.writing(tenant, salvage.model) as writer:
                    writer.commit(some)
        if found := store.verify():
            raise StoreError(path, f"can't be repaired: {found[0]}")
    lost += salvage.lost
    unnamed = max(salvage.expected - kept - len(lost), 0)
    return RepairReport((), kept, chunks, vectors, tuple(incomplete), tuple(lost), unnamed, salvage.is_uncertain)


def _entries(document: SalvagedDocument) -> list[Entry] | None:
    """Return the chunks of a document as they were indexed; None if some are missing."""
    if len(document.chunks) != document.expected:
        return None
    pairs = [(orjson.loads(chunk.record), chunk) for chunk in document.chunks]
    pairs.sort(key=lambda pair: pair[0]["chunk_index"])
    parents = {record["parent_id"] for record, _ in pairs} - {None}
    positions = {True: 0, False: 0}
    entries: list[Entry] = []
    for record, chunk in pairs:
        is_parent = record["chunk_id"] in parents
        language = None if is_parent else document.source.language
        entry = entry_of(record, chunk.record, chunk.text_before, positions[is_parent], language)
        entries.append(replace(entry, vector=chunk.vector))
        positions[is_parent] += 1
    return entries
