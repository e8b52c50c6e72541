"""Cost of indexing and searching in the embedded store: per chunk written, and per query at several sizes.

Chunks are synthetic: about 131 words each, from a vocabulary with some frequent and mostly rare words, in twenty
tenants, with random vectors of 512 numbers. `--documents` files are really indexed, stage by stage.
Every figure is CPU time of this process, so that other load on the machine matters little.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson
import searches

from spanwise.pipeline.chunk import chunk
from spanwise.readers import read
from spanwise.records.record import records_of
from spanwise.stores import open_store
from spanwise.stores.values import Entry, Filters, Model, StoreChange, StoredDocument
from spanwise.text.terms import document_terms

RESULTS = Path(__file__).parent / "results"
SIZES = (1_000, 10_000, 100_000)
LARGEST = 1_000_000
TENANTS, WORDS, CHUNKS, GROUP = 20, 131, 20, 40  # tenants, words per chunk, chunks per document, documents per commit
VOCABULARY, DIMENSION, QUERIES = 60_000, 512, 30
MODEL = Model("made-up", DIMENSION)
SHARES = 1 / np.arange(1, VOCABULARY + 1)
SHARES /= SHARES.sum()
NAMES = np.array([f"w{number * 2654435761 % 2**32:x}" for number in range(VOCABULARY)])


def made_documents(number: int, chance: np.random.Generator) -> Iterator[StoreChange]:
    """Yield synthetic documents."""
    for document in range(number):
        words = chance.choice(VOCABULARY, size=(CHUNKS, WORDS), p=SHARES)
        rows = chance.standard_normal((CHUNKS, DIMENSION)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        small = np.rint(rows * 127).astype(np.int8)
        entries = (_entry(document, n, NAMES[words[n]].tolist(), small[n]) for n in range(CHUNKS))
        metadata = {"file_path": f"docs/{document}.md", "labels": ["all"], "space_key": f"S{document % 5}"}
        yield StoreChange(StoredDocument(f"d{document}", "1", metadata), tuple(entries))


def _entry(document: int, position: int, terms: list[str], vector: Any) -> Entry:
    text = " ".join(terms)
    name = hashlib.sha256(f"{document}:{position}:{text}".encode()).hexdigest()
    record = {"chunk_id": name, "normalized_text": text, "full_text": text, "embedding_text": text}
    kind = "paragraph" if position % 10 else "table"
    return Entry(orjson.dumps(record), "\n\n", name, name, name, None, kind, position, tuple(terms), vector.tobytes())


def filled(path: Path, size: int, tenants: int) -> float:
    """Fill a store and return the CPU seconds spent on writing."""
    store, chance, spent = open_store(str(path), create=True), np.random.default_rng(1), 0.0
    for tenant in range(tenants):
        with store.writing(f"t{tenant}", MODEL) as writer:
            documents = made_documents(size // tenants // CHUNKS, chance)
            while group := list(islice(documents, GROUP)):
                begun = time.process_time()
                writer.commit(group)
                spent += time.process_time() - begun
    store.close()
    return spent


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measured_queries(path: Path) -> dict[str, Any]:
    """Time queries on a store in a new process: the first one, and repeated ones."""
    done = subprocess.run([sys.executable, __file__, "--ask", str(path)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def time_queries(path: str) -> dict[str, Any]:
    before = _memory()
    store, chance = open_store(path), np.random.default_rng(7)
    chosen = {"none": Filters(), "space": Filters(space="S1"), "type": Filters(chunk_type="table")}
    first = _query(store, chance, Filters())
    figures: dict[str, Any] = {"cold": sum(first.values()) * 1_000}
    for name, filters in chosen.items():
        rounds = [_query(store, chance, filters) for _ in range(QUERIES)]
        figures[name] = median(sum(one.values()) for one in rounds) * 1_000
        figures[f"{name}, slowest"] = max(sum(one.values()) for one in rounds) * 1_000
        if name == "none":
            figures["parts"] = {part: median(one[part] for one in rounds) * 1_000 for part in first}
    return figures | {"memory": (_memory() - before) / 1e6}


def _query(store: Any, chance: np.random.Generator, filters: Filters) -> dict[str, float]:
    """Time one query as a search runs it: terms, vectors, what each lacks of the other, then the best chunks."""
    numbers = dict.fromkeys(chance.choice(VOCABULARY, size=chance.integers(4, 11), p=SHARES).tolist())
    terms = [str(NAMES[number]) for number in numbers]
    vector = chance.standard_normal(DIMENSION).astype(np.float32)
    vector /= np.linalg.norm(vector)
    spent: dict[str, float] = {}
    with store.reading("t0") as reader:
        spent["statistics"] = seconds(lambda: reader.statistics(terms))
        begun = time.process_time()
        candidates = reader.lexical(terms, filters, 200)
        spent["words"] = time.process_time() - begun
        begun = time.process_time()
        near = reader.nearest(vector, filters, 200)
        spent["vectors"] = time.process_time() - begun
        known = {one.key for one in candidates}
        spent["counts"] = seconds(lambda: reader.counts(terms, [key for key, _ in near if key not in known]))
        spent["cosines"] = seconds(lambda: reader.cosines(vector, [one.key for one in candidates]))
        spent["fetch"] = seconds(lambda: reader.fetch([one.key for one in candidates[:50]]))
    return spent


def _memory() -> int:
    """Return the peak memory of this process, without that of its parent."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def stages(folder: Path, most: int) -> dict[str, float]:
    """Index real files and return the chunks per CPU second of each stage."""
    paths = [path for path in sorted(folder.rglob("*.md")) if path.is_file()][:most]
    spent = dict.fromkeys(("read", "chunk and record", "words"), 0.0)
    chunks = 0
    for path in paths:
        begun = time.process_time()
        document = read(path)
        spent["read"] += time.process_time() - begun
        begun = time.process_time()
        made = chunk(document)
        records = [(record, orjson.dumps(record)) for record in records_of(made.run)]
        spent["chunk and record"] += time.process_time() - begun
        chunks += len(records)
        texts = [record["full_text"] for record, _ in records]
        spent["words"] += seconds(lambda texts=texts: [document_terms(text, "en") for text in texts])  # type: ignore[misc]
    return {"files": len(paths), "chunks": chunks, **{name: chunks / max(one, 1e-9) for name, one in spent.items()}}


