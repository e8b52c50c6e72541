"""Other libraries on the chunks of a store: `search_peers.py NAME STORE QUERIES FOLDER`, with the Python that has them.

A chunk's text is the numbers of its terms, so every library looks up the same terms; vectors are those of the store.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

BEST = 20


def texts(store: str) -> Iterator[tuple[int, str]]:
    for key, data in sqlite3.connect(store).execute("SELECT chunk, numbers FROM numbered ORDER BY chunk"):
        yield key, " ".join(f"t{number}" for number in np.frombuffer(data, "<u4").tolist())


def vectors(store: str) -> Iterator[tuple[int, Any]]:
    statement = "SELECT keys, numbers FROM blocks JOIN vectors ON block = id ORDER BY id"
    for keys, data in sqlite3.connect(store).execute(statement):
        known = np.frombuffer(keys, "<i8")
        rows = np.frombuffer(data, np.int8).reshape(len(known), -1).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        yield from zip(known.tolist(), rows, strict=True)


def timed(queries: list[dict[str, Any]], ask: Callable[[dict[str, Any]], list[int]], **more: bool) -> dict[str, float]:
    """Ask everything twice, and time the second round."""
    times: list[float] = []
    for _ in range(2):
        times, recalls = [], []
        for query in queries:
            begun = time.process_time()
            keys = ask(query)
            times.append((time.process_time() - begun) * 1_000)
            recalls.append(len(set(keys).intersection(query["nearest"])) / BEST)
    figures = {"median": median(times), "slowest": max(times)}
    return figures | ({"recall": sum(recalls) / len(recalls)} if more.get("has_recall") else {})


def tantivy(store: str, queries: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    import tantivy as library

    builder = library.SchemaBuilder()
    builder.add_integer_field("key", stored=True, fast=True)
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    if not folder.exists():
        folder.mkdir()
        writer = library.Index(schema, path=str(folder)).writer(200_000_000, 1)
        for key, text in texts(store):
            writer.add_document(library.Document(key=key, text=text))
        writer.commit()
        writer.wait_merging_threads()
    index = library.Index.open(str(folder))
    index.reload()
    searcher = index.searcher()

    def ask(query: dict[str, Any]) -> list[int]:
        parts = [library.Query.term_query(schema, "text", f"t{term}", "freq") for term in query["terms"]]
        wanted = library.Query.boolean_query([(library.Occur.Should, part) for part in parts])
        return [searcher.doc(place)["key"][0] for _, place in searcher.search(wanted, BEST).hits]

    return {"words": timed(queries, ask)}


def schema_of(pyarrow: Any, dimension: int) -> Any:
    vector = pyarrow.list_(pyarrow.float32(), dimension)
    return pyarrow.schema([("key", pyarrow.int64()), ("text", pyarrow.string()), ("vector", vector)])


def lancedb(store: str, queries: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    import lancedb as library
    import pyarrow

    connection = library.connect(str(folder))
    if "chunks" not in connection.list_tables().tables:
        known, written = vectors(store), texts(store)
        table = None
        while some := list(islice(known, 20_000)):
            rows = [{"key": key, "vector": vector, "text": next(written)[1]} for key, vector in some]
            table = table or connection.create_table("chunks", schema=schema_of(pyarrow, len(some[0][1])))
            table.add(rows)
        assert table is not None
        table.create_index(metric="cosine", index_type="IVF_PQ", vector_column_name="vector")
        table.create_fts_index("text", base_tokenizer="whitespace", stem=False, remove_stop_words=False,
                               ascii_folding=False, with_position=False)  # fmt: skip
    table = connection.open_table("chunks")

    def near(query: dict[str, Any]) -> list[int]:
        found = table.search(query["vector"]).distance_type("cosine").nprobes(20).refine_factor(10)
        keys: list[int] = found.limit(BEST).select(["key"]).to_arrow()["key"].to_pylist()
        return keys

    def words(query: dict[str, Any]) -> list[int]:
        text = " ".join(f"t{term}" for term in query["terms"])
        found = table.search(text, query_type="fts").limit(BEST).select(["key"]).to_arrow()
        keys: list[int] = found["key"].to_pylist()
        return keys

    def both(query: dict[str, Any]) -> list[int]:
        text = " ".join(f"t{term}" for term in query["terms"])
        found = table.search(query_type="hybrid").vector(query["vector"]).text(text)
        keys: list[int] = found.limit(BEST).to_arrow()["key"].to_pylist()
        return keys

    return {
        "words": timed(queries, words),
        "vectors (IVF_PQ, 20 probes, refined)": timed(queries, near, has_recall=True),
        "hybrid": timed(queries, both),
    }


def main() -> None:
    name, store, queries, folder = sys.argv[1:]
    try:
        found = version(name)
    except ImportError:
        print(json.dumps({"error": "not installed"}))
        return
    place = Path(folder)
    rows = {"tantivy": tantivy, "lancedb": lancedb}[name](store, json.loads(Path(queries).read_text("utf-8")), place)
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    print(json.dumps({"version": found, "rows": rows, "bytes": size}))


if __name__ == "__main__":
    main()
