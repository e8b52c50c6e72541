"""Markdown to blocks: every construct, the examples of the specifications, and unlikely text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import Block, Document, Link, Part
from spanwise.testing.document_laws import assert_document
from specifications import specification

ROOT = Path(__file__).parents[1]
DEMO = sorted((ROOT / "src" / "spanwise" / "cli" / "demo" / "documents").glob("*.md"))


def read(text: str) -> Document:
    """Read Markdown and check the document laws."""
    document = spanwise.read_text(text)
    assert_document(document)
    return document


def blocks(text: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each block."""
    document = read(text)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def kinds(text: str) -> list[str]:
    return [kind for kind, _ in blocks(text)]


def only(text: str) -> tuple[Document, Block]:
    """Read a text that must be a single block."""
    document = read(text)
    assert len(document.blocks) == 1, document.blocks
    return document, document.blocks[0]


def text_of(document: Document, part: Part | Block) -> str:
    return document.text[part.start : part.end]


def parts(text: str) -> list[str]:
    """Return the texts of the parts of a single list or table."""
    document, block = only(text)
    return [text_of(document, part) for part in block.parts]


# ── headings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def paths(text: str) -> list[tuple[str, ...]]:
    return [block.headings_path for block in read(text).blocks]


def test_a_heading_names_itself_and_what_follows() -> None:
    assert paths("# Zażółć\n\nGęślą\n\n## Jaźń\n\nów\n\n# 終わり\n\n字") == [
        ("Zażółć",), ("Zażółć",), ("Zażółć", "Jaźń"), ("Zażółć", "Jaźń"), ("終わり",), ("終わり",),
    ]  # fmt: skip


def test_levels_one_to_six_and_seven_is_text() -> None:
    document = read("\n\n".join("#" * level + f" é{level}" for level in range(1, 8)))
    assert [block.level for block in document.blocks] == [1, 2, 3, 4, 5, 6, None]
    assert document.blocks[5].headings_path == ("é1", "é2", "é3", "é4", "é5", "é6")


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# [Łącze](https://a.example)", "Łącze"),
        ("# [Łącze][ref]", "Łącze"),
        ("# *Em* and **strong** and ~~gone~~ ż", "Em and strong and gone ż"),
        ("# `code()` ż", "code() ż"),
        ("# ![Obraz ż](a.png) end", "Obraz ż end"),
        ("# [![Alt](a.png) text](b) 你", "Alt text 你"),
        ("# A &amp; B &lt;ż&gt;", "A & B <ż>"),
        ("# Escaped \\*stars\\* \\# ż", "Escaped *stars* # ż"),
        ("# <b>Bold</b> ż", "Bold ż"),
        ("# Closed ż ##", "Closed ż"),
        ("# Anchor ż {#anchor-1}", "Anchor ż"),
        ("# Anchor ż {#a .class}", "Anchor ż"),
        ("#   Many   spaces\tż", "Many spaces ż"),
        ("Two\nlines ż\n===", "Two lines ż"),
        ("# 🎉 Świętujemy", "🎉 Świętujemy"),
        ("# Note[^1] ż", "Note ż"),
    ],
)
def test_heading_names_are_plain_text(heading: str, name: str) -> None:
    document = read(f"{heading}\n\nText\n\n[ref]: /u\n\n[^1]: Nota")
    assert document.blocks[0].kind == "heading"
    assert document.blocks[0].headings_path == (name,)
    assert document.blocks[1].headings_path == (name,)


def test_code_that_looks_like_an_anchor_stays_in_the_name() -> None:
    assert paths("# Use `{#id}`") == [("Use {#id}",)]


def test_an_anchor_in_the_middle_of_a_heading_stays() -> None:
    assert paths("# Use {#id} here") == [("Use {#id} here",)]


def test_skipped_levels_leave_no_gap_in_the_path() -> None:
    assert paths("# A\n\n#### B\n\nt\n\n## C\n\nt")[-3:] == [("A", "B"), ("A", "C"), ("A", "C")]


def test_a_document_may_begin_with_a_deep_heading() -> None:
    assert paths("### C\n\nt\n\n## B\n\nt\n\n# A\n\nt") == [("C",), ("C",), ("B",), ("B",), ("A",), ("A",)]


def test_consecutive_titles_replace_each_other() -> None:
    assert paths("# A\n# B\n## C\n## D\n\nt") == [("A",), ("B",), ("B", "C"), ("B", "D"), ("B", "D")]


