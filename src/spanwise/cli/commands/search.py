"""`spanwise search`: passages for people, with the words of the query marked, or as JSON."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from spanwise.cli.inputs import config_of, piped_bytes
from spanwise.cli.passage_view import show_hit
from spanwise.cli.terminal import Screen, counted, one_line, print_json, stderr_screen
from spanwise.pipeline.settings import Config, in_force, settings_of
from spanwise.retrieval.hits import Hits
from spanwise.retrieval.query import MOST_CHARACTERS
from spanwise.retrieval.reranked import RERANK_SETTINGS
from spanwise.retrieval.search import search
from spanwise.retrieval.weights import Weights, weights_of


def run(arguments: argparse.Namespace) -> None:
    """Search, and show what was found."""
    config = config_of(arguments, any_tenant=True)
    settings = config.search or {}
    weights = weights_of({name: value for name, value in settings.items() if name not in RERANK_SETTINGS})
    query = arguments.query
    if query == "-":
        query = piped_bytes(8 * MOST_CHARACTERS).decode("utf-8", "replace")
    options = _options(arguments, config, weights)
    if arguments.dialect is not None:
        print_json({"hits": search(query, arguments.store, arguments.tenant, dialect=arguments.dialect, **options)})
        return
    hits = search(query, arguments.store, arguments.tenant, **options)
    if arguments.json:
        print_json({"hits": [hit.to_dict() for hit in hits]})
    else:
        screen = Screen(sys.stdout)
        for rank, hit in enumerate(hits, 1):
            show_hit(screen, rank, hit, weights if arguments.explain else None, full=arguments.full)
            screen.line()
    _sum_up(hits, quiet=arguments.quiet or arguments.json)


def _options(arguments: argparse.Namespace, config: Config, weights: Weights) -> Any:
    names = ("limit", "budget", "unit", "answer", "parents", "labels", "space", "path", "since", "until", "type")
    tokenizer = arguments.tokenizer or settings_of(in_force(config.layers(None))).tokenizer
    chosen = {"weights": weights, "tokenizer": tokenizer, "embedder": "auto" if arguments.vectors else None}
    reranking = {name: value for name, value in (config.search or {}).items() if name in RERANK_SETTINGS}
    if arguments.reranker is not None:
        reranking["reranker"] = arguments.reranker
    return {name: getattr(arguments, name) for name in names} | chosen | reranking


def _sum_up(hits: Hits, *, quiet: bool) -> None:
    screen = stderr_screen()
    for note in hits.notes:
        screen.labelled("note", one_line(note))
    if quiet:
        return
    documents = len({hit.document_id for hit in hits})
    kind = "answer" if any(hit.explain.sentence for hit in hits) else "passage"
    found = f"{counted(len(hits), kind)} from {counted(documents, 'document')}" if hits else "no passage found"
    cut = ", the last one cut to fit the budget" if any(hit.truncated for hit in hits) else ""
    screen.line(screen.painted(found, "strong") + cut)
