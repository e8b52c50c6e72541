"""The compiled functions keep no memory and no reference, whether they return or fail."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

import pyromark
import pytest

from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.documents.document import Block, Part
from spanwise.native import compiled
from spanwise.native.sections import SectionSizes
from spanwise.native.settled import Rules
from spanwise.readers.builder import Builder
from spanwise.readers.markdown.reader import KINDS, SHAPES

BAD: Any = [("a", "b")]
TABLES = pyromark.Options.ENABLE_TABLES


def leaking_calls() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return a good and a bad call of every function."""
    ends, text = array("i", [1, 5, 9]), "# A ż\n\n- one\n- two `c`\n\n[a](b) <b>\n\n| a |\n|---|\n| b |\n"
    block, plan = Block("paragraph", 0, 9), PlannedCore(0, 9, 0, 0, False)
    sizes, places = SectionSizes(9, 5, 2, 1, False, True), array("q", [1])
    shown = "ab cd ef", ends, places, array("q", [2]), places
    rules = Rules(frozenset({"code"}), frozenset({"comment"}), 99, [("a\n", 1)], shown)
    kept = array("q", [0, 2, 4, ~9, 5, 6]).tobytes()

    def walked(*more: Any) -> Any:
        events = pyromark.events_with_range(text, options=TABLES)
        return compiled.walk(text, [*events, *more], KINDS, SHAPES, True, True, True, True)

    def keeping(*more: Any) -> Any:
        source = "1. a &amp; `b` <b>&lt;</b> <br> <!-- c -->\n\n| a | `\\|` |\n|---|---|\n"
        return compiled.kept_ranges(source, [*pyromark.events_with_range(source, options=TABLES), *more])

    good: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "add_blocks": (lambda found: compiled.add_blocks(Builder(text), found, Block, 9), ([*walked()[0]],)),
        "collapsed": (compiled.collapsed, (text, 9)),
        "ended_at": (compiled.ended_at, (ends, 9)),
        "ended_at_each": (compiled.ended_at_each, (ends, [1, 9])),
        "ended_at_edges": (compiled.ended_at_edges, (ends, [(1, 9)])),
        "exact_tokens": (compiled.exact_tokens, (text, ends, {"żx": 1}, 0, 9, "\n")),
        "hints": (compiled.hints, (text,)),
        "is_text": (compiled.is_text, (text,)),
        "items": (compiled.items, (text, [(0, 40), (4, 9), *[(10, 12)] * 40], Part)),
        "kept_ranges": (keeping, ()),
        "line_starts": (compiled.line_starts, (text, 0, 40)),
        "mark_hints": (compiled.mark_hints, (text,)),
        "misplaced": (compiled.misplaced, (text, (block,))),
        "plain_words": (compiled.plain_words, ("ab `c` [d](e)", 5)),
        "plans_at_sight": (compiled.plans_at_sight, ((block,) * 9, 0, 9, ends, sizes, {(): ("a\n", 1)}, PlannedCore)),
        "settled_alone": (compiled.settled_alone, ("ab cd ef gh", ends, {}, (block,), [plan], rules, SettledChunk)),
        "token_ends": (compiled.token_ends, (bytes(8), array("B", [1]), 300)),
        "tokens_between": (compiled.tokens_between, (ends, 1, 9)),
        "visible_range": (compiled.visible_range, (text, 1, 400)),
        "visible_ranges": (compiled.visible_ranges, (text, [5, 300], 0, 400)),
        "walk": (walked, ()),
        "without_hidden": (compiled.without_hidden, (text, kept, [(0, 2, "ż")], [(1, 2, 7, 8)])),
        "words_of": (compiled.words_of, ([{"Text": text}, "SoftBreak", {"Start": "Item"}], 30, True)),
    }
    bad: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        f"{name} of nothing": (call, (*given[:-1], None))
        for name, (call, given) in good.items()
        if given and name != "words_of"
    }
    bad["add_blocks of a bad one"] = (good["add_blocks"][0], ([*walked()[0], (1,)],))
    bad["ended_at_each of a bad one"] = (compiled.ended_at_each, (ends, [300, 301, "x"]))
    bad["ended_at_edges of a bad one"] = (compiled.ended_at_edges, (ends, [(300, 301), "x"]))
    bad["items of a bad one"] = (compiled.items, (text, [(0, 9), (4, "x")], Part))
    bad["plans_at_sight of a bad one"] = (
        compiled.plans_at_sight,
        ((*[block] * 9, ("rule", 9, 9), ("code", 1, "x")), 0, 11, ends, sizes, None, PlannedCore),
    )
    bad["settled_alone of a bad one"] = (
        compiled.settled_alone,
        ("ab cd ef gh", ends, {}, (block,), [plan, (1,)], rules, SettledChunk),
    )
    bad["settled_alone of a bad prefix"] = (
        compiled.settled_alone,
        ("ab cd ef gh", ends, {}, (block,), [plan], rules._replace(prefixes=BAD), SettledChunk),
    )
    bad["settled_alone of bad places"] = (
        compiled.settled_alone,
        ("ab cd ef gh", ends, {}, (block,), [plan], rules._replace(shown=(*shown[:4], ends)), SettledChunk),
    )
    bad["without_hidden of a bad change"] = (compiled.without_hidden, (text, kept, [(0, 2, "ż"), (0, 1, 2)], []))
    bad["kept_ranges of a bad one"] = (keeping, (({"Text": 7}, {"start": 1, "end": 7}),))
    bad["visible_ranges of a bad one"] = (compiled.visible_ranges, (text, [300, "x"], 0, 400))
    bad["token_ends of a bad one"] = (compiled.token_ends, (b"\xff" * 8, array("B", [1]), 300))
    bad["walk of a bad one"] = (walked, (({"Start": {"Link": {}}}, {"start": 1, "end": 7}),))
    bad["walk of a bad end"] = (walked, (7,))
    bad["words_of a bad one"] = (compiled.words_of, ([{"Text": text}, {"Text": 7}], 300, True))
    return good | bad


LEAKING = leaking_calls()


@pytest.mark.parametrize("name", LEAKING)
def test_no_memory_is_lost(name: str) -> None:
    call, given = LEAKING[name]

    def repeat(times: int) -> None:
        for _ in range(times):
            try:
                call(*given)
            except (TypeError, ValueError, IndexError):
                failures.append(1)
                del failures[1:]

    failures: list[int] = []
    repeat(100)
    if " " in name:
        assert failures, "a bad call must fail"
    else:
        assert not failures
    blocks, references = sys.getallocatedblocks(), [sys.getrefcount(value) for value in given]
    repeat(2000)
    assert [sys.getrefcount(value) for value in given] == references
    assert sys.getallocatedblocks() - blocks < 500
