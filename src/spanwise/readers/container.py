"""Zip files that nobody trusts: the parts of office files and books, and the members of archives.

The directory is read first, and a file that would inflate beyond all measure is refused before anything is inflated.
What is read is counted as it inflates, because a directory may lie. A name in a zip is only a key: nothing is ever
written under it. XML is parsed without entities, DTDs or the network.
"""

from __future__ import annotations

import codecs
import posixpath
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, Final, NamedTuple, Protocol
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from spanwise.errors import UnreadableError

ZIP: Final = b"PK\x03\x04"
"""How a zip file begins."""
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an OLE file begins: an office file of before 2007, or an encrypted one."""
_ENCRYPTED: Final = tuple(name.encode("utf-16-le") for name in ("EncryptedPackage", "EncryptionInfo"))
_METHODS: Final = frozenset({ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2})  # LZMA takes as much memory as the file asks for
_END: Final = b"PK\x05\x06"
_ENTRY: Final = b"PK\x01\x02"
_LONGEST_END: Final = 22 + 0xFFFF  # the end record with the longest comment
_SMALL: Final = 16 << 20  # what inflates to no more than this is no bomb, whatever its ratio
_PART: Final = 1 << 16
_BROKEN: Final = (
    BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, OverflowError,
    struct.error, IndexError,
)  # fmt: skip
"""What zipfile raises for broken files."""
_DAMAGED: Final = "it is damaged, cut off, or no such file; get it again from where it comes from"
_HUGE: Final = "it may be made to exhaust memory; if you trust it, unpack and divide it"
_PROLOG: Final = re.compile(r"(?>(?:\s|<\?(?>(?:(?!\?>).)*)\?>|<!--(?>(?:(?!-->).)*)-->)*)", re.DOTALL)
_DOCTYPE: Final = re.compile(r"<!DOCTYPE\s[^\[<>]*>")
_DECLARED: Final = re.compile(
    rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']((?:iso-8859-|windows-|us-ascii|koi8-|euc-|gb|big5|shift_jis)[\w-]*)""",
    re.IGNORECASE,
)
_STARTS: Final = (
    (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"), (b"<\0", "utf-16le"), (b"\0<", "utf-16be")
)  # fmt: skip


class Limits(NamedTuple):
    """What a zip file may hold: entries, bytes of one entry and of all, and how much smaller they may be packed."""

    entries: int = 100_000
    entry: int = 512 << 20
    total: int = 4 << 30
    ratio: int = 250


_USUAL: Final = Limits()


class Readable(Protocol):
    """What a part is read from, bytes by bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


class Container:
    """An open zip file: its names, and the bytes or the XML of each part."""

    def __init__(self, data: bytes, name: str, limits: Limits = _USUAL) -> None:
        """Read the directory; raise UnreadableError if it is broken or states what is over a limit."""
        self.name = name
        self.limits = limits
        self._left = limits.total
        _refuse_many(data, name, limits)
        try:
            self._zip = ZipFile(BytesIO(data))
        except _BROKEN as error:
            raise UnreadableError(name, f"is no readable zip file ({error})", hint=_DAMAGED) from error
        self._infos = {info.filename.replace("\\", "/").lstrip("/"): info for info in self._zip.infolist()}
        self._lower = {name.lower(): name for name in self._infos}
        _refuse_bomb([*self._infos.values()], len(data), name, limits)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, in the order of the directory, without those of folders."""
        return tuple(name for name in self._infos if not name.endswith("/"))

    def __contains__(self, part: str) -> bool:
        """Whether there is a part of this name; case doesn't matter."""
        return part.lower() in self._lower

    def size(self, part: str) -> int:
        """Return the bytes of a part, as the directory states them."""
        return self._info(part).file_size

    def info(self, part: str) -> ZipInfo:
        """Return the directory's entry for a part; raise UnreadableError if there is none."""
        return self._info(part)

    @contextmanager
    def open(self, part: str) -> Iterator[Readable]:
        """Open a part to be read in pieces, each counted.

        Raise UnreadableError if it is missing or encrypted; reading it does if it is broken or too large.
        """
        info = self._info(part)
        self._refuse(info, part)
        try:
            file = self._zip.open(info)
        except _BROKEN as error:
            raise self.broken(part, str(error)) from error
        with file:
            yield _Counted(self, file, part)

    def read(self, part: str) -> bytes:
        """Return the bytes of a part; raise UnreadableError as `open` does."""
        with self.open(part) as file:
            return b"".join(iter(lambda: file.read(_PART), b""))

    def xml(self, part: str, *, doctype: bool = False) -> Any:
        """Return the root element of a part; None if there is no such part.

        Raise UnreadableError if it is broken or declares entities; `doctype` permits a DOCTYPE that declares none.
        """
        if part not in self:
            return None
        return self.parsed(self.read(part), part, doctype=doctype)

    def parsed(self, data: bytes, part: str, *, doctype: bool = False) -> Any:
        """Return the root element of the XML of a part."""
        from lxml import etree

        encoding = self._encoding(data[:_PART], part, doctype=doctype)
        try:
            return etree.fromstring(data, etree.XMLParser(encoding=encoding, **_XML))
        except (etree.XMLSyntaxError, ValueError, LookupError) as error:
            raise self.broken(part, f"it is not XML: {getattr(error, 'msg', error)}") from error

    def events(self, part: str, tags: str | tuple[str, ...], *, starts: bool = False) -> Iterator[tuple[str, Any]]:
        """Yield `("end", element)` for elements of these tags as they are parsed, and keep no tree of them.

        With `starts` also `("start", element)`. An element is emptied after its end, with all inside it.
        """
        from lxml import etree

        with self.open(part) as file:
            first = file.read(_PART)
            whole = _After(first, file)
            options: Any = {**_XML, "encoding": self._encoding(first, part), "tag": tags}
            try:
                for event, element in etree.iterparse(whole, ("start", "end") if starts else ("end",), **options):
                    yield event, element
                    if event == "end":
                        _forget(element)
            except (etree.XMLSyntaxError, LookupError) as error:
                raise self.broken(part, f"it is not XML: {error}") from error

    def broken(self, part: str, why: str) -> UnreadableError:
        """Return the error for a part that can't be read."""
        return UnreadableError(self.name, f"has a part that can't be read: {_shown(part)} ({why})", hint=_DAMAGED)

    def count(self, size: int, part: str) -> None:
        """Count inflated bytes; raise UnreadableError if they are more than the file may have."""
        self._left -= size
        if self._left < 0:
            raise _too_large(self.name, f"inflates to more than {_amount(self.limits.total)} at {_shown(part)}")

    def _info(self, part: str) -> ZipInfo:
        info = self._infos.get(part) or self._infos.get(self._lower.get(part.lower(), ""))
        if info is None:
            raise UnreadableError(self.name, f"lacks its part {_shown(part)}", hint=_DAMAGED)
        return info

    def _refuse(self, info: ZipInfo, part: str) -> None:
        if info.file_size > self.limits.entry:
            what = f"has a part of more than {_amount(self.limits.entry)}: {_shown(part)}"
            raise _too_large(self.name, what)
        if info.flag_bits & 1:
            raise UnreadableError(self.name, f"is encrypted: {_shown(part)}", hint="decrypt it first")
        if info.compress_type not in _METHODS:
            raise self.broken(part, f"packed by method {info.compress_type}, which is not taken")

    def _encoding(self, head: bytes, part: str, *, doctype: bool = False) -> str:
        """Return the encoding of XML by its beginning; raise UnreadableError if that declares a DOCTYPE."""
        declared = _DECLARED.match(head)
        usual = declared[1].decode().lower() if declared else "utf-8"
        encoding = next((name for start, name in _STARTS if head.startswith(start)), usual)
        try:
            text = head.decode(encoding, "replace").lstrip("\ufeff")
        except LookupError as error:
            raise self.broken(part, str(error)) from error
        prolog = _PROLOG.match(text)
        start = prolog.end() if prolog else 0
        if text.startswith("<!", start) and not (doctype and _DOCTYPE.match(text, start)):
            rule = f"declares a DOCTYPE or entities, which its format never does: {_shown(part)}"
            raise UnreadableError(self.name, rule, hint=_DAMAGED)
        return encoding


_XML: Final = {
    "resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": True, "remove_comments": True,
    "remove_pis": True,
}  # fmt: skip


class _Counted:
    """A part that is being read: every byte is counted."""

    __slots__ = ("_container", "_file", "_part", "_read")

    def __init__(self, container: Container, file: IO[bytes], part: str) -> None:
        self._container, self._file, self._part = container, file, part
        self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; without a size the rest."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PART), b""))
        try:
            data = self._file.read(min(size, _PART))
        except _BROKEN as error:
            raise self._container.broken(self._part, str(error)) from error
        self._read += len(data)
        if self._read > self._container.limits.entry:
            what = f"has a part of more than {_amount(self._container.limits.entry)}: {_shown(self._part)}"
            raise _too_large(self._container.name, what)
        self._container.count(len(data), self._part)
        return data


class _After:
    """Bytes that were read already, and what comes after them."""

    __slots__ = ("_file", "_first")

    def __init__(self, first: bytes, file: Readable) -> None:
        self._first, self._file = first, file

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes."""
        if self._first:
            given = self._first[:size] if size >= 0 else self._first
            self._first = self._first[len(given) :]
            return given
        return self._file.read(size)


def target_part(part: str, target: str) -> str:
    """Return the name of the part that a relationship of another part points at; it never leaves the container."""
    base = "" if target.startswith("/") else posixpath.dirname(part)
    steps: list[str] = []
    for step in f"{base}/{target}".replace("\\", "/").split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def refuse_encrypted(data: bytes, name: str) -> None:
    """Raise UnreadableError for an office file that is encrypted with a password, which is no zip file."""
    if data.startswith(OLE) and any(mark in data for mark in _ENCRYPTED):
        raise UnreadableError(name, "is encrypted with a password", hint="open it and save it without the password")


def _refuse_many(data: bytes, name: str, limits: Limits) -> None:
    """Refuse a directory with too many entries before they are made objects of."""
    end = data.rfind(_END, max(0, len(data) - _LONGEST_END))
    size = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    start = 0 if size == 0xFFFFFFFF else max(0, end - size)
    if data.count(_ENTRY, start, max(end, 0)) > limits.entries:
        raise _too_large(name, f"has more than {limits.entries:,} entries")


def _refuse_bomb(infos: list[ZipInfo], size: int, name: str, limits: Limits) -> None:
    """Refuse what states that it inflates to too much, in all or beside what it takes packed."""
    total = sum(info.file_size for info in infos)
    if total > limits.total:
        raise _too_large(name, f"inflates to more than {_amount(limits.total)}")
    if total > max(_SMALL, size * limits.ratio):
        raise _too_large(name, f"inflates to more than {limits.ratio} times its size")
    for info in infos:
        if info.file_size > max(_SMALL, info.compress_size * limits.ratio):
            what = f"has a part that inflates to more than {limits.ratio} times its size: {_shown(info.filename)}"
            raise _too_large(name, what)


def _too_large(name: str, what: str) -> UnreadableError:
    return UnreadableError(name, what, hint=_HUGE)


def _amount(size: int) -> str:
    return f"{size >> 30} GiB" if size >> 30 else f"{size >> 20} MiB" if size >> 20 else f"{size:,} bytes"


def _shown(part: str) -> str:
    return part if len(part) <= 80 else part[:77] + "..."


def _forget(element: Any) -> None:
    """Empty an element, and drop the siblings before it, so that a parsed stream keeps no tree."""
    element.clear(keep_tail=True)
    while element.getprevious() is not None:
        del element.getparent()[0]
