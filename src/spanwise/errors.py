"""Every exception that Spanwise raises.

    SpanwiseError
    ├── OptionError (ValueError)         an option, tokenizer or strategy that can't be used
    ├── UnreadableError (ValueError)     a text or file that can't be read
    ├── DocumentError (ValueError)       a document, block or piece that contradicts itself
    ├── LimitError (ValueError)          one character that alone passes the limit
    ├── StoreError                       a store that can't be used, or not now
    ├── EndpointError                    a service that doesn't answer, or not as it should
    └── MissingExtraError (ImportError)  an optional dependency that isn't installed

An error carries its parts (`subject`, `rule`, `value`, `hint`) as well as its words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import Enum
from typing import Final


class _Unsaid(Enum):
    UNSAID = "no value is to blame"


UNSAID: Final = _Unsaid.UNSAID
"""Stands for no value, because None may be the wrong one."""


class SpanwiseError(Exception):
    """The root of all errors of this library."""

    def __init__(self, subject: str, rule: str, *, value: object = UNSAID, hint: str | None = None) -> None:
        """Keep the parts; the words are made by `__str__`."""
        super().__init__(subject, rule)
        self.subject = subject
        self.rule = rule
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        """Say what, which rule, which value, and the hint on a line of its own."""
        words = f"`{self.subject}` {self.rule}"
        if self.value is not UNSAID:
            words += f": {_shortened(self.value)}"
        return f"{words}\nhint: {self.hint}" if self.hint else words

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error travel from a worker process with all its parts."""
        return _rebuilt, (type(self), self.subject, self.rule, self.value, self.hint)


class OptionError(SpanwiseError, ValueError):
    """An option, tokenizer or strategy that can't be used."""


class UnreadableError(SpanwiseError, ValueError):
    """A text or file that can't be read."""


class DocumentError(SpanwiseError, ValueError):
    """A document, block or piece that contradicts itself."""


class LimitError(SpanwiseError, ValueError):
    """One character that alone passes the limit: it can neither be cut nor left out."""


class StoreError(SpanwiseError):
    """A store that can't be opened, read or written: it isn't one, is of another version, is full, or is in use."""


class EndpointError(SpanwiseError):
    """A service over the network that doesn't answer, or not as it should."""


class MissingExtraError(SpanwiseError, ImportError):
    """An optional dependency that isn't installed."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give a hint for a misspelt name: the nearest known one, else all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean `{near[0]}`?" if near else "known: " + ", ".join(names)


def _shortened(value: object) -> str:
    words = repr(value)
    return words if len(words) <= 80 else words[:77] + "..."


def _rebuilt(kind: type[SpanwiseError], subject: str, rule: str, value: object, hint: str | None) -> SpanwiseError:
    return kind(subject, rule, value=value, hint=hint)
