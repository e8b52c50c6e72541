"""The words of a text as they are looked up: one analyser for every store, so that all of them find the same.

    text ─ normalized ─ TOKEN ─┬─ a run of Chinese, Japanese …: its characters and pairs of neighbours
                               └─ words, parts and wholes ─ folded ─ dictionary form ─ stem

A document is analysed in its own language. A query's language isn't known, so a word of a query stands for all terms
that it would have in any of the languages whose script it is written in.
"""

from __future__ import annotations

from typing import Final

from spanwise.analysis.lemmas import is_ready, prepare
from spanwise.analysis.querying import QueryWord, query_words
from spanwise.analysis.words import matches, terms_of

__all__ = ["ANALYSER", "QueryWord", "is_ready", "matches", "prepare", "query_words", "terms_of"]

ANALYSER: Final = "1"
"""Goes up when the same text gives other terms: what was indexed under another one is indexed anew."""
