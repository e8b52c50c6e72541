"""What `smart` would send and what it has sent: a dry run, and one line for a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from spanwise.chunking.proposers import Estimate, Proposer, estimated
from spanwise.chunking.proposers.endpoint_settings import check_prices
from spanwise.chunking.strategies.smart import SmartOptions
from spanwise.cli.terminal import Screen, counted, print_json, reason_counts
from spanwise.options import options_of
from spanwise.pipeline.chunk import prepare
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import Outcome, ReadJob, outcome_of, read_all


def dry_run(jobs: Sequence[Job], limits: Limits, *, as_json: bool) -> list[Outcome[Estimate]]:
    """Show what `chunk` would send, and return the outcomes of files that can't be read."""
    asked = [job for job in jobs if job.asks_model]
    for settings in {id(job.settings): job.settings for job in asked}.values():
        check_prices(options_of(SmartOptions, settings.options))
    total, failed = _total(asked, limits)
    facts = {
        "documents": len(jobs), "asked_about": len(asked) - len(failed), "windows": total.windows,
        "cached": total.cached, "calls": total.calls, "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens, "cost": total.cost,
    }  # fmt: skip
    if as_json:
        print_json(facts)
    else:
        screen = Screen(sys.stdout)
        screen.table([(_NAMES[name], _amount(value)) for name, value in facts.items()])
        for name in _exceeded(asked, total):
            screen.line(f"{name} would be reached: the rest would be chunked by structure", "head")
    return failed


def _total(jobs: Sequence[Job], limits: Limits) -> tuple[Estimate, list[Outcome[Estimate]]]:
    """Return the estimate for all jobs together, and the outcomes of those that can't be read."""
    known: set[bytes] = set()

    def estimate(one: Outcome[ReadJob]) -> Outcome[Estimate]:
        if one.value is None:
            return Outcome(one.job, error=one.error)
        settings = one.job.settings
        task = prepare(one.value.document, settings.strategy, settings.tokenizer, settings.options).task
        return Outcome(one.job, estimated(task, known))

    outcomes = [outcome_of(one.job, partial(estimate, one)) for one in read_all(jobs, limits)]
    total = sum((outcome.value for outcome in outcomes if outcome.value is not None), Estimate(cost=0.0))
    return total, [outcome for outcome in outcomes if outcome.value is None]


def _exceeded(asked: Sequence[Job], total: Estimate) -> Iterator[str]:
    """Yield the bounds that a run would reach."""
    if not asked:
        return
    bounds = options_of(SmartOptions, asked[0].settings.options)
    if total.calls > bounds.max_calls:
        yield f"max_calls ({bounds.max_calls:,})"
    if bounds.max_cost is not None and total.cost is not None and total.cost > bounds.max_cost:
        yield f"max_cost ({bounds.max_cost:g})"


def _amount(value: float | None) -> str:
    if value is None:
        return "not known (input_price and output_price)"
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}"


_NAMES: Final = {
    "documents": "documents", "asked_about": "for a model", "windows": "windows", "cached": "answers in the cache",
    "calls": "calls", "input_tokens": "tokens to send", "output_tokens": "tokens expected back", "cost": "cost",
}  # fmt: skip


def show_report(screen: Screen, proposer: Proposer) -> None:
    """Write in one line what was asked of a model and what it cost."""
    report = proposer.report
    cost = "" if report.cost is None else f", cost {report.cost:.6f}"
    reasons = f" ({reason_counts(report.reasons)})" if report.reasons else ""
    screen.line(
        f"smart: {counted(report.windows, 'window')}, {counted(report.calls, 'call')}, {report.cached:,} cached, "
        f"{report.input_tokens:,} tokens sent, {report.output_tokens:,} back{cost}, "
        f"{report.fallbacks:,} fell back to structure{reasons}",
        "head" if report.fallbacks else "dim",
    )
