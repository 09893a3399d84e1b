"""The one-step van der Waerden rank shape at the Hettmansperger-Randles estimate."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from icsa.linalg import cholesky_factor, unit_determinant
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.fixed_point import MAX_ITERATIONS, TOLERANCE
from icsa.scatters.hettmansperger_randles import hr
from icsa.scatters.whitening import at_centre, sandwich, sum_of_squares, whitened

__all__ = ["average_ranks", "hp1"]

# Distances that differ by less, relatively, are tied: rounding must not rank equal rows.
_TIED = 1e-9


def hp1(
    x: Matrix,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return the Hettmansperger-Randles location and the one-step van der Waerden rank shape.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    tolerance, max_iterations
        Of the Hettmansperger-Randles estimate, see `icsa.scatters.hettmansperger_randles.hr`.

    Returns
    -------
    LocationScatter
        With (m, V) from `hr`, y_i = V^(-1/2) (x_i - m), r_i = |y_i| and u_i = y_i/r_i: the
        location m and the shape V^(1/2) mean(q(rank(r_i)/(n + 1)) u_i u_i') V^(1/2), scaled to
        determinant one; q is the quantile function of the chi-square distribution with p degrees
        of freedom, tied ranks are averaged.

    References
    ----------
    Hallin, M., Paindaveine, D. (2006). Semiparametrically efficient rank-based inference for
    shape. Annals of Statistics 34.

    Examples
    --------
    >>> octagon = [[2, 1], [2, -1], [-2, 1], [-2, -1], [2, 0], [-2, 0], [0, 1], [0, -1]]
    >>> hp1(octagon).scatter.round(9) + 0.0
    array([[2. , 0. ],
           [0. , 0.5]])
    """
    matrix = checked(x, "hp1")
    n, p = matrix.shape
    centre = hr(matrix, tolerance=tolerance, max_iterations=max_iterations)
    rows = np.subtract(matrix.T, centre.location[:, None], order="C")
    root = cholesky_factor(centre.scatter)
    y = whitened(rows, root)
    squared = np.einsum("ji,ji->i", y, y)
    scores = 2.0 * gammaincinv(p / 2.0, average_ranks(squared) / (n + 1))
    weights = np.zeros(n)
    np.divide(scores, squared, out=weights, where=~at_centre(matrix, rows))
    shape = unit_determinant(sandwich(root, sum_of_squares(y * np.sqrt(weights))))
    return LocationScatter(centre.location.copy(), shape, centre.iterations)


def average_ranks(values: Vector) -> Vector:
    """Return the ranks 1..n of non-negative values; values tied up to rounding share a mean rank.

    Examples
    --------
    >>> average_ranks(np.array([5.0, 1.0, 5.0, 2.0]))
    array([3.5, 1. , 3.5, 2. ])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.append(True, np.diff(ordered) > _TIED * ordered[1:]))
    last = np.append(first[1:], values.size)
    ranks = np.empty(values.size)
    ranks[order] = np.repeat((first + 1 + last) / 2.0, last - first)
    return ranks
