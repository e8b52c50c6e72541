"""The types of `chunk`, `chunk_files` and `index`, for type checkers and editors only.

`python docs/generate_signatures.py` writes this module from the declared options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypedDict, Unpack, overload

from spanwise.chunking.proposers import Propose, Proposer
from spanwise.chunking.strategy import StrategyLike
from spanwise.documents.document import Document
from spanwise.documents.offsets import Measure
from spanwise.embedding import Embedder
from spanwise.indexing.index import IndexEvent, IndexReport
from spanwise.pipeline.process import Outcome
from spanwise.records.chunk import Chunks
from spanwise.records.columns import Texts
from spanwise.sources.listing import Source
from spanwise.stores import Store
from spanwise.text.tokens import Tokenizer


class StructureArguments(TypedDict, total=False):
    """The options of `structure`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    min_tokens: int
    overlap_tokens: int
    mix_code: bool
    join_sections: bool


class FixedArguments(TypedDict, total=False):
    """The options of `fixed`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    min_tokens: int
    overlap_ratio: float


class HeadingArguments(TypedDict, total=False):
    """The options of `heading`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    split_level: int
    strict: bool
    smart: bool


class WindowArguments(TypedDict, total=False):
    """The options of `window`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    overlap_tokens: int


class SentenceArguments(TypedDict, total=False):
    """The options of `sentence`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    max_chars: int
    overlap_ratio: float


class SimpleArguments(TypedDict, total=False):
    """The options of `simple`."""

    max_tokens: int | None
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    max_chars: int


class BlocksArguments(TypedDict, total=False):
    """The options of `blocks`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    overlap_tokens: int
    overlap_next_tokens: int | None
    core_tokens: int | None
    include_page_tag: bool
    include_section_tag: bool


class HierarchicalArguments(TypedDict, total=False):
    """The options of `hierarchical`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    min_tokens: int
    overlap_tokens: int
    mix_code: bool
    parent_tokens: int


class SmartArguments(TypedDict, total=False):
    """The options of `smart`."""

    max_tokens: int
    template: Literal["plain", "tags", "breadcrumb", "path"]
    embed: Literal["source", "plain"]
    max_heading_levels: int
    target_tokens: int
    min_tokens: int
    overlap_tokens: int
    mix_code: bool
    window_tokens: int
    endpoint: str | None
    model: str | None
    api_key: str | None
    input_price: float | None
    output_price: float | None
    max_cost: float | None
    max_calls: int
    answer_tokens: int
    timeout: float
    concurrency: int
    cache: str | None
    cache_mb: int


class ChunkFunction(Protocol):
    """The type of `chunk`."""

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["structure"] | None = None,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[StructureArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["fixed"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[FixedArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["heading"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[HeadingArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["window"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[WindowArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["sentence"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[SentenceArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["simple"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[SimpleArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["blocks"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[BlocksArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["hierarchical"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Unpack[HierarchicalArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: Literal["smart"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        proposer: Proposer | Propose | str | None = None,
        **options: Unpack[SmartArguments],
    ) -> Chunks: ...

    @overload
    def __call__(
        self,
        document: Document | str | os.PathLike[str],
        strategy: StrategyLike,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        offsets: Measure | Sequence[Measure] = (),
        **options: Any,
    ) -> Chunks: ...


class ChunkFilesFunction(Protocol):
    """The type of `chunk_files`."""

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["structure"] | None = None,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[StructureArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["fixed"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[FixedArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["heading"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[HeadingArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["window"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[WindowArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["sentence"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SentenceArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["simple"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SimpleArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["blocks"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[BlocksArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["hierarchical"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[HierarchicalArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: Literal["smart"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        proposer: Proposer | Propose | str | None = None,
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SmartArguments],
    ) -> Iterator[Outcome[bytes]]: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        strategy: StrategyLike,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        *,
        dialect: str | None = None,
        offsets: Measure | Sequence[Measure] = (),
        fields: Sequence[str] | None = None,
        texts: Texts | None = None,
        jobs: int = 1,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Any,
    ) -> Iterator[Outcome[bytes]]: ...


class IndexFunction(Protocol):
    """The type of `index`."""

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["structure"] | None = None,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[StructureArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["fixed"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[FixedArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["heading"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[HeadingArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["window"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[WindowArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["sentence"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SentenceArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["simple"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SimpleArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["blocks"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[BlocksArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["hierarchical"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[HierarchicalArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: Literal["smart"],
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        proposer: Proposer | Propose | str | None = None,
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Unpack[SmartArguments],
    ) -> IndexReport: ...

    @overload
    def __call__(
        self,
        sources: Source | Iterable[Source],
        store: str | os.PathLike[str] | Store,
        *,
        tenant: str | None = None,
        embedder: str | Embedder | None = "auto",
        strategy: StrategyLike,
        tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
        jobs: int = 1,
        progress: Callable[[IndexEvent], None] | None = None,
        wait: float = 10.0,
        file_timeout: float = 120.0,
        file_memory: int = 2048,
        follow_links: bool = False,
        **options: Any,
    ) -> IndexReport: ...
