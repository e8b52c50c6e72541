"""Sentence boundaries: one regular expression finds the candidates, tables of words decide about doubtful dots.

Linear in the length of the window: every repetition is possessive or bounded, and only the first mark of a run
may start a match, so a run of dots that fails is not tried again from its second dot.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from unicodedata import category

from spanwise.text.abbreviations import ABBREVIATIONS, ENDERS, NUMBERED, STARTERS

_KEYS = frozenset[str]().union(*ABBREVIATIONS.values(), *ENDERS.values(), *NUMBERED.values())

# A word of more letters than this is no abbreviation.
_LONGEST_PART = max(len(key.rpartition(".")[2]) for key in _KEYS)

_LATIN_MARKS = ".!?…"
_WIDE_MARKS = "。！？｡‼⁇⁈⁉"
_MARKS = _LATIN_MARKS + _WIDE_MARKS
_WIDE = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_LOWER = "".join(filter(str.islower, map(chr, range(0x530))))

# Closing quotes, brackets and Markdown, then footnote marks. U+FE0F follows ‼ and ⁉ rendered as emoji.
_FOOTNOTES = r"(?>(?:\[(?:\^[\w-]{1,24}|\d{1,3})\](?!\()){0,4})"
_CLOSERS = rf"""["'”’“‘»«)\]}}*_`~」』）》】〉］｝\ufe0f]{{0,8}}+{_FOOTNOTES}"""

# Without white space after them Markdown and “ open rather than close, as do straight quotes before a Latin word;
# 《Who?》 is a title, not an end.
_WIDE_QUOTES = r"""(?>(?:[”’)\]}」』）］｝\ufe0f]|["'](?![A-Za-z0-9])){0,8})"""
_WIDE_CLOSERS = rf"{_WIDE_QUOTES}(?>(?:[(（]笑[)）])?)(?>(?:[*_~]{{1,4}}+(?=\s|\Z))?){_FOOTNOTES}"

# A backtick is not skipped: the case of code proves nothing.
_OPENERS = "\"'“„”«»‘‚([{<*_~「『（《【¿¡"

# A dash between a quotation and its lower-case "he said"; a hyphen at a line start is a list item instead.
_DASH = r"(?>(?:(?:[–—]|(?<=\S )-)\s++)?)"

# After a closing bracket these continue the sentence: Japanese particles, Chinese and Japanese "he said".
_PARTICLES = (
    "って|と(?!ころ|にかく|ても|りあえず|もかく)|の(?!ち)|が|を|に|だ(?!から|が)|で(?!も|は)|は(?!い)|"
    "な(?!ぜ|ん|る)|も(?!し|う|ち)|や|へ|じゃ|から|まで|など"
)
_SPEECH = r"[^，。！？、；：\s没不无無谁誰]{1,3}?[说說問问喊叫道答想言聞尋]"

_STREET = "str"  # ends any number of German street names: `Hauptstr. 5`

# Group 1 matches at a sure end, not at a single dot in doubt. Only the first mark of a run may begin a match.
_FIRST_MARK = rf"[{_MARKS}](?<![{_MARKS}]{{2}})"
_SURE = rf"(?>([{_LATIN_MARKS}]++|(?<=[!?…])|(?<=[^\W\d_]{{{_LONGEST_PART + 1}}}\.)(?<!{_STREET}\.))|)"
_NOT_IN_LOWER_CASE = rf"(?![{re.escape(_OPENERS)}]{{0,6}}+{_DASH}[{_LOWER}])"
_LATIN_END = rf"(?<=[{_LATIN_MARKS}]){_SURE}{_CLOSERS}\s++"

# Group 2 matches at a wide end, which needs no white space; nor do ! and ? between two wide characters.
_WIDE_RUN = rf"[{_MARKS}]*+(?<=[{_WIDE_MARKS}]){_WIDE_CLOSERS}\s*+"
_WIDE_EXCLAMATION = rf"(?<=[{_WIDE}][!?])[!?]*+{_WIDE_CLOSERS}(?=[{_WIDE}])"
_NO_CONTINUATION = rf"(?![，、；：,;:=…—》】〉])(?:(?<![」』”）])|(?!{_PARTICLES}|{_SPEECH}))"
_WIDE_END = rf"(?:{_WIDE_RUN}|{_WIDE_EXCLAMATION}){_NO_CONTINUATION}()"

# A long text without any capital comes from an author or an export that doesn't write them.
_LONG_WITHOUT_CAPITALS = 200

_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n\s*+")

# A bracket that isn't closed within 400 characters brackets nothing.
_PAIRS = ("「」", "『』", "（）", "《》", "“”", "【】")

_NEXT_WORD = re.compile(rf"[{re.escape(_OPENERS)}`]{{0,6}}+(\w{{1,24}}+)")
_WIDE_PREFIX = re.compile(".*[\u3000-\uffef]")
_INITIALS = re.compile(r"(?>(?:[^\W\d_]\.)*)[^\W\d_]")
_ROMAN = re.compile(r"[IVXLCDMХ]++")

# Characters that belong to any grapheme before them: marks, joiners, emoji modifiers, tags.
_COMBINING = frozenset({"Mn", "Mc", "Me"})
_JOINERS = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f🏻🏼🏽🏾🏿") | frozenset(map(chr, range(0xE0020, 0xE0080)))

# The context of a doubtful dot, in characters and words: the longest abbreviation (`i. d. R.`) fits easily.
_REACH = 24
_MOST_PARTS = 4


class _Rules(NamedTuple):
    abbreviations: frozenset[str]
    enders: frozenset[str]
    numbered: frozenset[str]
    starters: frozenset[str]
    multipart: frozenset[str]
    doubtful: frozenset[str]
    writes_ordinals_with_dot: bool


def _rules(language: str) -> _Rules:
    abbreviations, enders, numbered = ABBREVIATIONS[language], ENDERS[language], NUMBERED[language]
    keys = abbreviations | enders | numbered
    return _Rules(
        abbreviations=abbreviations,
        enders=enders,
        numbered=numbered,
        starters=STARTERS[language],
        multipart=frozenset(key for key in keys if "." in key),
        doubtful=frozenset(key.rpartition(".")[2] for key in keys),
        writes_ordinals_with_dot=language == "de",
    )


_RULES = {language: _rules(language) for language in ABBREVIATIONS}


@cache  # Compiling takes some milliseconds, too long for an import.
def _end_pattern(*, without_capitals: bool) -> re.Pattern[str]:
    case = "" if without_capitals else _NOT_IN_LOWER_CASE
    return re.compile(f"{_FIRST_MARK}(?:{_LATIN_END}{case}|{_WIDE_END})")


@cache
def _bracketed_pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"{pair[0]}[^{pair}]{{0,398}}+{pair[1]}" for pair in _PAIRS))


