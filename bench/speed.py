"""Cost of reading and chunking, as a multiple of one bare token count of the same texts.

Noise only adds time, so the best of many rounds is kept, separately for each file: a burst of other load then spoils
one file in one round, not a whole figure. Each round runs all splitters, one pass over the texts each. Every pass
starts with empty caches, like the first pass of a process.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import counters
from corpora import Corpus
from splitters import Split, Splitter, error_summary

BARE = "bare token count"
Job = tuple[str, Callable[[], Split]]


def costs(rows: list[Splitter], corpus: Corpus, counter: str, rounds: int) -> dict[str, Any]:
    """Measure the rows that support this corpus and counter; return costs and failures by name."""
    ready, failed = _jobs(rows, corpus, counter)
    best: dict[str, list[float]] = {}
    for number in range(rounds):
        print(f"    round {number + 1} of {rounds}", file=sys.stderr)
        for name, build in _with_bare(ready):
            try:
                seconds = [] if name in failed else _pass(build(), corpus.texts)
            except Exception as error:  # a text that a splitter can't process: the others continue
                failed[name] = error_summary(error)
            else:
                best[name] = list(map(min, seconds, best.get(name, seconds)))
    totals = {name: sum(seconds) for name, seconds in best.items() if name not in failed}
    ratios = {name: seconds / totals[BARE] for name, seconds in totals.items()}
    return {"described": corpus.described, "size": corpus.size, "seconds": totals, "cost": ratios, "failed": failed}


def _jobs(rows: list[Splitter], corpus: Corpus, counter: str) -> tuple[list[Job], dict[str, str]]:
    """Try each row on one text; return the working ones, and the reasons why others are left out."""
    ready: list[Job] = []
    failed: dict[str, str] = {}
    for row in rows:
        if corpus.format not in row.formats or counter not in row.counters:
            continue
        try:
            row.build(corpus.format, counter)(corpus.texts[0])
        except ImportError:
            failed[row.name] = "not installed"
        except Exception as error:  # whatever a peer raises, the others continue
            failed[row.name] = error_summary(error)
        else:
            ready.append((row.name, partial(row.build, corpus.format, counter)))
    gc.collect()
    gc.freeze()  # objects alive since the imports don't count as anyone's cost
    return ready, failed


def _with_bare(jobs: list[Job]) -> list[Job]:
    """Insert the bare count first and after every few jobs: all figures are divided by it, so it must be precise."""
    bare: Job = (BARE, lambda: _counted)
    return [bare, *(job for index, own in enumerate(jobs) for job in ([own, bare] if index % 4 == 3 else [own]))]


def _counted(text: str) -> list[int]:
    return [counters.bare()(text)]


def _pass(split: Split, texts: tuple[str, ...]) -> list[float]:
    """Return the seconds for each text of one pass."""
    counters.forget()
    gc.collect()
    seconds: list[float] = []
    for text in texts:
        start = time.process_time()
        split(text)
        seconds.append(time.process_time() - start)
    return seconds
