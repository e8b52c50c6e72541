"""Large stores for benchmarks: chunks recombined from real sentences, with vectors near those of the real embedder.

A chunk has the sentences of one file, so words go together as they do in texts, and every language has its own. The
offline embedder reads a sample of the sentences; a chunk holds two of these, and its vector is their mean and noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from spanwise.embedding import embedder_of, quantized
from spanwise.stores import open_store
from spanwise.stores.values import Entry, Model, StoreChange, StoredDocument
from spanwise.text.sentences import sentence_starts
from spanwise.text.terms import document_terms

CHUNKS, GROUP, TERMS = 20, 40, 130  # chunks per document, documents per commit, terms of a chunk
SAMPLE, LONGEST, NOISE = 6_000, 400, 0.5  # sentences that are embedded, characters of one, length of the noise
LANGUAGES = {"en": "en", "pl": "pl", "de": "de", "ru": "ru", "zh-cn": "zh", "zh": "zh", "ja": "ja"}


class Sentence(NamedTuple):
    """A sentence of a file, its terms, and the row of its vector if it was embedded."""

    text: str
    terms: tuple[str, ...]
    row: int | None = None


class Source(NamedTuple):
    """The sentences of a file."""

    language: str
    title: str
    embedded: list[Sentence]
    others: list[Sentence]


def sources_of(folder: Path, cache: Path) -> tuple[list[Source], Any]:
    """Return the files of the corpora, and the vectors of the embedded sentences."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md")) if path.parent != folder}
    found = [(path, language_of(path), list(_sentences(text, language_of(path)))) for path, text in texts.items()]
    found = [one for one in found if len(one[2]) >= 40]
    share = SAMPLE / sum(len(one[2]) for one in found)
    chosen = [sentences[: max(4, int(len(sentences) * share))] for _, _, sentences in found]
    vectors = _embedded([text for sentences in chosen for text in sentences], cache)
    sources, row = [], 0
    for (path, language, sentences), first in zip(found, chosen, strict=True):
        made = [Sentence(text, tuple(document_terms(text, language))) for text in sentences]
        embedded = [one._replace(row=row + at) for at, one in enumerate(made[: len(first)])]
        row += len(first)
        sources.append(Source(language, path.stem.replace("-", " "), embedded, made[len(first) :]))
    return sources, vectors


def language_of(path: Path) -> str:
    return next((LANGUAGES[part] for part in reversed(path.parts) if part in LANGUAGES), "en")


def _sentences(text: str, language: str) -> Iterator[str]:
    edges = [*sorted({0, *sentence_starts(text, 0, len(text), language)}), len(text)]
    for start, end in pairwise(edges):
        for line in text[start:end].split("\n\n"):
            if len(line.strip()) >= 10:
                yield line.strip()[:LONGEST]


def _embedded(texts: list[str], cache: Path) -> Any:
    name = cache / f"{hashlib.sha256(orjson.dumps(texts)).hexdigest()[:16]}.npy"
    if not name.exists():
        embedder = embedder_of("auto")
        assert embedder is not None, "install spanwise[embed]"
        np.save(name, np.concatenate([embedder.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)]))
    return np.load(name)


def made_documents(number: int, sources: list[Source], vectors: Any, seed: int = 1) -> Iterator[StoreChange]:
    """Yield documents of twenty chunks each."""
    chance = np.random.default_rng(seed)
    sizes = np.array([len(one.others) for one in sources], dtype=float)
    picks = chance.choice(len(sources), size=number, p=sizes / sizes.sum())
    for document, pick in enumerate(picks.tolist()):
        yield _document(document, sources[pick], vectors, chance)


def _document(document: int, source: Source, vectors: Any, chance: np.random.Generator) -> StoreChange:
    metadata = {
        "document_id": f"d{document}", "title": source.title, "file_path": f"docs/{document}.md",
        "labels": [f"label{document % 50}"], "space_key": f"S{document % 5}", "links": [], "extra": {},
    }  # fmt: skip
    entries = tuple(_entry(document, n, source, vectors, chance, metadata) for n in range(CHUNKS))
    return StoreChange(StoredDocument(f"d{document}", "1", metadata, source.language), entries)


def _entry(
    document: int, position: int, source: Source, vectors: Any, chance: np.random.Generator, metadata: dict[str, Any]
) -> Entry:
    first = [source.embedded[at] for at in chance.integers(0, len(source.embedded), 2)]
    chosen, size = list(first), sum(len(one.terms) for one in first)
    for at in chance.integers(0, len(source.others), 30).tolist():
        if size >= TERMS:
            break
        chosen.append(source.others[at])
        size += len(source.others[at].terms)
    text = " ".join(one.text for one in chosen)
    noise = chance.standard_normal(vectors.shape[1])
    vector = sum(vectors[one.row] for one in first) / 2 + NOISE * noise / np.linalg.norm(noise)
    small = quantized((vector / np.linalg.norm(vector)).astype(np.float32))
    name = hashlib.sha256(f"{document}:{position}".encode()).hexdigest()
    start = position * 2_000
    record = {
        "chunk_id": name, "content_hash": name, "document_id": f"d{document}", "tenant_id": None,
        "chunk_index": position, "strategy": "structure", "chunk_type": "paragraph" if position % 10 else "table",
        "headings_path": [source.title], "section_type": None, "block_id": None, "char_start": start,
        "char_end": start + len(text),
        "pieces": [{"start": start, "end": start + len(text), "role": "core", "joiner": ""}],
        "page_start": None, "page_end": None, "normalized_text": text, "plain_text": text, "full_text": text,
        "embedding_text": text, "token_count": size, "tokenizer": "cl100k", "max_tokens": 900, "oversize": False,
        "prev_chunk_id": None, "next_chunk_id": None, "parent_id": None, "line_start": None,
        "navigation": {"url": None, "text_offset_start": start, "text_length": len(text)}, "metadata": metadata,
    }  # fmt: skip
    terms = tuple(term for one in chosen for term in one.terms)
    return Entry(
        orjson.dumps(record),
        "\n\n",
        name,
        name,
        name,
        None,
        str(record["chunk_type"]),
        position,
        terms,
        small.tobytes(),
    )


def filled(path: Path, size: int, sources: list[Source], vectors: Any, model: Model) -> None:
    """Write a store of one tenant."""
    store = open_store(str(path), create=True)
    documents = made_documents(size // CHUNKS, sources, vectors)
    with store.writing("", model) as writer:
        while group := list(islice(documents, GROUP)):
            writer.commit(group)
    store.close()
