"""M-estimates of location and scatter from the likelihood of multivariate t distributions."""

from __future__ import annotations

import math

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.fixed_point import MAX_ITERATIONS, TOLERANCE, UnsolvedError, solve
from icsa.scatters.nonexistence import nonexistence
from icsa.scatters.weighting import substitution
from icsa.scatters.whitening import centred, factor_of

__all__ = ["tm"]


def tm(
    x: Matrix,
    *,
    df: float = 1.0,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return the maximum likelihood location and scatter of a multivariate t distribution.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns, and one more with `df` = 1.
    df : float
        Degrees of freedom nu, 1 (Cauchy) or more. The smaller, the less outlying rows count.
    tolerance : float
        Largest departure from the equations below, in whitened coordinates.
    max_iterations : int
        Substitutions allowed.

    Returns
    -------
    LocationScatter
        The m and S with mean(w_i (x_i - m)) = 0 and mean(w_i (x_i - m)(x_i - m)') = S, where
        w_i = (nu + p)/(nu + d_i) and d_i = (x_i - m)' S^-1 (x_i - m). The likelihood fixes the
        scale of S.

    Raises
    ------
    ExactFitError
        When a plane of dimension q holds (nu + q)/(nu + p) of the rows or more: then S does not
        exist.
    ConvergenceError
        When the equations do not hold after `max_iterations` substitutions.

    References
    ----------
    Kent, J. T., Tyler, D. E. (1991). Redescending M-estimates of multivariate location and
    scatter. Annals of Statistics 19. Kent, J. T., Tyler, D. E., Vardi, Y. (1994). A curious
    likelihood identity for the multivariate t-distribution. Communications in Statistics:
    Simulation and Computation 23.

    Examples
    --------
    >>> square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> tm(square, df=2.0).scatter.round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    if not 1.0 <= df < math.inf:
        raise InputError(f"tm needs finite degrees of freedom of at least 1: got df={df}.")
    matrix = checked(x, "tm", more_rows_than_columns_plus=1 if df == 1.0 else 0)
    p = matrix.shape[1]
    mean, rows = centred(matrix)
    start = factor_of(rows, mean, "tm")
    try:
        solution = solve(
            rows,
            substitution(df + p, df, location_power=1.0, average=True),
            np.zeros(p),
            start,
            gains=_gains(df, p),
            tolerance=tolerance,
            max_iterations=max_iterations,
        )
    except UnsolvedError as unsolved:
        raise nonexistence(
            "tm", rows, start, unsolved, lambda q: (df + q) / (df + p), affine=True
        ) from None
    scatter = solution.factor @ solution.factor.T
    return LocationScatter(mean + solution.location, scatter, solution.iterations)


def _gains(df: float, p: int) -> tuple[float, float]:
    """Return the stretch of location and scatter steps, exact for rows at squared distance p.

    There w = 1 and w' = -1/(nu + p). A location error e leaves 2 e/(nu + p) after a substitution,
    a trace-free scatter error E leaves 2 p E/((nu + p)(p + 2)).
    """
    return 1.0 / (1.0 - 2.0 / max(df + p, 3.0)), 1.0 / (1.0 - 2.0 * p / ((df + p) * (p + 2.0)))
