"""The language of a document, stated or guessed: a guess counts scripts first, then stop words.

Only prose counts: code, addresses, markup, comments and shortcodes are English in every language's documentation.
"""

import re
from collections import Counter

from spanwise.documents.document import Document

LANGUAGES: tuple[str, ...] = ("en", "pl", "de", "ru", "zh", "ja")

# The first sample usually holds enough prose; the later ones are for a text that opens with code.
_SAMPLE_SIZES = (2_000, 6_000, 20_000)
_ENOUGH_LETTERS = 500

_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]|$)")
_PROSE_KINDS = frozenset({"paragraph", "list", "quote", "html", "heading"})
_BLOCK_SAMPLE, _DOCUMENT_SAMPLE, _PARAGRAPH_SAMPLE = 4_000, 16_000, 600  # characters
_LEAD = 2  # by so many stop words and letters a paragraph must be of another language than its document

# What isn't prose, each kind with the string without which it can't occur. An unclosed fence or comment runs to the
# end, as Markdown has it; so nothing is searched for twice, and the time stays linear. Patterns that begin with a
# literal are found several times faster.
_NOISE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("<!--", re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)),
    ("```", re.compile(r"```(?<!````)`*+[^`\n]*+(?:```|\Z|\n.*?(?:\n[ \t>]*+```|\Z))", re.DOTALL)),
    ("~~~", re.compile(r"~~~(?<!~~~~)~*+[^\n]*+(?:\Z|\n.*?(?:\n[ \t>]*+~~~|\Z))", re.DOTALL)),
    ("`", re.compile(r"`[^`\n]*+`")),
    ("{{", re.compile(r"\{\{[<%][^{}]{0,400}+\}\}")),
    ("<", re.compile(r"<[A-Za-z/!][^<>]{0,400}+>")),
    ("://", re.compile(r"://[^\s)\]>\"]++")),
    ("](", re.compile(r"\]\([^()\s]*+")),
)

_KANA = re.compile("[\u3041-\u30fa]")
_NOT_LATIN_LETTERS = bytes(byte for byte in range(256) if not chr(byte).isalpha() or byte > 127)

# The high bytes of UTF-16: counting bytes is far cheaper than matching characters.
_CYRILLIC_PAGE = b"\x04"
_KANA_PAGE = b"\x30"
_NOT_HAN_PAGES = bytes(byte for byte in range(256) if not 0x34 <= byte <= 0x9F)

# A page in Chinese or Russian is full of Latin names, one in English hardly ever quotes other scripts.
_WEIGHT_OF_WIDE = 8
_WEIGHT_OF_CYRILLIC = 3

# Chinese quotes hardly any kana, Japanese can't do without: one in this many characters distinguishes them.
_WIDE_CHARACTERS_PER_KANA = 8


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Frequent words of one language that aren't words of the others.
_STOP_WORDS: dict[str, frozenset[str]] = {
    "en": _words("the of and that with this are is it from be for not you have or by as can which your will"),
    "pl": _words("się nie jest że oraz jak dla lub są przez który która aby może czy ten tego tym od po na w z i"),
    "de": _words("der die das und ist nicht mit ein eine zu den von für auf werden im dem sie wird sich oder als auch"),
}
_OTHER_SCRIPTS = frozenset(LANGUAGES) - _STOP_WORDS.keys()
_OWN_LETTERS = {"pl": "ąćęłńśźż", "de": "äöüß"}


def stated_language(document: Document) -> str | None:
    """Return the language that a document states; `de-AT` and `de_AT` are `de`."""
    stated = _CODE.match(document.metadata.language or "")
    return stated[1].lower() if stated else None


def document_language(document: Document) -> str:
    """Return the language by which sentences are cut and terms are made: the stated one, else guessed from the prose.

    A stated language without tables of its own is kept: guessing would choose another.
    """
    if stated := stated_language(document):
        return stated
    sample, length = [], 0
    for block in document.blocks:
        if block.kind in _PROSE_KINDS:
            sample.append(document.text[block.start : min(block.end, block.start + _BLOCK_SAMPLE)])
            length += len(sample[-1])
            if length > _DOCUMENT_SAMPLE:
                break
    return guess_language("\n".join(sample) or document.text)


def guess_language(text: str) -> str:
    """Return the most likely of `LANGUAGES`; an empty text and an unknown script count as English."""
    for size in _SAMPLE_SIZES:
        prose = _prose(text[:size]).lower()
        language, letters = _by_script(prose)
        if letters >= _ENOUGH_LETTERS or size >= len(text):
            break
    return language or _by_words(prose)


def paragraph_language(text: str, usual: str) -> str:
    """Return the language of a paragraph in a document of the language `usual`, which holds unless another is clear."""
    prose = _prose(text[:_PARAGRAPH_SAMPLE]).lower()
    by_script, letters = _by_script(prose)
    if not letters or {by_script, usual} == {"zh", "ja"}:  # few characters don't tell these two apart
        return usual
    if by_script:
        return by_script
    scores = _word_scores(prose)
    best = max(scores, key=scores.__getitem__)
    if usual in scores:
        return best if scores[best] >= scores[usual] + _LEAD else usual
    return best if usual in _OTHER_SCRIPTS else usual


def _prose(text: str) -> str:
    """Replace what isn't prose by a space; drop front matter, whose keys are English, if more follows."""
    head = text.find("\n---", 3) + 1 if text.startswith("---\n") else 0
    prose = text[head:].removeprefix("---")
    for sign, pattern in _NOISE:
        if sign in prose:
            prose = pattern.sub(" ", prose)
    return prose if prose.strip() else text[:head]


def _by_script(prose: str) -> tuple[str, int]:
    """Return the language of the scripts, or "" where they are Latin or unknown; and the number of letters."""
    latin = len(prose.encode("ascii", "ignore").translate(None, _NOT_LATIN_LETTERS))
    if prose.isascii():
        return "", latin
    pages = prose.encode("utf-16-le", "surrogatepass")[1::2]
    cyrillic = pages.count(_CYRILLIC_PAGE) * _WEIGHT_OF_CYRILLIC
    kana = len(_KANA.findall(prose)) if _KANA_PAGE in pages else 0
    wide = (kana + len(pages.translate(None, _NOT_HAN_PAGES))) * _WEIGHT_OF_WIDE
    if wide > max(latin, cyrillic):
        return "ja" if kana * _WIDE_CHARACTERS_PER_KANA * _WEIGHT_OF_WIDE > wide else "zh", latin + wide
    return "ru" if cyrillic > latin else "", latin + cyrillic


def _by_words(prose: str) -> str:
    """Return the Latin language whose stop words and own letters are the most frequent; English wins a tie."""
    scores = _word_scores(prose)
    return max(scores, key=scores.__getitem__)


def _word_scores(prose: str) -> dict[str, int]:
    counts = Counter(prose.split())
    scores = {language: sum(map(counts.__getitem__, words)) for language, words in _STOP_WORDS.items()}
    for language, letters in _OWN_LETTERS.items():
        scores[language] += sum(map(prose.count, letters))
    return scores
