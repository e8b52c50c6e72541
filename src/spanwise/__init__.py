"""Spanwise turns documents into chunks for retrieval, and every chunk knows exactly where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwise.checks import Finding, check
    from spanwise.chunking.line_window import Window
    from spanwise.chunking.pieces import Piece
    from spanwise.chunking.proposers import Estimate, Proposer, ProposerReport
    from spanwise.documents.document import Block, Document, LeftOut, Link, Metadata, Page, Part
    from spanwise.documents.span import Span
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
    from spanwise.pipeline.chunk import chunk, estimate, read, read_pages, read_text
    from spanwise.pipeline.service_plans import ServicePlan, plan
    from spanwise.pipeline.vault import Vault, read_vault
    from spanwise.records.chunk import Chunk
    from spanwise.records.dialects import translate
    from spanwise.retrieval.hits import Explanation, Hit, Hits
    from spanwise.retrieval.search import search
    from spanwise.retrieval.weights import Weights
    from spanwise.stores import open_store
    from spanwise.text.tokens import Tokenizer, TokenMap

_HOMES = {
    "Block": "documents.document",
    "Chunk": "records.chunk",
    "Document": "documents.document",
    "DocumentError": "errors",
    "EndpointError": "errors",
    "Estimate": "chunking.proposers",
    "Explanation": "retrieval.hits",
    "Finding": "checks",
    "Hit": "retrieval.hits",
    "Hits": "retrieval.hits",
    "LeftOut": "documents.document",
    "LimitError": "errors",
    "Link": "documents.document",
    "Metadata": "documents.document",
    "MissingExtraError": "errors",
    "OptionError": "errors",
    "Page": "documents.document",
    "Part": "documents.document",
    "Piece": "chunking.pieces",
    "Proposer": "chunking.proposers",
    "ProposerReport": "chunking.proposers",
    "ServicePlan": "pipeline.service_plans",
    "Span": "documents.span",
    "SpanwiseError": "errors",
    "StoreError": "errors",
    "TokenMap": "text.tokens",
    "Tokenizer": "text.tokens",
    "UnreadableError": "errors",
    "Vault": "pipeline.vault",
    "Weights": "retrieval.weights",
    "Window": "chunking.line_window",
    "check": "checks",
    "chunk": "pipeline.chunk",
    "estimate": "pipeline.chunk",
    "open_store": "stores",
    "plan": "pipeline.service_plans",
    "read": "pipeline.chunk",
    "read_pages": "pipeline.chunk",
    "read_text": "pipeline.chunk",
    "read_vault": "pipeline.vault",
    "search": "retrieval.search",
    "translate": "records.dialects",
}

_FORMER_NAMES = {"ChosenPlan": "ServicePlan", "Report": "ProposerReport"}

__all__ = [
    "Block", "Chunk", "Document", "DocumentError", "EndpointError", "Estimate", "Explanation", "Finding", "Hit",
    "Hits", "LeftOut", "LimitError", "Link", "Metadata", "MissingExtraError", "OptionError", "Page", "Part", "Piece",
    "Proposer", "ProposerReport", "ServicePlan", "Span", "SpanwiseError", "StoreError", "TokenMap", "Tokenizer",
    "UnreadableError", "Vault", "Weights", "Window", "check", "chunk", "estimate", "open_store", "plan", "read",
    "read_pages", "read_text", "read_vault", "search", "translate",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: importing the package costs next to nothing."""
    current = _FORMER_NAMES.get(name, name)
    if current not in _HOMES:
        raise AttributeError(f"module 'spanwise' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"spanwise.{_HOMES[current]}"), current)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Show the public names, loaded or not."""
    return sorted({*globals(), *__all__})
