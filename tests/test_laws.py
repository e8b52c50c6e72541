"""The laws for every strategy and every tokenizer, on generated and on hostile text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from proposing import offline
from spanwise.chunking.strategies import STRATEGIES
from spanwise.options import EMBEDS, TEMPLATES
from spanwise.readers import FORMATS
from spanwise.testing.hostile_texts import HOSTILE
from spanwise.testing.laws import broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import TOKENIZERS, tokenizer_of
from specifications import specification

PAIRS = [
    *((strategy, "cl100k") for strategy in STRATEGIES),
    *(("structure", tokenizer) for tokenizer in (*TOKENIZERS, "tokenizer.json") if tokenizer != "cl100k"),
]
"""Every strategy and every tokenizer, but not every pair: strategies use tokenizers only through the token map."""
ANY_TEXT = sorted({*FORMATS} - {"json", "jsonl"})
"""The formats that any text is one of."""
SIZES = (16, 17, 23, 40, 100, 300, 900, 1_000_000)


def checked(text: str, format: str, strategy: Any, tokenizer: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Chunk a text, assert that no law is broken, and return the records."""
    document = spanwise.read_text(text, format)
    chunks = spanwise.chunk(document, strategy, tokenizer, **offline(strategy), **options)
    records = [chunk.to_dict() for chunk in chunks]
    limits = options.get("max_tokens"), options.get("parent_tokens")
    assert broken_laws(document, records, tokenizer_of(tokenizer), *limits) == []
    return records


@st.composite
def options_for(draw: st.DrawFn, strategy: str) -> dict[str, Any]:
    """Return a strategy for options, with sizes from the smallest to larger than any text here."""
    options: dict[str, Any] = {"template": draw(st.sampled_from(TEMPLATES)), "embed": draw(st.sampled_from(EMBEDS))}
    if strategy in {"simple", "sentence"}:
        options["max_chars"] = draw(st.sampled_from((1, 7, 100, 1000)))
    if strategy != "simple" or draw(st.booleans()):
        options["max_tokens"] = draw(st.sampled_from(SIZES))
    if strategy in {"structure", "hierarchical", "smart"}:
        options["mix_code"] = draw(st.booleans())
    if strategy == "hierarchical":
        options["overlap_tokens"] = draw(st.sampled_from((0, 3, 8)))
        options["parent_tokens"] = options["max_tokens"] * draw(st.sampled_from((1, 2, 5)))
    if strategy == "smart":
        options["window_tokens"] = draw(st.sampled_from((200, 2000)))
    if strategy == "blocks":
        options["overlap_tokens"] = draw(st.sampled_from((0, 3, 8)))
        options["include_page_tag"] = draw(st.booleans())
        if draw(st.booleans()):  # small cores with much overlap
            options["core_tokens"] = draw(st.sampled_from((16, min(options["max_tokens"], 23))))
            options["overlap_next_tokens"] = draw(st.sampled_from((None, 0, 5, 8)))
    if strategy in {"fixed", "sentence"}:
        options["overlap_ratio"] = draw(st.sampled_from((0.0, 0.12, 0.5)))
    return options


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "tokenizer"), PAIRS)
def test_laws_on_made_markdown(strategy: str, tokenizer: str, word_piece: str) -> None:
    name = word_piece if tokenizer == "tokenizer.json" else tokenizer

    @given(markdown(), st.sampled_from(ANY_TEXT), options_for(strategy))
    @settings(max_examples=60)
    def hold(text: str, format: str, options: dict[str, Any]) -> None:
        checked(text, format, strategy, name, options)

    hold()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_laws_on_any_characters(strategy: str) -> None:
    @given(st.text(max_size=400), st.sampled_from(ANY_TEXT), options_for(strategy))
    @settings(max_examples=150)
    def hold(text: str, format: str, options: dict[str, Any]) -> None:
        checked(text, format, strategy, "cl100k", options)

    hold()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_laws_on_the_specifications(name: str, strategy: str) -> None:
    examples = [example for found in specification(name).values() for example in found]
    for example in examples:
        checked(example, "markdown", strategy, "cl100k", {"max_tokens": 16})
    checked("\n\n".join(examples), "markdown", strategy, "cl100k", {"max_tokens": 100})


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "tokenizer"), PAIRS)
@pytest.mark.parametrize("name", HOSTILE)
def test_laws_on_hostile_text(name: str, strategy: str, tokenizer: str, word_piece: str) -> None:
    size = word_piece if tokenizer == "tokenizer.json" else tokenizer
    for max_tokens, template, embed in ((16, "plain", "source"), (64, "tags", "plain"), (900, "path", "plain")):
        options = {"max_tokens": max_tokens, "template": template, "embed": embed}
        checked(HOSTILE[name](3000), "markdown", strategy, size, options)


