"""Search terms: one analyser for every store, so that all of them find the same.

    text ─ normalized ─ TOKEN ─┬─ a run of Chinese, Japanese …: its characters and pairs of neighbours
                               └─ words, parts and wholes ─ folded ─ dictionary form ─ stem

A document is analysed in its own language. A query's language isn't known, so a word of a query matches all terms
that it would have in any of the languages whose script it is written in.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from spanwise.errors import MissingExtraError
from spanwise.text.terms.document_terms import document_terms, matches, term_positions
from spanwise.text.terms.lemmas import is_ready, prepare
from spanwise.text.terms.query_terms import QueryWord, query_words

__all__ = [
    "ANALYSER",
    "QueryWord",
    "check_installed",
    "document_terms",
    "is_ready",
    "matches",
    "prepare",
    "query_words",
    "term_positions",
]

ANALYSER: Final = "1"
"""Version of the analyser, raised when the same text gives other terms: older entries are then indexed again."""


def check_installed() -> None:
    """Raise MissingExtraError if terms can't be made, so that it is known before any work."""
    for module, package in (("Stemmer", "PyStemmer"), ("simplemma", "simplemma")):
        if find_spec(module) is None:
            hint = 'pip install "spanwise[search]"'
            raise MissingExtraError(package, "is needed for indexing and searching", hint=hint)
