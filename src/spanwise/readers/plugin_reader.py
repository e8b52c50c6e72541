"""Readers of other packages, or of the user: found by their names and extensions, and what they return is completed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import PurePath
from typing import Any, Final, NamedTuple, Protocol

from spanwise import plugins
from spanwise.documents.document import Document, Metadata, derived_document_id, title_of_file
from spanwise.errors import DocumentError, OptionError, PluginError, SpanwiseError
from spanwise.plugins import calling

_KIND: Final = "readers"


class Reader(Protocol):
    """What an object must have to be given as a format."""

    @property
    def suffixes(self) -> Collection[str]:
        """The extensions of the files that it reads, such as `.ini`."""

    def read(self, data: bytes, **metadata: Any) -> Document:
        """Return the document of a file's bytes; raise UnreadableError if they are not of this format.

        `metadata` is what is known of the file, `file_path` above all; it is filled in afterwards as well.
        """


class PluginReader(NamedTuple):
    """A reader with its name, which is the `source_type` of its documents, and how messages call it."""

    name: str
    inner: Reader
    who: str
    suffixes: tuple[str, ...]

    def document(self, data: bytes, name: str, metadata: Mapping[str, Any]) -> Document:
        """Read the bytes of a file, and fill in what is known of it."""
        given = {key: value for key, value in metadata.items() if value is not None}
        with calling(self.who, name):
            try:
                found = self.inner.read(data, **given)
            except DocumentError as error:
                rule = f"made no document of {name}: `{error.subject}` {error.rule}"
                raise PluginError(self.who, rule, value=error.value, hint=error.hint) from error
            if not isinstance(found, Document):
                raise PluginError(self.who, f"must return a Document for {name}", value=type(found).__name__)
        return _completed(found, self.name, given)


def _completed(document: Document, name: str, given: Mapping[str, Any]) -> Document:
    """Return a document with the given metadata over its own, and an id by the rules for all readers."""
    own = {item.name: getattr(document.metadata, item.name) for item in fields(Metadata)}
    known = {**own, "source_type": name, **given, "extra": {**own["extra"], **given.get("extra", {})}}
    known["title"] = known.get("title") or title_of_file(known.get("file_path"))
    derived = {derived_document_id({**own, **more}, document.text) for more in ({}, {"source_url": None})}
    if "document_id" not in given and own["document_id"] in derived:  # the reader states none itself
        known["document_id"] = derived_document_id(identity(known, given), document.text)
    starts = () if "links" in given else document.link_starts
    return replace(document, metadata=Metadata.of(known), link_starts=starts)


def identity(known: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a document's id is derived from: an address that only the page itself states may be that of many."""
    return known if given.get("source_url") or not known.get("file_path") else {**known, "source_url": None}


def plugin_reader(format: object, built_in: Collection[str]) -> PluginReader | None:
    """Return the reader that a format names or is; None for a built-in format, and for one that nobody knows."""
    if not isinstance(format, str):
        name = format.__name__ if isinstance(format, type) else type(format).__name__
        return _reader(format, name, f"reader {name}") if format else None
    return _named(format) if format not in built_in and format in plugins.names(_KIND) else None


def _named(name: str) -> PluginReader:
    return plugins.made(_KIND, name, lambda make, who: _reader(make(), name, who))


def _reader(inner: Any, name: str, who: str) -> PluginReader:
    """Raise OptionError for an object that is no reader, PluginError for one that lacks something."""
    if isinstance(inner, type):
        raise PluginError(who, "is a class, and an object is needed", hint=f"try {inner.__name__}()")
    if not callable(getattr(inner, "read", None)):
        rule = "must be a name, or an object with `read(data, **metadata)`"
        raise OptionError("format", rule, value=inner, hint="try markdown")
    suffixes = getattr(inner, "suffixes", None)
    if isinstance(suffixes, str) or not isinstance(suffixes, Iterable):
        raise PluginError(who, "must have `suffixes`, a list of extensions", value=suffixes, hint='try [".ini"]')
    found = tuple(suffixes)
    if wrong := [one for one in found if not isinstance(one, str) or PurePath(f"x{one}").suffix != one or not one]:
        raise PluginError(who, "must have extensions such as `.ini` as `suffixes`", value=wrong[0])
    return PluginReader(name, inner, who, tuple(one.lower() for one in found))


def plugin_formats(built_in: Collection[str]) -> list[str]:
    """Return the names of the readers of plug-ins, which need not load."""
    return [name for name in plugins.names(_KIND) if name not in built_in]


def plugin_suffixes(built_in: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return for each extension the plug-ins that take it; one that can't be loaded takes none."""
    return plugins.once(_suffixes, built_in)


def _suffixes(built_in: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, reader in plugins.once(_loaded, built_in).items():
        for suffix in reader.suffixes if isinstance(reader, PluginReader) else ():
            found[suffix] = (*found.get(suffix, ()), name)
    return found


def _loaded(built_in: tuple[str, ...]) -> dict[str, PluginReader | SpanwiseError]:
    """Return the readers of all plug-ins; in place of one that can't be loaded, the error."""
    found: dict[str, PluginReader | SpanwiseError] = {}
    for name in plugin_formats(built_in):
        try:
            found[name] = _named(name)
        except SpanwiseError as error:
            found[name] = error
    return found


def unloaded_readers(built_in: tuple[str, ...]) -> list[str]:
    """Return why plug-ins can't be loaded."""
    found = plugins.once(_loaded, built_in).values()
    return [f"{error.subject} {error.rule}" for error in found if isinstance(error, SpanwiseError)]


def plugin_origin(suffix: str, format: object, built_in: tuple[str, ...]) -> str:
    """Return the package and version of the plug-in that reads a file of this extension or format; "" if none does."""
    if not isinstance(format, str | None):
        return type(format).__qualname__
    names = plugin_suffixes(built_in).get(suffix, ()) if format is None else (format,)
    return ", ".join(plugins.origin(_KIND, name) for name in names)