NOT_COUNTED = {"spaces", "newlines", "nested list", "huge heading", "definitions", "one figure"}
"""Texts that cost the same lines at any size, or have a size of their own: for these there are the megabytes below."""


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in NOT_COUNTED])
def test_work_grows_with_the_text(name: str, strategy: Any) -> None:
    options: dict[str, Any] = {"max_tokens": 24, **({"parent_tokens": 96} if strategy == "hierarchical" else {})}

    def work(size: int) -> None:
        document = spanwise.read_text(HOSTILE[name](size))
        for chunk in spanwise.chunk(document, strategy, **offline(strategy), **options):
            chunk.to_dict()

    # `fixed` divides a document of few rules at once, without trying divisions
    assert_linear(work, 5_000 if (name, strategy) == ("rules", "fixed") else 2_500)


MEGABYTES = [
    *((name, "structure") for name in HOSTILE),
    *((name, strategy) for name in ("no space", "short sentences", "items", "rows", "headings") for strategy in
      STRATEGIES if strategy != "structure"),
]  # fmt: skip
"""Line counts don't cover work inside C: at a megabyte, quadratic work there takes minutes."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "strategy"), MEGABYTES)
@pytest.mark.timeout(60)
def test_a_megabyte_of_hostile_text(name: str, strategy: str) -> None:
    checked(HOSTILE[name](1_000_000), "markdown", strategy, "cl100k", {"max_tokens": 750})


@pytest.mark.slow
@pytest.mark.parametrize("template", ["tags", "breadcrumb", "path"])
@pytest.mark.parametrize("name", ["huge title", "huge heading", "headings"])
@pytest.mark.timeout(60)
def test_a_megabyte_under_a_template(name: str, template: str) -> None:
    checked(HOSTILE[name](1_000_000), "markdown", "structure", "cl100k", {"max_tokens": 64, "template": template})


@pytest.mark.process
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_bytes_in_another_process(strategy: Any) -> None:
    program = (
        "import json, sys, spanwise\n"
        "from proposing import offline\n"
        "document = spanwise.read_text(sys.stdin.read())\n"
        f"chunks = spanwise.chunk(document, {strategy!r}, **offline({strategy!r}))\n"
        "records = [chunk.to_dict() for chunk in chunks]\n"
        "sys.stdout.write(json.dumps(records))\n"
    )
    text = "# A\n\nOne. Two.\n\n- a\n- b\n\n| x |\n|---|\n| 1 |\n\n```\ncode\n```\n" * 40
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        ).stdout
        for seed in ("1", "2")
    }
    chunks = spanwise.chunk(spanwise.read_text(text), strategy, **offline(strategy))
    assert outputs == {json.dumps([chunk.to_dict() for chunk in chunks])}


def test_an_empty_head_is_one_leaf_with_the_first_row() -> None:
    text = "| | |\n|---|---|\n| a | b |\n| c | d |\n\n<figure>one</figure>\n"
    for size in (16, 40, 900):
        checked(text, "markdown", "blocks", "cl100k", {"max_tokens": size})
