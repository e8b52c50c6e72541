"""Which document a file is, however its path is spelt, and which documents have lost their file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from spanwise.stores.values import DocumentState


class Named(NamedTuple):
    """A file with the name that its document has, and what is known of it."""

    file: str
    place: str
    file_path: str
    known: DocumentState | None


def place_of(file: str) -> str:
    """Give a file's absolute path, folders resolved; a link keeps its own name: where it leads may change."""
    return _place(file, {})


def _place(file: str, folders: dict[str, str]) -> str:
    """Give a file's place; the folders that were resolved before are known."""
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100 - for many files
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return _text(PurePath(folders[folder], name).as_posix())


def named(files: Sequence[str], known: Iterable[DocumentState]) -> list[Named]:
    """Name files: one that was indexed keeps its name; a new one is named as its neighbours were, unless that is taken.

    Without neighbours it is named by its path from the working folder if it lies in it, else by its whole path.
    """
    by_place = {one.place: one for one in known if one.place}
    by_path = {one.file_path: one for one in by_place.values() if one.file_path}
    homes = [*_homes(by_place.values()), place_of(".").rstrip("/") + "/"]
    found: list[Named] = []
    folders: dict[str, str] = {}
    for file in files:
        place = _place(file, folders)
        there = by_place.get(place)
        if there is None:
            home = next((home for home in homes if place.startswith(home)), "")
            file_path = place.removeprefix(home)
            other = by_path.get(file_path)
            if other and other.place and not os.path.lexists(other.place):
                there = other  # the folder has moved, its documents are the same
            elif other:
                file_path = place  # a file of that name in another folder
        else:
            file_path = there.file_path or place
        found.append(Named(file, place, file_path, there))
    return found


def _homes(known: Iterable[DocumentState]) -> list[str]:
    """Give the folders from which documents were named, the most used first."""
    homes = Counter(
        one.place.removesuffix(one.file_path)
        for one in known
        if one.place and one.file_path and one.place.endswith(f"/{one.file_path}")
    )
    return [home for home, _ in sorted(homes.items(), key=lambda pair: (-pair[1], pair[0]))]


def gone(
    known: Iterable[DocumentState], paths: Iterable[str], there: Iterable[str], unseen: Iterable[str]
) -> list[DocumentState]:
    """Give the documents whose files lay in these paths and are no longer among what is there.

    What lies in folders that couldn't be seen is not gone.
    """
    tops, hidden, present = [place_of(path) for path in paths], [place_of(path) for path in unseen], set(there)
    return [
        one
        for one in known
        if one.place and one.place not in present and _within(one.place, tops) and not _within(one.place, hidden)
    ]


def _within(place: str, tops: Iterable[str]) -> bool:
    return any(place == top or place.startswith(top.rstrip("/") + "/") for top in tops)


def _text(path: str) -> str:
    """Give a name on disk as text; two that differ must not become one."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_taken(document_id: str, place: str, known: Mapping[str, DocumentState]) -> DocumentState | None:
    """Give the document of that id that another file, which is still there, stands for."""
    other = known.get(document_id)
    if other is None or other.place is None or other.place == place or not Path(other.place).exists():
        return None
    return other