def test_an_empty_heading_has_no_name_and_closes_its_level() -> None:
    assert paths("# A\n\n## B\n\n##\n\nt\n\n#\n\nu") == [("A",), ("A", "B"), ("A",), ("A",), (), ()]


def test_an_empty_heading_keeps_its_level() -> None:
    assert [block.level for block in read("###\n\nt").blocks] == [3, None]


def test_setext_headings_take_their_underline_along() -> None:
    assert blocks("Tytuł ż\n=====\n\nPodtytuł\n---\nText") == [
        ("heading", "Tytuł ż\n====="), ("heading", "Podtytuł\n---"), ("paragraph", "Text"),
    ]  # fmt: skip
    assert paths("Tytuł\n=\n\nPod\n-\nText") == [("Tytuł",), ("Tytuł", "Pod"), ("Tytuł", "Pod")]


def test_headings_inside_lists_and_quotes_are_not_headings_of_the_document() -> None:
    assert paths("> # Q\n\n- # L\n\nt") == [(), (), ()]
    assert kinds("> # Q\n\n- # L\n\nt") == ["quote", "list", "paragraph"]


def test_a_heading_right_after_a_paragraph() -> None:
    assert kinds("text ż\n# A\ntext") == ["paragraph", "heading", "paragraph"]


# ── paragraphs, rules, Hugo ──────────────────────────────────────────────────────────────────────────────────────


def test_paragraphs_are_divided_by_blank_lines() -> None:
    assert blocks("Pierwszy ź\ndalej\n \t\nDrugi  \n\n\n\nTrzeci\n") == [
        ("paragraph", "Pierwszy ź\ndalej"), ("paragraph", "Drugi"), ("paragraph", "Trzeci"),
    ]  # fmt: skip


@pytest.mark.parametrize("rule", ["---", "***", "* * *", "___", " - - -"])
def test_rules(rule: str) -> None:
    assert blocks(f"ż\n\n{rule}\n\ną") == [("paragraph", "ż"), ("rule", rule.strip()), ("paragraph", "ą")]


@pytest.mark.parametrize("code", ["{{< note >}}\nUwaga ż\n{{< /note >}}", "{{% steps %}}", '{{< figure src="x" >}}'])
def test_hugo_shortcodes_are_plain_text(code: str) -> None:
    assert blocks(f"Przed\n\n{code}\n\nPo") == [("paragraph", "Przed"), ("paragraph", code), ("paragraph", "Po")]


def test_a_hugo_shortcode_around_a_list_keeps_the_list() -> None:
    assert kinds("{{< tabs >}}\n\n- ż\n- ó\n\n{{< /tabs >}}") == ["paragraph", "list", "paragraph"]


@pytest.mark.parametrize("text", ["", "\n\n", " \t\n", "\u00a0", "\u3000\n\u2003"])
def test_white_space_alone_has_no_blocks(text: str) -> None:
    assert read(text).blocks == ()


def test_unicode_spaces_are_trimmed_off_blocks() -> None:
    assert blocks("\u00a0Ż\u3000\n\n\u2003ó\u00a0") == [("paragraph", "Ż"), ("paragraph", "ó")]


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_items_are_parts() -> None:
    assert parts("- żółw\n- gęś\n  dalej\nleniwie\n- 猫\n") == ["- żółw", "- gęś\n  dalej\nleniwie", "- 猫"]


def test_loose_items_are_trimmed() -> None:
    assert parts("1. ż\n\n   drugi\n\n\n2. ó\n\n") == ["1. ż\n\n   drugi", "2. ó"]


def test_another_marker_begins_another_list() -> None:
    assert kinds("- a\n- b\n* c\n1. d\n1) e") == ["list", "list", "list", "list"]


def test_task_list() -> None:
    assert parts("- [x] zrobione ż\n- [ ] nie\n- [X] tak") == ["- [x] zrobione ż", "- [ ] nie", "- [X] tak"]


def test_nested_items_are_parts_of_their_item() -> None:
    document, block = only("- ą\n  - b ż\n    1. c\n    2. d\n\n  akapit\n- e")
    first, second = block.parts
    assert text_of(document, first) == "- ą\n  - b ż\n    1. c\n    2. d\n\n  akapit"
    assert text_of(document, second) == "- e"
    (inner,) = first.parts
    assert text_of(document, inner) == "- b ż\n    1. c\n    2. d"
    assert [text_of(document, part) for part in inner.parts] == ["1. c", "2. d"]
    assert second.parts == ()


