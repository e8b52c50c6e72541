"""The names by which people know a tokenizer: those of OpenAI's encodings and of the models that use them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

MODEL_NAMES: Final = {
    "cl100k": (
        "cl100k_base", "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002", "gpt-4", "gpt-4-*",
        "gpt-3.5-turbo*", "gpt-35-turbo*",
    ),
    "o200k": (
        "o200k_base", "gpt-4o*", "chatgpt-4o*", "gpt-4.1*", "gpt-4.5*", "gpt-5*", "gpt-oss*", "o1", "o1-*",
        "o3", "o3-*", "o4", "o4-*",
    ),
}  # fmt: skip
"""For each encoding its other names; `*` stands for the versions of a model."""


def encoding_of(name: str) -> str | None:
    """Return the encoding that a name of a model stands for; None if it isn't one. Models tuned by users are known."""
    model = name.lower().removeprefix("ft:").partition(":")[0]
    known = ((encoding, pattern) for encoding, patterns in MODEL_NAMES.items() for pattern in patterns)
    return next((encoding for encoding, pattern in known if fnmatchcase(model, pattern)), None)
