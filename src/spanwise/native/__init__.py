"""The innermost loops: compiled where a C compiler was at hand when the package was installed, else in Python."""

from __future__ import annotations

try:
    from spanwise.native.compiled import ended_at_each, exact_tokens, token_ends, tokens_between
except ImportError:
    from spanwise.native.plain import ended_at_each, exact_tokens, token_ends, tokens_between

__all__ = ["ended_at_each", "exact_tokens", "token_ends", "tokens_between"]
