"""The document of a file, however its path is spelled, and the documents whose files are gone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from spanwise.opening import path_text
from spanwise.stores.values import DocumentState


class Named(NamedTuple):
    """A file with the name of its document in the store, and the state of that document, if there is one."""

    location: str
    file_path: str
    known: DocumentState | None


class Names:
    """Names files: one that was indexed keeps its name; a new one is named as its neighbours were, if that is free.

    Without neighbours it is named by its path from the working folder if it lies in it, else by its whole path.
    """

    def __init__(self, known: Iterable[DocumentState]) -> None:
        self._by_location = {one.location: one for one in known if one.location}
        self._by_path = {one.file_path: one for one in self._by_location.values() if one.file_path}
        self._tops = [*_tops(self._by_location.values()), location_of(".").rstrip("/") + "/"]
        self._folders: dict[str, str] = {}

    def known_at(self, location: str) -> DocumentState | None:
        """Return the document that was indexed from a location."""
        return self._by_location.get(location)

    def name(self, file: str, location: str | None = None) -> Named:
        """Return the name of a file; its location is given if it is known already."""
        location = location or location_of(file, self._folders)
        known = self._by_location.get(location)
        if known is not None:
            return Named(location, known.file_path or location, known)
        top = next((top for top in self._tops if location.startswith(top)), "")
        file_path = location.removeprefix(top)
        other = self._by_path.get(file_path)
        if other and other.location and not os.path.lexists(other.location):
            return Named(location, file_path, other)  # the folder has moved, its documents are the same
        return Named(location, location if other else file_path, None)  # maybe a file of that name in another folder


def location_of(file: str, resolved: dict[str, str] | None = None) -> str:
    """Return a file's absolute path, folders resolved; a link keeps its own name: where it leads may change.

    `resolved` caches folders.
    """
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100 - for many files
    resolved = {} if resolved is None else resolved
    if folder not in resolved:
        resolved[folder] = os.path.realpath(folder)
    return path_text(PurePath(resolved[folder], name).as_posix())


def _tops(known: Iterable[DocumentState]) -> list[str]:
    """Return the folders from which documents were named, the most used first."""
    tops = Counter(
        one.location.removesuffix(one.file_path)
        for one in known
        if one.location and one.file_path and one.location.endswith(f"/{one.file_path}")
    )
    return [top for top, _ in sorted(tops.items(), key=lambda pair: (-pair[1], pair[0]))]


def gone(
    known: Iterable[DocumentState], paths: Iterable[str], there: Iterable[str], unseen: Iterable[str]
) -> list[DocumentState]:
    """Return the documents whose files lay in these paths and are no longer among the locations that are there.

    What lies in folders that couldn't be listed is not gone.
    """
    tops, hidden = [location_of(path) for path in paths], [location_of(path) for path in unseen]
    present = set(there)
    lost = [one for one in known if one.location and one.location not in present]
    return [one for one in lost if _is_within(one.location, tops) and not _is_within(one.location, hidden)]


def _is_within(location: str | None, tops: Iterable[str]) -> bool:
    return any(f"{location}/".startswith(top.rstrip("/") + "/") for top in tops)


def is_taken(document_id: str, location: str | None, known: Mapping[str, DocumentState]) -> DocumentState | None:
    """Return the document of that id that belongs to another file, if that file is still there."""
    other = known.get(document_id)
    if other is None or other.location is None or other.location == location or not Path(other.location).exists():
        return None
    return other