def test_two_lists_in_one_item_are_both_nested() -> None:
    document, block = only("- ą\n  - b\n\n  tekst\n\n  1. c\n- d")
    assert [text_of(document, part) for part in block.parts[0].parts] == ["- b", "1. c"]


def test_empty_items_are_items() -> None:
    assert parts("- ż\n-\n- ó") == ["- ż", "-", "- ó"]


def test_items_with_code_tables_and_quotes_are_whole() -> None:
    text = "- ż\n\n  ```\n  code\n  ```\n\n  | a |\n  |---|\n  | b |\n\n  > q\n- ó"
    assert parts(text) == [text[:-4], "- ó"]


def test_items_in_a_quote_in_an_item_don_t_confuse_the_nesting() -> None:
    document, block = only("- ż\n\n  > - q1\n  > - q2\n- ó")
    assert [text_of(document, part) for part in block.parts] == ["- ż\n\n  > - q1\n  > - q2", "- ó"]


@pytest.mark.parametrize("depth", [10, 200, 1000])
def test_deep_lists_are_read(depth: int) -> None:
    document, block = only("".join(f"{'  ' * level}- ż{level}\n" for level in range(depth)) + "- koniec")
    assert len(block.parts) == 2
    assert text_of(document, block.parts[0]).endswith(f"- ż{depth - 1}")
    assert text_of(document, block.parts[1]) == "- koniec"


def test_ten_nested_levels_are_ten_levels_of_parts() -> None:
    document, block = only("".join(f"{'  ' * level}- ż{level}\n" for level in range(10)))
    items, level = block.parts, 0
    while items:
        assert len(items) == 1
        assert text_of(document, items[0]).startswith(f"- ż{level}")
        items, level = items[0].parts, level + 1
    assert level == 10


def test_lists_in_a_line_are_nested() -> None:
    document, block = only("- - - ż")
    assert text_of(document, block.parts[0].parts[0].parts[0]) == "- ż"


@pytest.mark.parametrize("depth", [200, 3000])
def test_deep_quotes_are_read(depth: int) -> None:
    assert blocks("> " * depth + "ż") == [("quote", "> " * depth + "ż")]


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_are_parts_and_the_header_takes_its_delimiter_along() -> None:
    document, block = only("| ż | b |\n|:--|--:|\n| 1 | 你 |\n| 2 | 3 |\n")
    assert block.kind == "table"
    assert [(text_of(document, row), row.header) for row in block.parts] == [
        ("| ż | b |\n|:--|--:|", True), ("| 1 | 你 |", False), ("| 2 | 3 |", False),
    ]  # fmt: skip


def test_escaped_pipes_empty_cells_and_short_rows() -> None:
    rows = ["| ż | b |\n|---|---|", r"| a \| `c \| d` | |", "|||", "| |", "| 1 |", "| 1 | 2 | 3 |", "bez kresek"]
    assert parts("\n".join(rows)) == rows


def test_one_column() -> None:
    assert parts("| ż |\n|---|\n| 1 |\n| |") == ["| ż |\n|---|", "| 1 |", "| |"]


def test_a_table_without_outer_pipes() -> None:
    assert parts("ż | b\n--|--\n1 | 2\n | 3") == ["ż | b\n--|--", "1 | 2", "| 3"]


def test_a_table_of_a_head_alone() -> None:
    document, block = only("| ż | b |\n|---|---|")
    assert [(text_of(document, row), row.header) for row in block.parts] == [(document.text, True)]


def test_a_table_directly_after_a_paragraph() -> None:
    assert blocks("Zdanie ż\n| a | b |\n|---|---|\n| 1 | 2 |\n\nPo") == [
        ("paragraph", "Zdanie ż"), ("table", "| a | b |\n|---|---|\n| 1 | 2 |"), ("paragraph", "Po"),
    ]  # fmt: skip


def test_a_table_with_an_empty_last_cell_ends_its_block() -> None:
    assert blocks("| ż | b |\n|---|---|\n| 1 | |\n\nPo ż") == [
        ("table", "| ż | b |\n|---|---|\n| 1 | |"), ("paragraph", "Po ż"),
    ]  # fmt: skip


def test_a_delimiter_row_that_doesn_t_match_makes_no_table() -> None:
    assert kinds("| ż | b |\n|---|\n| 1 | 2 |") == ["paragraph"]


def test_a_table_in_a_list_or_quote_is_part_of_it() -> None:
    assert kinds("> | ż |\n> |---|\n> | 1 |\n\n- | ż |\n  |---|\n  | 1 |") == ["quote", "list"]


