"""The `spanwise search` command: output, errors, and what it never reveals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import files, on_terminal, ran
from spanwise.cli import main

NOTES = {
    "docs/travel.md": "# Travel\n\nTrips are booked in the portal. Keep every receipt.\n\n## Taxi\n\nPaid at night.\n",
    "docs/safety.md": "---\ntitle: Safety rules\nlabels: [crane]\n---\n\nWear a helmet near the portal crane.\n",
    "docs/table.md": "# Rates\n\n| city | rate |\n|---|---|\n| Oslo | 70 |\n| portal | 1 |\n",
}
FIELDS = (
    "document_id", "chunk_ids", "score", "normalized_text", "headings_path", "page_start", "char_start", "char_end",
    "url", "explain",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder with an index of three notes."""
    monkeypatch.chdir(files(tmp_path, NOTES))
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    capsys.readouterr()
    return tmp_path


def searched(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["search", "--store", "s.db", "--json", *arguments]) == 0
    found: dict[str, list[dict[str, Any]]] = json.loads(capsys.readouterr().out)
    assert list(found) == ["hits"]
    return found["hits"]


def test_json_has_the_documented_fields(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hits = searched(capsys, "receipts")
    assert len(hits) == 1
    assert set(FIELDS) <= hits[0].keys()
    text = NOTES["docs/travel.md"]
    assert text[hits[0]["char_start"] : hits[0]["char_end"]] == hits[0]["normalized_text"]
    assert hits[0]["file_path"] == "docs/travel.md"


def test_nothing_found_is_no_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert searched(capsys, "zebra") == []
    assert main(["search", "zebra", "--store", "s.db"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "none of these words stands in the documents" in captured.err
    assert "no passage found" in captured.err


def test_matches_are_marked_without_colour(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "receipts", "--store", "s.db"]) == 0
    captured = capsys.readouterr()
    assert "1. 1.000  Travel" in captured.out
    assert "Keep every ⟪receipt⟫." in captured.out
    assert "docs/travel.md:3 [10:61]" in captured.out
    assert captured.err == "1 passage from 1 document\n"


@pytest.mark.parametrize("strategy", ["structure", "hierarchical", "fixed"])
def test_a_hit_names_the_line_of_its_file(
    strategy: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["---", "title: Ports", "---", ""]
    lines += [
        line for n in range(30) for line in (f"# Part {n}", "", f"Harbour {n} has", "its own zebra crossing.", "")
    ]
    (folder / "docs" / "long.md").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    chunking = ("--strategy", strategy, "--max-tokens", "32")
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q", *chunking]) == 0
    monkeypatch.chdir(folder.parent)
    for more in ([], ["--parents"], ["--budget", "16"]):
        arguments = ["search", "harbour 17 zebra", "--store", str(folder / "s.db"), "--json", "--limit", "3", *more]
        assert main(arguments) == 0
        for hit in json.loads(capsys.readouterr().out)["hits"]:
            text = hit["answer"] if "--budget" in more else hit["normalized_text"]
            assert lines[hit["line_start"] - 1].startswith(text.splitlines()[0])


@pytest.mark.process
def test_locations_are_never_wrapped(folder: Path) -> None:
    name = f"docs/{'long-' * 20}name.md"
    files(folder, {name: "# Zebras\n\nZebras are striped.\n"})
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    code, output = on_terminal("search", "zebra", "--store", "s.db", cwd=folder, columns=60, more={"NO_COLOR": "1"})
    assert code == 0
    assert f"   {name}:3 [10:29]\n" in output


def test_only_text_that_is_the_file_has_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(folder, {"docs/page.html": "<h1>Zoo</h1>\n<p>Okapis are striped.</p>"})
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    assert [hit["line_start"] for hit in searched(capsys, "okapi")] == [None]


def test_the_store_may_stand_in_the_config_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "spanwise.toml").write_text('store = "s.db"\n', encoding="utf-8")
    monkeypatch.chdir(folder / "docs")
    for arguments in (["search", "receipts"], ["store", "status"], ["index", ".", "--embedder", "none"]):
        assert main(arguments) == 0
    assert not (folder / "docs" / "s.db").exists()
    capsys.readouterr()
    assert main(["config"]) == 0
    assert "s.db" in capsys.readouterr().out
    (folder / "spanwise.toml").write_text('store = "postgresql://me:s3cr@t@host/db"\n', encoding="utf-8")
    assert main(["config", "--json"]) == 0
    assert "t@host" not in capsys.readouterr().out


def test_a_store_must_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["search", "receipts"], ["store", "list"], ["index", "docs"]):
        assert main(arguments) == 2
        assert "--store docs.db" in capsys.readouterr().err


@pytest.mark.process
def test_matches_are_coloured_on_a_terminal(folder: Path) -> None:
    code, output = on_terminal("search", "receipts", "--store", "s.db", cwd=folder, columns=100)
    assert code == 0
    assert "\x1b[1;33mreceipt\x1b[0m" in output
    assert "⟪" not in output
    code, output = on_terminal("search", "receipts", "--store", "s.db", cwd=folder, more={"NO_COLOR": "1"})
    assert "⟪receipt⟫" in output
    assert "\x1b" not in output


def test_every_part_of_a_score_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "crane", "--store", "s.db", "--explain"]) == 0
    output = capsys.readouterr().out
    for part in ("words", "vector", "headings", "title", "labels", "links in", "links out", "score"):
        assert f"   {part} " in output
    assert "BM25" in output
    assert "crane" in output


