"""Reweighting to a fixed point: what S- and MM-estimates share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from icsa.correlations import median_mad
from icsa.errors import ConvergenceError
from icsa.matrices import Matrix, Vector

__all__ = ["NO_SPREAD", "column_units", "reweighted_fixed_point", "unit_factors"]

# A pivot below this fraction of the largest makes a few rows singular.
NO_SPREAD = 1e-9


def column_units(rows: Matrix) -> tuple[Vector, Vector]:
    """Return the centre and the unit of length of each column in which the iterations run.

    Examples
    --------
    >>> column_units(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [90.0, 5.0]]))
    (array([3., 0.]), array([1., 2.]))
    """
    centre, spread = median_mad(rows)
    return centre, np.where(spread > 0, spread, np.std(rows, axis=0))


def reweighted_fixed_point(
    rows: Matrix,
    location: Vector,
    factor: Matrix,
    weigh: Callable[[Vector], Vector],
    name: str,
    tolerance: float,
    max_iterations: int,
) -> tuple[Vector, Matrix, int]:
    """Return the location and shape that are the weighted mean and covariance of their own weights.

    The shape is given and returned as its lower triangular factor, of determinant 1; `weigh` maps
    the squared distances in the shape's metric to weights. Also returns the number of steps.
    """
    for iteration in range(1, max_iterations + 1):
        white = solve_triangular(factor, (rows - location).T, lower=True)
        squared = np.einsum("ji,ji->i", white, white)
        weights = weigh(squared)
        total = max(float(weights.sum()), np.finfo(float).tiny)
        shift = white @ weights / total
        white -= shift[:, None]
        step = unit_factors(((white * weights) @ white.T)[None])[0]
        if not np.isfinite(step[0, 0]):
            raise ConvergenceError(
                f"{name}: in step {iteration} the rows that have weight lie on a hyperplane. "
                "Start from another estimate, or drop columns."
            )
        location = location + factor @ shift
        factor = factor @ step
        typical = math.sqrt(float(weights @ squared) / (total * location.size))
        moved = float(np.linalg.norm(shift)) / typical
        if max(moved, float(np.linalg.norm(step - np.eye(location.size)))) < tolerance:
            return location, factor, iteration
    raise ConvergenceError(
        f"{name}: location and shape still change by more than {tolerance:g} after "
        f"{max_iterations} steps. Raise max_iterations or the tolerance."
    )


def unit_factors(matrices: Matrix) -> Matrix:
    """Return Cholesky factors divided to determinant 1; NaN where a matrix is singular."""
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        if matrices.shape[0] == 1:
            return np.full_like(matrices, np.nan)
        return np.concatenate([unit_factors(matrix[None]) for matrix in matrices])
    pivots = np.diagonal(factors, axis1=1, axis2=2)
    size = np.exp(np.mean(np.log(pivots), axis=1))
    size[pivots.min(axis=1) < NO_SPREAD * pivots.max(axis=1)] = np.nan
    scaled: Matrix = factors / size[:, None, None]
    return scaled
