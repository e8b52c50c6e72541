"""Shared code of the reader comparisons: running each engine in its own process, and tables of the scores."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pdf_engines import Engine
from pdf_files import Case
from pdf_scores import Contents, Tally, compared, markdown_contents, words_of
from report import table
from splitters import version_of

PATIENCE = 900  # seconds for one engine in one round
Figures = dict[str, Any]


class Plan(NamedTuple):
    """How engines are measured: which ones, how often, by which script, in which folder, and the size of a file."""

    engines: list[Engine]
    rounds: int
    script: Path
    folder: Path
    unit: str
    size: Callable[[str], int]


def measured(plan: Plan, cases: list[Case]) -> Figures:
    """Run all engines in turn, several times; keep the best time of each kind of document."""
    engines, rounds, folder = plan.engines, plan.rounds, plan.folder
    groups: dict[str, list[str]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(str(case.path))
    job = folder / "job.json"
    job.write_text(json.dumps(groups), encoding="utf-8")
    results: Figures = {
        "python": platform.python_version(),
        "versions": {engine.package: version_of(engine.package) for engine in engines},
        "rounds": rounds,
        "files": {group: len(paths) for group, paths in groups.items()},
        plan.unit: {group: sum(map(plan.size, paths)) for group, paths in groups.items()},
        "engines": {engine.name: {} for engine in engines},
    }
    truths = {str(case.path): markdown_contents(case.truth) for case in cases if case.truth is not None}
    kinds = {str(case.path): case.group for case in cases}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)
        for engine in engines:
            row = results["engines"][engine.name]
            if "missing" in row:
                continue
            run = _run(plan.script, engine, job, folder / "output.json")
            if "missing" in run:
                row["missing"] = run["missing"]
                continue
            best = row.setdefault("seconds", run["seconds"])
            row["seconds"] = {group: min(seconds, best[group]) for group, seconds in run["seconds"].items()}
            row["failed"] = len(run["failed"])
            if number == 0:
                row["scores"] = _scores(engine, run["outputs"], truths, kinds)
    return results


def _run(script: Path, engine: Engine, job: Path, output: Path) -> Figures:
    output.unlink(missing_ok=True)
    child = [sys.executable, str(script), engine.name, str(job), str(output)]
    try:
        subprocess.run(child, check=True, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"missing": f"stopped after {PATIENCE} s"}
    except subprocess.CalledProcessError as error:
        return {"missing": f"exit code {error.returncode}"}
    found: Figures = json.loads(output.read_text(encoding="utf-8"))
    return found


def _scores(engine: Engine, outputs: Figures, truths: dict[str, Contents], kinds: dict[str, str]) -> dict[str, Figures]:
    tallies: dict[str, Tally] = {}
    for path, truth in truths.items():
        tally = compared(truth, _contents(engine, outputs.get(path, "")))
        group = kinds[path]
        tallies[group] = tallies[group].plus(tally) if group in tallies else tally
    return {group: tally._asdict() for group, tally in tallies.items()}


def _contents(engine: Engine, output: Any) -> Contents:
    if engine.markdown:
        return markdown_contents(output)
    text, rows = output if isinstance(output, list) else (output, None)
    cells = None if rows is None else [tuple("".join(words_of(cell)) for cell in row) for row in rows]
    return Contents(words_of(text), None, cells)


def by_cost(results: Figures, engines: Iterable[Engine], bare: str) -> list[Engine]:
    """Return the engines in order: the bare one, then ours, then by cost."""

    def order(engine: Engine) -> tuple[bool, bool, float]:
        seconds = results["engines"][engine.name].get("seconds")
        return engine.name != bare, not engine.ours, sum(seconds.values()) if seconds else float("inf")

    return sorted(engines, key=order)


def label(engine: Engine) -> str:
    """Return the name of an engine in a table."""
    name = f"**{engine.name}**" if engine.ours else engine.name
    return f"{name} {engine.note}".strip()


def quality(scores: list[Figures]) -> tuple[str, str, str, str]:
    """Return the scores as text: words in order, words added, headings, rows."""
    words = sum(score["words"] for score in scores)
    if not words:
        return "–", "–", "–", "–"
    in_order, added = (sum(score[name] for score in scores) / words for name in ("in_order", "added"))
    return f"{in_order:.1%}", f"{added:.1%}", _mean(scores, "headings"), _mean(scores, "rows")


def _mean(scores: list[Figures], what: str) -> str:
    """Return the harmonic mean of precision and recall as text."""
    found = [score[what] for score in scores if score[what] is not None]
    if not found:
        return "–"
    right, ours, true = map(sum, zip(*found, strict=True))
    return f"{2 * right / (ours + true):.0%}" if ours + true else "–"


def by_group(results: Figures, engines: list[Engine], bare: str) -> str:
    """Return a table of words in order and rows, with a column for each kind of document."""
    groups = list(results["files"])
    lines = []
    for engine in by_cost(results, engines, bare):
        scores = results["engines"][engine.name].get("scores")
        if scores:
            lines.append((label(engine), *(_both(scores[group]) for group in groups)))
    return table(("words, rows", *groups), lines)


def _both(score: Figures) -> str:
    words, _, _, rows = quality([score])
    return words if score["rows"] is None or not score["rows"][2] else f"{words}, {rows}"
