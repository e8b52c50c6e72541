"""The twins in Python of all that is compiled; a test holds them equal."""

from spanwise.native.blocks import add_blocks
from spanwise.native.events import walk
from spanwise.native.parts import items
from spanwise.native.seams import ended_at_each, exact_tokens, tokens_between
from spanwise.native.shown import collapsed, plain_words, words_of
from spanwise.native.tags import without_tags
from spanwise.native.texts import hints, is_text, misplaced
from spanwise.native.tokens import token_ends

__all__ = [
    "add_blocks",
    "collapsed",
    "ended_at_each",
    "exact_tokens",
    "hints",
    "is_text",
    "items",
    "misplaced",
    "plain_words",
    "token_ends",
    "tokens_between",
    "walk",
    "without_tags",
    "words_of",
]
