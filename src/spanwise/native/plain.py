"""The list of all functions that are compiled, here in Python; compiled.pyi takes its types from it."""

from spanwise.native.blocks import add_blocks as add_blocks
from spanwise.native.events import walk as walk
from spanwise.native.kept import kept_ranges as kept_ranges
from spanwise.native.parts import items as items
from spanwise.native.ranges import line_starts as line_starts
from spanwise.native.ranges import visible_range as visible_range
from spanwise.native.ranges import visible_ranges as visible_ranges
from spanwise.native.removed import without_hidden as without_hidden
from spanwise.native.seams import ended_at as ended_at
from spanwise.native.seams import ended_at_each as ended_at_each
from spanwise.native.seams import ended_at_edges as ended_at_edges
from spanwise.native.seams import exact_tokens as exact_tokens
from spanwise.native.seams import tokens_between as tokens_between
from spanwise.native.sections import plans_at_sight as plans_at_sight
from spanwise.native.settled import settled_alone as settled_alone
from spanwise.native.shown import collapsed as collapsed
from spanwise.native.shown import plain_words as plain_words
from spanwise.native.shown import words_of as words_of
from spanwise.native.texts import hints as hints
from spanwise.native.texts import is_text as is_text
from spanwise.native.texts import mark_hints as mark_hints
from spanwise.native.texts import misplaced as misplaced
from spanwise.native.tokens import token_ends as token_ends
