"""Listing: paths, folders, documents and items, in any mixture, as source items."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final

from spanwise.documents.document import Document
from spanwise.errors import OptionError, UnreadableError
from spanwise.sources.folder import LINKED_TWICE, OF_STORE, find_files, without_reader
from spanwise.sources.item import SourceItem

Source = str | os.PathLike[str] | Document | SourceItem
"""A file, a folder, a document that is read already, or an item of a source of your own."""
_ONE: Final = (str, os.PathLike, Document, SourceItem)


class Listing:
    """An iterable of source items, listed on demand; `is_known` returns whether a reader takes a path.

    `paths`, `passed_over` and `failed` are complete when the iteration has ended.
    """

    def __init__(
        self,
        sources: Source | Iterable[Source],
        is_known: Callable[[str], bool],
        store: Container[str] = (),
        *,
        follow_links: bool = False,
    ) -> None:
        self._sources: Iterable[Source] = [sources] if isinstance(sources, _ONE) else sources
        self._is_known, self._store, self._follow_links = is_known, store, follow_links
        self._seen: set[str] = set()  # real paths of files
        self._taken: set[str] = set()  # places of files and folders
        self._passed: dict[str, str] = {}
        self._unusable: set[str] = set()  # names of what has failed
        self.paths: list[str] = []
        self.failed: list[UnreadableError] = []
        if not isinstance(self._sources, Iterable):
            hint = "give a path, a folder, a Document, or an iterable of these"
            raise OptionError("sources", "can't be listed", value=type(sources).__name__, hint=hint)

    @property
    def passed_over(self) -> Counter[str]:
        """How many files were passed over, by reason."""
        return Counter(reason for own, reason in self._passed.items() if own not in self._taken)

    @property
    def without_reader(self) -> frozenset[str]:
        """The places of files that no reader takes."""
        return without_reader(self._passed) - self._taken

    def __iter__(self) -> Iterator[SourceItem]:
        """Yield the items in the order of the sources; a file that is given twice comes once."""
        for source in self._sources:
            if isinstance(source, SourceItem):
                yield source
            elif isinstance(source, Document):
                yield SourceItem(source.document_id, len(source.text), document=source)
            elif isinstance(source, str | os.PathLike):
                yield from self._files(os.fspath(source))
            else:
                rule = "must be paths, Documents or SourceItems"
                raise OptionError("sources", rule, value=type(source).__name__)

    def _files(self, path: str) -> Iterator[SourceItem]:
        found = find_files([path], known=self._is_known, follow_links=self._follow_links)
        found.leave_out(self._store, OF_STORE)
        self.paths.append(path)
        for own, reason in found.passed.items():
            self._passed.setdefault(own, reason)
        self._taken |= found.walked
        failed = [error for error in found.failed if error.subject not in self._unusable]
        self._unusable.update(error.subject for error in failed)
        self.failed += failed
        yield from (SourceItem(error.subject, error=error) for error in failed)
        for item in found.items():
            location, own, _ = found.places[item.path]
            if location not in self._seen:
                self._seen.add(location)
                self._taken.add(own)
                yield item
            elif location != own:
                self._passed.setdefault(own, LINKED_TWICE)
