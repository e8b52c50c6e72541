"""The innermost loops: compiled where a C compiler was at hand when the package was installed, else in Python."""

from __future__ import annotations

try:
    from spanwise.native.compiled import token_ends
except ImportError:
    from spanwise.native.plain import token_ends

__all__ = ["token_ends"]
