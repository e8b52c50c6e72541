"""What type checkers say: right options are accepted, wrong ones refused, and the examples of the docs are clean."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import spanwise
from spanwise.documents.offsets import MEASURES, Measure
from spanwise.records.columns import ALL_TEXTS, TEXTS, Texts

ROOT = Path(__file__).parent.parent
GENERATOR = ROOT / "docs" / "generate_signatures.py"
MODULE = ROOT / "src" / "spanwise" / "signatures.py"

RIGHT = """
from pathlib import Path
from typing import Any

import spanwise
from acme_spanwise.embedder import LetterEmbedder
from acme_spanwise.reader import IniReader
from acme_spanwise.reranker import ShortestReranker
from acme_spanwise.store import PickledStore
from acme_spanwise.strategy import ByLines, ByShare
from acme_spanwise.tokenizer import LetterTokenizer

document = spanwise.read("a.ini", format=IniReader())
chunks: spanwise.Chunks = spanwise.chunk(document)
spanwise.chunk(document, None, max_tokens=100)
spanwise.chunk(document, "structure", max_tokens=100, template="tags", mix_code=True)
spanwise.chunk("text", "fixed", "o200k", overlap_ratio=0.2, target_tokens=50)
spanwise.chunk(Path("a.md"), strategy="simple", max_tokens=None, max_chars=10, offsets=("utf8",))
spanwise.chunk(document, "smart", proposer=lambda window: [1], window_tokens=300)
spanwise.chunk(document, "smart", proposer="every:2")
spanwise.chunk(document, ByLines(), LetterTokenizer(), lines=3)
spanwise.chunk(document, ByShare(), max_chars=0.5)
spanwise.chunk(document, **spanwise.plan("free"))
for outcome in spanwise.chunk_files(["a", document], "sentence", jobs=2, max_chars=100):
    value: bytes | None = outcome.value
spanwise.chunk_files("a", ByLines(), lines=3)
report = spanwise.index("docs", "x.db", strategy="hierarchical", parent_tokens=900, embedder=LetterEmbedder(""))
spanwise.index("docs", PickledStore("pickled://x"), strategy=ByLines(), embedder=None, progress=print)
spanwise.search("a", "x.db", reranker=ShortestReranker(""), reranker_timeout=2)
print(report.added, chunks[0].metadata.title, document.metadata.title)
"""

WRONG = """
import spanwise

document = spanwise.read_text("a")
spanwise.chunk(document, "struktur")
spanwise.chunk(document, "structure", max_token=100)
spanwise.chunk(document, "structure", max_tokens="100")
spanwise.chunk(document, max_tokens=1.5)
spanwise.chunk(document, "structure", overlap_ratio=0.2)
spanwise.chunk(document, "structure", template="tag")
spanwise.chunk(document, "fixed", proposer=lambda window: [1])
spanwise.chunk(document, "by-lines")
spanwise.chunk(document, object())
spanwise.chunk(document, tokenizer=3)
spanwise.chunk(document, offsets=("utf-8",))
spanwise.chunk_files("a", texts="cor")
spanwise.chunk_files("a", "fixed", mix_code=True)
spanwise.index("a", "x.db", strategy="fixed", window_tokens=3)
spanwise.index("a", "x.db", embedder=3)
spanwise.chunk(document)[0].metadata["title"]
spanwise.search("a", "x.db", reranker=3)
"""


def checked(text: str, folder: Path) -> list[tuple[int, str]]:
    """Return the lines in which mypy finds an error, and the errors."""
    (folder / "sample.py").write_text(text, encoding="utf-8")
    places = os.pathsep.join(
        [str(Path(spanwise.__file__).parent.parent), str(ROOT / "tests" / "data" / "plugin_package")]
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--no-error-summary",
         "--cache-dir", folder.parent / "mypy", "sample.py"],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"MYPYPATH": places}, check=False,
    )  # fmt: skip
    found = re.findall(r"^sample\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return [(int(line), message) for line, message in found]


@pytest.mark.slow
@pytest.mark.process
def test_right_options_are_accepted(tmp_path: Path) -> None:
    assert checked(RIGHT, tmp_path) == []


@pytest.mark.slow
@pytest.mark.process
def test_wrong_options_are_refused(tmp_path: Path) -> None:
    calls = [
        number for number, line in enumerate(WRONG.splitlines(), 1) if "spanwise." in line and "document =" not in line
    ]
    assert {line for line, _ in checked(WRONG, tmp_path)} == set(calls)


@pytest.mark.slow
@pytest.mark.process
def test_the_examples_of_the_docs_are_typed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    examples = [one for block in blocks for one in doctest.DocTestParser().get_examples(block)]
    text = "".join(one.source for one in examples if not one.exc_msg)
    assert text.count("class ") >= 6
    assert checked(text, tmp_path) == []


def test_signatures_are_up_to_date() -> None:
    now = runpy.run_path(str(GENERATOR))["module_now"]()
    assert MODULE.read_text(encoding="utf-8") == now, "python docs/generate_signatures.py writes it anew"


def test_the_names_that_are_typed_are_those_that_are_known() -> None:
    assert get_args(Measure) == (*MEASURES,)
    assert get_args(Texts) == (*TEXTS, ALL_TEXTS)


def test_help_names_the_options() -> None:
    for function in (spanwise.chunk, spanwise.chunk_files, spanwise.index):
        text = str(function.__doc__)
        assert "structure: max_tokens=900, template='path', embed='plain'" in text
        assert "smart: max_tokens=900" in text
        assert "window_tokens=2000" in text
