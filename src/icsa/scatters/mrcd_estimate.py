"""MRCD: the minimum regularised covariance determinant, for more columns than rows too."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, inv
from scipy.special import chdtr, chdtri

from icsa.errors import ConvergenceError, InputError, UnknownNameError
from icsa.linalg import inverse_root, log_determinant, squared_distances, symmetrize
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.scatters.base import LocationScatter
from icsa.scatters.ogk_estimate import deterministic_distances, untied_scales
from icsa.scatters.univariate import average_ranks, tied_direction_error

__all__ = ["MRCDScatter", "mrcd"]

Rows = npt.NDArray[np.intp]

_TARGETS = ("equicorrelation", "identity")

# Weight of the target when a subset needs none, and the bounds between which one is searched.
_NO_REGULARISATION = 1e-6
_RHO_BOUNDS = (1e-5, 0.99)

# R's root finder stops here. Stopping there too keeps rho, and with it the scatter, comparable.
_RHO_TOLERANCE = float(np.finfo(float).eps ** 0.25)

# Starts that need less regularisation than this are never left out.
_MODEST_RHO = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class MRCDScatter(LocationScatter):
    """The MRCD estimate, and the subset and regularisation that it came from.

    Attributes
    ----------
    rho : float
        Weight of the target, between 0 and 1.
    support : ndarray of int
        The rows of the best subset, increasing.
    objective : float
        log det of `scatter`, which the subset minimises.
    target : str
        Name of the target.
    """

    rho: float
    support: Rows
    objective: float
    target: str


def mrcd(
    x: object,
    *,
    alpha: float = 0.5,
    rho: float | None = None,
    target: str = "identity",
    max_condition: float = 50.0,
    max_iterations: int = 200,
) -> MRCDScatter:
    """Return the mean and the regularised covariance of the h rows with the smallest determinant.

    Columns are centred by the median and divided by Qn, D (where too many cells tie for Qn, by the
    tau scale). For a subset H of h = ceil(alpha n) rows, ::

        K(H) = D (rho T + (1 - rho) c S(H)) D,

    with S(H) its covariance (divisor h - 1) in those units, T the target, and
    c = (h/n)/P(chi2_{p+2} <= q) the consistency factor, q the h/n quantile of chi2_p. Concentration
    steps lower det K(H) from the six deterministic starts. Each start gets the smallest rho that
    keeps the condition number at `max_condition`; the largest of those up to max(.1, their median)
    is used, and the starts that need more are left out.

    Equivariant under shifts and changes of the columns' scales. Not made for tables that have many
    more rows than columns, where the MCD needs no target.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        At least four rows; any number of columns.
    alpha : float
        The fraction of rows in the subset, from 0.5 to 1.
    rho : float, optional
        The weight of the target; chosen from the data by default.
    target : {"identity", "equicorrelation"}
        T: uncorrelated columns, or columns that share one correlation, the mean of
        sin(pi/2 Spearman), as R's rrcov computes it.
    max_condition : float
        Largest condition number that needs no regularisation.
    max_iterations : int
        Limit of the concentration steps of one start.

    Returns
    -------
    MRCDScatter
        `location`, `scatter`, and `rho`, `support`, `objective`, `target`.

    Raises
    ------
    ExactFitError
        When about half of the rows or more share one value of a column.

    References
    ----------
    Boudt, K., Rousseeuw, P. J., Vanduffel, S. and Verdonck, T. (2020). The minimum regularized
    covariance determinant estimator. Statistics and Computing 30, 113-128.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(20, 30))
    >>> rows[:4] += 9.0
    >>> estimate = mrcd(rows)
    >>> estimate.support.size, bool(np.intersect1d(estimate.support, range(4)).size)
    (10, False)
    """
    matrix = as_matrix(x, minimum_rows=4)
    _check_options(alpha, rho, target, max_condition)
    n_rows, n_columns = matrix.shape
    size = math.ceil(alpha * n_rows)
    centre, scale = np.median(matrix, axis=0), untied_scales(matrix)
    if not np.all(scale > 0):
        flat = int(np.flatnonzero(~(scale > 0))[0])
        column = np.eye(n_columns)[flat]
        raise tied_direction_error("mrcd", matrix, column, allowed=n_rows // 2)
    unit = (matrix - centre) / scale
    root = _target_root(unit, target)  # the symmetric root of T
    whitened = unit if target == "identity" else unit @ inv(root)
    factor = _consistency(size / n_rows, n_columns)
    starts = [_smallest(distances, size) for distances in deterministic_distances(whitened)]
    if rho is None:
        rho, starts = _regularisation(whitened, starts, factor, max_condition)
    found = [_concentrate(whitened, start, rho, factor, max_iterations) for start in starts]
    support, inner, iterations = min(found, key=lambda triple: log_determinant(triple[1]))
    half = scale[:, None] * root
    scatter = symmetrize(half @ inner @ half.T)
    return MRCDScatter(
        location=matrix[support].mean(axis=0),
        scatter=scatter,
        iterations=iterations,
        rho=rho,
        support=support,
        objective=log_determinant(scatter),
        target=target,
    )


def _regularisation(
    rows: Matrix, starts: list[Rows], factor: float, max_condition: float
) -> tuple[float, list[Rows]]:
    """Return rho, and the starts that need no more than it."""
    needed = np.array(
        [_needed_rho(factor * _covariance(rows[start]), max_condition) for start in starts]
    )
    rho = float(np.max(needed[needed <= max(_MODEST_RHO, float(np.median(needed)))]))
    return rho, [start for start, need in zip(starts, needed, strict=True) if need <= rho]


def _needed_rho(covariance: Matrix, max_condition: float) -> float:
    """Return about the smallest rho for which rho I + (1 - rho) S is well conditioned."""
    values = eigh(covariance, eigvals_only=True)
    low, high = max(float(values[0]), 0.0), float(values[-1])

    def excess(rho: float) -> float:
        return (rho + (1 - rho) * high) / (rho + (1 - rho) * low) - max_condition

    if excess(_RHO_BOUNDS[0]) <= 0:
        return _NO_REGULARISATION
    if excess(_RHO_BOUNDS[1]) >= 0:
        return _RHO_BOUNDS[1]
    return _root(excess, *_RHO_BOUNDS)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a zero between two points by Brent's method, to R's tolerance.

    As in R, interpolation must at least halve the last step. scipy's brentq compares with the step
    before that, and so ends elsewhere within the tolerance.
    """
    tolerance = 0.5 * _RHO_TOLERANCE
    last, current = (low, function(low)), (high, function(high))
    other = last  # on the other side of the zero
    while True:
        previous = current[0] - last[0]
        if abs(other[1]) < abs(current[1]):
            last, current, other = current, other, current
        middle = 0.5 * (other[0] - current[0])
        if abs(middle) <= tolerance or current[1] == 0:
            return current[0]
        step = middle
        if abs(previous) >= tolerance and abs(last[1]) > abs(current[1]):
            trial = _interpolated(last, current, other)
            inside = trial * middle >= 0 and abs(trial) < 1.5 * abs(middle) - 0.5 * tolerance
            if inside and abs(trial) < 0.5 * abs(previous):
                step = trial
        if abs(step) < tolerance:
            step = math.copysign(tolerance, middle)
        last, current = current, (current[0] + step, function(current[0] + step))
        if (current[1] > 0) == (other[1] > 0):
            other = last


