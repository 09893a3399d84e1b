"""How far a column's numbers spread, and how far they may."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from icsa.columns import Column
from icsa.matrices import Vector

__all__ = ["Extent", "declared_limits", "extent_of", "on_lattice", "within_bounds"]


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
    return numbers if column.lattice is None else column.lattice.round(numbers)


def within_bounds(column: Column, numbers: Vector) -> Vector:
    """Return numbers within declared bounds and what dates can be; recomputed ones may leave them.

    Other types that are too narrow are an error when cells are made: a wider one is at hand.
    """
    if column.calendar is not None:
        numbers = np.clip(numbers, *column.calendar)
    return np.clip(numbers, *declared_limits(column))


def declared_limits(column: Column) -> tuple[float, float]:
    """Return the declared bounds of a column's numbers, infinite where there are none."""
    return (
        -np.inf if column.spec.lower is None else column.lower,
        np.inf if column.spec.upper is None else column.upper,
    )
