"""Reading and chunking as a multiple of one bare token count of the same text, measured side by side in one run.

    python bench/speed.py [--markdown FOLDER] [--prose FOLDER] [--rounds N]

Without a folder of Markdown files the demo's documents are repeated instead.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bpe_openai import _bindings

import spanwise

HERE = Path(__file__).parent
DEMO = HERE.parent / "src" / "spanwise" / "demo" / "documents"
NO_OVERLAP = {"structure": {"overlap_tokens": 0}, "fixed": {"overlap_ratio": 0.0}, "simple": {}}


def texts_of(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md"))]


def chunked(texts: list[str], strategy: str, form: str) -> int:
    options = {"max_tokens": 512, **NO_OVERLAP[strategy]}
    return sum(len(spanwise.chunk(spanwise.read_text(text, form), strategy, **options)) for text in texts)


def best_times(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Run the jobs in turn, many times, and keep each one's best CPU time: noise only ever adds."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            start = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - start)
    return best


def compare(title: str, texts: list[str], form: str, rounds: int) -> None:
    tokenizer = _bindings.tokenizer_for_encoding("cl100k_base")
    jobs: dict[str, Callable[[], object]] = {
        "bare token count": lambda: [tokenizer.count(text) for text in texts],
        "reading": lambda: [len(spanwise.read_text(text, form).blocks) for text in texts],
        **{name: partial(chunked, texts, name, form) for name in NO_OVERLAP},
    }
    best = best_times(jobs, rounds)
    size = sum(len(text.encode()) for text in texts)
    print(f"\n{title}: {len(texts)} files, {size / 1e6:.1f} MB, read as {form}\n")
    print("| | cost | MB per CPU-second |\n|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds / best['bare token count']:.2f} | {size / seconds / 1e6:.1f} |")


def growth(texts: list[str], rounds: int) -> None:
    """Compare one file of 16 MB with one of 1 MB, in time and in memory."""
    small = "\n\n".join(texts)[:1_000_000]
    large = "\n\n".join([small] * 16)
    print("\ngrowth from 1 MB to 16 MB in one file\n\n| | time | memory |\n|---|---|---|")
    for strategy in NO_OVERLAP:
        jobs = {name: partial(chunked, [text], strategy, "markdown") for name, text in (("1", small), ("16", large))}
        best = best_times(jobs, min(rounds, 3))
        peaks = {name: _peak(job) for name, job in jobs.items()}
        print(f"| {strategy} | × {best['16'] / best['1']:.1f} | × {peaks['16'] / peaks['1']:.1f} |")


def _peak(job: Callable[[], object]) -> int:
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--prose", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    markdown = texts_of(given.markdown) if given.markdown else texts_of(DEMO) * 40
    compare("Markdown", markdown, "markdown", given.rounds)
    if given.prose:
        compare("prose", texts_of(given.prose), "text", given.rounds)
    growth(markdown, given.rounds)


if __name__ == "__main__":
    main()
