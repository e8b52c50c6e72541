"""The fixed cost of a library: start-up time and installed size.

Start-up is CPU time of child processes beyond that of an idle Python, as a multiple of it: for importing the names in
use, and up to the first chunk of one sentence in cl100k, including the vocabulary. Size is what pip installs into an
empty folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import counters
from corpora import ROOT

SENTENCE = "One sentence is enough."
CHECKOUT = ("pyproject.toml", "README.md", "LICENSE", "src")


class Library(NamedTuple):
    """How a library is started, and what has to be installed to count cl100k tokens with it."""

    package: str
    imports: str
    first: str
    needs: tuple[str, ...] = ()


LIBRARIES = (
    Library("spanwise", "from spanwise import chunk, read_text", "chunk(read_text(sentence), max_tokens=512)"),
    Library(
        "langchain-text-splitters",
        "from langchain_text_splitters import RecursiveCharacterTextSplitter as Splitter",
        "Splitter.from_tiktoken_encoder('cl100k_base', chunk_size=512, chunk_overlap=0).create_documents([sentence])",
        ("tiktoken",),
    ),
    Library(
        "chonkie",
        "from chonkie import RecursiveChunker",
        "import tiktoken; RecursiveChunker(tiktoken.get_encoding('cl100k_base'), chunk_size=512).chunk(sentence)",
        ("tiktoken",),
    ),
    Library("semchunk", "import semchunk", "semchunk.chunkerify('cl100k_base', 512)(sentence)", ("tiktoken",)),
    Library(
        "semantic-text-splitter",
        "from semantic_text_splitter import TextSplitter",
        "TextSplitter.from_tiktoken_model('gpt-4', 512).chunks(sentence)",
    ),
    Library(
        "llama-index-core",
        "from llama_index.core.node_parser import SentenceSplitter",
        "SentenceSplitter(chunk_size=512, chunk_overlap=0).split_text(sentence)",
    ),
)


def startups(rounds: int) -> dict[str, dict[str, Any]]:
    """Measure every library in turn, `rounds` times, and return the best times."""
    with suppress(ImportError):
        counters.tiktoken()  # caches its vocabulary where the children find it
    programs = {("", ""): "pass"}
    for library in LIBRARIES:
        programs[library.package, "import"] = library.imports
        programs[library.package, "first"] = f"sentence = {SENTENCE!r}; {library.imports}; {library.first}"
    best: dict[tuple[str, str], float | None] = {}
    for number in range(rounds):
        print(f"  start-up, round {number + 1} of {rounds}", file=sys.stderr)
        for key, program in programs.items():
            if best.get(key, 0.0) is not None:
                seconds = _child_seconds(program)
                best[key] = None if seconds is None else min(seconds, best.get(key) or seconds)
    idle = best.pop(("", "")) or 0.0
    found: dict[str, dict[str, Any]] = {"python": {"seconds": idle}}
    for (package, what), seconds in best.items():
        found.setdefault(package, {})[what] = None if seconds is None else max(seconds / idle - 1, 0.0)
    return found


def _child_seconds(program: str) -> float | None:
    """Return the CPU time of one child; None if it fails."""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if child.returncode else usage.ru_utime + usage.ru_stime


def install_sizes(known: dict[str, Any], version_of: Callable[[str], str | None]) -> dict[str, dict[str, Any]]:
    """Install every library alone and return the size of its files; peers with unchanged pins keep theirs."""
    found: dict[str, dict[str, Any]] = {}
    for library in LIBRARIES:
        names = (library.package, *library.needs)
        pins = [f"{name}=={version_of(name)}" for name in names if version_of(name)]
        if library.package != "spanwise" and known.get(library.package, {}).get("pins") == pins:
            found[library.package] = known[library.package]
            continue
        print(f"  installing {library.package}", file=sys.stderr)
        found[library.package] = {"pins": pins, **_installed(pins, library.package == "spanwise")}
    return found


def _installed(pins: list[str], ours: bool) -> dict[str, Any]:
    if not pins:
        return {"failed": "not installed"}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "installed"
        wanted = [str(_copied_checkout(Path(folder)))] if ours else pins
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(target), *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"failed": "could not be installed"}
        numpy = sum(_size(path) for path in target.glob("numpy*"))
        return {"bytes": _size(target) - numpy, "numpy": numpy, "packages": len(list(target.glob("*.dist-info")))}


def _copied_checkout(folder: Path) -> Path:
    """Copy the files needed to build, so that building leaves nothing in the checkout."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in CHECKOUT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    return copy


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
