"""HTML without its tags."""

from __future__ import annotations

import re
from typing import Final

from spanwise.native.shown import EDGE

BLOCK_TAG: Final = re.compile(
    r"</?(?:p|div|li|ul|ol|tr|td|th|table|h[1-6]|br|figure|figcaption|pre|blockquote|section|article|dt|dd)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)


def without_tags(text: str) -> str:
    """Take tags and comments away: an edge stands for the tag of a block, nothing for any other."""
    return _TAG.sub("", BLOCK_TAG.sub(EDGE, text))