def test_a_heading_and_a_list_end_a_table() -> None:
    assert kinds("| ż |\n|---|\n| 1 |\n# A\n| ż |\n|---|\n| 1 |\n- b") == ["table", "heading", "table", "list"]


# ── code ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "code",
    [
        "```\nżółw\n```", "~~~ python\nprint('ż')\n~~~", "````md\n```\nż\n```\n````", "```\n\n\n```", "```\n```",
        "```py title=\"ż\"\n# not a heading\n- not a list\n<figure>a</figure>\n```", "   ```\n   ż\n   ```",
    ],
)  # fmt: skip
def test_fenced_code(code: str) -> None:
    assert blocks(f"Przed\n\n{code}\n\nPo") == [("paragraph", "Przed"), ("code", code), ("paragraph", "Po")]


@pytest.mark.parametrize("code", ["```\nż\n\n# a\n  b", "```", "~~~\n```\nż"])
def test_an_unclosed_fence_reaches_to_the_end(code: str) -> None:
    assert blocks(f"ż\n\n{code}\n\n") == [("paragraph", "ż"), ("code", code)]


@pytest.mark.parametrize("code", ["    ż\n      b\n\n\n    c", "\tż\n\t\tb", "      głęboko"])
def test_indented_code_keeps_its_indentation(code: str) -> None:
    assert blocks(f"Ż\n\n{code}\n\nó") == [("paragraph", "Ż"), ("code", code), ("paragraph", "ó")]
    assert blocks(f"\n\n{code}\n") == [("code", code)]


def test_code_right_after_a_heading() -> None:
    assert blocks("# ż\n    code ż\n```\nx\n```\n# b") == [
        ("heading", "# ż"), ("code", "    code ż"), ("code", "```\nx\n```"), ("heading", "# b"),
    ]  # fmt: skip


# ── quotes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lazy_quotes_are_one_block() -> None:
    assert blocks("> ż\nleniwa\n> dalej\n\nPo") == [("quote", "> ż\nleniwa\n> dalej"), ("paragraph", "Po")]


def test_quotes_hold_everything_they_hold() -> None:
    text = "> # ż\n>\n> - a\n> - b\n>\n>     code\n>\n> > w środku"
    assert blocks(text) == [("quote", text)]


def test_blank_line_divides_quotes() -> None:
    assert kinds("> ż\n\n> b") == ["quote", "quote"]


# ── footnotes, strikethrough ─────────────────────────────────────────────────────────────────────────────────────


def test_a_footnote_is_a_paragraph() -> None:
    assert blocks("Zdanie[^1] ż.\n\n[^1]: Przypis ż.\n\nPo") == [
        ("paragraph", "Zdanie[^1] ż."), ("paragraph", "[^1]: Przypis ż."), ("paragraph", "Po"),
    ]  # fmt: skip


def test_a_footnote_of_several_paragraphs_is_one_paragraph() -> None:
    note = "[^ż]: Pierwszy.\n\n    Drugi ż.\n\n    - lista"
    assert blocks(f"A[^ż]\n\n{note}\n\nPo") == [("paragraph", "A[^ż]"), ("paragraph", note), ("paragraph", "Po")]


def test_footnotes_follow_each_other() -> None:
    assert blocks("A[^1][^2]\n\n[^1]: ż\n[^2]: ó") == [
        ("paragraph", "A[^1][^2]"), ("paragraph", "[^1]: ż"), ("paragraph", "[^2]: ó"),
    ]  # fmt: skip


def test_an_unreferenced_footnote_is_kept() -> None:
    assert blocks("ż\n\n[^1]: Sama") == [("paragraph", "ż"), ("paragraph", "[^1]: Sama")]


def test_strikethrough_is_text() -> None:
    assert blocks("~~stare~~ nowe ż") == [("paragraph", "~~stare~~ nowe ż")]


# ── front matter ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "opening",
    [
        "---\ntitle: Żółw\nlabels: [a, b]\n---", '+++\ntitle = "Żółw"\n[params]\nx = 1\n+++', "---\ntitle: 'Żółw'\n...",
        '---\n# komentarz\ntitle: "Żółw"\n---', "---  \ntitle: Żółw\n---\t",
        "---\n\"a b\": 1\ntitle: Żółw\n\nx: y\n---",
    ],
)  # fmt: skip
def test_front_matter(opening: str) -> None:
    document = read(f"{opening}\n\n# Inny ż\n\nText")
    assert [(block.kind, text_of(document, block)) for block in document.blocks] == [
        ("front_matter", opening.rstrip()), ("heading", "# Inny ż"), ("paragraph", "Text"),
    ]  # fmt: skip
    assert document.metadata.title == "Żółw"
    assert document.blocks[0].headings_path == ()


