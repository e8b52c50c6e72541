"""XLS, through calamine: values as they are stored, dates and numbers without their formats."""

from __future__ import annotations

import datetime
from io import BytesIO
from typing import Any, Final

from spanwise.documents.document import LeftOut
from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.container import OLE
from spanwise.readers.sheets.cells import BETWEEN, Merged, Sheet, SheetRow, cell_text
from spanwise.readers.sheets.number_formats import general
from spanwise.readers.sheets.old_records import fault_of
from spanwise.readers.sheets.writing import SheetWriter

_DAMAGED: Final = "it is damaged, cut off, or no such file; get it again from where it comes from"
_PANIC: Final = "PanicException"  # what a fault in calamine raises: it is no Exception, and has no public name
_NO_CELLS: Final = "sheet without cells"
_MIDNIGHT: Final = datetime.time()


def read_xls(data: bytes, name: str) -> ReadResult:
    """Read a workbook; raise UnreadableError if it is broken or encrypted."""
    from python_calamine import CalamineError, PasswordError, SheetTypeEnum, SheetVisibleEnum, load_workbook

    if not data.startswith(OLE):
        raise UnreadableError(name, "is no workbook of Excel 97 to 2003", hint=_DAMAGED)
    if fault := fault_of(data):
        raise UnreadableError(name, f"is no readable workbook ({fault})", hint=_DAMAGED)
    writer, left_out = SheetWriter(), list[LeftOut]()
    try:
        book = load_workbook(BytesIO(data))
        for sheet in book.sheets_metadata:
            if sheet.visible != SheetVisibleEnum.Visible:
                left_out.append(LeftOut("hidden sheet", sheet.name, {"sheet": sheet.name}))
            elif sheet.typ != SheetTypeEnum.WorkSheet:
                left_out.append(LeftOut(_NO_CELLS, sheet.name, {"sheet": sheet.name}))
            else:
                writer.write(_sheet(book, sheet.name))
    except PasswordError as error:
        hint = "open it and save it without the password"
        raise UnreadableError(name, "is encrypted with a password", hint=hint) from error
    except (CalamineError, OSError, ValueError) as error:
        raise UnreadableError(name, f"is no readable workbook ({error})", hint=_DAMAGED) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise UnreadableError(name, f"is no readable workbook ({error})", hint=_DAMAGED) from error
    return writer.result({}, left_out)


def _sheet(book: Any, name: str) -> Sheet:
    sheet = book.get_sheet_by_name(name)
    merged = [Merged(*top, *bottom) for top, bottom in sheet.merged_cell_ranges or ()]
    left = sheet.start[1] if sheet.start else 0  # empty columns in front are cut off, empty rows are not
    rows = list[SheetRow]()
    for number, cells in enumerate(sheet.iter_rows()):
        shown = ((at, cell_text(_shown(value))) for at, value in enumerate(cells) if value != "")
        filled = [(at, text) for at, text in shown if text]
        if filled:
            values = sum(1 << order for order, (at, _) in enumerate(filled) if not isinstance(cells[at], str))
            joined = BETWEEN.join([text for _, text in filled])
            rows.append(SheetRow(number, tuple([left + at for at, _ in filled]), joined, values))
    return Sheet(name, rows, merged)


def _shown(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | int):
        return general(value)
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == _MIDNIGHT else value.isoformat(" ")
    return str(value)
