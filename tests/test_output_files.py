"""The files that `chunk` writes and `check` reads: formats by suffix, CSV, and what is no file of chunks."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from command import files, records
from spanwise.cli import main
from spanwise.cli.commands.demo import DEMO as DEMO_FOLDER
from spanwise.records.record import FIELDS
from test_tokens import saved

DEMO = DEMO_FOLDER / "documents"
Captured = pytest.CaptureFixture[str]
NOTE = '# Trips\n\nTrips, "booked" in\nthe portal; Dr. Novak approves them. Zażółć 中文 👩‍👩‍👧.\n\n- a\n- b\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files(tmp_path, {"docs/a.md": NOTE, "docs/b.md": "Second, with\ttabs.\n"}))
    return tmp_path


@pytest.mark.parametrize(
    "arguments", [[], ["--dialect", "spec-v1"], ["--dialect", "fixed-size"], ["--offsets", "utf16"]], ids=" ".join
)
def test_csv_holds_the_records(arguments: list[str]) -> None:
    assert main(["chunk", "docs", "-o", "x.csv", "-q", *arguments]) == 0
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q", *arguments]) == 0
    with Path("x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wanted = records(Path("x.jsonl"))
    assert len(rows) == len(wanted) == 2
    for row, record in zip(rows, wanted, strict=True):
        assert list(row) == list(record)
        for name, value in record.items():
            assert row[name] == (value if isinstance(value, str) else "" if value is None else row[name])
            assert isinstance(value, str | None) or json.loads(row[name]) == value


@pytest.mark.parametrize("name", ["x.txt", "x.xlsx", "x.jsonl.gz", "x.CSVX"])
def test_a_suffix_without_a_format_is_refused_before_any_work(name: str, capsys: Captured) -> None:
    assert main(["chunk", "missing", "-o", name]) == 2
    message = capsys.readouterr().err
    assert name in message
    assert ".jsonl" in message
    assert not Path(name).exists()


@pytest.mark.parametrize(("name", "format"), [("x.txt", "jsonl"), ("x.csv", "json"), ("x.json", "jsonl")])
def test_a_format_that_is_named_overrides_the_suffix(name: str, format: str) -> None:
    assert main(["chunk", "docs", "-o", name, "--format", format, "-q"]) == 0
    assert main(["chunk", "docs", "-o", "wanted", "--format", format, "-q"]) == 0
    assert Path(name).read_bytes() == Path("wanted").read_bytes()


@pytest.mark.parametrize("name", ["x.ndjson", "x.JSONL", "x"])
def test_names_of_json_lines(name: str) -> None:
    assert main(["chunk", "docs", "-o", name, "-q"]) == 0
    assert tuple(records(Path(name))[0]) == FIELDS


@pytest.mark.parametrize(
    "data",
    [
        NOTE.encode(), b"a,b\n1,2\n", b"\x89PNG\r\n\x1a\n\x00", b'{"name": "x"}\n' * 3, b'{\n  "name": "x"\n}\n',
        b"[1, 2]", b"7", b'[{"a": 1}]', b"%PDF-1.4\n" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_file_of_chunks_is_said_in_one_line(data: bytes, capsys: Captured) -> None:
    Path("x").write_bytes(data)
    assert main(["check", "x"]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: `x` is no file of chunks (line 1: ")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("command", [["stats", "x.csv"], ["diff", "x.csv", "x.csv"]])
def test_other_commands_say_the_same(command: list[str], capsys: Captured) -> None:
    assert main(["chunk", "docs", "-o", "x.csv", "-q"]) == 0
    assert main(command) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: `x.csv` is no file of chunks (line 1: ")
    assert "JSON lines, JSON or Parquet" in hint


@pytest.mark.parametrize(("given", "assumed"), [
    ([], {"tokenizer": "cl100k", "max_tokens": 900}),
    (["--max-tokens", "300"], {"tokenizer": "cl100k"}),
    (["--tokenizer", "gpt-4o", "--max-tokens", "300"], {}),
])  # fmt: skip
@pytest.mark.parametrize("dialect", ["spec-v1", "confluence"])
def test_check_says_what_it_assumes_of_a_dialect(
    dialect: str, given: list[str], assumed: dict[str, object], capsys: Captured
) -> None:
    assert main(["chunk", "docs/a.md", "-o", "x.jsonl", "-q", "--dialect", dialect, "--max-tokens", "300"]) == 0
    main(["check", "x.jsonl", *given])
    output = capsys.readouterr().out
    assert ("which these records don't state" in output) is bool(assumed)
    for name, value in assumed.items():
        assert f"--{name.replace('_', '-')} {value}" in output
    main(["check", "x.jsonl", "--json", *given])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["summary"].get("assumed", {}) == assumed


def test_a_damaged_line_before_chunks_is_a_violation(capsys: Captured) -> None:
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q"]) == 0
    Path("y.jsonl").write_bytes(b"oops\n" + Path("x.jsonl").read_bytes())
    assert main(["check", "y.jsonl"]) == 1
    assert "line 1" in capsys.readouterr().out


BLOCKS = ["--core-tokens", "16", "--overlap-tokens", "40", "--overlap-next-tokens", "30"]


@pytest.mark.parametrize("arguments", [
    ["--strategy", "blocks", *BLOCKS], ["--mix-code"], ["--overlap-tokens", "200"],
    ["--strategy", "sentence", "--overlap-ratio", "0.4", "--max-tokens", "100"],
    ["--strategy", "hierarchical", "--parent-tokens", "200", "--max-tokens", "64"],
])  # fmt: skip
def test_options_that_no_record_states_are_no_violation(arguments: list[str], capsys: Captured) -> None:
    shutil.copy(DEMO / "handbook.en.md", "docs/c.md")
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q", *arguments]) == 0
    assert main(["check", "x.jsonl", "--source", "docs"]) == 0, capsys.readouterr().out
    output = capsys.readouterr().out
    assert ("warning: promise" in output) is ("note: promises were judged by the defaults" in output)


def test_short_chunks_of_another_minimum_name_the_option(capsys: Captured) -> None:
    shutil.copy(DEMO / "handbook.en.md", "docs/c.md")
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q", "--min-tokens", "1"]) == 0
    assert main(["check", "x.jsonl", "--source", "docs"]) == 1
    violations = [line for line in capsys.readouterr().out.splitlines() if line.startswith("violation")]
    assert violations
    assert all("below min_tokens (120)" in line and "give --min-tokens" in line for line in violations)
    assert main(["check", "x.jsonl", "--source", "docs", "--min-tokens", "1"]) == 0, capsys.readouterr().out


def test_options_may_be_given_without_the_strategy(capsys: Captured) -> None:
    shutil.copy(DEMO / "handbook.en.md", "docs/c.md")
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q", "--strategy", "blocks", *BLOCKS]) == 0
    assert main(["check", "x.jsonl", "--source", "docs", *BLOCKS]) == 0, capsys.readouterr().out
    assert "promise" not in capsys.readouterr().out
    assert main(["check", "x.jsonl", "--source", "docs", *BLOCKS[:4], "--overlap-next-tokens", "1"]) == 1
    assert "violation: promise" in capsys.readouterr().out


@pytest.mark.parametrize("format", ["jsonl", "json", "parquet"])
@pytest.mark.parametrize("arguments", [["--tokenizer", "gpt-4o", "--max-tokens", "20"], ["--strategy", "simple"]])
def test_check_needs_no_flags(arguments: list[str], format: str, capsys: Captured) -> None:
    Path("spanwise.toml").write_text('tokenizer = "words"\nmax_tokens = 600\ntarget_tokens = 500\n', encoding="utf-8")
    assert main(["chunk", "docs", "-o", f"x.{format}", "-q", *arguments, "--config", "/dev/null"]) == 0
    assert main(["check", f"x.{format}", "--source", "docs"]) == 0, capsys.readouterr().out


def test_check_needs_the_file_of_a_tokenizer(folder: Path, capsys: Captured) -> None:
    path, _ = saved(folder, "word_level")
    assert main(["chunk", "docs", "-o", "x.jsonl", "-q", "--tokenizer", str(path), "--max-tokens", "30"]) == 0
    assert main(["check", "x.jsonl"]) == 2
    message = capsys.readouterr().err
    assert "word_level.json@" in message
    assert "--tokenizer PATH" in message
    assert str(folder) not in Path("x.jsonl").read_text(encoding="utf-8")
    assert main(["check", "x.jsonl", "--tokenizer", str(path)]) == 0
