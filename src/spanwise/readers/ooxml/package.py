"""The package of an office file: its parts, how they are related, and what it states about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from spanwise.documents.document import LeftOut, is_iso
from spanwise.errors import UnreadableError
from spanwise.readers.container import OLE, Container, refuse_encrypted, target_part

_STRICT: Final = re.compile(rb"""(?<=["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_TRANSITIONAL: Final = rb"http://schemas.openxmlformats.org/\1/2006/"
_RELATION: Final = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_PROPERTIES: Final = {
    "{http://purl.org/dc/elements/1.1/}title": "title",
    "{http://purl.org/dc/elements/1.1/}creator": "author",
    "{http://purl.org/dc/terms/}modified": "modified",
    "{http://purl.org/dc/terms/}created": "created",
}
_NO_TITLE: Final = re.compile(
    r"microsoft (?:word|powerpoint) - |(?:power ?point|slide|word) (?:presentation|document)\Z|untitled|document\d*\Z"
    r"|presentation\d*\Z|slide ?\d*\Z|.*\.(?:do[ct][xm]?|p[op][ts][xm]?|odt|odp|rtf|html?)\Z|\W*\Z|(?:file|https?)://",
    re.IGNORECASE,
)
_LONGEST_TITLE: Final = 500
_LONGEST_EXCERPT: Final = 200


class Relation(NamedTuple):
    """What a part refers to: the last word of the relation's type, and a part, or an address outside."""

    kind: str
    target: str
    is_external: bool


class Package:
    """An open office file; `main` is the name of the part that everything starts from."""

    def __init__(self, data: bytes, name: str, usual: str) -> None:
        """Open it; `usual` is the usual name of the main part. Raise UnreadableError if it can't be read."""
        refuse_encrypted(data, name)
        if data.startswith(OLE):
            hint = "it is of an older format, whatever its name; save it in the new one"
            raise UnreadableError(name, "is no file of Office 2007 or later", hint=hint)
        self.name = name
        self.container = Container(data, name)
        self._relations: dict[str, Mapping[str, Relation]] = {}
        self.main = next(iter(self.related("", "officeDocument")), usual)
        if self.main not in self.container:
            hint = "it is a zip file, but of another kind"
            raise UnreadableError(name, f"has no part {usual}", hint=hint)

    def xml(self, part: str) -> Any:
        """Return the root of a part; None if there is no such part."""
        if part not in self.container:
            return None
        data = self.container.read(part)
        if b"purl.oclc.org/ooxml" in data:
            data = _STRICT.sub(_TRANSITIONAL, data)
        return self.container.parsed(data, part)

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return what a part refers to, by id; "" is the package itself."""
        known = self._relations.get(part)
        if known is None:
            folder, _, name = part.rpartition("/")
            root = self.xml(f"{folder}/_rels/{name}.rels".lstrip("/"))
            known = {} if root is None else {one.get("Id", ""): _relation(one, part) for one in root.iter(_RELATION)}
            self._relations[part] = known
        return known

    def related(self, part: str, kind: str) -> list[str]:
        """Return the names of the parts that a part refers to, of one kind of relation; each once."""
        found = (one.target for one in self.relations(part).values() if one.kind == kind and not one.is_external)
        return [name for name in dict.fromkeys(found) if name in self.container]

    def one(self, part: str, kind: str) -> str:
        """Return the name of the part of a kind that a part refers to; "" if there is none."""
        return next(iter(self.related(part, kind)), "")

    def target(self, part: str, key: str | None) -> Relation | None:
        """Return what a part refers to by an id."""
        return self.relations(part).get(key or "")

    def metadata(self) -> dict[str, Any]:
        """Return title, author and time of the last change, as the file states them."""
        root = self.xml(self.one("", "core-properties") or "docProps/core.xml")
        known = () if root is None else [one for one in root if one.tag in _PROPERTIES]
        stated = {_PROPERTIES[one.tag]: " ".join((one.text or "").split()) for one in known}
        found: dict[str, Any] = {}
        title, author = stated.get("title", ""), stated.get("author", "")
        if title and not _NO_TITLE.match(title):
            found["title"] = title[:_LONGEST_TITLE]
        if author:
            found["author"] = author[:_LONGEST_TITLE]
        dates = [date for key in ("modified", "created") if is_iso(date := stated.get(key, ""))]
        if dates:
            found["updated_at"] = dates[0]
        return found

    def macros(self) -> list[LeftOut]:
        """Return the macros of the file, which are never read."""
        names = (name for name in self.container.names if name.lower().endswith("vbaproject.bin"))
        return [left_out("macro", name, {"part": name}) for name in names]


def left_out(reason: str, text: str, source_ref: Mapping[str, Any]) -> LeftOut:
    """Return an entry for what is in a file and isn't text of it, as is usual, with how it begins."""
    return LeftOut(reason, " ".join(text.split())[:_LONGEST_EXCERPT].rstrip(), source_ref, usual=True)


def _relation(element: Any, part: str) -> Relation:
    kind = element.get("Type", "").rpartition("/")[2]
    target, is_external = element.get("Target", ""), element.get("TargetMode") == "External"
    return Relation(kind, target if is_external else target_part(part, target), is_external)
