"""SourceItem: one thing to read, wherever its bytes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One thing to read: a file, bytes in memory, or a document that is read already. It can be pickled."""

    name: str
    """What messages call it: the path of a file, as it was given."""
    size: int = 0
    format: str | None = None
    """Of the bytes; None where the name decides."""
    location: str | None = None
    """What identifies it in a store, however its name was spelled: the absolute path of a file."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the source knows of the document."""
    data: bytes | None = None
    """The bytes, where they are in memory already."""
    document: Document | None = None
    """The document, where it is read already."""
    error: SpanwiseError | None = None
    """Why there is nothing to read."""

    def fetch(self) -> bytes:
        """Return the bytes; raise OSError or ValueError if they can't be had."""
        return Path(self.name).read_bytes() if self.data is None else self.data
