"""The space that the rows of a table span: without constant columns and exactly dependent ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from icsa.correlations import moments_and_correlations, varies
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector

__all__ = ["Subspace", "spanned_subspace"]

# Standardised columns whose pivot falls below this share of the largest depend on others: rounding
# leaves 1e-16 times mean over standard deviation, a relation that holds only to the printed digits
# leaves far more.
_DEPENDENT = 1e-11
# A later row belongs to the subspace when it lies as near as this, by the size of its column.
_HELD = 1e-9
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

    def outside(self, x: Matrix) -> tuple[int, ...]:
        """Return the columns in which some row does not lie in the subspace."""
        held = self.origin + self.reduce(x, self.origin) @ self.spread.T
        scale = np.abs(self.origin) + np.abs(x).max(axis=0, initial=0.0)
        # An orthonormal basis mixes the columns, and with them the rounding of the largest.
        allowed = _HELD * scale + 1e-13 * scale.max()
        off = np.abs(x - held).max(axis=0, initial=0.0) > allowed
        return tuple(int(j) for j in np.flatnonzero(off))


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
    constant_here = ~varies(x)
    varying = np.flatnonzero(~constant_here)
    if varying.size == 0:
        raise InputError(
            "No column varies: there is nothing to mask. Give a table with columns that vary."
        )
    constant = tuple(int(j) for j in np.flatnonzero(constant_here))
    origin = np.where(constant_here, x.min(axis=0), 0.0)
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
    means, deviations, correlation = moments_and_correlations(x, varying)
    everything = (varying, np.eye(varying.size), means)
    if np.linalg.eigvalsh(correlation)[0] > _CLEARLY_INDEPENDENT:
        return everything
    standard = (x[:, varying] - means) / deviations
    triangle, pivots = qr(standard, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.sum(sizes > _DEPENDENT * sizes[0]))
    if rank == varying.size:
        return everything
    leading, place, dependent = np.sort(pivots[:rank]), np.argsort(pivots[:rank]), pivots[rank:]
    solved = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])[place]
    if not _holds_in_every_row(standard, leading, dependent, solved):
        return everything
    weights = np.zeros((varying.size, rank))
    weights[leading, np.arange(rank)] = 1.0
    weights[dependent] = solved.T * deviations[dependent, None] / deviations[leading]
    return varying[leading], weights, means


def _holds_in_every_row(
    standard: Matrix, leading: np.ndarray, dependent: np.ndarray, solved: Matrix
) -> bool:
    """Return whether the relations hold in each row, by the row's own size and the columns' MADs.

    One row far away makes all columns look proportional to it; the other rows tell.
    """
    rows, wanted = standard[:, leading], standard[:, dependent]
    gaps = np.abs(rows @ solved - wanted)
    middle = standard.shape[0] // 2
    usual = np.partition(np.abs(wanted - np.median(wanted, axis=0)), middle, axis=0)[middle]
    allowed = 1e-9 * usual + 1e-13 * (np.abs(rows) @ np.abs(solved) + np.abs(wanted))
    return bool(np.all(gaps <= allowed))
