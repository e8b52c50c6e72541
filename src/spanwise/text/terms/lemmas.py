"""The dictionary forms of words, from the lists that come with simplemma.

Reading a list as a Python dictionary takes seconds and hundreds of megabytes, too much for a search. But a list is
sorted, and each entry stores only its difference from the one before. So it can be read from the middle, given offsets
to start from: these are found once a machine and kept, with the list, in the user's cache; a lookup then reads a few
entries of a file that is mapped into memory. The lists are under share-alike licences (ODbL, CC BY-SA), which is why
none of them is part of this package.
"""

from __future__ import annotations

import lzma
import mmap
import os
import struct
import sys
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from spanwise.errors import MissingExtraError

_FORMAT: Final = b"SMFC1\0"  # header of simplemma 2 lists whose words aren't stored reversed
_MORE: Final = 128  # from this value on, a number continues in the next byte
_SAME_LEMMA, _WHOLE_LEMMA = 254, 255
_ENTRIES_A_BLOCK: Final = 16
_HEAD: Final = struct.Struct("=8sQQ")  # signature, number of blocks, bytes of the list
_SIGNATURE: Final = b"SPANWIS1"


class Lemmas(Protocol):
    """A list of word forms, each with its dictionary form."""

    def get(self, form: str, /) -> str | None:
        """Return the dictionary form of a word form; None if it isn't known."""


class _UnknownListError(ValueError):
    """A list in another format than that of the supported version."""


class MappedLemmas:
    """A list in the format of the cache, read in place."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        """Check that the parts of the file have the stated lengths."""
        signature, blocks, length = _HEAD.unpack_from(data)
        offsets = _HEAD.size + 8 * blocks
        forms = offsets + 4 * 2 * (blocks + 1)
        if signature != _SIGNATURE or forms > len(data):
            raise _UnknownListError
        self._beginnings = memoryview(data)[_HEAD.size : offsets].cast("Q")
        numbers = memoryview(data)[offsets:forms].cast("I")
        self._entries, self._firsts = numbers[: blocks + 1], numbers[blocks + 1 :]
        self._forms, self._list = forms, forms + self._firsts[blocks]
        if self._list + length != len(data):
            raise _UnknownListError
        self._data = data
        self._range = range(blocks)

    def get(self, form: str, /) -> str | None:
        """Look a word form up: first by its beginning as a number, then among the blocks that share it."""
        wanted = form.encode()
        beginning = _beginning(wanted)
        low = bisect_left(self._beginnings, beginning)
        high = bisect_right(self._beginnings, beginning, low)
        block = bisect_right(self._range, wanted, low, high, key=self._first) - 1
        return self._find(wanted, block) if block >= 0 else None

    def _first(self, block: int) -> bytes:
        """Return the first form of a block."""
        forms, firsts = self._forms, self._firsts
        return self._data[forms + firsts[block] : forms + firsts[block + 1]]

    def _find(self, wanted: bytes, block: int) -> str | None:
        """Read a block from its first entry until a form that isn't before the wanted one."""
        entries = self._data[self._list + self._entries[block] : self._list + self._entries[block + 1]]
        form, lemma = self._first(block), b""
        offset = 0
        while offset < len(entries):
            shared, start, offset = _suffix(entries, offset)
            form = form[:shared] + entries[start:offset]
            trim = entries[offset]
            offset += 1
            if trim != _SAME_LEMMA:
                start, offset = _text(entries, offset)
                lemma = (b"" if trim == _WHOLE_LEMMA else form[: len(form) - trim]) + entries[start:offset]
            if form >= wanted:
                return lemma.decode() if form == wanted else None
        return None


@cache
def lemmas_of(language: str) -> Lemmas:
    """Return the list of a language from the cache, after putting it there on first use on this machine."""
    path = _cached(language)
    try:
        return _mapped(path)
    except (OSError, ValueError, struct.error):
        return _made(language, path)


def is_ready(language: str) -> bool:
    """Whether the list of a language is in the cache."""
    return _cached(language).is_file()


def prepare(language: str) -> None:
    """Put the list of a language into the cache if it isn't there; that takes some seconds, once a machine."""
    lemmas_of(language)


