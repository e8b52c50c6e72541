"""Token counters: the bare count that everything is measured against, and those given to the splitters.

`bare` is bpe-openai, which no splitter here uses, so it also checks the limit. `splintr` is what Spanwise counts with;
every peer that accepts a custom counter gets the same. `tiktoken` is the usual choice.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ENCODING = "cl100k_base"
VOCABULARY_SIZE = 100256
CACHE = Path(tempfile.gettempdir()) / "spanwise-bench-tiktoken"


@cache
def bare() -> Callable[[str], int]:
    """Return the count that all costs are multiples of."""
    from bpe_openai import _bindings  # its public wrapper rejects a million characters

    count: Callable[[str], int] = _bindings.tokenizer_for_encoding(ENCODING).count
    return count


class Splintr:
    """splintr as a counter for peers, with special strings as plain text, as in Spanwise."""

    def __init__(self) -> None:
        import splintr

        self._tokenizer = splintr.Tokenizer.from_pretrained(ENCODING)
        self.decode: Callable[[list[int]], str] = self._tokenizer.decode_lossy
        self.forget: Callable[[], None] = self._tokenizer.clear_cache

    def encode(self, text: str) -> list[int]:
        """Return the token ids."""
        ids: list[int] = self._tokenizer.encode_ordinary(text)
        return ids

    def count(self, text: str) -> int:
        """Return the token count without building a list, splintr's fastest way."""
        if "<|" in text:
            return len(self._tokenizer.encode_ordinary(text))
        return len(self._tokenizer.encode_flat(text)) // 4

    def as_length(self, text: str) -> range:
        """Return a range as long as the tokens, for callers that take `len()` of the result."""
        return range(self.count(text))


@cache
def splintr() -> Splintr:
    return Splintr()


@cache
def tiktoken() -> Any:
    """Return tiktoken's own encoding without downloading it: the vocabulary in splintr's wheel is the same file.

    tiktoken checks the published hash, and keeps the file where child processes find it.
    """
    os.environ["TIKTOKEN_CACHE_DIR"] = str(CACHE)
    import tiktoken as library
    import tiktoken.load as loading

    loading.read_file = lambda _: _vocabulary()
    return library.get_encoding(ENCODING)


def _vocabulary() -> bytes:
    import splintr as library

    bytes_of = library.Tokenizer.from_pretrained(ENCODING).decode_token_bytes
    lines: Sequence[bytes] = [
        b"%s %d\n" % (base64.b64encode(bytes_of(token)), token) for token in range(VOCABULARY_SIZE)
    ]
    return b"".join(lines)


def forget() -> None:
    """Empty every cache of known words, so that a pass over texts starts cold."""
    from spanwise.text.tokens import tokenizer_of

    splintr().forget()
    tokenizer_of("cl100k")._splintr.clear_cache()  # type: ignore[attr-defined]
