"""A page as a list of steps to build it: only visible content is in it, so nothing in it can act or load.

The browser never parses the page. A script creates its elements one by one, and only what is on a list here is
created: no script, no frame, no handler, no address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.readers.html.tree import Path, parsed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_DROPPED: Final = frozenset({
    "animate", "animatemotion", "animatetransform", "applet", "audio", "base", "canvas", "discard", "embed",
    "fencedframe", "frame", "frameset", "iframe", "link", "meta", "noembed", "noframes", "noscript",
    "object", "param", "portal", "script", "set", "source", "style", "template", "title", "track", "video",
})  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z][\w.:-]*", re.ASCII)
_NAMESPACES: Final = {"svg": 1, "math": 2}
_HTML_INSIDE: Final = frozenset({"foreignObject", "desc", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"})
"""Elements of drawings and formulas whose content is HTML again."""
_PROPERTIES: Final = frozenset({"button", "fieldset", "form", "img", "input", "output", "select", "textarea"})
"""Elements that become properties of a form or document by their id: `form.append` might be one of them."""
_VISUAL: Final = frozenset({
    "align", "alt", "bgcolor", "border", "cellpadding", "cellspacing", "checked", "class", "clear", "color", "cols",
    "colspan", "compact", "dir", "disabled", "face", "frame", "height", "hidden", "id", "kind", "label", "lang",
    "multiple", "noshade", "nowrap", "open", "placeholder", "reversed", "role", "rows", "rowspan", "rules", "scope",
    "selected", "size", "span", "start", "style", "summary", "title", "type", "valign", "value", "width", "wrap",
})  # fmt: skip
"""Attributes that affect the appearance of an element."""
_LINKS: Final = frozenset({"href", "xlink:href"})
_PICTURE: Final = re.compile(r"\s*data:image/", re.IGNORECASE)
_ADDRESS: Final = re.compile(
    r"""url\(\s{0,9}(?:"[^"]{0,2000}"|'[^']{0,2000}'|[^)"']{0,2000})\s{0,9}\)""", re.IGNORECASE
)
_KEPT: Final = re.compile(r"""url\(\s{0,9}["']?\s{0,9}(?:data:image/|#)""", re.IGNORECASE)
_LOADING: Final = re.compile(r"@import\b[^;]{0,2000};?|@font-face\s{0,9}\{[^}]{0,20000}\}", re.IGNORECASE)


class Tree(NamedTuple):
    """What to build: `[name, attributes, namespace]` opens an element, a string is text, a number closes so many.

    `numbers` maps the XPath of each element that is built to its index among them. `unstyled` is a page whose own
    style is not available.
    """

    steps: list[Any]
    sheets: list[tuple[str, str]]
    numbers: dict[str, int]
    unstyled: bool


def tree_of(html: str) -> Tree:
    """Return the steps that build a page, and its style sheets."""
    page = parsed(html)
    styles = [(harmless(style.text()), style.attributes.get("media") or "") for style in page.css("style")]
    linked = any("stylesheet" in (link.attributes.get("rel") or "").lower() for link in page.css("link[rel]"))
    if page.root is None:
        return Tree([], styles, {}, unstyled=True)
    builder = _Builder()
    builder.walk(page.root)
    return Tree(builder.steps, styles, builder.numbers, linked or not styles)


def harmless(css: str) -> str:
    """Remove addresses from a style sheet: browsers would refuse them anyway, with many messages."""
    css = _LOADING.sub("", css)
    return _ADDRESS.sub(lambda found: found[0] if _KEPT.match(found[0]) else "url(data:,)", css)


class _Builder:
    """A walk through the tree without recursion: pages may be nested arbitrarily deep."""

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.numbers: dict[str, int] = {}

    def walk(self, root: LexborNode) -> None:
        self._open(root, "html", 0, Path(None, "html", 1))
        pending = [(root.first_child, Path(None, "html", 1), dict[str, int](), 0)]
        while pending:
            node, path, counts, namespace = pending.pop()
            if node is None:
                self._close()
                continue
            pending.append((node.next, path, counts, namespace))
            tag = node.tag or "-"
            if tag == "-text":
                self.steps.append(node.text_content or "")
            elif tag[0] not in "-!":
                counts[tag] = counts.get(tag, 0) + 1
                if tag.lower() not in _DROPPED:
                    child_namespace = _NAMESPACES.get(tag, namespace)
                    child_path = Path(path, tag, counts[tag])
                    self._open(node, tag, child_namespace, child_path)
                    pending.append((node.first_child, child_path, {}, 0 if tag in _HTML_INSIDE else child_namespace))

    def _open(self, node: LexborNode, tag: str, namespace: int, path: Path) -> None:
        self.numbers[path.xpath] = len(self.numbers)
        name = tag if _NAME.fullmatch(tag) else "span"
        self.steps.append([name, attributes_of(tag, node.attributes, drawn=namespace > 0), namespace])

    def _close(self) -> None:
        if self.steps and self.steps[-1].__class__ is int:
            self.steps[-1] += 1
        else:
            self.steps.append(1)


def attributes_of(tag: str, given: Mapping[str, str | None], *, drawn: bool) -> dict[str, str]:
    """Return the attributes that affect appearance; of addresses only pictures embedded in the page itself."""
    kept: dict[str, str] = {}
    for name, given_value in given.items():
        value = given_value or ""
        if name == "id" and tag in _PROPERTIES:
            continue
        if name in _VISUAL or name.startswith(("aria-", "data-")):
            kept[name] = value
        elif name in _LINKS:
            if tag in {"a", "area"} and not drawn:
                kept[name] = "#"  # so that it is styled as a link
            elif value.startswith("#"):
                kept[name] = value
        elif (name == "src" and tag == "img" and _PICTURE.match(value)) or (drawn and _is_drawing(name)):
            kept[name] = value
    return {name: harmless(value) if "(" in value else value for name, value in kept.items() if _NAME.fullmatch(name)}


def _is_drawing(name: str) -> bool:
    """Whether an attribute of a drawing or formula affects only its appearance."""
    return not name.lower().startswith("on") and name.lower() not in {"src", "ping", "target", "download", "from", "to"}
