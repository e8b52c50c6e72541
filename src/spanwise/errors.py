"""Every exception that Spanwise raises.

    SpanwiseError
    ├── OptionError (ValueError)         an option, tokenizer or strategy that can't be used
    ├── UnreadableError (ValueError)     a text or file that can't be read
    │   └── LostFileError                one that takes too long, too much memory, or ends the process that reads it
    ├── DocumentError (ValueError)       a document, block or piece that contradicts itself
    ├── LimitError (ValueError)          one character that alone exceeds the limit
    ├── StoreError                       a store that can't be used, or not now
    │   ├── ConnectionLostError          its server can't be reached, or was cut off meanwhile
    │   └── StoreFullError               a store whose disk takes nothing more
    ├── EndpointError                    a service that doesn't answer, or not as it should
    ├── PluginError                      a plug-in that can't be loaded, fails, or breaks a rule
    └── MissingExtraError (ImportError)  an optional dependency that isn't installed

An error has its parts (`subject`, `rule`, `value`, `hint`) as attributes; `str()` of it is the message.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from enum import Enum
from typing import Final


class _NoValue(Enum):
    NO_VALUE = "no value is to blame"


NO_VALUE: Final = _NoValue.NO_VALUE
"""Stands for no value, because None may be the wrong one."""


class SpanwiseError(Exception):
    """The base class of all errors of this library."""

    def __init__(self, subject: str, rule: str, *, value: object = NO_VALUE, hint: str | None = None) -> None:
        """Keep the parts; `__str__` makes the message."""
        super().__init__(subject, rule)
        self.subject = subject
        self.rule = rule
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        """Return subject, rule and value, and the hint on a line of its own."""
        message = f"`{self.subject}` {self.rule}"
        if self.value is not NO_VALUE:
            message += f": {_shortened(self.value)}"
        return f"{message}\nhint: {self.hint}" if self.hint else message

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling with all parts, as errors of worker processes need."""
        return _rebuilt, (type(self), self.subject, self.rule, self.value, self.hint)


class OptionError(SpanwiseError, ValueError):
    """An option, tokenizer or strategy that can't be used."""


class UnreadableError(SpanwiseError, ValueError):
    """A text or file that can't be read."""


class LostFileError(UnreadableError):
    """A file that takes too long or too much memory, or that ends the process that reads it: see `cause`."""

    cause: str = "crash"
    """`time`, `memory` or `crash`."""

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling with the cause."""
        return *super().__reduce__(), {"cause": self.cause}


class DocumentError(SpanwiseError, ValueError):
    """A document, block or piece that contradicts itself."""


class LimitError(SpanwiseError, ValueError):
    """One character that alone exceeds the limit: it can neither be cut nor left out."""


class StoreError(SpanwiseError):
    """A store that can't be opened, read or written: it isn't one, is of another version, is full, or is in use."""


class ConnectionLostError(StoreError):
    """A store whose server can't be reached, or was cut off meanwhile: reading again may work at once."""


class StoreFullError(StoreError):
    """A store that can't be written because its disk is full, or fails."""


class EndpointError(SpanwiseError):
    """A service over the network that doesn't answer, or not as it should."""


class PluginError(SpanwiseError):
    """A plug-in, or an object given in place of one, that can't be loaded, raises, or breaks a rule of its kind."""


class MissingExtraError(SpanwiseError, ImportError):
    """An optional dependency that isn't installed."""

    @property
    def extra(self) -> str | None:
        """The extra of Spanwise that has the dependency."""
        named = re.search(r"spanwise\[([\w-]+)\]", self.hint or "")
        return named[1] if named else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt name: the nearest known one, else all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean `{near[0]}`?" if near else "known: " + ", ".join(names)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _rebuilt(kind: type[SpanwiseError], subject: str, rule: str, value: object, hint: str | None) -> SpanwiseError:
    return kind(subject, rule, value=value, hint=hint)
