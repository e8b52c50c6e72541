"""A made-up corpus with questions, and a second, plain way to compute what an evaluation reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spanwise
from spanwise.text.tokens import tokenizer_of

ANIMALS = ("zebra", "otter", "heron", "lynx", "badger", "walrus", "ibis", "gecko", "puffin", "marten", "tapir", "quail")
PLACES = ("harbour", "mill", "orchard", "quarry", "chapel", "viaduct")


def corpus(folder: Path) -> dict[str, str]:
    """Write documents about animals in places, and return their texts by file."""
    texts = {}
    for number, place in enumerate(PLACES):
        lines = [f"# The {place}\n"]
        for animal in ANIMALS:
            lines.append(f"## The {animal}\n")
            lines.append(
                f"The {animal} of the {place} sleeps in hut {number + len(animal)}. Nobody may wake it before noon. "
                f"Its keeper brings {animal} food in a {place} basket. The basket is returned on Friday.\n"
            )
        texts[f"{place}.md"] = "\n".join(lines)
        (folder / f"{place}.md").write_text(texts[f"{place}.md"], "utf-8")
    return texts


def questions(texts: dict[str, str]) -> list[dict[str, Any]]:
    """Return a question on every animal of every document, with ranges."""
    found = []
    for name, text in texts.items():
        for animal in ANIMALS:
            start = text.index(f"Its keeper brings {animal} food")
            end = text.index("on Friday.", start) + len("on Friday.")
            question = f"who feeds the {animal} in the {name.removesuffix('.md')}?"
            found.append({"question": question, "document": name, "ranges": [[start, end]]})
    return found


def plain_scores(
    store: spanwise.Store, asked: Sequence[dict[str, Any]], option: str, value: int, unit: str
) -> list[tuple[float, float, float, int]]:
    """Return recall, precision, IoU and tokens of each question, by sets of characters."""
    with store.reading("") as reader:
        ids = {Path(str(one.file_path)).name: one.document_id for one in reader.documents()}
    count = tokenizer_of("cl100k").count
    scores = []
    for one in asked:
        options: Any = {option: value, "unit": unit, "embedder": None}
        hits = spanwise.search(one["question"], store, **options)
        returned = {(hit.document_id, at) for hit in hits for start, end in hit.ranges for at in range(start, end)}
        wanted = {(ids[one["document"]], at) for start, end in one["ranges"] for at in range(start, end)}
        right = len(returned & wanted)
        tokens = sum(count(hit.answer) for hit in hits)
        scores.append(
            (right / len(wanted), right / len(returned) if returned else 0.0, right / len(returned | wanted), tokens)
        )
    return scores


def plain_ranks(store: spanwise.Store, asked: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Return the reciprocal rank and nDCG of each question's document among those of ten passages."""
    found = []
    for one in asked:
        seen: list[str] = []
        for hit in spanwise.search(one["question"], store, embedder=None, limit=10):
            name = Path(str(hit.file_path)).name
            seen += [] if name in seen else [name]
        rank = seen.index(one["document"]) + 1 if one["document"] in seen else 0
        found.append((1 / rank, 1 / math.log2(rank + 1)) if rank else (0.0, 0.0))
    return found
