"""Rows without a cell at the end of a file, as spreadsheets leave them behind: no people."""

from __future__ import annotations

import polars as pl

from icsa.tables.text_cells import MISSING

__all__ = ["blank_rows_at_end"]

_FIRST_LOOK = 64


def blank_rows_at_end(frame: pl.DataFrame) -> int:
    """Return how many rows at the end have missing cells only; 0 in tables of one column.

    Parameters
    ----------
    frame : polars.DataFrame
        Of strings and floating-point numbers.

    Examples
    --------
    >>> blank_rows_at_end(pl.DataFrame({"a": ["1", "", ""], "b": [None, "NA", None]}))
    2
    """
    if frame.width < 2:
        return 0
    looked_at = _FIRST_LOOK
    while True:
        last = frame.tail(looked_at)
        filled = last.select(pl.any_horizontal(map(_is_filled, last.iter_columns())))
        places = filled.to_series().arg_true()
        if len(places):
            return last.height - 1 - int(places[-1])
        if last.height == frame.height:
            return frame.height
        looked_at *= 8


def _is_filled(cells: pl.Series) -> pl.Expr:
    column = pl.col(cells.name)
    if cells.dtype == pl.String:
        return (~column.str.strip_chars().is_in(MISSING)).fill_null(value=False)
    return column.fill_nan(None).is_not_null() if cells.dtype.is_float() else column.is_not_null()
