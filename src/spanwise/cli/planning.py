"""`spanwise plans`, `spanwise cache`, and what a dry run of `spanwise chunk` says: plans and what they cost."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spanwise.api import begin, chunk
from spanwise.batches import Job, Outcome, document_of, guarded, is_smart
from spanwise.cli.terminal import Screen, for_people, one_line, print_json, said, shown, table
from spanwise.documents import Document
from spanwise.errors import SpanwiseError
from spanwise.options import options_of
from spanwise.proposals import Estimate, Report, estimated
from spanwise.proposals.terms import check_prices, with_environment
from spanwise.settings import Config, Settings, in_force, plan_layer, plans_of, settings_of
from spanwise.strategies.smart import ASKING, SmartOptions
from spanwise.windows import Window

_SAMPLE: Final = Path(__file__).parent.parent / "demo" / "documents" / "handbook.en.md"
_USES: Final = {
    "fixed": "simple documents, even sizes",
    "smart": "complex documents, whole topics",
    "hierarchical": "long documents, parents and children",
}
_TIMES: Final = 3  # the best of so many is the latency


def run_plans(arguments: argparse.Namespace, config: Config) -> int:
    """Show every plan with its strategy, options, cost and latency, and who has it."""
    from spanwise import read

    document = read(arguments.sample or _SAMPLE)
    rows = [_plan(config, name, document) for name in plans_of(config)]
    if arguments.json:
        print_json(rows)
        return 0
    screen = Screen(sys.stdout)
    head = ("plan", "strategy", "cost of 1K tokens", "latency", "use", "tenants", "options")
    names = ("plan", "strategy", "cost", "latency", "use", "who", "words")
    lines = [tuple(shown(row[name]) for name in names) for row in rows]
    for line in table([head, *lines], width=screen.width, wrapped=True):
        screen.line(line)
    name = one_line(arguments.sample) if arguments.sample else "the English handbook of the demo"
    screen.line(f"\nlatency: of {name}, measured now; nobody was asked, an endpoint takes its own time", "dim")
    return 0


def _plan(config: Config, name: str, document: Document) -> dict[str, Any]:
    """Describe a plan; one whose strategy can't be used says why."""
    layer = plan_layer(config, name)
    who = [tenant for tenant, plan in config.tenants.items() if plan == name]
    row = {"plan": name, "strategy": layer.values["strategy"], "use": _USES.get(layer.values["strategy"], "")}
    try:
        settings = settings_of(in_force([*Config(config.path, config.general).layers(None), layer]))
        cost, latency = _measured(settings, document)
    except SpanwiseError as error:
        return row | {
            "cost": "",
            "latency": "",
            "tenants": who,
            "who": ", ".join(who),
            "words": str(error).splitlines()[0],
        }
    secret = {item for item, declared in SmartOptions.__dataclass_fields__.items() if declared.metadata["secret"]}
    options = {key: "***" if key in secret else value for key, value in settings.options.items()}
    words = ", ".join(f"{key} {value}" for key, value in options.items())
    return row | {
        "options": options, "cost": cost, "latency": latency, "tenants": who, "words": words, "who": ", ".join(who),
    }  # fmt: skip


def _measured(settings: Settings, document: Document) -> tuple[str, str]:
    """Give what a thousand tokens cost and how long a document takes; of `smart` what it does itself."""
    more: dict[str, Any] = {}
    options, cost = dict(settings.options), "0"
    if settings.strategy == "smart":
        task = begin(document, "smart", settings.tokenizer, (), {**options, "cache_mb": 0}).task
        about = estimated(task)
        tokens = task.tokens.count(0, len(document.text))
        cost = "prices not known" if about.cost is None else f"{about.cost / max(tokens, 1) * 1000:.6f}"
        more = {"proposer": _every_tenth}
        options = {key: value for key, value in options.items() if key not in ASKING}
    times = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        chunk(document, settings.strategy, settings.tokenizer, **options, **more)
        times.append(time.perf_counter() - begun)
    own = f"{min(times) * 1000:.0f} ms"
    return cost, f"{own} + endpoint" if more else own


def _every_tenth(window: Window) -> list[int]:
    """Stand in for a model, so that what is measured costs nothing."""
    return list(range(1, len(window.lines) + 1, 10))


def run_cache(arguments: argparse.Namespace, options: Mapping[str, Any]) -> int:
    """Show what the cache of `smart` holds, or empty it."""
    from spanwise.proposals.cache import AnswerCache

    terms = with_environment(options_of(SmartOptions, options))
    cache = AnswerCache(terms.cache, max(terms.cache_mb, 1))
    if arguments.action == "clear":
        answers = cache.clear()
        for_people().line(f"{said(answers, 'answer')} forgotten")
        return 0
    status = cache.status()
    cache.close()
    if arguments.json:
        print_json(
            {"path": str(status.path), "answers": status.answers, "bytes": status.size, "most_mb": terms.cache_mb}
        )
        return 0
    screen = Screen(sys.stdout)
    rows = [("cache", str(status.path)), ("answers", f"{status.answers:,}"), ("size", f"{status.size / 1e6:.1f} MB")]
    for line in table([*rows, ("at most", f"{terms.cache_mb:,} MB")], width=screen.width):
        screen.line(shown(line))
    return 0


def dry_run(jobs: Sequence[Job], *, as_json: bool) -> list[Outcome]:
    """Say what `chunk` would send, and give the files that can't be read."""
    known: set[bytes] = set()
    total = Estimate(cost=0.0)
    failed: list[Outcome] = []

    def estimate(job: Job) -> Estimate:
        document, _ = document_of(job)
        settings = job.settings
        return estimated(begin(document, settings.strategy, settings.tokenizer, (), settings.options).task, known)

    asked = [job for job in jobs if is_smart(job)]
    for settings in {id(job.settings): job.settings for job in asked}.values():
        check_prices(options_of(SmartOptions, settings.options))
    for job in asked:
        found = guarded(job, estimate)
        if isinstance(found, Outcome):
            failed.append(found)
        else:
            total += found
    facts = {
        "documents": len(jobs), "asked_about": len(asked) - len(failed), "windows": total.windows,
        "cached": total.cached, "calls": total.calls, "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens, "cost": total.cost,
    }  # fmt: skip
    if as_json:
        print_json(facts)
        return failed
    screen = Screen(sys.stdout)
    rows = [(_NAMES[name], _word(value)) for name, value in facts.items()]
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


def _word(value: float | None) -> str:
    if value is None:
        return "not known (input_price and output_price)"
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}"


_NAMES: Final = {
    "documents": "documents", "asked_about": "for a model", "windows": "windows", "cached": "answers in the cache",
    "calls": "calls", "input_tokens": "tokens to send", "output_tokens": "tokens expected back", "cost": "cost",
}  # fmt: skip


def report_line(report: Report) -> str:
    """Sum up what was asked, in a line."""
    parts = [
        said(report.windows, "window"),
        said(report.calls, "call"),
        f"{report.cached:,} cached",
        f"{report.input_tokens:,} tokens sent",
        f"{report.output_tokens:,} back",
    ]
    if report.cost is not None:
        parts.append(f"cost {report.cost:.6f}")
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(report.reasons.items()))
    parts.append(f"{report.fallbacks:,} fell back to structure" + (f" ({reasons})" if reasons else ""))
    return "smart: " + ", ".join(parts)
