"""Numbers as lists show them: roman, letters, ordinals and the digits of other scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_ROMAN: Final = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN: Final = "абвгдежзиклмнопрстуфхцчшщэюя"
_HEBREW: Final = "אבגדהוזחטיכלמנסעפצקרשת"
_ARABIC: Final = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_AIUEO: Final = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA: Final = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_GANADA: Final = "가나다라마바사아자차카타파하"
_CHOSUNG: Final = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_STEMS: Final = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES: Final = "子丑寅卯辰巳午未申酉戌亥"
_CHINESE: Final = "〇一二三四五六七八九"
_FULL_WIDTH: Final = {0x30 + digit: 0xFF10 + digit for digit in range(10)}
_MOST_REPEATED: Final = 30


def numeral(number: int, form: str) -> str:
    """Return a number in a form of Word's; in decimal digits where the form is unknown or has no such number."""
    made = _FORMS[form](number) if form in _FORMS and number > 0 else ""
    return made or str(number)


def _roman(number: int) -> str:
    if number >= 4000:
        return ""
    written = ""
    for worth, letters in _ROMAN:
        written += letters * (number // worth)
        number %= worth
    return written


def _letters(alphabet: str) -> Callable[[int], str]:
    """Return a form that repeats the letters of an alphabet when they are used up: y, z, aa, bb."""

    def form(number: int) -> str:
        count, index = divmod(number - 1, len(alphabet))
        return alphabet[index] * (count + 1) if count < _MOST_REPEATED else ""

    return form


def _counted(alphabet: str) -> Callable[[int], str]:
    """Return a form of signs in a circle of their own, decimal beyond it."""
    return lambda number: alphabet[number - 1] if number <= len(alphabet) else ""


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _chinese(number: int) -> str:
    if number < 10:
        return _CHINESE[number]
    if number > 99:
        return ""
    tens, ones = divmod(number, 10)
    return (_CHINESE[tens] if tens > 1 else "") + "十" + (_CHINESE[ones] if ones else "")


_FORMS: Final[dict[str, Callable[[int], str]]] = {
    "upperRoman": _roman, "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _letters(_LATIN.upper()), "lowerLetter": _letters(_LATIN),
    "russianUpper": _letters(_RUSSIAN.upper()), "russianLower": _letters(_RUSSIAN),
    "hebrew2": _letters(_HEBREW), "arabicAlpha": _letters(_ARABIC),
    "aiueo": _letters(_AIUEO), "aiueoFullWidth": _letters(_AIUEO), "iroha": _letters(_IROHA),
    "irohaFullWidth": _letters(_IROHA), "ganada": _letters(_GANADA), "chosung": _letters(_CHOSUNG),
    "ideographTraditional": _counted(_STEMS), "ideographZodiac": _counted(_BRANCHES),
    "decimalZero": lambda number: f"{number:02}", "ordinal": _ordinal, "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    **dict.fromkeys((
        "chineseCounting", "chineseCountingThousand", "ideographDigital", "japaneseCounting", "koreanDigital2",
        "japaneseDigitalTenThousand", "taiwaneseCounting", "taiwaneseCountingThousand", "chineseLegalSimplified",
    ), _chinese),
    "decimalEnclosedCircle": lambda number: chr(0x245F + number) if number <= 20 else "",
    "decimalEnclosedCircleChinese": lambda number: chr(0x245F + number) if number <= 20 else "",
    "decimalEnclosedParen": lambda number: chr(0x2473 + number) if number <= 20 else "",
    "decimalEnclosedFullstop": lambda number: chr(0x2487 + number) if number <= 20 else "",
    "decimalFullWidth": lambda number: str(number).translate(_FULL_WIDTH),
}  # fmt: skip
