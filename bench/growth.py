"""Cost of one file of 1 to 64 MB, in time and in memory.

Each figure comes from its own child process: memory is the peak beyond what imports and text take, and a splitter that
doesn't finish is stopped. Time is a multiple of the bare count of the same text, measured in the same child.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import counters
from corpora import Corpus, one_text
from speed import BARE
from splitters import Splitter, splitter_of

SIZES = (1, 4, 16, 64)
MB = 1_000_000
TIMES = ((3, 10), (1, 1000))  # repetitions below a size in MB: small files have more noise
PATIENCE = 120
Figures = dict[str, Any]


def growth(rows: list[Splitter], corpus: Corpus, counter: str) -> dict[str, dict[str, Figures]]:
    """Measure each row at each size; once a row was stopped, larger sizes are skipped."""
    found: dict[str, dict[str, Figures]] = {BARE: {}, **{row.name: {} for row in rows}}
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.md"
            path.write_text(one_text(corpus.texts, size * MB), encoding="utf-8")
            for name, figures in found.items():
                last = list(figures.values())[-1:]
                if last and "stopped" in last[0]:
                    continue
                print(f"  {size} MB: {name}", file=sys.stderr)
                figures[str(size)] = _in_child(name, path, corpus.format, counter)
    return found


def fastest(rows: list[Splitter], cost: dict[str, float], number: int) -> list[Splitter]:
    """Return our own rows and the cheapest `number` of peers."""
    peers = sorted((row for row in rows if not row.ours and row.name in cost), key=lambda row: cost[row.name])
    return [row for row in rows if row.ours or row in peers[:number]]


def _in_child(name: str, path: Path, format: str, counter: str) -> Figures:
    command = [sys.executable, __file__, name, str(path), format, counter]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except subprocess.TimeoutExpired:
        return {"stopped": PATIENCE}
    except subprocess.CalledProcessError as error:
        return {"failed": error.stderr.strip().splitlines()[-1][:120] if error.stderr.strip() else "died"}
    figures: Figures = json.loads(done.stdout)
    return figures


def _measured(name: str, path: Path, format: str, counter: str) -> Figures:
    """Measure in this process, with a bare count before and after each run; return the median of several runs."""
    build = (lambda: counters.bare()) if name == BARE else (lambda: splitter_of(name).build(format, counter))
    for work in (build(), counters.bare()):
        work("One sentence, to load what is loaded late.")
    text = path.read_text(encoding="utf-8")
    bare = [_seconds(counters.bare(), text)]  # also caches the text's UTF-8, which every counter in Rust needs
    seconds, peak = list[float](), 0
    for _ in range(max(number for number, size in TIMES if path.stat().st_size < size * MB)):
        counters.forget()
        work, held = build(), _fresh_peak()
        seconds.append(_seconds(work, text))
        peak = max(peak, _memory("VmHWM") - held)
        bare.append(_seconds(counters.bare(), text))
    ratios = [2 * elapsed / (before + after) for elapsed, before, after in zip(seconds, bare, bare[1:], strict=False)]
    return {"cost": median(ratios), "seconds": min(seconds), "bare": min(bare), "peak": peak}


def _seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    kept = work(text)
    seconds = time.process_time() - start
    del kept
    return seconds


def _fresh_peak() -> int:
    """Reset the peak, where the system can, and return the current memory; elsewhere return the peak so far."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return _memory("VmRSS")
    return _memory("VmHWM")


def _memory(what: str) -> int:
    """Return the current memory (VmRSS) or its peak (VmHWM), in bytes; without /proc, the peak for both.

    `ru_maxrss` is no alternative on Linux: it is inherited from the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split(f"{what}:")[1].split()[0]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    given = sys.argv[1:]
    print(json.dumps(_measured(given[0], Path(given[1]), given[2], given[3])))
