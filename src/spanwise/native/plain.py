"""The twins in Python of all that is compiled; a test holds them equal."""

from spanwise.native.blocks import add_blocks
from spanwise.native.events import walk
from spanwise.native.parts import items
from spanwise.native.ranges import line_starts, visible_range, visible_ranges
from spanwise.native.seams import ended_at, ended_at_each, ended_at_edges, exact_tokens, tokens_between
from spanwise.native.sections import plans_at_sight
from spanwise.native.settled import settled_alone
from spanwise.native.shown import collapsed, plain_words, words_of
from spanwise.native.texts import hints, is_text, misplaced
from spanwise.native.tokens import token_ends

__all__ = [
    "add_blocks",
    "collapsed",
    "ended_at",
    "ended_at_each",
    "ended_at_edges",
    "exact_tokens",
    "hints",
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
