"""Small documents for store tests, with predictable terms and vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from spanwise.embedding import quantized
from spanwise.stores.values import Entry, Model, StoreChange, StoredDocument

MODEL = Model("of-words", 16)


class WordEmbedder:
    """An embedder that sums a direction for every word: texts with the same words are close to each other."""

    def __init__(self, name: str = MODEL.name, dimension: int = MODEL.dimension) -> None:
        self.name, self.dimension = name, dimension
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self.dimension, dtype=np.float32)
        for word in text.casefold().split():
            total += _direction(word, self.dimension)
        length = float(np.linalg.norm(total))
        return total / length if length else total


@cache
def _direction(word: str, dimension: int) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


EMBEDDER = WordEmbedder()


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def vector_of(text: str) -> NDArray[np.float32]:
    return EMBEDDER.embed_query(text)


def entry(
    text: str, position: int = 0, *, name: str = "", vectors: bool = True, kind: str = "paragraph", parent: str = ""
) -> Entry:
    """Return a chunk whose terms are its words."""
    chunk_id = hashed(f"{name}:{position}:{text}")
    record = {"chunk_id": chunk_id, "normalized_text": text, "chunk_type": kind, "embedding_text": text}
    return Entry(
        orjson.dumps(record), "\n\n" if position else "", hashed(text), hashed(f"words {text}"), chunk_id,
        parent or None, kind, position, tuple(text.split()),
        quantized(vector_of(text)[None, :])[0].tobytes() if vectors else None,
    )  # fmt: skip


def parent_entry(text: str, position: int, name: str) -> Entry:
    """Return a parent chunk, which is fetched but never searched for."""
    chunk_id = hashed(f"parent {name}:{position}")
    record = orjson.dumps({"chunk_id": chunk_id, "normalized_text": text})
    return Entry(record, "", hashed(f"parent {text}"), "", chunk_id, None, "mixed", position)


def source(name: str, fingerprint: str = "1", links: Sequence[str] = (), **metadata: Any) -> StoredDocument:
    known = {"document_id": name, "file_path": f"docs/{name}.md", "labels": [], **metadata}
    return StoredDocument(name, fingerprint, known, "en", (f"file:{name}",), tuple(links), f"/home/docs/{name}.md")


def document(name: str, *texts: str, vectors: bool = True, **metadata: Any) -> StoreChange:
    """Return a change that adds a document with these chunks."""
    entries = (entry(text, position, name=name, vectors=vectors) for position, text in enumerate(texts))
    return StoreChange(source(name, **metadata), tuple(entries))