def _interpolated(
    last: tuple[float, float], current: tuple[float, float], other: tuple[float, float]
) -> float:
    """Return the step to the zero of the line, or of the inverse parabola, through the points."""
    slope = (last[1] - current[1]) / (last[0] - current[0])
    if last == other:
        return -current[1] / slope
    across = (other[1] - current[1]) / (other[0] - current[0])
    curved = (other[1] * across - last[1] * slope) / (other[1] - last[1])
    return -current[1] * curved / (across * slope)


def _concentrate(
    rows: Matrix, start: Rows, rho: float, factor: float, max_iterations: int
) -> tuple[Rows, Matrix, int]:
    """Return the subset from which no step lowers the determinant, its matrix and the steps."""
    subset = start
    for iteration in range(1, max_iterations + 1):
        matrix = (1 - rho) * factor * _covariance(rows[subset])
        matrix[np.diag_indices_from(matrix)] += rho
        distances = squared_distances(rows, rows[subset].mean(axis=0), matrix)
        nearest = _smallest(distances, subset.size)
        if np.array_equal(nearest, subset):
            return subset, matrix, iteration
        subset = nearest
    raise ConvergenceError(
        f"mrcd: the subset still changes after {max_iterations} concentration steps. "
        "Raise max_iterations."
    )


def _smallest(distances: Vector, size: int) -> Rows:
    """Return the rows with the smallest distances, increasing."""
    return np.sort(np.argsort(distances, kind="stable")[:size])


def _covariance(rows: Matrix) -> Matrix:
    return np.atleast_2d(np.cov(rows, rowvar=False))


def _consistency(fraction: float, n_columns: int) -> float:
    """Return what makes the covariance of the central normal rows that of all."""
    if fraction >= 1:
        return 1.0
    return float(fraction / chdtr(n_columns + 2, chdtri(n_columns, 1 - fraction)))


def _target_root(unit: Matrix, target: str) -> Matrix:
    n_columns = unit.shape[1]
    if target == "identity" or n_columns == 1:
        return np.eye(n_columns)
    ranks = np.apply_along_axis(average_ranks, 0, unit)
    spearman = np.atleast_2d(np.corrcoef(ranks, rowvar=False))
    mean = float(np.mean(np.sin(0.5 * np.pi * spearman[np.triu_indices(n_columns, 1)])))
    common = min(max(mean, -0.99 / (n_columns - 1)), 0.99)  # else T is not positive definite
    correlation = np.full((n_columns, n_columns), common)
    np.fill_diagonal(correlation, 1.0)
    root: Matrix = inv(inverse_root(correlation))
    return root


def _check_options(alpha: float, rho: float | None, target: str, max_condition: float) -> None:
    if not 0.5 <= alpha <= 1:
        raise InputError(f"mrcd needs alpha from 0.5 to 1: got {alpha}. The usual value is 0.5.")
    if rho is not None and not 0 <= rho <= 1:
        raise InputError(f"mrcd needs rho from 0 to 1: got {rho}. Leave it out to have it chosen.")
    if max_condition <= 1:
        raise InputError(
            f"mrcd needs max_condition above 1: got {max_condition}. The usual value is 50."
        )
    if target not in _TARGETS:
        raise UnknownNameError("MRCD target", target, _TARGETS)
