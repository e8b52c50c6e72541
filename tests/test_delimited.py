"""CSV and TSV: dialects, encodings, quoted line ends, ragged rows, and the tables that they become."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import UnreadableError

TEXTS = {
    "a,b\n1,2\n": "| a | b |\n|---|---|\n| 1 | 2 |",
    "a;b\n1,5;2\n3,5;4\n": "| a | b |\n|---|---|\n| 1,5 | 2 |\n| 3,5 | 4 |",
    "a\tb\n1\t2\n": "| a | b |\n|---|---|\n| 1 | 2 |",
    "a|b\n1|2\n": "| a | b |\n|---|---|\n| 1 | 2 |",
    "sep=|\na|b,c\n": "| a | b,c |\n|---|---|",
    'a,b\n"x, y","say ""hi"""\n': '| a | b |\n|---|---|\n| x, y | say "hi" |',
    'a,b\n"one\ntwo",2\n3,4\n': "| a | b |\n|---|---|\n| one<br>two | 2 |\n| 3 | 4 |",
    "a,b\n1\n2,3,4\n": "| a | b |  |\n|---|---|---|\n| 1 |  |  |\n| 2 | 3 | 4 |",
    "a,b\n1,2\n\nc,d\n3,4\n": "| a | b |\n|---|---|\n| 1 | 2 |\n\n| c | d |\n|---|---|\n| 3 | 4 |",
    "1,2\n3,4\n": "| 1 | 2 |\n|---|---|\n| 3 | 4 |",
    "Cups\nTeam,Wins\nBlues,1\n": "| Cups |  |\n|---|---|\n| Team | Wins |\n| Blues | 1 |",
    "only\none\n": "| only |\n|---|\n| one |",
    "a, b\n1, 2\n": "| a | b |\n|---|---|\n| 1 | 2 |",
    "# x\n": "\\# x",
    "a,b|c\n*x*,<i>\n": "| a | b\\|c |\n|---|---|\n| \\*x\\* | \\<i> |",
    "": "",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_text_becomes_tables(text: str) -> None:
    assert spanwise.read_text(text, format="csv").text == TEXTS[text]


def test_ranges_count_rows_as_a_spreadsheet_does() -> None:
    document = spanwise.read_text('a,b\n"one\ntwo",2\n\nc,d\n3,4\n', format="csv")
    assert [block.source_ref for block in document.blocks] == [{"range": "A1:B2"}, {"range": "A4:B5"}]
    assert [part.source_ref for part in document.blocks[1].parts] == [{"range": "A4:B4"}, {"range": "A5:B5"}]
    assert document.blocks[0].headings_path == ()


def test_tsv_has_tabs_only() -> None:
    assert spanwise.read_text("a,b\tc\n1,2\t3\n", format="tsv").text == "| a,b | c |\n|---|---|\n| 1,2 | 3 |"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1250", "cp932"])
def test_encodings_of_files(tmp_path: Path, encoding: str) -> None:
    word = "名前 髙橋" if encoding == "cp932" else "Zażółć gęślą jaźń"
    (tmp_path / "x.csv").write_bytes(f"name,city\n{word},Łódź\n".encode(encoding, "replace"))
    document = spanwise.read(tmp_path / "x.csv")
    assert document.metadata.source_type == "csv"
    assert word in document.text


@given(
    st.lists(st.lists(st.text(max_size=12), min_size=2, max_size=5), min_size=1, max_size=8), st.sampled_from(",;\t|")
)
def test_no_cell_is_lost(rows: list[list[str]], delimiter: str) -> None:
    rows = [["head one", "head two", *[f"h{at}" for at in range(3)]], *rows]
    made = StringIO()
    csv.writer(made, delimiter=delimiter, lineterminator="\n").writerows(rows)
    given_text = made.getvalue()
    document = spanwise.read_text(f"sep={delimiter}\n{given_text}", format="csv")
    shown = spanwise.chunk(document, "simple")
    wanted = "".join("".join(cell.split()) for row in rows for cell in row)
    found = "".join(chunk.plain_text for chunk in shown)
    letters = [one for one in wanted if one.isalnum()]
    assert [one for one in found if one.isalnum()] == letters


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(UnreadableError, match="16,384 columns"):
        spanwise.read_text("x," * 20_000, format="csv")


def test_reading_is_linear() -> None:
    assert_linear(lambda size: spanwise.read_text("a,b,c\n" + "1,two words,3.5\n" * size, format="csv"), 200)
    assert_linear(lambda size: spanwise.read_text('a,b\n"' + "x\n" * size + '",2\n', format="csv"), 200)
