"""The ids of chunks: hashes of a chunk's location, and of its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

_json: Final = json.JSONEncoder(ensure_ascii=False).encode


def sha256(text: str) -> str:
    """Return the hash of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def owner_of(document_id: str, *, parent: bool) -> str:
    """Return what the ids of a document's chunks begin with; a parent may have the same range as its only child."""
    return f"{document_id}/parent" if parent else document_id


def chunk_id(owner: str, first: int, last: int, start: int, end: int) -> str:
    """Return the id of a chunk by its blocks and its range."""
    return sha256(f"{owner}:{first}:{last}:{start}:{end}")


def content_head(owner: str, hashed_path: Sequence[str]) -> str:
    """Return the JSON that a content id hashes first, before the ordinal, a line end and the text."""
    path = '", "'.join(hashed_path)  # hashes need no escapes, and there is a path for every second chunk
    return f'[{_json(owner)}, ["{path}"]]' if path else f"[{_json(owner)}, []]"


def content_digest(owner: str, hashed_path: Sequence[str]) -> Any:
    """Return the hash object of a content id, to be updated with the ordinal, a line end and the text."""
    return hashlib.sha256(content_head(owner, hashed_path).encode())
