"""A limit on the bodies of responses: what an endpoint sends, and what it decompresses to, may be endless."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import httpx2

LARGEST: Final = 1 << 20
"""Bytes of a response that are read."""
PLAIN: Final = {"Accept-Encoding": "identity"}
"""The header that asks for uncompressed responses."""


class _LimitedStream(httpx2.AsyncByteStream):
    """A body up to the first part that passes the limit; the client itself reads bodies of errors to their end."""

    def __init__(self, whole: httpx2.AsyncByteStream) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._whole:
            yield part
            read += len(part)
            if read > LARGEST:
                return

    async def aclose(self) -> None:
        await self._whole.aclose()


async def limit_body(response: httpx2.Response) -> None:
    """Limit how much of a response is read; a compressed one is not decompressed, and is no answer."""
    response.headers.pop("content-encoding", None)
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _LimitedStream(response.stream)
