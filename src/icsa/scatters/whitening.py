"""Centring and whitening of rows at any scale and conditioning of the columns.

Rows are held columns-first, as a (p, n) array, so that every pass over them runs along memory.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from icsa.errors import InputError
from icsa.linalg import symmetrize
from icsa.matrices import Matrix, Vector

__all__ = ["at_centre", "centred", "factor_of", "sandwich", "sum_of_squares", "whitened"]

# Below this pivot the Cholesky factor of the cross-products has lost half of its digits: take a QR.
_WEAK_PIVOT = 1e-5


def centred(x: Matrix) -> tuple[Vector, Matrix]:
    """Return the column means and the centred rows, columns-first.

    The mean is taken twice, so that columns far from zero lose no digits.

    Examples
    --------
    >>> centred(np.array([[1.0, 5.0], [3.0, 5.0]]))
    (array([2., 5.]), array([[-1.,  1.],
           [ 0.,  0.]]))
    """
    first = x.mean(axis=0)
    rows = np.subtract(x.T, first[:, None], order="C")
    correction = rows.mean(axis=1)
    rows -= correction[:, None]
    return first + correction, rows


def at_centre(x: Matrix, rows: Matrix) -> npt.NDArray[np.bool_]:
    """Return which rows of `x` equal the centre, given the rows minus the centre, columns-first.

    A mean is rounded, so a few units in the last place count as equal.

    Examples
    --------
    >>> x = np.array([[0.1], [0.2], [0.3]])
    >>> at_centre(x, centred(x)[1])
    array([False,  True, False])
    """
    unit = 4.0 * np.finfo(float).eps * np.abs(x).max(axis=0)
    equal: npt.NDArray[np.bool_] = (np.abs(rows) <= unit[:, None]).all(axis=0)
    return equal


def sum_of_squares(rows: Matrix) -> Matrix:
    """Return the symmetric sum of y y' over the rows y of a columns-first (p, n) array.

    Examples
    --------
    >>> sum_of_squares(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    return rows @ rows.T  # numpy calls BLAS's syrk here: symmetric to the last bit


def factor_of(rows: Matrix, centre: Vector, name: str) -> Matrix:
    """Return the lower triangular L with L L' = sum of y y' / n of columns-first rows.

    Parameters
    ----------
    rows : ndarray of shape (p, n)
        The table minus `centre`, columns-first.
    centre : ndarray of shape (p,)
        The centre; columns far from zero carry more rounding.
    name : str
        The scatter that needs the factor, for the message.

    Raises
    ------
    InputError
        When a column is a linear combination of those before it, up to rounding.

    Examples
    --------
    >>> factor_of(np.array([[2.0, -2.0], [1.0, 1.0]]), np.zeros(2), "cov4")
    array([[2., 0.],
           [0., 1.]])
    """
    squares = sum_of_squares(rows) / rows.shape[1]
    scale: Vector = np.sqrt(np.diagonal(squares))
    if scale.min() > 0.0:
        triangle: Matrix
        triangle, failed = dpotrf(squares / (scale[:, None] * scale), lower=1, clean=1)
        if not failed and np.diagonal(triangle).min() > _WEAK_PIVOT:
            return triangle * scale[:, None]
        triangle = _triangle_by_qr(rows / scale[:, None])
        pivots = np.diagonal(triangle)
        size = float(np.max((np.abs(centre) + np.abs(rows).max(axis=1)) / scale))
        if pivots.min() > 4.0 * scale.size * np.finfo(float).eps * size:
            return triangle * scale[:, None]
        scale = pivots
    raise InputError(
        f"{name} needs columns that do not depend on each other: column {int(np.argmin(scale))} is "
        "a linear combination of the columns before it. Drop it."
    )


def _triangle_by_qr(rows: Matrix) -> Matrix:
    """Return the lower triangular factor of the mean of squares without forming it."""
    upper: Matrix = np.asarray(np.linalg.qr(rows.T, mode="r"))
    return upper.T * np.sign(np.diagonal(upper)) / math.sqrt(rows.shape[1])


def whitened(rows: Matrix, factor: Matrix) -> Matrix:
    """Return L^-1 y for the rows y of a columns-first (p, n) array.

    Examples
    --------
    >>> whitened(np.array([[2.0, 4.0], [1.0, 5.0]]), np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([[1., 2.],
           [1., 5.]])
    """
    solved: Matrix = dtrsm(1.0, factor, rows.T, side=1, lower=1, trans_a=1)
    return solved.T


def sandwich(factor: Matrix, inner: Matrix) -> Matrix:
    """Return the symmetric L A L'.

    Examples
    --------
    >>> sandwich(np.array([[1.0, 0.0], [1.0, 1.0]]), np.eye(2))
    array([[1., 1.],
           [1., 2.]])
    """
    return symmetrize(factor @ inner @ factor.T)
