"""PDFs printed by a browser: tagged and untagged, in every language."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any, Final, NamedTuple

from PIL import Image

from made_pdfs import Expected, Made, figure, markdown_table, printed_all
from pdf_makers import TARGET
from pdf_texts import CODE, LANGUAGES, TEXTS

_STYLE: Final = """
@page { size: A4; margin: 25mm }
body { font: 11pt/1.4 "DejaVu Sans", "Noto Sans CJK SC", sans-serif }
pre { font-family: "DejaVu Sans Mono", monospace }
.new { break-before: page } .two { columns: 2 }
td, th { border: 1px solid black; padding: 4px 8px; text-align: left } table { border-collapse: collapse }
"""


class Page(NamedTuple):
    """A page to print, its expected blocks, and its print options."""

    html: str
    blocks: tuple[Expected, ...]
    options: dict[str, Any]


def _page(language: str, body: str, *blocks: Expected, **options: Any) -> Page:
    title = escape(TEXTS[language].title)
    html = f'<!doctype html><html lang="{language}"><title>{title}</title><style>{_STYLE}</style><body>{body}'
    return Page(html, blocks, options)


def _row(cells: tuple[str, ...], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    body = "".join(map(_row, rows[1:]))
    return f"<table><thead>{_row(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


@cache
def _picture() -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), (20, 120, 40)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def handbook(language: str, *, tagged: bool = True) -> Page:
    """Return a page with a little of everything."""
    texts = TEXTS[language]
    first, (below, beside), last = texts.items
    body = f"""
    <h1>{texts.title}</h1><p>{texts.body[0]}</p>
    <h2>{texts.sections[0]}</h2>
    <ul><li>{first}<ul><li>{below}</li><li>{beside}</li></ul></li><li>{last}</li><li>{texts.long_item}</li></ul>
    <p>{texts.body[1]}</p>
    <h2 class="new">{texts.sections[1]}</h2>
    <ol>{"".join(f"<li>{step}</li>" for step in texts.steps)}</ol>
    {_table(texts.rows)}
    <h3>{texts.sections[2]}</h3><p>{texts.body[2]}</p>
    <pre>{CODE}</pre>
    <figure><img src="{_picture()}" width="200" height="150"><figcaption>{texts.caption}</figcaption></figure>
    """
    blocks = (
        Expected("heading", f"# {texts.title}", 1, 1), Expected("paragraph", texts.body[0]),
        Expected("heading", f"## {texts.sections[0]}", 1, 2),
        Expected("list", f"- {first}\n  - {below}\n  - {beside}\n- {last}\n- {texts.long_item}"),
        Expected("paragraph", texts.body[1]),
        Expected("heading", f"## {texts.sections[1]}", 2, 2),
        Expected("list", "\n".join(f"{number}. {step}" for number, step in enumerate(texts.steps, 1)), 2),
        Expected("table", markdown_table(texts.rows), 2),
        Expected("heading", f"### {texts.sections[2]}", 2, 3), Expected("paragraph", texts.body[2], 2),
        Expected("code", f"```\n{CODE}\n```", 2), Expected("figure", figure(texts.caption, 2), 2),
    )  # fmt: skip
    return _page(language, body, *blocks, tagged=tagged, outline=tagged)


def untagged_handbook(language: str) -> Page:
    return handbook(language, tagged=False)


def leaflet(language: str) -> Page:
    """Return two columns, then narrow lines: with a link over several of them, and words that may be hyphenated."""
    texts = TEXTS[language]
    before, link, after = texts.linked
    between = "" if language == "zh" else " "
    lines, flowing = texts.hyphened
    soft = flowing if language == "zh" else f"{lines[0][:-1]}&shy;{lines[1]} {lines[2]}{lines[3]}"
    body = f"""
    <h1>{texts.title}</h1><div class="two">{"".join(f"<p>{text}</p>" for text in texts.body)}</div>
    <h2 class="new">{texts.sections[0]}</h2>
    <p style="width: 15em">{before}{between}<a href="{TARGET}">{link}</a>{between}{after}</p>
    <p style="width: 15em">{soft}</p>
    """
    blocks = (
        Expected("heading", f"# {texts.title}", 1, 1), *(Expected("paragraph", text) for text in texts.body),
        Expected("heading", f"## {texts.sections[0]}", 2, 2), Expected("paragraph", between.join(texts.linked), 2),
        Expected("paragraph", flowing, 2),
    )  # fmt: skip
    return _page(language, body, *blocks, tagged=True)


def untagged_leaflet(language: str) -> Page:
    page = leaflet(language)
    return page._replace(options={"tagged": False})


def long_rows(language: str) -> list[tuple[str, ...]]:
    """Return the rows of the table that spans pages, its head first."""
    head, *rows = TEXTS[language].rows
    return [head, *((name, str(number), site) for number, (name, _, site) in enumerate(rows * 15, 1001))]


def long_table(language: str) -> Page:
    """Return a table over two pages; the browser repeats its head."""
    body = f"<p>{TEXTS[language].body[0]}</p>{_table(long_rows(language))}"
    return _page(language, body, tagged=False)


def tagged_long_table(language: str) -> Page:
    page = long_table(language)
    return page._replace(options={"tagged": True})


def furnished(language: str) -> Page:
    """Return three pages with a header and a footer."""
    texts = TEXTS[language]
    small = 'style="font-size: 8px; width: 100%; text-align: center"'
    body = "".join(
        f'<h2 class="new">{title}</h2><p>{text}</p>' for title, text in zip(texts.sections, texts.body, strict=True)
    )
    blocks = [
        block
        for number, (title, text) in enumerate(zip(texts.sections, texts.body, strict=True), 1)
        for block in (Expected("heading", f"## {title}", number, 2), Expected("paragraph", text, number))
    ]
    number = texts.page.format('<span class="pageNumber"></span>')
    return _page(
        language,
        body,
        *blocks,
        tagged=True,
        display_header_footer=True,
        header_template=f"<div {small}>{texts.running[0]}</div>",
        footer_template=f"<div {small}>{number}</div>",
    )


def merged_table(language: str) -> Page:
    """Return a table with cells that span two columns and two rows, and one with several lines."""
    texts = TEXTS[language]
    (one, two, three), first, second, _ = texts.rows
    body = f"""<p>{texts.body[0]}</p><table style="width: 300px">
    <tr><th>{one}</th><th>{two}</th><th>{three}</th></tr>
    <tr><td rowspan="2">{first[0]}</td><td>{first[1]}</td><td>{texts.long_item}</td></tr>
    <tr><td>{second[1]}</td><td>{second[2]}</td></tr>
    <tr><td colspan="2">{texts.items[0]}</td><td>{texts.items[2]}</td></tr></table><p>{texts.body[1]}</p>"""
    rows = (
        (one, two, three), (first[0], first[1], texts.long_item), ("", second[1], second[2]),
        (texts.items[0], "", texts.items[2]),
    )  # fmt: skip
    blocks = (
        Expected("paragraph", texts.body[0]),
        Expected("table", markdown_table(rows)),
        Expected("paragraph", texts.body[1]),
    )
    return _page(language, body, *blocks, tagged=True)


def untagged_merged_table(language: str) -> Page:
    page = merged_table(language)
    return page._replace(options={"tagged": False})


LONG_CODE: Final = f"{CODE}\n\n\n# next\nfor gauge in gauges:\n    if gauge:\n        print(mean(*gauge))"
_BODY: Final = TEXTS["en"].body
_CODE_PAGE: Final = (
    f'<p>{_BODY[0]}</p><pre style="font-size: 10pt; line-height: 1.2">{LONG_CODE}</pre><p>{_BODY[1]}</p>'
)
SINGLE: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "tags against looks": (
        f"""<h2 style="font-size: 11pt; font-weight: normal">Small but a heading</h2><p>{_BODY[0]}</p>
        <p style="font-size: 16pt">{_BODY[2]}</p><p>{_BODY[1]}</p>""",
        {"tagged": True},
    ),
    "link in a table": (
        f"""<p>{_BODY[0]}</p><table><tr><th>Pump</th><th>Page</th></tr>
        <tr><td>Anna</td><td><a href="{TARGET}">of Anna</a></td></tr><tr><td>Berta</td><td>none</td></tr></table>""",
        {"tagged": True},
    ),
    "underlined": ("".join(f"<p>{text[:60]}<u>{text[60:90]}</u>{text[90:]}</p>" for text in _BODY), {"tagged": False}),
    "code": (_CODE_PAGE, {"tagged": False}),
    "tagged code": (_CODE_PAGE, {"tagged": True}),
    "name of code": (
        f"<p>Call <code>mean(left, right)</code> for the mean of both values. {_BODY[0]}</p><p>{_BODY[1]}</p>",
        {"tagged": False},
    ),
}


def emphasized(language: str) -> Page:
    """Return paragraphs that begin or end in bold."""
    texts = TEXTS[language]
    pairs = [(texts.sections[0] + ":", texts.body[0]), (texts.body[1], texts.steps[0])]
    body = f"<p><b>{pairs[0][0]}</b> {pairs[0][1]}</p><p>{pairs[1][0]} <b>{pairs[1][1]}</b></p>"
    return _page(language, body, *(Expected("paragraph", " ".join(pair)) for pair in pairs), tagged=False)


PRINTS: Final[dict[str, Callable[[str], Page]]] = {
    maker.__name__: maker
    for maker in (
        handbook, untagged_handbook, leaflet, untagged_leaflet, long_table, tagged_long_table, furnished, merged_table,
        untagged_merged_table, emphasized,
    )
}  # fmt: skip


@cache
def _all() -> dict[str, Made]:
    pages = {f"{name}.{language}": PRINTS[name](language) for name in PRINTS for language in LANGUAGES}
    pages |= {name: _page("en", html, **options) for name, (html, options) in SINGLE.items()}
    done = printed_all({name: (page.html, page.options) for name, page in pages.items()})
    return {name: Made(data, pages[name].blocks) for name, data in done.items()}


def printed(name: str, language: str) -> Made:
    """Return a printed PDF; the first call prints all of them."""
    return _all()[f"{name}.{language}"]


def printed_page(name: str) -> bytes:
    """Return the PDF of one of the `SINGLE` pages."""
    return _all()[name].data
