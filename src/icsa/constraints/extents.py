"""How far a column's numbers spread, and how far they may."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns.base import Column
from icsa.columns.continuous import Continuous
from icsa.lattice import Lattice
from icsa.matrices import Vector
from icsa.schema import TEMPORAL_KINDS

__all__ = [
    "Extent",
    "admitted",
    "declared_limits",
    "extent_of",
    "lattice_of_column",
    "levels_of",
    "natural_limits",
    "on_lattice",
    "usual_limits",
    "within_bounds",
]


class Extent(NamedTuple):
    """How much of a column is missing, and how far its numbers spread."""

    missing: int
    deviation: float


def extent_of(numbers: Vector) -> Extent:
    """Return the number of missing cells and the standard deviation of the others.

    Examples
    --------
    >>> extent_of(np.array([1.0, 3.0, np.nan]))
    Extent(missing=1, deviation=1.0)
    """
    missing = int(np.isnan(numbers).sum())
    there = numbers[~np.isnan(numbers)] if missing else numbers
    with np.errstate(over="ignore", invalid="ignore"):  # squares of 1e300
        return Extent(missing, float(there.std()) if there.size else 0.0)


def on_lattice(column: Column, numbers: Vector) -> Vector:
    """Return numbers rounded to a column's lattice, where it has one."""
    lattice = lattice_of_column(column)
    return numbers if lattice is None else lattice.round(numbers)


def within_bounds(column: Column, numbers: Vector) -> Vector:
    """Return numbers within declared bounds and what dates can be; recomputed ones may leave them.

    Other types that are too narrow are an error when cells are made: a wider one is at hand.
    """
    limits = natural_limits(column)
    if limits is not None:
        numbers = np.clip(numbers, *limits)
    return np.clip(numbers, *declared_limits(column))


def declared_limits(column: Column) -> tuple[float, float]:
    """Return the declared bounds of a column's numbers, infinite where there are none."""
    spec = getattr(column, "spec", None)
    lower, upper = usual_limits(column)
    return (
        -np.inf if spec is None or spec.lower is None else lower,
        np.inf if spec is None or spec.upper is None else upper,
    )


def usual_limits(column: Column) -> tuple[float, float]:
    """Return the declared or natural bounds of a column's numbers, infinite where it has none."""
    part: Any = getattr(column, "part", column)
    return (part.lower, part.upper) if isinstance(part, Continuous) else (-np.inf, np.inf)


def admitted(column: Column, numbers: Vector) -> npt.NDArray[np.bool_]:
    """Return whether a release of a column that measures may have each number.

    Bounds, steps and whole numbers are kept.
    """
    part: Any = getattr(column, "part", column)
    if not isinstance(part, Continuous):
        return np.ones(numbers.size, dtype=bool)
    lower, upper = usual_limits(column)
    found: npt.NDArray[np.bool_] = (numbers >= lower) & (numbers <= upper)
    if part.lattice is not None:
        error = 4.0 * part.storage.precision(part.dtype) * np.abs(numbers)
        away = np.abs(part.lattice.round(numbers) - numbers)
        found &= away <= error + 1e-9 * part.lattice.width
    found |= numbers == getattr(column, "spike", np.nan)
    return found


def levels_of(column: Column) -> pl.Series | None:
    """Return the values that cells may have, by their numbers; None where these are not listed."""
    values: pl.Series | None = getattr(
        getattr(column, "levels", column), "values", getattr(column, "value", None)
    )
    return values


def lattice_of_column(column: Column) -> Lattice | None:
    """Return the lattice of a column, None where it has none."""
    # Of a column in two parts the second has the lattice.
    lattice: Lattice | None = getattr(getattr(column, "part", column), "lattice", None)
    return lattice


def natural_limits(column: Column) -> tuple[float, float] | None:
    """Return the first and last number of a column of dates or times; None for other kinds."""
    if column.kind not in TEMPORAL_KINDS or not isinstance(column, Continuous):
        return None
    return column.storage.natural_range(column.dtype)
