"""A first set of questions without a model, to be mended by hand: from headings, definitions, tables and rare words.

Each question says how it was made. The same documents always give the same questions, spread over documents and kinds.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Block, Document
from spanwise.text.cuts import trimmed
from spanwise.text.languages import document_language
from spanwise.text.sentences import sentence_starts

QUESTIONS: Final = 100
KINDS: Final = ("heading", "definition", "table row", "rare words")
_WORDS_WANTED: Final = range(5, 61)  # of a sentence that may be an answer
_WIDE_WANTED: Final = range(12, 161)  # characters, in Chinese and Japanese
_RARE: Final = 4  # words that make a question
_LONGEST_NAME: Final = 80
_LONGEST_TERM: Final = 4  # words
_PER_KIND: Final = 200  # candidates kept of each kind of a document
_WIDE: Final = frozenset({"zh", "ja"})
_TEMPLATES: Final[Mapping[str, tuple[str, str, str]]] = {
    "en": ("What is said about {}?", "What is {}?", "What is the {1} of {0}?"),
    "pl": ("Co napisano na temat: {}?", "Co to jest {}?", "{0}: jaka jest wartość „{1}”?"),
    "de": ("Was steht zum Thema {}?", "Was ist {}?", "{0}: Was steht unter „{1}“?"),
    "ru": ("Что сказано на тему «{}»?", "Что такое {}?", "{0}: что указано в графе «{1}»?"),
    "zh": ("关于{}说了什么？", "什么是{}？", "{0}的{1}是什么？"),
    "ja": ("{}について何と書かれていますか？", "{}とは何ですか？", "{0}の{1}は何ですか？"),
}
"""For each language the question about a heading, a term, and a cell of a table: its row and its column."""
_TERM: Final = r"(?P<term>[^\W\d_][^\n.!?:;,()|]{1,48}?)"
_DEFINITIONS: Final = {
    "en": re.compile(rf"(?:(?:An?|The) )?{_TERM} (?:is|are) (?:an?|the|any|one of) "),
    "pl": re.compile(rf"{_TERM}(?<! nie) (?:to|jest to|– to|— to|oznacza) "),
    "de": re.compile(rf"(?:(?:Ein|Eine|Der|Die|Das) )?{_TERM} (?:ist|sind|bezeichnet|bedeutet) (?:eine?|der|die|das) "),
    "ru": re.compile(rf"{_TERM} [—–-] (?:это )?(?=\w)"),
    "zh": re.compile(r"(?P<term>[^\W\d_][^\s。，、；：！？“”（）]{1,15}?)是(?:指|一种|一个|一项|用于|由)"),
    "ja": re.compile(r"(?P<term>[^\W\d_][^\s。、；：！？「」（）]{1,20}?)(?:とは|は、)[^。]{4,}"),
}  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_][\w’'-]{3,40}")
_WIDE_WORD: Final = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2,8}|[A-Za-z][\w-]{2,30}")
_WIDE_FUNCTION: Final = re.compile(r"[的了在是和与及为以于中上下对从到被把将就也都而其这那有个之所并或等会可能]")
_MARKUP: Final = re.compile(r"[*_`\[\]<>{}|\\]|!\[|\]\(|https?://")
_NOT_TERM: Final = re.compile(
    r"(?:this|that|it|there|here|they|these|those|what|which|who|he|she|we|you|i|if|when|to|ten|ta|jest|nie|es|er|sie|"
    r"das|dies|dieser|diese|was|wer|hier|wir|in|on|at|for|with|w|we|na|do|z|ze|o|po|za|dla|przy|im|bei|für|mit|auf|это|он|она|они|что|здесь|мы|这|那|它|他|她|これ|それ|あれ|ここ)\b",
    re.IGNORECASE,
)


class Made(NamedTuple):
    """A question that was made, with its document and the range of its answer."""

    question: str
    document: str
    start: int
    end: int
    answer: str
    made_by: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as a line of a file of questions."""
        return {
            "question": self.question, "document": self.document, "ranges": [[self.start, self.end]],
            "answer": self.answer, "made_by": self.made_by,
        }  # fmt: skip


def made_questions(documents: Sequence[Document], wanted: int = QUESTIONS) -> list[Made]:
    """Return questions made without a model, at most so many, spread over documents and kinds.

    Documents take turns, and in each turn the kinds do; among equals a hash decides, and not the order of the text.
    """
    rarity = _rarity(documents)
    generic = {name for name, times in Counter(_headings(documents)).items() if times > 1}
    ordered = sorted(documents, key=lambda document: _hash(name_of(document)))
    queues = [_queue(document, rarity, generic, number) for number, document in enumerate(ordered)]
    found: list[Made] = []
    asked: set[str] = set()
    while len(found) < wanted and any(queues):
        for queue in filter(None, queues):
            made = queue.pop()
            if made.question not in asked and len(found) < wanted:
                asked.add(made.question)
                found.append(made)
        queues = list(filter(None, queues))
    return found


def name_of(document: Document) -> str:
    """Return the name by which questions call a document."""
    return document.metadata.file_path or document.document_id


