"""The documents that questions are about: their names and texts, from sources or out of a store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import read_all
from spanwise.pipeline.settings import Settings
from spanwise.retrieval.search import search
from spanwise.stores import Store, StoreReader
from spanwise.stores.values import StoredChunk

_NAMES_SHOWN = 3
_SEEDS = 50  # hits among which a chunk of a document without a file name is looked for


class Known(NamedTuple):
    """What a document is known by."""

    document_id: str
    file_path: str | None
    title: str | None = None

    @property
    def name(self) -> str:
        """Its name for people."""
        return self.file_path or self.title or self.document_id


class Corpus(Protocol):
    """Documents by name, and their texts."""

    def documents(self) -> Sequence[Known]:
        """Return what each document is known by."""

    def text(self, document: Known, hints: Iterable[str]) -> str | None:
        """Return a document's text; None if it isn't known. `hints` are texts that it has words in common with."""


class Directory:
    """Looks documents up by what a question calls them: the strictest way that finds one wins."""

    def __init__(self, documents: Iterable[Known]) -> None:
        self.documents = list(documents)

    @cached_property
    def _by_id(self) -> dict[str, list[Known]]:
        return {one.document_id: [one] for one in self.documents}

    @cached_property
    def _levels(self) -> list[tuple[Callable[[str], str], dict[str, list[Known]]]]:
        """For each way of looking up what is done to the name, and the documents by key: the strictest first."""
        ids, exact = self._by_id, dict[str, list[Known]]()
        ends, stems, titles = dict[str, list[Known]](), dict[str, list[Known]](), dict[str, list[Known]]()
        for one in self.documents:
            if one.file_path:
                path = _posix(one.file_path)
                exact.setdefault(path, []).append(one)
                parts = PurePosixPath(path).parts
                for start in range(len(parts)):
                    end = "/".join(parts[start:])
                    ends.setdefault(end, []).append(one)
                    stems.setdefault(_stem(end), []).append(one)
            if one.title:
                titles.setdefault(one.title, []).append(one)
        return [(str, ids), (_posix, exact), (_posix, ends), (_posix, stems), (_stem, stems), (str, titles)]

    def find(self, name: str) -> list[Known]:
        """Return the documents that a name may mean: one, or none, or several that nothing tells apart."""
        for key_of, known in self._levels:
            if found := known.get(key_of(name)):
                return found
        parts, exact = PurePosixPath(_posix(name)).parts, self._levels[1][1]
        ends = ("/".join(parts[start:]) for start in range(1, len(parts)))
        return next((exact[end] for end in ends if end in exact), [])


def _posix(path: str) -> str:
    return re.sub(r"^(\./)+", "", path.replace("\\", "/"))


def _stem(path: str) -> str:
    """Return a path without the suffix of its file."""
    folder, slash, name = _posix(path).rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


def names_of(documents: Sequence[Known]) -> str:
    """Return the names of some documents for a message."""
    names = [one.name for one in documents[:_NAMES_SHOWN]]
    more = len(documents) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")


class ReadDocuments:
    """Documents that were read; the same texts are indexed under every setting."""

    def __init__(self, jobs: Iterable[Job], progress: Callable[[int], None] | None = None) -> None:
        self.jobs: list[Job] = []
        """The jobs of the documents that could be read, each with its document."""
        self.failed: list[SpanwiseError] = []
        waiting = list(jobs)
        for number, (job, outcome) in enumerate(zip(waiting, read_all(waiting), strict=True), 1):
            if outcome.value is None:
                self.failed += [outcome.error] if outcome.error else []
            else:
                self.jobs.append(job._replace(item=replace(job.item, data=None, document=outcome.value.document)))
            if progress:
                progress(number)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {one.document_id: one.text for one in self.read}

    @property
    def read(self) -> Iterator[Document]:
        """The documents."""
        return (job.item.document for job in self.jobs if job.item.document is not None)

    def documents(self) -> Sequence[Known]:
        """Return what each document is known by."""
        return [Known(one.document_id, one.metadata.file_path, one.metadata.title) for one in self.read]

    def text(self, document: Known, hints: Iterable[str] = ()) -> str | None:
        """Return a document's text."""
        return self._texts.get(document.document_id)

    def with_settings(self, settings: Callable[[Job], Settings]) -> Iterator[Job]:
        """Yield the jobs under other settings."""
        return (job._replace(settings=settings(job)) for job in self.jobs)


class StoredDocuments:
    """The documents of a tenant in a store; their texts are put together from the chunks."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store, self._tenant = store, tenant
        self._texts: dict[str, str] = {}

    @cached_property
    def _known(self) -> list[Known]:
        with self._store.reading(self._tenant) as reader:
            return [Known(one.document_id, one.file_path) for one in reader.documents()]

    @cached_property
    def chunks(self) -> int:
        """How many chunks the documents have."""
        with self._store.reading(self._tenant) as reader:
            return sum(one.chunks for one in reader.documents())

    def documents(self) -> Sequence[Known]:
        """Return what each document is known by."""
        return self._known

    def text(self, document: Known, hints: Iterable[str] = ()) -> str | None:
        """Return a document's text as far as its chunks have it: what no chunk has is blank.

        A chunk of it is found by searching for the hints, and the others by going from neighbour to neighbour.
        """
        name = document.document_id
        if name not in self._texts and (found := self._first(document, hints)):
            with self._store.reading(self._tenant) as reader:
                self._texts[name] = _put_together(reader, found)
        return self._texts.get(name)

    def _first(self, document: Known, hints: Iterable[str]) -> str | None:
        options: dict[str, Any] = {"limit": _SEEDS, "embedder": None}
        if document.file_path:
            options |= {"path": document.file_path}
        for hint in hints:
            for hit in search(hint, self._store, self._tenant or None, **options):
                if hit.document_id == document.document_id:
                    first: str = hit.chunk_ids[0]
                    return first
        return None


def _put_together(reader: StoreReader, chunk_id: str) -> str:
    parts: dict[int, str] = {}
    for found in _neighbours(reader, chunk_id):
        record = found.record
        if found.text_before and (start := record["char_start"] - len(found.text_before)) >= 0:
            parts.setdefault(start, found.text_before)
        for start, text in _pieces(record):
            if len(text) > len(parts.get(start, "")):
                parts[start] = text
    return _laid_out(parts)


def _neighbours(reader: StoreReader, chunk_id: str) -> Iterator[StoredChunk]:
    """Yield a chunk, those before it and those after it."""
    seen: set[str] = set()
    for side in ("prev_chunk_id", "next_chunk_id"):
        following: str | None = chunk_id
        while following and (found := reader.fetch_ids([following])):
            if following not in seen:
                seen.add(following)
                yield found[0]
            beside: str | None = found[0].record.get(side)
            following = None if beside in seen else beside


def _pieces(record: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the ranges of a chunk's pieces, each with its text."""
    reached, text = 0, record["full_text"]
    for index, piece in enumerate(record["pieces"]):
        reached += len(piece["joiner"]) if index else 0
        size = piece["end"] - piece["start"]
        yield piece["start"], text[reached : reached + size]
        reached += size


def _laid_out(parts: Mapping[int, str]) -> str:
    """Return the text of parts by their starts; what overlaps stands once, gaps are blank."""
    found: list[str] = []
    reached = 0
    for start in sorted(parts):
        text = parts[start]
        if start > reached:
            found.append(" " * (start - reached))
            reached = start
        if new := text[reached - start :]:
            found.append(new)
            reached += len(new)
    return "".join(found)
