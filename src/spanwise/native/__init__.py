"""The innermost loops: compiled where a C compiler was at hand when the package was installed, else in Python."""

from __future__ import annotations

from spanwise.native.plain import FoundLink, Range, is_only_comments

try:
    from spanwise.native.compiled import (
        add_blocks,
        ended_at_each,
        exact_tokens,
        hints,
        is_text,
        items,
        misplaced,
        token_ends,
        tokens_between,
        walk,
    )
except ImportError:
    from spanwise.native.plain import (
        add_blocks,
        ended_at_each,
        exact_tokens,
        hints,
        is_text,
        items,
        misplaced,
        token_ends,
        tokens_between,
        walk,
    )

__all__ = [
    "FoundLink",
    "Range",
    "add_blocks",
    "ended_at_each",
    "exact_tokens",
    "hints",
    "is_only_comments",
    "is_text",
    "items",
    "misplaced",
    "token_ends",
    "tokens_between",
    "walk",
]
