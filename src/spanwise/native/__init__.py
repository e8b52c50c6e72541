"""The innermost loops: compiled where a C compiler was at hand when the package was installed, else in Python."""

from __future__ import annotations

from spanwise.native.plain import FoundLink, Range, is_only_comments

try:
    from spanwise.native.compiled import add_blocks, items, token_ends, walk
except ImportError:
    from spanwise.native.plain import add_blocks, items, token_ends, walk

__all__ = ["FoundLink", "Range", "add_blocks", "is_only_comments", "items", "token_ends", "walk"]
