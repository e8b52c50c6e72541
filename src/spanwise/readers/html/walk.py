"""The walk over the tree of a page: every element is passed to the collector, or left out and reported."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.html import widgets
from spanwise.readers.html.boilerplate import UNSEEN, Attributes, is_too_long, reason_outside, reason_to_leave
from spanwise.readers.html.code import code_language
from spanwise.readers.html.handlers import HANDLERS, flow
from spanwise.readers.html.tree import Path
from spanwise.readers.markup.collector import Collector

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_DEEPEST: Final = 160  # deeper elements become plain text: Python's stack is limited
_SHORT: Final = 80
_ALWAYS_NAMED: Final = frozenset({"nav", "dialog"})
_NOT_NAMED: Final = frozenset({"hidden", "line numbers"})


class Walk:
    """A walk over a page: what it collects, and what it leaves out."""

    def __init__(self, collector: Collector, *, keep_all: bool) -> None:
        self.collector = collector
        self.left_out: list[LeftOut] = []
        self.keep_all = keep_all
        self._names: dict[str, str] = {}

    def towards(self, node: LexborNode, path: Path, route: Set[int], kept: Set[int]) -> None:
        """Descend to the elements to be `kept` through those on the `route`, and leave out all others."""
        counts: dict[str, int] = {}
        child = node.first_child
        while child is not None:
            tag = child.tag or "-"
            if tag == "-text":
                self._skip_text(child.text_content or "", path)
            elif tag[0] != "-" and tag[0] != "!":
                counts[tag] = index = counts.get(tag, 0) + 1
                child_path = Path(path, tag, index)
                if child.mem_id in kept:
                    self._element(child, tag, child_path, 0) if tag == "h1" else flow(self, child, {}, child_path, 0)
                elif child.mem_id in route:
                    self.towards(child, child_path, route, kept)
                else:
                    self.leave_out(child, child_path, reason_outside(tag, child.attributes, self._names))
            child = child.next

    def children(self, node: LexborNode, path: Path, depth: int) -> None:
        """Walk the children of an element."""
        counts: dict[str, int] = {}
        collector = self.collector
        child = node.first_child
        while child is not None:
            tag = child.tag or "-"
            if tag == "-text":
                text = child.text_content or ""
                collector.add_text(text)
                collector.offset += len(text)
            elif tag[0] != "-" and tag[0] != "!":
                counts[tag] = index = counts.get(tag, 0) + 1
                self._element(child, tag, Path(path, tag, index), depth + 1)
            child = child.next

    def _element(self, node: LexborNode, tag: str, path: Path, depth: int) -> None:
        attributes: Attributes = node.attributes
        if tag in UNSEEN:
            self._unseen(node, tag, attributes, path)
        elif (
            (attributes or tag in _ALWAYS_NAMED)
            and not self.keep_all
            and (reason := self._reason(node, tag, attributes))
        ):
            self.leave_out(node, path, reason)
        elif depth > _DEEPEST:
            self._flatten(node, path)
        elif handle := widgets.handler_of(attributes.get("class")) or HANDLERS.get(tag):
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
            self.collector.code(code, code_language(node), path)
            self.collector.offset += len(node.text())
        else:
            self.leave_out(node, path, UNSEEN[tag])

    def leave_out(self, node: LexborNode, path: Path, reason: str) -> None:
        """Leave an element out; without a reason, or without text and `src`, it is not reported."""
        text = node.text()
        excerpt = " ".join(text[: 20 * _SHORT].split())[:_SHORT] or node.attributes.get("src") or ""
        if reason and excerpt:
            self.left_out.append(LeftOut(reason, excerpt, path.reference(self.collector.offset), usual=True))
        self.collector.offset += len(text)

    def _skip_text(self, text: str, path: Path) -> None:
        if excerpt := " ".join(text.split())[:_SHORT]:
            reference = path.reference(self.collector.offset)
            self.left_out.append(LeftOut("outside of the main content", excerpt, reference, usual=True))
        self.collector.offset += len(text)

    def _flatten(self, node: LexborNode, path: Path) -> None:
        text = node.text()
        self.collector.enter(path)
        self.collector.add_text(text)
        self.collector.offset += len(text)
        self.collector.finish()
