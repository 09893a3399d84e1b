"""OGK, the orthogonalised Gnanadesikan-Kettenring estimate, from robust scales of pairs of columns.

Also the six deterministic starts, OGK among them, from which S and the MRCD are searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, inv
from scipy.special import chdtri, ndtri

from icsa.correlations import median_mad
from icsa.errors import InputError
from icsa.linalg import symmetrize
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.univariate import (
    average_ranks,
    qn_scale,
    tau_location_scale,
    tied_direction_error,
)

__all__ = ["OGKScatter", "deterministic_distances", "ogk", "orthogonal_axes", "untied_scales"]

# Below this fraction of the largest, a scale or an eigenvalue holds nothing but rounding.
_NO_SPREAD = 1e-10

# A correlation matrix with a smaller eigenvalue is singular but for rounding.
_DEPENDENT = 1e-13

# Directions in which half the rows tie keep this fraction of the largest scale: rows off them are
# far away.
_LEAST_SCALE = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class OGKScatter(LocationScatter):
    """The reweighted OGK estimate, and the raw one it came from.

    Attributes
    ----------
    raw_location : ndarray of shape (n_columns,)
        Location before reweighting.
    raw_scatter : ndarray of shape (n_columns, n_columns)
        Scatter before reweighting; its squared distances have the median of chi-squared.
    weights : ndarray of bool, shape (n_rows,)
        The rows that `location` and `scatter` are the mean and covariance of.
    """

    raw_location: Vector
    raw_scatter: Matrix
    weights: np.ndarray[tuple[int], np.dtype[np.bool_]]


def ogk(x: object, *, sweeps: int = 2, quantile: float = 0.9) -> OGKScatter:
    """Return the reweighted OGK location and scatter, with the tau scale.

    Each sweep divides the columns by their scales, computes the pairwise robust covariances
    u_jk = (s(y_j + y_k)² - s(y_j - y_k)²)/4, and rotates to the eigenvectors of U = (u_jk). With A
    the product of the sweeps' maps and z the rotated rows, ::

        raw location = A t(z),    raw scatter = A diag(s(z)²) A' med(d)/chi2_p(.5),

    where t and s are the tau location and scale of each column, and d_i = sum_j (z_ij - t_j)²/s_j².
    The rows with d_i < chi2_p(quantile) med(d)/chi2_p(.5) give the mean and covariance (divisor:
    their number).

    Not affine equivariant: only shifts and changes of the columns' scales go through.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The rows, more of them than columns.
    sweeps : int
        Number of orthogonalisations, at least 1.
    quantile : float
        The fraction of clean normal rows that reweighting keeps, between 0 and 1.

    Returns
    -------
    OGKScatter
        `location`, `scatter`, and the raw estimates and weights.

    Raises
    ------
    ExactFitError
        When half of the rows or more share one value of a column or of a combination of columns.

    References
    ----------
    Maronna, R. A. and Zamar, R. H. (2002). Robust estimates of location and dispersion for
    high-dimensional datasets. Technometrics 44, 307-317.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(100, 2))
    >>> rows[:10] += 50.0
    >>> estimate = ogk(rows)
    >>> int(estimate.weights[:10].sum()), bool(np.linalg.det(estimate.scatter) < 2)
    (0, True)
    """
    matrix = checked(x, "ogk")
    if sweeps < 1:
        raise InputError(
            f"ogk needs at least one sweep: got sweeps={sweeps}. The usual number is 2."
        )
    if not 0 < quantile < 1:
        raise InputError(
            f"ogk needs a quantile between 0 and 1: got {quantile}. The usual one is 0.9."
        )
    centre = np.median(matrix, axis=0)
    rows = matrix - centre
    axes, scores = orthogonal_axes(rows, tau_location_scale, sweeps=sweeps, name="ogk")
    location, scale = tau_location_scale(scores)
    _reject_flat(rows, axes, scale, "ogk")
    distances = np.sum(((scores - location) / scale) ** 2, axis=1)
    n_columns = matrix.shape[1]
    calibration = float(np.median(distances) / chdtri(n_columns, 0.5))
    half = axes * scale
    kept = distances < chdtri(n_columns, 1.0 - quantile) * calibration
    inner = rows[kept]
    if inner.shape[0] <= n_columns:
        raise InputError(
            f"ogk keeps {inner.shape[0]} rows at quantile={quantile}: too few for "
            f"{n_columns} columns. Use a larger quantile or fewer columns."
        )
    mean = inner.mean(axis=0)
    scatter = symmetrize((inner - mean).T @ (inner - mean)) / inner.shape[0]
    _reject_dependent(rows, scatter)
    return OGKScatter(
        location=centre + mean,
        scatter=scatter,
        raw_location=centre + axes @ location,
        raw_scatter=symmetrize(half @ half.T) * calibration,
        weights=kept,
    )


def orthogonal_axes(
    rows: Matrix,
    location_scale: Callable[[Matrix], tuple[Vector, Vector]],
    *,
    sweeps: int,
    name: str,
) -> tuple[Matrix, Matrix]:
    """Return A and the scores z with rows = z A', after so many sweeps of OGK.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(100, 2))
    >>> axes, scores = orthogonal_axes(rows, tau_location_scale, sweeps=2, name="ogk")
    >>> bool(np.allclose(scores @ axes.T, rows))
    True
    """
    scores = rows
    axes = np.eye(rows.shape[1])
    for _ in range(sweeps):
        scale = location_scale(scores)[1]
        _reject_flat(rows, axes, scale, name)
        scores = scores / scale
        vectors = eigh(_pairwise_covariances(scores, location_scale))[1]
        axes = axes @ (scale[:, None] * vectors)
        scores = scores @ vectors
    return axes, scores


def deterministic_distances(unit: Matrix) -> Iterator[Vector]:
    """Yield, for each of six simple robust starts, the squared distance of every row.

    The starts: correlation of tanh(z), of ranks, of normal scores; spatial sign covariance;
    covariance of the half of the rows nearest the origin; OGK with Qn. Of each, only the
    eigenvectors are kept: Qn gives the scales along them, and the median of the sphered rows the
    location. Columns must have about location 0 and scale 1.

    References
    ----------
    Hubert, M., Rousseeuw, P. J. and Verdonck, T. (2012). A deterministic algorithm for robust
    location and scatter. Journal of Computational and Graphical Statistics 21, 618-637.

    Examples
    --------
    >>> unit = np.random.default_rng(1).normal(size=(50, 2))
    >>> unit[7] = [40.0, 40.0]
    >>> [int(np.argmax(distances)) for distances in deterministic_distances(unit)]
    [7, 7, 7, 7, 7, 7]
    """
    for start in _simple_scatters(unit):
        axes = _axes(start, unit)
        scale = untied_scales(unit @ axes)
        scale = np.maximum(scale, _LEAST_SCALE * scale.max())
        sphered_median = np.median(unit @ (axes / scale) @ axes.T, axis=0)
        location = (axes * scale) @ (axes.T @ sphered_median)
        yield np.sum(((unit - location) @ axes / scale) ** 2, axis=1)


def untied_scales(columns: Matrix) -> Vector:
    """Return Qn of each column; the tau scale where a quarter of the pairs tie, and Qn is 0.

    Examples
    --------
    >>> column = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [2.0]])
    >>> bool(qn_scale(column)[0] > 0), bool(untied_scales(column)[0] > 0)
    (False, True)
    """
    scale = qn_scale(columns)
    # After a rotation ties are ties but for rounding, which differs from processor to processor.
    untied = scale > _NO_SPREAD * median_mad(columns)[1]
    if not np.all(untied):
        scale = np.where(untied, scale, tau_location_scale(columns)[1])
    return scale


def _pairwise_covariances(
    unit: Matrix, location_scale: Callable[[Matrix], tuple[Vector, Vector]]
) -> Matrix:
    """Return the robust covariance of every two columns of scale 1."""
    covariances = np.eye(unit.shape[1])
    for column in range(1, unit.shape[1]):
        others = unit[:, :column]
        this = unit[:, column, None]
        total = location_scale(others + this)[1]
        difference = location_scale(others - this)[1]
        covariances[column, :column] = 0.25 * (total**2 - difference**2)
    return covariances + np.tril(covariances, -1).T


def _reject_flat(rows: Matrix, axes: Matrix, scale: Vector, name: str) -> None:
    """Raise when the scores on some axis have no spread."""
    # Columns come in any unit; only after the first sweep are the scores' scales of order 1.
    limit = 0.0 if np.array_equal(axes, np.eye(axes.shape[0])) else _NO_SPREAD
    flat = np.flatnonzero(~(scale > limit))
    if flat.size:
        # rows = scores @ axes.T, so a score is rows @ the column of the inverse of axes.T.
        normal = inv(axes.T)[:, flat[0]]
        raise tied_direction_error(name, rows, normal, allowed=rows.shape[0] // 2)


def _reject_dependent(rows: Matrix, scatter: Matrix) -> None:
    """Raise when the kept rows lie on a hyperplane, which the scale of no pair need show."""
    scale = np.sqrt(np.diagonal(scatter))
    scale = np.where(scale > 0, scale, np.finfo(float).tiny ** 0.25)
    values, vectors = eigh(scatter / np.outer(scale, scale))
    if values[0] < _DEPENDENT:
        normal = vectors[:, 0] / scale
        raise tied_direction_error("ogk", rows, normal, allowed=rows.shape[0] // 2)


def _simple_scatters(unit: Matrix) -> Iterator[Matrix]:
    n_rows = unit.shape[0]
    ranks = np.apply_along_axis(average_ranks, 0, unit)
    for scores in (np.tanh(unit), ranks, ndtri((ranks - 1 / 3) / (n_rows + 1 / 3))):
        yield np.atleast_2d(np.corrcoef(scores, rowvar=False))
    norms = np.linalg.norm(unit, axis=1)
    signs = unit[norms > 0] / norms[norms > 0, None]
    yield signs.T @ signs
    nearest = np.argsort(norms, kind="stable")[: (n_rows + 1) // 2]
    yield np.atleast_2d(np.cov(unit[nearest], rowvar=False))
    axes, scores = orthogonal_axes(
        unit, lambda y: (np.median(y, axis=0), untied_scales(y)), sweeps=1, name="ogk"
    )
    half = axes * untied_scales(scores)
    yield half @ half.T


def _axes(start: Matrix, unit: Matrix) -> Matrix:
    """Return the eigenvectors of a start; where eigenvalues are zero, the rows' principal axes.

    With more columns than rows the null space is large, and its basis a matter of rounding.
    """
    values, vectors = eigh(symmetrize(start))
    null = values <= _NO_SPREAD * values[-1]
    if not null.any():
        return vectors  # type: ignore[no-any-return]
    rest = vectors[:, null]
    inside = np.linalg.svd((unit - unit.mean(axis=0)) @ rest)[2]
    full: Matrix = np.hstack([vectors[:, ~null], rest @ inside.T])
    return full
