"""Plain text: what a page shows of Markdown, with characters taken out and none put in."""

from __future__ import annotations

import dataclasses
import html
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise.native import plain as twins
from spanwise.testing.made_markdown import markdown
from spanwise.text.markdown_events import markdown_events
from spanwise.text.plain import PlainText, plain_text_of

SHOWN = {
    "# Head *one* {#id}": "Head one",
    "Title\n=====\n\nText": "Title\n\nText",
    "[link](http://a.b 'title') end": "link end",
    "![alt *em*](p.png)": "alt em",
    "<http://auto.x>": "http://auto.x",
    "[ref][r]\n\n[r]: http://z": "ref",
    "[[Note#Part|alias]] [[Other]]": "alias Other",
    "- one\n  - two\n": "one\n  two",
    "1. one\n2) two": "1. one\n2) two",
    "- [x] done": "done",
    "> quote\n> goes on": "quote\ngoes on",
    "> [!tip] Box\n> text": "Box\ntext",
    "| a | b |\n|---|---|\n| 1 | `x` |": "| a | b |\n| 1 | x |",
    "```py\ncode *x*\n```": "code *x*",
    "    indented *x*": "    indented *x*",
    "`` a`b `` and `c\\|d`": "a`b and c\\|d",
    "one<br>two<br/>three": "one two three",
    "<div>html <i>x</i><!-- no --></div>": "html x",
    "<script>no</script>": "",
    "a &amp; b &#65; \\* c": "a & b A * c",
    "text[^1]\n\n[^1]: note": "text\n\nnote",
    "==marked== %%hidden%% end ^id": "marked  end",
    "`==code==`": "==code==",
    "~~old~~ **new**": "old new",
    "---": "",
    "漢字 **太** [字](http://x)": "漢字 太 字",
}


@pytest.mark.parametrize("text", SHOWN, ids=range(len(SHOWN)))
def test_marks_are_taken_out(text: str) -> None:
    assert PlainText(text).joined([(0, len(text), "")]) == SHOWN[text]


@given(markdown(), st.data())
def test_only_characters_are_taken_out(text: str, data: st.DataObject) -> None:
    text = re.sub(r"&|<", "", text)
    start, end = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
    rest = iter(text[start:end])
    assert all(character in rest for character in PlainText(text).of(start, end))


@given(markdown())
def test_ranges_put_together_are_the_whole(text: str) -> None:
    plain, middle = PlainText(text), len(text) // 2
    if not re.search(r"&|<", text):
        assert plain.of(0, middle) + plain.of(middle, len(text)) == plain.of(0, len(text))


def test_plain_text_stays_as_it_is() -> None:
    document = spanwise.read_text("*no* [Markdown](x) &amp; here", "text")
    assert spanwise.chunk(document, "simple")[0].plain_text == document.text


def test_a_record_has_the_plain_text_of_its_core() -> None:
    document = spanwise.read_text("# A\n\nSee [the portal](http://x) for **trips**.\n\n---\n\n![](x.png)\n")
    chunks = spanwise.chunk(document, "fixed", min_tokens=0)
    assert [chunk.plain_text for chunk in chunks] == ["A\n\nSee the portal for trips."]
    assert [chunk.to_dict()["plain_text"] for chunk in chunks] == [chunk.plain_text for chunk in chunks]
    assert {finding.level for finding in spanwise.check(chunks, document)} == {"warning"}  # it is short
    wrong = chunks[0].to_dict() | {"plain_text": "A\n\nAsk the portal."}
    assert "provenance" in {finding.rule for finding in spanwise.check([wrong])}


@pytest.mark.parametrize("text", ["*a* ", "[a](b) ", "| a | b |\n", "- a\n", "<b>a</b> ", "&amp; ", "`a` ", "> "])
def test_work_grows_with_the_text(text: str) -> None:
    def work(size: int) -> None:  # by the Python versions, because lines can be counted
        events = markdown_events(text * size, 0, wiki=False)[1]
        kept, changed, _ = twins.kept_ranges(text * size, events)
        twins.without_hidden(text * size, kept, changed, [])
        PlainText(text * size).of(0, size)

    assert_linear(work, 500)


@given(markdown(), st.sampled_from(["", "---\ntitle: ż\n---\n", "---\nid: ż\n---\n\n---\n", "+++\na = 'ż'\n+++\n"]))
def test_what_the_reader_keeps_is_what_a_second_parse_finds(text: str, front: str) -> None:
    document = spanwise.read_text(f"{front}\n{text}")
    again = plain_text_of(dataclasses.replace(document))
    for name in ("shown", "starts", "ends", "places"):
        assert getattr(plain_text_of(document), name) == getattr(again, name)


@given(markdown(), st.data())
def test_spans_are_what_is_joined(text: str, data: st.DataObject) -> None:
    plain_text = PlainText(text)
    edges = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6)))
    pieces = [(low, high, "\n") for low, high in pairwise(edges) if low < high]
    spans = plain_text.spans(pieces)
    if spans is not None and plain_text.shown is not None:
        shown = [joiner + plain_text.shown[low:high] for low, high, joiner in spans]
        assert "".join(shown) == plain_text.joined(pieces)


def test_references_that_are_cut_are_text() -> None:
    plain = PlainText("a &amp; b")
    assert (plain.of(0, 4), plain.of(4, 9), plain.of(0, 9)) == ("a &a", "mp; b", html.unescape("a &amp; b"))
