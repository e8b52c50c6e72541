"""Questions from JSON lines: document and ranges of each answer; bad lines are named, and the rest goes on.

{"question": "Who signs trips?", "document": "handbook.md", "ranges": [[1043, 1101]]}
{"question": "Who signs trips?", "document": "handbook", "answer": "Trips are signed by the team lead."}
{"question": "Who signs trips?", "corpus": "handbook", "references": [{"start": 1043, "end": 1101}]}
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.errors import OptionError, UnreadableError, did_you_mean
from spanwise.evaluation.corpus import Corpus, Directory, Known, names_of
from spanwise.evaluation.locating import WELL_ENOUGH, TextIndex
from spanwise.evaluation.ranges import Range, length, merged
from spanwise.evaluation.values import BadLine, Excerpt, Question
from spanwise.opening import read_file_bytes

SPLITS: Final = ("tune", "held")
MOST_BYTES: Final = 1 << 30
_AROUND: Final = 160  # characters shown before and after an answer
_LONGEST_SHOWN: Final = 4_000
_LONGEST_WORD: Final = 24
_SPACE: Final = re.compile(r"\s")
_SHOWN: Final = 60  # characters of a text in a message
_OTHER_NAMES: Final = {"corpus": "document", "references": "ranges", "answers": "answer"}
_NAMES: Final = ("question", "document", "ranges", "answer")
_OFFSETS: Final = "ranges count characters of document.text: no BOM, and a line end is one character, not \\r\\n"


class _WrongLineError(Exception):
    """Why a line can't be used."""


class Line(NamedTuple):
    """A line of the questions, not yet located."""

    number: int
    question: str
    document: str | None
    ranges: tuple[Range, ...]
    answers: tuple[str, ...]
    texts: tuple[str | None, ...]
    """For each range the text that it is said to have, if any."""
    made_by: str | None


Given = str | os.PathLike[str] | Iterable[Mapping[str, Any]]


def lines_of(given: Given) -> tuple[list[Line], list[BadLine]]:
    """Return the lines of a file of questions, or of dictionaries, and those that are no questions."""
    good: list[Line] = []
    bad: list[BadLine] = []
    for number, value in _values(given):
        try:
            good.append(_line(number, value))
        except _WrongLineError as error:
            question = value.get("question") if isinstance(value, Mapping) else None
            bad.append(BadLine(number, question if isinstance(question, str) else "", str(error)))
    return good, bad


def _values(given: Given) -> Iterator[tuple[int, Any]]:
    """Yield the number of each line with its value; with the error in place of a value that is no JSON."""
    import orjson

    if not isinstance(given, str | os.PathLike):
        yield from enumerate(given, 1)
        return
    name = os.fspath(given)
    try:
        data = read_file_bytes(name, most=MOST_BYTES)
    except OSError as error:
        raise UnreadableError(name, f"can't be opened ({error.strerror or error})") from error
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except ValueError as error:
                yield number, _WrongLineError(f"is not JSON ({error})")


def _line(number: int, value: Any) -> Line:
    if isinstance(value, _WrongLineError):
        raise value
    if not isinstance(value, Mapping):
        raise _WrongLineError("is not a JSON object with a question")
    known = {_OTHER_NAMES.get(name, name): one for name, one in value.items()}
    question = known.get("question")
    if not isinstance(question, str) or not question.strip():
        near = did_you_mean("question", [name for name in value if isinstance(name, str)] or ["question"])
        raise _WrongLineError(f"has no `question` ({near})" if "question" not in known else "has an empty `question`")
    document = known.get("document")
    if document is not None and not isinstance(document, str):
        raise _WrongLineError("`document` must be a name: an id, a path or the name of a file")
    ranges, texts = _ranges(known.get("ranges") or ())
    answers = _answers(known.get("answer"))
    if not ranges and not answers:
        raise _WrongLineError("has neither `ranges` nor an `answer`")
    made_by = known.get("made_by")
    return Line(number, question, document, ranges, answers, texts, made_by if isinstance(made_by, str) else None)


def _ranges(given: Any) -> tuple[tuple[Range, ...], tuple[str | None, ...]]:
    rule = "`ranges` must be a list of [start, end], 0 <= start < end"
    if not isinstance(given, list | tuple):
        raise _WrongLineError(rule)
    ranges: list[Range] = []
    texts: list[str | None] = []
    for one in given:
        pair = (one.get("start"), one.get("end")) if isinstance(one, Mapping) else one
        text = (one.get("text", one.get("content"))) if isinstance(one, Mapping) else None
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(type(edge) is int for edge in pair):
            raise _WrongLineError(f"{rule}: {_shortened(one)}")
        if not 0 <= pair[0] < pair[1]:
            raise _WrongLineError(f"{rule}: {_shortened(one)}")
        ranges.append((pair[0], pair[1]))
        texts.append(text if isinstance(text, str) else None)
    return tuple(ranges), tuple(texts)


def _answers(given: Any) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    if given is not None and (not texts or not all(isinstance(one, str) and one.strip() for one in texts)):
        raise _WrongLineError("`answer` must be a text, or a list of texts")
    return tuple(texts)


class Located(NamedTuple):
    """The questions that can be asked, the lines that can't, and what is to be said of the others."""

    questions: list[Question]
    bad: list[BadLine]
    notes: list[str]


def located(lines: Iterable[Line], corpus: Corpus) -> Located:
    """Find the document of each line and the ranges of its answer."""
    finder = _Finder(corpus)
    found = Located([], [], [])
    for line in lines:
        try:
            found.questions.append(finder.question(line, found.notes))
        except _WrongLineError as error:
            found.bad.append(BadLine(line.number, line.question, str(error)))
    return found


