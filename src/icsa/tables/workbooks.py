"""Excel workbooks (.xlsx) to tables and back."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import FileKind, Format, ReadingOptions, listed_names, require
from icsa.tables.headers import ROWS_LOOKED_AT, blank_rows_at_end, require_names
from icsa.tables.table import Layout, Table, Variable
from icsa.tables.text_cells import Conventions, type_cells
from icsa.tables.text_dialect import column_names

__all__ = ["XLSX"]

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_TEXT = 1_048_576, 16_384, 32_767
_LARGEST_WHOLE = 2**53
_FIRST_DATE = dt.date(1900, 3, 1)  # Excel's calendar has a 29 February 1900
# Every workbook says the same: neither who wrote it nor when.
_PROPERTIES = {"author": "", "company": "", "comments": "", "created": dt.datetime(2000, 1, 1)}
_PATTERNS = {
    pl.Date: "yyyy-mm-dd",
    pl.Datetime: "yyyy-mm-dd hh:mm:ss.000",
    pl.Time: "hh:mm:ss",
    pl.Duration: "[h]:mm:ss",
}


def _read_workbook(path: Path, _: FileKind, options: ReadingOptions) -> Table:
    """Return the table on a sheet, by name or number from 1; the first row holds the names.

    Whole numbers become integers, dates without a time become dates. Cells of text are read as
    those of a text file are: columns of numbers written as text are numbers.
    """
    fastexcel, sheet = require("fastexcel", "Excel workbooks"), options.sheet
    try:
        book = fastexcel.read_excel(path)
        name = _sheet_name(path, book.sheet_names, sheet)
        header = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars()
        if header.width == 0:
            raise _empty(path, name, book.sheet_names)
        texts = _loaded(book, name, "string")
        empty = [k for k, c in enumerate(texts.get_columns()) if c.null_count() == len(c)]
        cells = _loaded(book, name, dict.fromkeys(empty, "string") or None)
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException):
        raise InputError(f"{path} is not a whole Excel workbook (.xlsx). Save it again.") from None
    others = tuple(n for n in book.sheet_names if n != name) if sheet is None else ()
    tops = ["" if top is None else top for top in header.row(0)]
    try:
        require_names(f"{path}: sheet {name!r}", tops, texts.head(ROWS_LOOKED_AT).get_columns())
    except InputError as error:
        hint = f" Or read another sheet with --sheet: {listed_names(others)}." if others else ""
        raise InputError(f"{error}{hint}") from None
    names, unnamed = column_names(path, tops)
    blank = blank_rows_at_end(texts)
    texts, cells = texts.head(texts.height - blank), cells.head(cells.height - blank)
    columns, variables = [], {}
    for column, typed, text in zip(names, cells.get_columns(), texts.get_columns(), strict=True):
        found, variable = _typed(typed, text)
        columns.append(found.alias(column))
        if variable != Variable():
            variables[column] = variable
    layout = Layout("xlsx", sheet=name, other_sheets=others, blank_rows=blank, unnamed=unnamed)
    return Table(pl.DataFrame(columns), variables, layout)


def _write_workbook(table: Table, path: Path, _: FileKind) -> None:
    """Write a table on one sheet, without the name of a person or a date of writing."""
    xlsxwriter = require("xlsxwriter", "Excel workbooks")
    frame = table.frame
    if frame.height >= _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise InputError(
            f"A sheet of Excel holds {_MOST_ROWS - 1:,} rows below the header and "
            f"{_MOST_COLUMNS:,} columns: the table has {frame.height:,} and {frame.width:,}. "
            "Write another format."
        )
    for cells in frame.get_columns():
        _refuse_what_excel_cannot_hold(cells)
    buffer = io.BytesIO()  # the library cannot give up a file that the disk has no room for
    with xlsxwriter.Workbook(buffer, {"constant_memory": False, "in_memory": True}) as book:
        book.set_properties(_PROPERTIES)
        sheet = book.add_worksheet(table.layout.sheet)
        for position, cells in enumerate(frame.get_columns()):
            sheet.write_string(0, position, cells.name)
            _write_column(book, sheet, position, cells)
    path.write_bytes(buffer.getbuffer())


def _sheet_name(path: Path, names: list[str], sheet: str | int | None) -> str:
    if sheet is None and names:
        return names[0]
    if isinstance(sheet, str) and sheet in names:
        return sheet
    number = int(sheet) if isinstance(sheet, int) or (sheet or "").isdecimal() else 0  # type: ignore[arg-type]
    if 1 <= number <= len(names):
        return names[number - 1]
    listed = ", ".join(repr(name) for name in names) or "none"
    raise InputError(f"{path} has no sheet {sheet!r}. Its sheets: {listed}.")


def _empty(path: Path, name: str, names: list[str]) -> InputError:
    others = [other for other in names if other != name]
    remedy = f"Read another one with --sheet: {listed_names(others)}" if others else "Save it again"
    return InputError(f"{path}: sheet {name!r} is empty. {remedy}.")


def _loaded(book: Any, name: str, dtypes: Any) -> pl.DataFrame:
    sheet = book.load_sheet(
        name, header_row=None, skip_rows=1, schema_sample_rows=None, dtypes=dtypes
    )
    frame: pl.DataFrame = sheet.to_polars()
    return frame


def _typed(cells: pl.Series, texts: pl.Series) -> tuple[pl.Series, Variable]:
    if cells.dtype == pl.String or cells.null_count() > texts.null_count():
        # Text among numbers or dates: all of it is looked at, so that no cell is lost.
        found = type_cells(texts, Conventions())
        variable = Variable() if found.cells.dtype != pl.String else found.variable
        return _simplest(found.cells), variable
    return _simplest(cells), Variable()


def _simplest(cells: pl.Series) -> pl.Series:
    """Return whole numbers as integers, midnights as dates, times of Excel's day zero as times."""
    present = cells.drop_nulls()
    if present.is_empty():
        return cells
    if cells.dtype == pl.Float64:
        whole = (present.round() == present) & (present.abs() <= _LARGEST_WHOLE)
        return cells.cast(pl.Int64) if whole.all() else cells
    if isinstance(cells.dtype, pl.Datetime):
        cells = cells.cast(pl.Datetime("us"))
        days = present.dt.date().unique().to_list()
        if set(days) <= {dt.date(1899, 12, 30), dt.date(1899, 12, 31)}:
            return cells.dt.time()
        return cells.dt.date() if (present.dt.time() == dt.time(0)).all() else cells
    if isinstance(cells.dtype, pl.Duration):
        return cells.cast(pl.Duration("us"))
    return cells


