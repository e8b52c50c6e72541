"""Numbers as a person sees them: the number formats of a sheet, `#,##0.00 "€"` or `dd/mm/yyyy`, applied to values.

A format has up to four sections: for positive numbers, negative ones, zero and text, or with conditions of its own.
What can't be read in it falls back to the plain number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

Formatter = Callable[[float], str]

BUILT_IN: Final = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)',
    6: '"$"#,##0_);[Red]("$"#,##0)', 7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)", 42: "_($* #,##0_);_($* (#,##0);_($* \"-\"_);_(@_)",
    43: "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
    44: "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""The formats that files name by number only."""
_LONGEST: Final = 1000  # characters of a format: longer ones are none
_MOST_DIGITS: Final = 20  # of a number that is shown in its format
_EXACTLY: Final = Context(prec=_LONGEST + 2 * _MOST_DIGITS)
_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<literal>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+|e+|b+|g+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<slash>/)"
    r"|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION: Final = re.compile(r'(?:"[^"]*"?|\\.|[_*].|\[[^\]]*\]|[^;])*', re.DOTALL)
_CONDITION: Final = re.compile(r"(<=|>=|<>|=|<|>)\s*(-?[0-9]+(?:\.[0-9]*)?)")
_CURRENCY: Final = re.compile(r"\$([^-\]]*)(?:-.*)?")
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LAST_DAY: Final = 2_958_466  # of the year 9999


class Token(NamedTuple):
    """A piece of a format: what it is, and its text."""

    kind: str
    text: str


class Section(NamedTuple):
    """A section of a format: its pieces, and the condition under which it holds, if it states one."""

    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None

    @property
    def is_date(self) -> bool:
        """Whether it shows a date or a time."""
        return any(token.kind in {"date", "elapsed"} for token in self.tokens)