class _Finder:
    """Finds documents and places; a document's text is prepared once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._directory = Directory(corpus.documents())
        self._texts: dict[str, TextIndex | None] = {}

    def question(self, line: Line, notes: list[str]) -> Question:
        """Return a line as a question; raise _WrongLineError if that can't be."""
        document = self._document(line.document)
        index = self._text(document, line)
        ranges, how = self._places(line, document, index, notes)
        excerpts = _excerpts(index.text, ranges) if index else ()
        return Question(line.number, line.question, document.document_id, document.name, merged(ranges), how,
                        line.made_by, excerpts)  # fmt: skip

    def _document(self, name: str | None) -> Known:
        known = self._directory.documents
        if name is None:
            if len(known) == 1:
                return known[0]
            raise _WrongLineError(f"has no `document`, and there are {len(known):,}")
        found = self._directory.find(name)
        if len(found) > 1:
            raise _WrongLineError(f"`document` may be one of several: {_shortened(name)} is {names_of(found)}")
        if not found:
            near = did_you_mean(name, [one.name for one in known][:1_000])
            hint = near if near.startswith("did you mean") else f"there are {names_of(known)}" if known else "none is"
            raise _WrongLineError(f"`document` is not there: {_shortened(name)} ({hint})")
        return found[0]

    def _text(self, document: Known, line: Line) -> TextIndex | None:
        name = document.document_id
        if self._texts.get(name) is None:
            text = self._corpus.text(document, (*line.answers, line.question))
            self._texts[name] = None if text is None else TextIndex(text)
        return self._texts[name]

    def _places(
        self, line: Line, document: Known, index: TextIndex | None, notes: list[str]
    ) -> tuple[list[Range], str]:
        if index is None:
            if not line.ranges:
                raise _WrongLineError(f"the text of {document.name} is not known: no chunk has a word of the answer")
            return list(line.ranges), "ranges"
        if line.ranges and not (wrong := _wrong(line, index.text)):
            return list(line.ranges), "ranges"
        texts = line.answers or tuple(text for text in line.texts if text)
        if not texts:
            raise _WrongLineError(wrong)
        if line.ranges:
            notes.append(f"line {line.number}: {wrong}: the answer was looked up by its text")
        return self._by_text(line, document, index, texts, notes)

    def _by_text(
        self, line: Line, document: Known, index: TextIndex, texts: Sequence[str], notes: list[str]
    ) -> tuple[list[Range], str]:
        found = []
        for text in texts:
            place = index.locate(text)
            if place is None or place.score < WELL_ENOUGH:
                score = 0.0 if place is None else place.score
                raise _WrongLineError(
                    f"the answer is not in {document.name}: its best alignment scores {score:.2f}, "
                    f"and {WELL_ENOUGH:.2f} is needed: {_shortened(text)}"
                )
            if place.times > 1:
                rule = f"stands {place.times:,} times in {document.name}, and the first counts; `ranges` would choose"
                notes.append(f"line {line.number}: {_shortened(text)} {rule}")
            found.append(place)
        return [one.range for one in found], "aligned" if any(one.how == "aligned" for one in found) else "exact"


def _wrong(line: Line, text: str) -> str:
    """Return why ranges can't be right; "" if nothing speaks against them."""
    for start, end in line.ranges:
        if end > len(text):
            return f"the range {start}-{end} ends after the document, which has {len(text):,} characters ({_OFFSETS})"
        if not text[start:end].strip() and line.answers + tuple(filter(None, line.texts)):
            return f"the range {start}-{end} is blank"
    pairs = [(text[start:end], said) for (start, end), said in zip(line.ranges, line.texts, strict=True) if said]
    if line.answers:
        whole = "".join(text[start:end] for start, end in line.ranges)
        pairs.append((whole, "".join(line.answers)))
    for real, said in pairs:
        if "".join(real.split()) != "".join(said.split()):
            return f"a range holds {_shortened(real)} and not {_shortened(said)} ({_OFFSETS})"
    return ""


def _excerpts(text: str, ranges: Sequence[Range]) -> tuple[Excerpt, ...]:
    """Return the parts of a text to be shown: the answer with a little around it."""
    shown = merged((_word_start(text, start - _AROUND), _word_end(text, end + _AROUND)) for start, end in ranges)
    found, left = [], _LONGEST_SHOWN
    for start, end in shown:
        if left > 0:
            found.append(Excerpt(start, text[start : min(end, start + left)]))
            left -= end - start
    return tuple(found)


def _word_start(text: str, position: int) -> int:
    """Return where a word begins, at a position or soon after it."""
    if position <= 0:
        return 0
    space = _SPACE.search(text, position - 1, position + _LONGEST_WORD)
    return space.end() if space else position


def _word_end(text: str, position: int) -> int:
    """Return where a word ends, at a position or soon after it."""
    if position >= len(text):
        return len(text)
    space = _SPACE.search(text, position, position + _LONGEST_WORD)
    return space.start() if space else position


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return f"“{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}”"


def half_of(line: Line) -> str:
    """Return which half a question is of: by a hash of it and its document's name, so always the same."""
    digest = hashlib.blake2b(f"{line.question}\x1f{line.document or ''}".encode("utf-8", "replace"), digest_size=8)
    return SPLITS[digest.digest()[0] & 1]


def checked_split(split: str | None) -> str | None:
    """Return a split; raise OptionError for an unknown one."""
    if split is not None and split not in SPLITS:
        raise OptionError("split", f"must be one of {', '.join(SPLITS)}", value=split,
                          hint=did_you_mean(str(split), SPLITS))  # fmt: skip
    return split


def answer_length(question: Question) -> int:
    """Return how many characters the answer to a question has."""
    return length(question.ranges)
