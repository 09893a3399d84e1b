"""Where the rows of a table begin and end: after names, and before rows without a cell.

A person read as names would be published; empty rows, as spreadsheets leave them, are no people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Any

import polars as pl

from icsa.errors import InputError
from icsa.tables.text_cells import MISSING, Conventions, find_conventions, type_cells

__all__ = ["ROWS_LOOKED_AT", "blank_rows_at_end", "require_names"]

ROWS_LOOKED_AT = 300
_FEWEST_ROWS = 10
_ROWS_AT_THE_END = 64
_YEARS = (1800, 2200)
_DIGIT, _DIGITS = re.compile(r"\d"), re.compile(r"\d+")


def require_names(
    source: str, header: Sequence[str], columns: Sequence[pl.Series], separator: str = ","
) -> None:
    """Raise an error where a header looks like a row of cells, or like a title above the header.

    It looks like a title if it names at most a third of three columns or more. It looks like a row
    if at least half of its cells, and two of them, go with their columns (numbers and dates of the
    column's size, texts that the column holds too or that are built like its own), and at most a
    third are texts above numbers or dates. Numbers that are usual as names do not count: those in
    equal steps, years, and whole numbers that rise while their columns do not. Without texts above
    numbers, texts do not count either that could be cells of a column that has hardly any twice.

    Parameters
    ----------
    source : str
        What the error names: the file, with the sheet.
    header : sequence of str
    columns : sequence of polars.Series of strings
        The first cells below each.
    separator : str
        Between cells of a text file.

    Examples
    --------
    >>> cells = [[str(20 + 7 * k) for k in range(12)], ["yes", "no"] * 6]
    >>> columns = [pl.Series(column) for column in cells]
    >>> require_names("t.csv", ["age", "smokes"], columns)
    >>> require_names("t.csv", ["41", "yes"], columns)
    Traceback (most recent call last):
    icsa.errors.InputError: t.csv: the first line looks like a row of cells, not like names: ...
    """
    if not columns or len(columns[0]) < _FEWEST_ROWS:
        return
    _require_most_named(source, header, columns)
    told = [place for place, text in enumerate(header) if text.strip() not in MISSING]
    if not _may_be_cells([header[place] for place in told], [columns[place] for place in told]):
        return
    conventions = find_conventions(columns, separator=separator, decimal=None)
    typed = [type_cells(cells, conventions).cells for cells in columns]
    tops = [_top(text, conventions) for text in header]
    numbers = [place for place in told if isinstance(tops[place], int | float)]
    named = _are_usual_names([tops[k] for k in numbers], [typed[k] for k in numbers])
    fitting = [
        place
        for place in told
        if not (named and place in numbers)
        and _fits(header[place], tops[place], columns[place], typed[place])
    ]
    others = [k for k in told if _differs(header[k], tops[k], columns[k], typed[k], conventions)]
    if not others:
        told = [k for k in told if k in fitting or not _may_be_new(header[k], columns[k], typed[k])]
    if _are_enough(len(fitting), len(told)) and 3 * len(others) <= len(told):
        raise InputError(
            f"{source}: the first line looks like a row of cells, not like names: {len(fitting)} "
            f"of its {len(told)} cells are like those of the column below. Write a line with the "
            "names of the columns above it. If these are names, begin each with a letter."
        )


def _are_enough(n_fitting: int, n_told: int) -> bool:
    return n_fitting >= 2 and 2 * n_fitting >= n_told


def _may_be_cells(header: Sequence[str], columns: Sequence[pl.Series]) -> bool:
    """Return whether enough of a header could be cells, after a quick look that types none."""
    possible = uncounted = 0
    for text, cells in zip(header, columns, strict=True):
        stripped, values = text.strip(), _values(cells)
        if not stripped.isidentifier() or stripped in values or _is_built_alike(stripped, values):
            possible += 1
        elif _are_mostly_different(cells, values):
            uncounted += 1
    return _are_enough(possible, len(header) - uncounted)


def _require_most_named(source: str, header: Sequence[str], columns: Sequence[pl.Series]) -> None:
    used = [name.strip() for name, c in zip(header, columns, strict=True) if _values(c)]
    named = sum(map(bool, used))
    if len(used) >= 3 and 3 * named <= len(used):
        raise InputError(
            f"{source}: the first line names {named} of {len(used)} columns. Delete the lines "
            "above the header, or write a name above every column."
        )


def _values(cells: pl.Series) -> set[str]:
    return {text.strip() for text in cells if text is not None}.difference(MISSING)


def _top(text: str, conventions: Conventions) -> Any:
    """Return the value that a cell of the header would have among cells; text where none."""
    cells = type_cells(pl.Series([text.strip()], dtype=pl.String), conventions).cells
    return text.strip() if cells.dtype == pl.Boolean else cells[0]


def _is_measured(cells: pl.Series) -> bool:
    return cells.dtype.is_numeric() or cells.dtype.is_temporal()


def _fits(text: str, top: Any, cells: pl.Series, typed: pl.Series) -> bool:
    """Return whether a cell of the header could be one of its column."""
    if _is_measured(typed):
        if isinstance(top, int | float):
            return typed.dtype.is_numeric() and _is_of_the_size(float(top), typed)
        return not isinstance(top, str) and pl.Series([top]).dtype == typed.dtype
    values = _values(cells)
    return len(values) > 1 and (text.strip() in values or _is_built_alike(text.strip(), values))


def _is_built_alike(text: str, values: set[str]) -> bool:
    """Return whether a text differs from nearly all of a column in digits only: P0001, P0002.

    Or in letters too, where three digits or more stand at the same places: AB-1203, KC-2207.
    """
    n_digits = len(_DIGIT.findall(text))
    if not n_digits or n_digits == len(text):
        return False
    bare, classes = _DIGITS.sub("0", text), _classes(text)
    if _most(values, lambda value: _DIGITS.sub("0", value) == bare):
        return True
    return n_digits >= 3 and _most(values, lambda value: _classes(value) == classes)


def _may_be_new(text: str, cells: pl.Series, typed: pl.Series) -> bool:
    """Return whether a text may be one more of a column of texts that nearly all differ."""
    values = _values(cells)
    if _is_measured(typed) or not _are_mostly_different(cells, values):
        return False
    outline = _outline(text.strip())
    return 10 * sum(_outline(value) == outline for value in values) >= len(values)


def _are_mostly_different(cells: pl.Series, values: set[str]) -> bool:
    return len(values) >= _FEWEST_ROWS and 10 * len(values) >= 9 * (len(cells) - cells.null_count())


def _most(values: set[str], is_alike: Callable[[str], bool]) -> bool:
    return len(values) > 1 and 10 * sum(map(is_alike, values)) >= 9 * len(values)


def _classes(text: str) -> str:
    """Return A for a capital letter, a for another one, 0 for a digit, and signs as they are."""
    letters = ("A" if sign.isupper() else "a" if sign.isalpha() else sign for sign in text)
    return _DIGIT.sub("0", "".join(letters))


def _outline(text: str) -> str:
    """Return the classes of the characters, several of one class as one: Smith12 is Aa0."""
    return "".join(sign for sign, _ in groupby(_classes(text)))


def _is_of_the_size(number: float, typed: pl.Series) -> bool:
    """Return whether a number lies among those of a column, or half their range beside."""
    low, high = float(typed.min()), float(typed.max())  # type: ignore[arg-type]
    if typed.dtype.is_integer() and number != round(number):
        return False
    beside = (high - low) / 2
    return low - beside <= number <= high + beside


def _differs(
    text: str, top: Any, cells: pl.Series, typed: pl.Series, conventions: Conventions
) -> bool:
    """Return whether a header has text above numbers or dates, the same text among them aside."""
    if not isinstance(top, str):
        return False
    if _is_measured(typed):
        return True
    without = cells.filter(cells.str.strip_chars() != text.strip())
    found = len(without) < len(cells) and not without.is_empty()
    return found and _is_measured(type_cells(without, conventions).cells)


def _are_usual_names(numbers: Sequence[float], columns: Sequence[pl.Series]) -> bool:
    """Return whether numbers are such as columns are called by: 0, 1, 2 or 2019, 2020, 2021."""
    if len(numbers) < 2:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    even = steps[0] != 0 and all(abs(step - steps[0]) < 1e-9 for step in steps)
    if even and (len(numbers) > 2 or abs(steps[0]) == 1):
        return True
    whole = all(number == round(number) for number in numbers)
    rising = all(step > 0 for step in steps)
    if not whole or not (rising or all(step < 0 for step in steps)):
        return False
    if all(map(_is_year, numbers)) and not all(map(_holds_years, columns)):
        return True
    middles = [cells.median() if cells.dtype.is_numeric() else None for cells in columns]
    explained = None not in middles and all(a < b for a, b in pairwise(middles))  # type: ignore[operator]
    return rising and len(numbers) > 2 and not explained


def _is_year(number: float) -> bool:
    return _YEARS[0] <= number <= _YEARS[1]


def _holds_years(cells: pl.Series) -> bool:
    return cells.dtype.is_integer() and all(map(_is_year, (cells.min(), cells.max())))  # type: ignore[arg-type]


def blank_rows_at_end(frame: pl.DataFrame) -> int:
    """Return how many rows at the end have missing cells only; 0 in tables of one column."""
    if frame.width < 2:
        return 0
    looked_at = _ROWS_AT_THE_END
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
