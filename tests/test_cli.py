"""`spanwise chunk`: paths, formats, errors, exit codes, pipes, processes, and atomic output files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

import spanwise
from command import (
    COMMAND,
    Ran,
    files,
    living_in_group,
    on_terminal,
    ran,
    ran_by_shell,
    records,
    started,
    without_rights,
)
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.process import Chunked, Outcome
from spanwise.pipeline.process import process as process_job
from spanwise.readers import EXTENSIONS
from spanwise.records.record import FIELDS

PAGE = """\
# Travel

Trips are booked in the portal. Dr. Novak approves them.

## Rates

| City   | Rate |
|--------|-----:|
| Berlin |   41 |
| Łódź   |   35 |

- one
- two 🎉
"""
BINARY = b"\x00\x01\x02\xff"
CUT_OFF = b"\xff\xfea"  # UTF-16 by its byte order mark, cut off inside a character

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with two documents, a broken one, and a file of an unknown type."""
    files(tmp_path, {"docs/a.md": PAGE, "docs/b/c.md": "# C\n\nShort.\n", "docs/bad.md": BINARY, "docs/x.bin": b"x"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "96")
    return tmp_path


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder that every user may enter; pytest's own folders are closed to all but their owner."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o777)
        monkeypatch.chdir(path)
        yield path


def chunked(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """Run `spanwise chunk` in this process."""
    code = main(["chunk", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refused(capsys: Captured, *arguments: str) -> str:
    """Run a command that must fail with exit code 2, and return its error message."""
    try:
        code = main(list(arguments))
    except SystemExit as ended:
        code = int(str(ended.code))
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, ""), captured.err
    assert captured.err.startswith("error: "), captured.err
    return captured.err


# ------------------------------------------------------------------------------------------------- what is chunked


def test_records_are_those_of_the_library(folder: Path, capsys: Captured) -> None:
    code, out, _ = chunked(capsys, "docs/a.md")
    assert code == 0
    assert records(out) == [chunk.to_dict() for chunk in spanwise.chunk(spanwise.read("docs/a.md"))]
    assert all(tuple(record) == FIELDS for record in records(out))


def test_text_is_written_as_it_is_and_not_escaped(folder: Path, capsys: Captured) -> None:
    assert "two 🎉" in chunked(capsys, "docs/a.md")[1]
    assert "Łódź" in chunked(capsys, "docs/a.md")[1]


def test_a_folder_is_chunked_to_the_bottom_in_the_order_of_names(folder: Path, capsys: Captured) -> None:
    _, out, _ = chunked(capsys, "docs")
    assert list(dict.fromkeys(record["metadata"]["file_path"] for record in records(out))) == [
        "docs/a.md",
        "docs/b/c.md",
    ]


@pytest.mark.process
def test_what_is_piped_in_is_markdown(folder: Path) -> None:
    done = ran("chunk", "-", cwd=folder, piped=PAGE.encode())
    assert done.code == 0
    assert records(done.out) == [chunk.to_dict() for chunk in spanwise.chunk(spanwise.read_text(PAGE))]


@pytest.mark.process
def test_what_is_piped_in_can_be_plain_text(folder: Path) -> None:
    done = ran("chunk", "-", "--input-format", "text", cwd=folder, piped=b"# no heading")
    assert [record["headings_path"] for record in records(done.out)] == [[]]
    assert records(done.out)[0]["metadata"]["source_type"] == "text"


@pytest.mark.process
def test_windows_line_ends_are_lines_of_their_own_and_leave_no_trace(folder: Path) -> None:
    unix = ran("chunk", "-", "-q", cwd=folder, piped=PAGE.encode())
    windows = ran("chunk", "-", "-q", cwd=folder, piped=PAGE.replace("\n", "\r\n").encode())
    assert windows.out == unix.out != b""


@pytest.mark.process
def test_piped_text_and_files_go_together(folder: Path) -> None:
    done = ran("chunk", "-", "docs/b/c.md", "-", cwd=folder, piped=b"piped\n")
    assert [record["full_text"] for record in records(done.out)] == ["Short.", "piped"]


@pytest.mark.process
def test_nothing_piped_in_is_no_chunk_and_no_error(folder: Path) -> None:
    done = ran("chunk", "-", cwd=folder)
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith("1 document read, 0 chunks, 0 left out, 0 failed")


@pytest.mark.process
def test_a_guessed_encoding_of_piped_text_is_reported(folder: Path) -> None:
    text = "Zażółć gęślą jaźń, a potem wróć do domu i odpocznij.".encode("cp1250")
    files(folder, {"old.txt": text})
    assert "by a guess" in ran("chunk", "old.txt", cwd=folder).err
    assert "by a guess" in ran("chunk", "-", cwd=folder, piped=text).err
    assert "by a guess" in ran("read", "-", cwd=folder, piped=text).err


@pytest.mark.parametrize(
    "name", ["sp ace.md", "emoji 😀 👩‍👩‍👧.md", "-dash.md", "quote'\".md", "ünïcode.md", "@at.md", "new\nline.md"]
)
def test_odd_names_are_files_like_any_other(name: str, folder: Path, capsys: Captured) -> None:
    files(folder, {f"odd/{name}": "text\n"})
    for arguments in (["odd"], ["--", f"odd/{name}"]):
        code, out, err = chunked(capsys, *arguments)
        assert code == 0, err
        assert [record["metadata"]["file_path"] for record in records(out)] == [f"odd/{name}"]


@pytest.mark.process
def test_a_name_that_begins_with_a_dash_is_a_file_after_two_dashes(folder: Path) -> None:
    files(folder, {"-dash.md": "text\n"})
    assert len(records(ran("chunk", "-q", "--", "-dash.md", cwd=folder).out)) == 1


@pytest.mark.process
@pytest.mark.parametrize("form", ["jsonl", "json", "table", "view"])
def test_a_name_that_is_no_text_breaks_no_format(form: str, tmp_path: Path) -> None:
    files(tmp_path, {os.fsdecode(b"odd/n\xffme.md"): "some words\n"})
    done = ran("chunk", "odd", "--format", form, cwd=tmp_path)
    assert done.code == 0, done.err
    assert b"some words" in done.out
    assert done.out.decode()  # UTF-8 through and through


@pytest.mark.process
def test_files_whose_names_differ_in_bytes_that_are_no_text_are_two_documents(tmp_path: Path) -> None:
    files(tmp_path, {os.fsdecode(name): "the same words\n" for name in (b"a\xff.md", b"a\xfe.md")})
    found = records(ran("chunk", ".", cwd=tmp_path).out)
    assert len({record["document_id"] for record in found}) == len({record["chunk_id"] for record in found}) == 2


def test_options_may_stand_between_paths(folder: Path, capsys: Captured) -> None:
    code, out, err = chunked(capsys, "docs/a.md", "--strategy", "fixed", "docs/b/c.md", "-q")
    assert code == 0, err
    assert {record["metadata"]["file_path"] for record in records(out)} == {"docs/a.md", "docs/b/c.md"}


@pytest.mark.server
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_option_of_a_strategy_is_a_flag(strategy: str, folder: Path, capsys: Captured, endpoint: str) -> None:
    from dataclasses import fields

    flags: list[str] = []
    for item in fields(STRATEGIES[strategy].options):
        if item.metadata["secret"]:
            continue
        flag = f"--{item.name.replace('_', '-')}"
        other = endpoint if item.name == "endpoint" else 64
        value = other if item.default is None else item.default
        flags += [flag if value else flag.replace("--", "--no-", 1)] if isinstance(value, bool) else [flag, str(value)]
    code, out, err = chunked(capsys, "docs/a.md", "--strategy", strategy, *flags, "-q")
    assert code == 0, err
    assert {record["strategy"] for record in records(out)} == {strategy}


def test_options_are_those_of_the_library(folder: Path, capsys: Captured) -> None:
    flags = ("--strategy", "fixed", "--max-tokens", "40", "--template", "tags", "--tokenizer", "words")
    _, out, _ = chunked(capsys, "docs/a.md", *flags)
    document = spanwise.read("docs/a.md")
    expected = spanwise.chunk(document, "fixed", "words", max_tokens=40, template="tags")
    assert records(out) == [chunk.to_dict() for chunk in expected]


def test_metadata_are_given_with_their_kinds(folder: Path, capsys: Captured) -> None:
    given = ("tenant_id=acme", "labels=hr, policy", "page_version=3", "team=b=c", "title=Given", "team=last")
    _, out, _ = chunked(capsys, "docs/a.md", *(word for pair in given for word in ("--meta", pair)))
    metadata = records(out)[0]["metadata"]
    assert (metadata["tenant_id"], metadata["title"], metadata["page_version"]) == ("acme", "Given", 3)
    assert metadata["labels"] == ["hr", "policy"]
    assert metadata["extra"] == {"team": "last"}


def test_ranges_in_bytes_are_there_when_asked_for(folder: Path, capsys: Captured) -> None:
    _, out, _ = chunked(capsys, "docs/a.md", "--offsets", "utf8", "--offsets", "utf16")
    data, wide = PAGE.encode(), PAGE.encode("utf-16-le")
    for record in records(out):
        start, end = record["utf8_start"], record["utf8_end"]
        assert data[start:end].decode() == PAGE[record["char_start"] : record["char_end"]]
        start, end = record["utf16_start"], record["utf16_end"]
        assert wide[2 * start : 2 * end].decode("utf-16-le") == PAGE[record["char_start"] : record["char_end"]]


# ------------------------------------------------------------------------------------------------------- formats


def test_json_is_one_list_of_the_same_records(folder: Path, capsys: Captured) -> None:
    lines, whole = (chunked(capsys, "docs", "--format", format_, "-q")[1] for format_ in ("jsonl", "json"))
    assert orjson.loads(whole) == records(lines) != []


def test_json_without_chunks_is_an_empty_list(folder: Path, capsys: Captured) -> None:
    files(folder, {"only.md": "# only a heading\n"})
    assert orjson.loads(chunked(capsys, "only.md", "--format", "json")[1]) == []


def test_parquet_holds_the_same_records(folder: Path, capsys: Captured) -> None:
    from pyarrow import parquet

    lines = chunked(capsys, "docs", "--meta", "team=hr", "--meta", "labels=a,b", "-q")[1]
    assert (
        main(["chunk", "docs", "--meta", "team=hr", "--meta", "labels=a,b", "--format", "parquet", "-o", "x", "-q"])
        == 1
    )
    rows = parquet.read_table("x").to_pylist()
    for row in rows:
        row["metadata"]["extra"] = orjson.loads(row["metadata"]["extra"])
    assert rows == records(lines) != []


def test_parquet_has_the_ranges_that_were_asked_for(folder: Path) -> None:
    from pyarrow import parquet

    assert main(["chunk", "docs/a.md", "--offsets", "utf8", "--format", "parquet", "-o", "x", "-q"]) == 0
    for row in parquet.read_table("x").to_pylist():
        assert (row["utf8_start"], row["utf8_end"]) == tuple(
            len(PAGE[: row[name]].encode()) for name in ("char_start", "char_end")
        )


@pytest.mark.process
def test_parquet_is_not_written_to_a_terminal(folder: Path) -> None:
    code, output = on_terminal("chunk", "docs/a.md", "--format", "parquet", cwd=folder)
    assert code == 2
    assert "PAR1" not in output
    assert "hint: " in output
    assert "-o" in output


def test_a_table_has_a_line_for_each_chunk(folder: Path, capsys: Captured) -> None:
    _, out, _ = chunked(capsys, "docs/a.md", "--format", "table")
    assert out.splitlines() == [
        "━━ docs/a.md: Travel",
        "   3 chunks",
        "",
        "    0  paragraph      17  10:66             Travel                        Trips are booked in t…",
        "    1  table          28  78:149            Travel › Rates                | City | Rate | |----…",
        "    2  list           10  151:164           Travel › Rates                - one - two 🎉",
        "",
    ]


def test_dialects_have_no_view(folder: Path, capsys: Captured) -> None:
    assert "hint: try --format jsonl" in refused(capsys, "chunk", "docs", "--dialect", "notes", "--format", "view")


# ---------------------------------------------------------------------------------------- summary and exit codes


def test_a_file_that_fails_stops_no_other(folder: Path, capsys: Captured) -> None:
    code, out, err = chunked(capsys, "docs")
    assert code == 1
    assert len(records(out)) == 4
    assert err.splitlines()[0].startswith("error: `docs/bad.md` looks like a binary file")


def test_the_summary_counts_everything(folder: Path, capsys: Captured) -> None:
    _, _, err = chunked(capsys, "docs")
    assert "\n2 documents read, 4 chunks, 1 left out, 1 failed (" in err
    assert err.endswith("left out: no reader for .bin 1\n")


def test_quiet_keeps_errors_and_nothing_else(folder: Path, capsys: Captured) -> None:
    code, _, err = chunked(capsys, "docs", "-q")
    assert code == 1
    assert len(err.splitlines()) == 1
    assert chunked(capsys, "docs/a.md", "-q")[::2] == (0, "")


@pytest.mark.parametrize(
    ("data", "why"), [(BINARY, "looks like a binary file"), (CUT_OFF, "says utf-16 by its byte order mark")]
)
def test_a_failure_is_one_line_with_name_and_reason(data: bytes, why: str, folder: Path, capsys: Captured) -> None:
    files(folder, {"broken/é x.md": data})
    code, out, err = chunked(capsys, "broken")
    assert (code, out) == (1, "")
    assert err.splitlines()[0].startswith(f"error: `broken/é x.md` {why}")
    assert len(err.splitlines()) == 2


def test_a_name_of_two_lines_is_reported_in_one(folder: Path, capsys: Captured) -> None:
    files(folder, {"broken/two\nlines\x1b[31m.md": BINARY})
    _, _, err = chunked(capsys, "broken")
    assert len(err.splitlines()) == 2, err
    assert err.splitlines()[0].count("broken/two") == 1
    assert "\x1b" not in err


def test_a_dangling_link_is_a_failure_like_any_other(folder: Path, capsys: Captured) -> None:
    (folder / "docs/gone.md").symlink_to("nowhere")
    code, out, err = chunked(capsys, "docs")
    assert code == 1
    assert len(records(out)) == 4
    assert "error: `docs/gone.md` can't be opened (No such file or directory)" in err


def test_a_link_to_itself_is_a_failure_like_any_other(folder: Path, capsys: Captured) -> None:
    (folder / "docs/loop.md").symlink_to("loop.md")
    code, out, err = chunked(capsys, "docs")
    assert code == 1
    assert len(records(out)) == 4
    assert "error: `docs/loop.md` can't be opened" in err


def test_a_folder_named_like_a_document_is_a_folder(folder: Path, capsys: Captured) -> None:
    files(folder, {"docs/x.md/inner.md": "inside\n"})
    _, out, _ = chunked(capsys, "docs/x.md")
    assert [record["full_text"] for record in records(out)] == ["inside"]


@pytest.mark.process
def test_a_pipe_in_a_folder_is_never_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "docs/pipe.md")
    done = ran("chunk", "docs", cwd=folder, timeout=10)
    assert len(records(done.out)) == 4
    assert "2 left out, 1 failed" in done.err


def test_a_missing_path_is_reported(folder: Path, capsys: Captured) -> None:
    code, out, err = chunked(capsys, "nope.md")
    assert code in {1, 2}
    assert out == ""
    assert err.startswith("error: `nope.md` ")


def test_an_empty_path_is_not_the_whole_folder(folder: Path, capsys: Captured) -> None:
    code, out, err = chunked(capsys, "")
    assert code in {1, 2}
    assert out == ""
    assert err.startswith("error: ")


def test_a_path_that_is_too_long_is_not_blamed_on_the_output(folder: Path, capsys: Captured) -> None:
    code, _, err = chunked(capsys, "docs/b/c.md", "x" * 300)
    assert code in {1, 2}
    assert "File name too long" in err
    assert "can't be written" not in err


def test_a_folder_without_documents_lists_skipped_files(folder: Path, capsys: Captured) -> None:
    files(folder, {"other/a.bin": b"", "other/b.bin": b""})
    assert refused(capsys, "chunk", "other").splitlines() == [
        "error: `other` holds no documents",
        f"hint: left out: no reader for .bin 2; readers know {', '.join(sorted(filter(None, EXTENSIONS)))}",
    ]


def test_an_unknown_file_type_gets_a_hint(folder: Path, capsys: Captured) -> None:
    code, _, err = chunked(capsys, "docs/x.bin")
    assert code == 1
    assert "--input-format" in err
    assert chunked(capsys, "docs/x.bin", "--input-format", "text", "-q")[0] == 0


def test_what_may_not_be_read_fails_alone(open_folder: Path, capsys: Captured) -> None:
    files(
        open_folder,
        {"docs/a.md": "fine\n", "docs/b.md": "secret\n", "docs/shut/c.md": "c\n", "docs/listed/d.md": "d\n"},
    )
    chunked(capsys, "docs", "-q")  # import everything before privileges are dropped
    (open_folder / "docs/b.md").chmod(0)
    (open_folder / "docs/shut").chmod(0)
    (open_folder / "docs/listed").chmod(0o444)
    with without_rights():
        code, out, err = chunked(capsys, "docs", "--file-timeout", "0", "--file-memory", "0")  # in this process
    (open_folder / "docs/shut").chmod(0o755)
    (open_folder / "docs/listed").chmod(0o755)
    assert code == 1, err
    assert [record["full_text"] for record in records(out)] == ["fine"]
    for name in ("docs/b.md", "docs/shut", "docs/listed/d.md"):
        assert f"error: `{name}` can't be opened (Permission denied)" in err
    assert "1 document read, 1 chunk, 0 left out, 3 failed" in err


@pytest.mark.parametrize("path", ["shut", "shut/c.md"])
def test_a_path_that_may_not_be_entered_is_not_blamed_on_the_output(
    path: str, open_folder: Path, capsys: Captured
) -> None:
    files(open_folder, {"shut/c.md": "c\n"})
    chunked(capsys, "shut", "-q")
    (open_folder / "shut").chmod(0)
    with without_rights():
        code, out, err = chunked(capsys, path)
    (open_folder / "shut").chmod(0o755)
    assert (code, out) == (1, "")
    assert "Permission denied" in err
    assert "can't be written" not in err


# ------------------------------------------------------------------------------------------------------ wrong use


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chunk"], "required: PATH"),
        (["chunk", "docs", "--strategy", "foo"], "'foo'"),
        (["chunk", "docs", "--max-tokens", "many"], "'many'"),
        (["chunk", "docs", "--max-tokens", "5"], "`max_tokens` must be at least 16: 5"),
        (["chunk", "docs", "--max-tokens", "20", "--target-tokens", "50"], "`target_tokens` must be at most"),
        (["chunk", "docs", "--strategy", "fixed", "--overlap-ratio", "nan"], "`overlap_ratio` must be between"),
        (["chunk", "docs", "--strategy", "fixed", "--overlap-tokens", "3"], "is not an option of the strategy fixed"),
        (["chunk", "docs", "--tokenizer", "nope"], "`tokenizer` is neither a known name nor a file: 'nope'"),
        (["chunk", "docs", "--tokenizer", "docs/a.md"], "is not a Hugging Face tokenizer.json"),
        (["chunk", "docs", "--format", "xml"], "'xml'"),
        (["chunk", "docs", "--dialect", "Notes"], "'Notes'"),
        (["chunk", "docs", "--jobs", "-1"], "'-1'"),
        (["chunk", "docs", "--lines", "x"], "'x'"),
        (["chunk", "docs", "--meta", "word"], "`--meta` must be a name and a value: 'word'"),
        (["chunk", "docs", "--meta", "=word"], "`--meta` must be a name and a value: '=word'"),
        (["chunk", "docs", "--meta", "page_version=x"], "must be an integer: 'x'"),
        (["chunk", "docs", "--meta", "updated_at=yesterday"], "`updated_at` must be ISO 8601"),
        (["chunk", "docs", "--meta", "links=x"], "links"),
        (["chunk", "docs", "--meta", "extra=x"], "extra"),
        (["chunk", "docs", "--meta", f"page_version={10**30}"], "page_version"),
        (["chunk", "docs", "--meta", "team=\udcff"], "team"),
        (["chunk", "docs", "--meta", "te\udcffam=x"], "te"),
        (["chunk", "docs", "--include", "!"], "!"),
        (["chunk", "docs", "--config", "nope.toml"], "`nope.toml` can't be opened"),
        (["read", "nope.md"], "`nope.md` can't be opened (No such file or directory)"),
        (["read", "docs"], "`docs` can't be opened (Is a directory)"),
        (["stats", "nope.jsonl"], "`nope.jsonl` can't be opened"),
        (["demo", "xx"], "`xx` is not a language of the demo"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)  # fmt: skip
def test_usage_errors_are_reported_and_nothing_is_written(
    arguments: list[str], words: str, folder: Path, capsys: Captured
) -> None:
    assert words in refused(capsys, *arguments).splitlines()[0]


def test_no_arguments_show_an_example(capsys: Captured) -> None:
    try:
        code = main([])
    except SystemExit as ended:
        code = int(str(ended.code))
    captured = capsys.readouterr()
    assert code == 2
    assert "spanwise chunk docs/ -o chunks.jsonl" in captured.out + captured.err


def test_a_wrong_option_is_reported_once(folder: Path, capsys: Captured) -> None:
    assert refused(capsys, "chunk", "docs", "--max-tokens", "3").count("max_tokens") == 1


@pytest.mark.parametrize(
    ("given", "meant"), [("--strateg", "--strategy"), ("--max-token", "--max-tokens"), ("--outptu", "--output")]
)
def test_a_misspelt_flag_gets_a_hint(given: str, meant: str, folder: Path, capsys: Captured) -> None:
    assert f"did you mean `{meant}`" in refused(capsys, "chunk", "docs", given, "x")


def test_a_misspelt_command_gets_a_hint(folder: Path, capsys: Captured) -> None:
    assert "chunk" in refused(capsys, "chunck", "docs").splitlines()[1]


@pytest.mark.parametrize(
    "command",
    ["", "chunk", "check", "read", "stats", "diff", "strategies", "plans", "cache", "config", "demo", "completion"],
)
def test_help_fits_a_screen_and_shows_examples(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*filter(None, [command]), "--help"])
    output = capsys.readouterr().out
    assert ended.value.code == 0
    assert "examples:" in output
    assert len(output.splitlines()) <= 40
    assert max(map(len, output.splitlines())) <= 100


@pytest.mark.process
def test_the_version_loads_nothing(tmp_path: Path) -> None:
    program = "import sys; from spanwise.cli import main; main(['--version']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    version, modules = done.stdout.splitlines()
    assert version == f"spanwise {spanwise.__version__}"
    assert not {"argparse", "numpy", "orjson", "spanwise.cli.arguments"} & set(modules.split())


# ------------------------------------------------------------------------------------------------- written files


def whole(path: Path, expected: bytes) -> bool:
    """Whether a file is complete and no temporary file is left beside it."""
    return path.read_bytes() == expected and not list(path.parent.glob(".*.part"))


@pytest.mark.parametrize("form", ["jsonl", "json", "table", "view"])
def test_a_written_file_is_what_a_pipe_gets(form: str, folder: Path, capsys: Captured) -> None:
    piped = chunked(capsys, "docs", "--format", form)
    written = chunked(capsys, "docs", "--format", form, "-o", "out.x")
    assert written[:2] == (1, "")
    assert whole(folder / "out.x", piped[1].encode())


def test_an_old_file_is_replaced_and_keeps_its_rights(folder: Path) -> None:
    target = folder / "out.jsonl"
    target.write_text("old")
    target.chmod(0o640)
    assert main(["chunk", "docs/a.md", "-o", "out.jsonl", "-q"]) == 0
    assert len(records(target)) == 3
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_rights_that_files_get_here(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        assert main(["chunk", "docs/a.md", "-o", "out.jsonl", "-q"]) == 0
    finally:
        os.umask(before)
    assert (folder / "out.jsonl").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_its_target_is_written(folder: Path) -> None:
    (folder / "link.jsonl").symlink_to("real.jsonl")
    assert main(["chunk", "docs/a.md", "-o", "link.jsonl", "-q"]) == 0
    assert (folder / "link.jsonl").is_symlink()
    assert len(records(folder / "real.jsonl")) == 3


@pytest.mark.parametrize("target", ["missing/x.jsonl", "docs/a.md/x.jsonl", "x" * 300, "loop"])
def test_an_unwritable_output_is_reported(target: str, folder: Path, capsys: Captured) -> None:
    (folder / "loop").symlink_to("loop")
    code, _, err = chunked(capsys, "docs/a.md", "-o", target)
    assert code == 3
    assert err.startswith("error: ")
    assert target in err.splitlines()[0]
    assert "can't be written" in err


@pytest.mark.parametrize("target", ["docs", "docs/", "new/", ""])
def test_a_folder_is_rejected_as_output(target: str, folder: Path, capsys: Captured) -> None:
    assert "hint: " in refused(capsys, "chunk", "docs/a.md", "-o", target)
    assert not (folder / "new").exists()


def test_a_document_is_never_overwritten_by_its_chunks(folder: Path, capsys: Captured) -> None:
    for target in ("docs/a.md", "./docs/../docs/a.md"):
        code, _, err = chunked(capsys, "docs", "-o", target)
        assert code in {2, 3}
        assert err.startswith("error: ")
        assert (folder / "docs/a.md").read_text() == PAGE


def test_a_write_protected_output_is_reported(open_folder: Path, capsys: Captured) -> None:
    files(open_folder, {"a.md": "fine\n", "shut/keep": b""})
    chunked(capsys, "a.md", "-q")
    (open_folder / "shut").chmod(0o555)
    with without_rights():
        code, _, err = chunked(capsys, "a.md", "-o", "shut/x.jsonl")
    (open_folder / "shut").chmod(0o755)
    assert code == 3
    assert "shut/x.jsonl can't be written (Permission denied)" in err


@pytest.mark.process
@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "view"])
def test_a_full_disk_is_reported_and_keeps_the_old_file(form: str, folder: Path) -> None:
    files(folder, {"out.x": "old", "long.md": "word\n" * 20_000})
    done = ran_by_shell(f"ulimit -f 4; $spanwise chunk long.md --lines 0 --format {form} -o out.x", folder)
    assert done.code == 3
    assert done.err.splitlines()[-1].startswith("error: out.x can't be written (")
    assert whole(folder / "out.x", b"old")


