"""How much of a column is missing, and how far its numbers spread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from icsa.matrices import Vector

__all__ = ["Extent", "extent_of"]


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
