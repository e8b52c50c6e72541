"""Records as JSON lines, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spanwise.errors import UnreadableError


def json_lines(records: Iterable[Mapping[str, Any]], name: str) -> bytes:
    """Return a line of JSON for each record; raise UnreadableError, naming the document, where JSON can't hold one."""
    import orjson

    try:
        return b"".join([orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records])
    except TypeError as error:  # an integer over 64 bits, or half a character, in metadata of one's own
        raise UnreadableError(name, f"has metadata that JSON can't say ({error})") from error


def records_in(lines: bytes) -> list[dict[str, Any]]:
    """Return the records of JSON lines."""
    import orjson

    return [orjson.loads(line) for line in lines.splitlines()]