def test_empty_front_matter() -> None:
    assert blocks("---\n---\nż") == [("front_matter", "---\n---"), ("paragraph", "ż")]


def test_front_matter_after_a_byte_order_mark_and_with_crlf() -> None:
    assert kinds("\ufeff---\r\ntitle: ż\r\n---\r\nText") == ["front_matter", "paragraph"]


def test_front_matter_right_before_text() -> None:
    assert blocks("---\nż: 1\n---\nText ż\n# B") == [
        ("front_matter", "---\nż: 1\n---"), ("paragraph", "Text ż"), ("heading", "# B"),
    ]  # fmt: skip


def test_front_matter_alone() -> None:
    assert kinds("---\ntitle: ż\n---") == ["front_matter"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\n\nTekst ż\n\n---\n\nwięcej", ["rule", "paragraph", "rule", "paragraph"]),
        ("---\n\n# Tytuł ż\n\nTekst\n\n---\n\nwięcej", ["rule", "heading", "paragraph", "rule", "paragraph"]),
        ("---\nTekst ż bez dwukropka\n\n---\n", ["rule", "paragraph", "rule"]),
        ("---\ntitle: ż\n\nnigdy nie zamknięte", ["rule", "paragraph", "paragraph"]),
        ("+++\n\nTekst", ["paragraph", "paragraph"]),
        ("***\ntitle: ż\n***", ["rule", "paragraph", "rule"]),
        ("----\ntitle: ż\n----", ["rule", "heading"]),
    ],
)
def test_a_rule_that_opens_a_file_is_not_front_matter(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize("lead", ["ż\n\n", "# ż\n", "\n", " \n"])
def test_a_pair_of_rules_later_is_not_front_matter(lead: str) -> None:
    assert "front_matter" not in kinds(f"{lead}---\ntitle: ż\n---\n\nTekst")


def test_a_second_pair_of_rules_is_not_front_matter() -> None:
    assert kinds("---\nż: 1\n---\n\nTekst\n\n---\n\nb: c\n\n---\n").count("front_matter") == 1


# ── HTML and comments ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "html", ["<div>\nż\n</div>", "<table><tr><td>ż</td></tr></table>", "<!DOCTYPE html>", "<script>\n\nż\n\n</script>",
             "<details>\n<summary>ż</summary>", "<?php ż ?>", "</div>", "<my-tag a='ż'>\nb"],
)  # fmt: skip
def test_html_blocks(html: str) -> None:
    assert blocks(f"Ż\n\n{html}\n\nó") == [("paragraph", "Ż"), ("html", html), ("paragraph", "ó")]


@pytest.mark.parametrize(
    "comment", ["<!-- ż -->", "<!--\nż\n\n# nie nagłówek\n-->", "<!-- a --><!-- ż -->", "<!---->",
                "<!-- <figure>ż</figure> -->", "<!--\nż\n--> <!-- b -->"],
)  # fmt: skip
def test_a_block_of_comments_alone_is_a_comment(comment: str) -> None:
    assert blocks(f"Ż\n\n{comment}\n\nó") == [("paragraph", "Ż"), ("comment", comment), ("paragraph", "ó")]


def test_a_comment_with_text_after_it_is_html() -> None:
    assert blocks("<!-- a --> tekst ż\n\nó") == [("html", "<!-- a --> tekst ż"), ("paragraph", "ó")]


def test_text_on_the_line_after_a_comment_is_a_paragraph() -> None:
    assert blocks("<!-- a -->\ntekst ż") == [("comment", "<!-- a -->"), ("paragraph", "tekst ż")]


def test_text_with_a_comment_in_it_is_a_paragraph() -> None:
    assert blocks("tekst <!-- ż --> tekst") == [("paragraph", "tekst <!-- ż --> tekst")]


@pytest.mark.parametrize("space", ["\u2029", "\u2028", "\x0b", "\x1c", "\x85", "\u3000"])
def test_odd_white_space_in_a_note_comment_is_part_of_it(space: str) -> None:
    """To CommonMark it is text, so it would begin a block in a comment of which all else is blank."""
    comment = f"%%\n    a{space}\n%%"
    assert blocks(f"{comment}\n    code") == [("comment", comment), ("code", "    code")]