def sentence_starts(text: str, start: int, end: int, language: str = "en") -> list[int]:
    """Return the positions p, start < p < end, ascending, at which a new sentence begins.

    `text[p]` is never white space and never continues a grapheme. Only `text[start:end]` and a few characters
    before `start` are read. A language without tables uses the English ones.
    """
    rules = _RULES.get(language, _RULES["en"])
    starts = [match.end() for match in _BLANK_LINE.finditer(text, start, end)]
    wide_starts: list[int] = []
    without_capitals = end - start >= _LONG_WITHOUT_CAPITALS and text[start:end].islower()
    for match in _end_pattern(without_capitals=without_capitals).finditer(text, start, end):
        kind = match.lastindex
        if kind == 1:
            starts.append(match.end())
        elif kind == 2:
            wide_starts.append(match.end())
        elif _dot_ends(text, match.start(), match.end(), end, rules):
            starts.append(match.end())
    if wide_starts:
        starts += _outside_brackets(text, start, end, wide_starts)
    return _cleaned(text, start, end, starts)


def _cleaned(text: str, start: int, end: int, starts: list[int]) -> list[int]:
    """Return the starts sorted, without those after nothing but white space, at the end, or inside a grapheme."""
    starts = sorted(dict.fromkeys(starts))
    if starts and starts[-1] >= end:
        starts.pop()
    if starts and text[start : starts[0]].isspace():
        del starts[0]
    if text.isascii():
        return starts
    return [p for p in starts if (c := text[p]) < "\u0300" or (category(c) not in _COMBINING and c not in _JOINERS)]


