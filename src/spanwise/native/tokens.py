"""Token ids to character positions."""

from __future__ import annotations

from array import array


def token_ends(ids: bytes, begun: array[int], base: int) -> bytes:
    """Give the character where each token ends, as 32-bit integers.

    `ids` are the tokens' 32-bit numbers, `begun` says in one byte for each number how many characters begin in such a
    token, and the first token begins at character `base`.
    """
    import numpy

    begins = numpy.frombuffer(begun, numpy.uint8)[numpy.frombuffer(ids, numpy.uint32)]
    ends: bytes = (begins.cumsum(dtype=numpy.int32) + numpy.int32(base)).tobytes()
    return ends
