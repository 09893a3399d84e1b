"""How types of cells hold numbers: to float64 and back without leaving the type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from icsa.columns.declared import ColumnSpec
from icsa.errors import InputError, NotNumericError
from icsa.lattice import Lattice, find_lattice
from icsa.matrices import Vector

__all__ = ["NUMERIC", "Storage", "largest_float_below", "type_name"]


@dataclass(frozen=True)
class Storage:
    """How cells of a family of types become numbers and numbers become cells.

    Attributes
    ----------
    holds : str
        What such cells are called in messages.
    accepts : function
        Whether a type belongs to the family.
    numbers : function
        From cells to float64, NaN for null.
    to_cells : function
        From finite numbers, rounded and within range, and a type to cells.
    declared_number : function
        From a declared bound or code, and the cells' type, to its number.
    natural_range : function
        The smallest and largest number that a type can hold.
    finest_step : function
        The step that a type rounds to; None for floating-point types.
    zero_is_natural : bool
        Whether columns without negative cells stay so.
    """

    holds: str
    accepts: Callable[[pl.DataType], bool]
    numbers: Callable[[pl.Series], Vector]
    to_cells: Callable[[pl.Series, pl.DataType], pl.Series]
    declared_number: Callable[[Any, pl.DataType], float]
    natural_range: Callable[[pl.DataType], tuple[float, float]]
    finest_step: Callable[[pl.DataType], Fraction | None]
    zero_is_natural: bool

    def require_type(self, dtype: pl.DataType, spec: ColumnSpec) -> None:
        """Raise an error unless a column of that type holds such cells."""
        if not self.accepts(dtype):
            raise NotNumericError(
                f"Column {spec.name!r}: a column of kind {spec.kind!r} holds {self.holds}, and "
                f"this one is of type {type_name(dtype)}. Give it another kind, or convert it."
            )

    def cell_number(self, dtype: pl.DataType, value: Any) -> float:
        """Return the number that a cell of this type and value has."""
        number = self.declared_number(value, dtype)
        narrow = _NARROW_FLOATS.get(dtype)
        return number if narrow is None else float(narrow(number))

    def precision(self, dtype: pl.DataType) -> float:
        """Return the relative rounding error of a type's numbers."""
        narrow = _NARROW_FLOATS.get(dtype)
        return 2.0**-53 if narrow is None else float(np.finfo(narrow).eps) / 2.0

    def lattice(
        self, ordered: Vector, dtype: pl.DataType, *, whole: bool = False
    ) -> Lattice | None:
        """Return the lattice of sorted numbers, as coarse as their type or coarser; None for none.

        Numbers that are `whole` are on one of whole numbers, whatever their type.
        """
        finest = Fraction(1) if whole else self.finest_step(dtype)
        found = find_lattice(ordered, precision=self.precision(dtype))
        if finest is None or (found is not None and found.step >= finest):
            return found
        return Lattice(finest)

    def cells(self, numbers: Vector, dtype: pl.DataType, name: str) -> pl.Series:
        """Return the cells of numbers, null for NaN; an error where the type cannot hold them."""
        lowest, highest = self.natural_range(dtype)
        with np.errstate(invalid="ignore"):
            lost = int(np.count_nonzero((numbers < lowest) | (numbers > highest)))
        if lost:
            raise InputError(
                f"Column {name!r}: {lost} of {numbers.size} new values do not fit its type, "
                f"{type_name(dtype)}. Convert the column to a type with a wider range first."
            )
        return self.to_cells(pl.Series(name, numbers, nan_to_null=True), dtype)


def type_name(dtype: pl.DataType) -> str:
    """Return the name of a type without its parameters, which can be values of cells.

    Examples
    --------
    >>> type_name(pl.Enum(["well", "ill"]))
    'Enum'
    """
    return type(dtype).__name__


def largest_float_below(limit: int) -> float:
    """Return the largest float that is not above a whole number.

    Examples
    --------
    >>> largest_float_below(2**63 - 1) == 2.0**63 - 1024.0
    True
    """
    nearest = float(limit)
    return nearest if int(nearest) <= limit else float(np.nextafter(nearest, 0.0))


_NARROW_FLOATS: dict[Any, Any] = {pl.Float32(): np.float32}
if hasattr(pl, "Float16"):
    _NARROW_FLOATS[pl.Float16()] = np.float16


def _declared_number(value: Any, _: pl.DataType) -> float:
    if isinstance(value, str | bool):
        raise TypeError("a number is needed")
    return float(value)


def _range(dtype: pl.DataType) -> tuple[float, float]:
    if isinstance(dtype, pl.Decimal):
        digits = (dtype.precision or 38) - dtype.scale
        largest = float(np.nextafter(10.0**digits - 10.0**-dtype.scale, 0.0))
        return -largest, largest
    if dtype.is_integer():
        signed = dtype.is_signed_integer()
        bits = int(str(dtype).lstrip("UInt")) - signed
        return -largest_float_below(2**bits) if signed else 0.0, largest_float_below(2**bits - 1)
    largest = float(np.finfo(_NARROW_FLOATS.get(dtype, np.float64)).max)
    return -largest, largest


def _finest_step(dtype: pl.DataType) -> Fraction | None:
    if isinstance(dtype, pl.Decimal):
        return Fraction(1, 10**dtype.scale)
    return Fraction(1) if dtype.is_integer() else None


NUMERIC = Storage(
    holds="numbers",
    accepts=lambda dtype: dtype.is_numeric() or dtype == pl.Null,
    numbers=lambda cells: cells.cast(pl.Float64).to_numpy(),
    to_cells=lambda numbers, dtype: (numbers.round() if dtype.is_integer() else numbers).cast(
        dtype
    ),
    declared_number=_declared_number,
    natural_range=_range,
    finest_step=_finest_step,
    zero_is_natural=True,
)
