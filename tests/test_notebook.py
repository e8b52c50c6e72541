"""Jupyter notebooks: cells and outputs, what each refers to, old versions, and what is no notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanwise
from growth import assert_linear
from reading_checks import ALL_STRATEGIES, assert_damage_is_an_error, assert_laws, read
from spanwise import Document, UnreadableError


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str | list[str], *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def printed(text: str | list[str]) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data: Any) -> dict[str, Any]:
    types = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "execute_result", "data": types, "metadata": {}, "execution_count": 1}


def notebook(*cells: dict[str, Any], language: str = "python", **metadata: Any) -> bytes:
    known = {"language_info": {"name": language}, **metadata}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": known, "cells": cells}).encode()


def outline(document: Document) -> list[tuple[str, tuple[str, ...], Any]]:
    return [(block.kind, block.headings_path, block.source_ref) for block in document.blocks]


def test_cells_and_outputs_in_order() -> None:
    document = read(
        notebook(
            markdown(["# Sales\n", "\n", "Per *month*: [here](https://example.org)."]),
            code(["total = 3\n", "total\n"], printed("read\n"), shown(text_plain="3")),
            markdown("## Next\n\n- one\n- two"),
            code("plot()"),
        ),
        "ipynb",
    )
    assert document.text == (
        "# Sales\n\nPer *month*: [here](https://example.org).\n\n```python\ntotal = 3\ntotal\n```\n\n```\nread\n```\n\n"
        "```\n3\n```\n\n## Next\n\n- one\n- two\n\n```python\nplot()\n```"
    )
    top, below = ("Sales",), ("Sales", "Next")
    assert outline(document) == [
        ("heading", top, {"cell": 1}), ("paragraph", top, {"cell": 1}), ("code", top, {"cell": 2}),
        ("code", top, {"cell": 2, "output": 1}), ("code", top, {"cell": 2, "output": 2}),
        ("heading", below, {"cell": 3}), ("list", below, {"cell": 3}), ("code", below, {"cell": 4}),
    ]  # fmt: skip
    items = document.blocks[6].parts
    assert [document.text[item.start : item.end].strip() for item in items] == ["- one", "- two"]
    assert {str(item.source_ref) for item in items} == {"{'cell': 3}"}
    assert document.metadata.links[0].target == "https://example.org"
    assert document.text[document.link_starts[0] :].startswith("[here]")


def test_what_a_terminal_shows_of_an_output() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["\x1b[0;31mE\x1b[0m", "  no"]}
    bare = {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": []}
    document = read(notebook(code("", printed(["10%\r50%\r100%\r\n", "done"]), error, bare)), "ipynb")
    assert document.text == "```\n100%\ndone\n```\n\n```\nE\n  no\n```\n\n```\nKeyError: 'a'\n```"


def test_outputs_that_are_no_text_are_left_out_and_listed() -> None:
    picture = shown(image_png="iVBO", text_plain="<Figure size 640x480 with 1 Axes>")
    table = shown(text_html="<table></table>", text_plain="   a\n0  1")
    document = read(notebook(code("x", picture, table, shown(application_json={"a": 1}))), "ipynb")
    assert document.text == "```python\nx\n```\n\n```\n   a\n0  1\n```"
    assert [(item.text, item.source_ref) for item in document.left_out] == [
        ("image/png", {"cell": 1, "output": 1}), ("application/json", {"cell": 1, "output": 3}),
    ]  # fmt: skip


def test_a_cell_never_reaches_into_the_next() -> None:
    document = read(
        notebook(markdown("~~~~ text\nnever closed"), markdown("# A"), markdown("---\nb: 1\n---\n\nc")), "ipynb"
    )
    assert document.text == "~~~~ text\nnever closed\n~~~~\n\n# A\n\nc"
    assert [block.kind for block in document.blocks] == ["code", "heading", "paragraph"]


def test_a_fence_that_is_closed_stays_as_it_is() -> None:
    for source in ("```\na\n```", "    indented", "````\n```\n````", "~~~\na\n~~~~~"):
        assert read(notebook(markdown(source)), "ipynb").text == source


def test_metadata() -> None:
    found = read(notebook(markdown("# A"), title="B", authors=[{"name": "Ann"}, {"name": "Bob"}]), "ipynb").metadata
    assert (found.title, found.author, found.extra["language"]) == ("B", "Ann, Bob", "python")
    assert read(notebook(markdown("text"), markdown("# A")), "ipynb").metadata.title == "A"
    julia = json.dumps({"metadata": {"kernelspec": {"language": "Julia"}}, "cells": [code("x = 1")]}).encode()
    assert read(julia, "ipynb").text == "```julia\nx = 1\n```"


def test_version_3() -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "heading", "level": 2, "source": ["Old *one*"]},
        {"cell_type": "code", "language": "python", "input": ["a = 1\n", "a"], "outputs": [
            {"output_type": "stream", "stream": "stdout", "text": ["hello\n"]},
            {"output_type": "pyout", "prompt_number": 1, "text": ["1"]},
            {"output_type": "display_data", "png": "iVBO"},
            {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["E: v"]},
        ]},
        {"cell_type": "raw", "source": "as it is"},
    ]  # fmt: skip
    document = read(
        json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {"name": ""}}).encode(), "ipynb"
    )
    assert document.text == (
        "## Old \\*one\\*\n\n```python\na = 1\na\n```\n\n```\nhello\n```\n\n"
        "```\n1\n```\n\n```\nE: v\n```\n\n```\nas it is\n```"
    )
    assert document.blocks[0].headings_path == ("Old *one*",)
    assert [item.text for item in document.left_out] == ["png"]


def test_an_empty_notebook_is_one() -> None:
    assert read(b'{"nbformat": 3, "metadata": {}}', "ipynb").text == ""
    assert read(b'{"nbformat": 3, "worksheets": [{}]}', "ipynb").text == ""


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"cells": 3}', b'{"a": 1}', b"\x00\x01\x02", b"[" * 200_000, b'{"cells": [' * 100_000]
)
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        read(data, "ipynb")


def test_odd_values_are_passed_over() -> None:
    cells: list[Any] = [
        3, None, {}, {"cell_type": "code", "source": 7, "outputs": 3}, {"cell_type": "code", "outputs": [1, {}]},
        {"cell_type": "markdown", "source": ["a", 5, "b"]}, {"cell_type": "heading", "level": 99, "source": "h"},
        {"cell_type": "code", "source": "nul \x00 \ud800", "outputs": [{"output_type": "error"}]},
    ]  # fmt: skip
    data = json.dumps({"cells": cells, "metadata": {"language_info": 3, "authors": 4, "title": []}}).encode()
    assert read(data, "ipynb").text == "ab\n\n# h\n\n```\nnul \ufffd \ufffd\n```\n\n```\nNone: None\n```"


def test_notebooks_in_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook(markdown("# Tea\n\nBoil water.")))
    document = spanwise.read(tmp_path / "a.ipynb")
    assert (document.metadata.source_type, document.metadata.title) == ("ipynb", "Tea")
    outcomes = list(spanwise.chunk_files(tmp_path))
    assert [outcome.error for outcome in outcomes] == [None]
    assert outcomes[0].value
    assert b"Boil water" in outcomes[0].value


def _large(count: int) -> bytes:
    return notebook(
        *[markdown(f"## Part {at}\n\ntext *a*\n\n- x\n- y") for at in range(count)], code("x", printed("1\n" * count))
    )


def test_the_work_is_linear() -> None:
    files = {count: _large(count) for count in (100, 400)}
    assert_linear(lambda count: read(files[count], "ipynb"), 100)


def test_damaged_notebooks_are_errors() -> None:
    assert_damage_is_an_error(_large(10), "ipynb", 60)


@pytest.mark.parametrize("strategy", ALL_STRATEGIES)
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_notebooks(strategy: str, limit: int) -> None:
    long = "A sentence that goes on and on. " * 20
    cells = [
        markdown(f"# Title\n\n{long}\n\n| a | b |\n|---|---|\n| 1 | {long} |"),
        code("x = 1\n" * 30, printed("1 2 3\n" * 40)),
        markdown("## Sub\n\n> quote\n\n[a]: https://example.org\n\n- one\n  - two"), markdown("```\nopen *code*"),
        code("```\nfence\n```", shown(text_plain="~~~ *x*")), markdown("<div>\n\n# In\n\n#\n\ntext"),
    ]  # fmt: skip
    assert_laws(read(notebook(*cells), "ipynb"), strategy, limit)
