"""Helpers that open pages of `spanwise inspect` in headless Chromium, and scripts that read them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, Playwright

import spanwise
from proposing import offline
from spanwise.chunking.strategies import strategy_of
from spanwise.documents.document import Document
from spanwise.inspection import Inspection, TargetSizes, page_of
from spanwise.options import options_of
from spanwise.readers.pdf.page_images import page_images

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_CJK_FONTS: Final = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_CJK_NAME: Final = re.compile(r"cjk|wqy|sourcehan|droidsansfallback|arphic|unifont|ipa[gm]", re.IGNORECASE)


NO_DEJAVU: Final = "the DejaVu fonts are not installed"


def skip_or_fail(reason: str) -> None:
    """Skip a test that this machine can't run; in CI, where everything can be installed, fail."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@cache
def missing_for_browser_tests() -> str:
    """Return what browser tests need and this machine lacks; "" if nothing."""
    if not any(map(shutil.which, _NAMES)):
        return "Chromium is not installed"
    fonts = (name for folder in _CJK_FONTS for _, _, names in os.walk(Path(folder).expanduser()) for name in names)
    return "" if any(map(_CJK_NAME.search, fonts)) else "no font for Chinese and Japanese is installed"


def launched(playwright: Playwright) -> Browser:
    """Launch the installed Chromium; as root it has to run without its sandbox."""
    if missing := missing_for_browser_tests():
        skip_or_fail(missing)
    path = next(filter(None, map(shutil.which, _NAMES)))
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


def _chunked(document: Document, strategy: Any, options: dict[str, Any]) -> tuple[spanwise.Chunk, ...]:
    return spanwise.chunk(document, strategy, offsets=("utf16",), **offline(strategy), **options)


def records_of(document: Document, strategy: str = "structure", **options: Any) -> list[dict[str, Any]]:
    """Return the records of a document with UTF-16 offsets, which the page needs."""
    return [chunk.to_dict() for chunk in _chunked(document, strategy, options)]


def html_of(
    document: Document, strategy: str = "structure", pdf: Path | None = None, source: str | None = None, **options: Any
) -> str:
    """Return the page of a document, with page images for a `pdf`, with the rendered `source` for HTML."""
    checked = options_of(strategy_of(strategy).options, options)
    sizes = TargetSizes(*(getattr(checked, name, None) for name in ("max_tokens", "target_tokens", "min_tokens")))
    with ExitStack() as stack:
        inspection = Inspection(
            document, records_of(document, strategy, **options), strategy, "cl100k", options, sizes, "made",
            stack.enter_context(page_images(pdf)) if pdf else None, 2, source,
        )  # fmt: skip
        return "".join(page_of(inspection))


@contextmanager
def visited(browser: Browser, html: str, folder: Path, **context: Any) -> Iterator[Page]:
    """Open a page from a file; fail on any console message, page error or request for another resource."""
    path = folder / "page.html"
    path.write_bytes(html.encode())
    with browser.new_context(**context) as opened:
        page = opened.new_page()
        wrong: list[str] = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if _foreign(request.url, path) else None)
        page.goto(path.as_uri())
        yield page
        assert wrong == []


def _foreign(url: str, path: Path) -> bool:
    return not url.startswith(("data:", path.as_uri()))


WHOLE_TEXT: Final = "[...document.querySelectorAll('.text')].map((element) => element.textContent).join('')"
CORES: Final = """() => {
  const found = {};
  for (const element of document.querySelectorAll(".text [data-chunk]")) {
    found[element.dataset.chunk] = (found[element.dataset.chunk] ?? "") + element.textContent;
  }
  return found;
}"""
MARKED: Final = """(selector) => {
  const found = [];
  let reached = 0;
  for (const text of document.querySelectorAll(".text")) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (parentElement.closest(selector)) found.push([reached, data]);
      reached += [...data].length;
    }
  }
  return found;
}"""
DETAILS: Final = """(index) => {
  document.querySelector(`#chunk-${index} .label`).focus();
  return {
  ids: [...document.querySelectorAll("#details .id")].map((element) => element.textContent),
  said: document.querySelector("#details").textContent,
  embedded: document.querySelector("#details .embedding").textContent,
  template: [...document.querySelectorAll("#details .embedding .template")].map((each) => each.textContent).join(""),
  pieces: [...document.querySelectorAll("#details .piece")].map((each) => [
    [...each.classList].find((name) => ["core", "context"].includes(name) || name.startsWith("overlap_")),
    each.textContent,
  ]),
  lit: Object.fromEntries([...CSS.highlights].map(([name, highlight]) => [name, [...highlight].map((range) => {
    const whole = document.createRange();
    whole.setStart(range.startContainer, range.startOffset);
    whole.setEnd(range.endContainer, range.endOffset);
    return whole.toString();
  }).join("")])),
  current: [...document.querySelectorAll("[data-chunk].current")].map((each) => each.textContent).join(""),
  };
}"""

CONTRAST: Final = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && element.parentElement ? behind(element.parentElement) : colour;
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *:not(script, noscript, style, svg, svg *)")) {
    const worded = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!worded && !element.matches(".label")) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) poor.push(`${element.className || element.tagName} ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}"""


def positions(marked: list[tuple[int, str]]) -> set[int]:
    """Return the offsets of all visible characters that are marked."""
    return {
        start + index for start, text in marked for index, letter in enumerate(text) if not letter.isspace()
    }  # fmt: skip
