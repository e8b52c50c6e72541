"""The table of what is measured: every strategy of Spanwise, then the peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from spanwise.chunking.strategies import STRATEGIES
from spanwise.records.record import has_parents

LIMIT = 512
BOTH = ("markdown", "text")


class Made(NamedTuple):
    """One chunk as it was returned: the text to embed, the text that its ranges claim to be, and the ranges."""

    text: str
    core: str
    ranges: tuple[tuple[int, int], ...]


Split = Callable[[str], Sequence[Any]]
"""From one text to chunks, whatever they are to their library; this is what the clock runs for."""


@dataclass(frozen=True)
class Splitter:
    """One row: how to set it up for a format and a counter, and how to look at what it returns."""

    name: str
    package: str
    build: Callable[[str, str], Split]
    made: Callable[[Any], Made]
    counters: tuple[str, ...] = ("splintr", "tiktoken")
    forms: tuple[str, ...] = BOTH

    @property
    def ours(self) -> bool:
        """Whether it is a strategy of this project."""
        return self.package == "spanwise"

    @property
    def label(self) -> str:
        """The name, as the tables show it."""
        return f"**Spanwise `{self.name}`**" if self.ours else self.name

    @property
    def version(self) -> str | None:
        """The installed version; None if it is not installed."""
        return version_of(self.package)


def splitters() -> list[Splitter]:
    """Give all rows; strategies that are added to the project's table come by themselves."""
    from peers import PEERS

    return [*(_ours(name) for name in STRATEGIES if name != "smart"), *PEERS]  # a bench asks no model


def version_of(package: str) -> str | None:
    """Find the installed version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def named(error: Exception) -> str:
    """Say what went wrong in the room of a table's cell."""
    return f"{type(error).__name__}: {str(error)[:80]}"


def splitter_of(name: str) -> Splitter:
    """Find a row by its name."""
    return next(splitter for splitter in splitters() if splitter.name == name)


def _ours(name: str) -> Splitter:
    return Splitter(name, "spanwise", lambda form, _: _strategy(name, form), _made, ("splintr",))


def _strategy(name: str, form: str) -> Split:
    """Read and chunk with the common limit and no overlap; all else as it comes.

    The chunks are views that make their texts when asked, and they are asked here: peers return texts too.
    """
    from spanwise import chunk, read_text

    kinds = {item.name: item.metadata["kind"] for item in fields(STRATEGIES[name].options)}
    options: dict[str, Any] = {key: kind(0) for key, kind in kinds.items() if "overlap" in key and kind in (int, float)}
    options["max_tokens"] = LIMIT

    def split(text: str) -> Sequence[Any]:
        chunks = chunk(read_text(text, form), name, **options)
        parents = {made.parent_id for made in chunks} if has_parents(name) else set()  # peers have one level
        return [(made, made.embedding_text) for made in chunks if not parents or made.chunk_id not in parents]

    return split


def _made(pair: tuple[Any, str]) -> Made:
    chunk, text = pair
    ranges = tuple((piece.start, piece.end) for piece in chunk.pieces if piece.role == "core")
    return Made(text, chunk.normalized_text, ranges)
