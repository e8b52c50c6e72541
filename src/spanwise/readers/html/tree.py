"""The tree of a page as browsers build it: parsing with a guard against hostile nesting, and element paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from spanwise.errors import MissingExtraError, UnreadableError
from spanwise.readers.markup.elements import Reference

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

DAMAGED: Final = "it is damaged: open and save it again, or leave it out"
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?:[^<>]*(/)>)?")
_FEW: Final = 4000  # fewer tags can't nest deeply enough to be slow
_DEEPEST: Final = 3000
_MOST_ATTRIBUTES: Final = 10_000
_LONG_TAG: Final = 40_000
_VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_CLOSED_BY_THE_NEXT: Final = frozenset({
    "p", "li", "td", "th", "tr", "tbody", "thead", "tfoot", "dt", "dd", "option", "optgroup", "a", "nobr", "button",
    "rt", "rp", "colgroup", "caption", "html", "head", "body",
})  # fmt: skip
_FOREIGN: Final = frozenset({"svg", "math"})
_ONLY_ONES: Final = frozenset({"html", "head", "body"})
_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_ODD_LETTER: Final = re.compile(r"[!-,./:-@\[-^`{-~]")


def _quoted(name: str) -> str:
    """Return a name as an XPath string literal, which has no escapes."""
    return f"'{name}'" if "'" not in name else f'"{name}"'


@lru_cache(maxsize=256)
def _named(name: str) -> tuple[str, str]:
    """Return the name of an element for XPath and for CSS; cached, as most pages repeat few names."""
    xpath = name if _PLAIN_NAME.fullmatch(name) else f"*[local-name()={_quoted(name)}]"
    return xpath, _ODD_LETTER.sub(r"\\\g<0>", name)


@dataclass(slots=True, eq=False)
class Path:
    """The path of an element from the root; formatted only on demand."""

    parent: Path | None
    name: str
    index: int  # among siblings of that name, from 1
    _xpath: str | None = None
    _css: str | None = None

    @property
    def xpath(self) -> str:
        """The path as an XPath."""
        if self._xpath is None:
            step = self.name if self.name in _ONLY_ONES else f"{_named(self.name)[0]}[{self.index}]"
            self._xpath = f"{self.parent.xpath if self.parent else ''}/{step}"
        return self._xpath

    @property
    def css(self) -> str:
        """The path as a CSS selector."""
        if self._css is None:
            step = self.name if self.name in _ONLY_ONES else f"{_named(self.name)[1]}:nth-of-type({self.index})"
            self._css = f"{self.parent.css} > {step}" if self.parent and self.parent.name != "html" else step
        return self._css

    def reference(self, offset: int) -> Reference:
        """Return the source reference; `offset` characters of the page's text come before the element."""
        return {"xpath": self.xpath, "css_selector": self.css, "text_offset": offset}


def parsed(html: str, name: str = "html") -> LexborHTMLParser:
    """Parse as browsers do; refuse what would take the parser very long."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        hint = 'pip install "spanwise[html]"'
        raise MissingExtraError("selectolax", "is needed to read HTML", hint=hint) from error
    if html.count("<") > _FEW and _depth(html) > _DEEPEST:
        raise UnreadableError(name, f"is nested more than {_DEEPEST:,} elements deep", hint=DAMAGED)
    refuse_long_tags(html, name)
    return LexborHTMLParser(html)


def refuse_long_tags(html: str, name: str) -> None:
    """Raise UnreadableError for absurdly many attributes: parsers compare each with all others."""
    if len(html) <= _LONG_TAG:
        return
    pieces = html.split(">")
    if max(map(len, pieces)) >= _LONG_TAG and any(map(_is_a_long_tag, pieces)):
        rule = f"has an element with more than {_MOST_ATTRIBUTES:,} attributes"
        raise UnreadableError(name, rule, hint=DAMAGED)


def _is_a_long_tag(piece: str) -> bool:
    """Whether a text without `>` is a tag full of attributes, not text or a script with a `<` in it."""
    if len(piece) < _LONG_TAG or not (opened := _TAG.search(piece)):
        return False
    attributes = piece[opened.start() :].split(None, _MOST_ATTRIBUTES)
    return len(attributes) > _MOST_ATTRIBUTES and piece.count("<", opened.end()) < len(attributes) // 10


def _depth(html: str) -> int:
    """Return an upper estimate of the nesting depth, without the parser, which it has to protect."""
    opened: dict[str, int] = {}
    depth = deepest = foreign = 0
    for closing, name, closed in _TAG.findall(html):
        tag = name.lower()
        if tag in _VOID or (tag in _CLOSED_BY_THE_NEXT and foreign <= 0):
            continue
        if closing:
            if opened.get(tag, 0):
                opened[tag] -= 1
                depth -= 1
                foreign -= tag in _FOREIGN
        elif not (closed and foreign):
            opened[tag] = opened.get(tag, 0) + 1
            foreign += tag in _FOREIGN
            depth += 1
            deepest = max(deepest, depth)
    return deepest