def _made(language: str, path: Path) -> Lemmas:
    try:
        data = _with_offsets(_unpacked(language))
    except _UnknownListError:
        return _slow(language)
    try:
        _keep(data, path)
        return _mapped(path)
    except OSError:  # the cache can't be written: this process keeps the list in memory
        return MappedLemmas(data)


def _mapped(path: Path) -> MappedLemmas:
    with path.open("rb") as file:
        return MappedLemmas(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _keep(data: bytes, path: Path) -> None:
    """Write a file atomically, safe against other processes that write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 (a handle, not a path)
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _cached(language: str) -> Path:
    return cache_folder() / "words" / f"{language}-simplemma-{_version()}.bin"


def cache_folder() -> Path:
    """Return the user's cache folder, or the one set by `SPANWISE_CACHE`."""
    if chosen := os.environ.get("SPANWISE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "spanwise"


@cache
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("simplemma")
    except PackageNotFoundError as error:
        hint = 'pip install "spanwise[search]"'
        raise MissingExtraError("simplemma", "is needed for indexing and searching", hint=hint) from error


def _unpacked(language: str) -> bytes:
    from simplemma.strategies.dictionaries.dictionary_factory import DATA_FOLDER

    try:
        return lzma.decompress((Path(DATA_FOLDER) / f"{language}.plzma").read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise _UnknownListError from error


def _slow(language: str) -> Mapping[str, str]:
    """Let simplemma read its list itself: the same entries, but slower to load."""
    from simplemma.strategies.dictionaries import StreamDictionaryFactory

    return StreamDictionaryFactory().get_dictionary(language)


def _with_offsets(entries: bytes) -> bytes:
    """Return a list preceded by the offsets where reading may start, each with the form that is found there."""
    beginnings, offsets, firsts, forms = array("Q"), array("I"), array("I"), bytearray()
    try:
        for entry, form in _starts(entries):
            beginnings.append(_beginning(form))
            offsets.append(entry)
            firsts.append(len(forms))
            forms += form
    except IndexError as error:
        raise _UnknownListError from error
    offsets.append(len(entries))
    firsts.append(len(forms))
    head = _HEAD.pack(_SIGNATURE, len(beginnings), len(entries))
    return b"".join((head, beginnings, offsets, firsts, forms, entries))


def _starts(entries: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offsets where reading may start, with their forms: some entries apart, and with a lemma of their own.

    There are millions of entries, so the usual case (numbers of one byte) is read inline.
    """
    if not entries.startswith(_FORMAT):
        raise _UnknownListError
    count, offset = _number(entries, len(_FORMAT))
    form, end, number, since = b"", len(entries), 0, _ENTRIES_A_BLOCK
    while offset < end:
        entry = offset
        shared, length, start = entries[entry], entries[entry + 1], entry + 2
        offset = start + length
        if shared >= _MORE or length >= _MORE:
            shared, start, offset = _suffix(entries, entry)
        form = form[:shared] + entries[start:offset]
        if entries[offset] == _SAME_LEMMA:
            offset += 1
        else:
            if since >= _ENTRIES_A_BLOCK:
                yield entry, form
                since = 0
            length = entries[offset + 1]
            offset = offset + 2 + length if length < _MORE else _text(entries, offset + 1)[1]
        since += 1
        number += 1
    if number != count or offset != end:
        raise _UnknownListError


def _beginning(form: bytes) -> int:
    """Return the first eight bytes as a number that sorts alike."""
    return int.from_bytes(form[:8].ljust(8, b"\0"), "big")


def _suffix(entries: bytes, offset: int) -> tuple[int, int, int]:
    """Read how many bytes a form shares with the one before, and where the rest of it starts and ends."""
    shared, length = entries[offset], entries[offset + 1]
    if shared < _MORE and length < _MORE:
        return shared, offset + 2, offset + 2 + length
    shared, offset = _number(entries, offset)
    return shared, *_text(entries, offset)


def _text(entries: bytes, offset: int) -> tuple[int, int]:
    """Read where a text with its length before it starts and ends."""
    length, offset = _number(entries, offset)
    return offset, offset + length


def _number(entries: bytes, offset: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, the lowest first, and the offset after it."""
    number, shift = entries[offset] & (_MORE - 1), 0
    while entries[offset] >= _MORE:
        offset, shift = offset + 1, shift + 7
        number |= (entries[offset] & (_MORE - 1)) << shift
    return number, offset + 1
