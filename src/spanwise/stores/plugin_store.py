"""PluginStore: a store of another package, or of the user; what it raises is an error that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import wraps
from types import NoneType
from typing import Any, Final, Self

from spanwise.errors import PluginError
from spanwise.plugins import calling
from spanwise.stores.values import Candidate, ChunkState, DocumentState, Model, Statistics, StoredChunk

_RETURNS: Final[Mapping[str, tuple[type | tuple[type, ...], type]]] = {
    "model": ((Model, NoneType), object), "tenants": (Sequence, str), "status": (Mapping, object),
    "verify": (Sequence, str),
    "statistics": (Statistics, object), "lexical": (Sequence, Candidate), "nearest": (Sequence, object),
    "cosines": (Mapping, object), "counts": (Sequence, Candidate), "fetch": (Sequence, StoredChunk),
    "fetch_ids": (Sequence, StoredChunk), "links": (Set, object), "documents": (Iterable, object),
    "known": (Mapping, DocumentState), "chunks": (Sequence, ChunkState), "vectors": (Mapping, bytes),
    "commit": (object, object),
}  # fmt: skip
"""What the methods of a store, its readers and its writers return: a container, and what is in it."""


class _Guarded:
    """An object whose methods are called under guard."""

    def __init__(self, inner: Any, who: str) -> None:
        self._inner, self._who = inner, who

    def __getattr__(self, name: str) -> Any:
        if name in _RETURNS and not hasattr(self._inner, name):
            raise PluginError(self._who, f"must have a method `{name}`", value=type(self._inner).__name__)
        found = getattr(self._inner, name)
        return _guarded(found, name, self._who) if callable(found) else found


def _guarded(method: Callable[..., Any], name: str, who: str) -> Callable[..., Any]:
    @wraps(method)
    def call(*arguments: Any, **keywords: Any) -> Any:
        with calling(who):
            return _checked(method(*arguments, **keywords), name, who)

    return call


def _checked(found: Any, name: str, who: str) -> Any:
    """Return what a method returned; raise PluginError if it is something else than the protocol says."""
    wanted, kind = _RETURNS.get(name, (object, object))
    if not isinstance(found, wanted):
        raise PluginError(who, f"must return {_names(wanted)} from `{name}`", value=type(found).__name__)
    items: Any = found.values() if isinstance(found, Mapping) else found if kind is not object else ()
    if wrong := next((type(one) for one in items if not isinstance(one, kind)), None):
        rule = f"must return {_names(wanted)} of {kind.__name__} from `{name}`"
        raise PluginError(who, rule, value=wrong.__name__)
    return found


def _names(wanted: type | tuple[type, ...]) -> str:
    return " or ".join(one.__name__ for one in (wanted if isinstance(wanted, tuple) else (wanted,)))


class _Reader(_Guarded):
    """A tenant's reader."""

    def __enter__(self) -> Self:
        with calling(self._who):
            return type(self)(self._inner.__enter__(), self._who)

    def __exit__(self, *error: object) -> None:
        with calling(self._who):
            self._inner.__exit__(*error)

    def documents(self) -> Iterable[DocumentState]:
        with calling(self._who):
            yield from _checked(self._inner.documents(), "documents", self._who)


class PluginStore(_Guarded):
    """A store that delegates to an object."""

    def __init__(self, inner: Any, who: str) -> None:
        """Raise PluginError if the object is no store."""
        for needed in ("model", "reading", "writing", "tenants", "status", "verify", "close"):
            if not callable(getattr(inner, needed, None)):
                raise PluginError(who, f"must have a method `{needed}`", hint="see spanwise.Store")
        super().__init__(inner, who)

    def reading(self, tenant: str) -> Any:
        """Return a reader of a tenant's documents."""
        with calling(self._who):
            return _Reader(self._inner.reading(tenant), self._who)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[Any]:
        """Return a context that holds the write lock."""
        with calling(self._who):
            context = self._inner.writing(tenant, model, wait)
            writer = context.__enter__()
        try:
            yield _Guarded(writer, self._who)
        except BaseException as error:
            if not context.__exit__(type(error), error, error.__traceback__):
                raise
        else:
            with calling(self._who):
                context.__exit__(None, None, None)
