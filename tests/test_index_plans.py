"""Indexing by plan: a tenant's plan applies, and one limit of model calls covers all files."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from fake_endpoint import Server
from spanwise import cli
from spanwise.stores import open_store

TEXT = "".join(f"Sentence number {number} is about the weather. " for number in range(40))
CONFIG = """
[plans.premium]
strategy = "smart"
max_calls = {calls}
[plans.small]
strategy = "fixed"
max_tokens = 64
target_tokens = 40
min_tokens = 8
[tenants]
acme = "premium"
tiny = "small"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name in "abc":
        Path(f"docs/{name}.md").write_text(f"# {name}\n\n{TEXT}\n", encoding="utf-8")


def index(*more: str) -> int:
    return cli.main(["index", "docs", "--store", "x.db", "--embedder", "none", *more])


def strategies(tenant: str) -> set[str]:
    store = open_store("x.db")
    with store.reading(tenant) as reader:
        chunks = [found.record for found in reader.fetch(range(1, 1000))]
    store.close()
    return {record["strategy"] for record in chunks}


def said(captured: pytest.CaptureFixture[str]) -> list[str]:
    return [orjson.loads(line)["status"] for line in captured.readouterr().out.splitlines()]


def test_a_tenants_plan_overrides_the_general_settings() -> None:
    Path("spanwise.toml").write_text(CONFIG.format(calls=9), encoding="utf-8")
    assert index("--tenant", "tiny") == 0
    assert index("--tenant", "somebody") == 0
    assert index() == 0
    assert [strategies(tenant) for tenant in ("tiny", "somebody", "")] == [{"fixed"}, {"structure"}, {"structure"}]
    assert cli.main(["search", "weather", "--store", "x.db", "--tenant", "somebody"]) == 0


@pytest.mark.server
@pytest.mark.usefixtures("endpoint")
def test_the_call_limit_covers_all_files(model: Server, capsys: pytest.CaptureFixture[str]) -> None:
    Path("spanwise.toml").write_text(CONFIG.format(calls=2), encoding="utf-8")
    before = model.calls
    assert index("--tenant", "acme", "--json") == 0
    assert model.calls == before + 2
    assert said(capsys) == ["added"] * 3
    assert index("--tenant", "acme", "--json") == 0  # only documents that fell back are retried
    assert model.calls == before + 3
    assert sorted(said(capsys)) == ["changed", "unchanged", "unchanged"]
    assert index("--tenant", "acme", "--json") == 0
    assert model.calls == before + 3
    assert said(capsys) == ["unchanged"] * 3


@pytest.mark.server
@pytest.mark.usefixtures("endpoint")
def test_a_dry_run_makes_no_calls(model: Server) -> None:
    Path("spanwise.toml").write_text(CONFIG.format(calls=9), encoding="utf-8")
    before = model.calls
    assert index("--tenant", "acme", "--dry-run") == 0
    assert model.calls == before
    assert not Path("x.db").exists()