@pytest.mark.process
@pytest.mark.parametrize(
    "line",
    [
        *(f"chunk docs/a.md --format {name} >/dev/full" for name in ("jsonl", "json", "parquet", "view")),
        "chunk docs/a.md -o /dev/full",
        "read docs/a.md >/dev/full",
        "strategies >/dev/full",
    ],
)
def test_a_full_device_is_reported(line: str, folder: Path) -> None:
    done = ran_by_shell(f"$spanwise {line}", folder)
    assert done.code == 3
    assert "can't be written (No space left on device)" in done.err
    assert "Traceback" not in done.err
    assert Path("/dev/full").is_char_device()


def test_nothing_appears_where_chunking_fails_halfway(folder: Path, capsys: Captured) -> None:
    target = files(folder, {"out.jsonl": "old"}) / "out.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanwise.records.writers.JsonLines.finish", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        code, _, err = chunked(capsys, "docs", "-o", "out.jsonl")
    assert code == 130
    assert err.endswith("error: stopped\n")
    assert whole(target, b"old")


# ---------------------------------------------------------------------------------------------- pipes and streams


@pytest.mark.process
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_pipe_closed_early_is_no_error(jobs: str, folder: Path) -> None:
    files(folder, {f"many/{number}.md": PAGE for number in range(150)})
    done = ran_by_shell(f"($spanwise chunk many --jobs {jobs}; echo $? >code) | head -n 1", folder)
    assert len(records(done.out)) == 1
    assert (folder / "code").read_text() == "0\n"
    assert "Traceback" not in done.err
    assert "Broken" not in done.err


