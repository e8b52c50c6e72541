"""Stores: where chunks are kept and searched. One protocol; an embedded file by default, PostgreSQL for servers.

Documents are read and written through a tenant's reader or writer, so no search can see another tenant's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from spanwise.stores.values import (
    Candidate,
    ChunkState,
    DocumentState,
    Filters,
    Keyed,
    Model,
    Statistics,
    StoreChange,
    StoredChunk,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class StoreReader(Protocol):
    """The documents of one tenant, for reading.

    Inside a `with` all answers are of one moment, whatever is written meanwhile; outside each is of its own, so a key
    may be gone when it is asked for. Keys are never used again.
    """

    def __enter__(self) -> StoreReader:
        """Hold the moment."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the moment."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count this tenant's chunks, and in how many of them each term stands."""

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Give the chunks that hold some of the terms, the most promising first."""

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Give the chunks whose vectors are nearest, with their cosines, the nearest first."""

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Give the cosines of some chunks; those without a vector are left out."""

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Say how often the terms stand in some chunks."""

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Give chunks by their keys, in the order of the keys; what is not there is left out."""

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Give chunks by their ids, for the parents of hits; what is not there is left out."""

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Give the pairs (from, to) of these documents in which the first links to the second."""

    def documents(self) -> Iterable[DocumentState]:
        """List the documents, by id."""


class StoreWriter(Protocol):
    """The one who may change the documents of a tenant, as long as the context lasts."""

    def known(self) -> dict[str, DocumentState]:
        """Give the documents that are there."""

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Give the chunks of a document, in order."""

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Give the vectors that are already known, by what was embedded."""

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Make the changes and remove documents; when this returns they are safe, before that none is seen."""


class Store(Protocol):
    """A place where chunks are kept."""

    def model(self) -> Model | None:
        """Name the embedder whose vectors are kept; None while there are none."""

    def reading(self, tenant: str) -> StoreReader:
        """Give a tenant's documents to read."""

    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> AbstractContextManager[StoreWriter]:
        """Become the one who writes, waiting so many seconds for another to end.

        Another model than the one whose vectors are there is refused: their numbers mean different things.
        """

    def tenants(self) -> list[str]:
        """Name the tenants, for those who look after the store."""

    def status(self) -> dict[str, Any]:
        """Say what is in the store: kind, schema, model, analyser, documents, chunks, bytes."""

    def verify(self) -> list[str]:
        """Look for what contradicts itself; an empty list is good news."""

    def close(self) -> None:
        """Let go of it."""


def open_store(where: str, *, create: bool = False) -> Store:
    """Open a store by its path, or by its address (`postgresql://…`)."""
    if where.startswith(("postgresql://", "postgres://")):
        from spanwise.stores.postgres import open_postgres

        return open_postgres(where, create=create)
    from spanwise.stores.sqlite import open_sqlite

    return open_sqlite(where, create=create)
