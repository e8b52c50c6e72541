"""Laws for any document of Word and any presentation: nothing is lost, Markdown reads back, damage is one error."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, unescape
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from made_office import Relations, ap, docx, field, frame, item, p, part, picture, pptx, run, slide_table, sp, table
from made_zips import zip_of
from proposing import offline
from spanwise import Document
from spanwise.chunking.strategies import STRATEGIES
from spanwise.errors import UnreadableError
from spanwise.readers import read_bytes
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

LIMIT = 60
WORDS = st.text(alphabet="ab żó中 *_[]()#-|`<&\n1.>~!\\:+=", max_size=12)
MARKS = st.sampled_from(["", "<w:b/>", "<w:i/>", "<w:b/><w:i/>", "<w:strike/>", '<w:rStyle w:val="VerbatimChar"/>'])
RUNS = st.builds(lambda text, marks: run(escape(text), marks), WORDS, MARKS)
LINKED = RUNS.map(lambda content: f'<w:hyperlink r:id="rL">{content}</w:hyperlink>')
BREAKS = st.sampled_from(["<w:r><w:br/></w:r>", "<w:r><w:tab/></w:r>", '<w:r><w:br w:type="page"/></w:r>'])
CONTENT = st.lists(st.one_of(RUNS, RUNS, LINKED, BREAKS), max_size=5).map("".join)
STYLE = st.sampled_from(
    ["", "", "Tytu", "Nagwek1", "Moj", "SourceCode", "Zitat", "Beschriftung", "Numbered", "Numbered2"]
)
PARAGRAPHS = st.builds(lambda content, style: p(f"<w:r/>{content}", style), CONTENT, STYLE)
ITEMS = st.builds(
    lambda content, number, depth: p(
        f"<w:r/>{content}", properties=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    ),
    CONTENT,
    st.integers(1, 5),
    st.integers(0, 2),
)
PICTURES = st.just(f"<w:p>{picture('rP', 'd &lt;k&gt;')}</w:p>")
BLOCKS = st.recursive(
    st.one_of(PARAGRAPHS, ITEMS, PICTURES),
    lambda inner: st.lists(st.lists(inner.map(lambda one: f"<w:p/>{one}"), min_size=1, max_size=3), max_size=3).map(
        lambda rows: table(*rows)
    ),
    max_leaves=8,
)
BODIES = st.lists(BLOCKS, max_size=6).map("".join)
RELATED: Relations = [("rL", "hyperlink", "https://example.org/", "External"), ("rP", "image", "media/1.png")]


def read(data: bytes, format: str = "docx") -> Document:
    document = read_bytes(data, f"made.{format}", format, {})
    assert_document(document)
    return document


def letters(text: str) -> str:
    return "".join(re.findall(r"[ab żó中]", text)).replace(" ", "")


@given(BODIES)
def test_no_letter_of_any_document_is_lost(body: str) -> None:
    document = read(docx(body, related=RELATED))
    runs = letters(unescape("".join(re.findall(r"<w:t [^>]*>([^<]*)</w:t>", body))))
    shown = re.sub(r"</?fig\w+>|<img [^>]*>|<br>|\(https://example\.org/\)", "", document.text)
    labels = re.sub(r"^((?:[|>-]|\s|\d+[.)]|#+ )*)\([ab]\) ", r"\1", shown, flags=re.MULTILINE)
    assert sorted(letters(unescape(labels))) == sorted(runs) or "(a)" in shown or "(b)" in shown


@given(BODIES)
def test_markdown_of_any_document_reads_the_same(body: str) -> None:
    document = read(docx(body, related=RELATED))
    again = spanwise.read_text(document.text)
    assert [(block.kind, block.start, block.end, block.level) for block in again.blocks] == [
        (block.kind, block.start, block.end, block.level) for block in document.blocks
    ]


@given(BODIES)
def test_every_block_and_part_has_its_paragraph(body: str) -> None:
    document = read(docx(body, related=RELATED))
    waiting: list[Any] = list(document.blocks)
    while waiting:
        one = waiting.pop()
        assert 1 <= one.source_ref["paragraph"] <= body.count("<w:p>") + body.count("<w:p/>")
        waiting += one.parts


# ── chunks ───────────────────────────────────────────────────────────────────────────────────────────────────────

LONG = "Ducks swim in the lake every day. They like clean water, and they don't like noise. " * 6
HEAD = '<w:tblLook w:firstRow="1"/>'
LINES = "".join(p(f"line_{n}(x)  # {'y' * n}", "SourceCode") for n in range(30))
REPORT = docx(
    p("Report", "Tytu") + p("One", "Nagwek1") + p(LONG)
    + "".join(item(f"Item {n}. {LONG[:90]}", 2, n % 3) for n in range(20)) + p("Two", "Nagwek2")
    + table(["a", "b", "c"], *[[f"{n}", LONG[: n * 9], "鴨"] for n in range(25)], properties=HEAD) + LINES
    + p(LONG, "Zitat")
    + f"<w:p>{run(LONG)}<w:r><w:footnoteReference w:id='1'/></w:r>{picture('rP', 'A duck')}</w:p>",
    {"word/footnotes.xml": part("footnotes", f"<w:footnote w:id='1'>{p(LONG)}</w:footnote>")},
    [("f", "footnotes", "footnotes.xml"), *RELATED],
)  # fmt: skip
SLIDES = pptx(
    [
        sp("One", "title") + sp("".join(ap(f"{LONG[:80]} {n}", n % 2) for n in range(12)), key="1"),
        sp(LONG),
        sp("Two", "title") + frame(slide_table(*[[f"{n}", LONG[: n * 7]] for n in range(15)])),
    ]
)


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize(("data", "format"), [(REPORT, "docx"), (SLIDES, "pptx")], ids=["docx", "pptx"])
def test_the_laws_hold_under_every_strategy(strategy: Any, data: bytes, format: str) -> None:
    document = read(data, format)
    tokenizer = tokenizer_of("cl100k")
    chunks = spanwise.chunk(document, strategy, tokenizer, max_tokens=LIMIT, **offline(strategy))
    assert len(chunks) > 10
    assert broken_laws(document, [chunk.to_dict() for chunk in chunks], tokenizer, LIMIT) == []


def test_a_file_can_be_chunked_and_indexed_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "report.docx").write_bytes(REPORT)
    (tmp_path / "slides.pptx").write_bytes(SLIDES)
    (tmp_path / "broken.docx").write_bytes(REPORT[:1000])
    outcomes = {Path(one.name).name: one for one in spanwise.chunk_files([tmp_path])}
    assert [name for name, one in outcomes.items() if one.error] == ["broken.docx"]
    assert set(outcomes) == {"report.docx", "slides.pptx", "broken.docx"}


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Return a file with a few bits flipped or its end cut off, or with its XML changed so that it still opens."""
    kind = chance.random()
    if kind < 0.15:
        return data[: chance.randrange(len(data))]
    if kind < 0.35:
        changed = bytearray(data)
        for _ in range(chance.randrange(1, 8)):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)
    with ZipFile(BytesIO(data)) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    for _ in range(chance.randrange(1, 5)):
        name = chance.choice(list(parts))
        parts[name] = chance.choice(CHANGES)(chance, parts[name])
    return zip_of(parts)