@pytest.mark.process
@pytest.mark.parametrize("line", ["demo", "strategies --json", "read docs/a.md --blocks"])
def test_every_command_may_be_cut_off(line: str, folder: Path) -> None:
    done = ran_by_shell(f"($spanwise {line}; echo $? >code) | true", folder)
    assert (folder / "code").read_text() == "0\n"
    assert done.err == ""


@pytest.mark.process
def test_a_closed_stderr_pipe_does_not_cost_the_chunks(folder: Path) -> None:
    """With a closed pipe as stderr, as in `2> >(head -1)`, chunks and exit code don't change."""
    files(folder, {f"docs/bad{number}.md": BINARY for number in range(20)})
    expected = ran("chunk", "docs", cwd=folder)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, "chunk", "docs"], cwd=folder, stdout=subprocess.PIPE, stderr=writing)
        subprocess.run([*COMMAND, "chunk", "docs", "-o", "x.jsonl"], cwd=folder, stderr=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stdout) == (expected.code, expected.out)
    assert whole(folder / "x.jsonl", expected.out)


@pytest.mark.process
def test_a_full_disk_behind_stderr_does_not_cost_the_chunks(folder: Path) -> None:
    expected = ran("chunk", "docs", cwd=folder)
    done = ran_by_shell("$spanwise chunk docs -o x.jsonl 2>/dev/full", folder)
    assert done.code == expected.code == 1
    assert whole(folder / "x.jsonl", expected.out)


