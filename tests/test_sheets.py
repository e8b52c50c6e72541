"""Spreadsheets: which cells become which tables, heads, references and texts; what is left out; what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import xlwt

import spanwise
from growth import assert_linear
from made_sheets import Book, Cell, merged, related, spreadsheet, zipped
from spanwise import Document, SpanwiseError, UnreadableError
from spanwise.chunking.strategies import STRATEGIES
from spanwise.readers import read_bytes
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 31], ["Bob", 42]]
PEOPLE_TEXT = "| Name | Age |\n|---|---|\n| Ann | 31 |\n| Bob | 42 |"


def read(data: bytes, format: str = "xlsx") -> Document:
    return read_bytes(data, f"book.{format}", format, {})


def tables(document: Document) -> list[tuple[str, int]]:
    """Return the range of each table, and how many of its rows are the head."""
    found = []
    for block in document.blocks:
        if block.kind == "table":
            head = document.text[block.parts[0].start : block.parts[0].end].split("\n")
            filled = any(head[0].strip("| "))
            found.append((str((block.source_ref or {})["range"]), len(head) - 1 if filled else 0))
    return found


def test_a_sheet_is_a_section_and_its_cells_are_a_table() -> None:
    document = read(Book().sheet("People", PEOPLE).sheet("More things", [["x", "y"], [1, 2]]).data())
    assert document.text == f"# People\n\n{PEOPLE_TEXT}\n\n# More things\n\n| x | y |\n|---|---|\n| 1 | 2 |"
    heading, table, other, _ = document.blocks
    assert (heading.kind, heading.level, other.headings_path) == ("heading", 1, ("More things",))
    assert table.source_ref == {"sheet": "People", "range": "People!A1:B3"}
    assert [part.source_ref for part in table.parts] == [
        {"sheet": "People", "range": f"People!A{row}:B{row}"} for row in (1, 2, 3)
    ]
    assert [part.header for part in table.parts] == [True, False, False]
    assert [document.text[part.start : part.end] for part in table.parts[1:]] == ["| Ann | 31 |", "| Bob | 42 |"]
    assert document.blocks[3].source_ref == {"sheet": "More things", "range": "'More things'!A1:B2"}


def test_empty_rows_and_columns_divide_tables() -> None:
    rows: list[list[Cell]] = [
        ["a", "b", None, "c", "d"], [1, 2, None, 3, 4], [],
        ["e", "f"], [5, 6], [7, 8, None, "note"], [9, 9],
    ]  # fmt: skip
    document = read(Book().sheet("S", rows).data())
    assert tables(document) == [("S!A1:B2", 1), ("S!D1:E2", 1), ("S!A4:B7", 1)]
    assert document.text.endswith("\n\nnote")
    assert document.blocks[-1].source_ref == {"sheet": "S", "range": "S!D6:D6"}


def test_values_are_shown_as_in_the_sheet() -> None:
    row: list[Cell] = [
        (12000, '"$"#,##0.00'), (0.256, "0%"), (45322, "yyyy-mm-dd"), True, "5", 1e6, "two\nlines", "a|b *c* <i>",
    ]  # fmt: skip
    document = read(Book().sheet("S", [list("abcdefgh"), row]).data())
    last = document.text.rpartition("\n")[2]
    assert last == "| $12,000.00 | 26% | 2024-01-31 | TRUE | 5 | 1000000 | two<br>lines | a\\|b \\*c\\* \\<i> |"
    since = Book(since_1904=True).sheet("S", [["day"], [(43860, "yyyy-mm-dd")]]).data()
    assert read(since).text.endswith("| 2024-01-31 |")


def test_several_rows_of_a_head() -> None:
    grouped: list[list[Cell]] = [
        ["Region", "2023", None, "2024"], [None, "Q1", "Q2", "Q1"], ["North", 1, 2, 3], ["South", 4, 5, 6],
    ]  # fmt: skip
    marked = Book().sheet("S", grouped, after=merged("A1:A2", "B1:C1")).data()
    assert tables(read(marked)) == tables(read(Book().sheet("S", grouped).data())) == [("S!A1:D4", 2)]
    titled: list[list[Cell]] = [["Sales"], ["Name", "Sum"], ["Ann", 1]]
    assert tables(read(Book().sheet("S", titled).data())) == [("S!A1:B3", 2)]
    years: list[list[Cell]] = [["Item", 2023, 2024], ["x", 5, 6]]
    assert tables(read(Book().sheet("S", years).data())) == [("S!A1:C2", 1)]
    numbers: list[list[Cell]] = [[1.5, 2], [3, 4]]
    assert tables(read(Book().sheet("S", numbers).data())) == [("S!A1:B2", 0)]
    words: list[list[Cell]] = [["a", "b"], ["c", "d"], ["e", "f"]]
    assert tables(read(Book().sheet("S", words).data())) == [("S!A1:B3", 1)]
    pane = '<sheetViews><sheetView><pane ySplit="2" state="frozen"/></sheetView></sheetViews>'
    assert tables(read(Book().sheet("S", words, before=pane).data())) == [("S!A1:B3", 2)]


def test_a_declared_table_says_its_head() -> None:
    book = Book().sheet("S", [["a", "b"], ["c", "d"], ["e", "f"]])
    book.parts["xl/worksheets/_rels/sheet1.xml.rels"] = related(("table", "../tables/t.xml"))
    book.parts["xl/tables/t.xml"] = '<table ref="A2:B3" headerRowCount="1"/>'
    assert tables(read(book.data())) == [("S!A1:B3", 2)]


def test_merged_cells_hold_a_table_together() -> None:
    rows: list[list[Cell]] = [["Name", None, "Age"], ["Ann", None, 31], ["Bob", None, 42]]
    assert tables(read(Book().sheet("S", rows).data())) == [("S!A1:A3", 1), ("S!C1:C3", 1)]
    document = read(Book().sheet("S", rows, after=merged("A1:B1", "A2:B2", "A3:B3")).data())
    assert tables(document) == [("S!A1:C3", 1)]
    assert document.text.endswith("| Bob |  | 42 |")


def test_what_is_hidden_is_left_out_and_listed() -> None:
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    book = Book().sheet("S", [["a", "secret", "c"], [1, 2, 3], [4, 5, 6]], before=columns, hidden_rows=[3])
    book.sheet("Gone", [["x"]], state="hidden").sheet("Lost", [["y"]], state="veryHidden")
    book.sheet("F", [["sum", "of"], ["=A1+1", 3]])
    book.parts["xl/worksheets/_rels/sheet1.xml.rels"] = related(("comments", "../comments1.xml"))
    book.parts["xl/comments1.xml"] = '<comments><comment ref="A1"><text><r><t>why?</t></r></text></comment></comments>'
    document = read(book.data())
    assert "secret" not in document.text
    assert "x" not in document.text
    assert [(item.reason, item.text, (item.source_ref or {}).get("range")) for item in document.left_out] == [
        ("hidden row", "4 | 6", "S!A3:C3"),
        ("hidden column", "secret", "S!B:B"),
        ("comment", "why?", "S!A1:A1"),
        ("hidden sheet", "Gone", None),
        ("hidden sheet", "Lost", None),
        ("formula without a value", "=A1+1", "F!A2:A2"),
    ]


def test_cells_are_read_however_they_are_written() -> None:
    inside = (
        '<sheetData><row><c t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r></is></c><c t="s"><v>0</v></c></row>'
        '<row r="5"><c r="B5"><f>1+1</f><v>2</v></c><c r="A5" t="str"><v>a_x000A_b</v></c>'
        '<c r="C5" t="e"><v>#N/A</v></c></row>'
        "<row r='4'><c r='A4'><v>&#52;</v></c></row></sheetData>"
    )
    book = Book().raw_sheet("S", inside)
    book.parts["xl/strings.xml"] = "<sst><si><t>sha</t><phoneticPr/><rPh><t>no</t></rPh><r><t>red</t></r></si></sst>"
    assert read(book.data()).text == (
        "# S\n\n| rich | shared |\n|---|---|\n\n|  |  |  |\n|---|---|---|\n| 4 |  |  |\n| a<br>b | 2 | #N/A |"
    )


def test_prefixed_and_strict_workbooks() -> None:
    data = Book().sheet("S", PEOPLE).data()
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    parts = {name: text.replace("http://schemas.openxmlformats.org/spreadsheetml/2006/main", strict)
             for name, text in _parts(data).items()}  # fmt: skip
    assert read(zipped(parts)).text == f"# S\n\n{PEOPLE_TEXT}"
    sheet = parts["xl/worksheets/sheet1.xml"]
    for tag in ("worksheet", "sheetData", "row", "c", "is", "t", "v"):
        sheet = (
            sheet.replace(f"<{tag} ", f"<m:{tag} ")
            .replace(f"<{tag}>", f"<m:{tag}>")
            .replace(f"</{tag}>", f"</m:{tag}>")
        )
    parts["xl/worksheets/sheet1.xml"] = sheet.replace('xmlns="', 'xmlns:m="')
    assert read(zipped(parts)).text == f"# S\n\n{PEOPLE_TEXT}"


def _parts(data: bytes) -> dict[str, str]:
    from io import BytesIO
    from zipfile import ZipFile

    with ZipFile(BytesIO(data)) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def test_a_cell_far_away_costs_little() -> None:
    document = read(Book().sheet("S", {1: ["a", *[None] * 16_000, "z"], 900_000: ["b"]}).data())
    assert len(document.text) < 1_000
    wide: list[list[Cell]] = [[f"c{at}" for at in range(5_000)]]
    wide += [[*[None] * 4_999, "x"]] * 300
    assert len(read(Book().sheet("S", wide).data()).text) < 1_200_000  # and not 4,500,000


def test_reading_is_linear() -> None:
    def work(size: int) -> object:
        rows: list[list[Cell]] = [["a", "b", "c"]]
        rows += [[f"t{at}", at, (at, "0.00")] for at in range(size)]
        return read(Book().sheet("S", rows).data())

    def stairs(size: int) -> object:
        return read(Book().sheet("S", [[None] * (2 * at) + ["x"] for at in range(size)]).data())

    assert_linear(work, 100)
    assert_linear(stairs, 60)


ODS_ROWS = (
    '><table:table-column table:number-columns-repeated="2"/><table:table-column table:visibility="collapse"/>'
    '<table:table-row><table:table-cell office:value-type="string"><text:p>Name</text:p></table:table-cell>'
    '<table:table-cell office:value-type="string"><text:p>Sum</text:p></table:table-cell>'
    '<table:table-cell office:value-type="string"><text:p>hidden</text:p></table:table-cell></table:table-row>'
    '<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string"><text:p>An'
    "<text:span>n</text:span><text:s/>B<text:line-break/>C</text:p></table:table-cell>"
    '<table:table-cell office:value-type="currency" office:value="5"><office:annotation><text:p>so?</text:p>'
    "</office:annotation><text:p>5,00 €</text:p></table:table-cell></table:table-row>"
    '<table:table-row table:visibility="filter"><table:table-cell><text:p>no</text:p></table:table-cell>'
    "</table:table-row>"
    '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/>'
    "</table:table-row>"
)


def test_ods_holds_values_as_displayed() -> None:
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    document = read(spreadsheet({"S": ODS_ROWS, "H": ' table:style-name="ta2">'}, styles), "ods")
    row = "| Ann B<br>C | 5,00 € |"
    assert document.text == f"# S\n\n| Name | Sum |\n|---|---|\n{row}\n{row}"
    assert document.blocks[1].source_ref == {"sheet": "S", "range": "S!A1:B3"}
    assert [(item.reason, item.text) for item in document.left_out] == [
        ("comment", "so?"), ("hidden row", "no"), ("hidden column", "hidden"), ("hidden sheet", "H"),
    ]  # fmt: skip


def test_xls_is_read_with_raw_values(tmp_path: Path) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Old")
    people: list[list[Cell]] = [["Name", "Age"], ["Ann", 31], ["Bob", 42.5]]
    for row, cells in enumerate(people):
        for column, value in enumerate(cells):
            sheet.write(row + 2, column + 1, value)
    hidden = book.add_sheet("Gone")
    hidden.visibility = 1
    book.save(str(tmp_path / "old.xls"))
    document = spanwise.read(tmp_path / "old.xls")
    assert document.text == "# Old\n\n| Name | Age |\n|---|---|\n| Ann | 31 |\n| Bob | 42.5 |"
    assert document.blocks[1].source_ref == {"sheet": "Old", "range": "Old!B3:C5"}
    assert [item.reason for item in document.left_out] == ["hidden sheet"]
    _assert_damage_is_an_error((tmp_path / "old.xls").read_bytes(), "xls", 150)


def test_what_is_encrypted_or_no_workbook_is_refused() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    with pytest.raises(UnreadableError, match="password"):
        read(ole + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"))
    manifest = '<m xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><encryption-data/></m>'
    encrypted = spreadsheet({"S": ">"}, **{"META-INF/manifest.xml": manifest})
    with pytest.raises(UnreadableError, match="password"):
        read(encrypted, "ods")
    for name in ("xlsx", "ods", "xls"):
        for data in (b"", b"no workbook", zipped({"a.txt": "b"}), ole + b"\0" * 2000):
            with pytest.raises(UnreadableError):
                read(data, name)


def _assert_damage_is_an_error(data: bytes, format: str, times: int) -> None:
    chance = random.Random(7)
    for _ in range(times):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        for one in (bytes(broken), data[: chance.randrange(len(data))]):
            try:
                document = read(one, format)
            except SpanwiseError:
                continue
            assert isinstance(document, Document)


def test_damaged_files_are_errors() -> None:
    _assert_damage_is_an_error(Book().sheet("S", PEOPLE * 20, after=merged("A1:B1")).data(), "xlsx", 100)
    _assert_damage_is_an_error(spreadsheet({"S": ODS_ROWS}), "ods", 100)


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"])
def test_damaged_parts_are_errors(part: str) -> None:
    parts, chance = (
        _parts(Book().sheet("S", [*PEOPLE, [(5, "0.0"), "=A1"]], after=merged("A1:B1")).data()),
        random.Random(3),
    )
    for _ in range(150):
        text = list(parts[part])
        for _ in range(chance.choice((1, 4))):
            text[chance.randrange(len(text))] = chance.choice('0123456789AZ<>"/ &')
        try:
            document = read(zipped({**parts, part: "".join(text)}))
        except SpanwiseError:
            continue
        assert isinstance(document, Document)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "smart"])
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_sheets(strategy: str, limit: int) -> None:
    rows: list[list[Cell]] = [
        ["Report"], [f"Column {at}" for at in range(30)],
    ]  # fmt: skip
    rows += [[f"value {row}.{at}" for at in range(30)] for row in range(8)]
    rows += [[], ["Name", "Text"], ["Ann", "A sentence that goes on. " * 30], ["*x*|y", "short\nlines"]]
    document = read(Book().sheet("Wide one", rows).sheet("# 2", PEOPLE).data())
    records = [one.to_dict() for one in spanwise.chunk(document, STRATEGIES[strategy], max_tokens=limit)]
    parents = 2000 if strategy == "hierarchical" else None
    assert broken_laws(document, records, tokenizer_of("cl100k"), limit, parents) == []
