"""The events of the Markdown parser: CommonMark with GitHub's tables, task lists, strikethrough and footnotes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyromark


def markdown_events(text: str, body_start: int, *, wiki: bool) -> tuple[str, Iterator[tuple[Any, Any]]]:
    """Parse a text with front matter up to `body_start`, and return the parsed text with its events.

    The parser would find front matter in the middle of a text too, between two rules. So its own detection is used
    only where that can't happen and both agree on the end; else the front matter is blanked, which keeps positions.
    """
    if body_start and text.startswith("---") and text.find("\n---", body_start) < 0:
        events = _parser(yaml=True, wiki=wiki).events_with_range(text)
        first, where = next(events, (None, {"end": -1}))
        if _is_front_matter(first) and where["end"] == len(text[:body_start].encode()):
            return text, events
    if body_start:
        text = " " * body_start + text[body_start:]
    return text, _parser(yaml=False, wiki=wiki).events_with_range(text)


def _is_front_matter(event: Any) -> bool:
    opened = event.get("Start") if isinstance(event, dict) else None
    return isinstance(opened, dict) and "MetadataBlock" in opened


@cache
def _parser(*, yaml: bool, wiki: bool) -> pyromark.Markdown:
    """Return a parser, imported on first use; front matter and wiki links only if the text may have them."""
    import pyromark

    flags = pyromark.Options
    options = flags.ENABLE_TABLES | flags.ENABLE_FOOTNOTES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS
    options |= flags.ENABLE_YAML_STYLE_METADATA_BLOCKS if yaml else flags(0)
    options |= flags.ENABLE_WIKILINKS if wiki else flags(0)
    return pyromark.Markdown(options=options)
