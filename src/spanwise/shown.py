"""Markdown as a page shows it: without its marks."""

from __future__ import annotations

from typing import Any


def shown_text(markdown: str, limit: int) -> str:
    """Give the first `limit` visible characters of a piece of Markdown, white space collapsed."""
    import pyromark

    flags = pyromark.Options
    options = flags.ENABLE_TABLES | flags.ENABLE_FOOTNOTES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS
    words: list[str] = []
    length = 0
    event: Any
    for event in pyromark.events(markdown[: limit * 8 + 400], options=options):
        word = " " if event.__class__ is str else event.get("Text") or event.get("Code") or ""
        if not word and "End" in event and event["End"] not in _INLINE:
            word = " "
        words.append(word)
        length += len(word)
        if length > limit * 2:
            break
    return " ".join("".join(words).split())[:limit].rstrip()


_INLINE = ("Emphasis", "Strong", "Strikethrough", "Link", "Image")
