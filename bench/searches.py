"""CPU time of whole searches in one large tenant, how near they come to the exact order, and other libraries.

Chunks are recombined from real sentences (`recombined.py`); questions are real, in six languages. Vectors of questions
are made beforehand: what the embedder costs is told apart. `index.py` calls this.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import recombined

import spanwise
from spanwise.embedding import embedder_of, quantized
from spanwise.retrieval.query import bm25, prepared
from spanwise.stores import open_store
from spanwise.stores.values import Filters, Model

BENCH = Path(__file__).parent
BEST, CANDIDATES, EACH = 20, 200, 10  # of which recall is told, of which they are chosen, questions of a set
HEADING = re.compile(r"^#+ ([^{\n]*)", re.MULTILINE)


def questions(folder: Path) -> list[str]:
    """Return questions of two to fourteen words, as many of each set; Polish ones are headings."""
    sets: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("questions.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            sets.setdefault(f"{path.parent.name}/{one['corpus'].split('/')[0]}", []).append(one["question"].strip())
    for language in ("pl", "en"):
        texts = [path.read_text(encoding="utf-8") for path in sorted((folder / "k8s" / language).rglob("*.md"))]
        sets[language] = [found.strip() for text in texts for found in HEADING.findall(text)]
    chance = random.Random(3)
    fitting = ([one for one in sets[name] if len(one) > 8 and len(one.split()) <= 14] for name in sorted(sets))
    return [one for some in fitting for one in chance.sample(some, min(EACH, len(some)))]


class KnownQuestions:
    """The offline embedder, which has embedded the questions already."""

    def __init__(self, asked: list[str]) -> None:
        embedder = embedder_of("auto")
        assert embedder is not None, "install spanwise[embed]"
        self.name, self.dimension, self._embedder = embedder.name, embedder.dimension, embedder
        begun = time.process_time()
        self._known = {one: embedder.embed_query(one) for one in asked}
        self.cost = (time.process_time() - begun) / len(asked) * 1_000

    def embed_query(self, text: str) -> Any:
        """Return what is known."""
        return self._known[text]

    def embed(self, texts: Any) -> Any:
        """Embed sentences."""
        return self._embedder.embed(texts)


def milliseconds(question: str, store: Any, **options: Any) -> float:
    begun = time.process_time()
    spanwise.search(question, store, **options)
    return (time.process_time() - begun) * 1_000


def asked(path: str, corpora: Path) -> dict[str, Any]:
    """Time all questions, each the second time that it is asked."""
    some = questions(corpora)
    embedder = KnownQuestions(some)
    before = memory()
    store = open_store(path)
    has_vectors = store.model() is not None
    ways: dict[str, dict[str, Any]] = {"words": {"embedder": None}}
    if has_vectors:
        ways["hybrid"] = {"embedder": embedder}
        ways["filter"] = {"embedder": embedder, "labels": ["label7"]}
    ways["sentences"] = {"embedder": None, "budget": 1_000}
    first = next(iter(ways.values())) if not has_vectors else ways["hybrid"]
    figures: dict[str, Any] = {"questions": len(some), "embedding": embedder.cost}
    figures["cold"] = milliseconds(some[0], store, **first)
    times = {}
    for name, options in ways.items():
        limit = {} if name == "sentences" else {"limit": 5}
        for _ in range(2):
            times[name] = [milliseconds(one, store, **limit, **options) for one in some]
        figures[name] = {"median": median(times[name]), "slowest": max(times[name])}
    extra = [one - other for one, other in zip(times["sentences"], times["words"], strict=True)]
    figures["extra of sentences"] = {"median": median(extra), "slowest": max(extra)}
    return figures | {"memory": (memory() - before) / 1e6}


def memory() -> int:
    """Return the peak memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def recalled(path: str, corpora: Path, peers_file: Path) -> dict[str, Any]:
    """Compare the best of all chunks, counted and multiplied one by one, with what the store returns as the best."""
    import sqlite3

    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT chunk, numbers FROM numbered ORDER BY chunk").fetchall()
    keys = np.array([key for key, _ in rows])
    lengths = np.array([len(data) // 4 for _, data in rows])
    numbers = np.frombuffer(b"".join(data for _, data in rows), dtype="<u4")
    del rows
    known = dict(connection.execute("SELECT term, id FROM terms"))
    vector_keys, vectors = stored_vectors(connection)
    found: dict[str, list[float]] = {"words": [], "vectors": []}
    for_peers = []
    embedder = KnownQuestions(questions(corpora))
    with open_store(path).reading("") as reader:
        queries = [prepared(one, reader) for one in questions(corpora)]
        places = places_of(
            {known[term] for query in queries for term in query.terms if term in known}, numbers, lengths
        )
        for query in queries:
            damping = 1.2 * (0.25 + 0.75 * lengths / query.average_length)
            scores = np.zeros(len(keys))
            for word in query.words:
                times = np.zeros(len(keys))
                for term in dict.fromkeys(word.terms):
                    np.add.at(times, places.get(known.get(term, 0), np.zeros(0, int)), 1)
                scores += word.weight * times * 2.2 / (times + damping)
            best = np.sort(scores[scores > 0])[::-1][:BEST]
            given = sorted(bm25(query, reader.lexical(query.terms, Filters(), CANDIDATES)).values(), reverse=True)
            if len(best):
                found["words"].append(sum(one >= best[-1] - 1e-9 for one in given[:BEST]) / len(best))
            vector = embedder.embed_query(query.text)
            asked_for = quantized(vector).astype(np.float32)  # as the store compares it
            exact = vector_keys[np.argsort(-(vectors @ asked_for), kind="stable")[:BEST]]
            near = {key for key, _ in reader.nearest(vector, Filters(), BEST)}
            found["vectors"].append(len(near.intersection(exact.tolist())) / BEST)
            terms = [known[term] for term in query.terms if term in known]
            for_peers.append({"terms": terms, "vector": vector.tolist(), "nearest": exact.tolist()})
    peers_file.write_text(json.dumps(for_peers), encoding="utf-8")
    return {name: {"mean": float(np.mean(some)), "lowest": min(some)} for name, some in found.items()}


def places_of(wanted: set[int], numbers: Any, lengths: Any) -> dict[int, Any]:
    """Return for each wanted term the rows that have it, as often as they do."""
    is_wanted = np.zeros(int(numbers.max()) + 1, dtype=bool)
    is_wanted[list(wanted)] = True
    chosen = np.flatnonzero(is_wanted[numbers])
    owners = np.searchsorted(np.cumsum(lengths), chosen, side="right")
    terms = numbers[chosen]
    order = np.argsort(terms, kind="stable")
    terms, owners = terms[order], owners[order]
    ends = np.searchsorted(terms, sorted(wanted), side="right")
    starts = np.searchsorted(terms, sorted(wanted), side="left")
    return {term: owners[start:end] for term, start, end in zip(sorted(wanted), starts, ends, strict=True)}


def stored_vectors(connection: Any) -> tuple[Any, Any]:
    """Return the keys and the vectors of a store, of length one."""
    statement = "SELECT keys, numbers FROM blocks JOIN vectors ON block = id ORDER BY id"
    keys, rows = [], []
    for some, data in connection.execute(statement):
        keys.append(np.frombuffer(some, "<i8"))
        small = np.frombuffer(data, np.int8).reshape(len(keys[-1]), -1).astype(np.float32)
        rows.append((small / np.linalg.norm(small, axis=1, keepdims=True)).astype(np.float16))
    return np.concatenate(keys), np.concatenate(rows)


def run(*arguments: object, python: str = sys.executable, script: str = "searches.py") -> dict[str, Any]:
    done = subprocess.run(
        [python, BENCH / script, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False
    )
    result: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {"error": f"exit {done.returncode}"}
    return result


def measured(sizes: list[int], corpora: Path, cache: Path, peers: str) -> dict[str, Any]:
    """Build the stores that are not there yet, and measure each in new processes."""
    cache.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"stores": {}}
    embedder = embedder_of("auto")
    assert embedder is not None
    for size in sizes:
        path = cache / f"recombined-{size}.db"
        if not path.exists():
            sources, vectors = recombined.sources_of(corpora, cache)
            recombined.filled(path, size, sources, vectors, Model(embedder.name, embedder.dimension))
        queries = cache / f"queries-{size}.json"
        figures = {"bytes": path.stat().st_size / size, "search": run("--ask", path, corpora)}
        figures["recall"] = run("--recall", path, corpora, queries)
        for name in ("tantivy", "lancedb"):
            figures[name] = run(name, path, queries, cache / f"{name}-{size}", python=peers, script="search_peers.py")
        found["stores"][str(size)] = figures
    real = cache / "corpora.db"
    if not real.exists():
        spanwise.index(corpora, real, embedder=None)
    found["corpora"] = run("--ask", real, corpora)
    return found


def written(found: dict[str, Any]) -> list[str]:
    """Return the figures as Markdown."""
    first = next(iter(found["stores"].values()))["search"]
    lines = [
        "## Whole searches in one tenant\n",
        f"`spanwise.search` as users call it: {first['questions']} questions in six languages, each asked the second",
        "time, in one process; CPU ms, the middle one / the slowest. Chunks of about 130 terms are recombined",
        "from real sentences; vectors have 512 numbers. The question's own vector comes on top: with the offline",
        f"embedder {first['embedding']:.0f} ms. `cold` is the first search. Recall is the share of the 20 best",
        "of all chunks, compared one by one, that the store has among its own. Memory is the growth of the process.\n",
        "| chunks | hybrid, limit 5 | one label | words alone | sentences on top | cold | recall of words | of vectors "
        "| memory | bytes a chunk |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size, one in found["stores"].items():
        ask, recall = one["search"], one["recall"]
        cells = [f"{ask[name]['median']:.1f} / {ask[name]['slowest']:.0f}"
                 for name in ("hybrid", "filter", "words", "extra of sentences")]  # fmt: skip
        recalls = [f"{recall[name]['mean']:.3f}" for name in ("words", "vectors")]
        cells += [f"{ask['cold']:.0f}", *recalls, f"{ask['memory']:.0f} MB", f"{one['bytes']:,.0f}"]
        lines.append(f"| {int(size):,} | {' | '.join(cells)} |")
    extra = found["corpora"]["extra of sentences"]
    lines += [
        "\nOn the corpora themselves, with the chunks of the default strategy (up to 900 tokens), sentences from 20",
        f"passages cost {extra['median']:.1f} ms on top of the passages, {extra['slowest']:.0f} at most, without an",
        "embedder. With the offline one the 80 best sentences are embedded, about 2 ms each, on top.\n",
        "The same chunks in other libraries, the same terms and vectors; top 20, CPU ms, all threads:\n",
        "| chunks | library | what | median | slowest | recall vectors | bytes a chunk |",
        "|---:|---|---|---:|---:|---:|---:|",
    ]
    for size, one in found["stores"].items():
        for name in ("tantivy", "lancedb"):
            if "rows" not in one[name]:
                lines.append(f"| {int(size):,} | {name} | {one[name].get('error', 'not installed')} | | | | |")
            for what, row in one[name].get("rows", {}).items():
                recall = f"{row['recall']:.3f}" if "recall" in row else ""
                figures = (
                    f"{row['median']:.1f} | {row['slowest']:.0f} | {recall} | {one[name]['bytes'] / int(size):,.0f}"
                )
                lines.append(f"| {int(size):,} | {name} {one[name]['version']} | {what} | {figures} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--recall", action="store_true")
    parser.add_argument("values", nargs="*")
    arguments = parser.parse_args()
    path, corpora, *more = arguments.values
    if arguments.ask:
        print(json.dumps(asked(path, Path(corpora))))
    else:
        print(json.dumps(recalled(path, Path(corpora), Path(more[0]))))


if __name__ == "__main__":
    main()
