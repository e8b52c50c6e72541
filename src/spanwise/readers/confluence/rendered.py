"""The HTML that a browser shows of a file: a page itself, or the rendered body in an export of Confluence."""

from __future__ import annotations

from spanwise.readers.encodings import cleaned, decoded


def rendered(data: bytes, name: str) -> str | None:
    """Give the HTML of what the readers of HTML and Confluence have read; None where only storage format is known."""
    from spanwise.readers.confluence.detection import looks_exported
    from spanwise.readers.confluence.export import export_of

    text, _ = cleaned(decoded(data, name)[0])
    return export_of(text).shown if looks_exported(text) else text
