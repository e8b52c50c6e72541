"""Character positions from token ids."""

from __future__ import annotations

from array import array
from operator import index

from spanwise.native.seams import LARGEST


def token_ends(ids: bytes, begun: array[int], base: int) -> bytes:
    """Return the position where each token ends, as 32-bit integers; raise OverflowError where one is larger.

    `ids` are the tokens as 32-bit numbers, `begun` has one byte per id, the number of characters that begin in such a
    token, and the first token begins at position `base`.
    """
    import numpy

    base = index(base)
    if not 0 <= base <= LARGEST:
        raise OverflowError("a base is a 32-bit integer, and not negative")
    begins = numpy.frombuffer(begun, numpy.uint8)[numpy.frombuffer(ids, numpy.uint32)]
    ends = begins.cumsum(dtype=numpy.int64) + base
    if len(ends) and ends[-1] > LARGEST:
        raise OverflowError("a token ends beyond 32 bits")
    return ends.astype(numpy.int32).tobytes()
