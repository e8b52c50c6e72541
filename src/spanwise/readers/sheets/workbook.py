"""The workbook of an XLSX file: its sheets, shared strings and number formats, and what its parts point at."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from spanwise.documents.document import LeftOut, is_iso
from spanwise.readers.container import Container, target_part
from spanwise.readers.sheets.cells import cell_text
from spanwise.readers.sheets.number_formats import BUILT_IN, Formatter, formatter

_CODED: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_FORMATS: Final = 100_000


class SheetPart(NamedTuple):
    """A sheet: its name, the part that holds it, and whether it is hidden."""

    name: str
    part: str
    hidden: bool


class Workbook:
    """What all sheets of a file share."""

    def __init__(self, container: Container) -> None:
        """Read the parts of the workbook; raise UnreadableError if there is none or it is broken."""
        self.container = container
        self.left_out: list[LeftOut] = []
        start = related(container, "", "/officeDocument")
        self.part = start[0] if start else "xl/workbook.xml"
        root = container.xml(self.part)
        if root is None:
            raise container.broken(self.part, "there is no workbook")
        properties: Any = next(iter(root.iter("{*}workbookPr")), {})
        self.since_1904 = properties.get("date1904") in {"1", "true"}
        self.sheets = self._sheets(root)
        self.strings = [text for part in self._parts("/sharedStrings") for text in _strings(container, part)]
        self.formats = [one for part in self._parts("/styles") for one in self._formats(part)]
        if self._parts("/vbaProject"):
            self.left_out.append(LeftOut("macro", usual=True))

    def _parts(self, kind: str) -> list[str]:
        return [part for part in related(self.container, self.part, kind) if part in self.container]

    def _sheets(self, root: Any) -> list[SheetPart]:
        """Return the sheets in their order; of charts that fill a sheet only the name is listed."""
        targets = relations(self.container, self.part)
        found: list[SheetPart] = []
        for sheet in root.iter("{*}sheet"):
            identity = next((value for name, value in sheet.attrib.items() if name.endswith("}id")), "")
            kind, part = targets.get(identity, ("", ""))
            name = sheet.get("name") or f"Sheet{len(found) + 1}"
            if kind.endswith("/worksheet") and part in self.container:
                found.append(SheetPart(name, part, sheet.get("state") in {"hidden", "veryHidden"}))
            else:
                self.left_out.append(LeftOut("sheet without cells", name, {"sheet": name}))
        return found

    def _formats(self, part: str) -> list[Formatter | None]:
        """Return the formatter of each cell style; None where numbers are shown plainly."""
        root = self.container.xml(part)
        codes = dict(BUILT_IN)
        for one in root.iter("{*}numFmt"):
            if (number := one.get("numFmtId") or "").isdecimal():
                codes[int(number)] = one.get("formatCode") or ""
        known: dict[str, Formatter | None] = {}
        styles = next(iter(root.iter("{*}cellXfs")), ())
        return [self._formatter(codes, style.get("numFmtId") or "", known) for style in styles][:_MOST_FORMATS]

    def _formatter(self, codes: dict[int, str], number: str, known: dict[str, Formatter | None]) -> Formatter | None:
        if number not in known:
            code = codes.get(int(number), "") if number.isdecimal() else ""
            known[number] = formatter(code, since_1904=self.since_1904)
        return known[number]

    def metadata(self) -> dict[str, Any]:
        """Return what the file states about itself."""
        found: dict[str, Any] = {}
        for part in related(self.container, "", "/core-properties"):
            root = self.container.xml(part)
            for one in root if root is not None else ():
                text, name = " ".join((one.text or "").split()), one.tag.rpartition("}")[2]
                if text and name in {"title", "creator", "modified"}:
                    found[{"title": "title", "creator": "author", "modified": "updated_at"}[name]] = text
        if "updated_at" in found and not is_iso(found["updated_at"]):
            del found["updated_at"]
        return found


def relations(container: Container, part: str) -> dict[str, tuple[str, str]]:
    """Return what a part points at inside the file: the kind and the part, by id."""
    folder, _, name = part.rpartition("/")
    root = container.xml(f"{folder}/_rels/{name}.rels".lstrip("/"))
    return {
        one.get("Id") or "": (one.get("Type") or "", target_part(part, one.get("Target") or ""))
        for one in (root if root is not None else ())
        if one.get("TargetMode") != "External"
    }


def related(container: Container, part: str, kind: str) -> list[str]:
    """Return the parts that a part points at as of a kind."""
    return [target for name, target in relations(container, part).values() if name.endswith(kind)]


def _strings(container: Container, part: str) -> list[str]:
    """Return the shared strings as Markdown."""
    return [cell_text(text_of(element)) for _, element in container.events(part, "{*}si")]


def text_of(element: Any) -> str:
    """Return the text of a string with its runs; how it is read aloud is no part of it."""
    texts = []
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name == "t":
            texts.append(child.text or "")
        elif name == "r":
            texts += [one.text or "" for one in child if one.tag.rpartition("}")[2] == "t"]
    return decoded("".join(texts))


def decoded(text: str) -> str:
    """Return a text with the characters that XML can't hold, written `_x000D_`."""
    return _CODED.sub(_character, text) if "_x" in text else text


def _character(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return "\ufffd" if not number or 0xD800 <= number < 0xE000 else chr(number)
