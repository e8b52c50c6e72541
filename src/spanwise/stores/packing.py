"""How values lie in a store: JSON in little room, moments and vectors so that a database can compare them."""

from __future__ import annotations

import hashlib
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from spanwise.stores.values import Entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def packed(json: bytes) -> bytes:
    """Give JSON in less room: the three texts of a record are nearly one."""
    return zlib.compress(json, 1)


def unpacked(packed: bytes) -> Any:
    """Give what was packed as values."""
    import orjson

    return orjson.loads(zlib.decompress(packed))


def record_hash(entry: Entry) -> str:
    """Hash what a store would write anew if the chunk moved."""
    said = b"\0".join((entry.record, entry.lead.encode(), str(entry.position).encode()))
    return hashlib.sha256(said).hexdigest()


def moment(stamp: str | None) -> str | None:
    """Give a time in one spelling, so that texts compare as times do; what names no zone is in UTC."""
    if stamp is None:
        return None
    time = datetime.fromisoformat(stamp)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="microseconds")


def as_halves(vector: NDArray[np.float32] | bytes) -> str | None:
    """Write a vector as pgvector reads it, in the small integers that stores keep; None for one of zeros."""
    import numpy as np

    from spanwise.embedding import quantized

    small = np.frombuffer(vector, np.int8) if isinstance(vector, bytes) else quantized(vector)
    return "[" + ",".join(map(str, small.tolist())) + "]" if small.any() else None
