"""The package of a book: what it says of itself, its files, and the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from spanwise.documents.document import is_iso
from spanwise.errors import UnreadableError
from spanwise.readers.container import Container, target_part
from spanwise.readers.encodings import cleaned

_HINT: Final = "it is damaged, cut off, or no book; get it again from where it comes from"
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_MOST_CHAPTERS: Final = 20_000
_OBFUSCATED: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""How fonts are made unusable elsewhere: it protects no text."""


@dataclass(frozen=True)
class Package:
    """What the package of a book says."""

    metadata: dict[str, Any]
    spine: tuple[str, ...]
    navigation: str | None  # the table of contents of EPUB 3
    contents: str | None  # that of EPUB 2
    encrypted: Set[str]

    def chapters_in(self, names: Set[str]) -> list[str]:
        """Return the chapters that are among these files."""
        return [part for part in self.spine if part in names]


def package_of(book: Container) -> Package:
    """Read the package; raise UnreadableError if there is none, or it names no chapters."""
    where = _package_name(book)
    root = book.xml(where, doctype=True)
    if root is None:
        raise UnreadableError(book.name, f"is no book: it lacks {where}", hint=_HINT)
    files = {one.get("id"): one for one in named(root, "item")}
    names = {key: part_at(where, one.get("href") or "") for key, one in files.items()}
    order = [one.get("idref") for one in named(root, "itemref")][:_MOST_CHAPTERS]
    spine = [names[key] for key in order if key in files and files[key].get("media-type", "") in _PAGES]
    if not spine:
        raise UnreadableError(book.name, "is no book: it names no chapters", hint=_HINT)
    navigation = next((key for key, one in files.items() if "nav" in (one.get("properties") or "").split()), None)
    toc = next((one.get("toc") for one in named(root, "spine")), None)
    if toc not in names:
        toc = next((key for key, one in files.items() if one.get("media-type") == "application/x-dtbncx+xml"), None)
    unique = tuple(dict.fromkeys(spine))
    return Package(_metadata(root), unique, names.get(navigation), names.get(toc), _encrypted(book))


def _package_name(book: Container) -> str:
    """Return the name of the package, from where the container says, else the first that looks like one."""
    container = book.xml("META-INF/container.xml", doctype=True)
    for one in named(container, "rootfile") if container is not None else ():
        if path := one.get("full-path"):
            return unquote(path) if path not in book else path
    found = next((name for name in book.names if name.lower().endswith(".opf")), None)
    if found is None:
        raise UnreadableError(book.name, "is no book: nothing in it says what its chapters are", hint=_HINT)
    return found


def _metadata(root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    values = {name: [text for one in named(root, name) if (text := line_of(one))] for name in _NAMES}
    for name in ("title", "language"):
        if values[name]:
            found[name] = values[name][0]
    if values["creator"]:
        found["author"] = ", ".join(values["creator"])
    modified = [line_of(one) for one in named(root, "meta") if one.get("property") == "dcterms:modified"]
    if date := next((date for date in (*modified, *values["date"]) if is_iso(date)), None):
        found["updated_at"] = date
    if values["subject"]:
        found["labels"] = tuple(values["subject"])
    extra = {name: values[name][0] for name in ("identifier", "publisher", "description") if values[name]}
    return found | ({"extra": extra} if extra else {})


_NAMES: Final = ("title", "creator", "language", "date", "subject", "identifier", "publisher", "description")


def _encrypted(book: Container) -> frozenset[str]:
    """Return the names of encrypted files, without fonts that are only obfuscated."""
    root = book.xml("META-INF/encryption.xml")
    found = set()
    for one in named(root, "EncryptedData") if root is not None else ():
        methods = {method.get("Algorithm") for method in named(one, "EncryptionMethod")}
        if not methods.intersection(_OBFUSCATED):
            found |= {part_at("", reference.get("URI") or "") for reference in named(one, "CipherReference")}
    return frozenset(found)


def named(root: Any, name: str) -> Iterator[Any]:
    """Yield the elements of a name, whatever their namespace."""
    yield from root.iter(f"{{*}}{name}")


def part_at(base: str, address: str) -> str:
    """Return the name of the file that an address in another one points at, without the place in it."""
    return target_part(base, unquote(address.partition("#")[0])) if address.partition("#")[0] else base


def line_of(element: Any) -> str:
    """Return the text of an element in one line."""
    return cleaned(" ".join("".join(element.itertext()).split()))[0]
