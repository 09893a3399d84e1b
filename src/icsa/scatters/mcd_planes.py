"""Whether rows lie on a hyperplane, in units that a few rows far away do not change."""

from __future__ import annotations

import math

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_kernels import Rows

__all__ = ["FLAT", "keep_planes", "lies_on_plane", "robust_units"]

# Rows that spread less than this share of a column's MAD in some direction lie on a plane.
FLAT = 3e-7


def lies_on_plane(xt: Matrix, rows: Rows) -> bool:
    """Return whether these rows have no spread in some direction, in units of the columns' MADs.

    A few rows far away make the spread of the others look like rounding; that is no plane.
    """
    units = robust_units(xt)
    if not units.all():  # a column does not vary at all, as in a part of the rows of a long table
        return True
    centred = (xt[:, rows] - xt[:, rows].mean(axis=1, keepdims=True)) / units[:, None]
    smallest = np.linalg.svd(centred, compute_uv=False)[-1] if rows.size > units.size else 0.0
    return bool(smallest < FLAT * math.sqrt(rows.size))


def keep_planes(xt: Matrix, objectives: Vector, subsets: Rows) -> None:
    """Keep a determinant of 0 only where the rows lie on a plane; else it is no result."""
    for flat in np.flatnonzero(objectives == -math.inf):
        if not lies_on_plane(xt, subsets[flat]):
            objectives[flat] = math.inf


def robust_units(xt: Matrix) -> Vector:
    """Return the MAD of every column, or its mean deviation where that is 0; 0 for a constant."""
    middle = xt.shape[1] // 2
    gaps = np.abs(xt - np.partition(xt, middle, axis=1)[:, middle, None])
    units = np.partition(gaps, middle, axis=1)[:, middle]
    return np.where(units > 0, units, np.minimum(gaps.mean(axis=1), 1e300))