def test_an_unclosed_comment_is_not_lost() -> None:
    assert blocks("Ż\n\n<!-- nigdy\n\n# zamknięty ż") == [("paragraph", "Ż"), ("html", "<!-- nigdy\n\n# zamknięty ż")]


def test_two_comments_and_text_between_them() -> None:
    assert blocks("<!-- a --> ż <!-- b -->") == [("html", "<!-- a --> ż <!-- b -->")]


# ── definitions ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_definitions_at_the_end() -> None:
    assert blocks("Ż [a] [b][ż]\n\n[a]: /a\n[ż]: <b c> 'Tytuł ż'\n") == [
        ("paragraph", "Ż [a] [b][ż]"), ("definition", "[a]: /a\n[ż]: <b c> 'Tytuł ż'"),
    ]  # fmt: skip


def test_definitions_in_the_middle() -> None:
    assert blocks("Ż\n\n[a]: /a\n\n# B\n[b]: /b\n\nć [a]") == [
        ("paragraph", "Ż"), ("definition", "[a]: /a"), ("heading", "# B"), ("definition", "[b]: /b"),
        ("paragraph", "ć [a]"),
    ]  # fmt: skip


def test_a_definition_right_before_text() -> None:
    assert blocks("[a]: /ż\nTekst [a]") == [("definition", "[a]: /ż"), ("paragraph", "Tekst [a]")]


def test_a_definition_over_several_lines() -> None:
    assert blocks("[a]:\n   /ż\n   'tytuł\n   dalej'\n\nB") == [
        ("definition", "[a]:\n   /ż\n   'tytuł\n   dalej'"), ("paragraph", "B"),
    ]  # fmt: skip


def test_definitions_in_quotes_and_lists_stay_there() -> None:
    assert blocks("> [a]: /ż\n> tekst\n\n- [b]: /b\n\n> [c]: /c") == [
        ("quote", "> [a]: /ż\n> tekst"), ("list", "- [b]: /b"), ("quote", "> [c]: /c"),
    ]  # fmt: skip


def test_definitions_alone() -> None:
    assert blocks("[a]: /ż\n\n\n[b]: /b") in (
        [("definition", "[a]: /ż\n\n\n[b]: /b")],
        [("definition", "[a]: /ż"), ("definition", "[b]: /b")],
    )


def test_definitions_have_the_path_of_their_section() -> None:
    assert paths("# Ż\n\n[a]: /a\n\n# B") == [("Ż",), ("Ż",), ("B",)]


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "figure",
    [
        "<figure>ż</figure>", '<figure class="a"><img src="ż.png"><figcaption>Rys. 1</figcaption></figure>',
        "<FIGURE>ż</FIGURE>", "<Figure id=ż>a</fIGURE >", "<figure>ż\n\ndrugi akapit\n\n- lista\n\n</figure>",
        "<figure>\n\n```\nkod\n```\n\n</figure>", "<figure><figure>a</figure><figure>ż</figure></figure>",
        "<figure\n  class='ż'>\n<img>\n</figure>",
    ],
)  # fmt: skip
def test_a_figure_is_a_block_of_its_own(figure: str) -> None:
    assert blocks(f"Ż\n\n{figure}\n\nó") == [("paragraph", "Ż"), ("figure", figure), ("paragraph", "ó")]
    assert [kind for kind, _ in blocks(figure)] == ["figure"]


def test_a_figure_inside_a_paragraph_divides_it() -> None:
    assert blocks("Żółw <figure>ż</figure> gęś,\ndalej <figure>b</figure>\n\nPo") == [
        ("paragraph", "Żółw"), ("figure", "<figure>ż</figure>"), ("paragraph", "gęś,\ndalej"),
        ("figure", "<figure>b</figure>"), ("paragraph", "Po"),
    ]  # fmt: skip


def test_a_figure_may_span_blank_lines_from_paragraph_to_paragraph() -> None:
    assert blocks("Ż <figure>a\n\nb ż\n\nc</figure> ó") == [
        ("paragraph", "Ż"), ("figure", "<figure>a\n\nb ż\n\nc</figure>"), ("paragraph", "ó"),
    ]  # fmt: skip


