"""Character positions from token ids."""

from __future__ import annotations

from array import array


def token_ends(ids: bytes, begun: array[int], base: int) -> bytes:
    """Return the position where each token ends, as 32-bit integers.

    `ids` are the tokens as 32-bit numbers, `begun` has one byte per id, the number of characters that begin in such a
    token, and the first token begins at position `base`.
    """
    import numpy

    begins = numpy.frombuffer(begun, numpy.uint8)[numpy.frombuffer(ids, numpy.uint32)]
    ends: bytes = (begins.cumsum(dtype=numpy.int32) + numpy.int32(base)).tobytes()
    return ends
