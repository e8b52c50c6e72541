"""`spanwise cache`: what the cache of `smart` holds, or emptying it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from spanwise.chunking.proposers.answer_cache import AnswerCache
from spanwise.chunking.proposers.endpoint_settings import with_environment
from spanwise.chunking.strategies.smart import SmartOptions
from spanwise.cli.inputs import config_of
from spanwise.cli.terminal import Screen, counted, one_line, print_json, stderr_screen
from spanwise.options import options_of
from spanwise.pipeline.settings import Layer, in_force


def run(arguments: argparse.Namespace) -> None:
    """Show what the cache that `chunk` would use here holds, or empty it."""
    given = in_force([*config_of(arguments).layers(None), Layer("spanwise cache", {"strategy": "smart"})])
    values: dict[str, Any] = {name: given[name].value for name in ("cache", "cache_mb") if name in given}
    if arguments.cache is not None:
        values["cache"] = arguments.cache
    options = with_environment(options_of(SmartOptions, values))
    cache = AnswerCache(options.cache, max(options.cache_mb, 1))
    if arguments.action == "clear":
        stderr_screen().line(f"{counted(cache.clear(), 'answer')} forgotten")
        return
    path, answers, size = cache.status()
    cache.close()
    if arguments.json:
        print_json({"path": str(path), "answers": answers, "bytes": size, "most_mb": options.cache_mb})
    else:
        Screen(sys.stdout).table([
            ("cache", one_line(str(path))), ("answers", f"{answers:,}"), ("size", f"{size / 1e6:.1f} MB"),
            ("at most", f"{options.cache_mb:,} MB"),
        ])  # fmt: skip
