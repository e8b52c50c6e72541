"""Rows of numbers: of length one, and as small integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def unit_rows(rows: ArrayLike) -> NDArray[np.float32]:
    """Give rows the length one; a row of zeros stays as it is, and is near to nothing."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def quantized(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Give vectors of length one as small integers: 127 stands for one."""
    import numpy as np

    small: NDArray[np.int8] = np.clip(np.rint(vectors * 127.0), -127, 127).astype(np.int8)
    return small


def nonblank_texts(texts: Sequence[str], longest: int) -> tuple[list[str], list[int]]:
    """Give the texts that say something, at most so long and fit for UTF-8, and their places among all."""
    kept = [(place, cleaned(text[:longest])) for place, text in enumerate(texts) if text.strip()]
    return [text for _, text in kept], [place for place, _ in kept]


def cleaned(text: str) -> str:
    """Replace lone surrogates, which a query may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def batches(texts: Sequence[str], most: int, characters: int) -> Iterator[Sequence[str]]:
    """Cut a list of texts where one more would be too many, or too many characters."""
    start, held = 0, 0
    for place, text in enumerate(texts):
        if place > start and (place - start >= most or held + len(text) > characters):
            yield texts[start:place]
            start, held = place, 0
        held += len(text)
    if start < len(texts):
        yield texts[start:]
