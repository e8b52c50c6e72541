"""Who counts tokens: the bare count that everything is measured against, and what the splitters are given.

`bare` is bpe-openai, which no splitter here uses, so it also judges the limit. `splintr` is what Spanwise counts with;
every peer that takes a counter of the user's gets the same. `tiktoken` is what people mostly give them.
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
    """Give the count that is 1 in every table."""
    from bpe_openai import _bindings  # its public wrapper refuses a million characters

    count: Callable[[str], int] = _bindings.tokenizer_for_encoding(ENCODING).count
    return count


class Splintr:
    """splintr as a counter for peers, with special strings as plain text, as Spanwise has it."""

    def __init__(self) -> None:
        import splintr

        self._tokenizer = splintr.Tokenizer.from_pretrained(ENCODING)
        self.decode: Callable[[list[int]], str] = self._tokenizer.decode_lossy
        self.forget: Callable[[], None] = self._tokenizer.clear_cache

    def encode(self, text: str) -> list[int]:
        """Give the token ids."""
        ids: list[int] = self._tokenizer.encode_ordinary(text)
        return ids

    def count(self, text: str) -> int:
        """Count without making a list, which is the fastest way that splintr has."""
        if "<|" in text:
            return len(self._tokenizer.encode_ordinary(text))
        return len(self._tokenizer.encode_flat(text)) // 4

    def as_length(self, text: str) -> range:
        """Give something that is as long as the tokens are, for those who take `len()` of what they get."""
        return range(self.count(text))


@cache
def splintr() -> Splintr:
    return Splintr()


@cache
def tiktoken() -> Any:
    """Load tiktoken's own encoding without its download: the vocabulary in splintr's wheel is the same file.

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
    """Empty every cache of words that have been seen, so that a pass over texts meets them for the first time."""
    from spanwise.text.tokens import tokenizer_of

    splintr().forget()
    tokenizer_of("cl100k")._splintr.clear_cache()  # type: ignore[attr-defined]
