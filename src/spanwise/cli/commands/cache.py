"""`spanwise cache`: what the cache of `smart` holds, or emptying it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from spanwise.chunking.proposers.answer_cache import AnswerCache
from spanwise.chunking.proposers.endpoint_settings import with_environment
from spanwise.chunking.strategies.smart import SmartOptions
from spanwise.cli.inputs import config_of
from spanwise.cli.terminal import Screen, counted, for_people, print_json, printable, table
from spanwise.options import options_of
from spanwise.pipeline.settings import Layer, in_force


def run(arguments: argparse.Namespace) -> int:
    """Show what the cache that `chunk` would use here holds, or empty it."""
    given = in_force([*config_of(arguments).layers(None), Layer("spanwise cache", {"strategy": "smart"})])
    options: dict[str, Any] = {name: given[name].value for name in ("cache", "cache_mb") if name in given}
    if arguments.cache is not None:
        options["cache"] = arguments.cache
    terms = with_environment(options_of(SmartOptions, options))
    cache = AnswerCache(terms.cache, max(terms.cache_mb, 1))
    if arguments.action == "clear":
        answers = cache.clear()
        for_people().line(f"{counted(answers, 'answer')} forgotten")
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
        screen.line(printable(line))
    return 0
