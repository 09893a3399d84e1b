"""The space that the rows of a table span: without constant columns and exactly dependent ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, solve_triangular

from icsa.correlations import moments_and_correlations, varies
from icsa.errors import InputError
from icsa.limits import LONG
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.row_sums import mean_and_covariance

__all__ = [
    "MORE_ROWS",
    "Relations",
    "Subspace",
    "independent_columns",
    "spanned_subspace",
    "subspace_of",
]

Places = npt.NDArray[np.intp]
# Rows that break relations and join the sample in which they are looked for.
MORE_ROWS = 1_000

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
        if x.shape[0] <= LONG:
            return np.ascontiguousarray((x - origin) @ self.project.T)
        found = np.empty((x.shape[0], self.project.shape[0]))
        for leaf in row_blocks(x.shape[0]):
            found[leaf] = (x[leaf] - origin) @ self.project.T
        return found

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
        columns, weights, means = (_independent_in_long if x.shape[0] > LONG else _independent)(
            x, varying
        )
        if columns.size < varying.size:
            origin[varying] = means
    return _subspace(n_columns, varying, columns, weights, origin, constant, orthonormal)


def _subspace(
    n_columns: int,
    varying: Places,
    columns: Places,
    weights: Matrix,
    origin: Vector,
    constant: tuple[int, ...],
    orthonormal: bool,
) -> Subspace | None:
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
    standard: Matrix, leading: Places, dependent: Places, solved: Matrix
) -> bool:
    """Return whether the relations hold in each row, by the row's own size and the columns' MADs.

    One row far away makes all columns look proportional to it; the other rows tell.
    """
    relations = Relations.among(standard, leading, dependent, solved)
    return not relations.broken_in(standard).any()


class Relations(NamedTuple):
    """Columns that others give, in standardised columns, and how large their cells usually are."""

    leading: Places
    dependent: Places
    solved: Matrix
    usual: Vector

    @classmethod
    def among(
        cls, standard: Matrix, leading: Places, dependent: Places, solved: Matrix
    ) -> Relations:
        """Return the relations with the usual sizes that some rows have."""
        wanted, middle = standard[:, dependent], standard.shape[0] // 2
        away = np.abs(wanted - np.median(wanted, axis=0))
        return cls(leading, dependent, solved, np.partition(away, middle, axis=0)[middle])

    def broken_in(self, standard: Matrix) -> npt.NDArray[np.bool_]:
        """Return the rows in which one of them does not hold."""
        rows, wanted = standard[:, self.leading], standard[:, self.dependent]
        gaps = np.abs(rows @ self.solved - wanted)
        size = np.abs(rows) @ np.abs(self.solved) + np.abs(wanted)
        return np.asarray((gaps > 1e-9 * self.usual + 1e-13 * size).any(axis=1))


def _independent_in_long(x: Matrix, varying: Places) -> tuple[Places, Matrix, Vector]:
    """Return what `_independent` does of a table that may be too long for a factor of all rows."""
    table = x if varying.size == x.shape[1] else x[:, varying]
    means, covariance = mean_and_covariance(table)
    deviations = np.sqrt(np.diagonal(covariance))

    def broken(relations: Relations) -> Places:
        found = [
            np.flatnonzero(relations.broken_in((table[leaf] - means) / deviations)) + leaf.start
            for leaf in row_blocks(table.shape[0])
        ]
        return np.concatenate(found)[:MORE_ROWS]

    columns, weights = independent_columns(
        means, covariance, lambda rows: table[rows], broken, table.shape[0]
    )
    return varying[columns], weights, means


def independent_columns(
    means: Vector,
    covariance: Matrix,
    gathered: Callable[[Places], Matrix],
    broken: Callable[[Relations], Places],
    n_rows: int,
) -> tuple[Places, Matrix]:
    """Return the independent columns of a long table, and the weights that make all of them.

    Relations are found in a sample of rows and held against all; rows that break them join the
    sample, until what it says holds everywhere.

    Parameters
    ----------
    means, covariance : ndarray
        Of all rows.
    gathered : function
        Gives rows by their numbers.
    broken : function
        Gives the first rows of all, at most `MORE_ROWS`, in which relations of columns that are
        standardised by these means and variances do not hold.
    n_rows : int
    """
    deviations = np.sqrt(np.diagonal(covariance))
    p = means.size
    correlation = covariance / np.outer(deviations, deviations)
    everything = (np.arange(p), np.eye(p))
    if np.linalg.eigvalsh(correlation)[0] > _CLEARLY_INDEPENDENT:
        return everything
    rows = np.sort(np.random.default_rng(n_rows).choice(n_rows, LONG, replace=False))
    standard = (gathered(rows) - means) / deviations
    for _ in range(p + 1):  # each time one relation less is found
        triangle, pivots = qr(standard, mode="r", pivoting=True, check_finite=False)
        sizes = np.abs(np.diagonal(triangle))
        rank = int(np.sum(sizes > _DEPENDENT * sizes[0]))
        if rank == p:
            break
        leading, place, dependent = np.sort(pivots[:rank]), np.argsort(pivots[:rank]), pivots[rank:]
        solved = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])[place]
        more = broken(Relations.among(standard, leading, dependent, solved))
        if not more.size:
            weights = np.zeros((p, rank))
            weights[leading, np.arange(rank)] = 1.0
            weights[dependent] = solved.T * deviations[dependent, None] / deviations[leading]
            return leading, weights
        standard = np.vstack([standard, (gathered(more) - means) / deviations])
    return everything


def subspace_of(
    means: Vector, columns: Places, weights: Matrix, *, orthonormal: bool
) -> Subspace | None:
    """Return the subspace that `independent_columns` found, of columns that all vary."""
    p = means.size
    return _subspace(p, np.arange(p), columns, weights, means.copy(), (), orthonormal)
