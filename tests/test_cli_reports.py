"""The reporting commands: read, stats, diff, strategies, config, completion; and the view of chunks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

import spanwise
from command import files, on_terminal, ran, ran_by_shell, records
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.cli.progress import Progress
from spanwise.cli.terminal import columns, fitted, printable, table

PAGE = """\
# Travel

Trips are booked early. Dr. Novak approves them. A second sentence makes this long enough. And one more is here.

Another paragraph stands here. It is read after the first. It goes on for a while, as such texts do.

## Rates

| City   | Rate |
|--------|-----:|
| Berlin |   41 |
| Łódź   |   35 |
| Kraków |   36 |
"""
SMALL = ("--max-tokens", "36", "--target-tokens", "24", "--min-tokens", "0", "--overlap-tokens", "12")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files(tmp_path, {"page.md": PAGE}))
    monkeypatch.setenv("COLUMNS", "90")
    return tmp_path


def output_of(capsys: Captured, *arguments: str) -> str:
    """Run a command that must succeed and return its output."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def refused(capsys: Captured, *arguments: str) -> str:
    try:
        code = main(list(arguments))
    except SystemExit as ended:
        code = int(str(ended.code))
    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), err
    assert err.startswith("error: ")
    return err


def chunks_in(name: str, *arguments: str) -> str:
    """Write a chunk file and return its name."""
    assert main(["chunk", *(arguments or ("page.md",)), "-q", "-o", name]) == 0
    return name


# ------------------------------------------------------------------------------------------------------------ view


def test_the_view_distinguishes_piece_roles_without_colours(capsys: Captured) -> None:
    out = output_of(capsys, "chunk", "page.md", "--format", "view", *SMALL)
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[:3] == ["━━ page.md: Travel", f"   {len(heads(out))} chunks", ""]
    assert any(line.startswith("  ~ ") for line in lines)
    assert [line for line in lines if line.startswith("  + ")] == ["  + | City   | Rate |", "  + |--------|-----:|"]
    assert "    | Kraków |   36 |" in lines


def heads(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("#")]


def test_the_view_shows_every_chunk_with_its_figures(capsys: Captured) -> None:
    out = output_of(capsys, "chunk", "page.md", "--format", "view", *SMALL)
    document = spanwise.read("page.md")
    made = spanwise.chunk(document, max_tokens=36, target_tokens=24, min_tokens=0, overlap_tokens=12)
    assert len(heads(out)) == len(made) > 3
    for line, chunk in zip(heads(out), made, strict=True):
        assert line.split()[0] == f"#{chunk.chunk_index}"
        assert f" {chunk.chunk_type} " in line
        assert f" {chunk.token_count} token" in line
        assert f" [{chunk.char_start}:{chunk.char_end}] " in line
        assert line.endswith(" › ".join(chunk.headings_path))


def test_the_view_is_exact(capsys: Captured) -> None:
    files(Path(), {"small.md": "# Title\n\nOne line.\n\n- a\n- b\n"})
    assert output_of(capsys, "chunk", "small.md", "--format", "view") == (
        "━━ small.md: Title\n"
        "   1 chunk\n"
        "\n"
        "#0   mixed         8 tokens  [9:27]         Title\n"
        "    One line.\n"
        "\n"
        "    - a\n"
        "    - b\n"
        "\n"
    )


def test_the_legend_goes_to_stderr(capsys: Captured) -> None:
    main(["chunk", "page.md", "--format", "view"])
    assert "~ overlap" in capsys.readouterr().err


def test_long_pieces_are_shortened_unless_all_is_wanted(capsys: Captured) -> None:
    files(Path(), {"long.md": "```\n" + "\n".join(f"line {number}" for number in range(20)) + "\n```\n"})
    short = output_of(capsys, "chunk", "long.md", "--format", "view", "--lines", "5")
    assert "line 2\n" in short
    assert "line 19" not in short
    assert "22 lines in all" in short
    assert "line 19\n" in output_of(capsys, "chunk", "long.md", "--format", "view", "--lines", "0")


