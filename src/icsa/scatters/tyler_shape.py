"""Tyler's shape around a given location."""

from __future__ import annotations

import math

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.fixed_point import MAX_ITERATIONS, TOLERANCE, Solution, UnsolvedError, solve
from icsa.scatters.nonexistence import nonexistence
from icsa.scatters.weighting import substitution
from icsa.scatters.whitening import at_centre, centred, factor_of

__all__ = ["shape_around", "tyler", "unit_factor"]


def tyler(
    x: Matrix,
    *,
    location: str | Vector = "mean",
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return Tyler's shape matrix around a location, with determinant one.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    location : {"mean", "median"} or array-like of shape (n_columns,)
        The centre: the column means, the column medians, or a given vector. Rows equal to it are
        left out.
    tolerance : float
        Largest departure from the equation below, in whitened coordinates.
    max_iterations : int
        Substitutions allowed.

    Returns
    -------
    LocationScatter
        The location m and the V with det V = 1 and p mean(u_i u_i') = I, where u_i = y_i/|y_i| and
        y_i = V^(-1/2) (x_i - m).

    Raises
    ------
    ExactFitError
        When a plane of dimension q through the location holds q/p of the rows or more: then V
        does not exist.
    ConvergenceError
        When the equation does not hold after `max_iterations` substitutions.

    Notes
    -----
    Around the Hettmansperger-Randles location this is the Hettmansperger-Randles shape itself; as
    a second scatter beside `hr` it is informative only around another location, such as the mean.

    References
    ----------
    Tyler, D. E. (1987). A distribution-free M-estimator of multivariate scatter. Annals of
    Statistics 15.

    Examples
    --------
    >>> cross = [[2.0, 0.0], [-6.0, 0.0], [0.0, 1.0], [0.0, -1.0], [4.0, 1.0], [-4.0, 1.0]]
    >>> result = tyler(cross, location=[0.0, 0.0])
    >>> result.scatter.round(6) + 0.0
    array([[4.  , 0.  ],
           [0.  , 0.25]])
    """
    matrix = checked(x, "tyler")
    centre, rows = _around(matrix, location)
    kept = ~at_centre(matrix, rows)
    solution = shape_around(
        np.ascontiguousarray(rows[:, kept]) if not kept.all() else rows,
        centre,
        "tyler",
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    root = unit_factor(solution.factor)
    return LocationScatter(centre, root @ root.T, solution.iterations)


def shape_around(
    rows: Matrix, centre: Vector, name: str, *, tolerance: float, max_iterations: int
) -> Solution:
    """Return Tyler's shape of columns-first rows minus their centre, none of which is zero."""
    p, n = rows.shape
    if n <= p:
        raise InputError(
            f"{name} needs more rows than columns that differ from the location: got {n} such "
            f"rows, {p} columns. Use another location, or drop columns."
        )
    start = factor_of(rows, centre, name)
    step = substitution(float(p), 0.0, location_power=0.0, average=False)
    try:
        return solve(
            rows,
            step,
            np.zeros(p),
            start,
            gains=(1.0, (p + 2) / p),
            tolerance=tolerance,
            max_iterations=max_iterations,
        )
    except UnsolvedError as unsolved:
        raise nonexistence(name, rows, start, unsolved, lambda q: q / p, affine=False) from None


def unit_factor(factor: Matrix) -> Matrix:
    """Return a triangular factor divided by the p-th root of its determinant.

    Examples
    --------
    >>> unit_factor(np.diag([1.0, 4.0]))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    return factor * math.exp(-float(np.log(np.diagonal(factor)).mean()))


def _around(x: Matrix, location: str | Vector) -> tuple[Vector, Matrix]:
    """Return the location and the rows minus it, columns-first."""
    if isinstance(location, str):
        if location == "mean":
            return centred(x)
        if location != "median":
            raise InputError(
                f"tyler knows the locations 'mean' and 'median', or a vector: got {location!r}."
            )
        centre = np.median(x, axis=0)
    else:
        centre = np.array(location, dtype=np.float64)
        if centre.shape != (x.shape[1],) or not np.isfinite(centre).all():
            raise InputError(
                f"tyler needs a location of {x.shape[1]} finite numbers, one a column: got an "
                f"array of shape {centre.shape}."
            )
    return centre, np.subtract(x.T, centre[:, None], order="C")