@pytest.mark.process
def test_closed_stderr_does_not_cost_the_chunks(folder: Path) -> None:
    expected = ran("chunk", "docs", cwd=folder)
    for jobs in (1, 2):
        done = ran_by_shell(f"$spanwise chunk docs --jobs {jobs} 2>&-", folder)
        assert (done.code, done.out) == (expected.code, expected.out)


@pytest.mark.process
@pytest.mark.parametrize("line", ["chunk docs/a.md", "chunk docs/a.md --format view", "strategies"])
def test_closed_stdout_is_an_output_that_can_not_be_written(line: str, folder: Path) -> None:
    done = ran_by_shell(f"$spanwise {line} >&-", folder)
    assert done.code == 3
    assert done.err.startswith("error: the output can't be written")
    assert "Traceback" not in done.err


@pytest.mark.process
def test_closed_stdout_does_not_matter_where_a_file_is_written(folder: Path) -> None:
    expected = ran("chunk", "docs/a.md", cwd=folder)
    done = ran_by_shell("$spanwise chunk docs/a.md -o x.jsonl >&-", folder)
    assert done.code == 0, done.err
    assert whole(folder / "x.jsonl", expected.out)


@pytest.mark.process
@pytest.mark.parametrize("line", ["chunk -", "read -", "stats -"])
def test_closed_stdin_is_reported(line: str, folder: Path) -> None:
    done = ran_by_shell(f"$spanwise {line} <&-", folder)
    assert done.code in {1, 2}
    assert done.err.startswith("error: `-` ")
    assert "Traceback" not in done.err


