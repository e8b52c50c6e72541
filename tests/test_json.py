"""JSON and JSON Lines: blocks, pointers and paths; what is refused; and `simple` as their default strategy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import Document, OptionError, UnreadableError
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.documents.document import Block, Part
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

SETTINGS = {
    "name": "demo",
    "server": {"host": "a.example", "ports": list(range(100)), "a/b~c": {"note": "x" * 210}},
    "users": [{"id": number, "mail": f"user{number}@example.org"} for number in range(40)],
    "text": "A sentence that goes on. " * 100,
}


def read(value: Any, **shape: Any) -> Document:
    return spanwise.read_text(json.dumps(value, **shape), format="json")


def pointers(document: Document) -> list[str]:
    return [str((block.source_ref or {})["pointer"]) for block in document.blocks]


@pytest.mark.parametrize("indent", [None, 2])
def test_keys_are_the_headings_path(indent: int | None) -> None:
    document = read(SETTINGS, indent=indent)
    assert document.text == json.dumps(SETTINGS, indent=indent)
    assert {block.kind for block in document.blocks} == {"code"}
    assert [
        (pointer, block.headings_path) for pointer, block in zip(pointers(document), document.blocks, strict=True)
    ] == [
        ("", ()),
        ("/server", ("server",)),
        ("/server/ports", ("server", "ports")),
        ("/server/a~1b~0c", ("server", "a/b~c")),
        ("/users", ("users",)),
        ("/text", ("text",)),
    ]
    users = document.blocks[4]
    assert [part.source_ref for part in users.parts] == [{"pointer": f"/users/{number}"} for number in range(40)]
    assert json.loads(document.text[users.parts[7].start : users.parts[7].end].rstrip(", ")) == SETTINGS["users"][7]  # type: ignore[index]


def test_records_of_an_array_stay_whole() -> None:
    records = [{"id": number, "inner": {"text": "word " * 60}, "list": ["x" * 100] * 3} for number in range(5)]
    document = read(records)
    assert pointers(document) == [""]
    assert len(document.blocks[0].parts) == 5
    long = [{"id": 1, "inner": {"text": "word " * 600}}, *records]
    assert pointers(read(long)) == ["/0", "/0/inner/text", ""]


def test_structure_cuts_between_members() -> None:
    chunks = spanwise.chunk(read(SETTINGS), "structure", max_tokens=100)
    users = [chunk for chunk in chunks if chunk.headings_path == ("users",)]
    assert len(users) > 5
    assert all(chunk.normalized_text.rstrip(" ,]").endswith("}") for chunk in users)
    nested = read({"rows": [{"a": {"b": [[1, 2, 3], [4, 5, 6]] * 8, "c": "d" * 30}} for _ in range(3)]})
    for chunk in spanwise.chunk(nested, "structure", max_tokens=40):
        assert chunk.normalized_text[-1] in ",}]"


def test_json_lines() -> None:
    text = '{"a": 1}\n\n  {"a": [2, 3]}\r\n"four"\n'
    document = spanwise.read_text(text, format="jsonl")
    assert document.text == text.replace("\r\n", "\n")
    (block,) = document.blocks
    assert [part.source_ref for part in block.parts] == [{"pointer": f"/{line}"} for line in (0, 2, 3)]
    assert [document.text[part.start : part.end] for part in block.parts] == ['{"a": 1}', '{"a": [2, 3]}', '"four"']
    long = "\n".join(json.dumps({"id": number, "text": "word " * 500}) for number in range(3))
    assert pointers(spanwise.read_text(long, format="jsonl"))[:3] == ["/0", "/0/text", "/1"]
    assert spanwise.read_text("", format="jsonl").blocks == ()


BROKEN = {
    "": (1, 1), "{": (1, 2), "[1,]": (1, 4), '{"a":1,}': (1, 8), "[1 2]": (1, 4), '{"a" 1}': (1, 2), "{a:1}": (1, 2),
    "['a']": (1, 2), "[1] 2": (1, 5), '{"a":\n [1,\n  tru]}': (3, 3), '["a\nb"]': (1, 2), "[,1]": (1, 2), "01": (1, 2),
    '"ab': (1, 1), "{,}": (1, 2), "// x\n{}": (1, 1), "[1}": (1, 3), '{"a":1]': (1, 7), '["\\x"]': (1, 2), "[}": (1, 2),
    "[" * 300 + "1 2": (1, 303), '{"a":}': (1, 6), "[1" + ", 1" * 300 + " x]": (1, 904),
}  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_broken_json_is_refused_with_its_place(text: str) -> None:
    line, column = BROKEN[text]
    with pytest.raises(UnreadableError, match=f"is not JSON: line {line}, column {column} "):
        spanwise.read_text(text, format="json")


def test_the_error_names_the_file_and_the_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": }\n', encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"x\.jsonl` is not JSON: line 2, column 7"):
        spanwise.read(tmp_path / "x.jsonl")


@pytest.mark.parametrize(
    "text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000]
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="nested deeper than 1,000 levels"):
        spanwise.read_text(text, format="json")
    assert spanwise.read_text("[" * 999 + "]" * 999, format="json").blocks


def test_what_python_writes_is_read() -> None:
    text = '\ufeff{"a": NaN, "a": -Infinity, "\\ud800é": "\\u00e9", "a": [1e5, -0.5E-3, true, null]}'
    document = spanwise.read_text(text, format="json")
    assert document.text == text[1:]
    assert [part.source_ref for part in document.blocks[0].parts] == [
        {"pointer": "/a"}, {"pointer": "/a"}, {"pointer": "/\ufffdé"}, {"pointer": "/a"},
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "x.json").write_bytes('{"ключ": "źdźbło 漢字"}'.encode(encoding))
    assert spanwise.read(tmp_path / "x.json").text == '{"ключ": "źdźbło 漢字"}'


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.text(max_size=5).map(lambda one: one * 90),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=9),
    max_leaves=60,
)


def _tokens(pointer: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


@given(VALUES, st.sampled_from((None, 1)), st.booleans())
@settings(max_examples=150)
def test_any_value_is_read(value: Any, indent: int | None, escaped: bool) -> None:
    document = read(value, indent=indent, ensure_ascii=escaped)
    for block in document.blocks:
        named: list[Block | Part] = [block, *block.parts]
        for one in named:
            found = value
            for token in _tokens((one.source_ref or {})["pointer"]):
                found = found[int(token) if isinstance(found, list) else token]
            if one is not block and "\ufffd" not in str(one.source_ref):
                written = document.text[one.start : one.end]
                assert json.dumps(found, indent=None, ensure_ascii=escaped)[:1] in written


@given(st.text(alphabet='{}[]:,"\\ \n1e-.0tfn', max_size=60))
def test_what_is_refused_is_what_python_refuses(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(UnreadableError, match="is not JSON"):
            spanwise.read_text(text, format="json")
    else:
        assert spanwise.read_text(text, format="json").text == text


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "smart"])
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_json(strategy: str, limit: int) -> None:
    for indent in (None, 2):
        document = read(
            {**SETTINGS, "emoji": "👩‍👩‍👧" * 90, "deep": [[[["x" * 50] * 9]]]}, indent=indent, ensure_ascii=False
        )
        records = [one.to_dict() for one in spanwise.chunk(document, STRATEGIES[strategy], max_tokens=limit)]
        parents = 2000 if strategy == "hierarchical" else None
        assert broken_laws(document, records, tokenizer_of("cl100k"), limit, parents) == []


def test_reading_is_linear() -> None:
    assert_linear(lambda size: read([{"id": number, "x": ["a" * 90] * 3} for number in range(size)]), 60)
    assert_linear(lambda size: read({f"key{number}": ["b" * 70] * 4 for number in range(size)}), 60)
    assert_linear(lambda size: spanwise.read_text('{"a":1}\n' * size, format="jsonl"), 100)


# ── the default strategy ─────────────────────────────────────────────────────────────────────────────────────────


def test_simple_is_the_default_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (folder / "b.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    (folder / "c.md").write_text("# Title\n\nText.\n", encoding="utf-8")
    expected = {"a.json": "simple", "b.jsonl": "simple", "c.md": "structure"}
    assert {name: spanwise.chunk(folder / name)[0].strategy for name in expected} == expected
    lines = [json.loads(line) for one in spanwise.chunk_files(folder) for line in (one.value or b"").splitlines()]
    assert {Path(one["metadata"]["file_path"]).name: one["strategy"] for one in lines} == expected
    assert main(["chunk", "data", "-o", "out.jsonl", "-q"]) == 0
    records = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {Path(one["metadata"]["file_path"]).name: one["strategy"] for one in records} == expected
    assert main(["check", "out.jsonl", "--source", "data"]) == 0
    report = spanwise.index(folder, tmp_path / "s.db", embedder=None)
    assert report.failed == 0
    assert report.chunks == len(records)
    assert spanwise.index(folder, tmp_path / "s.db", embedder=None).unchanged == 3
    assert spanwise.index(folder, tmp_path / "s.db", embedder=None, strategy="structure").unchanged == 1


def test_options_without_a_strategy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    Path("c.md").write_text("# Title\n\nText.\n", encoding="utf-8")
    document, options = spanwise.read("a.json"), cast("dict[str, Any]", {"max_chars": 300})
    assert max(len(one.normalized_text) for one in spanwise.chunk(document, **options)) <= 300
    with pytest.raises(OptionError, match="target_tokens"):
        spanwise.chunk(document, target_tokens=300)
    with pytest.raises(OptionError, match="max_chars"):
        spanwise.chunk(spanwise.read("c.md"), **options)
    assert main(["chunk", "a.json", "--max-chars", "300", "-o", "x.jsonl", "-q"]) == 0
    sizes = [len(json.loads(line)["normalized_text"]) for line in Path("x.jsonl").read_text("utf-8").splitlines()]
    assert max(sizes) <= 300
    assert main(["chunk", "a.json", "c.md", "--target-tokens", "300", "-o", "y.jsonl", "-q"]) == 0
    assert main(["chunk", "c.md", "--max-chars", "300", "-q"]) == 2
    assert "max_chars" in capsys.readouterr().err
    assert main(["inspect", "a.json", "--html", "z.html", "-q"]) == 0
