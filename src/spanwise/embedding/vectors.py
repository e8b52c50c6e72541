"""Vectors as rows of arrays: scaled to length one, and quantized; and the batches of texts they are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Encoding:
    """`encode`, the name that models of sentence-transformers have for embedding; a base of the embedders."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        raise NotImplementedError

    def encode(self, texts: str | Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of one text, or a row for each of several."""
        found = self.embed([texts] if isinstance(texts, str) else texts)
        return found[0] if isinstance(texts, str) else found


def unit_rows(rows: ArrayLike) -> NDArray[np.float32]:
    """Return rows scaled to length one; a row of zeros stays as it is, and is similar to nothing."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def quantized(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return vectors of length one as 8-bit integers: 127 stands for one."""
    import numpy as np

    small: NDArray[np.int8] = np.clip(np.rint(vectors * 127.0), -127, 127).astype(np.int8)
    return small


def embedded(
    texts: Sequence[str], dimension: int, longest: int, encode: Callable[[list[str]], ArrayLike]
) -> NDArray[np.float32]:
    """Return a row for each text: what `encode` returns for its first `longest` characters, or zeros if it is blank."""
    import numpy as np

    rows = np.zeros((len(texts), dimension), dtype=np.float32)
    kept = {index: cleaned(text[:longest]) for index, text in enumerate(texts) if text.strip()}
    if kept:
        rows[list(kept)] = unit_rows(encode(list(kept.values())))
    return rows


def cleaned(text: str) -> str:
    """Return a text with lone surrogates replaced, which a query may contain."""
    return text.encode("utf-8", "replace").decode("utf-8")


def batches(texts: Sequence[str], most: int, characters: int) -> Iterator[Sequence[str]]:
    """Yield slices of a list of texts, each of at most `most` texts and, unless it is one text, `characters`."""
    start, held = 0, 0
    for index, text in enumerate(texts):
        if index > start and (index - start >= most or held + len(text) > characters):
            yield texts[start:index]
            start, held = index, 0
        held += len(text)
    if start < len(texts):
        yield texts[start:]
