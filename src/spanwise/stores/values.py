"""What goes into a store and what comes out of it, whatever the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

DEFAULT_TENANT: Final = ""
"""Whose documents these are when nobody said; a query that names no tenant sees these and no other."""


class Model(NamedTuple):
    """The embedder whose vectors a store holds."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Source:
    """A document as a store knows it."""

    document_id: str
    fingerprint: str
    """Hash of its bytes and of everything in force for it: while it is the same, there is nothing to do."""
    metadata: Mapping[str, Any]
    """As in a record, with all links of the document."""
    language: str = "en"
    addresses: tuple[str, ...] = ()
    """The names under which links of other documents may mean it."""
    targets: tuple[str, ...] = ()
    """The names that its own links mean, in the same spelling as addresses."""
    place: str | None = None
    """The file that it came from, as an absolute path: so it is known again however its path is spelt."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk on its way into a store."""

    record: bytes
    """Its record as JSON."""
    lead: str
    """What stands in the document between the core before and this one, so that neighbours can be read as one text."""
    content_hash: str
    """Of what is embedded: a vector is made anew only when this changes."""
    words_hash: str
    """Of what is searched: terms are written anew only when this changes."""
    chunk_id: str
    parent_id: str | None
    chunk_type: str
    position: int
    """Its number among the chunks of its level."""
    terms: tuple[str, ...] = ()
    """What is searched, in order; none for a parent, which is handed out but never searched for."""
    vector: bytes | None = None
    """Signed bytes; None without an embedder and for a parent."""


def record_hash(entry: Entry) -> str:
    """Hash what of a chunk may change while its words stay: record, lead and position."""
    digest = hashlib.blake2b(entry.record, digest_size=16)
    digest.update(f"\x1f{entry.position}\x1f{entry.lead}".encode())
    return digest.hexdigest()


class ChunkState(NamedTuple):
    """What a plan needs to know of a chunk that a store holds."""

    key: int
    content_hash: str
    words_hash: str
    record_hash: str  # by `record_hash`
    has_vector: bool


@dataclass(frozen=True, slots=True)
class StoreChange:
    """What is to be done to one document, all of it or nothing."""

    source: Source
    added: tuple[Entry, ...] = ()
    moved: tuple[tuple[int, Entry], ...] = ()
    """Chunks that say the same as before at another place: terms and vector under the key stay."""
    revectored: tuple[tuple[int, bytes], ...] = ()
    """Chunks that only get a vector: the store had none of them."""
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents and chunks a search may find; what isn't said doesn't matter."""

    labels: tuple[str, ...] = ()  # the document has all of them
    space: str | None = None
    path: str | None = None  # of the file; `*` stands for any characters, `?` for one
    since: str | None = None  # ISO 8601; `updated_at` is not before
    until: str | None = None  # and not after
    source_type: str | None = None
    chunk_type: str | None = None


class Statistics(NamedTuple):
    """What BM25 wants to know of a tenant's searched chunks."""

    chunks: int
    average_length: float
    frequencies: Mapping[str, int]  # in how many chunks each term stands


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that holds some of the terms."""

    key: int
    length: int  # in terms
    counts: Mapping[str, int]  # of the terms that were asked for


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk that came back from a store, with its document."""

    key: int
    document_id: str
    position: int
    record: Mapping[str, Any]
    lead: str
    source: Source


class DocumentState(NamedTuple):
    """A document that a store holds, in brief."""

    document_id: str
    fingerprint: str
    chunks: int
    file_path: str | None
    place: str | None = None


Keyed = Sequence[tuple[int, float]]
"""Keys of chunks, each with a score."""
