"""The dictionary forms of words, from the lists that come with simplemma.

Reading a list as a Python dictionary takes seconds and hundreds of megabytes, too much for a search. But a list is
sorted, and each entry says only how it differs from the one before. So it can be read from the middle, given places
to start from: these are found once a machine and kept, with the list, in the user's cache; a lookup then reads a few
entries of a file that is mapped into memory. The lists themselves are under licences that ask derived lists to be
shared alike (ODbL, CC BY-SA), which is why none of them is part of this package.
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

_FORMAT: Final = b"SMFC1\0"  # how the lists of simplemma 2 begin whose words aren't written backwards
_MORE: Final = 128  # a byte from here on says that a number goes on in the next
_SAME_LEMMA, _WHOLE_LEMMA = 254, 255
_ENTRIES_A_BLOCK: Final = 16
_HEAD: Final = struct.Struct("=8sQQ")  # sign, blocks, bytes of the list
_SIGN: Final = b"SPANWIS1"


class Lemmas(Protocol):
    """A list of word forms, each with its dictionary form."""

    def get(self, form: str, /) -> str | None:
        """Give the dictionary form of a word form; None of one that isn't known."""


class _UnknownListError(ValueError):
    """A list that is written in another way than those of the version we know."""


class MappedLemmas:
    """A list as it stands in the cache, read where it lies."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        """Trust a file only if its parts have the lengths that it says."""
        sign, blocks, length = _HEAD.unpack_from(data)
        places = _HEAD.size + 8 * blocks
        forms = places + 4 * 2 * (blocks + 1)
        if sign != _SIGN or forms > len(data):
            raise _UnknownListError
        self._beginnings = memoryview(data)[_HEAD.size : places].cast("Q")
        numbers = memoryview(data)[places:forms].cast("I")
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
        """Give the form that a block begins with."""
        forms, firsts = self._forms, self._firsts
        return self._data[forms + firsts[block] : forms + firsts[block + 1]]

    def _find(self, wanted: bytes, block: int) -> str | None:
        """Read a block from its first entry on, until a form comes that isn't before the wanted one."""
        entries = self._data[self._list + self._entries[block] : self._list + self._entries[block + 1]]
        form, lemma = self._first(block), b""
        place = 0
        while place < len(entries):
            shared, start, place = _suffix(entries, place)
            form = form[:shared] + entries[start:place]
            trim = entries[place]
            place += 1
            if trim != _SAME_LEMMA:
                start, place = _text(entries, place)
                lemma = (b"" if trim == _WHOLE_LEMMA else form[: len(form) - trim]) + entries[start:place]
            if form >= wanted:
                return lemma.decode() if form == wanted else None
        return None


@cache
def lemmas_of(language: str) -> Lemmas:
    """Give the list of a language, from the cache; into it, when it is wanted for the first time on this machine."""
    path = _cached(language)
    try:
        return _mapped(path)
    except (OSError, ValueError, struct.error):
        return _made(language, path)


def is_ready(language: str) -> bool:
    """Say whether the list of a language is in the cache already."""
    return _cached(language).is_file()


def prepare(language: str) -> None:
    """Put the list of a language into the cache if it isn't there; that takes some seconds, once a machine."""
    lemmas_of(language)


def _made(language: str, path: Path) -> Lemmas:
    try:
        data = _with_places(_unpacked(language))
    except _UnknownListError:
        return _slow(language)
    try:
        _keep(data, path)
        return _mapped(path)
    except OSError:  # no place to keep it: this process has it nevertheless
        return MappedLemmas(data)


def _mapped(path: Path) -> MappedLemmas:
    with path.open("rb") as file:
        return MappedLemmas(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _keep(data: bytes, path: Path) -> None:
    """Write a file that appears whole or not at all, whoever else is writing it."""
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
    """Give the folder for what can be made again; `SPANWISE_CACHE` names another."""
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
    """Let simplemma read its list itself: the same words, but slower to begin with."""
    from simplemma.strategies.dictionaries import StreamDictionaryFactory

    return StreamDictionaryFactory().get_dictionary(language)


def _with_places(entries: bytes) -> bytes:
    """Put before a list the places where reading may start, each with the form that is found there."""
    beginnings, places, firsts, forms = array("Q"), array("I"), array("I"), bytearray()
    try:
        for entry, form in _starts(entries):
            beginnings.append(_beginning(form))
            places.append(entry)
            firsts.append(len(forms))
            forms += form
    except IndexError as error:
        raise _UnknownListError from error
    places.append(len(entries))
    firsts.append(len(forms))
    head = _HEAD.pack(_SIGN, len(beginnings), len(entries))
    return b"".join((head, beginnings, places, firsts, forms, entries))


def _starts(entries: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the places where reading may start, with their forms: some entries apart, and with a lemma of their own.

    Millions of entries come by, so what is usual (numbers of one byte) is read right here.
    """
    count, place = _header(entries)
    form, end, number, since = b"", len(entries), 0, _ENTRIES_A_BLOCK
    while place < end:
        entry = place
        shared, length, start = entries[entry], entries[entry + 1], entry + 2
        place = start + length
        if shared >= _MORE or length >= _MORE:
            shared, start, place = _suffix(entries, entry)
        form = form[:shared] + entries[start:place]
        if entries[place] == _SAME_LEMMA:
            place += 1
        else:
            if since >= _ENTRIES_A_BLOCK:
                yield entry, form
                since = 0
            length = entries[place + 1]
            place = place + 2 + length if length < _MORE else _text(entries, place + 1)[1]
        since += 1
        number += 1
    if number != count or place != end:
        raise _UnknownListError


def _beginning(form: bytes) -> int:
    """Give the first eight bytes as a number of the same order."""
    return int.from_bytes(form[:8].ljust(8, b"\0"), "big")


def _suffix(entries: bytes, place: int) -> tuple[int, int, int]:
    """Read what a form shares with the one before, and where the rest of it starts and ends."""
    shared, length = entries[place], entries[place + 1]
    if shared < _MORE and length < _MORE:
        return shared, place + 2, place + 2 + length
    shared, place = _number(entries, place)
    return shared, *_text(entries, place)


def _text(entries: bytes, place: int) -> tuple[int, int]:
    """Read where a text starts and ends that has its length before it."""
    length, place = _number(entries, place)
    return place, place + length


def _number(entries: bytes, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, the lowest first."""
    number, shift = entries[place] & (_MORE - 1), 0
    while entries[place] >= _MORE:
        place, shift = place + 1, shift + 7
        number |= (entries[place] & (_MORE - 1)) << shift
    return number, place + 1


def _header(entries: bytes) -> tuple[int, int]:
    """Give the number of entries and the place of the first."""
    if entries[: len(_FORMAT)] != _FORMAT:
        raise _UnknownListError
    return _number(entries, len(_FORMAT))