@pytest.mark.process
def test_closed_stdin_does_not_matter_where_it_is_not_read(folder: Path) -> None:
    done = ran_by_shell("$spanwise chunk docs/a.md --jobs 2 <&-", folder)
    assert done.code == 0
    assert len(records(done.out)) == 3


@pytest.mark.process
def test_data_and_messages_are_kept_apart(folder: Path) -> None:
    done = ran("chunk", "docs", cwd=folder)
    assert len(records(done.out)) == 4  # every line of stdout is a record
    assert "\x1b" not in done.err


# -------------------------------------------------------------------------------------------------- many processes


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with more files than a batch, some of them broken."""
    texts: dict[str, str | bytes] = {
        f"docs/{number % 7}/{number}.md": f"{PAGE}\nNumber {number}.\n" for number in range(150)
    }
    return files(tmp_path_factory.mktemp("many"), texts | {"docs/3/bad.md": BINARY, "docs/zbad.md": CUT_OFF})


def without_time(done: Ran) -> tuple[int, bytes, str]:
    return done.code, done.out, done.err.split(" MB in ")[0]


@pytest.mark.process
def test_chunks_are_the_same_with_any_number_of_processes(many: Path) -> None:
    alone = ran("chunk", "docs", "--jobs", "1", cwd=many)
    assert alone.code == 1
    assert len(records(alone.out)) > 400
    for jobs in ("2", "3"):
        assert without_time(ran("chunk", "docs", "--jobs", jobs, cwd=many)) == without_time(alone)
    assert without_time(ran("chunk", "docs", cwd=many)) == without_time(alone)


def test_chunks_are_the_same_in_any_order_of_arguments(
    many: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(many)
    paths = ["docs/3", "docs/1", "docs/2/9.md", "./docs/2/2.md", "docs/1/1.md"]
    assert len({chunked(capsys, *order)[1] for order in (paths, paths[::-1], [*paths[2:], *paths[:2]], paths * 2)}) == 1


def test_a_file_that_is_named_in_two_ways_is_chunked_once_and_always_alike(folder: Path, capsys: Captured) -> None:
    (folder / "docs/link.md").symlink_to("a.md")
    names = ["docs/a.md", str(folder / "docs/a.md"), "docs/link.md", "docs/../docs/a.md"]
    answers = {chunked(capsys, *order, "-q")[1] for order in (names, names[::-1], names[1:] + names[:1])}
    assert len(answers) == 1
    assert len(records(answers.pop())) == 3


@pytest.mark.process
def test_memory_does_not_grow_with_the_number_of_files(tmp_path: Path) -> None:
    """A thousand more files, with 10 MB of records, may only cost the memory of their names."""
    text = "# Title\n\n" + "some words of a sentence. " * 120
    files(tmp_path, {f"few/{number}.md": text for number in range(50)})
    files(tmp_path, {f"lots/{number}.md": text for number in range(1050)})
    few, lots = (peak(tmp_path, name) for name in ("few", "lots"))
    assert lots - few < 5_000  # kilobytes


def peak(folder: Path, name: str) -> int:
    program = (
        "import resource, sys; from spanwise.cli import main; main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", program, "chunk", name, "--jobs", "1", "-o", "out.jsonl", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    assert (folder / "out.jsonl").stat().st_size > 500_000
    return int(done.stdout)


@pytest.mark.process
def test_a_worker_that_dies_is_a_file_that_failed(folder: Path, capsys: Captured) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanwise.pipeline.process.process", deadly_for_c)
        code, out, err = chunked(capsys, "docs", "--jobs", "2")
    assert code == 1
    assert {record["metadata"]["file_path"] for record in records(out)} == {"docs/a.md"}
    assert "error: `docs/b/c.md` ended the process that read it" in err
    assert "1 document read, 3 chunks, 1 left out, 2 failed" in err


LEFT_EARLY = """
from spanwise.pipeline.workers import Batch, in_order

