"""Hypothesis strategies for Markdown with every kind of block, in many scripts, well-formed and malformed."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = (
    "lorem", "ipsum", "Dr.", "went!", "end.", "Next", "zażółć", "gęślą", "Größe", "z.B.", "привет", "мир.", "т.е.",
    "中文句子。", "没有标点", "日本語「テスト。」",
    "👩‍👩‍👧", "🇵🇱🇩🇪", "e\u0301", "\u200b", "\u0301", "\u0600x", "न्दि", "`code`", "**bold**",
    "[link](http://x.y)", "![image](i.png)", "[^1]", "a|b", "\\|", "<b>x</b>", "<figure>f</figure>", "<figure>",
    "</figure>", "https://a.b/c?d=e", "3.14", "1.", "-", ">", "#", "{{< note >}}", "<|endoftext|>", "don't", "x" * 40,
    "'s", "/", "…", "(see", "fig.)", "<!-- c -->", "\\", "&amp;", "\t", "  ",
)  # fmt: skip

word = st.sampled_from(WORDS)
line = st.lists(word, max_size=12).map(" ".join)
long_line = st.lists(word, max_size=90).map(" ".join)
lines = st.lists(line, min_size=1, max_size=8).map("\n".join)

heading = st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 6), line)
setext = st.builds(lambda title, mark: f"{title}\n{mark * 3}", line, st.sampled_from("=-"))
item = st.builds(
    lambda depth, mark, words: f"{'  ' * depth}{mark} {words}",
    st.integers(0, 4),
    st.sampled_from(("-", "*", "1.", "- [x]", "+")),
    line,
)
items = st.lists(item, min_size=1, max_size=12).map("\n".join)
loose_items = st.lists(item, min_size=1, max_size=6).map("\n\n".join)


@st.composite
def table(draw: st.DrawFn) -> str:
    """Draw a table with a few columns and up to twenty rows."""
    columns = draw(st.integers(1, 4))
    row = st.lists(line.map(lambda words: words.replace("|", "")), min_size=columns, max_size=columns)
    rows = [f"| {' | '.join(cells)} |" for cells in draw(st.lists(row, min_size=1, max_size=20))]
    return "\n".join([rows[0], "|" + "---|" * columns, *rows[1:]])


@st.composite
def fenced(draw: st.DrawFn) -> str:
    """Draw a code block that may be unclosed."""
    fence = draw(st.sampled_from(("```", "~~~~", "```py")))
    indent = st.sampled_from(("", "  ", "\t", "    "))
    body = draw(st.lists(st.builds(lambda space, words: space + words, indent, line), max_size=20))
    closing = [fence.rstrip("py")] if draw(st.booleans()) else []
    return "\n".join([fence, *body, *closing])


quote = st.lists(line.map(lambda words: f"> {words}"), min_size=1, max_size=8).map("\n".join)
indented = st.lists(line.map(lambda words: f"    {words}"), min_size=1, max_size=5).map("\n".join)
figure = st.builds(
    lambda words, gap: f"<figure>{gap}{words}{gap}</figure>", long_line, st.sampled_from(("", "\n", "\n\n"))
)
html = lines.map(lambda words: f"<div>\n{words}\n</div>")
comment = lines.map(lambda words: f"<!-- {words.replace('-->', '')} -->")
footnote = st.builds(lambda first, second: f"[^1]: {first}\n\n    {second}", line, line)
definition = st.integers(0, 9).map(lambda number: f'[r{number}]: http://x.y/z "title"')
other = st.sampled_from(("---", "***", "\n\n\n", "   ", "+++", "|", "```", "<", "&"))

block = st.one_of(
    heading, setext, long_line, long_line, lines, items, loose_items, table(), fenced(), quote, indented, figure, html,
    comment, footnote, definition, other,
)  # fmt: skip
opening = st.sampled_from(("", "", "", "\ufeff", "---\ntitle: A title\nlabels: [a]\n---\n", "+++\ntitle = 'T'\n+++\n"))


@st.composite
def markdown(draw: st.DrawFn) -> str:
    """Draw a document."""
    gap = draw(st.sampled_from(("\n\n", "\n\n", "\n", "\r\n\r\n")))
    return draw(opening) + gap.join(draw(st.lists(block, min_size=1, max_size=12)))