def _queue(document: Document, rarity: Mapping[str, int], generic: set[str], first: int) -> list[Made]:
    """Return the questions on a document, the first one last: the kinds take turns, each document with another first.

    So all kinds come up even where there are more documents than questions.
    """
    language = document_language(document)
    templates = _TEMPLATES.get(language, _TEMPLATES["en"])
    makers: tuple[Callable[[], Iterator[tuple[str, int, int]]], ...] = (
        lambda: _from_headings(document, language, templates[0], generic),
        lambda: _from_definitions(document, language, templates[1]),
        lambda: _from_tables(document, templates[2]),
        lambda: _from_rare_words(document, language, rarity),
    )
    by_kind: list[list[Made]] = []
    for kind, make in zip(KINDS, makers, strict=True):
        made = [
            Made(question, name_of(document), start, end, document.text[start:end], f"{kind}, no model")
            for question, start, end in make()
        ]
        by_kind.append(sorted(made, key=lambda one: _hash(f"{one.question}\x1f{one.start}"))[:_PER_KIND])
    by_kind = by_kind[first % len(KINDS) :] + by_kind[: first % len(KINDS)]
    turns = max(map(len, by_kind), default=0)
    ordered = [kind[turn] for turn in range(turns) for kind in by_kind if turn < len(kind)]
    return ordered[::-1]


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def _headings(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        yield from (block.headings_path[-1] for block in _named(document))


def _named(document: Document) -> Iterator[Block]:
    """Yield the headings that have a name."""
    return (block for block in document.blocks if block.kind == "heading" and block.headings_path)


def _prose(document: Document) -> Iterator[Block]:
    return (block for block in document.blocks if block.kind in {"paragraph", "quote"})


def sentences_in(document: Document, block: Block, language: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a block that are neither very short nor very long, without marks of Markdown."""
    text = document.text
    starts = [block.start, *sentence_starts(text, block.start, block.end, language), block.end]
    for start, end in pairwise(starts):
        if (span := trimmed(text, start, end)) and _is_answer(text[span[0] : span[1]], language):
            yield span


def _is_answer(text: str, language: str) -> bool:
    if _MARKUP.search(text):
        return False
    return len(text) in _WIDE_WANTED if language in _WIDE else len(text.split()) in _WORDS_WANTED


def _from_headings(
    document: Document, language: str, template: str, generic: set[str]
) -> Iterator[tuple[str, int, int]]:
    """Yield a question for each heading that only one section has: the first sentence below it answers."""
    heading = ""
    for block in document.blocks:
        if block.kind == "heading":
            heading = block.headings_path[-1] if block.headings_path else ""
        elif block.kind == "paragraph" and heading:
            named = heading not in generic and not _MARKUP.search(heading)
            named = named and (2 if language in _WIDE else 3) <= len(heading) <= _LONGEST_NAME
            span = next(sentences_in(document, block, language), None)
            if named and span:
                yield heading if heading.endswith(("?", "？")) else template.format(heading.rstrip(" !！.。:：")), *span
            heading = ""


def _from_definitions(document: Document, language: str, template: str) -> Iterator[tuple[str, int, int]]:
    pattern = _DEFINITIONS.get(language, _DEFINITIONS["en"])
    for block in _prose(document):
        for start, end in sentences_in(document, block, language):
            found = pattern.match(document.text, start, end)
            if found and not _NOT_TERM.match(found["term"]) and len(found["term"].split()) <= _LONGEST_TERM:
                yield template.format(found["term"].strip()), start, end


def _from_tables(document: Document, template: str) -> Iterator[tuple[str, int, int]]:
    """Yield a question for one cell of each row: the row answers."""
    text = document.text
    for block in document.blocks:
        if block.kind != "table" or len(block.parts) < 2 or not block.parts[0].header:
            continue
        columns = _cells(text[block.parts[0].start : block.parts[0].end].split("\n")[0])
        for number, row in enumerate(block.parts[1:]):
            cells = _cells(text[row.start : row.end])
            choices = [index for index in range(1, min(len(cells), len(columns))) if cells[index] and columns[index]]
            if cells and cells[0] and choices and not _MARKUP.search(cells[0]) and len(cells[0]) <= _LONGEST_NAME:
                yield template.format(cells[0], columns[choices[number % len(choices)]]), row.start, row.end


def _cells(row: str) -> list[str]:
    return [cell.strip(" *_`") for cell in row.strip().strip("|").split("|")]


def _words(text: str, language: str) -> list[str]:
    """Return the words that search may look for; of Chinese and Japanese runs between function words."""
    if language not in _WIDE:
        return _WORD.findall(text)
    parts = _WIDE_FUNCTION.split(text) if language == "zh" else [text]
    return [word for part in parts for word in _WIDE_WORD.findall(part)]


def _rarity(documents: Iterable[Document]) -> Mapping[str, int]:
    """Count in how many blocks of prose each word occurs."""
    found: Counter[str] = Counter()
    for document in documents:
        language = document_language(document)
        for block in _prose(document):
            found.update({word.casefold() for word in _words(document.text[block.start : block.end], language)})
    return found


def _from_rare_words(document: Document, language: str, rarity: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """Yield for each block the sentence with the rarest words; these are the question, in the order of the text."""
    for block in _prose(document):
        best: tuple[float, str, int, int] | None = None
        for start, end in sentences_in(document, block, language):
            words = list(dict.fromkeys(_words(document.text[start:end], language)))
            rarest = sorted(words, key=lambda word: (rarity[word.casefold()], -len(word), word))[:_RARE]
            if len(rarest) < _RARE - 1:
                continue
            common = sum(rarity[word.casefold()] for word in rarest) / len(rarest)
            if best is None or common < best[0]:
                best = common, " ".join(word for word in words if word in rarest), start, end
        if best:
            yield best[1:]
