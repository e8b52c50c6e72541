"""The peers, each in its fastest fair setting: 512 cl100k tokens, no overlap, offsets where the library has them.

With the counter `splintr` a peer uses the same library as Spanwise, if it accepts a custom counter. With `tiktoken` it
is set up in the usual way. Every pass gets a new splitter, because some cache the texts they have counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import counters
from splitters import LIMIT, Split, SplitChunk, Splitter

LONGEST_TOKEN = 128  # characters, in cl100k: a run of spaces


def langchain(kind: str, counter: str, limit: int = LIMIT, overlap: int = 0) -> Split:
    """Return documents with `start_index`: without it there are no offsets, and it costs next to nothing."""
    import langchain_text_splitters as library

    sizes = {"chunk_size": limit, "chunk_overlap": overlap, "add_start_index": True}
    made: Any = getattr(library, kind)
    if kind == "TokenTextSplitter":  # it accepts no counter, only the name of a tiktoken encoding
        counters.tiktoken()
        splitter = made(encoding_name=counters.ENCODING, **sizes)
    elif counter == "splintr":
        splitter = made(length_function=counters.splintr().count, **sizes)
    else:
        counters.tiktoken()
        splitter = made.from_tiktoken_encoder(encoding_name=counters.ENCODING, **sizes)
    return lambda text: splitter.create_documents([text])


def of_langchain(document: Any) -> SplitChunk:
    text, start = document.page_content, document.metadata["start_index"]
    return SplitChunk(text, text, ((start, start + len(text)),) if start >= 0 else ())


def chonkie(kind: str, counter: str, limit: int = LIMIT) -> Split:
    """Return a chunker without recipes and without `tokie`, which downloads its vocabulary."""
    import chonkie as library

    tokenizer = _chonkie_tokenizer() if counter == "splintr" else counters.tiktoken()
    split: Split = getattr(library, kind)(tokenizer, chunk_size=limit).chunk
    return split


def _chonkie_tokenizer() -> Any:
    """Return splintr in the class that Chonkie accepts unchanged."""
    from chonkie.tokenizer import AutoTokenizer

    splintr = counters.splintr()

    class Wrapped(AutoTokenizer):  # type: ignore[misc]
        """splintr with Chonkie's method names."""

        def encode(self, text: str) -> Sequence[int]:
            """Encode."""
            return splintr.encode(text)

        def decode(self, tokens: Sequence[int]) -> str:
            """Decode."""
            return splintr.decode(list(tokens))

        def decode_batch(self, token_sequences: Sequence[Sequence[int]]) -> Sequence[str]:
            """Decode many."""
            return [splintr.decode(list(tokens)) for tokens in token_sequences]

        def count_tokens(self, text: str) -> int:
            """Count."""
            return splintr.count(text)

        def count_tokens_batch(self, texts: Sequence[str]) -> Sequence[int]:
            """Count many."""
            return [splintr.count(text) for text in texts]

    return Wrapped(splintr)


def of_chonkie(chunk: Any) -> SplitChunk:
    return SplitChunk(chunk.text, chunk.text, ((chunk.start_index, chunk.end_index),))


def semchunk(counter: str, limit: int = LIMIT) -> Split:
    """Keep its cache of counts, which is the default and helps, but start with an empty one."""
    import semchunk as library
    from semchunk import semchunk as module

    module._memoized_token_counters.clear()
    if counter == "splintr":
        count = counters.splintr().count
        chunker = library.chunkerify(lambda text: count(text), limit, max_token_chars=LONGEST_TOKEN)
    else:
        chunker = library.chunkerify(counters.tiktoken(), limit)

    def split(text: str) -> Sequence[Any]:
        return list(zip(*chunker(text, offsets=True), strict=True))

    return split


def of_semchunk(pair: tuple[str, tuple[int, int]]) -> SplitChunk:
    return SplitChunk(pair[0], pair[0], (pair[1],))


def text_splitter(kind: str, counter: str, limit: int = LIMIT) -> Split:
    """Count in Python with splintr, or in Rust with the vocabulary in its wheel."""
    import semantic_text_splitter as library

    made: Any = getattr(library, kind)
    by_splintr = counter == "splintr"
    splitter = (
        made.from_callback(counters.splintr().count, limit) if by_splintr else made.from_tiktoken_model("gpt-4", limit)
    )
    split: Split = splitter.chunk_indices
    return split


def of_text_splitter(pair: tuple[int, str]) -> SplitChunk:
    start, text = pair
    return SplitChunk(text, text, ((start, start + len(text)),))


def llama_index(counter: str, limit: int = LIMIT, overlap: int = 0) -> Split:
    """Return nodes, because plain texts have no offsets, but without relations and metadata."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    tokenizer = counters.splintr().as_length if counter == "splintr" else counters.tiktoken().encode
    parser = SentenceSplitter(
        chunk_size=limit,
        chunk_overlap=overlap,
        tokenizer=tokenizer,
        include_metadata=False,
        include_prev_next_rel=False,
    )
    return lambda text: parser.get_nodes_from_documents([Document(text=text)])


def of_llama_index(node: Any) -> SplitChunk:
    start, end = node.start_char_idx, node.end_char_idx
    return SplitChunk(node.text, node.text, ((start, end),) if start is not None and end is not None else ())


def _langchain_row(name: str, kind: str, **more: Any) -> Splitter:
    package = "langchain-text-splitters"
    return Splitter(name, package, lambda _, counter: langchain(kind, counter), of_langchain, **more)


def _chonkie_row(name: str, kind: str) -> Splitter:
    return Splitter(name, "chonkie", lambda _, counter: chonkie(kind, counter), of_chonkie)


def _text_splitter_row(name: str, kind: str, **more: Any) -> Splitter:
    package = "semantic-text-splitter"
    return Splitter(name, package, lambda _, counter: text_splitter(kind, counter), of_text_splitter, **more)


PEERS = (
    _langchain_row("LangChain Token", "TokenTextSplitter", counters=("tiktoken",)),
    _langchain_row("LangChain Recursive", "RecursiveCharacterTextSplitter"),
    _langchain_row("LangChain Markdown", "MarkdownTextSplitter", formats=("markdown",)),
    _chonkie_row("Chonkie Token", "TokenChunker"),
    _chonkie_row("Chonkie Recursive", "RecursiveChunker"),
    _chonkie_row("Chonkie Sentence", "SentenceChunker"),
    Splitter("semchunk", "semchunk", lambda _, counter: semchunk(counter), of_semchunk),
    _text_splitter_row("text-splitter Text", "TextSplitter"),
    _text_splitter_row("text-splitter Markdown", "MarkdownSplitter", formats=("markdown",)),
    Splitter("LlamaIndex Sentence", "llama-index-core", lambda _, counter: llama_index(counter), of_llama_index),
)
