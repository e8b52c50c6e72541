"""What `smart` would send and what it has sent, for people: a dry run, and one line for a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from spanwise.chunking.proposers import Estimate, ProposerReport, estimated
from spanwise.chunking.proposers.endpoint_settings import check_prices
from spanwise.chunking.strategies.smart import SmartOptions
from spanwise.cli.terminal import Screen, counted, print_json, table
from spanwise.options import options_of
from spanwise.pipeline.chunk import prepare
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import Outcome, guarded, read_job


def dry_run(jobs: Sequence[Job], *, as_json: bool) -> list[Outcome[Estimate]]:
    """Show what `chunk` would send, and return the outcomes of files that can't be read."""
    known: set[bytes] = set()
    total = Estimate(cost=0.0)
    failed: list[Outcome[Estimate]] = []

    def estimate(job: Job) -> Outcome[Estimate]:
        _, document = read_job(job)
        settings = job.settings
        task = prepare(document, settings.strategy, settings.tokenizer, settings.options).task
        return Outcome(job, estimated(task, known))

    asked = [job for job in jobs if job.asks_model]
    for settings in {id(job.settings): job.settings for job in asked}.values():
        check_prices(options_of(SmartOptions, settings.options))
    for job in asked:
        outcome = guarded(job, partial(estimate, job))
        if outcome.value is None:
            failed.append(outcome)
        else:
            total += outcome.value
    facts = {
        "documents": len(jobs), "asked_about": len(asked) - len(failed), "windows": total.windows,
        "cached": total.cached, "calls": total.calls, "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens, "cost": total.cost,
    }  # fmt: skip
    if as_json:
        print_json(facts)
        return failed
    screen = Screen(sys.stdout)
    rows = [(_NAMES[name], _amount(value)) for name, value in facts.items()]
    for line in table(rows, width=screen.width):
        screen.line(line)
    for words in _over(asked, total):
        screen.line(words, "head")
    return failed


def _over(asked: Sequence[Job], total: Estimate) -> list[str]:
    """Say which bounds a run would reach."""
    if not asked:
        return []
    bounds = options_of(SmartOptions, asked[0].settings.options)
    over = []
    if total.calls > bounds.max_calls:
        over.append(f"max_calls ({bounds.max_calls:,}) would be reached: the rest would be chunked by structure")
    if bounds.max_cost is not None and total.cost is not None and total.cost > bounds.max_cost:
        over.append(f"max_cost ({bounds.max_cost:g}) would be reached: the rest would be chunked by structure")
    return over


def _amount(value: float | None) -> str:
    if value is None:
        return "not known (input_price and output_price)"
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}"


_NAMES: Final = {
    "documents": "documents", "asked_about": "for a model", "windows": "windows", "cached": "answers in the cache",
    "calls": "calls", "input_tokens": "tokens to send", "output_tokens": "tokens expected back", "cost": "cost",
}  # fmt: skip


def report_line(report: ProposerReport) -> str:
    """Sum up what was asked, in a line."""
    parts = [
        counted(report.windows, "window"),
        counted(report.calls, "call"),
        f"{report.cached:,} cached",
        f"{report.input_tokens:,} tokens sent",
        f"{report.output_tokens:,} back",
    ]
    if report.cost is not None:
        parts.append(f"cost {report.cost:.6f}")
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(report.reasons.items()))
    parts.append(f"{report.fallbacks:,} fell back to structure" + (f" ({reasons})" if reasons else ""))
    return "smart: " + ", ".join(parts)
