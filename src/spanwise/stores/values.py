"""The values that go into a store and come out of it, the same for every store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from spanwise.errors import OptionError
from spanwise.native import is_text

DEFAULT_TENANT: Final = ""
"""The tenant of documents that name none; a query without a tenant sees these and no others."""


_MOST_BYTES: Final = {"tenant": 512, "document_id": 2_048}  # together they must fit a key of an index


def checked_text(name: str, value: object) -> str:
    """Return a string that every store can hold and look for; raise OptionError for any other value."""
    if not isinstance(value, str):
        raise OptionError(name, "must be a string", value=value)
    if "\0" in value or not is_text(value):
        raise OptionError(name, "must hold neither NUL nor half a character (a lone surrogate)", value=value)
    most = _MOST_BYTES.get(name)
    if most and len(value) * 4 > most and len(value.encode()) > most:
        raise OptionError(name, f"must be at most {most:,} bytes long", value=value)
    return value


def possible_ids(names: Iterable[str]) -> list[str]:
    """Return each name once; those that no store can hold, and that can't be looked up, are left out."""
    return [name for name in dict.fromkeys(names) if "\0" not in name and is_text(name)]


def checked_tenant(tenant: object) -> str:
    """Return the name of a tenant; None stands for the default one."""
    return DEFAULT_TENANT if tenant is None else checked_text("tenant", tenant)


class Model(NamedTuple):
    """The embedder whose vectors a store holds."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as a store keeps it."""

    document_id: str
    fingerprint: str
    """Hash of its bytes and all settings in force for it: while it is the same, there is nothing to do."""
    metadata: Mapping[str, Any]
    """As in a record, with all links of the document."""
    language: str = "en"
    addresses: tuple[str, ...] = ()
    """The names by which links of other documents may refer to it."""
    targets: tuple[str, ...] = ()
    """The names that its own links refer to, in the same spelling as addresses."""
    location: str | None = None
    """The absolute path of its file, by which it is recognised however the path is spelt."""

    def check(self) -> None:
        """Raise OptionError for an id, or metadata that filters look for, which no store can hold."""
        checked_text("document_id", self.document_id)
        for label in self.metadata.get("labels") or ():
            checked_text("labels", label)
        for name in ("space_key", "file_path", "source_type"):
            if self.metadata.get(name) is not None:
                checked_text(name, self.metadata[name])


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk on its way into a store."""

    record: bytes
    """Its record as JSON."""
    text_before: str
    """The text between the previous core and this one, so that neighbours can be joined to one text."""
    content_hash: str
    """Hash of what is embedded: a new vector is made only when this changes."""
    terms_hash: str
    """Hash of what is searched: terms are rewritten only when this changes."""
    chunk_id: str
    parent_id: str | None
    chunk_type: str
    position: int
    """Its number among the chunks of its level."""
    terms: tuple[str, ...] = ()
    """The searched terms, in order; none for a parent, which is returned but never searched."""
    vector: bytes | None = None
    """Signed bytes; None without an embedder, and for a parent."""


def record_hash(entry: Entry) -> str:
    """Hash what may change while the text of a chunk stays: its record, position and the text before it."""
    digest = hashlib.blake2b(entry.record, digest_size=16)
    digest.update(f"\x1f{entry.position}\x1f{entry.text_before}".encode())
    return digest.hexdigest()


class ChunkState(NamedTuple):
    """What a comparison with new chunks needs to know of a stored one."""

    key: int
    content_hash: str
    terms_hash: str
    record_hash: str  # by `record_hash`
    has_vector: bool


@dataclass(frozen=True, slots=True)
class StoreChange:
    """The changes to one document, applied together or not at all."""

    source: StoredDocument
    added: tuple[Entry, ...] = ()
    moved: tuple[tuple[int, Entry], ...] = ()
    """Chunks with the same text at another position: the terms and the vector of the key stay."""
    revectored: tuple[tuple[int, bytes], ...] = ()
    """Chunks that only get a vector, because the store had none for them."""
    deleted: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise OptionError for a document that no store can hold."""
        self.source.check()


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on the documents and chunks that a search may find; None and () mean any."""

    labels: tuple[str, ...] = ()  # the document has all of them
    space: str | None = None
    path: str | None = None  # of the file; `*` matches any characters, `?` one
    since: str | None = None  # ISO 8601; `updated_at` is not before
    until: str | None = None  # and not after
    source_type: str | None = None
    chunk_type: str | None = None

    def __post_init__(self) -> None:
        """Raise OptionError for a value that is no string, or one that no store can look for."""
        for label in self.labels:
            checked_text("labels", label)
        for name in ("space", "path", "since", "until", "source_type", "chunk_type"):
            if getattr(self, name) is not None:
                checked_text(name, getattr(self, name))


class WeightedTerms(tuple[str, ...]):
    """The terms of a query with what each counts: a store may choose candidates by it."""

    weights: Mapping[str, float]

    def __new__(cls, weights: Mapping[str, float]) -> WeightedTerms:
        """Create the tuple of the terms that have a weight."""
        created = super().__new__(cls, weights)
        created.weights = weights
        return created


class Statistics(NamedTuple):
    """What BM25 needs to know of a tenant's searched chunks."""

    chunks: int
    average_length: float
    frequencies: Mapping[str, int]  # in how many chunks each term occurs


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that contains some of the terms."""

    key: int
    length: int  # in terms
    counts: Mapping[str, int]  # of the terms in the query


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk read from a store, with its document."""

    key: int
    document_id: str
    position: int
    record: Mapping[str, Any]
    text_before: str
    source: StoredDocument


class DocumentState(NamedTuple):
    """A summary of a stored document."""

    document_id: str
    fingerprint: str
    chunks: int
    file_path: str | None
    location: str | None = None


Keyed = Sequence[tuple[int, float]]
"""Keys of chunks, each with a score."""
