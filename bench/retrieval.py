"""Compare how well chunks are found: our strategies and the peers' splitters with the same questions and retriever.

    python bench/retrieval.py [--corpus FOLDER] [--questions FILE] [--only TEXT]

Without a folder the texts and questions are those of ../shared/corpora/chroma. A line of the questions is
{"question": …, "corpus": NAME, "references": [{"start": …, "end": …}, …]}, in characters of NAME.md. Writes
results/retrieval.md and retrieval.json for the pinned questions; for others it only prints.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import counters
import peers
from bm25 import K1, B, Index
from passages import BUDGET, HITS, Passage, QuestionSet, Scores, load_questions, scored
from report import table
from splitters import Split, SplitChunk, version_of

from spanwise.evaluation.ranges import Range

Figures = dict[str, Any]
RECOMMENDED = {"core_tokens": 64, "overlap_tokens": 120, "overlap_next_tokens": 80}

INTRODUCTION = """\
# Finding the right passage: Spanwise beside its peers

`make bench-retrieval` wrote this. {described} of Chroma's "Evaluating Chunking Strategies for Retrieval", on five
English corpora that are searched together. Every splitter's chunks are searched by the same retriever: BM25
(k1 {k1}, b {b}) over lower-cased words, without stemming, stop words or vectors. Peers are searched by their chunks and
return them. Ours are searched by `embedding_text` and return `normalized_text`, the core. All sizes are tokens of
cl100k; all texts are read as plain text.

- **recall, precision, IoU**: of the characters that answer a question, and of those that the first {hits} hits return;
  IoU is what is right by all that is asked for or returned. What is returned twice counts twice, but is right once.
