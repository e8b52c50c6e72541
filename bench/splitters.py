"""The splitters that are measured: every strategy of Spanwise, then the peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from spanwise.chunking.strategies import STRATEGIES
from spanwise.records.record import has_parents

LIMIT = 512
BOTH = ("markdown", "text")


class SplitChunk(NamedTuple):
    """One returned chunk: the text to embed, the text that its ranges should equal, and the ranges."""

    text: str
    core: str
    ranges: tuple[tuple[int, int], ...]


Split = Callable[[str], Sequence[Any]]
"""From one text to chunks in the library's own type; this call is what is timed."""


@dataclass(frozen=True)
class Splitter:
    """One row: how to build it for a format and a counter, and how to convert what it returns."""

    name: str
    package: str
    build: Callable[[str, str], Split]
    made: Callable[[Any], SplitChunk]
    counters: tuple[str, ...] = ("splintr", "tiktoken")
    formats: tuple[str, ...] = BOTH

    @property
    def ours(self) -> bool:
        """Whether this is a strategy of Spanwise."""
        return self.package == "spanwise"

    @property
    def label(self) -> str:
        """The name in the tables."""
        return f"**Spanwise `{self.name}`**" if self.ours else self.name

    @property
    def version(self) -> str | None:
        """The installed version; None if it is not installed."""
        return version_of(self.package)


def splitters() -> list[Splitter]:
    """Return all rows; new strategies of Spanwise are included automatically."""
    from peers import PEERS

    return [*(_ours(name) for name in STRATEGIES if name != "smart"), *PEERS]  # the bench uses no model


def version_of(package: str) -> str | None:
    """Return the installed version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def error_summary(error: Exception) -> str:
    """Return an error message short enough for a table cell."""
    return f"{type(error).__name__}: {str(error)[:80]}"


def splitter_of(name: str) -> Splitter:
    """Return a row by its name."""
    return next(splitter for splitter in splitters() if splitter.name == name)


def _ours(name: str) -> Splitter:
    return Splitter(name, "spanwise", lambda text_format, _: _strategy(name, text_format), _made, ("splintr",))


def _strategy(name: str, format: str) -> Split:
    """Return a function that reads and chunks with the common limit, no overlap and defaults otherwise.

    Chunks build their texts on access, so the texts are accessed here: peers return texts too.
    """
    from spanwise import chunk, read_text

    kinds = {item.name: item.metadata["kind"] for item in fields(STRATEGIES[name].options)}
    options: dict[str, Any] = {key: kind(0) for key, kind in kinds.items() if "overlap" in key and kind in (int, float)}
    options["max_tokens"] = LIMIT

    chosen: Any = name

    def split(text: str) -> Sequence[Any]:
        chunks = chunk(read_text(text, format), chosen, **options)
        parents = {made.parent_id for made in chunks} if has_parents(name) else set()  # peers have one level
        return [(made, made.embedding_text) for made in chunks if not parents or made.chunk_id not in parents]

    return split


def _made(pair: tuple[Any, str]) -> SplitChunk:
    chunk, text = pair
    ranges = tuple((piece.start, piece.end) for piece in chunk.pieces if piece.role == "core")
    return SplitChunk(text, chunk.normalized_text, ranges)
