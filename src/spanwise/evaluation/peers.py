"""Other libraries' splitters, so that they can be compared: their chunks in the same store, for the same search.

A peer is given the whole text of a document and says what its chunks are. Each is located in the text; what two chunks
share is the overlap of the second. No peer is a dependency: one that isn't installed is an error that names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Final, NamedTuple

from spanwise.chunking.pieces import OverlapChoices, PlannedCore
from spanwise.chunking.plugin_strategy import PluginStrategy
from spanwise.chunking.strategy import ChunkPlan
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import Block, Document
from spanwise.errors import MissingExtraError, OptionError, PluginError, did_you_mean
from spanwise.evaluation.ranges import Range
from spanwise.options import Options
from spanwise.text.cuts import trimmed

Count = Callable[[str], int]
"""Returns the number of tokens of a text."""
PeerChunk = tuple[str, int | None]
"""The text of a chunk, and where the peer says that it starts."""
Split = Callable[[str], Iterable[PeerChunk]]
_NAME: Final = re.compile(r"([a-z-]+)(?::(\d+)(?:/(\d+))?)?")
_SIZE: Final = 400
_LONGEST_TOKEN: Final = 128  # characters


class Peer(NamedTuple):
    """A splitter of another library."""

    module: str
    package: str
    """What pip calls it."""
    make: Callable[[int, int, Count], Split]
    overlaps: bool = True


def _langchain(kind: str) -> Callable[[int, int, Count], Split]:
    def make(size: int, overlap: int, count: Count) -> Split:
        import langchain_text_splitters as library

        options = {"chunk_size": size, "chunk_overlap": overlap, "add_start_index": True}
        splitter = getattr(library, kind)(length_function=count, **options)

        def split(text: str) -> Iterator[PeerChunk]:
            for document in splitter.create_documents([text]):
                yield document.page_content, document.metadata["start_index"]

        return split

    return make


def _chonkie(kind: str) -> Callable[[int, int, Count], Split]:
    def make(size: int, overlap: int, count: Count) -> Split:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is downloaded
        import chonkie as library
        from chonkie.tokenizer import AutoTokenizer

        class Counting(AutoTokenizer):  # type: ignore[misc]  # the class that Chonkie accepts unchanged
            """Counts as all settings are counted."""

            def count_tokens(self, text: str) -> int:
                return count(text)

            def count_tokens_batch(self, texts: Sequence[str]) -> Sequence[int]:
                return [count(text) for text in texts]

        more = {"chunk_overlap": overlap} if overlap else {}
        chunker = getattr(library, kind)(Counting("character"), chunk_size=size, **more)
        return lambda text: ((chunk.text, chunk.start_index) for chunk in chunker.chunk(text))

    return make


def _semchunk(size: int, overlap: int, count: Count) -> Split:
    import semchunk as library

    chunker = library.chunkerify(lambda text: count(text), size, max_token_chars=_LONGEST_TOKEN)

    def split(text: str) -> Iterator[PeerChunk]:
        chunks, offsets = chunker(text, offsets=True, overlap=overlap or None)
        return ((chunk, start) for chunk, (start, _) in zip(chunks, offsets, strict=True))

    return split


def _text_splitter(kind: str) -> Callable[[int, int, Count], Split]:
    def make(size: int, overlap: int, count: Count) -> Split:
        import semantic_text_splitter as library

        splitter = getattr(library, kind).from_callback(count, size, overlap=overlap)
        return lambda text: ((chunk, start) for start, chunk in splitter.chunk_indices(text))

    return make


def _llama_index(size: int, overlap: int, count: Count) -> Split:
    from llama_index.core import Document as Source
    from llama_index.core.node_parser import SentenceSplitter

    parser = SentenceSplitter(
        chunk_size=size, chunk_overlap=overlap, tokenizer=lambda text: range(count(text)), include_metadata=False,
        include_prev_next_rel=False,
    )  # fmt: skip

    def split(text: str) -> Iterator[PeerChunk]:
        for node in parser.get_nodes_from_documents([Source(text=text)]):
            yield node.get_content(), getattr(node, "start_char_idx", None)

    return split


PEERS: Final[dict[str, Peer]] = {
    "langchain-recursive": Peer(
        "langchain_text_splitters", "langchain-text-splitters", _langchain("RecursiveCharacterTextSplitter")
    ),
    "langchain-markdown": Peer(
        "langchain_text_splitters", "langchain-text-splitters", _langchain("MarkdownTextSplitter")
    ),
    "chonkie-recursive": Peer("chonkie", "chonkie", _chonkie("RecursiveChunker"), overlaps=False),
    "chonkie-sentence": Peer("chonkie", "chonkie", _chonkie("SentenceChunker")),
    "semchunk": Peer("semchunk", "semchunk", _semchunk),
    "text-splitter": Peer("semantic_text_splitter", "semantic-text-splitter", _text_splitter("TextSplitter")),
    "text-splitter-markdown": Peer(
        "semantic_text_splitter", "semantic-text-splitter", _text_splitter("MarkdownSplitter")
    ),
    "llamaindex-sentence": Peer("llama_index", "llama-index-core", _llama_index),
}


def peer_of(name: str, count: Count) -> PeerStrategy:
    """Return the strategy of a peer: `NAME`, `NAME:SIZE` or `NAME:SIZE/OVERLAP`, in tokens.

    Raise OptionError for a name that is none, and MissingExtraError for a library that isn't installed.
    """
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        hint = "write its size, and its overlap, in tokens: langchain-recursive:400/200"
        raise OptionError("peer", "must be a name and a size", value=name, hint=hint)
    if found[1] not in PEERS:
        raise OptionError("peer", "is not known", value=found[1], hint=did_you_mean(found[1], PEERS))
    peer, size, overlap = PEERS[found[1]], int(found[2] or _SIZE), int(found[3] or 0)
    if not size or overlap > size // 2:
        raise OptionError("peer", "must have a size, and an overlap of at most half of it", value=name)
    if overlap and not peer.overlaps:
        raise OptionError("peer", "has no overlap", value=name, hint=f"try {found[1]}:{size}")
    if find_spec(peer.module) is None:
        rule = f"is needed for the peer {found[1]}, and isn't installed"
        raise MissingExtraError(peer.package, rule, hint=f"pip install {peer.package}")
    return PeerStrategy(name, peer.make(size, overlap, count), f"peer {name} ({_version(peer.package)})")


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


class PeerOptions(Options):
    """A peer has no options here: its size is part of its name."""


class _Planner:
    """What a strategy must be to be one; `PeerStrategy` plans in its place."""

    options = PeerOptions

    def plan(self, task: ChunkingTask) -> list[Range]:
        """Return one core for the whole text."""
        return [(0, len(task.text))]


class PeerStrategy(PluginStrategy):
    """The chunks of a peer: their text is searched, and each character that two of them share is returned once."""

    def __init__(self, name: str, split: Split, who: str) -> None:
        """Keep the function that splits; `who` is how messages call it."""
        super().__init__(_Planner(), who, name)
        self._split = split
        self.lost = 0
        """Chunks that are no part of the text, and so could not be located."""

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Return the chunks of a document as cores; what one shares with those before it is its overlap."""
        found = self._located(task.text)
        cores: list[PlannedCore] = []
        reached = 0
        for start, end in found:
            span = trimmed(task.text, max(start, reached), end)
            if span is None:
                continue
            around = OverlapChoices(before=(start,)) if start < reached and cores else None
            first, last = block_at(task.document, span[0]), block_at(task.document, span[1] - 1)
            cores.append(PlannedCore(span[0], span[1], first, last, around=around))
            reached = span[1]
        return ChunkPlan(cores)

    def _located(self, text: str) -> list[Range]:
        """Return the ranges of the chunks: where the peer says, or else where their text is found next."""
        found: list[Range] = []
        after = 0
        try:
            chunks = list(self._split(text))
        except Exception as error:  # a fault of a peer must not look like one of ours
            raise PluginError(self._who, f"fails: {type(error).__name__}: {error}") from error
        for chunk, said in chunks:
            own = chunk.strip()
            start = said if said is not None and said >= 0 and text.startswith(chunk, said) else text.find(chunk, after)
            if start < 0:
                start, chunk = text.find(own, after), own
            if start < 0 or not own:
                self.lost += bool(own)
                continue
            found.append((start, start + len(chunk)))
            after = start + 1
        return found


def as_peers_see(document: Document) -> Document:
    """Return a document as one text without structure: everything in it is searched, as with the peer's own tools."""
    span = trimmed(document.text, 0, len(document.text))
    blocks = (Block("paragraph", *span),) if span else ()
    return Document(document.text, blocks, metadata=document.metadata)
