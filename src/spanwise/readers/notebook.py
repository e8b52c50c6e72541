"""The reader of Jupyter notebooks: Markdown cells as Markdown, code cells and outputs that are text as code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from spanwise.documents.document import LeftOut, SourceRef
from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.joining import JoinedResults, Refer, code_result, markdown_result

_DAMAGED: Final = "it is damaged, cut off, or no notebook; open it in Jupyter and save it again"
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_PLACEHOLDER: Final = re.compile(r"\s*<[^<>]*>\s*")
_TEXTS: Final = ("text/plain", "text/markdown", "text/latex")
_OLD_TYPES: Final = {"text": "text/plain", "markdown": "text/markdown", "latex": "text/latex"}
"""The names of types in outputs of notebooks before version 4; all others are no text."""
_NOT_OLD: Final = frozenset({"output_type", "metadata", "prompt_number", "stream"})


def read_notebook(data: bytes, name: str) -> ReadResult:
    """Read a notebook of version 3 or 4; raise UnreadableError if it isn't one."""
    text, guessed = decoded(data, name)
    notebook = _loaded(text, name)
    cells = _cells_of(notebook, name)
    language = _language_of(notebook)
    joined = JoinedResults()
    joined.left_out += guessed
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict):
            _add_cell(joined, cell, number, language)
    return joined.result(_metadata_of(notebook, joined))


def _loaded(text: str, name: str) -> Mapping[str, Any]:
    try:
        notebook = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        why = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "its nesting"
        raise UnreadableError(name, f"is no notebook: it is not JSON ({why})", hint=_DAMAGED) from error
    if not isinstance(notebook, dict):
        raise UnreadableError(name, "is no notebook: it is JSON without cells", hint=_DAMAGED)
    return notebook


def _cells_of(notebook: Mapping[str, Any], name: str) -> list[Any]:
    """Return the cells; before version 4 they were in worksheets."""
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets := notebook.get("worksheets"), list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for some in lists if isinstance(some, list) for cell in some]
    if cells is None and isinstance(notebook.get("nbformat"), int):
        return []
    if not isinstance(cells, list):
        raise UnreadableError(name, "is no notebook: it is JSON without cells", hint=_DAMAGED)
    return cells


def _language_of(notebook: Mapping[str, Any]) -> str:
    known = _mapping(notebook, "metadata")
    found = (
        _mapping(known, "language_info").get("name"),
        _mapping(known, "kernelspec").get("language"),
        known.get("language"),
        "python" if _mapping(known, "kernelspec").get("name") in {"python2", "python3"} else None,
    )
    return next((name.lower() for name in found if isinstance(name, str) and name), "")


def _metadata_of(notebook: Mapping[str, Any], joined: JoinedResults) -> dict[str, Any]:
    known, found = _mapping(notebook, "metadata"), dict[str, Any]()
    if title := _line(known.get("title")) or joined.first_title:
        found["title"] = title
    authors = known.get("authors")
    people = authors if isinstance(authors, list) else []
    names = [_line(one.get("name") if isinstance(one, dict) else one) for one in people]
    if any(names):
        found["author"] = ", ".join(filter(None, names))
    if language := _line(_language_of(notebook)):
        found["extra"] = {"language": language}
    return found


def _add_cell(joined: JoinedResults, cell: Mapping[str, Any], number: int, language: str) -> None:
    """Add what a cell holds; cells of an unknown type are left out."""
    kind, refer = cell.get("cell_type"), _within({"cell": number})
    source = _text(cell.get("source", cell.get("input")))
    if kind == "code":
        own = cell.get("language")
        joined.add(code_result(source, own if isinstance(own, str) else language), refer)
        outputs = cell.get("outputs")
        for index, output in enumerate(outputs if isinstance(outputs, list) else (), 1):
            if isinstance(output, dict):
                _add_output(joined, output, {"cell": number, "output": index})
    elif kind == "markdown":
        joined.add(markdown_result(source), refer)
    elif kind == "heading":
        level = cell.get("level")
        joined.heading(source, {"cell": number}, level=level if level in {1, 2, 3, 4, 5, 6} else 1)
    elif kind == "html":
        joined.add(markdown_result(source), refer)
    elif source.strip():
        joined.add(code_result(source, ""), refer)


def _add_output(joined: JoinedResults, output: Mapping[str, Any], place: SourceRef) -> None:
    """Add an output that is text; pictures, widgets and the like are left out."""
    kind = output.get("output_type")
    refer = _within(place)
    if kind == "stream":
        joined.add(code_result(_printed(output.get("text")), ""), refer)
    elif kind in {"error", "pyerr"}:
        lines = output.get("traceback")
        trace = "\n".join(map(_text, lines)) if isinstance(lines, list) else ""
        joined.add(code_result(_printed(trace or f"{output.get('ename')}: {output.get('evalue')}"), ""), refer)
    else:
        types = _types_of(output)
        others = [name for name in types if name not in _TEXTS]
        shown = next((text for name in _TEXTS if (text := _printed(types.get(name))).strip()), "")
        if others and (not shown.strip() or _PLACEHOLDER.fullmatch(shown)):
            joined.left_out.append(LeftOut("output that is no text", ", ".join(others)[:200], place, usual=True))
        else:
            joined.add(code_result(shown, ""), refer)


def _types_of(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the representations of an output by type; before version 4 they were fields of the output."""
    if isinstance(data := output.get("data"), dict):
        return data
    return {_OLD_TYPES.get(name, name): value for name, value in output.items() if name not in _NOT_OLD}


def _within(place: SourceRef) -> Refer:
    return lambda _: place


def _printed(value: Any) -> str:
    """Return what a terminal shows: no colours, and of a line that was written over, the last state."""
    text = value if isinstance(value, str) else _joined(value)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(map(_last_state, text.replace("\r\n", "\n").split("\n")))
    return cleaned(text)[0]


def _last_state(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


def _text(value: Any) -> str:
    return cleaned(_joined(value))[0]


def _joined(value: Any) -> str:
    """Return a text that may be stored as a list of lines."""
    if isinstance(value, list):
        return "".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""


def _line(value: Any) -> str:
    """Return a text in one line."""
    return " ".join(_text(value).split())


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Iterable[Any] | None = values.get(name)
    return found if isinstance(found, dict) else {}