def huge(number):
    return bytes(30_000_000)

if __name__ == "__main__":
    for _ in range(3):
        answers = in_order(huge, [Batch([number]) for number in range(20)], int, 2)
        next(answers)
        answers.close()
    print("done")
"""


@pytest.mark.process
def test_workers_may_be_abandoned_while_they_send_results(tmp_path: Path) -> None:
    """As when the reader of a pipe stops: nothing waits for half an answer."""
    program = files(tmp_path, {"program.py": LEFT_EARLY}) / "program.py"
    done = ran_by_shell(f"{sys.executable} {program}", tmp_path, timeout=20)
    assert (done.out, done.err) == (b"done\n", "")


def deadly_for_c(job: Job, encode: Callable[[Chunked], bytes]) -> Outcome[bytes]:
    if job.item.name == "docs/b/c.md":
        os.kill(os.getpid(), signal.SIGKILL)
    return process_job(job, encode)


# ----------------------------------------------------------------------------------------------------- being stopped


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long")
    return files(path, {f"docs/{number}.md": PAGE * 500 for number in range(80)})


@pytest.fixture
def long_work(long_texts: Path) -> Iterator[Path]:
    """Yield a folder that takes several seconds to chunk; check afterwards that it is unchanged."""
    yield long_texts
    for path in long_texts.iterdir():
        if path.is_file():
            path.unlink()


def stopped(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait for a process that must end soon; kill it if it doesn't."""
    try:
        _, err = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return 0, "did not stop"
    return process.returncode, err.decode()


