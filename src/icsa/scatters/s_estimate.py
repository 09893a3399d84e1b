"""S: the scatter of smallest determinant at which a bounded mean of the distances is fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.errors import InputError
from icsa.linalg import squared_distances, symmetrize
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked, search_generator
from icsa.scatters.reweighting import column_units, reweighted_fixed_point
from icsa.scatters.s_search import best_start
from icsa.scatters.univariate import (
    bisquare_cutoff,
    bisquare_radii,
    bisquare_weights,
    tied_direction_error,
)

__all__ = ["SScatter", "s"]

# Random starts by default: as many as this budget of multiplications a step allows, within limits.
_START_BUDGET = 5e7
_FEWEST_STARTS, _MOST_STARTS = 500, 1500


@dataclass(frozen=True, eq=False, kw_only=True)
class SScatter(LocationScatter):
    """The S-estimate and what it minimises.

    Attributes
    ----------
    scale : float
        det(scatter)^(1/(2p)), the objective: the smallest that the search met.
    cutoff : float
        The distance from which on rows have no weight.
    breakdown : float
        The fraction of outlying rows that the estimate withstands in large tables.
    """

    scale: float
    cutoff: float
    breakdown: float


def s(
    x: object,
    *,
    breakdown: float = 0.5,
    n_starts: int | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 2000,
    random_state: object = None,
) -> SScatter:
    """Return the bisquare S-estimate of location and scatter.

    Among all locations t and positive definite C with ::

        mean(rho(d_i/c)) = breakdown,    d_i² = (x_i - t)' C^-1 (x_i - t),
        rho(u) = 1 - (1 - min(u, 1)²)³,

    it has the smallest det(C). The cut-off c makes C the covariance under normality. With weights
    w_i = (1 - (d_i/c)²)² inside the cut-off and 0 outside it, t is the weighted mean and C
    proportional to the weighted covariance around it.

    The objective has many local minima. The search starts from six deterministic estimates and from
    random sets of p + 1 rows, takes a few steps from each, goes on with the best and iterates the
    very best to its fixed point. The random sets do not depend on the order of the rows or on an
    affine change of the columns; the deterministic starts do on the latter.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The rows, more than p/(1 - breakdown) of them.
    breakdown : float
        The breakdown point, above 0 and at most 0.5.
    n_starts : int, optional
        Number of random starts; with 0 only the deterministic ones are used. By default 1500 for
        small tables, down to 500 for large ones.
    tolerance : float
        Largest change, free of units, of location and shape in the last step.
    max_iterations : int
        Limit of the last iteration.
    random_state : None, int, bytes or numpy Generator
        Of the random starts; None is a fixed seed.

    Returns
    -------
    SScatter
        `location`, `scatter`, `scale` (the objective), `cutoff`, `breakdown`.

    Raises
    ------
    ExactFitError
        When n (1 - breakdown) rows or more lie on one hyperplane, so that the minimum is 0.

    References
    ----------
    Lopuhaä, H. P. (1989). On the relation between S-estimators and M-estimators of multivariate
    location and covariance. Annals of Statistics 17, 1662-1683.

    Salibian-Barrera, M. and Yohai, V. J. (2006). A fast algorithm for S-regression estimates.
    Journal of Computational and Graphical Statistics 15, 414-427.

    Hubert, M., Rousseeuw, P. J., Vanpaemel, D. and Verdonck, T. (2015). The DetS and DetMM
    estimators for multivariate location and scatter. Computational Statistics & Data Analysis 81,
    64-75.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(100, 2))
    >>> rows[:30] += 50.0
    >>> estimate = s(rows)
    >>> bool(np.all(np.abs(estimate.location) < 0.5)), bool(estimate.scale < 1.5)
    (True, True)
    """
    matrix = _checked_rows(x, breakdown)
    n_starts = _number_of_starts(matrix, n_starts)
    centre, spread = column_units(matrix)
    unit = _canonical_order((matrix - centre) / spread)
    start = best_start(unit, breakdown, n_starts, search_generator(random_state))

    def weigh(squared: Vector) -> Vector:
        return bisquare_weights(squared, bisquare_radii(squared[None], breakdown)[0])

    location, factor, iterations = reweighted_fixed_point(
        unit, start.locations[0], start.factors[0], weigh, "s", tolerance, max_iterations
    )
    squared = squared_distances(unit, location, factor @ factor.T)
    cutoff = bisquare_cutoff(matrix.shape[1], breakdown)
    scale = math.sqrt(float(bisquare_radii(squared[None], breakdown)[0])) / cutoff
    half = spread[:, None] * factor * scale
    return SScatter(
        location=centre + spread * location,
        scatter=symmetrize(half @ half.T),
        iterations=iterations,
        scale=scale * math.exp(float(np.mean(np.log(spread)))),
        cutoff=cutoff,
        breakdown=breakdown,
    )


def _canonical_order(unit: Matrix) -> Matrix:
    """Return the rows in an order that neither their own order nor an affine map changes."""
    covariance = np.atleast_2d(np.cov(unit, rowvar=False))
    distances = squared_distances(unit, unit.mean(axis=0), covariance)
    return unit[np.argsort(distances, kind="stable")]


def _number_of_starts(rows: Matrix, asked: int | None) -> int:
    if asked is None:
        affordable = int(_START_BUDGET / (rows.size * rows.shape[1]))
        return min(max(affordable, _FEWEST_STARTS), _MOST_STARTS)
    if asked < 0:
        raise InputError(f"s needs 0 or more random starts: got n_starts={asked}. Leave it out.")
    return asked


def _checked_rows(x: object, breakdown: float) -> Matrix:
    if not 0 < breakdown <= 0.5:
        raise InputError(
            f"s needs a breakdown point above 0 and at most 0.5: got {breakdown}. "
            "The usual value is 0.5."
        )
    matrix = checked(x, "s")
    n_rows, n_columns = matrix.shape
    allowed = math.ceil(n_rows * (1.0 - breakdown)) - 1
    if n_columns > allowed:  # any p rows lie on a hyperplane
        raise InputError(
            f"s needs more than {n_columns / (1.0 - breakdown):g} rows for {n_columns} columns at "
            f"breakdown={breakdown}: got {n_rows}. Drop columns or use a smaller breakdown point."
        )
    tied = np.sum(matrix == np.median(matrix, axis=0), axis=0) > allowed
    if tied.any():
        column = np.eye(n_columns)[int(np.argmax(tied))]
        raise tied_direction_error("s", matrix, column, allowed=allowed)
    return matrix