def _without_a_tag(chance: random.Random, text: str) -> str:
    tags = [found.span() for found in re.finditer(r"<[^<>]+/>", text)]
    start, end = chance.choice(tags) if tags else (0, 0)
    return text[:start] + text[end:]


def _with_another_value(chance: random.Random, text: str) -> str:
    values = [found.span(1) for found in re.finditer(r'="([^"]*)"', text)]
    start, end = chance.choice(values) if values else (0, 0)
    return text[:start] + chance.choice(["", "-1", "99999999999", "x", "../../etc", "rL", "2147483647"]) + text[end:]


def _with_an_element_twice(chance: random.Random, text: str) -> str:
    found = chance.choice([*re.finditer(r"<(w|p|a):(\w+)[^<>/]*>", text), None])
    end = text.find(f"</{found[1]}:{found[2]}>", found.end()) if found else -1
    if found is None or end < 0:
        return text
    end += len(found[1]) + len(found[2]) + 4
    return text[: found.start()] + text[found.start() : end] * chance.choice([0, 2, 3]) + text[end:]


def _renamed(chance: random.Random, text: str) -> str:
    names = sorted(set(re.findall(r"</((?:w|p|a):\w+)>", text)))
    if len(names) < 2:
        return text
    one, other = chance.sample(names, 2)
    return re.sub(rf"(</?){one}(?=[\s/>])", rf"\g<1>{other}", text)


CHANGES: list[Callable[[random.Random, str], str]] = [
    _without_a_tag, _with_another_value, _with_an_element_twice, _renamed, lambda chance, text: "",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("data", "format"), [(REPORT, "docx"), (SLIDES, "pptx")], ids=["docx", "pptx"])
def test_damage_is_one_error_or_a_document(data: bytes, format: str, seed: int) -> None:
    chance = random.Random(seed)
    opened = 0
    for _ in range(250):
        changed = damaged(chance, data)
        with suppress(UnreadableError):
            read(changed, format)
            opened += 1
    assert opened > 50


# ── the amount of work ───────────────────────────────────────────────────────────────────────────────────────────


def _nested_fields(count: int) -> str:
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "end"))
    return f"<w:p>{begin * count}{run('x')}{end * count}</w:p>"


MANY: dict[str, Callable[[int], tuple[bytes, str]]] = {
    "paragraphs": lambda count: (docx("".join(p(f"Text {n}.") for n in range(count))), "docx"),
    "runs": lambda count: (
        docx(f"<w:p>{''.join(run(f'w{n} ', '<w:b/>' * (n % 2)) for n in range(count))}</w:p>"), "docx",
    ),
    "items": lambda count: (docx("".join(item(f"i{n}", 2, n % 3) for n in range(count))), "docx"),
    "rows": lambda count: (docx(table(*[[f"{n}", "x"] for n in range(count)])), "docx"),
    "merged rows": lambda count: (
        docx(table(*[[f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{p(str(n))}</w:tc>", "x"] for n in range(count)])), "docx",
    ),
    "fields": lambda count: (docx(f"<w:p>{field('PAGE', run('x')) * count}</w:p>"), "docx"),
    "nested fields": lambda count: (docx(_nested_fields(count)), "docx"),
    "lines of code": lambda count: (docx("".join(p(f"x = {n}", "SourceCode") for n in range(count))), "docx"),
    "shapes": lambda count: (pptx(["".join(sp(f"s{n}", place=(n % 10, n // 10, 1, 1)) for n in range(count))]), "pptx"),
    "slides": lambda count: (pptx([sp(f"s{n}", "title") for n in range(count)]), "pptx"),
}  # fmt: skip


@pytest.mark.parametrize("name", MANY)
def test_work_grows_with_the_document_and_no_faster(name: str) -> None:
    made = {count: MANY[name](count) for count in (150, 600)}
    assert_linear(lambda count: read(*made[count]), 150)
