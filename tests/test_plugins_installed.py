"""A package with a plug-in of each kind, installed by pip, is used through the command, with worker processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import spanwise
from plugging import PACKAGE

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the interpreter of a fresh environment that sees this project's packages, with the package installed."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    found = folder / "venv" / "bin" / "python"
    own = Path(spanwise.__file__).parent.parent
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    (packages / "project.pth").write_text(f"{own}\n{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    source = shutil.copytree(PACKAGE, folder / "package", ignore=shutil.ignore_patterns("__pycache__"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(found), "install", "--quiet")
    alone = ("--no-index", "--no-deps", "--no-build-isolation")
    done = subprocess.run([*pip, *alone, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(6):
        text = "\n\n".join(f"Note {number}, sentence {line} about tea." for line in range(40))
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\n{text}\n")
        (tmp_path / f"{number}.ini").write_text("".join(f"[part{one}]\nwater = {number}{one}\n" for one in range(20)))
    (tmp_path / "bad.ini").write_text("no section\n")
    return tmp_path


def ran(python: str, folder: Path, *arguments: str) -> tuple[int, str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "COLUMNS", "NO_COLOR"}}
    done = subprocess.run(
        [python, "-m", "spanwise", *arguments], cwd=folder, capture_output=True, text=True, env=plain, check=False
    )
    return done.returncode, done.stdout, done.stderr


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_chunks_with_workers(python: str, folder: Path) -> None:
    chosen = ("--strategy", "by-lines", "--strategy-lines", "9", "--tokenizer", "letters", "--max-tokens", "400")
    code, out, err = ran(python, folder, "chunk", ".", *chosen, "--jobs", "2", "--format", "jsonl")
    assert code == 1
    assert "bad.ini" in err
    assert "reader ini (acme-spanwise 1.2)" in err
    found = lines(out)
    assert {one["metadata"]["source_type"] for one in found} == {"ini", "markdown"}
    assert {(one["strategy"], one["tokenizer"]) for one in found} == {("by-lines", "letters")}
    assert len({one["document_id"] for one in found}) == 12
    assert (code, out) == ran(python, folder, "chunk", ".", *chosen, "--jobs", "1", "--format", "jsonl")[:2]
    (folder / "chunks.jsonl").write_text(out)
    code, out, err = ran(python, folder, "check", "chunks.jsonl", "--source", ".", "--exclude", "chunks.jsonl")
    assert "0 violations" in out, out + err


def test_an_index_and_a_search(python: str, folder: Path) -> None:
    store = ("--store", "pickled://index.pickle")
    chosen = ("--strategy", "by-lines", "--tokenizer", "letters", "--embedder", "letters")
    code, out, err = ran(python, folder, "index", ".", *store, *chosen, "--jobs", "2", "--json")
    assert code == 1, err
    assert sorted(one["status"] for one in lines(out)) == ["added"] * 12 + ["failed"]
    code, out, err = ran(python, folder, "index", ".", *store, *chosen, "--jobs", "2", "--json")
    assert sorted(one["status"] for one in lines(out)) == ["failed"] + ["unchanged"] * 12
    code, out, err = ran(python, folder, "search", "sentence 7 of note 3", *store, "--json")
    assert code == 0, err
    hits = json.loads(out)["hits"]
    assert any("Note 3, sentence 7" in hit["normalized_text"] for hit in hits[:2])
    assert "note:" not in err
    code, out, err = ran(python, folder, "search", "water", *store, "--type", "ini", "--json")
    assert {hit["file_path"][-4:] for hit in json.loads(out)["hits"]} == {".ini"}
    code, out, err = ran(python, folder, "store", "status", *store, "--json")
    assert (code, json.loads(out)["documents"]) == (0, 12)


def test_a_proposer_and_a_broken_plug_in(python: str, folder: Path) -> None:
    chosen = ("--strategy", "smart", "--proposer", "every:5", "--min-tokens", "0", "--jobs", "2", "--format", "jsonl")
    code, out, err = ran(python, folder, "chunk", "0.md", "1.md", *chosen)
    assert code == 0, err
    assert len(lines(out)) == 18
    code, out, err = ran(python, folder, "chunk", "0.md", "--strategy", "acme-broken", "--jobs", "2")
    assert (code, out) == (2, "")
    assert "strategy acme-broken (acme-spanwise 1.2)` can't be loaded (ImportError" in err
    code, out, err = ran(python, folder, "chunk", "0.md", "--jobs", "2", "--format", "jsonl")
    assert (code, err.count("acme")) == (0, 0)


def test_an_object_of_the_package_from_python(python: str, folder: Path) -> None:
    program = (
        "import spanwise\n"
        "from acme_spanwise.strategy import ByLines\n"
        "from acme_spanwise.tokenizer import LetterTokenizer\n"
        "found = spanwise.chunk_files(['0.md', '1.md'], ByLines(), LetterTokenizer(), jobs=2, lines=9)\n"
        "print([(one.name, one.value.count(b'\\n')) for one in found])\n"
    )
    done = subprocess.run([python, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "[('0.md', 9), ('1.md', 9)]\n"