def test_the_view_shows_whole_paragraphs(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = " ".join(f"word{n}" for n in range(80))
    hard = "\n".join(f"line {n} of a paragraph" for n in range(12))
    files(Path(), {"long.md": f"{long}\n\n{hard}\n\n" + "\n\n".join(f"Paragraph {n}." for n in range(9))})
    shown = output_of(capsys, "chunk", "long.md", "--format", "view")
    assert " ".join(long.split()) in " ".join(shown.split())
    assert "line 11 of a paragraph" in shown
    assert "Paragraph 8." not in shown
    assert "… 32 lines in all" in shown


def test_a_paragraph_of_wide_lines_is_wrapped_anew(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    wide = "\n".join(" ".join(f"word{n}" for n in range(start, start + 12)) for start in range(100, 160, 12))
    files(Path(), {"wide.md": f"{wide}\n\n1. one\n2. two\n"})
    lines = output_of(capsys, "chunk", "wide.md", "--format", "view").splitlines()
    words = [line for line in lines if "word" in line]
    assert all(columns(line) > 45 for line in words[:-1])
    assert [line.strip() for line in lines if line.strip() in {"1. one", "2. two"}] == ["1. one", "2. two"]


def test_code_is_never_wrapped_anew(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    code = "\n".join(f"first_{n} = call_of_a_function_with_a_long_name({n}, {n}, {n}, {n}, {n}, {n})" for n in range(3))
    files(Path(), {"code.md": f"```\n{code}\n```\n"})
    shown = output_of(capsys, "chunk", "code.md", "--format", "view", "--lines", "0")
    assert [line.strip()[:7] for line in shown.splitlines() if "first_" in line] == ["first_0", "first_1", "first_2"]


def test_the_inner_headings_are_shown_where_not_all_fit(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    files(Path(), {"deep.md": "# The handbook of all travels\n\n## Rates and limits\n\n### Trains\n\nSecond class.\n"})
    head = next(line for line in output_of(capsys, "chunk", "deep.md", "--format", "view").splitlines() if "#0" in line)
    assert head.endswith(" … › Rates and limits › Trains")
    assert columns(head) <= 80


def test_the_whole_text_is_visible(capsys: Captured) -> None:
    """A paragraph is one long line in most documents; text beyond the edge must not be lost."""
    out = output_of(capsys, "chunk", "page.md", "--format", "view", "--lines", "0")
    text = " ".join(out.split())
    assert "And one more is here." in text
    assert max(columns(line) for line in out.splitlines()) <= 90


def test_control_characters_do_not_reach_the_terminal(capsys: Captured) -> None:
    files(Path(), {"e\x1b[31m.md": "# T\x1b[2J\n\nred \x1b[31m bell \x07 \x9b0m\n"})
    for format_ in ("view", "table"):
        out = output_of(capsys, "chunk", ".", "--format", format_, "-q")
        assert "bell" in out
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out)


@pytest.mark.process
def test_a_terminal_gets_the_view_in_colours(folder: Path) -> None:
    code, out = on_terminal("chunk", "page.md", *SMALL, cwd=folder)
    assert code == 0
    assert "━━ page.md: Travel" in out
    assert "\x1b[36m  ~ " in out  # overlap
    assert "\x1b[35m  + " in out  # context
    assert "\n    | Kraków |   36 |\n" in out  # the core is plain
    assert "documents read" in out or "document read" in out


@pytest.mark.process
@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_gets_no_colours_if_disabled(more: dict[str, str], folder: Path) -> None:
    code, out = on_terminal("chunk", "page.md", *SMALL, cwd=folder, more=more)
    assert code == 0
    assert "\x1b" not in out
    assert "\n  ~ " in out


@pytest.mark.process
def test_an_empty_no_color_is_ignored(folder: Path) -> None:
    assert "\x1b[" in on_terminal("chunk", "page.md", cwd=folder, more={"NO_COLOR": ""})[1]  # see no-color.org


@pytest.mark.process
@pytest.mark.parametrize("width", [24, 80])
def test_no_line_of_text_is_wider_than_the_terminal(width: int, folder: Path) -> None:
    files(folder, {"wide.md": "# 数据安全\n\n" + "数据安全与权限管理手册" * 30 + "\n"})
    _, out = on_terminal("chunk", "wide.md", cwd=folder, columns=width, more={"NO_COLOR": "1"})
    text = [line for line in out.splitlines() if line.startswith("    ")]
    assert text
    assert all(columns(line) <= width for line in text)


@pytest.mark.process
def test_errors_are_red_on_a_terminal_and_plain_in_a_pipe(folder: Path) -> None:
    files(folder, {"bad.md": b"\x00\xff"})
    assert "\x1b[31merror:\x1b[0m `bad.md`" in on_terminal("chunk", "bad.md", cwd=folder)[1]
    assert ran("chunk", "bad.md", cwd=folder).err.startswith("error: `bad.md`")


# -------------------------------------------------------------------------------------------------------- progress


class Clock:
    """A clock with a manually set time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make stderr appear to be a terminal."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_progress_is_shown_after_two_seconds(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    clock = Clock()
    progress = Progress(4, clock=clock)
    clock.now += 1.9
    progress.advance(3, 1_000_000)
    assert capsys.readouterr().err == ""
    clock.now += 0.6
    progress.advance(3, 4_000_000)
    message = capsys.readouterr().err
    assert " 50%" in message
    assert "2/4 documents" in message
    assert "6 chunks" in message
    assert "2.0 MB/s" in message
    progress.clear()
    assert capsys.readouterr().err == "\r\x1b[K"


def test_progress_is_silent_without_a_terminal(capsys: Captured) -> None:
    clock = Clock()
    progress = Progress(4, clock=clock)
    clock.now += 5
    progress.advance(3, 1_000_000)
    assert capsys.readouterr().err == ""
    assert (progress.documents, progress.chunks, progress.size) == (1, 3, 1_000_000)


@pytest.mark.parametrize("width", [30, 60, 100])
def test_progress_fits_the_terminal(width: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapped line can't be erased and would fill the screen with copies."""
    watched(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(width))
    clock = Clock()
    progress = Progress(10_000, clock=clock)
    clock.now += 5
    progress.advance(123_456, 1_000_000_000)
    assert 0 < columns(capsys.readouterr().err.removeprefix("\r\x1b[K")) <= width - len("^C")


def test_an_error_takes_the_place_of_the_progress(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    assert main(["check", "missing.jsonl"]) == 2
    assert capsys.readouterr().err.startswith("\r\x1b[Kerror: `missing.jsonl` ")


def test_a_dumb_terminal_gets_no_sequences(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    clock = Clock()
    progress = Progress(4, clock=clock)
    clock.now += 5
    progress.advance(3, 1_000_000)
    assert main(["check", "missing.jsonl"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_a_long_search_for_files_is_shown(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    monkeypatch.setattr("spanwise.cli.inputs.Progress", partial(Progress, clock=count(100, 3).__next__))
    files(tmp_path, {"a.bin": "", "b/c.bin": "", "b/d.md": "One.\n"})
    assert main(["chunk", str(tmp_path), "-o", str(tmp_path / "x.jsonl")]) == 0
    assert "\r\x1b[Klooking for documents: 3 files seen\r\x1b[K" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------ read


@pytest.mark.process
def test_read_gives_the_text_as_it_is(folder: Path) -> None:
    assert ran("read", "page.md", cwd=folder).out.decode() == PAGE
    files(folder, {"windows.md": b"\xef\xbb\xbf# A\r\n\r\nb"})
    assert ran("read", "windows.md", cwd=folder).out == b"# A\n\nb"
    assert ran("read", "-", cwd=folder, piped=PAGE.encode()).out.decode() == PAGE


@pytest.mark.process
def test_read_reports_replaced_characters(folder: Path) -> None:
    files(folder, {"nul.txt": b"x" * 5000 + b"\x00"})
    done = ran("read", "nul.txt", cwd=folder)
    assert done.code == 0
    assert done.err.startswith("warning: 1 NUL")


def test_read_as_json_has_text_and_metadata(capsys: Captured) -> None:
    document = spanwise.read("page.md")
    answer = orjson.loads(output_of(capsys, "read", "page.md", "--json"))
    assert answer == {"text": PAGE, "pages": [], "metadata": document.metadata.to_dict(), "left_out": []}


def test_blocks_as_json_are_those_of_the_document(capsys: Captured) -> None:
    answer = orjson.loads(output_of(capsys, "read", "page.md", "--blocks", "--json", "--tokenizer", "words"))
    document = spanwise.read("page.md")
    assert answer["document_id"] == document.document_id
    assert len(answer["blocks"]) == len(document.blocks)
    for record, (index, block) in zip(answer["blocks"], enumerate(document.blocks), strict=True):
        text = PAGE[block.start : block.end]
        assert (record["index"], record["kind"], record["level"]) == (index, block.kind, block.level)
        assert (record["char_start"], record["char_end"]) == (block.start, block.end)
        assert record["raw_md_text"] == text
        assert record["line"] == PAGE[: block.start].count("\n") + 1
        assert record["token_count"] == len(text.split())
        assert record["headings_path"] == list(block.headings_path)
        assert [(part["char_start"], part["char_end"]) for part in record["parts"]] == [
            (part.start, part.end) for part in block.parts
        ]


def test_nested_items_are_nested_parts(capsys: Captured) -> None:
    files(Path(), {"list.md": "- a\n  - b\n  - c\n- d\n"})
    (block,) = orjson.loads(output_of(capsys, "read", "list.md", "--blocks", "--json"))["blocks"]
    assert [len(part["parts"]) for part in block["parts"]] == [2, 0]


def test_blocks_are_a_table_for_people(capsys: Captured) -> None:
    assert output_of(capsys, "read", "page.md", "--blocks").splitlines() == [
        "#  kind       characters  tokens  place   headings        text",
        "0  heading 1  0:8              2  line 1  Travel          # Travel",
        "1  paragraph  10:122          27  line 3  Travel          Trips are booked early. Dr. Nov…",
        "2  paragraph  124:224         24  line 5  Travel          Another paragraph stands here. …",
        "3  heading 2  226:234          2  line 7  Travel › Rates  ## Rates",
        "4  table      236:325         38  line 9  Travel › Rates  | City | Rate | |--------|-----…",
    ]


def test_a_document_without_blocks_is_an_empty_table(capsys: Captured) -> None:
    files(Path(), {"empty.md": ""})
    assert len(output_of(capsys, "read", "empty.md", "--blocks").splitlines()) == 1
    assert output_of(capsys, "read", "empty.md") == ""


# ----------------------------------------------------------------------------------------------------------- stats


def figures(capsys: Captured, *names: str) -> Any:
    return orjson.loads(output_of(capsys, "stats", *names, "--json"))


def test_stats_count_what_is_there(capsys: Captured) -> None:
    made = records(Path(chunks_in("x.jsonl", "page.md", *SMALL)))
    answer = figures(capsys, "x.jsonl")
    tokens = sorted(record["token_count"] for record in made)
    assert (answer["file"], answer["documents"], answer["chunks"]) == ("x.jsonl", 1, len(made))
    assert (answer["tokens"], answer["smallest"], answer["largest"]) == (sum(tokens), tokens[0], tokens[-1])
    assert answer["mean"] == round(sum(tokens) / len(tokens), 1)
    pieces = [piece for record in made for piece in record["pieces"]]
    total = sum(len(record["full_text"]) for record in made)
    for role, name in (("overlap", "overlap_share"), ("context", "context_share")):
        length = sum(piece["end"] - piece["start"] for piece in pieces if piece["role"].startswith(role))
        assert answer[name] == round(length / total, 4) > 0
    assert answer["types"] == {"paragraph": 2, "table": 2}
    assert answer["headings_depth"] == {"1": 2, "2": 2}


def test_percentiles_lie_between_the_smallest_and_the_largest(capsys: Captured) -> None:
    for numbers in ([5], [5, 17], [5, 9, 11, 17], [1] * 50 + [1000], list(range(1, 12))):
        files(Path(), {"x.jsonl": "".join(f'{{"token_count": {number}}}\n' for number in numbers)})
        answer = figures(capsys, "x.jsonl")
        order = [answer[name] for name in ("smallest", "tenth", "median", "ninetieth", "largest")]
        assert order == sorted(order)
    assert order == [1, 2, 6, 10, 11]


def test_formats_have_the_same_stats(capsys: Captured) -> None:
    answers = []
    for name in ("jsonl", "json", "parquet"):
        chunks_in(f"x.{name}", "page.md", *SMALL, "--format", name)
        answers.append(figures(capsys, f"x.{name}") | {"file": ""})
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("options", [0, orjson.OPT_INDENT_2])
def test_a_json_list_may_be_written_by_others(options: int, capsys: Captured) -> None:
    made = records(Path(chunks_in("x.jsonl", "page.md", *SMALL)))
    files(Path(), {"x.json": orjson.dumps(made, option=options)})
    assert figures(capsys, "x.json")["chunks"] == len(made)


@pytest.mark.process
def test_stats_read_what_is_piped_in(folder: Path) -> None:
    for format_ in ("jsonl", "json", "parquet"):
        done = ran_by_shell(f"$spanwise chunk page.md -q --format {format_} | $spanwise stats - --json", folder)
        assert done.code == 0, done.err
        assert orjson.loads(done.out)["chunks"] == 2


@pytest.mark.parametrize("dialect", ["spec-v1", "notes", "fixed-size"])
def test_stats_know_dialects_with_token_counts(dialect: str, capsys: Captured) -> None:
    source = *SMALL, "--template", "plain", "--embed", "source"  # whose tokens a dialect counts
    plain = figures(capsys, chunks_in("x.jsonl", "page.md", *source))
    other = figures(capsys, chunks_in("y.jsonl", "page.md", *source, "--dialect", dialect))
    for name in ("documents", "chunks", "tokens", "smallest", "median", "largest"):
        assert other[name] == plain[name]


@pytest.mark.parametrize("dialect", ["confluence", "pages"])
def test_a_dialect_without_token_counts_is_reported(dialect: str, capsys: Captured) -> None:
    assert "token count" in refused(capsys, "stats", chunks_in("x.jsonl", "page.md", "--dialect", dialect))


def test_two_files_stand_side_by_side(capsys: Captured) -> None:
    one, two = chunks_in("one.jsonl"), chunks_in("two.jsonl", "page.md", *SMALL)
    lines = output_of(capsys, "stats", one, two).splitlines()
    assert lines[0].split() == ["one.jsonl", "two.jsonl"]
    assert next(line for line in lines if line.startswith("chunks")).split() == ["chunks", "2", "4"]
    assert [answer["chunks"] for answer in figures(capsys, one, two)] == [2, 4]
    assert any("█" in line for line in lines)
    assert max(map(columns, lines)) <= 90


def test_three_files_are_too_many(capsys: Captured) -> None:
    name = chunks_in("x.jsonl")
    assert "one file or two" in refused(capsys, "stats", name, name, name)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "holds no chunks"),
        (b"[]\n", "holds no chunks"),
        (b"# Markdown\n", "is no file of chunks (line 1: not "),
        (b"5\n", "is no file of chunks (line 1: not "),
        (b'{"token_count": 5}\n{"tok', "has no record in line 2"),
        (b"\x00\xff\xfe", "is no file of chunks (line 1: not "),
        (b"PAR1 and no more", "is a damaged Parquet file"),
        (b"{}\n", "without a token count"),
        (b'{"token_count": true}\n', "token count"),
        (b'{"token_count": "5"}\n', "token count"),
        (b'{"token_count": 5, "pieces": 5}\n', "`x`"),
        (b'{"token_count": 5, "pieces": [{}]}\n', "`x`"),
        (b'{"token_count": 5, "pieces": [5]}\n', "`x`"),
        (b'{"token_count": 5, "headings_path": 5}\n', "`x`"),
        (b'{"metadata": 5}\n', "token count"),
    ],
)
def test_an_invalid_chunk_file_is_reported(data: bytes, words: str, capsys: Captured) -> None:
    files(Path(), {"x": data})
    assert words in refused(capsys, "stats", "x").splitlines()[0]


# ------------------------------------------------------------------------------------------------------------ diff

BEFORE = "# H\n\nFirst.\n\n## B\n\nSecond.\n\n## C\n\nThird.\n\n## D\n\nFourth.\n"
AFTER = "# H\n\nFirst, changed.\n\n## A\n\nNew.\n\n## B\n\nSecond.\n\n## D\n\nFourth.\n"


@pytest.fixture
def two(folder: Path) -> tuple[str, str]:
    """Return chunk files of a document before and after a change."""
    files(folder, {"d.md": BEFORE})
    old = chunks_in("old.jsonl", "d.md")
    files(folder, {"d.md": AFTER})
    return old, chunks_in("new.jsonl", "d.md")


def test_diff_reports_every_chunk(two: tuple[str, str], capsys: Captured) -> None:
    assert output_of(capsys, "diff", *two).splitlines() == [
        "d.md",
        "  + #0    H: First, changed.",
        "  + #1    H › A: New.",
        "  > #2    H › B: Second.",
        "  > #3    H › D: Fourth.",
        "  - #0    H: First.",
        "  - #2    H › C: Third.",
        "2 added, 2 removed, 2 moved, 0 kept; 2 chunks to embed",
    ]


def test_diff_as_json_names_ids(two: tuple[str, str], capsys: Captured) -> None:
    *changes, last = records(output_of(capsys, "diff", *two, "--json"))
    assert last == {"summary": {"added": 2, "removed": 2, "moved": 2, "kept": 0, "to_embed": 2}}
    old, new = ({record["content_id"]: record for record in records(Path(name))} for name in two)
    assert {change["content_id"] for change in changes} == set(old) | set(new)
    for change in changes:
        name = change["content_id"]
        expected = "moved" if name in old and name in new else "added" if name in new else "removed"
        assert change["change"] == expected
        assert change["old_chunk_id"] == (old[name]["chunk_id"] if name in old else None)
        assert change["new_chunk_id"] == (new[name]["chunk_id"] if name in new else None)
        assert change["embed"] is (expected == "added")


def test_diff_of_a_file_with_itself_is_nothing(two: tuple[str, str], capsys: Captured) -> None:
    same = output_of(capsys, "diff", two[0], two[0])
    assert same == "0 added, 0 removed, 0 moved, 4 kept; 0 chunks to embed\n"


def test_diff_names_kept_chunks_that_must_be_embedded_anew(two: tuple[str, str], capsys: Captured) -> None:
    tagged = chunks_in("tagged.jsonl", "d.md", "--template", "tags")
    *changes, last = records(output_of(capsys, "diff", two[1], tagged, "--json"))
    assert (last["summary"]["kept"], last["summary"]["to_embed"]) == (4, 4)
    expected = {record["chunk_id"] for record in records(Path(tagged))}
    assert {change["new_chunk_id"] for change in changes if change["embed"]} == expected


def test_diff_with_nothing_before_adds_all(two: tuple[str, str], capsys: Captured) -> None:
    files(Path(), {"empty.jsonl": ""})
    assert "4 added, 0 removed" in output_of(capsys, "diff", "empty.jsonl", two[1])
    assert "0 added, 4 removed" in output_of(capsys, "diff", two[1], "empty.jsonl")


def test_diff_reads_every_format(two: tuple[str, str], capsys: Captured) -> None:
    other = chunks_in("new.parquet", "d.md", "--format", "parquet")
    assert output_of(capsys, "diff", two[1], other).startswith("0 added, 0 removed, 0 moved, 4 kept")


def test_diff_refuses_what_has_no_content_ids(two: tuple[str, str], capsys: Captured) -> None:
    notes = chunks_in("notes.jsonl", "d.md", "--dialect", "notes")
    assert "without chunk_id, content_id, " in refused(capsys, "diff", two[0], notes)
    assert "hint: " in refused(capsys, "diff", notes, two[0])


@pytest.mark.parametrize("line", ['{"content_id": "x"}', '{"content_id": 5, "metadata": null}', "[1, 2]", "no"])
def test_diff_reports_invalid_records(line: str, two: tuple[str, str], capsys: Captured) -> None:
    files(Path(), {"x.jsonl": line + "\n"})
    assert "`x.jsonl`" in refused(capsys, "diff", two[0], "x.jsonl")


# ------------------------------------------------------------------------------------------------------ strategies


def test_strategies_show_every_option_with_its_default(capsys: Captured) -> None:
    out = output_of(capsys, "strategies")
    for name, strategy in STRATEGIES.items():
        part = out[out.index(f"\n{name}\n" if name != "structure" else "structure\n") :]
        for item in fields(strategy.options):
            flag = item.name if item.metadata["secret"] else f"--{item.name.replace('_', '-')}"
            line = next(line for line in part.splitlines() if line.split()[:1] == [flag])
            names = {"True": "on", "False": "off", "None": "none"}
            assert line.split()[1] == names.get(str(item.default), str(item.default))


@pytest.mark.parametrize("width", [60, 80, 140])
def test_strategies_explain_options_in_full(width: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the only command that explains the options in full."""
    monkeypatch.setenv("COLUMNS", str(width))
    letters = "".join(output_of(capsys, "strategies", "structure").split())
    for item in fields(STRATEGIES["structure"].options):
        last = item.metadata["help"].split()[-1]
        assert last in letters
    assert "…" not in letters


def test_one_strategy_is_shown_alone(capsys: Captured) -> None:
    out = output_of(capsys, "strategies", "simple")
    assert "--max-chars" in out
    assert "--mix-code" not in out


def test_strategies_as_json_are_a_schema(capsys: Captured) -> None:
    schema = orjson.loads(output_of(capsys, "strategies", "--json"))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["oneOf"] == [{"$ref": f"#/$defs/{name}"} for name in STRATEGIES]
    assert set(schema["$defs"]) == set(STRATEGIES)
    for name, strategy in STRATEGIES.items():
        definition = schema["$defs"][name]
        assert definition["type"] == "object"
        assert definition["required"] == ["strategy"]
        assert definition["additionalProperties"] is False
        assert definition["description"]
        properties = definition["properties"]
        assert properties.pop("strategy") == {"const": name}
        assert set(properties) == {item.name for item in fields(strategy.options)}


TYPES: dict[str, Any] = {"integer": int, "number": (int, float), "boolean": bool, "string": str, "null": type(None)}


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_schema_allows_what_the_library_allows(strategy: Any, capsys: Captured) -> None:
    properties = orjson.loads(output_of(capsys, "strategies", strategy, "--json"))["$defs"][strategy]["properties"]
    document = spanwise.read_text("Words.")
    more: dict[str, Any] = {"input_price": 1, "output_price": 1} if strategy == "smart" else {}
    for name, rules in properties.items():
        if name == "strategy":
            continue
        kinds = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
        assert any(isinstance(rules["default"], TYPES[kind]) for kind in kinds)
        assert ("null" in kinds) == (rules["default"] is None)
        assert rules["description"]
        edges = [rules[key] for key in ("minimum", "maximum") if key in rules] + rules.get("enum", [])
        for value in edges:
            assert spanwise.chunk(document, strategy, **more | {name: value})
        beyond = [rules["minimum"] - 1] if "minimum" in rules else []
        beyond += [rules["maximum"] + 1] if "maximum" in rules else []
        beyond += ["nothing"] if "enum" in rules else []
        for value in beyond:
            with pytest.raises(spanwise.OptionError):
                spanwise.chunk(document, strategy, **{name: value})


def test_an_unknown_strategy_is_reported(capsys: Captured) -> None:
    err = refused(capsys, "strategies", "fixd")
    assert "fixd" in err
    assert "fixed" in err.splitlines()[1]


# ---------------------------------------------------------------------------------------------------------- config


def test_config_is_a_table_for_people(capsys: Captured) -> None:
    files(Path(), {"spanwise.toml": 'max_tokens = 300\nmeta = {tenant_id = "acme"}\n'})
    out = output_of(capsys, "config", "page.md", "--mix-code")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:2] == ["config", "file:"]
    assert lines[0][2].endswith("spanwise.toml")
    assert ["setting", "value", "from"] in lines
    assert ["max_tokens", "300", "spanwise.toml"] in lines
    assert ["target_tokens", "300", "default"] in lines
    assert ["meta.tenant_id", "acme", "spanwise.toml"] in lines
    assert next(line for line in lines if line[:1] == ["mix_code"])[2:] == ["command", "line"]


def test_config_without_a_file(capsys: Captured) -> None:
    assert output_of(capsys, "config").startswith("config file: none\n")
    assert orjson.loads(output_of(capsys, "config", "--json"))["config"] is None


# ------------------------------------------------------------------------------------------------------ completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_completion_script_knows_commands_and_flags(shell: str, capsys: Captured) -> None:
    script = output_of(capsys, "completion", shell)
    for word in ("chunk", "strategies", "--strategy" if shell != "tcsh" else "strategy", "confluence"):
        assert word in script


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("spanwise ch", "chunk check"),
        ("spanwise chunk --strat", "--strategy"),
        ("spanwise chunk --dialect no", "notes"),
    ],
)
def test_bash_completion_works(words: str, offered: str, tmp_path: Path, capsys: Captured) -> None:
    script = files(tmp_path, {"script.bash": output_of(capsys, "completion", "bash")}) / "script.bash"
    asked = (
        f'source "{script}"; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE="{words}"; '
        "COMP_POINT=${#COMP_LINE}; complete -p spanwise >/dev/null && "
        "$(complete -p spanwise | sed 's/.*-F \\([^ ]*\\) .*/\\1/') spanwise; echo \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=20)
    assert done.stdout.split() == offered.split(), done.stderr


def test_an_unknown_shell_is_reported(capsys: Captured) -> None:
    assert "bash" in refused(capsys, "completion", "cmd")


# ----------------------------------------------------------------------------------------------- words and columns


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("数据", 4), ("e\u0301", 1), ("Łódź", 4), ("", 0), ("ｆｕｌｌ", 8)]
)
def test_columns_are_those_of_a_terminal(text: str, width: int) -> None:
    assert columns(text) == width


@pytest.mark.parametrize("text", ["abcdefgh", "数据安全数据安全", "a数b据c安d全", "e\u0301" * 8])
@pytest.mark.parametrize("width", range(1, 10))
def test_what_is_cut_to_a_width_fits_it(text: str, width: int) -> None:
    cut = fitted(text, width)
    assert columns(cut) <= width
    assert cut == text or cut.endswith("…")
    assert text.startswith(cut.removesuffix("…"))


def test_a_table_stands_in_columns() -> None:
    rows = [("a", "b", "c"), ("数据", "10", "x" * 50), ("", "5", "")]
    assert table(rows, right=[1], width=20) == ["a      b  c", "数据  10  xxxxxxxxx…", "       5"]


def test_control_characters_are_replaced() -> None:
    assert printable("a\x1b[31mb\x07\x9b\x7f\r") == "a�[31mb����"
    assert printable("a\tb") == "a   b"
    assert "\u202e" not in printable("a\u202eb")  # it would reverse the rest of the line
