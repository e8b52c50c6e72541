"""A vault: a folder of linked notes, whose links are resolved to their targets.

A target is found by its path, its name, an alias or its own id, whatever the case; of several notes with one name the
nearest counts. Links that lead nowhere are reported, and so are block ids that occur twice in a note.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from spanwise.documents.document import Document, Link
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.readers import load, read_bytes
from spanwise.readers.markdown.notes import block_ids
from spanwise.sources.folder import find_files

_NOTES: Final = (".md", ".markdown")


class Reference(NamedTuple):
    """A link of a note, and its target.

    `target` is a path in the vault, None for one that leads nowhere; `block` is the block that a heading or block id
    names; `problem` is the reason why it leads nowhere.
    """

    source: str
    link: Link
    target: str | None = None
    block: int | None = None
    problem: str | None = None


class RepeatedId(NamedTuple):
    """A block id that occurs more than once in a note."""

    note: str
    block_id: str
    times: int


@dataclass(frozen=True)
class Vault:
    """Notes by their paths in the vault, and the names of all other files."""

    notes: Mapping[str, Document]
    files: frozenset[str] = frozenset()
    failed: tuple[SpanwiseError, ...] = ()
    """What couldn't be read; links to it are not dangling."""

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every link between notes, and to other files of the vault; web addresses are none."""
        return tuple(
            self._resolved(source, link)
            for source, document in self.notes.items()
            for link in document.metadata.links
            if not _is_external(link.target)
        )

    @cached_property
    def incoming(self) -> dict[str, tuple[Reference, ...]]:
        """The links that lead to each note from another one."""
        found: dict[str, list[Reference]] = {path: [] for path in self.notes}
        for reference in self.references:
            if reference.target in found and reference.target != reference.source:
                found[reference.target].append(reference)
        return {path: tuple(references) for path, references in found.items()}

    @property
    def dangling(self) -> tuple[Reference, ...]:
        """The links that lead nowhere: no such note, heading or block."""
        return tuple(reference for reference in self.references if reference.problem)

    @cached_property
    def repeated_ids(self) -> tuple[RepeatedId, ...]:
        """The block ids that occur more than once in one note."""
        return tuple(
            RepeatedId(path, name, times)
            for path, document in self.notes.items()
            for name, times in Counter(name for name, _ in self._ids(document)).items()
            if times > 1
        )

    def _ids(self, document: Document) -> Iterable[tuple[str, int]]:
        return block_ids(document.text, document.blocks) if "^" in document.text else ()

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Every name of a note or file, with the notes and files that have it."""
        names: dict[str, list[str]] = {}
        for path, document in self.notes.items():
            stem = PurePosixPath(path).with_suffix("").as_posix().casefold().split("/")
            extra = document.metadata.extra
            own = [*extra.get("aliases", ()), extra.get("id")]
            for name in dict.fromkeys([*_ends(stem, "/"), *(str(name).casefold() for name in own if name)]):
                names.setdefault(name, []).append(path)
        for path in self.files:
            for name in _ends(path.casefold().split("/"), "/"):
                names.setdefault(name, []).append(path)
        return names

    def _resolved(self, source: str, link: Link) -> Reference:
        target, heading, block_id = _split(link)
        found = source if not target else self._find(source, target)
        if found is None:
            return Reference(source, link, problem="no such note")
        if found not in self.notes or not (heading or block_id):
            return Reference(source, link, found)
        names = (_plain(name) for name in (heading or "").split("#"))
        anchor = f"^{block_id.casefold()}" if block_id else "#".join(filter(None, names))
        block = self._anchors[found].get(anchor)
        problem = None if block is not None else f"no such {'block' if block_id else 'heading'}"
        return Reference(source, link, found, block, problem)

    def _find(self, source: str, target: str) -> str | None:
        """Find a note by what a link calls it; of several the nearest to the source, then the shortest path."""
        folder = posixpath.dirname(source)
        beside = posixpath.normpath(posixpath.join(folder, target))
        for path in (beside, f"{beside}.md", target.lstrip("/"), f"{target.lstrip('/')}.md"):
            if path in self.notes or path in self.files:
                return path
        wanted = posixpath.normpath(target).lstrip("/").casefold()
        stem = wanted.removesuffix(".md").removesuffix(".markdown")
        known = self._names.get(wanted) or self._names.get(stem) or []
        return min(known, key=lambda path: (_distance(folder, path), len(path), path), default=None)

    @cached_property
    def _anchors(self) -> dict[str, dict[str, int]]:
        """The blocks of each note by the anchors of links: `^id`, and headings with or without those above them."""
        anchors: dict[str, dict[str, int]] = {}
        for path, document in self.notes.items():
            found = anchors[path] = {}
            for name, index in self._ids(document):
                found.setdefault(f"^{name.casefold()}", index)
            for index, block in enumerate(document.blocks):
                names = [_plain(name) for name in block.headings_path] if block.kind == "heading" else []
                for name in _ends(names, "#"):
                    found.setdefault(name, index)
        return anchors


def read_vault(folder: str | os.PathLike[str], **metadata: Any) -> Vault:
    """Read a folder of notes; `metadata` is given to every note."""
    top = Path(folder)
    if not top.is_dir():
        raise UnreadableError(str(folder), "is not a folder")
    found = find_files([str(top)], known=lambda _: True)
    paths = {Path(item.path).relative_to(top).as_posix(): item for item in found.items()}
    notes = {path: item for path, item in paths.items() if PurePosixPath(path).suffix.lower() in _NOTES}
    documents: dict[str, Document] = {}
    failed: list[SpanwiseError] = [*found.failed]
    for path, item in notes.items():
        try:
            data, found_format = load(item.name, item.fetch, None)
            documents[path] = read_bytes(data, item.name, found_format, {"file_path": path, **metadata})
        except UnreadableError as error:
            failed.append(error)
    return Vault(documents, frozenset(paths) - frozenset(documents), tuple(failed))


def _is_external(target: str) -> bool:
    return "://" in target or target.startswith(("mailto:", "tel:", "//", "data:"))


def _ends(parts: list[str], separator: str) -> list[str]:
    """Return the parts joined, from each of them on."""
    return [separator.join(parts[start:]) for start in range(len(parts))]


def _split(link: Link) -> tuple[str, str | None, str | None]:
    """Return target, heading and block id of a link; an ordinary one has them in one text, with `%20` for spaces."""
    if link.heading or link.block_id or "#" not in link.target:
        return unquote(link.target), link.heading, link.block_id
    target, _, anchor = unquote(link.target).partition("#")
    heading, _, block_id = anchor.partition("^")
    return target, heading or None, block_id or None


def _plain(name: str) -> str:
    """Return a heading as links are compared with it: words in lower case; ordinary links write `-` between them."""
    kept = "".join(character if character.isalnum() else " " for character in name.casefold())
    return " ".join(kept.split())


def _distance(folder: str, path: str) -> int:
    """Count the steps from a folder to the folder of a note."""
    here, there = PurePosixPath(folder).parts, PurePosixPath(posixpath.dirname(path)).parts
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(here, there, strict=False))
    return len(here) + len(there) - 2 * len(list(shared))
