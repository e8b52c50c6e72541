"""Spanwise turns documents into chunks for retrieval, and every chunk knows exactly where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwise.api import chunk, estimate, read, read_pages, read_text
    from spanwise.checks import Finding, check
    from spanwise.chunks import Chunk
    from spanwise.dialects import translate
    from spanwise.documents import Block, Document, LeftOut, Link, Metadata, Page, Part
    from spanwise.errors import (
        DocumentError,
        EndpointError,
        LimitError,
        MissingExtraError,
        OptionError,
        SpanwiseError,
        StoreError,
        UnreadableError,
    )
    from spanwise.pieces import Piece
    from spanwise.plans import ChosenPlan, plan
    from spanwise.proposals import Estimate, Proposer, Report
    from spanwise.retrieval.searching import search
    from spanwise.retrieval.values import Explanation, Hit, Hits
    from spanwise.retrieval.weights import Weights
    from spanwise.spans import Span
    from spanwise.stores import open_store
    from spanwise.tokens import Tokenizer, TokenMap
    from spanwise.vaults import Vault, read_vault
    from spanwise.windows import Window

_HOMES = {
    "Block": "documents",
    "ChosenPlan": "plans",
    "Chunk": "chunks",
    "Document": "documents",
    "DocumentError": "errors",
    "EndpointError": "errors",
    "Estimate": "proposals",
    "Explanation": "retrieval.values",
    "Finding": "checks",
    "Hit": "retrieval.values",
    "Hits": "retrieval.values",
    "LeftOut": "documents",
    "LimitError": "errors",
    "Link": "documents",
    "Metadata": "documents",
    "MissingExtraError": "errors",
    "OptionError": "errors",
    "Page": "documents",
    "Part": "documents",
    "Piece": "pieces",
    "Proposer": "proposals",
    "Report": "proposals",
    "Span": "spans",
    "SpanwiseError": "errors",
    "StoreError": "errors",
    "TokenMap": "tokens",
    "Tokenizer": "tokens",
    "UnreadableError": "errors",
    "Vault": "vaults",
    "Weights": "retrieval.weights",
    "Window": "windows",
    "check": "checks",
    "chunk": "api",
    "estimate": "api",
    "open_store": "stores",
    "plan": "plans",
    "read": "api",
    "read_pages": "api",
    "read_text": "api",
    "read_vault": "vaults",
    "search": "retrieval.searching",
    "translate": "dialects",
}

__all__ = [
    "Block", "ChosenPlan", "Chunk", "Document", "DocumentError", "EndpointError", "Estimate", "Explanation", "Finding",
    "Hit", "Hits", "LeftOut", "LimitError", "Link", "Metadata", "MissingExtraError", "OptionError", "Page", "Part",
    "Piece", "Proposer", "Report", "Span", "SpanwiseError", "StoreError", "TokenMap", "Tokenizer", "UnreadableError",
    "Vault", "Weights", "Window", "check", "chunk", "estimate", "open_store", "plan", "read", "read_pages", "read_text",
    "read_vault", "search", "translate",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spanwise' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"spanwise.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Show the public names, loaded or not."""
    return sorted({*globals(), *__all__})
