"""Number formats: values as a person sees them in a spreadsheet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.readers.sheets.number_formats import BUILT_IN, formatter, general

SHOWN = [
    ("#,##0", 12000, "12,000"),
    ('"$"#,##0.00', 12000, "$12,000.00"),
    ("$#,##0", 12000, "$12,000"),
    ('#,##0.00 "€"', 1234567.891, "1,234,567.89 €"),
    ("[$$-409]#,##0.00", -5.5, "-$5.50"),
    ("#,##0.00\\ [$€-407]", 1234.5, "1,234.50 €"),
    ("0%", 0.256, "26%"),
    ("0.00%", 0.1234, "12.34%"),
    ("0.00", 2.675, "2.68"),
    ("0.00", 1.005, "1.01"),
    ("0", -0.2, "0"),
    ("#.##", 1.5, "1.5"),
    ("0.0##", 12, "12.0"),
    ("00000", 42, "00042"),
    ("000-00-0000", 123456789, "123-45-6789"),
    ('0.0,,"M"', 12345678, "12.3M"),
    ("#,##0_);(#,##0)", -1234, "(1,234)"),
    ('0.00;-0.00;"zero"', 0, "zero"),
    ("0;-0;;@", 0, ""),
    ("[Red]0.00;[Blue]-0.00", -2, "-2.00"),
    ('[<1000]0;[>=1000]0.0, "k"', 2500, "2.5 k"),
    ("0.00E+00", 12345, "1.23E+04"),
    ("##0.0E+0", 12345, "12.3E+3"),
    ("# ?/?", 1.5, "1 1/2"),
    ("# ??/16", 0.25, "4/16"),
    ('General" kg"', 12.5, "12.5 kg"),
    ("yyyy\\-mm\\-dd", 45322, "2024-01-31"),
    ("d. mmmm yyyy", 45322.5, "31. January 2024"),
    ("dddd", 45322, "Wednesday"),
    ("mmm-yy", 45322, "Jan-24"),
    ("h:mm AM/PM", 0.75, "6:00 PM"),
    ("h:mm:ss", 1234.5678, "13:37:38"),
    ("mm:ss.0", 0.123456, "57:46.6"),
    ("[h]:mm:ss", 1.5, "36:00:00"),
    ("[$-409]m/d/yy\\ h:mm\\ AM/PM;@", 45322.25, "1/31/24 6:00 AM"),
    (BUILT_IN[44], 1234.5, "$1,234.50"),
    (BUILT_IN[44], 0, "$-"),
    (BUILT_IN[43], -3.14159, "(3.14)"),
    (BUILT_IN[14], 1, "1/1/1900"),
]


@pytest.mark.parametrize(("code", "value", "shown"), SHOWN)
def test_a_number_is_shown_in_its_format(code: str, value: float, shown: str) -> None:
    show = formatter(code)
    assert show is not None
    assert show(value).replace("$ ", "$") == shown


@pytest.mark.parametrize("code", ["", "General", "@", "general;General", "x" * 2000])
def test_plain_formats_have_no_formatter(code: str) -> None:
    assert formatter(code) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5.0, "5"), (0.1 + 0.2, "0.3"), (-2.5, "-2.5"), (1e20, "1E+20"), (123456789012.0, "123456789012")],
)
def test_numbers_without_a_format(value: float, shown: str) -> None:
    assert general(value) == shown


def test_dates_since_1904() -> None:
    show = formatter("yyyy-mm-dd", since_1904=True)
    assert show is not None
    assert show(0) == "1904-01-01"
    assert show(43860) == "2024-01-31"


@given(
    st.text(alphabet='0#?.,;%E+-"\\_*[]$@/yMdhsAPmG <>=1é', max_size=30),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_format_shows_something_for_any_number(code: str, value: float) -> None:
    show = formatter(code)
    assert show is None or isinstance(show(value), str)


@given(st.decimals(min_value=0, max_value=10**9, places=4), st.sampled_from(["0.00", "#,##0.0", '"$"#,##0', "0.0%"]))
def test_usual_formats_are_shown_as_exactly_as_others(number: object, code: str) -> None:
    usual, same = formatter(code), formatter(code + '""')
    value = float(str(number))
    assert usual is not None
    assert same is not None
    assert usual(value) == same(value)
