"""The project's own files: one version, valid workflows and templates, hooks, and a site that builds."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tomllib
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

import spanwise

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SCHEMAS = {
    "workflows/*.yml": "vendor.github-workflows",
    "ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "dependabot.yml": "vendor.dependabot",
}


def ran(name: str, *arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment."""
    program = Path(sysconfig.get_path("scripts"), name)
    return subprocess.run(
        [program, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
    )  # fmt: skip


def test_the_version_stands_in_one_place() -> None:
    assert version("spanwise") == spanwise.__version__
    assert "version" in PROJECT["project"]["dynamic"]
    sources = [
        ROOT / "pyproject.toml", ROOT / "setup.py", ROOT / "mkdocs.yml", *(ROOT / "src").rglob("*.py"),
        *GITHUB.rglob("*.yml"),
    ]  # fmt: skip
    stated = re.compile(rf"""["']v?{re.escape(spanwise.__version__)}["']""")
    found = [path for path in sources if stated.search(path.read_text("utf-8"))]
    assert found == [ROOT / "src" / "spanwise" / "__init__.py"]


def test_the_changelog_names_the_version() -> None:
    assert re.search(rf"^## {re.escape(spanwise.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)


@pytest.mark.process
@pytest.mark.parametrize("pattern", SCHEMAS)
def test_workflows_and_templates_follow_their_schemas(pattern: str) -> None:
    found = sorted(GITHUB.glob(pattern))
    assert found
    done = ran("check-jsonschema", "--builtin-schema", SCHEMAS[pattern], *found)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
def test_workflows_are_safe() -> None:
    done = ran("zizmor", "--offline", "--no-progress", GITHUB)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_jobs_get_only_what_they_need(path: Path) -> None:
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert job["permissions"] in ({"contents": "read"}, {"id-token": "write"})
        assert job["timeout-minutes"] <= 90
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name) for name, _ in used)
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", comment) for _, comment in used)


def test_the_matrix_is_that_of_the_package() -> None:
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    matrix = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]["quick"]["strategy"]["matrix"]
    assert matrix["python"][0] == lowest
    built = [name.removeprefix("cp3").removesuffix("-*") for name in PROJECT["tool"]["cibuildwheel"]["build"]]
    assert matrix["python"] == [f"3.{minor}" for minor in built]
    assert [name.partition("-")[0] for name in matrix["system"]] == ["ubuntu", "macos", "windows"]


@pytest.mark.process
def test_hooks_run_what_make_runs() -> None:
    done = ran("pre-commit", "validate-config", ROOT / ".pre-commit-config.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    entries = [hook["entry"].split() for repository in config["repos"] for hook in repository["hooks"]]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [name for name, _ in entries] == ["make"] * len(entries)
    assert {target for _, target in entries} <= set(targets)


class Assets(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        loads = tag in {"script", "img", "iframe", "source", "video", "audio"} or (
            tag == "link" and values.get("rel") not in {"canonical", "prev", "next"}
        )
        self.found += [values.get("src") or values.get("href") or ""] if loads else []


@pytest.mark.process
@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = ran("mkdocs", "build", "--strict", "--site-dir", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    sources = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {page.relative_to(tmp_path / "site") for page in pages} == sources | {Path("404.html")}
    for page in pages:
        text = page.read_text("utf-8")
        assets = Assets()
        assets.feed(text)
        assert assets.found
        assert [asset for asset in assets.found if re.match(r"(https?:)?//", asset)] == [], page
        assert "```" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL), (
            f"{page}: a block that isn't shown as one"
        )