def nothing_left(folder: Path, group: int) -> bool:
    """Whether all processes end and no file is left."""
    deadline = time.monotonic() + 3
    while (living := living_in_group(group)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in living:
        os.kill(process, signal.SIGKILL)
    return not living and [path.name for path in folder.iterdir()] == ["docs"]


@pytest.mark.process
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("wait", [0.1, 0.6, 1.5])
def test_ctrl_c_ends_at_once_and_leaves_nothing(wait: float, jobs: str, long_work: Path) -> None:
    process = started("chunk", "docs", "--jobs", jobs, "-o", "out.jsonl", cwd=long_work)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGINT)  # a terminal signals the whole group
    code, err = stopped(process)
    if wait > 0.5:  # earlier the process may not have reached our code
        assert err == "error: stopped\n"  # `python -m` ends by the signal if an import that executes text was stopped
    early = wait < 0.5 and code == 1 and "KeyboardInterrupt" in err  # the interpreter was still starting
    assert early or code in {130, -signal.SIGINT}
    assert nothing_left(long_work, process.pid)


@pytest.mark.process
def test_repeated_ctrl_c_ends_cleanly(long_work: Path) -> None:
    process = started("chunk", "docs", "--jobs", "2", "-o", "out.jsonl", cwd=long_work)
    time.sleep(1.2)
    for _ in range(4):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.004)
    code, err = stopped(process)
    assert (code, err) == (130, "error: stopped\n")
    assert nothing_left(long_work, process.pid)


