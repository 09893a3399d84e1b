"""Factors, roots and ranks of symmetric matrices, at any scale of the columns.

A table may hold columns in units from 1e-8 to 1e8. Every routine here first divides rows and
columns by the square roots of the diagonal (equilibration), so that only correlation, not the
choice of units, can make a matrix look singular.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.linalg.lapack import dsyevr, dsyevr_lwork, dtrtrs

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector

__all__ = [
    "affine_distance",
    "cholesky_factor",
    "inner_product",
    "inverse_root",
    "log_determinant",
    "solve_lower",
    "spectrum",
    "squared_distances",
    "symmetrize",
    "unit_determinant",
]


def symmetrize(a: Matrix) -> Matrix:
    """Return (A + A')/2.

    Examples
    --------
    >>> symmetrize(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return 0.5 * (a + a.T)


def inner_product(a: Vector, b: Vector) -> float:
    """Return the sum of products of two vectors, the same digits wherever they lie in memory.

    Dot products for processors of before 2008 begin where 16 bytes do: a column of a matrix with an
    odd number of rows would be added up in another order than its copy.

    Examples
    --------
    >>> inner_product(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(_where_sixteen_bytes_begin(a) @ _where_sixteen_bytes_begin(b))


def _where_sixteen_bytes_begin(a: Vector) -> Vector:
    address, _ = a.__array_interface__["data"]
    return a if a.flags.c_contiguous and address % 16 == 0 else a.copy()


def cholesky_factor(a: Matrix) -> Matrix:
    """Return the lower triangular L with L L' = A, computed on the equilibrated matrix.

    Raises
    ------
    InputError
        When `a` is not numerically positive definite.

    Examples
    --------
    >>> cholesky_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    scale = np.sqrt(np.diagonal(a))
    if not (np.all(np.isfinite(scale)) and np.all(scale > 0)):
        raise InputError("The scatter matrix is not positive definite: a variance is not positive.")
    try:
        factor: Matrix = np.linalg.cholesky(symmetrize(a) / np.outer(scale, scale))
    except np.linalg.LinAlgError:
        raise InputError(
            "The scatter matrix is not positive definite: some columns depend on others exactly. "
            "Drop one of them."
        ) from None
    return factor * scale[:, None]


def solve_lower(factor: Matrix, b: Matrix, *, transposed: bool = False) -> Matrix:
    """Return the X with L X = B, or with L' X = B, for a lower triangular L without zero pivots.

    Scatters of a few columns are solved for by the thousand, and scipy's own solver spends most of
    its time there on looking at what it is given. Cells must be finite.

    Examples
    --------
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[2.0], [5.0]]))
    array([[1.],
           [2.]])
    """
    if factor.flags.f_contiguous:
        return dtrtrs(factor, b, lower=1, trans=int(transposed))[0]  # type: ignore[no-any-return]
    return dtrtrs(factor.T, b, lower=0, trans=int(not transposed))[0]  # type: ignore[no-any-return]


def spectrum(a: Matrix) -> tuple[Vector, Matrix]:
    """Return the eigenvalues of a symmetric matrix, ascending, and its eigenvectors in columns.

    Examples
    --------
    >>> spectrum(np.diag([3.0, 1.0]))[0]
    array([1., 3.])
    """
    if not np.isfinite(a).all():
        raise InputError("The scatter matrix has cells that are not finite (NaN or inf).")
    work, integers = _room_for_spectrum(a.shape[0])
    values, vectors, _, _, failed = dsyevr(a, lower=1, lwork=work, liwork=integers)
    if failed:
        raise InputError("The eigenvalues of the scatter matrix could not be found.")
    return values, vectors


@cache
def _room_for_spectrum(p: int) -> tuple[int, int]:
    work, integers, _ = dsyevr_lwork(p, lower=1)
    return int(work), int(integers)


def log_determinant(a: Matrix) -> float:
    """Return log det A of a positive definite matrix.

    Examples
    --------
    >>> round(log_determinant(np.diag([1e-8, 1e8])), 12)
    0.0
    """
    return 2.0 * float(np.sum(np.log(np.diagonal(cholesky_factor(a)))))


def unit_determinant(a: Matrix) -> Matrix:
    """Return A / det(A)^(1/p), the shape of a scatter.

    Examples
    --------
    >>> unit_determinant(np.diag([1.0, 4.0]))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    return a * math.exp(-log_determinant(a) / a.shape[0])


def squared_distances(x: Matrix, location: Vector, scatter: Matrix) -> Vector:
    """Return the squared Mahalanobis distance of every row.

    Examples
    --------
    >>> squared_distances(np.array([[2.0, 0.0], [0.0, 1.0]]), np.zeros(2), np.diag([4.0, 1.0]))
    array([1., 1.])
    """
    whitened = solve_lower(cholesky_factor(scatter), (x - location).T)
    return np.asarray(np.einsum("ji,ji->i", whitened, whitened))


def inverse_root(a: Matrix) -> Matrix:
    """Return the symmetric B with B A B = I.

    Examples
    --------
    >>> inverse_root(np.diag([4.0, 1.0]))
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    values, vectors = spectrum(symmetrize(a))
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def affine_distance(a: Matrix, b: Matrix) -> float:
    """Return max |log eigenvalue(A^-1 B)|, which no affine change of the data alters.

    Examples
    --------
    >>> round(affine_distance(np.eye(2), 1.01 * np.eye(2)), 6)
    0.00995
    """
    factor = cholesky_factor(a)
    values, _ = spectrum(symmetrize(solve_lower(factor, solve_lower(factor, b).T)))
    return float(np.max(np.abs(np.log(values)))) if np.all(values > 0) else math.inf
