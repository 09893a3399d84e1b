"""The minimum covariance determinant: mean and covariance of the h most concentrated rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.matrices import Matrix, Vector, column_names, columns_first
from icsa.scatters.base import LocationScatter, checked, search_seed
from icsa.scatters.mcd_factors import chi2_quantile, consistency_factor, small_sample_factor
from icsa.scatters.mcd_kernels import Rows, distances, whitener
from icsa.scatters.mcd_moments import SubsetMoments
from icsa.scatters.mcd_planes import FLAT, lies_on_plane, robust_units
from icsa.scatters.mcd_search import least_determinant_rows

__all__ = ["MinimumCovarianceDeterminant", "mcd"]

# Rows farther out than this quantile of the chi-square law get weight 0.
REWEIGHTING_QUANTILE = 0.975
# With all pivots above this share of their variance, products have all the digits.
_PLAIN = 1e-4


@dataclass(frozen=True, eq=False)
class MinimumCovarianceDeterminant(LocationScatter):
    """An MCD estimate with what it was made from.

    Attributes
    ----------
    objective : float
        Log determinant of the covariance (divisor h - 1, no factor) of the support.
    support : ndarray of shape (h,)
        Row numbers of the h rows, ascending.
    weights : ndarray of shape (n_rows,), bool
        The rows that the reweighted estimate averages over.
    raw_location, raw_scatter : ndarray
        Mean of the support, and its covariance times `raw_consistency` and `raw_correction`.
    consistency, correction : float
        The factors in `scatter`: consistency at normal data, and small-sample correction.
    raw_consistency, raw_correction : float
        The same for `raw_scatter`.
    n_starts : int
        Random starts that the search took; 0 where the best rows are known without.
    agreeing : int
        Independent populations of starts that reached `objective`; large tables: in a part of it.
    """

    objective: float = np.nan
    support: Rows = None  # type: ignore[assignment]
    weights: npt.NDArray[np.bool_] = None  # type: ignore[assignment]
    raw_location: Vector = None  # type: ignore[assignment]
    raw_scatter: Matrix = None  # type: ignore[assignment]
    consistency: float = 1.0
    correction: float = 1.0
    raw_consistency: float = 1.0
    raw_correction: float = 1.0
    n_starts: int = 0
    agreeing: int = 0


def require_alpha(alpha: float) -> None:
    """Raise an error where a support fraction is no number from .5 to 1."""
    if not isinstance(alpha, int | float | np.number) or not 0.5 <= alpha <= 1.0:
        raise InputError("The MCD's alpha must be a number between 0.5 and 1.")


def mcd(
    x: object,
    *,
    alpha: float = 0.5,
    reweighted: bool = True,
    small_sample_correction: bool = True,
    n_starts: int | None = None,
    random_state: object = None,
) -> MinimumCovarianceDeterminant:
    """Return the minimum covariance determinant estimate, reweighted by default.

    The raw estimate is the mean and covariance of those h rows whose covariance has the least
    determinant. The reweighted one is the mean and covariance of all rows within the .975 quantile
    of the raw distances: as robust, and more precise.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table, with n_rows > n_columns + 1.
    alpha : float
        Share of the rows that the determinant is taken over, from .5 (withstands the most outliers)
        to 1 (the covariance).
    reweighted : bool
        Whether `location` and `scatter` are the reweighted or the raw ones.
    small_sample_correction : bool
        Whether scatters are multiplied by the small-sample factor of Pison, Van Aelst and Willems.
    n_starts : int, optional
        Number of random starts of the search, rounded up to whole populations of 6. By default the
        search stops when populations that know nothing of each other agree on the best subset.
    random_state : int, bytes, Generator or None
        Seed of the starts; None is a fixed one, so that the same data give the same scatter.

    Returns
    -------
    MinimumCovarianceDeterminant

    Raises
    ------
    ExactFitError
        When h rows lie on one hyperplane, so that the least determinant is 0. The message names its
        columns.

    References
    ----------
    Rousseeuw and Van Driessen (1999), A fast algorithm for the minimum covariance determinant
    estimator. Hubert, Debruyne and Rousseeuw (2018), Minimum covariance determinant and extensions.

    Examples
    --------
    >>> x = np.vstack([np.random.default_rng(1).normal(size=(60, 2)), np.full((9, 2), 50.0)])
    >>> estimate = mcd(x, alpha=0.75)
    >>> bool(np.all(np.abs(estimate.location) < 0.5)), int(estimate.weights[60:].sum())
    (True, 0)
    """
    require_alpha(alpha)
    matrix = checked(x, "The MCD", more_rows_than_columns_plus=1)
    n, p = matrix.shape
    xt = columns_first(matrix)
    if n_starts is not None and n_starts < 1:
        raise InputError(f"The MCD needs 1 start or more: got {n_starts}. Leave n_starts out.")
    found = least_determinant_rows(xt, alpha, search_seed(random_state), n_starts)
    support = found.rows
    raw_consistency = consistency_factor(support.size / n, p)
    raw_correction = small_sample_factor(n, p, alpha) if small_sample_correction else 1.0
    raw_location, covariance, objective = _moments(xt, support, x)
    raw_scatter = raw_consistency * raw_correction * covariance
    weights = _distances(xt, raw_location, raw_scatter) < chi2_quantile(REWEIGHTING_QUANTILE, p)
    location, scatter = raw_location, raw_scatter
    consistency, correction = raw_consistency, raw_correction
    if reweighted:
        kept = int(weights.sum())
        location, covariance, _ = _moments(xt, np.flatnonzero(weights), x)
        consistency, correction = consistency_factor(kept / n, p), 1.0
        if small_sample_correction and kept < n:
            correction = small_sample_factor(n, p, alpha, "reweighted")
        scatter = consistency * correction * covariance
    return MinimumCovarianceDeterminant(
        location=location,
        scatter=scatter,
        objective=objective,
        support=support,
        weights=weights,
        raw_location=raw_location,
        raw_scatter=raw_scatter,
        consistency=consistency,
        correction=correction,
        raw_consistency=raw_consistency,
        raw_correction=raw_correction,
        n_starts=found.starts,
        agreeing=found.agreeing,
    )


def _moments(xt: Matrix, rows: Rows, x: object) -> tuple[Vector, Matrix, float]:
    """Return mean, covariance and its log determinant of some columns of `xt`."""
    found = SubsetMoments.of(xt, rows)
    w, log_det = found.whitener()
    mean, covariance = found.mean, found.cross / max(rows.size - 1, 1)
    if rows.size <= mean.size or log_det == -np.inf:
        if lies_on_plane(xt, rows):
            raise _exact_fit(xt, rows, column_names(x))
        raise ConvergenceError(
            "The MCD found no half of the rows with a regular covariance: their sizes differ too "
            "much. Take logarithms of the columns, or drop those of wildly different sizes."
        )
    if np.min(1.0 / np.diagonal(w) ** 2 / np.diagonal(covariance)) < _PLAIN:
        # Products lose half of the digits of a small pivot; the rows themselves have them all.
        scale = np.sqrt(np.diagonal(covariance))
        standard = ((xt[:, rows] - mean[:, None]) / scale[:, None]).T
        pivots = np.abs(np.diagonal(np.linalg.qr(standard, mode="r"))) / np.sqrt(rows.size - 1)
        log_det = 2.0 * float(np.sum(np.log(pivots) + np.log(scale)))
    return mean, covariance, log_det


def _distances(xt: Matrix, location: Vector, scatter: Matrix) -> Vector:
    w, squared = np.empty_like(scatter), np.empty(xt.shape[1])
    whitener(scatter, 2, w)  # divisor 1: the scatter as it is
    distances(xt, location, w, squared)
    return squared


def _exact_fit(xt: Matrix, rows: Rows, names: list[str]) -> ExactFitError:
    """Return the error that names the columns whose combination is constant over the rows."""
    units = robust_units(xt)[:, None]
    centre = xt[:, rows].mean(axis=1, keepdims=True)
    normal = np.linalg.svd((xt[:, rows] - centre) / units, full_matrices=False)[0][:, -1]
    columns = [int(j) for j in np.flatnonzero(np.abs(normal) > 1e-6 * np.abs(normal).max())]
    on_it = int(np.sum(np.abs(normal @ ((xt - centre) / units)) < FLAT))
    return ExactFitError(
        "The MCD",
        columns,
        [names[j] for j in columns],
        rows_on_it=on_it,
        n_rows=xt.shape[1],
        allowed=rows.size - 1,
    )
