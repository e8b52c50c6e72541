"""Inline text with emphasis, code, links and images, as Markdown, and the position of each link."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from spanwise.documents.document import Link

BREAK: Final = "  \n"
_UNSEEN: Final = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Soft hyphens and zero-width characters: they are invisible, and break searches for a word."""
_MAY_BE_MARKUP: Final = re.compile(r"[\\`*_\[\]<&~]")
_MARKUP: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|(?<!\s)\*|\*(?!\s)|(?<![^\W_])_|_(?![^\W_])|\[(?=[^\[\]]*\]\()|\[(?=[\[^!])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)|~(?=~)|(?<=~)~"
)
_TILDE: Final = re.compile(r"(?<!\\)~")
_BRACKET: Final = re.compile(r"(?<!\\)[\[\]]")
_LINE_START: Final = re.compile(
    r"(#{1,6}(?!\S)|[-+](?!\S)|>|={2,}\Z|-{2,}\Z|-{3,}|%%|\|)|(\d{1,9})([.)])(?!\S)|(\[)(?=[^\[\]]+\]:|[ xX]\](?!\S))"
)
_TICKS: Final = re.compile("`+")
_ODD_ADDRESS: Final = re.compile(r"[\s<>]")


class Image(NamedTuple):
    """An image in the text."""

    source: str
    alternative: str


class Prose(NamedTuple):
    """Inline text in Markdown, its links with their positions, its visible text, and the images in it."""

    text: str = ""
    links: tuple[tuple[int, Link], ...] = ()
    visible: str = ""
    images: tuple[Image, ...] = ()
    has_text: bool = True  # besides images


@dataclass(slots=True, eq=False)
class _Open:
    """An open mark or link: its opening syntax is written only when text follows."""

    sign: str
    target: str | None = None
    start: int = -1  # in the text, once it is written
    visible_count: int = 0  # number of visible pieces of the line before it


class Inline:
    """A writer that takes text and marks in order; `take` returns what was written and starts over."""

    __slots__ = ("_break", "_code", "_code_depth", "_has_text", "_images", "_length", "_links", "_open", "_pieces",
                 "_space", "_visible")  # fmt: skip

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._code_depth = 0  # number of open code elements
        self._reset()

    def _reset(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._visible: list[str] = []
        self._links: list[tuple[int, Link]] = []
        self._images: list[Image] = []
        self._code: list[str] = []
        self._space = self._break = self._has_text = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing visible was written since the last `take`."""
        return not self._pieces and not self._code

    @property
    def breaks(self) -> bool:
        """Whether a line break was added last."""
        return self._break

    def add_text(self, text: str) -> None:
        """Add text; white space becomes one space, none at the edges of a line."""
        text = without_unseen(text)
        words = text.split()
        if self._code:  # white space after code stays inside it if more code follows
            self._code += [" " if text[:1].isspace() else "", " ".join(words), " " if text[-1:].isspace() else ""]
            return
        if not words:
            self._space = self._space or bool(text)
            return
        joined = " ".join(words)
        self._space = self._space or text[0].isspace()
        if self._code_depth:
            self._code = [joined, " " if text[-1].isspace() else ""]
            return
        self._prepare()
        if _MAY_BE_MARKUP.search(joined):
            joined = escaped(joined, linked=any(item.target is not None for item in self._open))
            if "~" in joined and self._is_beside_tildes():
                joined = _TILDE.sub(r"\\~", joined)  # three are a fence
        if not self._pieces or self._pieces[-1] is BREAK:
            joined = at_line_start(joined)
        self._append(joined)
        self._visible.append(" ".join(words))
        self._space = text[-1].isspace()
        self._has_text = True

    def _is_beside_tildes(self) -> bool:
        return bool(self._pieces and self._pieces[-1][-1] == "~") or any(item.sign == "~~" for item in self._open)

    def mark(self, sign: str) -> None:
        """Open emphasis; inside the same emphasis or inside code it has no effect."""
        known = self._code_depth or any(item.sign == sign for item in self._open)
        self._open.append(_Open("" if known else sign))

    def link(self, target: str) -> None:
        """Open a link."""
        self._write_code()
        known = not target or any(item.target is not None for item in self._open)
        self._open.append(_Open("", None if known else target))

    def close(self) -> None:
        """Close the mark or link opened last."""
        if self._open:
            item = self._open[-1]
            if item.target is not None:
                self._write_code()
            self._end(item)
            self._open.pop()

    def open_code(self) -> None:
        """Open an element of code."""
        self._code_depth += 1

    def close_code(self) -> None:
        """Close an element of code."""
        self._code_depth = max(0, self._code_depth - 1)
        if not self._code_depth:
            self._write_code()

    def line_break(self) -> None:
        """Start a new line, unless at the edges of a text."""
        self._write_code()
        self._break = bool(self._pieces)

    def image(self, image: Image) -> None:
        """Add an image."""
        self._write_code()
        self._prepare()
        alternative = escaped(" ".join(image.alternative.split()), linked=True)
        self._append(f"![{alternative}]({_address(image.source)})")
        self._visible.append(" ".join(image.alternative.split()))
        self._images.append(image)
        self._space = False

    def drop_space(self) -> None:
        """Drop pending white space."""
        self._space = self._break = False

    def take(self) -> Prose:
        """Return what was written; open marks are closed there and continue in what comes next."""
        self._write_code()
        for item in reversed(self._open):
            self._end(item)
        visible = "".join(self._visible).strip()
        prose = Prose("".join(self._pieces), tuple(self._links), visible, tuple(self._images), self._has_text)
        self._reset()
        for item in self._open:
            item.start = -1
        return prose

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _prepare_space(self) -> None:
        """Write pending white space."""
        if self._break:
            self._append(BREAK)
            self._visible.append(" ")
        elif self._space and self._pieces:
            self._append(" ")
            self._visible.append(" ")
        self._space = self._break = False

    def _prepare(self) -> None:
        """Write pending white space, and the opening syntax of the marks around the next text."""
        if self._space or self._break:
            self._prepare_space()
        for item in self._open:
            if item.start < 0:
                self._start(item)

    def _start(self, item: _Open) -> None:
        if item.target is not None:
            if self._pieces and self._pieces[-1].endswith("!"):  # else it would be an image
                self._pieces[-1] = self._pieces[-1][:-1] + "\\!"
                self._length += 1
            item.start, item.visible_count = self._length, len(self._visible)
            self._append("[")
        elif item.sign:
            if self._pieces and self._pieces[-1] is item.sign:  # closed just before: `**a****b**` is no emphasis
                self._pieces.pop()
                self._length -= len(item.sign)
                item.start = self._length
                return
            if item.sign == "~~" and self._pieces and self._pieces[-1].endswith("~"):
                self._pieces[-1] = self._pieces[-1][:-1] + "\\~"
                self._length += 1
            item.start = self._length
            self._append(item.sign)

    def _end(self, item: _Open) -> None:
        if item.start < 0:
            return
        if item.target is not None:
            visible = "".join(self._visible[item.visible_count :]).strip()
            self._links.append((item.start, Link(item.target, visible)))
            self._append(f"]({_address(item.target)})")
        elif item.sign:
            self._append(item.sign)
        item.start = -1

    def _write_code(self) -> None:
        """Write the collected code, in as many backticks as it needs."""
        if not self._code:
            return
        collected, self._code = "".join(self._code), []
        code = " ".join(collected.split())
        self._prepare()
        self._append(_code_span(code))
        self._visible.append(code)
        self._space = collected.endswith(" ")
        self._has_text = True


def without_unseen(text: str) -> str:
    """Return a text without invisible characters."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def _code_span(code: str) -> str:
    runs = {len(run) for run in _TICKS.findall(code)}
    if not runs:
        return f"`{code}`"
    ticks = "`" * next(count for count in range(1, len(runs) + 2) if count not in runs)
    return f"{ticks} {code} {ticks}"


def _address(target: str) -> str:
    """Return a link target such that Markdown finds its end."""
    target = target.strip()
    if _ODD_ADDRESS.search(target) or target.count("(") != target.count(")"):
        target = target.replace("<", "%3C").replace(">", "%3E").replace("\n", "").replace("\t", "")
        return f"<{target}>"
    return target


def escaped(text: str, *, linked: bool = False) -> str:
    """Escape what would be read as markup, and only that."""
    text = _MARKUP.sub(r"\\\g<0>", text)
    return _BRACKET.sub(r"\\\g<0>", text) if linked else text


def at_line_start(text: str) -> str:
    """Escape what at the start of a line would begin another block."""
    return _LINE_START.sub(_escaped_start, text, count=1) if _LINE_START.match(text) else text


def _escaped_start(found: re.Match[str]) -> str:
    if found[2]:
        return f"{found[2]}\\{found[3]}"
    return f"\\{found[0]}"


def joined(proses: Iterable[Prose], between: str) -> Prose:
    """Join several texts; the positions of links move along."""
    proses = tuple(proses)
    if len(proses) == 1:
        return proses[0]
    pieces, links, visible, images = list[str](), list[tuple[int, Link]](), list[str](), list[Image]()
    length, has_text = 0, False
    for prose in proses:
        if pieces:
            pieces.append(between)
            length += len(between)
        links += [(length + position, link) for position, link in prose.links]
        pieces.append(prose.text)
        length += len(prose.text)
        visible.append(prose.visible)
        images += prose.images
        has_text = has_text or prose.has_text
    return Prose("".join(pieces), tuple(links), " ".join(filter(None, visible)), tuple(images), has_text)


def bold(prose: Prose) -> Prose:
    """Return a text in bold, unless some of it already is."""
    if "**" in prose.text or not prose.has_text:
        return prose
    return prefixed("**", prose)._replace(text=f"**{prose.text}**")


def prefixed(prefix: str, prose: Prose) -> Prose:
    """Return a text with a prefix."""
    links = tuple((position + len(prefix), link) for position, link in prose.links)
    return prose._replace(text=prefix + prose.text, links=links)


def on_one_line(prose: Prose, separator: str) -> Prose:
    """Replace line breaks by a separator; the positions of links move along."""
    return _replaced(prose, BREAK, separator)


def in_cell(prose: Prose) -> Prose:
    """Escape the bars in the text of a table cell."""
    return _replaced(prose, "|", "\\|")


def _replaced(prose: Prose, old: str, new: str) -> Prose:
    if old not in prose.text:
        return prose
    return prose._replace(text=prose.text.replace(old, new), links=moved(prose, old, len(new) - len(old)))


def moved(prose: Prose, mark: str, by: int) -> tuple[tuple[int, Link], ...]:
    """Return the links of a text in which each `mark` grows; links are in order, so each mark is counted once."""
    links, count, reached = list[tuple[int, Link]](), 0, 0
    for position, link in prose.links:
        count += prose.text.count(mark, reached, position)
        reached = position
        links.append((position + by * count, link))
    return tuple(links)
