"""Plug-ins: what other packages add by entry points. They are found by name, and loaded when they are asked for.

Every process finds them by itself, so a name is all that is sent to a worker. A built-in name always wins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from spanwise.errors import MissingExtraError, PluginError, SpanwiseError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS: Final = {
    "readers": "reader", "strategies": "strategy", "tokenizers": "tokenizer", "embedders": "embedder",
    "rerankers": "reranker", "proposers": "proposer", "stores": "store",
}  # fmt: skip
"""For each group of entry points, `spanwise.GROUP`, what one of it is called."""

_made: Final[dict[object, Any]] = {}
T = TypeVar("T")
P = ParamSpec("P")


@cache
def _entry_points(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, in the order of the names; none is loaded."""
    from importlib.metadata import entry_points  # takes longer to import than all of this package

    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=f"spanwise.{group}")):
        found.setdefault(entry.name, []).append(entry)
    return found


def names(group: str) -> list[str]:
    """Return the names of the installed plug-ins of a group."""
    return list(_entry_points(group))


def origin(group: str, name: str) -> str:
    """Return the distribution that a plug-in comes from, with its version; "" if there is no such plug-in."""
    return " and ".join(sorted(_distribution(entry) for entry in _entry_points(group).get(name, [])))


def label(group: str, name: str) -> str:
    """Return how messages call a plug-in: its kind, name and distribution."""
    return f"{GROUPS[group]} {name} ({origin(group, name)})"


def made(group: str, name: str, make: Callable[[Any, str], T]) -> T:
    """Return what `make` makes of the value of an entry point and the plug-in's label, once a process.

    Raise PluginError if there is no such plug-in, or if it can't be loaded.
    """
    if (group, name) not in _made:
        value, who = load(group, name), label(group, name)
        with calling(who):
            _made[group, name] = make(value, who)
    found: T = _made[group, name]
    return found


def once(make: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Return what a function makes of the installed plug-ins, made once a process."""
    if (make, given) not in _made:
        _made[make, given] = make(*given, **named)
    found: T = _made[make, given]
    return found


def load(group: str, name: str) -> Any:
    """Return the value of an entry point; raise PluginError if it can't be loaded, or if two packages offer it.

    One that failed is not tried again in this process. What its module prints goes to stderr: stdout is for records.
    """
    key = ("load", group, name)
    if key not in _made:
        try:
            _made[key] = _loaded(group, name)
        except SpanwiseError as error:
            _made[key] = error
    if isinstance(_made[key], SpanwiseError):
        raise _made[key]
    return _made[key]


def _loaded(group: str, name: str) -> Any:
    entries, who = _entry_points(group).get(name, []), label(group, name)
    if len(entries) != 1:
        rule = "is offered by two packages" if entries else "is not installed"
        raise PluginError(who, rule, hint="uninstall one of them" if entries else None)
    try:
        with redirect_stdout(sys.stderr):
            return entries[0].load()
    except MissingExtraError:
        raise
    except (Exception, SystemExit) as error:
        hint = f"mend or remove {origin(group, name)}; nothing else needs it"
        raise PluginError(who, f"can't be loaded ({reason(error)})", hint=hint) from error


def forget() -> None:
    """Forget what was found and loaded, as after an installation in a running process."""
    _entry_points.cache_clear()
    _made.clear()


@contextmanager
def calling(who: str, about: str = "") -> Iterator[None]:
    """Turn what a plug-in raises into a PluginError that names it; errors of Spanwise, and MemoryError, stay."""
    try:
        yield
    except (SpanwiseError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failure(who, error, about) from error


def failure(who: str, error: BaseException, about: str = "") -> PluginError:
    """Return the error for what a plug-in raised; `about` is what it was working on."""
    return PluginError(who, f"raised {reason(error)}" + (f", for {about}" if about else ""))


def reason(error: BaseException) -> str:
    """Return the name and the message of an error, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def is_own(value: object) -> bool:
    """Whether an object is of a class of Spanwise, and not of a plug-in or of the user."""
    return type(value).__module__.partition(".")[0] == "spanwise"


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
