"""A tokenizer that counts every character."""

from __future__ import annotations


class LetterTokenizer:
    """One token a character."""

    name = "letters"

    def count(self, text: str) -> int:
        """Return the number of characters."""
        return len(text)

    def ends(self, text: str) -> list[int]:
        """Return every position."""
        return list(range(1, len(text) + 1))