def test_a_figure_in_html_is_a_block_of_its_own() -> None:
    assert blocks("<div>\n<figure>ż</figure>\n</div>") == [
        ("html", "<div>"), ("figure", "<figure>ż</figure>"), ("html", "</div>"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Kod `<figure>ż</figure>` tu", "paragraph"), ("```\n<figure>ż</figure>\n```", "code"),
        ("    <figure>ż</figure>", "code"), ("- <figure>ż</figure>", "list"), ("- a\n\n  <figure>ż</figure>", "list"),
        ("| <figure>ż</figure> |\n|---|\n| <figure>b</figure> |", "table"), ("> <figure>ż</figure>", "quote"),
        ("# Ż <figure>b</figure>", "heading"), ("Ż <figure>b</figure>\n===", "heading"),
        ("<!-- <figure>ż</figure> -->", "comment"), ("Tekst <!-- <figure>ż</figure> --> tekst", "paragraph"),
        ("<pre>\n<figure>ż</figure>\n</pre>", "html"), ("\\<figure>ż\\</figure>", "paragraph"),
    ],
)  # fmt: skip
def test_a_figure_elsewhere_is_text(text: str, kind: str) -> None:
    assert blocks(text) == [(kind, text)] or kind == "code"
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text", ["Ż <figure>a", "Ż a</figure> b", "</figure> ż <figure>", "ż <figurex>a</figurex>",
             "ż <figure-set>a</figure-set>", "ż <figure>a</figures> b", "ż < figure>a</figure>"],
)  # fmt: skip
def test_false_figures_are_text(text: str) -> None:
    assert "figure" not in kinds(text)
    assert "figure" not in kinds(f"<div>{text}</div>")


def test_an_unclosed_figure_leaves_the_next_one_alone() -> None:
    assert ("figure", "<figure>b</figure>") in blocks("Ż <figure>a\n\n<figure>b</figure>\n\nkoniec ż")


def test_a_comment_before_a_figure_stays_a_comment() -> None:
    assert blocks("<!-- ż --><figure>a</figure>") == [("comment", "<!-- ż -->"), ("figure", "<figure>a</figure>")]


def test_figures_have_the_path_of_their_section() -> None:
    assert paths("# Ż\n\na <figure>b</figure> c") == [("Ż",)] * 4


# ── links and title ──────────────────────────────────────────────────────────────────────────────────────────────


def links(text: str) -> list[tuple[str, str]]:
    return [(link.target, link.text) for link in read(text).metadata.links]


def test_links_are_collected_in_order() -> None:
    text = "[Ż **b**](/a 'T') <https://ż.example> [r][R] [R] ![obraz](c.png) [![alt ż](x)](y)\n\n[r]: /d"
    assert links(text) == [
        ("/a", "Ż b"), ("https://ż.example", "https://ż.example"), ("/d", "r"), ("/d", "R"), ("y", "alt ż"),
    ]  # fmt: skip


def test_links_are_found_everywhere_but_in_code() -> None:
    text = "# [h](1)\n\n- [i](2)\n\n> [q](3)\n\n| [t](4) |\n|---|\n| [ż](5) |\n\n`[c](6)`\n\n    [d](7)\n\n[^n]: [f](8)"
    assert links(text) == [("1", "h"), ("2", "i"), ("3", "q"), ("4", "t"), ("5", "ż"), ("8", "f")]


def test_links_are_values() -> None:
    assert read("[ż](/a)").metadata.links == (Link("/a", "ż"),)
    assert read("ż").metadata.links == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Żółw\n\n# B", "Żółw"), ("## A\n\n# Ż *b*\n", "Ż b"), ("Ż\n===", "Ż"), ("## Ż", None),
        ("ż", None), ("", None),
        ("---\ntitle: Żółw\n---\n# B", "Żółw"), ("---\nx: 1\n---\n# B", "B"), ("#\n\n# B", "B"),
        ("---\ntitle:\n---\n# B", "B"), ('---\ntitle: ""\n---\n# B', "B"), ("> # A\n\nb", None),
    ],
)  # fmt: skip
def test_title(text: str, title: str | None) -> None:
    assert read(text).metadata.title == title


def test_a_given_title_wins() -> None:
    assert spanwise.read_text("# A", title="Ż").metadata.title == "Ż"


# ── everything at once ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", DEMO, ids=[path.name for path in DEMO])
def test_the_demo_documents_have_every_kind_that_they_should(path: Path) -> None:
    document = spanwise.read(path)
    assert_document(document)
    found = {block.kind for block in document.blocks}
    assert found >= {"front_matter", "heading", "paragraph", "list", "table", "code", "quote", "figure"}
    assert document.text == path.read_text(encoding="utf-8")
    assert any(part.parts for block in document.blocks if block.kind == "list" for part in block.parts)


