"""Storage and lookup of chunks behind one protocol: an embedded file by default, PostgreSQL for servers.

Documents are read and written through a tenant's reader or writer, so no search can see another tenant's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

from spanwise import plugins
from spanwise.errors import OptionError, did_you_mean
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

_KIND: Final = "stores"
SERVERS: Final = ("postgresql", "postgres")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


class StoreReader(Protocol):
    """The documents of one tenant, for reading.

    Inside a `with` block all results come from one snapshot, whatever is written meanwhile; outside, each call has its
    own, so a key may be gone when it is looked up. Keys are never reused.
    """

    def __enter__(self) -> StoreReader:
        """Open the snapshot."""

    def __exit__(self, *error: object) -> None:
        """Close the snapshot."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count this tenant's chunks, and in how many of them each term occurs."""

    def lexical(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Candidate]:
        """Return the chunks that contain some of the terms, the most promising first."""

    def nearest(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> Keyed:
        """Return the chunks whose vectors are nearest, with their cosines, the nearest first."""

    def cosines(self, vector: NDArray[np.float32], keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given chunks; those without a vector are left out."""

    def counts(self, terms: Sequence[str], keys: Sequence[int]) -> list[Candidate]:
        """Count the terms in the given chunks."""

    def fetch(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return chunks by their keys, in the order of the keys; missing ones are left out."""

    def fetch_ids(self, chunk_ids: Sequence[str]) -> list[StoredChunk]:
        """Return chunks by their ids, for the parents of hits; missing ones are left out."""

    def links(self, document_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs (from, to) of these documents in which the first links to the second."""

    def documents(self) -> Iterable[DocumentState]:
        """Return the documents, ordered by id."""


class StoreWriter(Protocol):
    """The only writer of a tenant's documents while its context lasts."""

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored, by content hash."""

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Apply changes and remove documents in one transaction: durable on return, invisible until then."""


class Store(Protocol):
    """Storage for the chunks of any number of tenants."""

    def model(self) -> Model | None:
        """Return the model whose vectors are stored, or None while there are none."""

    def reading(self, tenant: str) -> StoreReader:
        """Return a reader of a tenant's documents."""

    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> AbstractContextManager[StoreWriter]:
        """Return a context that holds the write lock, waiting up to `wait` seconds for another writer.

        A model other than the one whose vectors are stored is refused: vectors of two models can't be compared.
        """

    def tenants(self) -> list[str]:
        """Return the names of all tenants, for administrators."""

    def status(self) -> dict[str, Any]:
        """Return what the store holds: kind, schema, model, analyser, documents, chunks, bytes."""

    def verify(self) -> list[str]:
        """Return the inconsistencies found; an empty list if there are none."""

    def close(self) -> None:
        """Close the store."""


def open_store(address: str | os.PathLike[str], *, create: bool = False) -> Store:
    """Open a store by its path or its address: `postgresql://…`, or the scheme of a plug-in."""
    if not isinstance(address, str | os.PathLike):
        raise OptionError("store", "must be a path, an address, or an object with the methods of spanwise.Store",
                          value=type(address).__name__)  # fmt: skip
    where = os.fspath(address)
    scheme, sign, _ = where.partition("://")
    if sign and scheme in SERVERS:
        from spanwise.stores.postgres import open_postgres

        return open_postgres(where, create=create)
    if sign and _SCHEME.fullmatch(scheme):
        return _plugin(scheme, where, create=create)
    from spanwise.stores.sqlite import open_sqlite

    return open_sqlite(where, create=create)


def _plugin(scheme: str, address: str, *, create: bool) -> Store:
    """Open a store of a plug-in, whose name is the scheme of its addresses."""
    from spanwise.stores.plugin_store import PluginStore

    known = plugins.names(_KIND)
    if scheme not in known:
        hint = did_you_mean(scheme, [*SERVERS, *known])
        raise OptionError("store", "has an address of a kind that no store has", value=address, hint=hint)
    make, who = plugins.load(_KIND, scheme), plugins.label(_KIND, scheme)
    with plugins.calling(who, address):
        return PluginStore(make(address, create=create), who)


def store_files(store: object) -> frozenset[str]:
    """Return the real paths of the files of an embedded store, given by its path or open; of a server's none."""
    path = os.fspath(store) if isinstance(store, str | os.PathLike) else getattr(store, "path", None)
    if not isinstance(path, str) or "://" in path:
        return frozenset()
    return frozenset(os.path.realpath(path) + suffix for suffix in ("", "-wal", "-shm", "-journal", ".lock"))


def opened(store: str | os.PathLike[str] | Store, *, create: bool = False) -> AbstractContextManager[Store]:
    """Open a store by its path or address, and close it afterwards; one that is open already stays open."""
    if isinstance(store, str | os.PathLike) or not hasattr(store, "reading"):
        return closing(open_store(store, create=create))  # type: ignore[arg-type]
    if plugins.is_own(store):
        return nullcontext(store)
    from spanwise.stores.plugin_store import PluginStore

    return nullcontext(PluginStore(store, f"store {type(store).__name__}"))
