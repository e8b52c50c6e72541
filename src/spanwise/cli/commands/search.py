"""`spanwise search`: passages for people or as JSON, with the words of the question marked."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from spanwise.cli.inputs import config_of
from spanwise.cli.passage_view import show_hit
from spanwise.cli.terminal import Screen, counted, for_people, one_line, print_json
from spanwise.errors import UnreadableError
from spanwise.pipeline.settings import Config, in_force, settings_of
from spanwise.retrieval.hits import Hits
from spanwise.retrieval.query import MOST_CHARACTERS
from spanwise.retrieval.search import search
from spanwise.retrieval.weights import Weights, weights_of


def run(arguments: argparse.Namespace) -> int:
    """Search, and show what was found."""
    config = config_of(arguments, any_tenant=True)
    weights = weights_of(config.search)
    hits = search(_question(arguments.query), arguments.store, arguments.tenant, **_wishes(arguments, config, weights))
    if arguments.json:
        print_json({"hits": [hit.to_dict() for hit in hits]})
    else:
        show_hits(Screen(sys.stdout), hits, weights if arguments.explain else None, full=arguments.full)
    _tell(hits, quiet=arguments.quiet or arguments.json)
    return 0


def show_hits(screen: Screen, hits: Hits, weights: Weights | None = None, *, full: bool = False) -> None:
    """Show every hit; with weights, the parts of its score as well."""
    for rank, hit in enumerate(hits, 1):
        show_hit(screen, rank, hit, weights, full=full)
        screen.line()


def _question(words: str) -> str:
    if words != "-":
        return words
    if sys.stdin is None:
        raise UnreadableError("-", "can't be read: stdin is closed")
    return sys.stdin.buffer.read(8 * MOST_CHARACTERS).decode("utf-8", "replace")


def _wishes(arguments: argparse.Namespace, config: Config, weights: Weights) -> Any:
    names = ("limit", "budget", "parents", "labels", "space", "path", "since", "until", "type")
    tokenizer = arguments.tokenizer or settings_of(in_force(config.layers(None))).tokenizer
    chosen = {"weights": weights, "tokenizer": tokenizer, "embedder": "auto" if arguments.vectors else None}
    return {name: getattr(arguments, name) for name in names} | chosen


def _tell(hits: Hits, *, quiet: bool) -> None:
    screen = for_people()
    for note in hits.notes:
        screen.line(f"{screen.painted('note:', 'head')} {one_line(note)}")
    if quiet:
        return
    documents = len({hit.document_id for hit in hits})
    found = f"{counted(len(hits), 'passage')} from {counted(documents, 'document')}" if hits else "no passage found"
    cut = sum(hit.truncated for hit in hits)
    screen.line(screen.painted(found, "strong") + (", the last one cut to fit the budget" if cut else ""))