def reruns(folder: Path) -> dict[str, float]:
    """Time `spanwise index` including start-up, first on an empty store and then without changes."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [
            sys.executable,
            "-m",
            "spanwise",
            "index",
            str(folder),
            "--store",
            f"{temporary}/s.db",
            "--jobs",
            "1",
            "-q",
        ]
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([*command, "--embedder", "none"], check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return {"first": times[0], "again": min(times[1:]), "share": min(times[1:]) / times[0]}


def measured(sizes: Sequence[int], documents: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {"stores": {}}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for tenants in (TENANTS, 1):
                print(f"  {size:,} chunks, {tenants} tenants", file=sys.stderr)
                path = Path(folder) / f"{size}-{tenants}.db"
                spent = filled(path, size, tenants)
                figures = {"rate": size / spent, "bytes": path.stat().st_size / size, **measured_queries(path)}
                found["stores"][f"{size}/{tenants}"] = figures
                path.unlink()
    if documents:
        found["stages"] = stages(documents, 1_000)
        found["reruns"] = reruns(documents)
    return found


def written(found: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    lines = [
        "# Indexing and searching in the embedded store\n",
        "`make bench-index` wrote this. Chunks of 131 words, vectors of 512 numbers; CPU time throughout. A query asks",
        "for 200 chunks by words and 200 by vectors, for counts and cosines of both, and fetches 50 records; ranking",
        "comes on top. `cold` is the first query of a process: it reads the vectors of its tenant; others are warm,",
        "of 30 the middle one counts. The tenant filter is always on: it can't be switched off.\n",
        "| chunks | tenants | written per CPU-second | bytes each | cold | warm | one space | one type | memory |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, one in found["stores"].items():
        size, tenants = (int(part) for part in name.split("/"))
        lines.append(
            f"| {size:,} | {tenants} | {one['rate']:,.0f} | {one['bytes']:,.0f} | {one['cold']:.0f} ms | "
            f"{one['none']:.1f} ms | {one['space']:.1f} ms | {one['type']:.1f} ms | {one['memory']:.0f} MB |"
        )
    lines.append("\nWhere the time of a warm query goes, in ms:\n")
    parts = next(iter(found["stores"].values()))["parts"]
    lines += [f"| chunks | tenants | {' | '.join(parts)} |", f"|---:|---:|{'---:|' * len(parts)}"]
    for name, one in found["stores"].items():
        size, tenants = (int(part) for part in name.split("/"))
        lines.append(f"| {size:,} | {tenants} | {' | '.join(f'{value:.1f}' for value in one['parts'].values())} |")
    if "stages" in found:
        lines += ["", *_written_stages(found)]
    if "searches" in found:
        lines += ["", *searches.written(found["searches"])]
    return "\n".join(lines) + "\n"


def _written_stages(found: dict[str, Any]) -> list[str]:
    stage, again = found["stages"], found["reruns"]
    rates = ", ".join(f"{name} {rate:,.0f}" for name, rate in stage.items() if name not in {"files", "chunks"})
    return [
        f"Chunks per CPU-second of each stage, on {stage['files']:,} Markdown files ({stage['chunks']:,} chunks):",
        f"{rates}.\n",
        f"`spanwise index` on all of them, start-up included, without an embedder: {again['first']:.1f} CPU-seconds",
        f"the first time, {again['again']:.2f} when nothing has changed ({again['share']:.0%}).",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="also a million chunks (half an hour, 6 GB)")
    parser.add_argument("--quick", action="store_true", help="only the two smallest sizes; writes nothing")
    parser.add_argument("--documents", type=Path, help="a folder of Markdown files to index for real")
    parser.add_argument("--corpora", type=Path, help="texts and questions, to measure whole searches with")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "spanwise-bench", help="stores")
    parser.add_argument("--peers", default=sys.executable, help="the Python that has lancedb and tantivy")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        print(json.dumps(time_queries(arguments.ask)))
        return
    sizes = SIZES[:2] if arguments.quick else (*SIZES, LARGEST) if arguments.million else SIZES
    found = measured(sizes, arguments.documents)
    if arguments.corpora:
        large = [SIZES[-1], LARGEST] if arguments.million else [SIZES[-1]]
        found["searches"] = searches.measured(large, arguments.corpora, arguments.cache, arguments.peers)
    if not arguments.quick:
        (RESULTS / "index.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        (RESULTS / "index.md").write_text(written(found), encoding="utf-8")
    print(written(found))


if __name__ == "__main__":
    main()
