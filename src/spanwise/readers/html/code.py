"""Code on a page: its text, line by line, and its language by the classes around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANGUAGE: Final = re.compile(
    r"(?:^|[\s;])(?:language-|lang-|highlight-source-|brush:\s*|sourceCode\s+|src-)([A-Za-z0-9+#.-]+)"
)
_HIGHLIGHT: Final = re.compile(r"(?:^|\s)highlight-([a-z0-9+#]+)(?:\s|$)")
_NONE: Final = frozenset({"none", "text", "plain", "plaintext", "nohighlight", "default", "auto"})
_NAMED: Final = ("data-lang", "data-language", "data-syntaxhighlighter-params", "class", "lang")
_DIVIDED: Final = "br, script, style, template, .linenos, .lineno, .gutter, .line-numbers-rows, .hljs-ln-numbers"
_NUMBERS: Final = frozenset({"linenos", "lineno", "gutter", "line-numbers-rows", "hljs-ln-numbers"})
_NEVER_SHOWN: Final = frozenset({"script", "style", "template"})
_UNSEEN: Final = str.maketrans({"\u00a0": " ", "\u200b": "", "\ufeff": ""})


def code_in(node: LexborNode) -> str:
    """Return the text of an element of code, without line numbers."""
    text = node.text() if node.css_first(_DIVIDED) is None else "".join(_pieces(node))
    return text.translate(_UNSEEN)


def _pieces(node: LexborNode) -> Iterator[str]:
    """Yield the texts inside an element in order."""
    waiting = list(node.iter(include_text=True))[::-1]
    while waiting:
        inner = waiting.pop()
        if inner.is_text_node:
            yield inner.text_content or ""
        elif inner.tag == "br":
            yield "\n"
        elif inner.tag not in _NEVER_SHOWN and not _NUMBERS.intersection((inner.attributes.get("class") or "").split()):
            waiting += list(inner.iter(include_text=True))[::-1]


def code_language(node: LexborNode) -> str:
    """Return the language stated by an element of code, the code in it or the elements around it."""
    nodes = [node, node.css_first("code"), node.parent, node.parent.parent if node.parent else None]
    for candidate in nodes:
        if candidate is None or candidate.tag in {"body", "html", "main", "article"}:
            continue
        attributes = candidate.attributes
        for name in _NAMED[:2]:
            if value := attributes.get(name):
                return _known(value)
        for name in _NAMED[2:4]:
            value = attributes.get(name) or ""
            if found := _LANGUAGE.search(value) or _HIGHLIGHT.search(value):
                return _known(found[1])
    return ""


def _known(language: str) -> str:
    return "" if language.lower() in _NONE else language
