"""Spreadsheets made part by part, so that a test says what is in them: XLSX and ODS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from spanwise.readers.sheets.cells import column_name

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
Cell = str | int | float | bool | tuple[float, str] | None
"""A text, number or truth value; a number with its format; None for no cell."""


def zipped(parts: Mapping[str, str]) -> bytes:
    """Return a zip file of parts."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return file.getvalue()


def related(*targets: tuple[str, str]) -> str:
    """Return relationships from kinds to targets, as `rId1` and so on."""
    rows = (
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{"".join(rows)}</Relationships>'


class Book:
    """An XLSX file; a sheet is rows of cells, with more XML before and after them."""

    def __init__(self, *, since_1904: bool = False) -> None:
        self._since_1904 = since_1904
        self._formats: list[str] = []
        self._sheets: list[tuple[str, str, str]] = []
        self.parts: dict[str, str] = {}

    def sheet(
        self,
        name: str,
        rows: Sequence[Sequence[Cell]] | Mapping[int, Sequence[Cell]],
        *,
        state: str = "visible",
        before: str = "",
        after: str = "",
        hidden_rows: Sequence[int] = (),
    ) -> Book:
        """Add a sheet; `rows` may be given by their numbers."""
        numbered = rows if isinstance(rows, Mapping) else dict(enumerate(rows, 1))
        lines = "".join(
            f'<row r="{number}" hidden="{int(number in hidden_rows)}">'
            + "".join(self._cell(f"{column_name(at)}{number}", cell) for at, cell in enumerate(cells))
            + "</row>"
            for number, cells in numbered.items()
        )
        self.raw_sheet(name, f"{before}<sheetData>{lines}</sheetData>{after}", state=state)
        return self

    def raw_sheet(self, name: str, inside: str, *, state: str = "visible") -> Book:
        """Add a sheet by its XML."""
        text = f'<worksheet xmlns="{MAIN}" xmlns:r="{RELATIONS}">{inside}</worksheet>'
        self._sheets.append((name, state, text))
        return self

    def _cell(self, place: str, cell: Cell) -> str:
        match cell:
            case None:
                return ""
            case bool():
                return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
            case str() if cell.startswith("="):
                return f'<c r="{place}"><f>{escape(cell[1:])}</f></c>'
            case str():
                return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
            case (number, code):
                if code not in self._formats:
                    self._formats.append(code)
                return f'<c r="{place}" s="{self._formats.index(code) + 1}"><v>{number!r}</v></c>'
            case _:
                return f'<c r="{place}"><v>{cell!r}</v></c>'

    def data(self) -> bytes:
        """Return the file."""
        kinds = [("worksheet", f"worksheets/sheet{number}.xml") for number, _ in enumerate(self._sheets, 1)]
        listed = "".join(
            f'<sheet name="{escape(name)}" sheetId="{number}" state="{state}" r:id="rId{number}"/>'
            for number, (name, state, _) in enumerate(self._sheets, 1)
        )
        epoch = '<workbookPr date1904="1"/>' if self._since_1904 else "<workbookPr/>"
        formats = "".join(
            f'<numFmt numFmtId="{164 + at}" formatCode="{escape(code)}"/>' for at, code in enumerate(self._formats)
        )
        styles = "".join(f'<xf numFmtId="{164 + at}"/>' for at, _ in enumerate(self._formats))
        sheets = {f"xl/worksheets/sheet{number}.xml": text for number, (_, _, text) in enumerate(self._sheets, 1)}
        return zipped({
            "_rels/.rels": related(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{epoch}'
                               f"<sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": related(*kinds, ("styles", "styles.xml"), ("sharedStrings", "strings.xml")),
            "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts>'
                             f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>',
            **sheets,
            **self.parts,
        })  # fmt: skip


def merged(*ranges: str) -> str:
    """Return the XML of merged cells."""
    return "<mergeCells>" + "".join(f'<mergeCell ref="{one}"/>' for one in ranges) + "</mergeCells>"


def spreadsheet(sheets: Mapping[str, str], styles: str = "", **parts: str) -> bytes:
    """Return an ODS file of sheets given by the XML of their rows."""
    names = {
        "office": "office:1.0", "table": "table:1.0", "text": "text:1.0", "style": "style:1.0",
    }  # fmt: skip
    spaces = " ".join(f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{name}"' for key, name in names.items())
    tables = "".join(
        f'<table:table table:name="{escape(name)}"{inside}</table:table>' for name, inside in sheets.items()
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content, **parts})
