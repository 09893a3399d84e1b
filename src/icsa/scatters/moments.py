"""Moment-based scatters: identity, covariance, and covariances weighted by distances."""

from __future__ import annotations

import numpy as np

from icsa.correlations import varies
from icsa.errors import InputError
from icsa.limits import LONG
from icsa.matrices import Matrix, as_matrix
from icsa.row_sums import mean_and_covariance
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.whitening import (
    at_centre,
    centred,
    factor_of,
    sandwich,
    sum_of_squares,
    whitened,
)

__all__ = ["cov", "cov4", "cov_axis", "cov_w", "identity", "variances"]


def identity(x: Matrix) -> LocationScatter:
    """Return the mean and the identity matrix.

    As the first of two scatters it leaves the units of the columns as they are: with `cov` as the
    second it gives the principal components.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table.

    Returns
    -------
    LocationScatter
        Column means and I.

    Examples
    --------
    >>> identity([[0.0, 1.0], [2.0, 3.0]]).location
    array([1., 2.])
    """
    matrix = as_matrix(x)
    mean = mean_and_covariance(matrix)[0] if matrix.shape[0] > LONG else centred(matrix)[0]
    return LocationScatter(mean, np.eye(mean.size))


def variances(x: Matrix) -> LocationScatter:
    """Return the mean and the column variances on a diagonal, divisor n - 1.

    As the first of two scatters it standardises the columns, so that their units do not matter.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; at least two rows.

    Returns
    -------
    LocationScatter
        Column means and the diagonal matrix of the variances.

    Examples
    --------
    >>> variances([[0.0, 0.0], [2.0, 4.0]]).scatter
    array([[2., 0.],
           [0., 8.]])
    """
    matrix = as_matrix(x, minimum_rows=2)
    found = np.where(varies(matrix), matrix.var(axis=0, ddof=1), 0.0)
    return LocationScatter(matrix.mean(axis=0), np.diag(found))


def cov(x: Matrix) -> LocationScatter:
    """Return the mean and the covariance matrix with divisor n - 1.

    It is singular, and no error, when there are too few rows or when columns are constant or
    depend on others.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; at least two rows.

    Returns
    -------
    LocationScatter
        Column means and the sample covariance matrix.

    Examples
    --------
    >>> cov([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]).scatter
    array([[1.33333333, 0.        ],
           [0.        , 1.33333333]])
    """
    matrix = as_matrix(x, minimum_rows=2)
    if matrix.shape[0] > LONG:
        return LocationScatter(*mean_and_covariance(matrix))
    mean, rows = centred(matrix)
    return LocationScatter(mean, sum_of_squares(rows) / (matrix.shape[0] - 1))


def cov_w(x: Matrix, *, alpha: float = 1.0, factor: float = 1.0) -> LocationScatter:
    """Return the mean and the covariance weighted by a power of the Mahalanobis distances.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    alpha : float
        The power. Positive powers stress outlying rows, negative ones play them down.
    factor : float
        A positive constant that multiplies the scatter.

    Returns
    -------
    LocationScatter
        Column means m and S = factor/n sum r_i^(2 alpha) (x_i - m)(x_i - m)', where r_i is the
        Mahalanobis distance of row i from m under the covariance with divisor n - 1. Rows equal
        to m add nothing.

    References
    ----------
    Archimbaud, A., Nordhausen, K., Ruiz-Gazen, A. (2018). ICS for multivariate outlier detection
    with application to quality control. Computational Statistics & Data Analysis 128.

    Examples
    --------
    >>> square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> cov_w(square, alpha=1.0).scatter.round(8) + 0.0
    array([[1.5, 0. ],
           [0. , 1.5]])
    """
    if not (np.isfinite(alpha) and np.isfinite(factor) and factor > 0.0):
        raise InputError(
            f"cov_w needs a finite alpha and a positive factor: got alpha={alpha}, factor={factor}."
        )
    return _weighted(checked(x, "cov_w"), "cov_w", alpha, factor)


def cov4(x: Matrix) -> LocationScatter:
    """Return the mean and the scatter of fourth moments.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.

    Returns
    -------
    LocationScatter
        Column means m and S = 1/(n (p + 2)) sum r_i^2 (x_i - m)(x_i - m)', r_i as in `cov_w`. For
        normal data it estimates the covariance.

    References
    ----------
    Cardoso, J.-F. (1989). Source separation using higher order moments. ICASSP 1989.

    Examples
    --------
    >>> square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> cov4(square).scatter.round(8) + 0.0
    array([[0.375, 0.   ],
           [0.   , 0.375]])
    """
    matrix = checked(x, "cov4")
    return _weighted(matrix, "cov4", 1.0, 1.0 / (matrix.shape[1] + 2))


def cov_axis(x: Matrix) -> LocationScatter:
    """Return the mean and the covariance of directions, each row scaled to Mahalanobis length one.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.

    Returns
    -------
    LocationScatter
        Column means m and S = p/n sum (x_i - m)(x_i - m)' / r_i^2, r_i as in `cov_w`. Rows equal
        to m add nothing; without such rows trace(cov^-1 S) = p.

    References
    ----------
    Critchley, F., Pires, A., Amado, C. (2006). Principal axis analysis. Open University technical
    report 06/14.

    Examples
    --------
    >>> square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> cov_axis(square).scatter.round(8) + 0.0
    array([[1.33333333, 0.        ],
           [0.        , 1.33333333]])
    """
    matrix = checked(x, "cov_axis")
    return _weighted(matrix, "cov_axis", -1.0, float(matrix.shape[1]))


def _weighted(x: Matrix, name: str, alpha: float, factor: float) -> LocationScatter:
    """Return factor/n sum r_i^(2 alpha) (x_i - m)(x_i - m)', computed in whitened coordinates."""
    n = x.shape[0]
    mean, rows = centred(x)
    root = factor_of(rows, mean, name)
    y = whitened(rows, root)  # covariance I with divisor n
    squared = np.einsum("ji,ji->i", y, y) * ((n - 1) / n)
    weights = np.zeros(n)
    np.power(squared, alpha / 2.0, out=weights, where=~at_centre(x, rows))
    return LocationScatter(mean, sandwich(root, sum_of_squares(y * weights) * (factor / n)))
