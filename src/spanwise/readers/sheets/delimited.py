"""CSV and TSV: the dialect is found from the text; a row of a quoted line end is one row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.sheets.cells import BETWEEN, MOST_COLUMNS, Sheet, SheetRow, cell_texts
from spanwise.readers.sheets.writing import SheetWriter

_SAMPLE: Final = 64 << 10  # characters that the delimiter is found from
_DELIMITERS: Final = ",;\t|"
_STATED: Final = re.compile(r'"?sep=(.)"?[ \t]*\n', re.IGNORECASE)
_VALUE: Final = re.compile(
    r"[-+]?(?:[$€£¥][ ]?)?(?:[0-9]{1,3}(?:[,.' \u00a0\u202f][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?"
    r"[ ]?(?:%|[$€£¥])?|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+Z?)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}"
)
_LONGEST_VALUE: Final = 40


def read_delimited(text: str, delimiter: str | None = None) -> ReadResult:
    """Read a table of delimited values; without a delimiter it is found from the text."""
    start = 0
    if stated := _STATED.match(text):
        delimiter, start = stated[1], stated.end()
    found = delimiter or _delimiter_of(text[start : start + _SAMPLE])
    writer = SheetWriter()
    writer.write(Sheet(None, list(_rows(text, start, found)), headed=True))
    return writer.result({}, ())


def _rows(text: str, start: int, delimiter: str) -> Iterator[SheetRow]:
    """Yield the rows that aren't empty; raise UnreadableError for one with more columns than any sheet has."""
    known: dict[tuple[int, ...], tuple[int, ...]] = {}
    lines = _lines(text, start)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    quoted = '"' in text
    old = csv.field_size_limit(max(len(text), 1))
    try:
        for number, cells in enumerate(reader if quoted else _split(lines, delimiter)):
            texts = cell_texts(cells)
            if len(texts) > MOST_COLUMNS:
                rule = f"has more than {MOST_COLUMNS:,} columns in row {number + 1:,}"
                raise UnreadableError("text", rule, hint="if it is no table, read it as text")
            filled = tuple([at for at, one in enumerate(texts) if one])
            if filled:
                filled = known.setdefault(filled, filled)
                full = texts if len(filled) == len(texts) else [texts[at] for at in filled]
                yield SheetRow(number, filled, BETWEEN.join(full), _values(full) if number < _VALUE_ROWS else 0)
    except csv.Error as error:
        raise UnreadableError("text", f"is no table of delimited values: {error}") from error
    finally:
        csv.field_size_limit(old)


_VALUE_ROWS: Final = 1000  # rows whose values are told from texts: where heads may be looked for


def _lines(text: str, start: int = 0) -> Iterator[str]:
    """Yield the lines of a text with their ends."""
    while end := text.find("\n", start) + 1:
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _split(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """Split lines without quotes, which takes no parser."""
    return (line.rstrip("\n").split(delimiter) for line in lines)


def _values(texts: list[str]) -> int:
    """Return a bit for each text that is a number or a date."""
    return sum(1 << at for at, text in enumerate(texts) if len(text) < _LONGEST_VALUE and _VALUE.fullmatch(text))


def _delimiter_of(sample: str) -> str:
    """Return the delimiter that divides most rows of a sample into the same number of cells, at least two."""
    if len(sample) == _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    return max(_DELIMITERS, key=lambda one: (_evenness(sample, one), -_DELIMITERS.index(one)))


def _evenness(sample: str, delimiter: str) -> tuple[float, int]:
    """Return the share of rows with the most frequent number of cells, if that is more than one, and the number."""
    if delimiter not in sample:
        return 0.0, 0
    old = csv.field_size_limit(_SAMPLE)
    try:
        rows = csv.reader(_lines(sample), delimiter=delimiter, skipinitialspace=delimiter != "\t")
        widths = Counter(len(row) for row in rows if row)
    except csv.Error:
        return 0.0, 0
    finally:
        csv.field_size_limit(old)
    width, rows_of_it = max(widths.items(), key=lambda item: (item[0] > 1, item[1]), default=(0, 0))
    return (rows_of_it / widths.total(), width) if width > 1 else (0.0, 0)
