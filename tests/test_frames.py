"""Chunks as tables and frames: one schema, nothing lost on the way through Parquet and back, and smaller records."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

import spanwise
from command import files, records
from spanwise.cli import main
from spanwise.records.columns import TEXTS
from spanwise.records.frames import SCHEMA_KEY, SCHEMA_VERSION, record_schema
from spanwise.records.record import FIELDS
from test_docs import table as documented

Captured = pytest.CaptureFixture[str]
Record = dict[str, Any]
PAGE = (
    "---\ntags: [a, b]\n---\n# Trips\n\n"
    "Trips are booked in [the portal](portal.md) or [[Rates#Poland]]. Zażółć 中文 👩‍👩‍👧.\n\n"
    "| City | Rate |\n|---|---|\n| Łódź | 35 |\n| Kraków | 36 |\n| Zürich | 70 |\n\n"
    "## Receipts\n\nKeep every receipt.\n"
)
MADE: dict[str, Callable[[], spanwise.Chunks]] = {
    "a page": lambda: spanwise.chunk(spanwise.read_text(PAGE, labels=["x"], extra={"team": {"of": [1, None, "ż"]}})),
    "no metadata": lambda: spanwise.chunk("One.\n\nTwo."),
    "pages": lambda: spanwise.chunk(spanwise.read_pages(["One.", "Two."]), max_tokens=16, min_tokens=1),
    "two levels": lambda: spanwise.chunk(PAGE, "hierarchical"),
    "no limit": lambda: spanwise.chunk(PAGE, "simple", max_chars=80),
    "other measures": lambda: spanwise.chunk(PAGE, offsets=("utf8", "utf16")),
    "nothing": lambda: spanwise.chunk(""),
}


@pytest.fixture(params=MADE)
def chunks(request: pytest.FixtureRequest) -> spanwise.Chunks:
    return MADE[request.param]()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files(tmp_path, {"docs/a.md": PAGE, "docs/b.md": "Second.\n"}))
    return tmp_path


def dicts(chunks: spanwise.Chunks) -> list[Record]:
    return [chunk.to_dict() for chunk in chunks]


# --------------------------------------------------------------------------------------------------------- frames


def test_every_kind_of_frame_holds_the_records(chunks: spanwise.Chunks) -> None:
    wanted = dicts(chunks)
    for frame in (chunks.to_arrow(), chunks.to_pandas(), chunks.to_polars()):
        assert spanwise.records_from_arrow(frame) == wanted


def through_arrow(chunks: spanwise.Chunks, path: str) -> None:
    parquet.write_table(chunks.to_arrow(), path)


def through_pandas(chunks: spanwise.Chunks, path: str) -> None:
    chunks.to_pandas().to_parquet(path)


def through_polars(chunks: spanwise.Chunks, path: str) -> None:
    chunks.to_polars().write_parquet(path)


@pytest.mark.parametrize("write", [through_arrow, through_pandas, through_polars])
def test_parquet_of_any_library_is_read_by_all_of_them(
    write: Callable[[spanwise.Chunks, str], None], chunks: spanwise.Chunks
) -> None:
    write(chunks, "x.parquet")
    wanted = dicts(chunks)
    read: list[Any] = [
        parquet.read_table("x.parquet"), pandas.read_parquet("x.parquet"),
        pandas.read_parquet("x.parquet", dtype_backend="pyarrow"), polars.read_parquet("x.parquet"),
    ]  # fmt: skip
    assert [spanwise.records_from_arrow(frame) for frame in read] == [wanted] * 4


@pytest.mark.parametrize("write", [through_arrow, through_pandas, through_polars])
def test_commands_read_parquet_of_any_library(write: Callable[[spanwise.Chunks, str], None], capsys: Captured) -> None:
    write(spanwise.chunk(Path("docs/a.md")), "x.parquet")
    assert main(["chunk", "docs/a.md", "-o", "x.jsonl", "-q"]) == 0
    assert main(["check", "x.parquet", "--source", "docs/a.md"]) == 0
    assert main(["diff", "x.jsonl", "x.parquet", "--json"]) == 0
    assert '"added":0,"removed":0,"moved":0' in capsys.readouterr().out.replace(" ", "")
    summaries = []
    for name in ("x.jsonl", "x.parquet"):
        assert main(["stats", name, "--json"]) == 0
        summaries.append(orjson.loads(capsys.readouterr().out) | {"file": ""})
    assert summaries[0] == summaries[1]


def test_the_command_writes_the_same_table(capsys: Captured) -> None:
    assert main(["chunk", "docs/a.md", "-o", "x.parquet", "-q"]) == 0
    written = parquet.read_table("x.parquet")
    made = spanwise.chunk(Path("docs/a.md")).to_arrow()
    assert written.schema.equals(made.schema, check_metadata=True)
    assert written.equals(made)


def test_the_schema_is_the_same_for_all_chunks() -> None:
    schemas = [make().to_arrow().schema for name, make in MADE.items() if name != "other measures"]
    assert all(schema.equals(record_schema(), check_metadata=True) for schema in schemas)
    assert schemas[0].metadata == {SCHEMA_KEY: SCHEMA_VERSION.encode()} == {b"spanwise.schema": b"1"}
    assert {str(make().to_pandas().dtypes.to_dict()) for make in (MADE["nothing"], MADE["pages"])} == {
        str(MADE["a page"]().to_pandas().dtypes.to_dict())
    }
    assert MADE["nothing"]().to_polars().schema == MADE["pages"]().to_polars().schema
    assert len(MADE["nothing"]().to_arrow()) == 0


def test_the_schema_is_documented_field_by_field() -> None:
    """Any change to the columns is a new version: change the page and SCHEMA_VERSION with them."""
    schema = record_schema()
    assert [[name.strip("`"), kind.strip("`")] for name, kind, *_ in documented("dataframes.md", "column")] == [
        [field.name, str(field.type) if not pyarrow.types.is_nested(field.type) else shown(field.type)]
        for field in schema
    ]
    page = (Path(__file__).parent.parent / "docs" / "dataframes.md").read_text("utf-8")
    assert f'`spanwise.schema` = `"{SCHEMA_VERSION}"`' in page
    for name in ("pieces", "navigation", "metadata"):
        kind = schema.field(name).type
        inner = kind if pyarrow.types.is_struct(kind) else kind.value_type
        assert documented("dataframes.md", f"in `{name}`") == [
            [f"`{field.name}`", f"`{shown(field.type)}`"] for field in inner
        ]


def shown(kind: Any) -> str:
    """Return a type as the page shows it: the fields of an object stand in a table of their own."""
    if pyarrow.types.is_list(kind):
        return f"list<{shown(kind.value_type)}>"
    if pyarrow.types.is_struct(kind):
        names = [field.name for field in kind]
        return f"struct<{', '.join(names)}>" if len(names) < 5 else "struct"
    return str(kind)


def test_no_column_is_an_empty_object() -> None:
    def empty(kind: Any) -> bool:
        if pyarrow.types.is_struct(kind):
            return kind.num_fields == 0 or any(empty(field.type) for field in kind)
        return pyarrow.types.is_list(kind) and empty(kind.value_type)

    assert not any(empty(field.type) for field in record_schema(("utf8",)))


def test_other_measures_are_columns_at_the_end() -> None:
    schema = MADE["other measures"]().to_arrow().schema
    assert schema.names == [*FIELDS, "utf8_start", "utf8_end", "utf16_start", "utf16_end"]
    assert [field.name for field in schema.field("pieces").type.value_type][4:] == schema.names[-4:]


def test_rows_may_be_sorted_out_and_columns_added() -> None:
    frame = MADE["a page"]().to_pandas()
    frame["mine"] = [0.5] * len(frame)
    kept = frame[frame["chunk_index"] > 0]
    wanted = [record | {"mine": 0.5} for record in dicts(MADE["a page"]())[1:]]
    assert spanwise.records_from_arrow(kept) == wanted
    kept.to_parquet("x.parquet")
    assert spanwise.records_from_arrow(parquet.read_table("x.parquet")) == wanted


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(spanwise.OptionError, match="`table` must be an Arrow table or a data frame: 'list'\nhint: "):
        spanwise.records_from_arrow([{}])


def test_metadata_that_no_column_can_hold_is_one_error() -> None:
    document = spanwise.read_text("One.", page_version=2**63)
    with pytest.raises(spanwise.UnreadableError, match="`metadata` can't be held by a table"):
        spanwise.chunk(document).to_arrow()


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [("to_arrow", "pyarrow", "parquet"), ("to_pandas", "pandas", "pandas"), ("to_polars", "polars", "polars")],
)
def test_a_missing_library_is_named_with_its_extra(
    method: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = spanwise.chunk("One.")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(spanwise.MissingExtraError, match=f"`{module}` is needed for") as missing:
        getattr(chunks, method)()
    assert missing.value.extra == extra


# -------------------------------------------------------------------------------------------------- smaller records


def written(name: str, *arguments: str) -> list[Record]:
    """Return the records of a file that the command writes, in the order of their fields."""
    assert main(["chunk", "docs", "-o", name, "-q", *arguments]) == 0
    if name.endswith("parquet"):
        return spanwise.records_from_arrow(parquet.read_table(name))
    if name.endswith("csv"):
        with Path(name).open(newline="", encoding="utf-8") as file:
            return [{key: value or None for key, value in row.items()} for row in csv.DictReader(file)]
    return orjson.loads(Path(name).read_bytes()) if name.endswith("json") else records(Path(name))


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.csv", "x.parquet"])
def test_fields_are_kept_in_the_given_order(name: str) -> None:
    chosen = ["char_end", "chunk_id", "pieces", "normalized_text", "metadata"]
    found = written(name, "--fields", ",".join(chosen))
    whole = written("whole.jsonl")
    assert [list(record) for record in found] == [chosen] * len(whole)
    for record, other in zip(found, whole, strict=True):
        if name == "x.csv":  # what is no text stands there as JSON
            texts = {"chunk_id", "normalized_text"}
            record = {key: value if key in texts else orjson.loads(value) for key, value in record.items()}
        assert record == {key: other[key] for key in chosen}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.csv", "x.parquet"])
@pytest.mark.parametrize("texts", [*TEXTS, "all"])
def test_texts_keeps_one_kind_of_text(texts: str, name: str) -> None:
    others = {field for kind, names in TEXTS.items() if texts not in {kind, "all"} for field in names}
    wanted = [field for field in FIELDS if field not in others]
    assert [list(record) for record in written(name, "--texts", texts)] == [wanted] * len(written("whole.jsonl"))
    assert texts == "all" or {field for field in wanted if field.endswith("_text")} == set(TEXTS[texts])


def test_fields_may_be_those_of_a_dialect_or_of_other_measures() -> None:
    found = written("x.jsonl", "--dialect", "spec-v1", "--fields", "md_text,chunk_id")
    assert [list(record) for record in found] == [["md_text", "chunk_id"]] * len(found)
    table = written("x.parquet", "--dialect", "fixed-size", "--fields", "metadata,content")
    assert [list(record) for record in table] == [["metadata", "content"]] * len(table)
    found = written("x.jsonl", "--offsets", "utf16", "--fields", "utf16_end")
    assert [list(record) for record in found] == [["utf16_end"]] * len(found)


def test_a_terminal_is_shown_lines_where_fields_are_chosen(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.cli.output.on_screen", lambda _: True)
    assert main(["chunk", "docs/b.md", "--fields", "chunk_index", "-q"]) == 0
    assert records(capsys.readouterr().out) == [{"chunk_index": 0}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fields", "chunk_id,ful_text"], "`fields` is not a field: 'ful_text'\nhint: did you mean `full_text`?"),
        (["--fields", "chunk_id,chunk_id"], "`fields` must name each field once: 'chunk_id'"),
        (["--fields", ""], "`fields` is not a field: ''\nhint: known: "),
        (["--fields", "utf8_start"], "`fields` is not a field: 'utf8_start'"),
        (["--dialect", "spec-v1", "--fields", "full_text"], "is not a field of the dialect spec-v1: 'full_text'"),
        (["--dialect", "notes", "--texts", "core"], "`texts` is for Spanwise's own records: notes has texts"),
        (["--fields", "chunk_id", "--texts", "core"], "`texts` can't be given beside fields: 'core'\nhint: "),
        (["--texts", "cor"], "hint: did you mean `core`?"),
        (["--fields", "chunk_id", "--format", "view"], "view shows Spanwise's own records with all their fields"),
        (["--texts", "core", "--format", "table"], "table shows Spanwise's own records with all their fields"),
    ],
)  # fmt: skip
def test_fields_that_cannot_be_kept_are_refused(arguments: list[str], message: str, capsys: Captured) -> None:
    try:
        code: Any = main(["chunk", "docs", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_the_command_and_python_keep_the_same() -> None:
    for arguments, options in (
        (["--fields", "chunk_id,full_text"], {"fields": ["chunk_id", "full_text"]}),
        (["--texts", "embedding"], {"texts": "embedding"}),
    ):
        assert main(["chunk", "docs", "-o", "x.jsonl", "-q", *arguments]) == 0
        made: Any = spanwise.chunk_files("docs", jobs=1, **options)
        assert b"".join(outcome.value for outcome in made) == Path("x.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"fields": ["ful_text"]}, "`fields` is not a field: 'ful_text'"),
        ({"fields": []}, "`fields` must name at least one field"),
        ({"fields": 5}, "`fields` is not a field: 5"),
        ({"texts": "cor"}, "`texts` is not a kind of text: 'cor'"),
        ({"texts": 5}, "`texts` is not a kind of text: 5"),
        ({"texts": "core", "dialect": "pages"}, "`texts` is for Spanwise's own records"),
    ],
)
def test_python_refuses_them_before_any_work(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(spanwise.OptionError, match=rule):
        spanwise.chunk_files("docs", **options)


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["--texts", "core"], "full_text, embedding_text are missing"),
        (["--texts", "embedding"], "normalized_text, full_text are missing"),
        (["--fields", "normalized_text"], "chunk_index, char_start, "),
        (["--dialect", "spec-v1", "--fields", "chunk_id,md_text"], "tenant_id, document_id, "),
    ],
)
def test_check_says_in_one_line_what_is_missing(
    arguments: list[str], missing: str, name: str, capsys: Captured
) -> None:
    written(name, *arguments)
    assert main(["check", name, "--source", "docs"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    error, hint = err.splitlines()
    assert error.startswith(f"error: `{name}` can't be checked: in every record {missing}")
    assert hint == "hint: check what spanwise chunk writes without --fields and --texts"


def test_one_record_that_lacks_fields_is_a_violation(capsys: Captured) -> None:
    first, *others = written("x.jsonl")
    del first["full_text"], first["page_start"]
    Path("x.jsonl").write_bytes(b"\n".join(map(orjson.dumps, [first, *others])))
    assert main(["check", "x.jsonl"]) == 1
    assert "violation: record: line 1, chunk" in (out := capsys.readouterr().out)
    assert "full_text, page_start are missing\n" in out


def test_sizes_and_changes_of_smaller_records_are_the_same(capsys: Captured) -> None:
    written("whole.jsonl", "--max-tokens", "30")
    for texts in TEXTS:
        written("x.jsonl", "--max-tokens", "30", "--texts", texts)
        summaries = []
        for name in ("whole.jsonl", "x.jsonl"):
            assert main(["stats", name, "--json"]) == 0
            summaries.append(orjson.loads(capsys.readouterr().out) | {"file": ""})
        assert summaries[0] == summaries[1]
        assert summaries[0]["context_share"] > 0
        assert main(["diff", "whole.jsonl", "x.jsonl"]) == 0
        assert "0 added, 0 removed, 0 moved" in capsys.readouterr().out


def test_diff_says_what_it_needs(capsys: Captured) -> None:
    written("x.jsonl", "--fields", "chunk_id,content_id,content_hash,metadata,document_id")
    assert main(["diff", "x.jsonl", "x.jsonl"]) == 2
    assert "`x.jsonl` holds records without chunk_index, headings_path\nhint: " in capsys.readouterr().err