def general(value: float) -> str:
    """Return a number without a format."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.15g}"
    if "e" not in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}E{exponent}"


def formatter(code: str, *, since_1904: bool = False) -> Formatter | None:
    """Return what shows numbers in a format; None where that is the plain number."""
    if not code or len(code) > _LONGEST or code.lower() in {"general", "@"}:
        return None
    sections = [_section(one) for one in _sections(code)]
    if all(token.kind == "general" for section in sections for token in section.tokens):
        return None
    exactly = partial(_formatted, sections, since_1904)
    return _quickly(sections, exactly) or exactly


_USUAL: Final = re.compile(r"(?:#,##)?0(?:\.(0{1,9}))?")


def _quickly(sections: list[Section], exactly: Formatter) -> Formatter | None:
    """Return a formatter of usual numbers that Python's own formatting does; None for other formats.

    That rounds a binary number, people a decimal one: where the two may differ, `exactly` is asked.
    """
    tokens = sections[0].tokens
    digits = [at for at, token in enumerate(tokens) if token.kind in {"digit", "comma", "point"}]
    between = tokens[digits[0] : digits[-1] + 1] if digits else ()
    shape = _USUAL.fullmatch("".join(token.text for token in between))
    others = {token.kind for token in (*tokens[: digits[0]], *tokens[digits[-1] + 1 :])} if digits else {"none"}
    percents = sum(token.kind == "percent" for token in tokens)
    if not shape or not others <= {"shown", "percent"} or percents > 1 or sections[0].condition:
        return None
    before = "".join(map(_literal, tokens[: digits[0]])).lstrip()
    after = "".join(map(_literal, tokens[digits[-1] + 1 :])).rstrip()
    if before != " ".join(before.split()) + " " * before.endswith(" ") or "  " in after:
        return None
    spec = f"{',' if between[1:] and between[1].kind == 'comma' else ''}.{len(shape[1] or '')}f"
    factor = 100 if percents else 1

    def show(value: float) -> str:
        written = repr(value)
        if value <= 0 or value > 1e15 or written[-1] == "5" or "e" in written:
            return exactly(value)
        return f"{before}{value * factor:{spec}}{after}"

    return show


def is_date(code: str) -> bool:
    """Whether a format shows dates or times."""
    return any(_section(one).is_date for one in _sections(code)[:1])


def _sections(code: str) -> list[str]:
    found, position = list[str](), 0
    while len(found) < 4:
        match = _SECTION.match(code, position)
        found.append(match[0] if match else "")
        position = match.end() + 1 if match else len(code) + 1
        if position > len(code):
            break
    return found


def _section(code: str) -> Section:
    tokens, condition = list[Token](), None
    for match in _TOKEN.finditer(code):
        kind, text = str(match.lastgroup), match[match.lastgroup or 0]
        if kind == "bracket":
            if stated := _CONDITION.fullmatch(text):
                condition = stated[1], float(stated[2])
            elif currency := _CURRENCY.fullmatch(text):
                tokens.append(Token("shown", currency[1]))
            elif _ELAPSED.fullmatch(text):
                tokens.append(Token("elapsed", text.lower()))
        elif kind in {"quoted", "literal", "other"}:
            tokens.append(Token("shown", text))
        elif kind == "space":
            tokens.append(Token("shown", " "))
        elif kind != "fill":
            tokens.append(Token(kind, text.lower() if kind == "date" else text))
    return Section(tuple(tokens), condition)


def _formatted(sections: list[Section], since_1904: bool, value: float) -> str:
    section, size = _chosen(sections, value)
    if section is None:
        return general(value)
    if section.is_date:
        shown = _as_date(section, value, since_1904)
        return general(value) if shown is None else shown
    if any(token.kind == "general" for token in section.tokens):
        return "".join([general(size) if token.kind == "general" else token.text for token in section.tokens]).strip()
    if any(token.kind == "text" for token in section.tokens):
        return general(value)
    if any(token.kind == "slash" for token in section.tokens):
        return _as_fraction(section, size)
    return " ".join(_as_number(section, size).split())


def _chosen(sections: list[Section], value: float) -> tuple[Section | None, float]:
    """Return the section for a value, and what it shows of it: a section of its own says itself that it is negative."""
    numbers = [one for one in sections[:3] if not any(token.kind == "text" for token in one.tokens)] or sections[:1]
    if any(section.condition for section in numbers):
        for at, section in enumerate(numbers):
            if section.condition is None or _holds(section.condition, value):
                return section, abs(value) if at and value < 0 else value
        return None, value
    if value < 0 and len(numbers) > 1:
        return numbers[1], -value
    if value == 0 and len(numbers) > 2:
        return numbers[2], value
    return numbers[0], value


def _holds(condition: tuple[str, float], value: float) -> bool:
    sign, bound = condition
    return {
        "<": value < bound, ">": value > bound, "<=": value <= bound, ">=": value >= bound, "=": value == bound,
        "<>": value != bound,
    }[sign]  # fmt: skip


def _as_number(section: Section, value: float) -> str:
    """Show a number: digits before and after the point, groups, percent, thousands and exponents."""
    tokens = section.tokens
    digits = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    if not digits:
        shown = "".join(_literal(token) for token in tokens)
        return f"-{shown}" if value < 0 and shown.strip() else shown
    first, last = digits[0], digits[-1]
    point = next((at for at, token in enumerate(tokens) if token.kind == "point" and at <= last + 1), None)
    exponent = next((at for at, token in enumerate(tokens) if token.kind == "exponent"), None)
    end_of_whole = min(at for at in (point, exponent, last + 1) if at is not None)
    grouped = any(tokens[at].kind == "comma" for at in range(first, end_of_whole))
    number = Decimal(repr(value)).copy_abs()
    number = number.scaleb(2 * sum(token.kind == "percent" for token in tokens))
    number = number.scaleb(-3 * _scaling_commas(tokens, last))
    whole = [at for at in digits if at < end_of_whole]
    places = [at for at in digits if point is not None and at > point and (exponent is None or at < exponent)]
    power = 0
    if exponent is None and number.adjusted() > _MOST_DIGITS:
        return general(value)
    if exponent is not None:
        number, power = _scaled(number, max(len(whole), 1), len(places))
    rounded = number.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP, _EXACTLY)
    integer, _, decimals = f"{rounded:f}".partition(".")
    texts = _whole_digits(tokens, whole, integer, grouped=grouped) | _decimal_digits(tokens, places, decimals)
    if exponent is not None:
        texts |= _exponent_digits(tokens, [at for at in digits if at > exponent], power, exponent)
    shown = "".join(_literal(token) if at not in texts else texts[at] for at, token in enumerate(tokens))
    return f"-{shown}" if value < 0 and any(one != "0" for one in f"{rounded:f}" if one != ".") else shown


def _literal(token: Token) -> str:
    return token.text if token.kind in {"shown", "percent", "point", "slash"} else ""


def _scaling_commas(tokens: tuple[Token, ...], last: int) -> int:
    """Count the commas after the last digit: each divides by a thousand."""
    count = 0
    for token in tokens[last + 1 :]:
        if token.kind != "comma":
            break
        count += 1
    return count


def _scaled(number: Decimal, before: int, after: int) -> tuple[Decimal, int]:
    """Return the digits and the power of ten of a number in scientific notation."""
    if not number:
        return number, 0
    step = before if before > 1 else 1
    power = number.adjusted() // step * step
    rounded = number.scaleb(-power).quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP, _EXACTLY)
    if rounded >= Decimal(10) ** step:
        power += step
    return number.scaleb(-power), power


def _whole_digits(tokens: tuple[Token, ...], places: list[int], integer: str, *, grouped: bool) -> dict[int, str]:
    """Return what stands for each digit before the point: the first takes all that are left over."""
    integer = integer.lstrip("0")
    texts: dict[int, str] = {}
    count = 0  # digits shown, from the right
    for order, at in enumerate(reversed(places)):
        is_first = order == len(places) - 1
        taken = integer if is_first else integer[-1:]
        integer = "" if is_first else integer[:-1]
        shown = taken or ("0" if tokens[at].text == "0" else "")
        with_groups = ""
        for digit in reversed(shown):
            with_groups = digit + ("," if grouped and count and count % 3 == 0 else "") + with_groups
            count += 1
        texts[at] = with_groups
    return texts


def _decimal_digits(tokens: tuple[Token, ...], places: list[int], decimals: str) -> dict[int, str]:
    """Return what stands for each digit after the point; zeros at the end only where the format has a 0."""
    texts = dict.fromkeys(places, "")
    keep = False
    for at, digit in reversed(list(zip(places, decimals.ljust(len(places), "0"), strict=False))):
        keep = keep or digit != "0" or tokens[at].text == "0"
        texts[at] = digit if keep else ""
    return texts


def _exponent_digits(tokens: tuple[Token, ...], places: list[int], power: int, exponent: int) -> dict[int, str]:
    sign = "-" if power < 0 else "+" if tokens[exponent].text.endswith("+") else ""
    texts = dict.fromkeys(places, "") | {exponent: f"E{sign}"}
    if places:
        texts[places[0]] = str(abs(power)).rjust(sum(tokens[at].text == "0" for at in places), "0")
    return texts


def _as_fraction(section: Section, value: float) -> str:
    """Show a number as a whole and a fraction: `# ?/?`, `# ??/16`."""
    tokens = section.tokens
    slash = next(at for at, token in enumerate(tokens) if token.kind == "slash")
    below = "".join(token.text for token in tokens[slash + 1 :] if token.kind in {"digit", "shown"}).strip()
    count = sum(token.kind == "digit" for token in tokens[slash + 1 :])
    fixed = int(below) if below.isdigit() and below.strip("0") and len(below) < 5 else 0
    above = [token.kind for token in tokens[:slash]]
    has_whole = "shown" in above[: len(above) - above[::-1].index("digit")] if "digit" in above else False
    size = Fraction(abs(value))
    whole = int(size) if has_whole else 0
    if fixed:
        numerator, denominator = round((size - whole) * fixed), fixed
    else:
        part = (size - whole).limit_denominator(10 ** min(max(count, 1), 4) - 1)
        numerator, denominator = part.numerator, part.denominator
    if has_whole and numerator == denominator:
        whole, numerator = whole + 1, 0
    shown = [str(whole)] if has_whole and (whole or not numerator) else []
    shown += [f"{numerator}/{denominator}"] if numerator or not has_whole else []
    return ("-" if value < 0 else "") + " ".join(shown)


def date_of(value: float, *, since_1904: bool = False) -> datetime | None:
    """Return the date and time of a serial number, to the millisecond; None if it has none."""
    if since_1904:
        value += 1462
    if not 0 <= value < _LAST_DAY:
        return None
    if 0 <= value < 60 and not since_1904:  # 1900 has a 29 February there
        value += 1
    return datetime(1899, 12, 30) + timedelta(milliseconds=round(value * 86_400_000))


def _as_date(section: Section, value: float, since_1904: bool) -> str | None:
    """Show a serial number as a date or time; None if it has none."""
    tokens = section.tokens
    elapsed = any(token.kind == "elapsed" for token in tokens)
    moment = date_of(abs(value) if elapsed else value, since_1904=since_1904 and not elapsed)
    if moment is None:
        return None
    places = _fraction_places(tokens)
    shows_seconds = any(token.text[0] == "s" for token in tokens if token.kind in {"date", "elapsed"})
    if shows_seconds:
        moment += timedelta(milliseconds=500 // 10 ** min(places, 3))
    halves = any(token.kind == "half" for token in tokens)
    pieces, total = list[str](), round(abs(value) * 86_400, max(places, 0) or None)
    for at, token in enumerate(tokens):
        if token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[token.text[0]]
            pieces.append(str(int(total // unit)).rjust(len(token.text), "0"))
        elif token.kind == "date":
            pieces.append(_date_part(tokens, at, moment, halves=halves))
        elif token.kind == "half":
            pieces.append(("AM" if moment.hour < 12 else "PM")[: 2 if len(token.text) > 3 else 1])
        elif token.kind == "point" and places and at + 1 < len(tokens) and tokens[at + 1].kind == "digit":
            pieces.append("." + f"{moment.microsecond // 1000:03d}".ljust(places, "0")[:places])
        elif token.kind != "digit":
            pieces.append(token.text if token.kind in {"shown", "slash", "point", "comma", "percent"} else "")
    shown = " ".join("".join(pieces).split())
    return f"-{shown}" if elapsed and value < 0 else shown


def _fraction_places(tokens: tuple[Token, ...]) -> int:
    """Count the digits after the point of seconds."""
    point = next((at for at, token in enumerate(tokens) if token.kind == "point"), len(tokens))
    return sum(1 for token in tokens[point + 1 :] if token.kind == "digit")


def _date_part(tokens: tuple[Token, ...], at: int, moment: datetime, *, halves: bool) -> str:
    name = tokens[at].text
    letter, size = name[0], len(name)
    if letter == "m" and size < 3 and _means_minutes(tokens, at):
        return str(moment.minute).rjust(size, "0")
    if letter == "y" or letter in "eb":
        return f"{moment.year:04d}" if size > 2 or letter == "e" else f"{moment.year % 100:02d}"
    if letter == "m":
        month = _MONTHS[moment.month - 1]
        return (str(moment.month), f"{moment.month:02d}", month[:3], month, month[:1])[min(size, 5) - 1]
    if letter == "d":
        day = _DAYS[moment.weekday()]
        return (str(moment.day), f"{moment.day:02d}", day[:3], day)[min(size, 4) - 1]
    if letter == "h":
        hour = (moment.hour - 1) % 12 + 1 if halves else moment.hour
        return str(hour).rjust(min(size, 2), "0")
    return str(moment.second).rjust(min(size, 2), "0") if letter == "s" else ""


def _means_minutes(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether an `m` stands for minutes: after hours, or before seconds."""
    units = [(index, token.text[0]) for index, token in enumerate(tokens) if token.kind in {"date", "elapsed"}]
    here = next(order for order, (index, _) in enumerate(units) if index == at)
    after_hours = here > 0 and units[here - 1][1] == "h"
    return after_hours or (here + 1 < len(units) and units[here + 1][1] == "s")
