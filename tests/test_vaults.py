"""Vaults: links are resolved by path, name, alias and id; unresolved ones are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spanwise
from spanwise.cli import main


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    notes = {
        "a/Plan.md": "---\naliases: [Der Plan]\nid: n1\n---\n# Plan\n\n## Steps Here\n\n### Deep\n\ntext ^s1\n\n"
        "- x ^i1\n- y ^i2\n",
        "b/Plan.md": "# Other plan\n",
        "c/d/Far.md": "# Far\n",
        "img/p.png": "x",
    }
    for path, text in notes.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def resolved(vault: Path, links: str, note: str = "a/Home.md") -> list[tuple[str | None, int | None, str | None]]:
    (vault / note).write_text(f"# Home\n\n{links}\n", encoding="utf-8")
    found = spanwise.read_vault(vault).references
    return [(one.target, one.block, one.problem) for one in found if one.source == note]


@pytest.mark.parametrize(
    ("link", "target", "block"),
    [
        ("[[Plan]]", "a/Plan.md", None),
        ("[[plan]]", "a/Plan.md", None),
        ("[[Plan.md]]", "a/Plan.md", None),
        ("[[b/Plan]]", "b/Plan.md", None),
        ("[[B/PLAN]]", "b/Plan.md", None),
        ("[[der plan]]", "a/Plan.md", None),
        ("[[n1]]", "a/Plan.md", None),
        ("[[far]]", "c/d/Far.md", None),
        ("![[p.png]]", "img/p.png", None),
        ("[[Plan#Steps Here]]", "a/Plan.md", 2),
        ("[[Plan#steps here#deep]]", "a/Plan.md", 3),
        ("[[Plan#^s1]]", "a/Plan.md", 4),
        ("[[Plan#Steps Here^i2]]", "a/Plan.md", 5),
        ("[[#Home]]", "a/Home.md", 0),
        ("[x](Plan.md#steps-here)", "a/Plan.md", 2),
        ("[x](../c/d/Far.md)", "c/d/Far.md", None),
        ("| a |\n|---|\n| [[Plan\\|p]] |", "a/Plan.md", None),
    ],
)
def test_links_find_their_target(vault: Path, link: str, target: str, block: int | None) -> None:
    assert resolved(vault, link) == [(target, block, None)]


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("[[Nope]]", "no such note"),
        ("[[Plan#Nope]]", "no such heading"),
        ("[[Plan#Deep#Steps Here]]", "no such heading"),
        ("[[Plan#^nope]]", "no such block"),
        ("[[#Nope]]", "no such heading"),
        ("![[gone.png]]", "no such note"),
    ],
)
def test_unresolved_links_are_reported(vault: Path, link: str, problem: str) -> None:
    assert [found[2] for found in resolved(vault, link)] == [problem]


def test_the_nearest_of_several_notes_counts(vault: Path) -> None:
    assert resolved(vault, "[[Plan]]", "b/Home.md")[0][0] == "b/Plan.md"


def test_web_addresses_are_no_references(vault: Path) -> None:
    assert resolved(vault, "[x](https://example.com) [y](mailto:a@example.com)") == []


def test_incoming_links(vault: Path) -> None:
    resolved(vault, "[[Plan]] [[der plan]] [[#Home]]")
    found = spanwise.read_vault(vault).incoming
    assert [reference.source for reference in found["a/Plan.md"]] == ["a/Home.md", "a/Home.md"]
    assert found["a/Home.md"] == ()


def test_duplicate_block_ids_are_reported(vault: Path) -> None:
    (vault / "twice.md").write_text("One. ^x\n\nTwo. ^x\n\n`code ^y`\n\nThree. ^y\n", encoding="utf-8")
    assert spanwise.read_vault(vault).repeated_ids == (("twice.md", "x", 2),)


def test_a_note_that_cant_be_read_fails_alone(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (vault / "broken.md").write_bytes(bytes(range(256)) * 4)
    (vault / "home.md").write_text("[[broken]] [[Plan]]\n", encoding="utf-8")
    found = spanwise.read_vault(vault)
    assert [error.rule for error in found.failed] == ["looks like a binary file, not like text"]
    assert not found.dangling
    assert main(["links", str(vault)]) == 1
    captured = capsys.readouterr()
    assert "2 links, 0 dangling" in captured.out
    assert "broken.md" in captured.err


def test_non_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(spanwise.UnreadableError, match="is not a folder"):
        spanwise.read_vault(tmp_path / "nowhere")


def test_the_command_shows_unresolved_links(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (vault / "home.md").write_text("[[Plan]] [[Nope]]\n", encoding="utf-8")
    assert main(["links", str(vault)]) == 0
    output = capsys.readouterr().out
    assert "dangling: home.md: [[Nope]]: no such note" in output
    assert "4 notes, 2 links, 1 dangling" in output
    assert main(["links", str(vault), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == {"summary": {"notes": 4, "links": 2, "dangling": 1}}
    assert lines[0]["found"] == "a/Plan.md"


def test_records_carry_the_links_of_their_own_core() -> None:
    """All links of a document in each record would make the records grow quadratically."""
    text = "\n\n".join(f"# Żółw {n}\n\nSee [page {n}](p{n}) and [[Note {n}#Part^b|more]]." for n in range(300))
    document = spanwise.read_text(text)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document)]
    assert len(records) == 300
    found = [[link["target"] for link in record["metadata"]["links"]] for record in records]
    assert found == [[f"p{n}", f"Note {n}"] for n in range(300)]
    assert len(document.metadata.links) == 600
