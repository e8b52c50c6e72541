"""How much of the answers is in what a search returns: ours as it comes, and the peers' chunks as most people use them.

    python bench/answers.py [--corpora FOLDER] [--only TEXT] [--questions N]

A corpus is a folder of NAME.md with questions.jsonl, such as ../shared/corpora/chroma and ../shared/corpora/qa/*. The
chunks of every splitter go into the same kind of store and are searched by words; `spanwise.evaluate` asks and counts.
Writes results/answers.md and answers.json; with --only or --questions it only prints.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpora import SHARED
from report import table
from splitters import version_of

import spanwise

Figures = dict[str, Any]
BUDGET = 1_000
HITS = 5
STRUCTURE = "structure"

INTRODUCTION = """\
# Answers: what a search returns of them

`make bench-answers` wrote this. {described}: English from Chroma's "Evaluating Chunking
Strategies for Retrieval" and COVID-QA, German and Russian from XQuAD, Chinese from CMRC 2018, Japanese from JaQuAD.
Each set is indexed and searched alone, by words, without an embedder. All are searched by Spanwise, so stemming, lemmas
and BM25 are the same for all.

- **recall**: % of the characters of an answer that are in the first {budget:,} tokens returned.
- **IoU**: of {hits} hits: what is right, by all that is asked for or returned.
- **sentences**: the best passages are cut into sentences when the question is asked, and these are returned; {hits}
  hits are {hits} sentences. **Passages**: chunks as they are, neighbours joined; the last is cut to fit the budget.
"""
NOTES = """\
The weights of sentences were tuned on these questions, so the first rows flatter themselves a little; of the peers the
sizes are their documentation's. The mean has the bootstrap's 95 % interval of each set in answers.json.
"""


class Row(NamedTuple):
    """A setting or a peer, and what is returned."""

    name: str
    unit: str
    setting: str | None = None
    peer: str | None = None
    package: str = "spanwise"


ROWS = (
    Row("**Spanwise, as it comes**: sentences", "sentence", STRUCTURE),
    Row("**Spanwise**, `join_sections`: sentences", "sentence", f"{STRUCTURE} join_sections=on"),
    Row("**Spanwise**, `fixed`: sentences", "sentence", "fixed"),
    Row("**Spanwise**: passages", "passage", STRUCTURE),
    Row("LangChain Recursive 400: passages", "passage", peer="langchain-recursive:400",
        package="langchain-text-splitters"),
    Row("LangChain Recursive 1000, overlap 200: passages", "passage", peer="langchain-recursive:1000/200",
        package="langchain-text-splitters"),
    Row("Chonkie Recursive 400: passages", "passage", peer="chonkie-recursive:400", package="chonkie"),
    Row("semchunk 400: passages", "passage", peer="semchunk:400", package="semchunk"),
    Row("LlamaIndex Sentence 1024, overlap 200: passages", "passage", peer="llamaindex-sentence:1024/200",
        package="llama-index-core"),
)  # fmt: skip


def main() -> None:
    given = _arguments()
    sets = dict(_sets(given.corpora))
    rows = [row for row in ROWS if given.only.lower() in row.name.lower() and version_of(row.package)]
    began, figures = time.monotonic(), dict[str, Figures]()
    for row in rows:
        figures[row.name] = {}
        for name, folder in sets.items():
            print(f"  {row.name}, {name} (after {time.monotonic() - began:.0f} s)", file=sys.stderr)
            try:
                figures[row.name][name] = _measured(row, folder, given.questions)
            except spanwise.SpanwiseError as error:  # a peer that raises on one of the texts
                print(f"    {str(error)[:200]}", file=sys.stderr)
    versions = {row.package: version_of(row.package) for row in rows}
    results = {"python": platform.python_version(), "versions": versions, "rows": figures}
    written = _written(results)
    if not given.only and not given.questions:
        raw: Path = given.output / "answers.json"
        raw.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        raw.with_suffix(".md").write_text(written, encoding="utf-8")
    print(written)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=SHARED, help="folder whose folders have questions.jsonl")
    parser.add_argument("--only", default="", help="only rows whose name holds this")
    parser.add_argument("--questions", type=int, help="only so many questions of each set")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _sets(corpora: Path) -> Iterator[tuple[str, Path]]:
    for questions in sorted(corpora.rglob("questions.jsonl")):
        yield questions.parent.name, questions.parent


def _measured(row: Row, folder: Path, most: int | None) -> Figures:
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    report = spanwise.evaluate(
        lines[:most], sorted(folder.glob("*.md")), settings=[row.setting] if row.setting else [],
        peers=[row.peer] if row.peer else [], budgets=[BUDGET], limits=[HITS], unit=row.unit, embedder=None,
    )  # fmt: skip
    (found,) = report.summary.values()
    budget, hits = (found[amount] for amount in report.amounts)
    return {
        "questions": len(report.questions),
        "recall": list(budget["recall"]),
        "tokens": budget["tokens"].mean,
        "iou": list(hits["iou"]),
        "chunks": report.results[0].chunks,
        "embedding_tokens": report.results[0].embedding_tokens,
    }


def _written(results: Figures) -> str:
    rows: dict[str, dict[str, Figures]] = results["rows"]
    sets = list(next(iter(rows.values())))
    asked = sum(one["questions"] for one in next(iter(rows.values())).values())
    failed = [f"{name.partition(':')[0]} raises on {', '.join({*sets} - {*found})}, which its mean leaves out."
              for name, found in rows.items() if len(found) < len(sets)]  # fmt: skip
    head = ("", "recall", "IoU", "tokens", *(f"recall: {name}" for name in sets), "chunks")
    cells = []
    for name, found in rows.items():
        means = [_mean(one[key][0] for one in found.values()) for key in ("recall", "iou")]
        tokens = _mean(one["tokens"] for one in found.values())
        each = [f"{100 * found[one]['recall'][0]:.1f}" if one in found else "–" for one in sets]
        chunks = sum(one["chunks"] for one in found.values())
        cells.append((name, *(f"{100 * value:.1f}" for value in means), f"{tokens:.0f}", *each, f"{chunks:,}"))
    introduction = INTRODUCTION.format(described=f"{asked:,} questions in six sets", budget=BUDGET, hits=HITS)
    named = ", ".join(f"{name} {version or 'not installed'}" for name, version in results["versions"].items())
    return "\n".join([introduction, table(head, cells), NOTES, *failed, f"Python {results['python']}; {named}.\n"])


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


if __name__ == "__main__":
    main()
