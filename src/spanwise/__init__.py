"""Spanwise turns documents into chunks for retrieval, and every chunk knows exactly where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwise.checks import Finding, check
    from spanwise.chunking.line_window import Window
    from spanwise.chunking.pieces import Piece, PlannedCore
    from spanwise.chunking.proposers import Estimate, Proposer, ProposerReport
    from spanwise.chunking.strategy import ChunkPlan, Strategy
    from spanwise.chunking.task import ChunkingTask
    from spanwise.documents.document import Block, Document, LeftOut, Link, Metadata, Page, Part
    from spanwise.documents.span import Span
    from spanwise.embedding import Embedder
    from spanwise.errors import (
        DocumentError,
        EndpointError,
        LimitError,
        MissingExtraError,
        OptionError,
        PluginError,
        SpanwiseError,
        StoreError,
        UnreadableError,
    )
    from spanwise.evaluation.evaluate import EvaluateEvent, evaluate
    from spanwise.evaluation.report import EvaluationReport
    from spanwise.indexing.index import IndexEvent, IndexReport
    from spanwise.indexing.writer import DocumentReport
    from spanwise.options import Options, option
    from spanwise.pipeline.chunk import estimate
    from spanwise.pipeline.process import Outcome
    from spanwise.pipeline.service_plans import ServicePlan, plan
    from spanwise.pipeline.vault import Vault, read_vault
    from spanwise.readers import read, read_pages, read_text
    from spanwise.readers.plugin_reader import Reader
    from spanwise.records.chunk import Chunk, Chunks
    from spanwise.records.dialects import translate
    from spanwise.records.frames import records_from_arrow
    from spanwise.reranking import Reranker
    from spanwise.retrieval.hits import Explanation, Hit, Hits
    from spanwise.retrieval.search import search
    from spanwise.retrieval.weights import Weights
    from spanwise.signatures import ChunkFilesFunction, ChunkFunction, IndexFunction
    from spanwise.sources.item import SourceItem
    from spanwise.stores import Store, StoreReader, StoreWriter, open_store
    from spanwise.text.tokens import Tokenizer, TokenMap

    chunk: ChunkFunction
    chunk_files: ChunkFilesFunction
    index: IndexFunction

_HOMES = {
    "Block": "documents.document",
    "Chunk": "records.chunk",
    "ChunkPlan": "chunking.strategy",
    "ChunkingTask": "chunking.task",
    "Chunks": "records.chunk",
    "Document": "documents.document",
    "DocumentError": "errors",
    "DocumentReport": "indexing.writer",
    "Embedder": "embedding",
    "EndpointError": "errors",
    "Estimate": "chunking.proposers",
    "EvaluateEvent": "evaluation.evaluate",
    "EvaluationReport": "evaluation.report",
    "Explanation": "retrieval.hits",
    "Finding": "checks",
    "Hit": "retrieval.hits",
    "Hits": "retrieval.hits",
    "IndexEvent": "indexing.index",
    "IndexReport": "indexing.index",
    "LeftOut": "documents.document",
    "LimitError": "errors",
    "Link": "documents.document",
    "Metadata": "documents.document",
    "MissingExtraError": "errors",
    "OptionError": "errors",
    "Options": "options",
    "Outcome": "pipeline.process",
    "Page": "documents.document",
    "Part": "documents.document",
    "Piece": "chunking.pieces",
    "PlannedCore": "chunking.pieces",
    "PluginError": "errors",
    "Proposer": "chunking.proposers",
    "ProposerReport": "chunking.proposers",
    "Reader": "readers.plugin_reader",
    "Reranker": "reranking",
    "ServicePlan": "pipeline.service_plans",
    "SourceItem": "sources.item",
    "Span": "documents.span",
    "SpanwiseError": "errors",
    "Store": "stores",
    "StoreError": "errors",
    "StoreReader": "stores",
    "StoreWriter": "stores",
    "Strategy": "chunking.strategy",
    "TokenMap": "text.tokens",
    "Tokenizer": "text.tokens",
    "UnreadableError": "errors",
    "Vault": "pipeline.vault",
    "Weights": "retrieval.weights",
    "Window": "chunking.line_window",
    "check": "checks",
    "chunk": "pipeline.chunk",
    "chunk_files": "pipeline.files",
    "estimate": "pipeline.chunk",
    "evaluate": "evaluation.evaluate",
    "index": "indexing.index",
    "open_store": "stores",
    "option": "options",
    "plan": "pipeline.service_plans",
    "read": "readers",
    "read_pages": "readers",
    "read_text": "readers",
    "read_vault": "pipeline.vault",
    "records_from_arrow": "records.frames",
    "search": "retrieval.search",
    "translate": "records.dialects",
}

_FORMER_NAMES = {"ChosenPlan": "ServicePlan", "Report": "ProposerReport"}

__all__ = [
    "Block", "Chunk", "ChunkPlan", "ChunkingTask", "Chunks", "Document", "DocumentError", "DocumentReport",
    "Embedder", "EndpointError", "Estimate", "EvaluateEvent", "EvaluationReport", "Explanation", "Finding", "Hit",
    "Hits", "IndexEvent", "IndexReport", "LeftOut", "LimitError", "Link", "Metadata", "MissingExtraError",
    "OptionError", "Options", "Outcome", "Page", "Part", "Piece", "PlannedCore", "PluginError", "Proposer",
    "ProposerReport", "Reader", "Reranker", "ServicePlan", "SourceItem", "Span", "SpanwiseError", "Store",
    "StoreError", "StoreReader", "StoreWriter", "Strategy", "TokenMap", "Tokenizer", "UnreadableError", "Vault",
    "Weights", "Window", "check", "chunk", "chunk_files", "estimate", "evaluate", "index", "open_store", "option",
    "plan", "read", "read_pages", "read_text", "read_vault", "records_from_arrow", "search", "translate",
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
    """Show the public names, loaded or not, and nothing else."""
    return [*__all__]
