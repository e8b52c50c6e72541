"""The handlers of HTML elements: one table by element name.

The handlers of storage format build on them, so they require little of a walker: a collector, and a method that walks
the children.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from spanwise.readers.html.boilerplate import Attributes, is_idle_button
from spanwise.readers.html.code import code_in, code_language
from spanwise.readers.markup.collector import Collector, SourcePath

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST_SPANNED: Final = 1000
_ANCHORS: Final = frozenset({"", "#", "¶", "§", "🔗", "∞", "link"})


class ElementPath(SourcePath, Protocol):
    """The path of an element during a walk."""

    @property
    def name(self) -> str:
        """The name of the element."""

    @property
    def parent(self) -> ElementPath | None:
        """The path of the parent element."""


class Walker(Protocol):
    """A walk over a tree."""

    collector: Collector
    keep_all: bool

    def children(self, node: Any, path: Any, depth: int) -> None:
        """Walk the children of an element."""

    def leave_out(self, node: Any, path: Any, reason: str) -> None:
        """Leave an element out."""


Handler = Callable[[Any, Any, Attributes, Any, int], None]


def flow(walk: Walker, node: Any, _: Attributes, path: SourcePath, depth: int) -> None:
    """Handle an element that only groups others."""
    walk.collector.enter(path)
    walk.children(node, path, depth)
    walk.collector.finish()


def collect(walk: Walker, node: Any, path: SourcePath, depth: int, kind: str, **known: Any) -> None:
    """Collect an element as a kind of its own."""
    walk.collector.begin(kind, path, **known)
    walk.children(node, path, depth)
    walk.collector.finish()


def framed(kind: str, **known: Any) -> Handler:
    """Return a handler of elements that are collected as a kind of their own."""
    return lambda walk, node, _, path, depth: collect(walk, node, path, depth, kind, **known)


def _marked(sign: str) -> Handler:
    def handle(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, depth: int) -> None:
        walk.collector.inline.mark(sign)
        walk.children(node, path, depth)
        walk.collector.inline.close()

    return handle


def _coded(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, depth: int) -> None:
    walk.collector.inline.open_code()
    walk.children(node, path, depth)
    walk.collector.inline.close_code()


def _quoted(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, depth: int) -> None:
    walk.collector.add_text('"')
    walk.children(node, path, depth)
    walk.collector.add_text('"')


def _link(walk: Walker, node: LexborNode, attributes: Attributes, path: ElementPath, depth: int) -> None:
    target = (attributes.get("href") or "").strip()
    if walk.collector.is_in("heading") and target.startswith("#") and (node.text().strip().lower() in _ANCHORS):
        walk.collector.offset += len(node.text())
        return
    walk.collector.inline.link("" if target.lower().startswith("javascript:") else target)
    walk.children(node, path, depth)
    walk.collector.inline.close()


def _image(walk: Walker, _: LexborNode, attributes: Attributes, __: ElementPath, ___: int) -> None:
    source, alternative = (attributes.get("src") or "").strip(), (attributes.get("alt") or "").strip()
    classes = attributes.get("class") or ""
    if "emoticon" in classes or "emoji" in classes:
        walk.collector.add_text(alternative or attributes.get("data-emoji-short-name") or "")
        return
    lazy = (attributes.get("data-src") or attributes.get("data-original") or "").strip()
    if source.startswith("data:") or not source:
        source = lazy
    if attributes.get("width") in {"0", "1"} or attributes.get("height") in {"0", "1"} or not (source or alternative):
        return
    walk.collector.image(source, alternative)


def _code(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, __: int) -> None:
    walk.collector.code(code_in(node), code_language(node), path)
    walk.collector.offset += len(node.text())


def _numbered(walk: Walker, node: LexborNode, attributes: Attributes, path: ElementPath, depth: int) -> None:
    collect(walk, node, path, depth, "list", first=_number(attributes.get("start")))


def _cell(walk: Walker, node: LexborNode, attributes: Attributes, path: ElementPath, depth: int) -> None:
    spans = (_number(attributes.get(name)) for name in ("colspan", "rowspan"))
    columns, rows = (min(max(span, 1), _MOST_SPANNED) for span in spans)
    collect(walk, node, path, depth, "cell", columns=columns, rows=rows, head=path.name == "th")


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 1


def _row(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, depth: int) -> None:
    collect(walk, node, path, depth, "row", head=path.parent is not None and path.parent.name == "thead")


def _table(walk: Walker, node: LexborNode, attributes: Attributes, path: ElementPath, depth: int) -> None:
    collect(walk, node, path, depth, "table", layout=attributes.get("role") in {"presentation", "none"})


def _input(walk: Walker, _: LexborNode, attributes: Attributes, __: ElementPath, ___: int) -> None:
    if attributes.get("type") == "checkbox" and walk.collector.is_in("item"):
        walk.collector.set_known("item", checked="checked" in attributes)


def _button(walk: Walker, node: LexborNode, _: Attributes, path: ElementPath, depth: int) -> None:
    if not walk.keep_all and not walk.collector.is_in("heading") and is_idle_button(node.text()):
        walk.leave_out(node, path, "button")
    else:
        walk.children(node, path, depth)


def _drawing(walk: Walker, node: LexborNode, _: Attributes, __: ElementPath, ___: int) -> None:
    walk.collector.add_text(" ".join(inner.text() for inner in node.css("text")))
    walk.collector.offset += len(node.text())


_FLOWING: Final = (
    "address article aside body center dd div fieldset footer form header hgroup legend main nav p search section "
    "details optgroup option dialog"
)
_SIGNS: Final = {
    "strong": "**", "b": "**", "em": "*", "i": "*", "cite": "*", "dfn": "*", "var": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(_FLOWING.split(), flow),
    **{tag: _marked(sign) for tag, sign in _SIGNS.items()},
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _coded),
    **{f"h{level}": framed("heading", level=level) for level in range(1, 7)},
    **dict.fromkeys(("ul", "menu", "dir"), framed("list")),
    **dict.fromkeys(("td", "th"), _cell),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _code),
    "br": lambda walk, *_: walk.collector.line_break(),
    "hr": lambda walk, node, attributes, path, depth: walk.collector.rule(path),
    "a": _link, "img": _image, "q": _quoted, "input": _input, "button": _button,
    "ol": _numbered, "li": framed("item"), "blockquote": framed("quote"), "svg": _drawing,
    "table": _table, "tr": _row, "caption": framed("caption"),
    "figure": framed("figure"), "figcaption": framed("caption"),
    "dl": framed("definitions"), "dt": framed("term"), "summary": framed("summary"),
}  # fmt: skip