def test_there_are_five_demo_documents() -> None:
    assert len(DEMO) == 5


@pytest.mark.parametrize(("name", "least"), [("commonmark", 640), ("gfm", 660)])
def test_the_examples_of_the_specifications(name: str, least: int) -> None:
    sections = specification(name)
    examples = [(section, example) for section, found in sections.items() for example in found]
    assert len(examples) >= least
    broken = []
    for section, example in examples:
        for text in (example, f"ż {example}", f"Żółw 🐢\n\n{example}\n\nźdźbło\n"):
            try:
                read(text)
            except AssertionError as error:
                broken.append(f"{section}: {text!r}: {error}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_a_whole_specification_is_read(name: str) -> None:
    read("\n\n".join(example for found in specification(name).values() for example in found))


UNITS = [
        "Ż <figure>x</figure> b\n\n", "<div>\n<figure>x</figure>\n</div>\n\n", "Ż <figure> b\n\n", "<figure>\n\n",
        "<figure><figure>a</figure></figure>\n\n", "a <!-- <figure> ", "<!---->", "[a]: /b\n\nż\n\n", "# ż\n", "- ż\n",
        "[ż](b) ", "> ż\n\n", "[^1]: ż\n\n", "```\nż\n```\n",
]  # fmt: skip


IN_C = {
    *(("markdown", unit) for unit in ("<!---->", "- ż\n")),
    *(("text", unit) for unit in ("a <!-- <figure> ", "<!---->", "# ż\n", "- ż\n", "[ż](b) ", "```\nż\n```\n")),
}
"""What is read by the parser, by C or by one pattern: only megabytes show how that grows."""
COUNTED = [(form, unit) for form in ("markdown", "text") for unit in UNITS if (form, unit) not in IN_C]


@pytest.mark.parametrize(("form", "unit"), COUNTED)
def test_reading_grows_with_the_text(unit: str, form: str) -> None:
    assert_linear(lambda times: spanwise.read_text(unit * times, format=form), 400)


@pytest.mark.slow
@pytest.mark.timeout(30)  # a search through the rest of the text for each unit would take a minute
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("form", ["markdown", "text"])
def test_megabytes_are_read(unit: str, form: str) -> None:
    spanwise.read_text(unit * (3_000_000 // len(unit)), form)


_PIECES = st.sampled_from([
    "# ", "## ", "###### ", "- ", "* ", "1. ", "2) ", "> ", "    ", "\t", "  ", "```", "~~~", "```py", "|", "|---|",
    "| a | b |", "---", "===", "***", "+++", "...", "<figure>", "</figure>", "<FIGURE a>", "<!--", "-->", "<div>",
    "</div>", "<pre>", "</pre>", "[a]: /u", "[a]", "[^1]", "[^1]: ", "[b](c)", "![d](e)", "`", "``", "**", "*", "~~",
    "\\", "\\|", "{#a}", "{{< x >}}", "- [ ] ", "title: x", "żółw", "你好", "🐢", "e\u0301", "word", "Zdanie. ",
    "&amp;", "<http://a>", "\u00a0", "\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\u200b", "\ufeff", "\x00",
    ":", "=", " ",
])  # fmt: skip
_LINES = st.lists(_PIECES, max_size=6).map("".join)
MARKDOWN = st.lists(_LINES | st.text(max_size=12), max_size=14).map("\n".join)


@settings(max_examples=400)
@given(MARKDOWN)
def test_any_markdown_is_a_document(text: str) -> None:
    read(text)


@given(st.lists(MARKDOWN, max_size=4))
def test_any_markdown_pages_are_a_document(pages: list[str]) -> None:
    assert_document(spanwise.read_pages(pages, format="markdown"))


@given(MARKDOWN)
def test_reading_twice_gives_the_same(text: str) -> None:
    assert read(text) == read(text)


@given(MARKDOWN)
def test_text_is_the_input_but_for_what_is_documented(text: str) -> None:
    expected = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    assert read(text).text == expected


def test_definitions_after_a_list_are_not_of_the_list() -> None:
    text = "- a\n- b\n\n[1]: https://x.example\n[2]: https://y.example\n\nText [1]."
    assert kinds(text) == ["list", "definition", "paragraph"]


def test_front_matter_in_toml_needs_no_spaces() -> None:
    document = spanwise.read_text("+++\ntitle='Żółw'\n+++\nText")
    assert [block.kind for block in document.blocks] == ["front_matter", "paragraph"]
    assert document.metadata.title == "Żółw"
