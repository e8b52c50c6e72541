"""Text fragments without a browser: the text of a link, the position it targets, and the cost of many links."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

import spanwise
from growth import assert_linear
from spanwise.records.links.visible_page import visible_runs

SMALL: dict[str, Any] = {"max_tokens": 16, "overlap_tokens": 0, "template": "plain"}


def links(text: str, format: str = "markdown", **options: Any) -> list[str]:
    """Return the unescaped text fragments of all chunks."""
    document = spanwise.read_text(text, format, source_url="https://a.example/b")
    chunks = spanwise.chunk(document, "blocks", "words", **SMALL | options)
    return [unquote(chunk.navigation["url"].partition("text=")[2]) for chunk in chunks]


def visible_texts(text: str, format: str = "markdown") -> list[str]:
    return [" ".join(run.text.split()) for run in visible_runs(spanwise.read_text(text, format))]


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("un**believ**able *a* `b c` [d](e) <b>f</b> &amp; g", ["unbelievable a b c d f & g"]),
        ("one\ntwo\\\nthree<br>four", ["one two", "three", "four"]),
        ("one ![two](x) three", ["one", "three"]),
        ("# A {#id}\n\n> b\n\n- [ ] c\n  - d", ["A", "b", "c", "d"]),
        ("| a | b |\n|---|---|\n| 1 | **2** |", ["a", "b", "1", "2"]),
        ("```py\na  b\n  c\td\n```", ["a b", "c", "d"]),
        ("---\ntitle: t\n---\n\na <!-- b --> c", ["a c"]),
        ("<div>\n<!-- a\nb --><p>c &lt; d</p>e<script>f</script>\n</div>", ["c < d", "e"]),
        ("<pre>a  <i>b</i>\n c</pre>", ["a b", "c"]),
        ("a note[^1] goes on\n\n[^1]: b", ["a", "goes on", "b"]),
        ("a&nbsp;b&nbsp;&nbsp;c &nbsp; d", ["a b", "c", "d"]),
        ("==a== b %%c%% d", ["a", "b", "d"]),
        ("[a][x] and [b]\n\n[x]: /u", ["a and [b]"]),
        ("> [!tip] A *b*\n> c\n> d\n\n> [!note]\n> e", ["A b", "c d", "e"]),
        ("> > [!info]- A\n> > b\n\n- > [!x y]\n  > c", ["A", "b", "c"]),
    ],
)
def test_visible_runs_match_the_page(text: str, stretches: list[str]) -> None:
    assert visible_texts(text) == stretches


def test_plain_text_is_shown_line_by_line() -> None:
    assert visible_texts("*a* b\n# c", "text") == ["*a* b", "# c"]


def test_every_word_has_its_position() -> None:
    text = "Ż `` b c `` **d**e &amp; f\n\n| g | h |\n|---|---|\n\n<p>i &quot;j&quot; k</p>\n"
    document = spanwise.read_text(text)
    for run in visible_runs(document):
        for anchor, position in zip(run.anchors, run.positions, strict=True):
            letter = run.text[anchor : anchor + 1]
            assert not letter.isalnum() or document.text[position] == letter


def test_repeated_text_gets_context_around_it() -> None:
    text = "One two three.\n\n" + "x y z " * 5 + "\n\nOne two three. Four.\n\n" + "u v w " * 5 + "\n\nOne two three."
    found = links(text)
    assert found[0] == "One two three."
    assert "One two three. Four." in found
    assert found[-1].endswith("u v w-,One two three.")


def test_case_and_diacritics_are_ignored() -> None:
    assert links("Zolw\n\n" + "x " * 16 + "\n\nŻÓŁW i gęś")[-1] == "ŻÓŁW i gęś"
    assert links("Zoo\n\n" + "x " * 16 + "\n\nŽÓÓ")[-1].endswith("-,ŽÓÓ")


def test_terms_of_unspaced_writing_end_at_punctuation() -> None:
    text = "请先阅读本页然后再开始安装，安装需要大约十分钟。完成之后重新启动计算机。"
    assert links(text) == ["请先阅读本页然后再开始安装"]


@pytest.mark.parametrize("text", ["---", "![a](b)", "<!-- a -->\n\n***"])
def test_invisible_text_has_no_fragment(text: str) -> None:
    assert set(links(text)) <= {""}


REPEATED = ["a b\n\n", "word ", "- a\n", "| a |\n|---|\n\n", "中文", "<p>a</p>\n\n", "&nbsp;"]


@pytest.mark.parametrize("unit", REPEATED)
def test_work_grows_with_a_page_that_repeats_itself(unit: str) -> None:
    assert_linear(lambda size: links(unit * (size // len(unit)), max_tokens=64), 5_000)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", REPEATED)
def test_a_large_page_that_repeats_itself_has_links(unit: str) -> None:
    assert links(unit * (200_000 // len(unit)), max_tokens=64)[:1] != []


def test_fragments_are_escaped() -> None:
    document = spanwise.read_text("a-b, c & d 100 % + e", source_url="https://a.example/b")
    (chunk,) = spanwise.chunk(document)
    assert chunk.navigation["url"] == "https://a.example/b#:~:text=a%2Db%2C%20c%20%26%20d%20100%20%25%20%2B"


def test_a_wrong_link_is_found() -> None:
    page = f"<nav>Rates</nav><main><p>Rates are fixed. {'More words. ' * 9}</p><h2>Rates</h2><p>They are 41.</p></main>"
    document = spanwise.read_text(page, "html", source_url="https://a.example/b")
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "blocks", max_tokens=16, overlap_tokens=0)]
    options: dict[str, Any] = {"max_tokens": 16, "overlap_tokens": 0}
    assert spanwise.check(records, document, **options) == ()
    records[1]["navigation"]["url"] = records[0]["navigation"]["url"]
    (finding,) = spanwise.check(records, document, **options)
    assert (finding.rule, finding.chunk) == ("place", records[1]["chunk_id"])
    assert "navigation.url" in finding.reason


def test_a_link_begins_at_a_word() -> None:
    assert links("<div>}</div><p>Optional step</p>", "html") == ["Optional step"]
    assert links("<pre>}\n\n// Optional</pre>", "html") == ["// Optional"]
    assert links("<p>►</p>", "html") == ["►"]


def test_image_descriptions_are_not_visible() -> None:
    page = '<p><a href="b"><img src="a.png" alt="A description"></a></p><p>First words</p>'
    document = spanwise.read_text(page, "html", source_url="https://a.example/b")
    (chunk,) = spanwise.chunk(document, "blocks", "words", **SMALL)
    assert chunk.navigation["url"].endswith("#:~:text=First%20words")
    assert chunk.navigation["highlight_metadata"]["text_fragment"] == "First words"
    alone = spanwise.chunk(spanwise.read_text("![A description](a.png)"), "blocks", "words", **SMALL)[0]
    assert alone.navigation["highlight_metadata"]["text_fragment"] == "A description"


def test_a_block_may_begin_inside_a_visible_run() -> None:
    first = "Pets help us a lot more than most of us would think possible at all"
    later = "Studies show many ways in which they do so, year after year, for everybody"
    page = (
        f'<div><a href="x"><span class="title">{first}</span> <span>{later}</span></a></div><p>They do so, year on.</p>'
    )
    fragments = links(page, "html")
    assert [fragment.split()[0] for fragment in fragments] == ["Pets", "Studies", "They"]


def test_words_beside_marks_of_a_style_sheet_are_not_searched_for() -> None:
    table = "<table class=hlist><tr><th>Group</th><td><ul><li>One two</li> <li>Three four</li></ul></td></tr></table>"
    assert links(f"<p>A group</p>{table}", "html")[0] == "A group"
    style = "<style>.hlist li{display:inline} .hlist li::after{content:' · '}</style>"
    assert links(f"{style}<p>Some group</p><h2>x</h2>{table}", "html")[-1].endswith("Group")
    assert links(f"{style}<div class=hlist><ul><li>One two</li></ul></div>", "html") == [""]
