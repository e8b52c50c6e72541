"""The innermost loops: compiled where a C compiler was at hand when the package was installed, else in Python.

Every C file has its twin in Python of the same name, which says what it does.
"""

from __future__ import annotations

from spanwise.native.events import FoundLink, is_only_comments
from spanwise.native.parts import Range
from spanwise.native.seams import NEAR, NEARBY, SEAM
from spanwise.native.shown import EDGE

try:
    from spanwise.native.compiled import (
        add_blocks,
        collapsed,
        ended_at,
        ended_at_each,
        ended_at_edges,
        exact_tokens,
        hints,
        is_text,
        items,
        line_starts,
        misplaced,
        plain_words,
        plans_at_sight,
        settled_alone,
        token_ends,
        tokens_between,
        visible_range,
        visible_ranges,
        walk,
        words_of,
    )
except ImportError:
    from spanwise.native.plain import (
        add_blocks,
        collapsed,
        ended_at,
        ended_at_each,
        ended_at_edges,
        exact_tokens,
        hints,
        is_text,
        items,
        line_starts,
        misplaced,
        plain_words,
        plans_at_sight,
        settled_alone,
        token_ends,
        tokens_between,
        visible_range,
        visible_ranges,
        walk,
        words_of,
    )

__all__ = [
    "EDGE",
    "NEAR",
    "NEARBY",
    "SEAM",
    "FoundLink",
    "Range",
    "add_blocks",
    "collapsed",
    "ended_at",
    "ended_at_each",
    "ended_at_edges",
    "exact_tokens",
    "hints",
    "is_only_comments",
    "is_text",
    "items",
    "line_starts",
    "misplaced",
    "plain_words",
    "plans_at_sight",
    "settled_alone",
    "token_ends",
    "tokens_between",
    "visible_range",
    "visible_ranges",
    "walk",
    "words_of",
]
