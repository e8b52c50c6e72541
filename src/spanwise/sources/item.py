"""SourceItem: one thing to read, wherever its bytes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.opening import read_file_bytes


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One thing to read: bytes in memory, a document that is read already, or what a subclass fetches.

    To be recognised by a later indexing run, an item has a `location`, or its metadata a `document_id` or `source_url`.
    Items are sent to worker processes, so a subclass must be picklable.
    """

    name: str
    """What messages call it."""
    size: int = 0
    format: Any = None
    """Of the bytes: a name, or a reader; None where the name of the item decides."""
    location: str | None = None
    """What identifies it in a store, whatever its name: the absolute path of a file, an address."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the source knows of the document."""
    data: bytes | None = None
    """The bytes, where they are in memory already."""
    document: Document | None = None
    """The document, where it is read already."""
    error: SpanwiseError | None = None
    """Why there is nothing to read."""

    @property
    def is_read(self) -> bool:
        """Whether there is nothing left to read: a document, or an error."""
        return self.document is not None or self.error is not None

    def fetch(self) -> bytes:
        """Return the bytes; what it raises is reported as the error of this item."""
        if self.data is None:
            raise ValueError("it has no data")
        return self.data


@dataclass(frozen=True, slots=True)
class FileItem(SourceItem):
    """A file of this machine."""

    path: str = ""
    """The path as it was given; `name` is the same as text, which a path on disk need not be."""
    within: str | None = None
    """The real path of the folder that it was found in and must lie in, "" for any; None if it was named itself."""

    def fetch(self) -> bytes:
        """Return the bytes of the file; raise UnreadableError if it is none, or none any more."""
        return read_file_bytes(self.path, within=self.within) if self.data is None else self.data
