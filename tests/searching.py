"""Helpers that put documents into an in-memory store, ready to be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise.documents.document import Document
from spanwise.embedding import quantized
from spanwise.indexing.entries import entries_of
from spanwise.records.dialects import DialectContext
from spanwise.stores import Store
from spanwise.stores.values import Model, StoreChange, StoredDocument
from spanwise.testing.memory_store import MemoryStore
from spanwise.text.languages import document_language


class TableEmbedder:
    """An embedder with a table of vectors by text, and one vector for every query."""

    def __init__(
        self, table: Mapping[str, NDArray[np.float32]], query: NDArray[np.float32], name: str = "table"
    ) -> None:
        self.table, self.query, self.name = table, query, name
        self.dimension = len(query)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.table[text] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.query


def stored(
    documents: Sequence[Document],
    *,
    store: Store | None = None,
    tenant: str = "",
    embedder: Any = None,
    links: Mapping[str, Sequence[str]] | None = None,
    strategy: Any = "structure",
    **options: Any,
) -> Any:
    """Return a store with these documents; `links` maps each document to those it links to."""
    store = store or MemoryStore()
    model = Model(embedder.name, embedder.dimension) if embedder else None
    with store.writing(tenant, model) as writer:
        for document in documents:
            chunks = spanwise.chunk(document, strategy, **options)
            records = [chunk.to_dict() for chunk in chunks]
            vectors = None
            if embedder and records:
                made = quantized(embedder.embed([record["embedding_text"] for record in records]))
                vectors = [row.tobytes() for row in made]
            language = document_language(document)
            entries = entries_of(records, DialectContext.of(chunks.run), language, document.document_id)
            if vectors:
                made_of = zip(entries, vectors, strict=True)
                entries = tuple(replace(entry, vector=one if entry.terms else None) for entry, one in made_of)
            name = document.document_id
            targets = tuple((links or {}).get(name, ()))
            source = StoredDocument(name, "", document.metadata.to_dict(), language, (name,), targets)
            writer.commit([StoreChange(source, added=entries)])
    return store


def note(text: str, name: str, **metadata: Any) -> Document:
    """Return a note with the given document id."""
    return spanwise.read_text(text, document_id=name, **metadata)
