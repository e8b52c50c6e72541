"""What a child is told to do, how it is sent, and what it answers."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, NamedTuple

from spanwise.errors import OptionError

TIME: Final = "time"
MEMORY: Final = "memory"
CRASH: Final = "crash"
"""Why a child was lost; an answer of the kind `crash` is an exception."""
REFUSED: Final = "refused"
"""The kind of answer of a child that can't read an order."""
DONE: Final = ""


class Limits(NamedTuple):
    """What one file may take; 0 means that there is no limit."""

    seconds: float = 120.0
    megabytes: int = 2_048

    def __bool__(self) -> bool:
        """Whether there is any limit."""
        return bool(self.seconds or self.megabytes)


def checked_limits(file_timeout: float, file_memory: int) -> Limits:
    """Return limits given in seconds and megabytes; raise OptionError for what is no limit."""
    for name, value, kinds in (("file_timeout", file_timeout, (int, float)), ("file_memory", file_memory, int)):
        if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 1e9:
            unit = "seconds" if name == "file_timeout" else "megabytes"
            raise OptionError(name, f"must be a number of {unit}", value=value, hint="0 means no limit")
    return Limits(file_timeout, file_memory)


class Order(NamedTuple):
    """Jobs for a child: it calls `work` with one after the other."""

    work: Callable[[Any], Any]
    jobs: Sequence[Any]
    limits: Limits


class Encoded(NamedTuple):
    """An order as it is sent, and whose code it needs: the user's main module, or modules that aren't ours."""

    data: bytes
    needs_main: bool
    is_foreign: bool


class _Pickler(pickle.Pickler):
    """Notes where the functions and classes of an order are from: its bytes don't tell, a document may say anything."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.modules: set[str] = set()

    def reducer_override(self, value: object) -> Any:
        """Leave everything as usual."""
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            self.modules.add(value.__module__ or "")
        return NotImplemented


def encoded(order: Order) -> Encoded | None:
    """Return an order as it is sent; None if it can't be: something in it can't be pickled."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump((working_folder(), dict(os.environ), order))
    except Exception:  # objects of the user's own may raise anything here
        return None
    tops = {module.partition(".")[0] for module in pickler.modules}
    return Encoded(file.getvalue(), "__main__" in tops, not tops <= {"", "spanwise", *sys.stdlib_module_names})


def working_folder() -> str | None:
    """Return the working folder; None if it was deleted."""
    with suppress(OSError):
        return str(Path.cwd())
    return None
