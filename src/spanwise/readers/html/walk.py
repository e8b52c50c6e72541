"""One walk over the tree of a page: every element is handed to the collector, or left out and said to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from spanwise.documents import LeftOut
from spanwise.readers.html import widgets
from spanwise.readers.html.chrome import UNSEEN, Attributes, is_idle_button, is_too_long, reason_outside, reason_to_leave
from spanwise.readers.html.code import code_in, language_of
from spanwise.readers.html.tree import Path
from spanwise.readers.markup.collecting import Collector

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_DEEPEST: Final = 160  # elements below are only text: Python's own stack has an end
_SHORT: Final = 80
_MOST_SPANNED: Final = 1000
_ANCHORS: Final = frozenset({"", "#", "¶", "§", "🔗", "∞", "link"})
_ALWAYS_NAMED: Final = frozenset({"nav", "dialog"})
_NOT_NAMED: Final = frozenset({"hidden", "line numbers"})


class Walk:
    """The walk: what it collects, and what it leaves out."""

    def __init__(self, collector: Collector, *, keep_all: bool) -> None:
        """Begin at the start of the page's text."""
        self.collector = collector
        self.left_out: list[LeftOut] = []
        self.keep_all = keep_all
        self._names: dict[str, str] = {}

    def towards(self, node: LexborNode, path: Path, way: list[int]) -> None:
        """Go from an element to the main content, whose `way` is known, and leave out what lies beside it."""
        counts: dict[str, int] = {}
        child = node.first_child
        while child is not None:
            tag = child.tag or ""
            if tag == "-text":
                self._pass_text(child.text_content or "", path)
            elif tag[0] != "-" and tag[0] != "!":
                counts[tag] = index = counts.get(tag, 0) + 1
                place = Path(path, tag, index)
                if child.mem_id == way[0]:
                    self.inside(child, place) if len(way) == 1 else self.towards(child, place, way[1:])
                else:
                    self._leave(child, place, reason_outside(tag, child.attributes, self._names))
            child = child.next

    def inside(self, node: LexborNode, path: Path) -> None:
        """Walk the main content."""
        self.collector.enter(path)
        self.children(node, path, 0)
        self.collector.finish()

    def children(self, node: LexborNode, path: Path, depth: int) -> None:
        """Walk what stands inside an element."""
        counts: dict[str, int] = {}
        collector = self.collector
        child = node.first_child
        while child is not None:
            tag = child.tag or "-"
            if tag == "-text":
                text = child.text_content or ""
                collector.words(text)
                collector.offset += len(text)
            elif tag[0] != "-" and tag[0] != "!":
                counts[tag] = index = counts.get(tag, 0) + 1
                self._element(child, tag, Path(path, tag, index), depth + 1)
            child = child.next

    def _element(self, node: LexborNode, tag: str, path: Path, depth: int) -> None:
        attributes: Attributes = node.attributes
        if tag in UNSEEN:
            self._unseen(node, tag, attributes, path)
        elif (attributes or tag in _ALWAYS_NAMED) and not self.keep_all and (reason := self._reason(node, tag, attributes)):
            self._leave(node, path, reason)
        elif depth > _DEEPEST:
            self._flatten(node, path)
        elif (classes := attributes.get("class")) and (handle := widgets.handler_of(classes)):
            handle(self, node, attributes, path, depth)
        elif handle := _HANDLERS.get(tag):
            handle(self, node, attributes, path, depth)
        else:
            self.children(node, path, depth)

    def _reason(self, node: LexborNode, tag: str, attributes: Attributes) -> str:
        reason = reason_to_leave(tag, attributes, self._names)
        if reason and tag not in _ALWAYS_NAMED and reason not in _NOT_NAMED and is_too_long(node.text()):
            return ""
        return reason

    def _unseen(self, node: LexborNode, tag: str, attributes: Attributes, path: Path) -> None:
        if tag == "script" and "syntaxhighlighter" in (attributes.get("type") or ""):
            code = (node.text() or "").strip().removeprefix("<![CDATA[").removesuffix("]]>")
            self.collector.code(code, language_of(node), path)
            self.collector.offset += len(node.text())
        else:
            self._leave(node, path, UNSEEN[tag])

    def _leave(self, node: LexborNode, path: Path, reason: str) -> None:
        """Leave an element out; what has neither words nor a name needs no mention."""
        text = node.text()
        said = " ".join(text[: 20 * _SHORT].split())[:_SHORT] or node.attributes.get("src") or ""
        if reason and said:
            self.left_out.append(LeftOut(reason, said, path.reference(self.collector.offset), usual=True))
        self.collector.offset += len(text)

    def _pass_text(self, text: str, path: Path) -> None:
        if said := " ".join(text.split())[:_SHORT]:
            reference = path.reference(self.collector.offset)
            self.left_out.append(LeftOut("outside of the main content", said, reference, usual=True))
        self.collector.offset += len(text)

    def _flatten(self, node: LexborNode, path: Path) -> None:
        text = node.text()
        self.collector.enter(path)
        self.collector.words(text)
        self.collector.offset += len(text)
        self.collector.finish()


Handler = Callable[[Walk, Any, Attributes, Path, int], None]


