"""The docs: their examples run, and their tables match the declarations."""

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
ROOT = DOCS.parent
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"]
WITHOUT_EXAMPLES = [*sorted((DOCS / "decisions").glob("*.md")), DOCS / "glossary.md"]
SOURCES = ROOT / "src" / "spanwise"
MODULE = re.compile(r"`([a-z_]+(?:/[a-z_]+)+)`")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def examples_alone(text: str) -> str:
    """Return a page with all but the examples blanked, so that errors have the page's line numbers."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = line == "```python" or (inside and line != "```")
        kept.append(line if inside and line != "```python" else "")
    return "\n".join(kept) + "\n"


def table(page: str, column: str) -> list[list[str]]:
    """Return the rows of the table whose first column has this name, without backticks."""
    lines = read(DOCS / page).splitlines()
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


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WITHOUT_EXAMPLES], ids=name_of)
def test_examples_run(page: Path) -> None:
    """All examples of a page are one session."""
    session = doctest.DocTestParser().get_doctest(examples_alone(read(page)), {}, page.stem, str(page), 0)
    failures: list[str] = []
    doctest.DocTestRunner(verbose=False).run(session, out=failures.append)
    assert session.examples, "a page without an example"
    assert not failures, "".join(failures)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in LINK.findall(EXAMPLE.sub("", read(page))) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *WITHOUT_EXAMPLES], ids=name_of)
def test_modules_that_are_named_exist(page: Path) -> None:
    named = MODULE.findall(EXAMPLE.sub("", read(page)))
    assert [name for name in named if not any(SOURCES.glob(f"{name}*")) and not (ROOT / name).exists()] == []


def test_the_map_shows_every_package() -> None:
    block = read(ROOT / "ARCHITECTURE.md").split("```")[1]
    shown = set(re.findall(r"^    ([a-z_]+)(?:/|\.py)", block, re.MULTILINE))
    there = {path.stem for path in SOURCES.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert shown == there - {"__main__"}


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
    page = read(DOCS / "reading.md")
    assert all(f"`{extension}`" in page for extension in EXTENSIONS if extension)
    assert all(f'`"{name}"`' in page for name in FORMATS)


def test_the_fields_of_a_hit_are_complete() -> None:
    assert names("search.md", "field") == [item.name for item in fields(Hit)]
    assert names("search.md", "part") == list(PARTS)


def test_the_options_of_search_are_complete() -> None:
    assert set(names("search.md", "in Python")) == {"tenant", "dialect", *SearchOptions.__annotations__}


def test_snippets_for_other_stores_are_python() -> None:
    snippets = re.findall(r"^```python-snippet\n(.*?)^```$", read(DOCS / "howto/your-own-vector-store.md"), re.M | re.S)
    assert len(snippets) >= 4
    for snippet in snippets:
        compile(snippet, "snippet", "exec")
