"""Code on a page: its text, line by line, and the language that classes around it name."""

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
    """Give the lines of code, without numbers beside them."""
    text = node.text() if node.css_first(_DIVIDED) is None else "".join(_pieces(node))
    return text.translate(_UNSEEN)


def _pieces(node: LexborNode) -> Iterator[str]:
    """Give the text in order; deep inside, only as it stands."""
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
    """Find the language that an element of code, what is in it or what is around it says."""
    places = [node, node.css_first("code"), node.parent, node.parent.parent if node.parent else None]
    for place in places:
        if place is None or place.tag in {"body", "html", "main", "article"}:
            continue
        attributes = place.attributes
        for name in _NAMED[:2]:
            if said := attributes.get(name):
                return _known(said)
        for name in _NAMED[2:4]:
            said = attributes.get(name) or ""
            if found := _LANGUAGE.search(said) or _HIGHLIGHT.search(said):
                return _known(found[1])
    return ""


def _known(language: str) -> str:
    return "" if language.lower() in _NONE else language
