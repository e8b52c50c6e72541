"""The engines that read web pages, each called in the usual way for the main text as Markdown, or as text.

    python bench/web_engines.py NAME JOB.json OUTPUT.json

runs one of them over groups of files, in its own process, as `pdf_engines.py` does. All get the page as a string.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pdf_engines import Engine, Read, main


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


def _selectolax() -> Read:
    from selectolax.lexbor import LexborHTMLParser

    def read(path: str) -> str:
        body = LexborHTMLParser(_read(path)).body
        return body.text(separator=" ") if body else ""

    return read


def _spanwise(*, keep_all: bool) -> Callable[[], Read]:
    def start() -> Read:
        import spanwise

        return lambda path: spanwise.read_text(_read(path), format="html", keep_all=keep_all).text

    return start


def _html_to_markdown() -> Read:
    import html_to_markdown

    return lambda path: html_to_markdown.convert(_read(path)).content or ""


def _trafilatura() -> Read:
    import trafilatura

    return lambda path: trafilatura.extract(_read(path), output_format="markdown", include_links=True) or ""


def _markdownify() -> Read:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    engine = MarkdownConverter(heading_style="ATX")

    def read(path: str) -> str:
        soup = BeautifulSoup(_read(path), "html.parser")
        for element in soup(["script", "style"]):
            element.extract()
        return str(engine.convert_soup(soup))

    return read


def _html2text() -> Read:
    import html2text

    def read(path: str) -> str:
        engine = html2text.HTML2Text(bodywidth=0)
        return str(engine.handle(_read(path)))

    return read


def _markitdown() -> Read:
    from io import BytesIO

    from markitdown import MarkItDown, StreamInfo

    engine = MarkItDown(enable_plugins=False)
    kind = StreamInfo(extension=".html", mimetype="text/html", charset="utf-8")
    return lambda path: engine.convert_stream(BytesIO(_read(path).encode()), stream_info=kind).markdown


def _inscriptis() -> Read:
    import inscriptis

    return lambda path: inscriptis.get_text(_read(path))


def _resiliparse() -> Read:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda path: extract_plain_text(_read(path), main_content=True)


BARE = "lexbor's plain text"
ENGINES = (
    Engine(BARE, "selectolax", _selectolax, markdown=False, tables=False),
    Engine("Spanwise", "spanwise", _spanwise(keep_all=False), ours=True),
    Engine("Spanwise, keep_all", "spanwise", _spanwise(keep_all=True), ours=True),
    Engine("html-to-markdown", "html-to-markdown", _html_to_markdown),
    Engine("trafilatura", "trafilatura", _trafilatura),
    Engine("markdownify", "markdownify", _markdownify),
    Engine("html2text", "html2text", _html2text),
    Engine("MarkItDown", "markitdown", _markitdown),
    Engine("inscriptis", "inscriptis", _inscriptis, markdown=False, tables=False),
    Engine("Resiliparse", "resiliparse", _resiliparse, markdown=False, tables=False),
)


if __name__ == "__main__":
    main(ENGINES)