def _outside_brackets(text: str, start: int, end: int, positions: list[int]) -> Iterator[int]:
    """Yield the positions that are not inside a closed pair of wide brackets or quotes."""
    pairs = _bracketed_pattern().finditer(text, start, end)
    opened = closed = start
    for position in positions:
        while closed < position and (pair := next(pairs, None)):
            opened, closed = pair.span()
        if not opened < position < closed:
            yield position


def _dot_ends(text: str, mark: int, following: int, end: int, rules: _Rules) -> bool:
    """Whether the single dot at `mark`, with white space up to `following`, ends a sentence."""
    word = text[max(0, mark - _LONGEST_PART - 1) : mark].rpartition(" ")[2]
    # Most dots follow an ordinary word, and this is the most frequent call: those take the short way.
    plain = word[1:].islower() and word.isalpha() and word.lower() not in rules.doubtful and word < "\u3000"
    if plain and not word.endswith(_STREET):
        return True
    if not word[-1:].isalnum():  # A bracket, a quote, a space: no abbreviation ends like this.
        return True
    before, after = text[max(0, mark - _REACH) : mark], text[following : min(end, following + _REACH)]
    return _doubtful_dot_ends(before, after, rules)


def _doubtful_dot_ends(before: str, after: str, rules: _Rules) -> bool:
    """Whether a dot between the two texts ends a sentence; `after` begins with the next word, maybe in quotes."""
    words = before.rsplit(None, _MOST_PARTS)
    word = words[-1].lstrip(_OPENERS) if words else ""
    if word >= "\u3000":  # Chinese and Japanese don't separate a Latin word from what precedes it.
        word = _WIDE_PREFIX.sub("", word)
    if word.isdigit():
        return not (_is_list_number(before, word) or _is_inline_number(words, word, rules)) and (
            len(word) > 2 or not rules.writes_ordinals_with_dot or _starts_typically(after, rules)
        )
    key = _key(words, word, rules)
    if key in rules.enders and (_follows_number(words) or not (len(key) == 1 or key in rules.abbreviations)):
        following = _next_word(after)
        # `Co. Ltd.` and `Co. KG` are one name.
        return following[:1].isupper() and (len(following) < 2 or following.lower() not in rules.enders)
    if key in rules.abbreviations or key.endswith(_STREET):
        return False
    if key in rules.numbered:
        return not after[:1].isdigit()
    if _INITIALS.fullmatch(word) or (rules.writes_ordinals_with_dot and _ROMAN.fullmatch(word)):
        return _starts_typically(after, rules)
    return True


def _key(words: list[str], word: str, rules: _Rules) -> str:
    """Return the key of the last word, or of the longest spaced abbreviation that ends with it (`i. d. R`)."""
    key, joined = word.lower(), word
    if key not in rules.doubtful:
        return key
    for previous in words[-2::-1]:
        if previous[-1] != "." or len(previous) > 5:
            break
        joined = previous.lstrip(_OPENERS) + joined
        # All capitals are initials: `S. A. Nowak` is no joint-stock company.
        if not joined.isupper() and joined.lower() in rules.multipart:
            key = joined.lower()
    return key


def _follows_number(words: list[str]) -> bool:
    """Whether the last word counts something: years or centuries (`1999 r`, `XVIII w`)."""
    previous = words[-2] if len(words) > 1 else ""
    return previous[-1:].isdigit() or _ROMAN.fullmatch(previous) is not None


def _is_list_number(before: str, number: str) -> bool:
    """Whether only indentation and Markdown signs precede the number on its line."""
    # More digits are a year at the start of a hard-wrapped line.
    return len(number) <= 3 and not before[: -len(number)].rpartition("\n")[2].strip(" \t>#*_-")


def _is_inline_number(words: list[str], number: str, rules: _Rules) -> bool:
    """Whether a short number directly follows the end of a sentence: it counts what follows (`Wait. 2. Go on.`)."""
    if len(number) > 3 or len(words) < 2 or words[-2][-1] not in ".!?":
        return False
    previous = words[-2].rstrip(".!?")
    return previous.isalpha() and len(previous) > 2 and previous.lower() not in rules.doubtful


def _next_word(after: str) -> str:
    match = _NEXT_WORD.match(after)
    return match[1] if match else ""


def _starts_typically(after: str, rules: _Rules) -> bool:
    """Whether the next word is capitalised and a typical first word; with a dot it is the next initial."""
    word = _next_word(after)
    return word[:1].isupper() and word.lower() in rules.starters and word + "." not in after