def _refuse_what_excel_cannot_hold(cells: pl.Series) -> None:
    dtype, present = cells.dtype, cells.drop_nulls()
    reason = None
    if dtype.is_integer() and any(
        abs(cast(int, end)) > _LARGEST_WHOLE for end in (present.min(), present.max()) if end
    ):
        reason = "whole numbers of more than 15 digits"
    elif dtype.is_float() and present.is_infinite().any():
        reason = "infinite numbers"
    elif isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        reason = "times with a time zone"
    elif dtype == pl.Date or isinstance(dtype, pl.Datetime):
        if (present.dt.date() < _FIRST_DATE).any():
            reason = "dates before March 1900"
    elif dtype == pl.String and (present.str.len_chars() > _LONGEST_TEXT).any():
        reason = f"texts longer than {_LONGEST_TEXT:,} characters"
    if reason:
        raise InputError(
            f"Column {cells.name!r} has {reason}, which Excel cannot hold. Write another format."
        )


def _write_column(book: Any, sheet: Any, position: int, cells: pl.Series) -> None:
    dtype = cells.dtype
    pattern = _PATTERNS.get(dtype.base_type())
    style = book.add_format({"num_format": pattern}) if pattern else None
    write: Callable[..., object]
    if dtype == pl.Boolean:
        write = sheet.write_boolean
    elif pattern:
        write = sheet.write_datetime
        sheet.set_column(position, position, 20)
    elif dtype.is_numeric():
        write, cells = sheet.write_number, cells.cast(pl.Float64).fill_nan(None)
    else:
        write, cells = sheet.write_string, cells.cast(pl.String)
    for row, cell in enumerate(cells.to_list(), start=1):
        if cell is not None:
            write(row, position, cell, style)


XLSX = Format(
    name="xlsx",
    title="Excel",
    suffixes=(".xlsx",),
    read=_read_workbook,
    write=_write_workbook,
    options=("sheet",),
)
