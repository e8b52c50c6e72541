"""`spanwise plans`: the service plans, what they cost and how long they take."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Final

from spanwise.chunking.line_window import Window
from spanwise.chunking.proposers import estimated
from spanwise.chunking.strategies.smart import ENDPOINT_OPTIONS, SmartOptions
from spanwise.cli.inputs import config_of
from spanwise.cli.terminal import Screen, one_line, print_json
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.pipeline.chunk import chunk, prepare
from spanwise.pipeline.settings import Config, Settings, in_force, plan_layer, plans_of, settings_of
from spanwise.readers import read

_SAMPLE: Final = Path(__file__).parent.parent / "demo" / "documents" / "handbook.en.md"
_USES: Final = {
    "fixed": "simple documents, even sizes",
    "smart": "complex documents, whole topics",
    "hierarchical": "long documents, parents and children",
}
_TIMES: Final = 3  # the best of so many is the latency


def run(arguments: argparse.Namespace) -> None:
    """Show every plan with its strategy, options, cost and latency, and who has it."""
    config, document = config_of(arguments), read(arguments.sample or _SAMPLE)
    rows = [_plan(config, name, document) for name in plans_of(config)]
    if arguments.json:
        print_json(rows)
        return
    screen = Screen(sys.stdout)
    head = ("plan", "strategy", "cost of 1K tokens", "latency", "use", "tenants", "options")
    names = ("plan", "strategy", "cost", "latency", "use", "who", "words")
    screen.table([head, *(tuple(one_line(row[name]) for name in names) for row in rows)], wrapped=True)
    name = one_line(arguments.sample) if arguments.sample else "the English handbook of the demo"
    screen.line(f"\nlatency: of {name}, measured now; nobody was asked, an endpoint takes its own time", "dim")


def _plan(config: Config, name: str, document: Document) -> dict[str, Any]:
    """Return what is shown of a plan; if its strategy can't be used, the reason is among it."""
    layer = plan_layer(config, name)
    who = [tenant for tenant, plan in config.tenants.items() if plan == name]
    row = {"plan": name, "strategy": layer.values["strategy"], "use": _USES.get(layer.values["strategy"], "")}
    tenants = ", ".join(who)
    try:
        settings = settings_of(in_force([*Config(config.path, config.general).layers(None), layer]))
        cost, latency = _measured(settings, document)
    except SpanwiseError as error:
        message = str(error).splitlines()[0]
        return row | {"cost": "", "latency": "", "tenants": who, "who": tenants, "words": message}
    secret = {item for item, declared in SmartOptions.__dataclass_fields__.items() if declared.metadata["secret"]}
    options = {key: "***" if key in secret else value for key, value in settings.options.items()}
    listed = ", ".join(f"{key} {value}" for key, value in options.items())
    measured = {"options": options, "cost": cost, "latency": latency}
    return row | measured | {"tenants": who, "words": listed, "who": tenants}


def _measured(settings: Settings, document: Document) -> tuple[str, str]:
    """Return what a thousand tokens cost and how long a document takes; of `smart` without the model's time."""
    more: dict[str, Any] = {}
    options, cost = dict(settings.options), "0"
    if settings.strategy == "smart":
        task = prepare(document, "smart", settings.tokenizer, {**options, "cache_mb": 0}).task
        price, tokens = estimated(task).cost, task.tokens.count(0, len(document.text))
        cost = "prices not known" if price is None else f"{price / max(tokens, 1) * 1000:.6f}"
        more = {"proposer": _every_tenth}
        options = {key: value for key, value in options.items() if key not in ENDPOINT_OPTIONS}
    times = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        chunk(document, settings.strategy, settings.tokenizer, **options, **more)
        times.append(time.perf_counter() - begun)
    own = f"{min(times) * 1000:.0f} ms"
    return cost, f"{own} + endpoint" if more else own


def _every_tenth(window: Window) -> list[int]:
    """Answer in place of a model, so that measuring costs nothing."""
    return list(range(1, len(window.lines) + 1, 10))
