"""What is declared of a column, and cells held against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.tables import Table

__all__ = [
    "ACTIONS",
    "BELONGINGS",
    "Action",
    "Belonging",
    "ColumnSpec",
    "Flags",
    "Kind",
    "checked_numbers",
    "is_present",
    "reject",
    "without_codes",
]

Flags = npt.NDArray[np.bool_]
# The name of a kind, one of `icsa.columns.KINDS`.
Kind: TypeAlias = str
Action: TypeAlias = Literal["mask", "replace", "drop", "keep"]
ACTIONS: tuple[Action, ...] = get_args(Action)
Belonging: TypeAlias = Literal["unit", "row"]
BELONGINGS: tuple[Belonging, ...] = get_args(Belonging)


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """What one column is, and what is to be done with it.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    action : "mask", "replace", "drop" or "keep"
        Mask it (the default); replace identifiers by fresh ones; leave it out; release it as it is.
    lower, upper : number, date, datetime, time or timedelta, optional
        Bounds that every cell keeps, in the column's own type. None: the natural ones.
    step : float, optional
        Cells are multiples of it (in days for dates, seconds for datetimes, times and durations).
        None: found from the cells.
    levels : tuple
        Allowed values of a category, or of an ordinal column in their order. Empty: those seen.
    missing_codes : tuple
        Values that stand for missing (999, -1), besides those that the file declares.
    derive : str, optional
        An expression of other columns that gives this one, such as ``weight / height^2``: a release
        computes it again. Empty: it follows from nothing. None: found from the cells.
    key : bool
        Whether it is a key variable: others may know it of a person, and recognise them by it.
    belongs_to : "unit" or "row", optional
        Where people have several rows: whether it is the same in all rows of one. None: found.
    """

    name: str
    kind: Kind
    action: Action = "mask"
    lower: Any = None
    upper: Any = None
    step: float | None = None
    levels: tuple[Any, ...] = ()
    missing_codes: tuple[Any, ...] = ()
    derive: str | None = None
    key: bool = False
    belongs_to: Belonging | None = None

    def in_file(self, table: Table) -> ColumnSpec:
        """Return it with the missing codes that the table's file has, besides its own."""
        codes = (*table.variable(self.name).missing_codes, *self.missing_codes)
        return replace(self, missing_codes=codes)


def checked_numbers(values: Vector, spec: ColumnSpec, number_of: Callable[[Any], float]) -> Vector:
    """Return values with NaN for missing codes, all finite and within the declared bounds.

    Parameters
    ----------
    values : Vector
        One a cell, NaN where missing.
    spec : ColumnSpec
    number_of : function
        From a declared bound or missing code to the number that a cell of that value has.
    """
    numbers = values
    for code in spec.missing_codes:
        if isinstance(code, tuple | list):
            low, high = (_declared(number_of, end, spec, "missing code") for end in code)
            coded = (numbers >= low) & (numbers <= high)
        else:
            coded = numbers == _declared(number_of, code, spec, "missing code")
        numbers = np.where(coded, np.nan, numbers)
    infinite = np.isinf(numbers)
    if infinite.any():
        reject(infinite, spec, "are infinite", "Replace them by numbers or leave them empty.")
    remedy = "Correct them or the bound, or declare them as missing codes."
    if spec.lower is not None:
        below = numbers < _declared(number_of, spec.lower, spec, "lower bound")
        reject(below, spec, f"are below the declared lower bound {spec.lower}", remedy)
    if spec.upper is not None:
        above = numbers > _declared(number_of, spec.upper, spec, "upper bound")
        reject(above, spec, f"are above the declared upper bound {spec.upper}", remedy)
    return numbers


def without_codes(cells: pl.Series, spec: ColumnSpec) -> pl.Series:
    """Return the cells with null for NaN and for missing codes."""
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
    compared = cells
    as_text = cells.dtype in (pl.String, pl.Categorical, pl.Enum)
    if as_text:
        compared = cells.cast(pl.String)
    for code in spec.missing_codes:
        low, high = code if isinstance(code, tuple | list) else (code, code)
        if as_text:
            low, high = str(low), str(high)
        try:
            coded = compared.is_between(low, high)
        except (TypeError, pl.exceptions.PolarsError):
            raise _other_type(spec, "missing code") from None
        cells = cells.set(coded.fill_null(False), None)
    return cells


def is_present(cells: pl.Series, spec: ColumnSpec) -> Flags:
    """Return which cells hold something: neither null, NaN nor a missing code."""
    return without_codes(cells, spec).is_not_null().to_numpy()


def reject(bad: Flags, spec: ColumnSpec, what: str, remedy: str) -> None:
    """Raise the error that names the column, the number of bad cells and the first row, if any.

    Examples
    --------
    >>> spec = ColumnSpec(name="age", kind="integer")
    >>> reject(np.array([False, True]), spec, "are infinite", "Leave them empty.")
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: Column 'age': 1 of 2 cells are infinite (first in row 2). Leave ...
    """
    count = int(np.count_nonzero(bad))
    if count:
        raise InputError(
            f"Column {spec.name!r}: {count} of {bad.size} cells {what} "
            f"(first in row {int(np.argmax(bad)) + 1}). {remedy}"
        )


def _declared(number_of: Callable[[Any], float], value: Any, spec: ColumnSpec, what: str) -> float:
    try:
        return number_of(value)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise _other_type(spec, what) from None


def _other_type(spec: ColumnSpec, what: str) -> InputError:
    return InputError(
        f"Column {spec.name!r}: the declared {what} is of another type than its cells. "
        f"Declare it as a value of a column of kind {spec.kind!r}."
    )
