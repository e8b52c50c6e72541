"""Compare Spanwise with its peers; write tables, raw figures and a plot.

    python bench/run.py [--markdown FOLDER] [--prose FOLDER] [--rounds N] [--parts speed,correctness,…] [--quick]

Without folders the texts are those of ../shared/corpora if it exists, else the demo's documents. Parts that are not
measured, and the peers' install sizes, are kept from the existing results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import correctness
import footprint
import plot
import report
import speed
from corpora import Corpus, corpora
from splitters import LIMIT, Splitter, splitters, version_of

import growth

PARTS = ("speed", "correctness", "growth", "startup", "install")
SAMPLE = 1_500_000
MUCH = 4_000_000  # bytes; smaller corpora get twice as many rounds, because they average less
COUNTERS = ("splintr", "tiktoken")
Figures = dict[str, Any]


def main() -> None:
    given = _arguments()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no network access while timing
    rows, texts = splitters(), corpora(given.markdown, given.prose)
    target: Path = given.output
    target.mkdir(parents=True, exist_ok=True)
    raw = target / "results.json"
    results: Figures = json.loads(raw.read_text(encoding="utf-8")) if raw.exists() else {}
    results |= {"limit": LIMIT, "python": platform.python_version(), "versions": _versions(rows)}
    began = time.monotonic()
    for part in given.parts:
        print(f"{part} (after {time.monotonic() - began:.0f} s):", file=sys.stderr)
        results[part] = _measured(part, rows, texts, results, given)
        raw.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (target / "results.md").write_text(report.written(results, rows), encoding="utf-8")
    (target / "speed.svg").write_text(plot.drawn(results, rows), encoding="utf-8")
    print(f"{time.monotonic() - began:.0f} s; wrote results.md, results.json, speed.svg", file=sys.stderr)
    print((target / "results.md").read_text(encoding="utf-8"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="folder of .md files, read as Markdown")
    parser.add_argument("--prose", type=Path, help="folder of .md files, read as plain text")
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="how often everything is run (little text twice as often); the best counts",
    )
    parser.add_argument(
        "--parts", type=_parts, default=PARTS, help=f"some of {','.join(PARTS)}; '' only writes the tables again"
    )
    parser.add_argument("--peers", type=int, default=3, help="how many peers take part in growth: the cheapest")
    parser.add_argument("--remeasure-sizes", action="store_true", help="install peers again, also if they are the same")
    parser.add_argument("--quick", action="store_true", help="two rounds on a sample, for trying things out")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _parts(text: str) -> tuple[str, ...]:
    named = tuple(filter(None, text.split(",")))
    if unknown := set(named) - set(PARTS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; choose from {','.join(PARTS)}")
    return named


def _measured(part: str, rows: list[Splitter], texts: list[Corpus], results: Figures, given: Any) -> Figures:
    rounds = 2 if given.quick else given.rounds
    if part == "speed":
        return {corpus.key: _speed(rows, corpus, rounds, given.quick) for corpus in texts}
    if part == "correctness":
        return {corpus.key: correctness.checked(rows, corpus) for corpus in texts}
    if part == "growth":
        corpus = texts[0]
        cost = results.get("speed", {}).get(corpus.key, {}).get(COUNTERS[0], {}).get("cost", {})
        chosen = growth.fastest(rows, cost, given.peers)
        return growth.growth(chosen, corpus, COUNTERS[0])
    if part == "startup":
        return footprint.startups(2 if given.quick else 7)
    return footprint.install_sizes({} if given.remeasure_sizes else results.get("install", {}), version_of)


def _speed(rows: list[Splitter], corpus: Corpus, rounds: int, quick: bool) -> Figures:
    """Measure with both counters; the slower one on a sample, relative to the bare count of that sample."""
    measured: Figures = {"form": corpus.format}
    for counter in COUNTERS:
        part = corpus.sample(SAMPLE) if quick or counter != COUNTERS[0] else corpus
        print(f"  {part.described}, counted with {counter}", file=sys.stderr)
        times = rounds if corpus.size > MUCH else 2 * rounds
        measured[counter] = speed.costs(rows, part, counter, times)
    return measured


def _versions(rows: list[Splitter]) -> dict[str, str | None]:
    packages = dict.fromkeys([row.package for row in rows] + ["bpe-openai", "tiktoken", "splintr-rs"])
    return {name: version_of(name) for name in packages}


if __name__ == "__main__":
    main()
