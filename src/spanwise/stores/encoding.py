"""Encodings of stored values: compressed JSON, and vectors as pgvector reads and writes them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def compressed_json(json: bytes) -> bytes:
    """Compress JSON: the three texts of a record are nearly the same."""
    return zlib.compress(json, 1)


def json_value(data: bytes) -> Any:
    """Return the value of compressed JSON."""
    import orjson

    return orjson.loads(zlib.decompress(data))


def as_halfvec(vector: NDArray[np.float32] | bytes) -> str:
    """Format a vector for pgvector, in the small integers that stores keep."""
    import numpy as np

    from spanwise.embedding import quantized

    integers = np.frombuffer(vector, np.int8) if isinstance(vector, bytes) else quantized(vector)
    return "[" + ",".join(map(str, integers.tolist())) + "]"