def test_filters_and_amounts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def paths(*arguments: str) -> set[str]:
        return {hit["file_path"] for hit in searched(capsys, "portal", *arguments)}

    assert paths() == {"docs/travel.md", "docs/safety.md", "docs/table.md"}
    assert paths("--label", "crane") == {"docs/safety.md"}
    assert paths("--label", "crane", "--label", "none") == set()
    assert paths("--path", "*/t*.md") == {"docs/travel.md", "docs/table.md"}
    assert paths("--type", "table") == {"docs/table.md"}
    assert paths("--type", "markdown", "--limit", "1") < {"docs/travel.md", "docs/safety.md", "docs/table.md"}
    assert len(paths("--budget", "20")) < 3


def test_the_tenant_can_not_be_forgotten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "secret").mkdir()
    (folder / "secret" / "plan.md").write_text("The secret portal.\n", encoding="utf-8")
    assert main(["index", "secret", "--store", "s.db", "--tenant", "acme", "--embedder", "none", "-q"]) == 0
    capsys.readouterr()
    assert [hit["file_path"] for hit in searched(capsys, "secret")] == []
    assert [hit["file_path"] for hit in searched(capsys, "secret", "--tenant", "acme")] == ["secret/plan.md"]
    assert searched(capsys, "secret", "--tenant", "") == []
    assert main(["search", "secret", "--store", "s.db", "--tenant", "acm"]) == 0
    captured = capsys.readouterr()
    assert "acme" not in captured.err
    assert "there are no documents here for the tenant acm" in captured.err


def test_no_part_of_an_explanation_is_cut(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    query = "trips are booked in the portal, keep every receipt"
    assert main(["search", query, "--store", "s.db", "--explain", "--limit", "1"]) == 0
    output = capsys.readouterr().out
    explained = " ".join(output.split()).partition("BM25")[2]
    assert all(f"{word} " in explained for word in ("trips", "booked", "portal", "keep", "every", "receipt"))
    assert "…" not in explained
    assert all(len(line) <= 60 for line in output.splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x"], "--store"),
        (["x", "--store", "none.db"], "none.db"),
        (["x", "--store", "s.db", "--type", "tabel"], "did you mean `table`?"),
        (["x", "--store", "s.db", "--since", "soon"], "try 2026-01-31"),
        (["x", "--store", "s.db", "--limit", "0"], "limit"),
        (["x", "--store", "s.db", "--budget", "1"], "at least 16"),
        (["x", "--store", "docs/travel.md"], "docs/travel.md"),
        (["x", "--store", "s.db", "--tokenizer", "none", "--budget", "50"], "tokenizer"),
    ],
)
def test_invalid_requests_are_reported(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["search", *arguments])
    except SystemExit as end:
        code = int(str(end.code))
    captured = capsys.readouterr()
    assert code == 2
    assert words in captured.err
    assert "Traceback" not in captured.err


def test_weights_come_from_the_config_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = searched(capsys, "safety portal")[0]
    (folder / "spanwise.toml").write_text("[search]\ntitle = 2\nheadings = 0.0\n", encoding="utf-8")
    assert main(["config"]) == 0
    assert ["search.title", "2", "spanwise.toml"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    lifted = searched(capsys, "safety portal")[0]
    assert lifted["explain"]["title"] == pytest.approx(10 * usual["explain"]["title"], rel=1e-3)
    (folder / "spanwise.toml").write_text("[search]\ntitel = 2\n", encoding="utf-8")
    assert main(["search", "portal", "--store", "s.db"]) == 2
    assert "[search] in spanwise.toml says it; did you mean `title`?" in capsys.readouterr().err
    (folder / "spanwise.toml").write_text("search = 2\n", encoding="utf-8")
    assert main(["search", "portal", "--store", "s.db"]) == 2
    assert "must be a table" in capsys.readouterr().err


@pytest.mark.process
def test_any_query_may_be_piped_in(folder: Path) -> None:
    done = ran("search", "-", "--store", "s.db", "--json", cwd=folder, piped=b"receipt \xff\x00 " + b'"*' * 50_000)
    assert done.code == 0
    assert json.loads(done.out)["hits"][0]["file_path"] == "docs/travel.md"
    done = ran("search", b"portal \xff\xfe \xed\xa0\x80", "--store", "s.db", "--json", cwd=folder)
    assert done.code == 0
    assert len(json.loads(done.out)["hits"]) == 3


def test_control_characters_do_not_reach_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "docs" / "evil.md").write_text("# \x1b[31mred\n\nzebra \x1b]0;title\x07 zebra\n", encoding="utf-8")
    assert main(["index", "docs", "--store", "s.db", "--embedder", "none", "-q"]) == 0
    capsys.readouterr()
    assert main(["search", "zebra", "--store", "s.db", "--full", "--explain"]) == 0
    output = capsys.readouterr().out
    assert "⟪zebra⟫" in output
    assert "\x1b" not in output
