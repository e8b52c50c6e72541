"""`spanwise diff`: which chunks must be embedded, which deleted, before an index is touched."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Final

from spanwise.cli.terminal import Screen, counted, fitted, one_line, print_json_lines
from spanwise.records.diff import ChunkChange, changes_between, kept_chunks

_SIGNS: Final = {"added": ("+", "good"), "removed": ("-", "error"), "moved": (">", "head"), "kept": ("=", "")}


def run(arguments: argparse.Namespace) -> None:
    """Compare two files of chunks by the text of the chunks."""
    found = changes_between(kept_chunks(arguments.old), kept_chunks(arguments.new))
    changes = [change._replace(text=fitted(change.text, 80)) for change in found]
    summary = Counter(change.change for change in changes)
    counts = {name: summary[name] for name in _SIGNS} | {"to_embed": sum(change.embed for change in changes)}
    if arguments.json:
        records = (change._asdict() for change in changes if change.change != "kept" or change.embed)
        print_json_lines((*records, {"summary": counts}))
    else:
        _show(Screen(sys.stdout), changes, counts)


def _show(screen: Screen, changes: list[ChunkChange], counts: dict[str, int]) -> None:
    document = None
    for change in sorted(changes, key=lambda change: change.document):  # stable: in a document as they come
        if change.change == "kept":
            continue
        if change.document != document:
            document = change.document
            screen.line(one_line(document), "strong")
        sign, colour = _SIGNS[change.change]
        level = "parent " if change.parent else ""
        line = f"  {sign} #{change.chunk_index:<4} {level}{change.headings_path}: {change.text}"
        screen.line(fitted(one_line(line), screen.width), colour)
    numbers = ", ".join(f"{counts[name]:,} {name}" for name in _SIGNS)
    parents = sum(change.embed and change.parent for change in changes)
    note = f" ({counted(parents, 'parent')} among them)" if parents else ""
    screen.line(f"{numbers}; {counted(counts['to_embed'], 'chunk')} to embed{note}")
