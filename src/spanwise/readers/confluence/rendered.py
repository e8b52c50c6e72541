"""The HTML that a browser renders for a file: the page itself, or the rendered body in an export of Confluence."""

from __future__ import annotations

from spanwise.readers.encodings import cleaned, decoded


def rendered(data: bytes, name: str) -> str | None:
    """Return the HTML of a file read as HTML or Confluence; None if it has only storage format."""
    from spanwise.readers.confluence.detection import looks_exported
    from spanwise.readers.confluence.export import export_of

    text, _ = cleaned(decoded(data, name)[0])
    return export_of(text).rendered if looks_exported(text) else text
