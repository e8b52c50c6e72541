"""Plug-ins on the command line: as names, with their options as flags, and in the config file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import command
from spanwise.cli import main
from spanwise.cli.arguments import build_parser, parsed, settings_commands
from spanwise.cli.parser import own_flags

pytestmark = pytest.mark.usefixtures("acme")
Captured = pytest.CaptureFixture[str]
FILES = {
    "a.md": "# Tea\n\nBoil water.\nWait.\n\nPour.\n\nDrink.\n",
    "b.ini": "[milk]\nwarm = no\ncold = yes\nsoy = maybe\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    command.files(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, *capsys.readouterr()


def records(capsys: Captured, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = ran(capsys, "chunk", *arguments, "--format", "jsonl")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_a_strategy_with_its_options(capsys: Captured) -> None:
    found = records(
        capsys, "a.md", "--strategy", "by-lines", "--strategy-lines", "4", "--max-tokens", "50", "--headings"
    )
    assert [one["normalized_text"] for one in found] == ["# Tea\n\nBoil water.\nWait.", "Pour.\n\nDrink."]
    assert {(one["strategy"], one["max_tokens"]) for one in found} == {("by-lines", 50)}


def test_a_flag_may_stand_before_the_strategy_and_the_paths(capsys: Captured) -> None:
    assert len(records(capsys, "--strategy-lines", "4", "--no-headings", "a.md", "--strategy", "by-lines")) == 2


def test_readers_tokenizers_and_input_formats(capsys: Captured) -> None:
    (one,) = records(capsys, "b.ini", "--tokenizer", "letters")
    assert (one["metadata"]["source_type"], one["tokenizer"]) == ("ini", "letters")
    assert one["token_count"] == len(one["embedding_text"])
    Path("c.txt").write_text(FILES["b.ini"])
    (same,) = records(capsys, "c.txt", "--input-format", "ini")
    assert same["normalized_text"] == one["normalized_text"]
    assert (
        ran(capsys, "read", "c.txt", "--input-format", "ini")[1] == "# milk\n\n- warm: no\n- cold: yes\n- soy: maybe\n"
    )
    code, _, err = ran(capsys, "read", "c.txt", "--input-format", "inii")
    assert (code, err) == (
        2, "error: argument --input-format: is not known: 'inii'\nhint: did you mean `ini`?\n",
    )  # fmt: skip


def test_a_proposer(capsys: Captured) -> None:
    found = records(capsys, "a.md", "--strategy", "smart", "--proposer", "every:2", "--min-tokens", "0")
    assert [one["normalized_text"] for one in found] == ["Boil water.\nWait.", "Pour.\n\nDrink."]
    code, _, err = ran(capsys, "chunk", "a.md", "--proposer", "every")
    assert code == 2
    assert "`--proposer` is not for the strategy structure" in err
    code, _, err = ran(capsys, "chunk", "a.md", "--strategy", "smart", "--proposer", "evry")
    assert "did you mean `every`?" in err


@pytest.mark.parametrize(
    ("strategy", "value", "message"),
    [
        ("by-share", "1", None),
        ("by-share", "0.5", None),
        ("by-share", "2", "must be between 0.01 and 1.0"),
        ("by-share", "many", "must be a number: 'many'"),
        ("simple", "20", None),
        ("simple", "0.5", "must be an integer: '0.5'"),
    ],
)
def test_one_name_with_two_types(capsys: Captured, strategy: str, value: str, message: str | None) -> None:
    code, out, err = ran(capsys, "chunk", "a.md", "--strategy", strategy, "--max-chars", value, "--format", "jsonl")
    assert (code, message or "") == (2 if message else 0, message or "")
    assert (message or "") in err
    if message is None:
        Path("chunks.jsonl").write_text(out)
        code, _, err = ran(
            capsys, "check", "chunks.jsonl", "--source", "a.md", "--max-chars", value, "--strategy", strategy
        )
        assert code == 0, err


def test_the_config_file_has_them_too(capsys: Captured) -> None:
    Path("spanwise.toml").write_text('strategy = "by-lines"\nlines = 4\ntokenizer = "letters"\nproposer = "every"\n')
    found = records(capsys, "a.md")
    assert [one["tokenizer"] for one in found] == ["letters", "letters"]
    code, out, _ = ran(capsys, "config", "--json")
    assert (code, json.loads(out)["values"]["lines"]) == (0, {"value": 4, "origin": "spanwise.toml"})
    Path("spanwise.toml").write_text('strategy = "by-share"\nmax_chars = 0.5\n')
    assert {one["strategy"] for one in records(capsys, "a.md")} == {"by-share"}
    for text, message in {
        'lines = "many"': "`lines` must be an integer: 'many'",
        'max_chars = "x"': "`max_chars` must be an integer: 'x'",
        "lins = 3": "did you mean `lines`?",
        'proposer = "evry"': "did you mean `every`?",
        "proposer = 3": "`proposer` must be a name: 3",
        'strategy = "acme-broken"': "strategy acme-broken (acme-spanwise 1.2)",
    }.items():
        Path("spanwise.toml").write_text(text)
        code, _, err = ran(capsys, "chunk", "a.md")
        assert code == 2
        assert message in err


def test_help_and_strategies_show_them(capsys: Captured) -> None:
    _, out, _ = ran(capsys, "chunk", "--help")
    words = " ".join(out.split())
    assert "hierarchical, smart, acme-broken (not loaded), by-lines, by-share" in words
    assert "read all as: markdown, text, html, confluence, json, csv, pdf, xlsx, acme-broken, ini" in words
    code, out, err = ran(capsys, "strategies")
    assert code == 0
    assert "by-lines (plug-in of acme-spanwise 1.2)\n  Cut after every few lines, wherever that is." in out
    assert re.search(r"--strategy-lines +3 +from 1 +lines of a chunk\n", out)
    assert "warning: `strategy acme-broken (acme-spanwise 1.2)` can't be loaded (ImportError" in err
    assert "warning: strategy fixed (acme-spanwise 1.2) is not used: fixed is built in" in err
    code, out, err = ran(capsys, "strategies", "by-share")
    assert (code, err) == (0, "")
    assert "--max-chars" in out
    assert "--strategy-lines" not in out
    _, out, _ = ran(capsys, "strategies", "--json")
    assert json.loads(out)["$defs"]["by-lines"]["properties"]["lines"]["default"] == 3
    code, _, err = ran(capsys, "strategies", "acme-broken")
    assert code == 2
    assert "this needs a library that isn't there" in err


def test_what_is_asked_for_and_broken_is_one_error(capsys: Captured) -> None:
    code, out, err = ran(capsys, "chunk", "a.md", "--strategy", "acme-broken")
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith(
        "error: `strategy acme-broken (acme-spanwise 1.2)` can't be loaded (ImportError"
    )
    assert len(err.splitlines()) == 2
    for verb in (("chunk",), ("index", "--store", "x.db"), ("read",), ("inspect", "--html", "x.html")):
        paths = ["a.md", "b.ini"] if verb[0] in {"chunk", "index"} else ["a.md"]
        code, out, err = ran(capsys, *verb, *paths, "--input-format", "acme-broken")
        assert (code, out) == (2, "")
        assert err.count("reader acme-broken (acme-spanwise 1.2)` can't be loaded (ImportError") == 1
        assert len(err.splitlines()) == 2
    ran(capsys, "chunk", "a.md", "-o", "out.jsonl")
    code, out, err = ran(capsys, "check", "out.jsonl", "--source", "a.md", "--input-format", "acme-broken")
    assert (code, out, len(err.splitlines())) == (2, "", 2)


def test_an_unknown_flag_or_name_is_refused_as_before(capsys: Captured) -> None:
    code, _, err = ran(capsys, "chunk", "a.md", "--strategy", "by-lines", "--strategy-line", "4")
    assert (code, err) == (
        2,
        "error: unrecognized arguments: --strategy-line\nhint: did you mean `--strategy-lines`?\n",
    )
    code, _, err = ran(capsys, "chunk", "a.md", "--strategy", "by-line")
    assert (code, err) == (2, "error: argument --strategy: is not known: 'by-line'\nhint: did you mean `by-lines`?\n")


def test_records_are_checked_by_their_plug_in(capsys: Captured) -> None:
    ran(capsys, "chunk", ".", "--strategy", "by-share", "-o", "out.jsonl")
    code, out, err = ran(capsys, "check", "out.jsonl", "--source", ".", "--exclude", "out.jsonl")
    assert code == 0, out + err


def test_the_command_itself_does_not_load_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.plugins.names", lambda group: pytest.fail("nobody asked"))
    assert parsed(["chunk", "a.md", "--strategy", "fixed", "--max-tokens", "50"]).strategy == "fixed"
    assert main(["chunk", "a.md", "-q", "-o", "x.jsonl", "--max-tokens", "50"]) == 0


def test_no_option_of_a_built_in_strategy_takes_the_flag_of_a_command() -> None:
    commands = settings_commands(build_parser())
    own = own_flags(commands)
    assert {"--lines", "--strategy", "--jobs"} <= own
    assert not own & {"--max-tokens", "--mix-code", "--template"}