INTERRUPTED_START = """
import os, signal, sys
from multiprocessing.process import BaseProcess
from spanwise.cli import main

start = BaseProcess.start

def start_interrupted(process):
    BaseProcess.start = start
    os.kill(os.getpid(), signal.SIGINT)
    start(process)

if __name__ == "__main__":
    BaseProcess.start = start_interrupted
    sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.process
def test_ctrl_c_is_not_lost_while_processes_start(long_work: Path, tmp_path: Path) -> None:
    program = files(tmp_path, {"program.py": INTERRUPTED_START}) / "program.py"
    command = [sys.executable, str(program), "chunk", "docs", "--jobs", "2", "-o", "out.jsonl"]
    process = subprocess.Popen(command, cwd=long_work, stderr=subprocess.PIPE, start_new_session=True)
    assert stopped(process) == (130, "error: stopped\n")
    assert nothing_left(long_work, process.pid)


WORKERS_ASKED = """
import os, signal, time
from spanwise.pipeline.workers import Batch, in_order

def asked(number):
    time.sleep(0.3)  # long enough for every worker to get its share
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return os.getpid(), blocked or signal.getsignal(signal.SIGINT) == signal.SIG_IGN

if __name__ == "__main__":
    answers = {answer for _, answer in in_order(asked, [Batch([number]) for number in range(8)], int, 2)}
    print(len(answers), all(spared for _, spared in answers))
"""


@pytest.mark.process
def test_ctrl_c_is_handled_by_the_parent_only(tmp_path: Path) -> None:
    """A terminal signals all processes; a worker that handled it would print its traceback."""
    program = files(tmp_path, {"program.py": WORKERS_ASKED}) / "program.py"
    assert ran_by_shell(f"{sys.executable} {program}", tmp_path).out == b"2 True\n"


@pytest.mark.process
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_run_leaves_no_process_and_no_file(ending: signal.Signals, long_work: Path) -> None:
    """As `timeout`, a closed terminal or a service manager do: only the first process gets the signal."""
    before = signal.signal(ending, signal.SIG_DFL)  # `nohup` ignores one of them, and children take that over
    process = started("chunk", "docs", "--jobs", "2", "-o", "out.jsonl", cwd=long_work)
    signal.signal(ending, before)
    time.sleep(1.5)
    process.send_signal(ending)
    code, err = stopped(process)
    assert code in {128 + ending, -ending}
    assert "Traceback" not in err
    assert nothing_left(long_work, process.pid)
