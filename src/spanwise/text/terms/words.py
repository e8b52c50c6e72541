"""The tokens of a text, and the words in a token: parts and wholes.

A token is a run of letters, digits and single signs between them: `kube-proxy`, `max_tokens`, `v1.2.3`, `user's`,
`C++`. People search for the whole and for its parts, and write wholes in several ways. So a token has one whole, its
parts joined (`kubeproxy`, which `KubeProxy` and `kube_proxy` share), and parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

HAN: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
HIRAGANA: Final = "\u3041-\u309f"
KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL: Final = "\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\uac00-\ud7ff"
UNSPACED: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0edf\u1000-\u104f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
_GRAMMED: Final = f"{HAN}{HIRAGANA}{KATAKANA}{HANGUL}{UNSPACED}"

# Marks that NFKC leaves as separate characters; `\w` doesn't match them.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03"
    "\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
    "\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u1ab0-\u1ace\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
# (?>…) and not a possessive group, (?:…)*+: the latter gives wrong matches before Python 3.11.5
_LETTERS: Final = rf"(?>(?:[^\W_{_GRAMMED}]++[{_MARKS}]*+)+)"
_SIGNS: Final = "-._'\u2019\u02bc\u2010"

_TAIL: Final = r"(?>(?:\+\+\d*+|#(?![\w#]))?)"

_TOKEN: Final = re.compile(
    rf"{_LETTERS}(?>(?:(?:[{_SIGNS}]|(?<=\d),(?=\d)){_LETTERS})*){_TAIL}"
    rf"|[{HAN}{HIRAGANA}]++|[{KATAKANA}]++|[{HANGUL}]++|[{UNSPACED}]++"
)
# the same for ASCII texts, which are the most frequent: it takes half the time
_ASCII_TOKEN: Final = re.compile(rf"[A-Za-z0-9]++(?>(?:(?:[-._']|(?<=\d),(?=\d))[A-Za-z0-9]++)*){_TAIL}")
_SPLIT: Final = re.compile(f"({_TOKEN.pattern})")
_ASCII_SPLIT: Final = re.compile(f"({_ASCII_TOKEN.pattern})")
_PART: Final = re.compile(rf"[^,{_SIGNS}+#]++")
_GRAMS: Final = re.compile(f"[{_GRAMMED}]")
_HUMP: Final = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][^\W\d_A-Z])")
_NUMBER: Final = re.compile(r"[vV]?\d++(?>(?:[.,]\d++)*)")
_LONGEST_NAME: Final = 200
_DIGITS: Final = re.compile(r"\d++")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_NAMED_NUMBER: Final = re.compile(r"([^\W\d_]{3,})\d+")


class WordPart(NamedTuple):
    """A word inside a token, and its range in the token."""

    text: str
    start: int
    end: int
    inflected: bool  # False for terms that are looked up unchanged: numbers, `c++`


def _part(word: str, start: int) -> WordPart:
    return WordPart(word, start, start + len(word), word.isalpha())


def tokens_in(text: str) -> re.Pattern[str]:
    """Return the pattern that finds the tokens of a normalized text."""
    return _ASCII_TOKEN if text.isascii() else _TOKEN


def split_tokens(text: str) -> list[str]:
    """Return a normalized text as what stands between its tokens, and these: one of the former at either end."""
    return (_ASCII_SPLIT if text.isascii() else _SPLIT).split(text)


def is_grams(token: str) -> bool:
    """Whether a token is a run of a script without spaces between words."""
    return _GRAMS.match(token) is not None


def parts_of(token: str) -> list[WordPart]:
    """Return the words in a token that isn't a run of grams, the whole last."""
    end = len(token)
    if token.isalpha() and not _has_humps(token):
        return [_part(token, 0)]
    if _NUMBER.fullmatch(token):
        return list(_numbers(token))
    if token[-1] == "#" or "++" in token:
        return list(_with_signs(token))
    parts = [part for found in _PART.finditer(token) for part in _inside(found[0], found.start())]
    whole = "".join(_PART.findall(token))
    if len(parts) == 1 and parts[0].text == whole:
        return parts
    return [*(part for part in parts if len(part.text) > 1), WordPart(whole, 0, end, whole.isalpha())]


def _inside(word: str, start: int) -> Iterator[WordPart]:
    """Yield the words of one part: `maxTokens` has two; of `python3` the name is a word as well."""
    named = _NAMED_NUMBER.fullmatch(word)
    if named:
        yield _part(named[1], start)
        yield _part(word, start)
    elif _NUMBER.fullmatch(word):
        yield from (WordPart(part.text, part.start + start, part.end + start, False) for part in _numbers(word))
    elif _has_humps(word):
        offset = start
        for hump in _HUMP.split(word):
            yield _part(hump, offset)
            offset += len(hump)
    else:
        yield _part(word, start)


def _has_humps(word: str) -> bool:
    """Whether a name such as `maxTokens` or `HorizontalPodAutoscaler` is made of words, unlike `GitHub`."""
    if len(word) > _LONGEST_NAME or word.islower() or word.isupper() or word[1:].islower():
        return False
    humps = len(_HUMP.findall(word))
    return humps > 1 or (humps == 1 and word[0].islower())


def _numbers(token: str) -> Iterator[WordPart]:
    """Yield a number as a whole with points, and other ways to write it.

    Of `v1.2.3` these are `1.2.3` and `1.2`, of `1,000` it is `1000`, of `15.01.2026` the year, of `7,8,9` each number.
    """
    end = len(token)
    number = token.lower().removeprefix("v")
    start = end - len(number)
    pointed = number.replace(",", ".")
    yield WordPart(pointed, start, end, False)
    if start:
        yield WordPart("v" + pointed, 0, end, False)
    if _THOUSANDS.fullmatch(pointed):
        yield WordPart(pointed.replace(".", ""), start, end, False)
    elif pointed != number:
        yield from (_part(found[0], start + found.start()) for found in _DIGITS.finditer(number))
    else:
        yield from _some_of(pointed, start)


def _some_of(number: str, start: int) -> Iterator[WordPart]:
    """Yield the first two of three or more numbers, and those that look like a year."""
    numbers = number.split(".")
    if len(numbers) > 2:
        two = ".".join(numbers[:2])
        yield WordPart(two, start, start + len(two), False)
        yield from (_part(found[0], start + found.start()) for found in _DIGITS.finditer(number) if len(found[0]) == 4)


def _with_signs(token: str) -> Iterator[WordPart]:
    """Yield `c++`, `c#` and `c++17` unchanged; for longer names also the text before the signs."""
    name = token.rstrip("#0123456789").rstrip("+") if "++" in token else token[:-1]
    if len(name) > 1:
        yield from parts_of(name)
    if "++" in token or len(name) == 1:
        signed = len(name) + (2 if "++" in token else 1)
        yield WordPart(token[:signed], 0, signed, False)
        if signed < len(token):
            yield WordPart(token, 0, len(token), False)
