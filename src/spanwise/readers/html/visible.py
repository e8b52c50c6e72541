"""All that a page shows, also what the reading leaves out: a browser searches the whole page for a link's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from spanwise.documents.document import BARRIER, Shown
from spanwise.readers.html.boilerplate import UNSEEN, is_hidden
from spanwise.readers.markup.inline import without_unseen

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_INLINE: Final = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
})  # fmt: skip
"""Elements that a word may go through; the edges of all others end what can be searched for."""
_HIDDEN: Final = frozenset(UNSEEN) | {"img", "picture", "rp", "noframes", "progress", "meter"}
_CONTROLS: Final = frozenset({"input", "select", "textarea"})
_CODE: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_ITEMS: Final = frozenset({"li", "dt", "dd"})
_ROW_STYLE: Final = re.compile(r"\.hlist\b[^{}]*::?after")
_ROW_DEPTH: Final = 12  # elements above an item among which its row is
_WHITE: Final = re.compile(r"[ \t\n\r\f]+")


def shown_in(page: LexborHTMLParser) -> tuple[Shown, ...]:
    """Give the stretches of text of a whole page, in order."""
    found = _VisibleRuns(rows=any(_ROW_STYLE.search(style.text()) for style in page.css("style")))
    if page.body is not None:
        found.through(page.body)
    return tuple(found.done)


class _VisibleRuns:
    """Goes through a tree of any depth and collects words until an edge."""

    def __init__(self, *, rows: bool) -> None:
        self._rows = rows  # whether lists become rows, with marks between items that a style sheet makes
        self.done: list[Shown] = []
        self._words: list[str] = []
        self._begun = 0
        self._offset = 0  # counted as the blocks of a document count it: hidden text as well
        self._code = 0  # elements of code that are open
        self._scripted = False  # whether a script stands between the last words and the next

    def through(self, body: LexborNode) -> None:
        """Walk all below an element."""
        waiting: list[tuple[LexborNode | None, str]] = [(body.first_child, "body")]
        while waiting:
            node, around = waiting.pop()
            if node is None:
                self._leave(around)
                continue
            waiting.append((node.next, around))
            tag = node.tag or "-"
            if tag == "-text":
                self._take(node.text_content or "")
            elif tag[0] not in "-!" and self._enter(node, tag):
                waiting.append((node.first_child, tag))
        self._edge()

    def _take(self, text: str) -> None:
        if self._scripted and text:
            self._scripted = False
            if self._words and (self._words[-1][-1:].isspace() or text[0].isspace()):
                self._edge()  # some versions of Chromium search no further than a script
        if not self._words and (bare := text.lstrip()):
            self._begun = self._offset + len(text) - len(bare)
            self._words.append(text if self._code else bare)
        elif self._words:
            self._words.append(text)
        self._offset += len(text)

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Say whether what stands inside an element is shown."""
        attributes = node.attributes
        if tag in _CONTROLS or (tag == "script" and "syntaxhighlighter" in (attributes.get("type") or "")):
            self._bar(node, tag)
            return False
        if self._rows and tag in _ITEMS and _is_in_row(node):
            self._pass(node)
            return False
        if tag in _HIDDEN or (tag == "dialog" and "open" not in attributes) or (attributes and is_hidden(attributes)):
            self._offset += len(node.text())  # a browser searches as if it weren't there
            self._scripted |= tag == "script"
            return False
        if tag not in _INLINE:
            self._edge()
        self._code += tag in _CODE
        return True

    def _pass(self, node: LexborNode) -> None:
        """Pass over what a browser doesn't find: words beside marks that only a style sheet makes."""
        self._edge()
        self.done.append(Shown(self._offset, BARRIER))
        self._offset += len(node.text())

    def _bar(self, node: LexborNode, tag: str) -> None:
        """Take what is searched but has no neighbours: a text field, and code that a script will show."""
        self._edge()
        self.done.append(Shown(self._offset, BARRIER))
        if tag == "select":
            self._offset += len(node.text())
            return
        self._code += 1
        self._take(node.text())
        self._leave("pre")
        self.done.append(Shown(self._offset, BARRIER))

    def _leave(self, tag: str) -> None:
        if tag not in _INLINE:
            self._edge()
        self._code -= tag in _CODE

    def _edge(self) -> None:
        if self._words:
            text = without_unseen("".join(self._words)).rstrip()
            self._words = []
            if text:
                self.done.append(Shown(self._begun, text if self._code else _WHITE.sub(" ", text), self._code > 0))


def _is_in_row(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_ROW_DEPTH):
        if around is None:
            return False
        if "hlist" in (around.attributes.get("class") or "").split():
            return True
        around = around.parent
    return False