def _flow(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
    walk.collector.enter(path)
    walk.children(node, path, depth)
    walk.collector.finish()


def _framed(kind: str, **known: Any) -> Handler:
    """Handle an element that is collected as a kind of its own."""

    def handle(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
        walk.collector.begin(kind, path, **known)
        walk.children(node, path, depth)
        walk.collector.finish()

    return handle


def _marked(sign: str) -> Handler:
    def handle(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
        walk.collector.inline.mark(sign)
        walk.children(node, path, depth)
        walk.collector.inline.close()

    return handle


def _coded(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
    walk.collector.inline.open_code()
    walk.children(node, path, depth)
    walk.collector.inline.close_code()


def _quoted(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
    walk.collector.words('"')
    walk.children(node, path, depth)
    walk.collector.words('"')


def _link(walk: Walk, node: LexborNode, attributes: Attributes, path: Path, depth: int) -> None:
    target = (attributes.get("href") or "").strip()
    if walk.collector.is_in("heading") and target.startswith("#") and (node.text().strip().lower() in _ANCHORS):
        walk.collector.offset += len(node.text())
        return
    walk.collector.inline.link("" if target.lower().startswith("javascript:") else target)
    walk.children(node, path, depth)
    walk.collector.inline.close()


def _image(walk: Walk, _: LexborNode, attributes: Attributes, __: Path, ___: int) -> None:
    source, words = (attributes.get("src") or "").strip(), (attributes.get("alt") or "").strip()
    classes = attributes.get("class") or ""
    if "emoticon" in classes or "emoji" in classes:
        walk.collector.words(words or attributes.get("data-emoji-short-name") or "")
        return
    lazy = (attributes.get("data-src") or attributes.get("data-original") or "").strip()
    if source.startswith("data:") or not source:
        source = lazy
    if attributes.get("width") in {"0", "1"} or attributes.get("height") in {"0", "1"} or not (source or words):
        return
    walk.collector.image(source, words)


def _break(walk: Walk, _: LexborNode, __: Attributes, ___: Path, ____: int) -> None:
    walk.collector.line_break()


def _rule(walk: Walk, _: LexborNode, __: Attributes, path: Path, ___: int) -> None:
    walk.collector.rule(path)


def _code(walk: Walk, node: LexborNode, _: Attributes, path: Path, __: int) -> None:
    walk.collector.code(code_in(node), language_of(node), path)
    walk.collector.offset += len(node.text())


def _numbered(walk: Walk, node: LexborNode, attributes: Attributes, path: Path, depth: int) -> None:
    start = attributes.get("start") or ""
    walk.collector.begin("list", path, first=int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 1)
    walk.children(node, path, depth)
    walk.collector.finish()


def _cell(walk: Walk, node: LexborNode, attributes: Attributes, path: Path, depth: int) -> None:
    columns, rows = (_spanned(attributes.get(name)) for name in ("colspan", "rowspan"))
    walk.collector.begin("cell", path, columns=columns, rows=rows, head=path.name == "th")
    walk.children(node, path, depth)
    walk.collector.finish()


def _spanned(said: str | None) -> int:
    return min(max(int(said), 1), _MOST_SPANNED) if said and said.isascii() and said.isdigit() and len(said) < 10 else 1


def _row(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
    head = path.parent is not None and path.parent.name == "thead"
    walk.collector.begin("row", path, head=head)
    walk.children(node, path, depth)
    walk.collector.finish()


def _table(walk: Walk, node: LexborNode, attributes: Attributes, path: Path, depth: int) -> None:
    walk.collector.begin("table", path, layout=attributes.get("role") in {"presentation", "none"})
    walk.children(node, path, depth)
    walk.collector.finish()


def _input(walk: Walk, _: LexborNode, attributes: Attributes, __: Path, ___: int) -> None:
    if attributes.get("type") == "checkbox" and walk.collector.is_in("item"):
        walk.collector.know("item", checked="checked" in attributes)


def _button(walk: Walk, node: LexborNode, _: Attributes, path: Path, depth: int) -> None:
    if not walk.keep_all and not walk.collector.is_in("heading") and is_idle_button(node.text()):
        walk._leave(node, path, "button")
    else:
        walk.children(node, path, depth)


def _drawing(walk: Walk, node: LexborNode, _: Attributes, __: Path, ___: int) -> None:
    walk.collector.words(" ".join(inner.text() for inner in node.css("text")))
    walk.collector.offset += len(node.text())


_FLOWING: Final = (
    "address article aside body center dd div fieldset footer form header hgroup legend main nav p search section "
    "details optgroup option dialog"
)
_SIGNS: Final = {
    "strong": "**", "b": "**", "em": "*", "i": "*", "cite": "*", "dfn": "*", "var": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
_HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(_FLOWING.split(), _flow),
    **{tag: _marked(sign) for tag, sign in _SIGNS.items()},
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _coded),
    **{f"h{level}": _framed("heading", level=level) for level in range(1, 7)},
    **dict.fromkeys(("ul", "menu", "dir"), _framed("list")),
    **dict.fromkeys(("td", "th"), _cell),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _code),
    "a": _link, "img": _image, "br": _break, "hr": _rule, "q": _quoted, "input": _input, "button": _button,
    "ol": _numbered, "li": _framed("item"), "blockquote": _framed("quote"), "svg": _drawing,
    "table": _table, "tr": _row, "caption": _framed("caption"),
    "figure": _framed("figure"), "figcaption": _framed("caption"),
    "dl": _framed("definitions"), "dt": _framed("term"), "summary": _framed("summary"),
}  # fmt: skip
