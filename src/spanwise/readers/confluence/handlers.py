"""The handlers of storage format elements: one table by element name, on top of that of HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spanwise.readers.confluence.links import AC, anchored_link, date, image_of, link
from spanwise.readers.confluence.macros import macro
from spanwise.readers.html.handlers import HANDLERS as HTML_HANDLERS
from spanwise.readers.html.handlers import Handler, collect, flow, framed

if TYPE_CHECKING:
    from spanwise.readers.confluence.storage import StorageWalk

_EMOTICONS: Final = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍", "thumbs-down": "👎",
    "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️", "plus": "➕", "minus": "➖", "question": "❓",
    "light-on": "💡", "light-off": "💡", "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐",
    "heart": "❤️", "broken-heart": "💔",
}  # fmt: skip
LEFT_OUT: Final = {
    "ac:placeholder": "placeholder", "script": "script", "style": "style sheet", "annotation": "",
    **dict.fromkeys(("ac:parameter", "ac:adf-attribute", "ac:adf-fallback", "ac:adf-mark"), ""),
    **dict.fromkeys(("ac:task-id", "ac:task-uuid", "ac:task-status"), ""),
}  # fmt: skip
"""Elements that are never rendered, with the reason; those without one are not reported."""


def _task(walk: StorageWalk, node: Any, _: Any, path: Any, depth: int) -> None:
    done = (node.findtext(f"{AC}task-status") or "").strip() == "complete"
    collect(walk, node, path, depth, "item", checked=done)


def _emoticon(walk: StorageWalk, node: Any, attributes: Any, _: Any, __: int) -> None:
    name = attributes.get(f"{AC}name") or ""
    fallback = attributes.get(f"{AC}emoji-fallback") or ""
    short = attributes.get(f"{AC}emoji-shortname") or (f":{name}:" if name else "")
    walk.collector.add_text(fallback if fallback and not fallback.startswith(":") else _EMOTICONS.get(name) or short)
    walk.skip(node)


def _preformatted(walk: StorageWalk, node: Any, _: Any, path: Any, __: int) -> None:
    walk.collector.code("".join(_lines(node)), "", path)
    walk.skip(node)


def _lines(node: Any) -> Any:
    for inner in node.iter():
        if inner.tag == "br":
            yield "\n"
        yield inner.text or ""
        if inner is not node:
            yield inner.tail or ""


def _formula(walk: StorageWalk, node: Any, _: Any, path: Any, depth: int) -> None:
    """Handle a formula: its source if that is stored beside the rendered one, else its content."""
    written = next((inner.text for inner in node.iter("{*}annotation") if inner.text), None)
    if written:
        walk.collector.add_text(written)
        walk.skip(node)
    else:
        walk.children(node, path, depth)


def _adf_node(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle nodes of the new editor: panels of kinds that older pages don't have, else the content."""
    if node.get("type") == "panel":
        types = (inner for inner in node.findall(f"{AC}adf-attribute") if inner.get("key") == "panel-type")
        label = next((inner.text or "" for inner in types), "") or "panel"
        collect(walk, node, path, depth, "quote", label=label.strip())
    else:
        flow(walk, node, attributes, path, depth)


HANDLERS: Final[dict[str, Handler]] = {
    **HTML_HANDLERS,
    **dict.fromkeys(("button", "svg", "ac:layout", "ac:layout-section", "ac:layout-cell", "ac:rich-text-body"), flow),
    **dict.fromkeys(("ac:task-body", "ac:adf-extension", "ac:adf-content"), flow),
    **dict.fromkeys(("ac:structured-macro", "ac:macro"), macro),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _preformatted),
    "a": anchored_link, "time": date, "math": _formula, "ac:emoticon": _emoticon,
    "ac:task-list": framed("list"), "ac:task": _task, "ac:link": link, "ac:image": image_of, "ac:adf-node": _adf_node,
}  # fmt: skip