- **recall at {budget:,} tokens**: hits are taken until so many are returned; of the last one only its beginning.
"""

NOTES = """\
**Recommended for question answering** is the first row: `spanwise chunk --strategy blocks --core-tokens 64
--overlap-tokens 120 --overlap-next-tokens 80`. Its sizes were chosen on these questions, so its figures flatter it a
little; see docs/quality.md.
"""


class Row(NamedTuple):
    """One splitter with its sizes."""

    name: str
    package: str
    build: Callable[[], Split]
    made: Callable[[Any], SplitChunk]


def _ours(strategy: str, **options: Any) -> Row:
    settings = ", ".join(f"{name} {value}" for name, value in options.items()) or "defaults"
    return Row(f"**Spanwise `{strategy}`**, {settings}", "spanwise", lambda: partial(_chunks, strategy, options), _made)


def _chunks(strategy: Any, options: dict[str, Any], text: str) -> list[Any]:
    from spanwise import chunk, read_text

    return list(chunk(read_text(text, "text"), strategy, **options))


def _made(chunk: Any) -> SplitChunk:
    ranges = tuple((piece.start, piece.end) for piece in chunk.pieces if piece.role == "core")
    return SplitChunk(chunk.embedding_text, chunk.normalized_text, ranges)


def _langchain(limit: int, overlap: int = 0) -> Row:
    build = partial(peers.langchain, "RecursiveCharacterTextSplitter", "splintr", limit, overlap)
    name = f"LangChain Recursive {limit}" + (f", overlap {overlap}" if overlap else "")
    return Row(name, "langchain-text-splitters", build, peers.of_langchain)


def _chonkie(kind: str, limit: int) -> Row:
    build = partial(peers.chonkie, f"{kind}Chunker", "splintr", limit)
    return Row(f"Chonkie {kind} {limit}", "chonkie", build, peers.of_chonkie)


def _semchunk(limit: int) -> Row:
    return Row(f"semchunk {limit}", "semchunk", partial(peers.semchunk, "splintr", limit), peers.of_semchunk)


def _text_splitter(limit: int) -> Row:
    build = partial(peers.text_splitter, "TextSplitter", "splintr", limit)
    return Row(f"text-splitter {limit}", "semantic-text-splitter", build, peers.of_text_splitter)


def _llama_index(limit: int, overlap: int) -> Row:
    build = partial(peers.llama_index, "splintr", limit, overlap)
    return Row(f"LlamaIndex Sentence {limit}, overlap {overlap}", "llama-index-core", build, peers.of_llama_index)


ROWS = (
    _ours("blocks", **RECOMMENDED),
    _ours("blocks", core_tokens=64, overlap_tokens=0),
    _ours("blocks", core_tokens=150, overlap_tokens=50),
    _ours("blocks", max_tokens=250, overlap_tokens=83),
    _ours("blocks"),
    _ours("structure"),
    _ours("structure", max_tokens=200),
    _ours("structure", max_tokens=400),
    _ours("fixed"),
    _ours("fixed", target_tokens=200, max_tokens=300),
    _ours("window", max_tokens=200, overlap_tokens=50),
    _ours("heading"),
    _ours("sentence"),
    _langchain(50),
    _langchain(200),
    _langchain(400),
    _langchain(400, 200),
    _chonkie("Recursive", 200),
    _chonkie("Recursive", 400),
    _chonkie("Sentence", 200),
    _semchunk(200),
    _semchunk(400),
    _text_splitter(200),
    _text_splitter(400),
    _llama_index(256, 64),
    _llama_index(1024, 200),
)


def main() -> None:
    given = _arguments()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    questions = load_questions(given.corpus, given.questions)
    chosen = [row for row in ROWS if given.only.lower() in row.name.lower()]
    began, figures = time.monotonic(), Figures()
    for row in chosen:
        if version_of(row.package):
            print(f"  {row.name} (after {time.monotonic() - began:.0f} s)", file=sys.stderr)
            figures[row.name] = _measured(row, questions)
    results = {
        "python": platform.python_version(),
        "versions": {row.package: version_of(row.package) for row in chosen},
        "questions": len(questions.questions),
        "rows": figures,
    }
    written = _written(results)
    if questions.pinned and not given.only:
        raw: Path = given.output / "retrieval.json"
        raw.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        raw.with_suffix(".md").write_text(written, encoding="utf-8")
    print(written)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="folder of NAME.md with questions.jsonl")
    parser.add_argument("--questions", type=Path, help="other questions on the same texts")
    parser.add_argument("--only", default="", help="only rows whose name holds this")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _measured(row: Row, questions: QuestionSet) -> Figures:
    split = row.build()
    passages = [
        passage
        for name, text in questions.texts.items()
        for passage in _passages(name, text, map(row.made, split(text)))
    ]
    index = Index([passage.searched for passage in passages])
    scores = [
        scored(question, [passages[number] for number in index.ranked(question.text)])
        for question in questions.questions
    ]
    means = {name: sum(getattr(score, name) for score in scores) / len(scores) for name in Scores._fields}
    size = sum(passage.tokens for passage in passages) / len(passages)
    by_corpus = {name: _of_corpus(name, questions, scores) for name in questions.texts}
    return {"chunks": len(passages), "tokens": size, **means, "recall_at_budget_by_corpus": by_corpus}


def _of_corpus(name: str, questions: QuestionSet, scores: list[Scores]) -> float:
    pairs = zip(questions.questions, scores, strict=True)
    found = [score.recall_at_budget for question, score in pairs if question.corpus == name]
    return sum(found) / max(len(found), 1)


def _passages(name: str, text: str, chunks: Iterable[SplitChunk]) -> Iterable[Passage]:
    """Yield the passages of a text; if any offset is wrong, all chunks are located by searching, to be fair."""
    count, last, found = counters.splintr().count, -1, list(chunks)
    known = all(_is_right(text, made) for made in found)
    for made in found:
        ranges = made.ranges if known else _searched(text, made.core, last + 1)
        if ranges:
            last = ranges[0][0]
            yield Passage(name, made.text, ranges, count(made.core))


def _is_right(text: str, made: SplitChunk) -> bool:
    return len(made.ranges) > 1 or [text[start:end] for start, end in made.ranges] == [made.core]


def _searched(text: str, core: str, after: int) -> tuple[Range, ...]:
    start = text.find(core, after)
    start = start if start >= 0 else text.find(core)
    return ((start, start + len(core)),) if start >= 0 else ()


def _written(results: Figures) -> str:
    rows = results["rows"]
    head = ("", "chunks", "tokens each", "recall", "precision", "IoU", f"recall at {BUDGET:,} tokens")
    cells = ((name, f"{row['chunks']:,}", f"{row['tokens']:.0f}", *_percent(row)) for name, row in rows.items())
    described = f"{results['questions']} questions"
    introduction = INTRODUCTION.format(described=described, k1=K1, b=B, hits=HITS, budget=BUDGET)
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return "\n".join([introduction, table(head, cells), NOTES, f"Python {results['python']}; {named}.\n"])


def _percent(row: Figures) -> list[str]:
    return [f"{100 * row[name]:.1f}" for name in Scores._fields]


if __name__ == "__main__":
    main()
