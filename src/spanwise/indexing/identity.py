"""Which document a file is, however its path is spelled, and which documents have lost their file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from spanwise.sources.folder import path_text
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
        self._by_location = {one.place: one for one in known if one.place}
        self._by_path = {one.file_path: one for one in self._by_location.values() if one.file_path}
        self._tops = [*_tops(self._by_location.values()), location_of(".").rstrip("/") + "/"]
        self._folders: dict[str, str] = {}

    def name(self, file: str) -> Named:
        """Return the name of a file."""
        location = _location(file, self._folders)
        known = self._by_location.get(location)
        if known is not None:
            return Named(location, known.file_path or location, known)
        top = next((top for top in self._tops if location.startswith(top)), "")
        file_path = location.removeprefix(top)
        other = self._by_path.get(file_path)
        if other and other.place and not os.path.lexists(other.place):
            return Named(location, file_path, other)  # the folder has moved, its documents are the same
        return Named(location, location if other else file_path, None)  # maybe a file of that name in another folder


def location_of(file: str) -> str:
    """Return a file's absolute path, folders resolved; a link keeps its own name: where it leads may change."""
    return _location(file, {})


def _location(file: str, folders: dict[str, str]) -> str:
    """Return a file's location; `folders` holds those that were resolved before."""
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100 - for many files
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return path_text(PurePath(folders[folder], name).as_posix())


def _tops(known: Iterable[DocumentState]) -> list[str]:
    """Return the folders from which documents were named, the most used first."""
    tops = Counter(
        one.place.removesuffix(one.file_path)
        for one in known
        if one.place and one.file_path and one.place.endswith(f"/{one.file_path}")
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
    return [
        one
        for one in known
        if one.place and one.place not in present and _within(one.place, tops) and not _within(one.place, hidden)
    ]


def _within(location: str, tops: Iterable[str]) -> bool:
    return any(location == top or location.startswith(top.rstrip("/") + "/") for top in tops)


def is_taken(document_id: str, location: str | None, known: Mapping[str, DocumentState]) -> DocumentState | None:
    """Return the document of that id that belongs to another file, if that file is still there."""
    other = known.get(document_id)
    if other is None or other.place is None or other.place == location or not Path(other.place).exists():
        return None
    return other
