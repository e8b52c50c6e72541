"""The docs can't lie: their examples run, and their tables are compared with what is declared."""

from __future__ import annotations

import doctest
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from spanwise.chunking.pieces import ROLES
from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import KINDS
from spanwise.options import TEMPLATES
from spanwise.readers import EXTENSIONS, FORMATS
from spanwise.records.record import FIELDS
from spanwise.retrieval.hits import PARTS, Hit
from spanwise.retrieval.request import SearchOptions
from spanwise.text.tokens import TOKENIZERS

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def said(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def examples_alone(text: str) -> str:
    """Blank everything but the examples, so that an error names the page's own line."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = line == "```python" or (inside and line != "```")
        kept.append(line if inside and line != "```python" else "")
    return "\n".join(kept) + "\n"


def table(page: str, column: str) -> list[list[str]]:
    """Give the rows of the table whose first column has this name, cells without their backticks."""
    lines = said(DOCS / page).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {column} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def names(page: str, column: str) -> list[str]:
    return [row[0].strip("`") for row in table(page, column)]


def shown_default(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else str(value)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_examples_run(page: Path) -> None:
    """All examples of a page are one session."""
    session = doctest.DocTestParser().get_doctest(examples_alone(said(page)), {}, page.stem, str(page), 0)
    failures: list[str] = []
    doctest.DocTestRunner(verbose=False).run(session, out=failures.append)
    assert session.examples, "a page without an example"
    assert not failures, "".join(failures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in LINK.findall(EXAMPLE.sub("", said(page))) if not (page.parent / link).exists()] == []


def test_every_strategy_has_its_page() -> None:
    assert {page.stem for page in (DOCS / "strategies").glob("*.md")} == set(STRATEGIES)


@pytest.mark.parametrize("name", STRATEGIES)
def test_options_are_those_declared(name: str) -> None:
    declared = [
        [f"`{option.name}`", shown_default(option.default), option.metadata["help"]]
        for option in fields(STRATEGIES[name].options)
    ]
    assert table(f"strategies/{name}.md", "option") == declared


def test_fields_are_those_of_the_record() -> None:
    assert names("chunk.md", "field") == list(FIELDS)


def test_roles_kinds_and_templates_are_complete() -> None:
    assert set(names("chunk.md", "role")) == ROLES
    assert set(names("reading.md", "kind")) == KINDS
    assert set(names("chunk.md", "template")) == set(TEMPLATES)


def test_tokenizers_are_complete() -> None:
    assert set(TOKENIZERS) <= set(names("chunk.md", "tokenizer"))


def test_formats_and_extensions_are_complete() -> None:
    page = said(DOCS / "reading.md")
    assert all(f"`{extension}`" in page for extension in EXTENSIONS if extension)
    assert all(f'`"{name}"`' in page for name in FORMATS)


def test_the_fields_of_a_hit_are_complete() -> None:
    assert names("search.md", "field") == [item.name for item in fields(Hit)]
    assert names("search.md", "part") == list(PARTS)


def test_the_options_of_search_are_complete() -> None:
    assert set(names("search.md", "in Python")) == {"tenant", *SearchOptions.__annotations__}


def test_snippets_for_other_stores_are_python() -> None:
    snippets = re.findall(r"^```python-snippet\n(.*?)^```$", said(DOCS / "howto/your-own-vector-store.md"), re.M | re.S)
    assert len(snippets) >= 4
    for snippet in snippets:
        compile(snippet, "snippet", "exec")
