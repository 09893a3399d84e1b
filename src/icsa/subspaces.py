"""The space that the rows of a table span: without constant columns and exactly dependent ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks

__all__ = ["Subspace", "spanned_subspace"]

# Standardised columns whose pivot falls below this share of the largest depend on others: rounding
# leaves 1e-16 times mean over standard deviation, a relation that holds only to the printed digits
# leaves far more.
_DEPENDENT = 1e-11
# Above this eigenvalue of the correlation matrix no pivot can be that small.
_CLEARLY_INDEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class Subspace:
    """An affine subspace: rows are origin + spread u, and u = project (row - origin).

    Attributes
    ----------
    origin : ndarray of shape (n_columns,)
    project : ndarray of shape (n_dimensions, n_columns)
    spread : ndarray of shape (n_columns, n_dimensions)
    columns : tuple of int
        The columns whose values determine the rest.
    constant_columns : tuple of int
    """

    origin: Vector
    project: Matrix
    spread: Matrix
    columns: tuple[int, ...]
    constant_columns: tuple[int, ...]

    def reduce(self, x: Matrix, origin: Vector) -> Matrix:
        """Return the coordinates of every row, counted from `origin`, a point of the subspace."""
        return np.ascontiguousarray((x - origin) @ self.project.T)


def spanned_subspace(x: Matrix, *, find_dependent: bool, orthonormal: bool) -> Subspace | None:
    """Return the subspace that the rows span, or None where that is the whole space.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
    find_dependent : bool
        Whether to look for columns that others determine, or for constant ones only.
    orthonormal : bool
        Whether the subspace gets an orthonormal basis, which keeps lengths, or else its independent
        columns as coordinates.

    Examples
    --------
    >>> x = np.array([[1, 2, 3, 7], [2, 0, 2, 7], [0, 5, 5, 7], [1, 1, 2, 7]], dtype=float)
    >>> space = spanned_subspace(x, find_dependent=True, orthonormal=False)
    >>> len(space.columns), space.constant_columns
    (2, (3,))
    """
    n_columns = x.shape[1]
    lowest, highest = x.min(axis=0), x.max(axis=0)
    varying = np.flatnonzero(highest > lowest)
    if varying.size == 0:
        raise InputError(
            "No column varies: there is nothing to mask. Give a table with columns that vary."
        )
    constant = tuple(int(j) for j in np.flatnonzero(highest == lowest))
    origin = np.where(highest == lowest, lowest, 0.0)
    columns, weights = varying, np.eye(varying.size)
    if find_dependent and x.shape[0] > varying.size:  # with few rows all columns seem dependent
        columns, weights, means = _independent(x, varying)
        if columns.size < varying.size:
            origin[varying] = means
    if columns.size == n_columns:
        return None
    spread = np.zeros((n_columns, columns.size))
    spread[varying] = weights
    project = np.zeros((columns.size, n_columns))
    project[np.arange(columns.size), columns] = 1.0
    if orthonormal and columns.size < varying.size:
        spread = np.linalg.qr(spread)[0]
        project = spread.T
    return Subspace(origin, project, spread, tuple(int(j) for j in columns), constant)


def _independent(x: Matrix, varying: np.ndarray) -> tuple[np.ndarray, Matrix, Vector]:
    """Return the independent columns, the weights that make all of them, and the means."""
    means, deviations, correlation = _correlation(x, varying)
    everything = (varying, np.eye(varying.size), means)
    if np.linalg.eigvalsh(correlation)[0] > _CLEARLY_INDEPENDENT:
        return everything
    standard = (x[:, varying] - means) / deviations
    triangle, pivots = qr(standard, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.sum(sizes > _DEPENDENT * sizes[0]))
    if rank == varying.size:
        return everything
    leading = np.sort(pivots[:rank])
    place = np.argsort(pivots[:rank])
    weights = np.zeros((varying.size, rank))
    weights[leading, np.arange(rank)] = 1.0
    solved = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])[place]
    dependent = pivots[rank:]
    weights[dependent] = solved.T * deviations[dependent, None] / deviations[leading]
    return varying[leading], weights, means


def _correlation(x: Matrix, columns: np.ndarray) -> tuple[Vector, Vector, Matrix]:
    """Return means, standard deviations and correlations, by blocks of rows."""
    means = x[:, columns].mean(axis=0) if columns.size < x.shape[1] else x.mean(axis=0)
    cross = np.zeros((columns.size, columns.size))
    scale = np.abs(x).max(axis=0)[columns]
    for rows in row_blocks(x.shape[0]):
        centred = (x[rows][:, columns] - means) / scale
        cross += centred.T @ centred
    deviations = np.sqrt(np.diagonal(cross))
    correlation = cross / np.outer(deviations, deviations)
    return means, deviations * scale / np.sqrt(x.shape[0]), correlation
