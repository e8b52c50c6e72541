"""How values lie in a store: JSON in little room, and vectors so that a server can compare them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def compressed_json(json: bytes) -> bytes:
    """Give JSON in less room: the three texts of a record are nearly one."""
    return zlib.compress(json, 1)


def json_value(compressed_json: bytes) -> Any:
    """Give what was packed as values."""
    import orjson

    return orjson.loads(zlib.decompress(compressed_json))


def as_halves(vector: NDArray[np.float32] | bytes) -> str:
    """Write a vector as pgvector reads it, in the small integers that stores keep."""
    import numpy as np

    from spanwise.embedding import quantized

    small = np.frombuffer(vector, np.int8) if isinstance(vector, bytes) else quantized(vector)
    return "[" + ",".join(map(str, small.tolist())) + "]"
