"""What holds for every format that is read: laws under every strategy, and damage that costs one error at most."""

from __future__ import annotations

import random
import time
from typing import Any

import spanwise
from spanwise import Document, SpanwiseError
from spanwise.chunking.strategies import STRATEGIES
from spanwise.readers import read_bytes
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

ALL_STRATEGIES = [name for name in STRATEGIES if name != "smart"]
_MOST_SECONDS = 20  # for one damaged file; a hang is hundreds


def read(data: bytes, format: str) -> Document:
    """Read the bytes of a file."""
    return read_bytes(data, f"file.{format}", format, {})


def assert_laws(document: Document, strategy: str, limit: int) -> None:
    """Fail if chunks of the document break a law."""
    chunk: Any = spanwise.chunk  # strategies are typed by name
    records = [one.to_dict() for one in chunk(document, strategy, max_tokens=limit)]
    parents = 2000 if strategy == "hierarchical" else None
    assert broken_laws(document, records, tokenizer_of("cl100k"), limit, parents) == []
    assert records or not document.text.strip()


def assert_damage_is_an_error(data: bytes, format: str, times: int, seed: int = 7) -> None:
    """Fail if a file with flipped or replaced bytes, or one that is cut off, does anything but be read or refused."""
    chance = random.Random(seed)
    for _ in range(times):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        start = chance.randrange(len(data))
        for one in (bytes(broken), data[:start], data[:start] + data[start : start + 500] * 5 + data[start:]):
            began = time.process_time()
            try:
                document = read(one, format)
            except SpanwiseError:
                continue
            finally:
                assert time.process_time() - began < _MOST_SECONDS
            assert isinstance(document, Document)
