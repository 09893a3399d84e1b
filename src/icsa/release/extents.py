"""How far a column's numbers spread, and how far they may."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from icsa.columns.base import Column
from icsa.columns.continuous import Continuous
from icsa.matrices import Vector
from icsa.schema import TEMPORAL_KINDS

__all__ = ["Extent", "extent_of", "natural_limits", "on_lattice", "within_bounds"]


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
    lattice = getattr(getattr(column, "part", column), "lattice", None)
    return numbers if lattice is None else lattice.round(numbers)


def within_bounds(column: Column, numbers: Vector) -> Vector:
    """Return numbers within declared bounds and what dates can be; recomputed ones may leave them.

    Other types that are too narrow are an error when cells are made: a wider one is at hand.
    """
    limits = natural_limits(column)
    if limits is not None:
        numbers = np.clip(numbers, *limits)
    spec = getattr(column, "spec", None)
    part: Any = getattr(column, "part", column)
    if spec is None or (spec.lower is None and spec.upper is None) or not hasattr(part, "lower"):
        return numbers
    lower = part.lower if spec.lower is not None else -np.inf
    return np.clip(numbers, lower, part.upper if spec.upper is not None else np.inf)


def natural_limits(column: Column) -> tuple[float, float] | None:
    """Return the first and last number of a column of dates or times; None for other kinds."""
    if column.kind not in TEMPORAL_KINDS or not isinstance(column, Continuous):
        return None
    return column.storage.natural_range(column.dtype)
