"""Runs of text with one look, put together as Markdown; office files divide text anywhere, also inside words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from spanwise.readers.markup.inline import Inline, Prose, with_plain_starts

LINE: Final = "\v"
"""A line break inside a run; XML can't hold this character."""
BOLD: Final = "**"
ITALIC: Final = "*"
STRUCK: Final = "~~"
_SIGNS: Final = (BOLD, ITALIC, STRUCK)
_NUMBERED: Final = re.compile(r"\A(\d{1,9})\\([.)])")


class Run(NamedTuple):
    """Text with its marks, in the order of `BOLD`, `ITALIC`, `STRUCK`; `target` is that of a link around it.

    With `is_note` the text is the label of a footnote.
    """

    text: str
    marks: tuple[str, ...] = ()
    is_code: bool = False
    target: str = ""
    is_note: bool = False


def prose_of(runs: Sequence[Run], *, marked: bool = True) -> Prose:
    """Return runs as Markdown; without `marked` emphasis is dropped, as in headings."""
    inline = Inline()
    opened: list[str] = []
    target = ""
    for run in _merged(runs, marked=marked):
        if run.target != target:
            _close(inline, opened, 0)
            if target:
                inline.close()
            if run.target:
                inline.link(run.target)
            target = run.target
        same = 0
        while same < min(len(opened), len(run.marks)) and opened[same] == run.marks[same]:
            same += 1
        _close(inline, opened, same)
        for sign in run.marks[same:]:
            inline.mark(sign)
            opened.append(sign)
        _write(inline, run)
    prose = inline.take()
    if marked:
        return with_plain_starts(prose) if len(runs) > 1 else prose
    if prose.links or prose.text == prose.visible:
        return prose
    return prose._replace(text=_NUMBERED.sub(r"\1\2", prose.text))  # nothing begins a list inside a heading


def plain_of(runs: Iterable[Run]) -> str:
    """Return runs as they are, with their white space, as code has it."""
    return "".join(run.text for run in runs if not run.is_note).replace(LINE, "\n")


def _close(inline: Inline, opened: list[str], down_to: int) -> None:
    while len(opened) > down_to:
        opened.pop()
        inline.close()


def _write(inline: Inline, run: Run) -> None:
    if run.is_note:
        inline.note(run.text)
        return
    if run.is_code:
        inline.open_code()
    for index, piece in enumerate(run.text.split(LINE)):
        if index:
            inline.line_break()
        inline.add_text(piece)
    if run.is_code:
        inline.close_code()


def _merged(runs: Sequence[Run], *, marked: bool) -> list[Run]:
    """Return runs with those of one look joined; white space alone has the look of what is before it."""
    merged: list[list[str]] = []
    looks: list[Run] = []
    for run in runs:
        if not run.text:
            continue
        if not marked and run.marks:
            run = run._replace(marks=())
        last = looks[-1] if looks else None
        if last is not None and not run.is_note and not last.is_note and last.target == run.target:
            is_space = run.text.isspace()
            if last[1:] == run[1:] or (is_space and not last.is_code):
                merged[-1].append(run.text)
                continue
        merged.append([run.text])
        looks.append(run)
    joined = [look._replace(text="".join(texts)) for look, texts in zip(looks, merged, strict=True)]
    return _sound(joined) if any(run.marks for run in joined) else joined


def _sound(runs: list[Run]) -> list[Run]:
    """Return runs without the marks that Markdown wouldn't read as such: at punctuation that touches a word."""
    for sign in _SIGNS:
        start = 0
        while start < len(runs):
            if sign not in runs[start].marks:
                start += 1
                continue
            end = start + 1
            while end < len(runs) and sign in runs[end].marks and runs[end].target == runs[start].target:
                end += 1
            if not _is_sound(runs, start, end):
                for index in range(start, end):
                    marks = tuple(mark for mark in runs[index].marks if mark != sign)
                    runs[index] = runs[index]._replace(marks=marks)
            start = end
    return runs


def _is_sound(runs: Sequence[Run], start: int, end: int) -> bool:
    """Whether Markdown reads marks around these runs as emphasis."""
    if not any(run.text.strip() for run in runs[start:end]):
        return False
    target = runs[start].target
    before = runs[start - 1].text[-1] if start and runs[start - 1].target == target else " "
    after = runs[end].text[0] if end < len(runs) and runs[end].target == target and not runs[end].is_note else " "
    first = "`" if runs[start].is_code else runs[start].text[0]
    last = "`" if runs[end - 1].is_code else runs[end - 1].text[-1]
    return not (_is_word(before) and _is_sign(first)) and not (_is_sign(last) and _is_word(after))


def _is_word(letter: str) -> bool:
    return letter.isalnum()


def _is_sign(letter: str) -> bool:
    return not letter.isalnum() and not letter.isspace()
