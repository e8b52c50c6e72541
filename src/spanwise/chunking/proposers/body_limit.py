"""Bodies of answers, of which only so much is ever held: what an endpoint sends, and what it unpacks to, has no end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import httpx2

LARGEST: Final = 1 << 20
"""Bytes of an answer that are read."""
PLAIN: Final = {"Accept-Encoding": "identity"}
"""The header that asks for answers that needn't be unpacked."""


class _Beginning(httpx2.AsyncByteStream):
    """A body up to the first part that passes the bound; the client itself reads those of errors to their end."""

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


async def bound(response: httpx2.Response) -> None:
    """Keep a response from being read without end; one that comes packed stays so, and is no answer."""
    response.headers.pop("content-encoding", None)
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Beginning(response.stream)
