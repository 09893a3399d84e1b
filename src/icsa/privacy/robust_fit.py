"""The robust centre and scatter that the assessment measures with, also where columns are tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.comparison.features import FeatureTable
from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.limits import MANY_EQUAL
from icsa.matrices import LEAF_ROWS, Matrix, Vector, row_blocks
from icsa.scatters import mcd

__all__ = ["RobustFit", "robust_distances", "robust_distances_in", "robust_fit"]

# More rows than this do not make a yardstick of distances visibly better.
_ROWS_FOR_FIT = 50_000
_ALPHA = 0.75
# Fixed, and no secret: it chooses the rows of the fit.
_SEED = 20_001


@dataclass(frozen=True, eq=False, repr=False)
class RobustFit:
    """A robust scatter of the standardised numeric columns, by the MCD of those that are not tied.

    Attributes
    ----------
    anchors : tuple of int
        Numeric columns that the MCD was computed on.
    location, scatter : ndarray
        Of the anchors: the reweighted MCD.
    whole_scatter : ndarray of shape (n_numbers, n_numbers)
        Covariance of all numeric columns over the rows that the MCD kept, with its factor.
    note : str
        What was left out and why; empty where nothing was.
    """

    anchors: tuple[int, ...]
    location: Vector
    scatter: Matrix
    whole_scatter: Matrix
    note: str = ""

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<RobustFit: {len(self.anchors)} of {self.whole_scatter.shape[0]} columns>"


def robust_fit(
    standard: Matrix, tied_shares: Vector, names: tuple[str, ...] | None = None
) -> RobustFit:
    """Return the robust fit of standardised columns, leaving tied ones out as far as needed.

    Parameters
    ----------
    standard : ndarray of shape (n_numbers, n_rows)
        Columns first, in robust units; NaN is missing and counts as the median, 0.
    tied_shares : ndarray of shape (n_numbers,)
        Share of the rows at each column's commonest value; 1 for a constant column.
    names : tuple of str, optional
        For the note.

    Examples
    --------
    >>> standard = np.random.default_rng(1).normal(size=(3, 200))
    >>> fit = robust_fit(standard, np.array([0.0, 0.0, 0.9]), ("age", "bmi", "smokes"))
    >>> fit.anchors, fit.note
    ((0, 1), 'robust distances leave out smokes: one value, or none, in 40% of the rows or more')
    """
    p, n = standard.shape
    rows = np.sort(np.random.default_rng(_SEED).permutation(n)[:_ROWS_FOR_FIT])
    sample = np.nan_to_num(standard[:, rows], nan=0.0).T
    usable = [j for j in range(p) if tied_shares[j] < MANY_EQUAL]
    notes = _left_out(
        [j for j in range(p) if MANY_EQUAL <= tied_shares[j] < 1.0],
        names,
        f"one value, or none, in {MANY_EQUAL:.0%} of the rows or more",
    )
    while usable:
        try:
            found = mcd(sample[:, usable], alpha=_ALPHA)
        except ExactFitError as error:
            worst = max(error.columns, key=lambda j: (tied_shares[usable[j]], j))
            notes += _left_out([usable.pop(worst)], names, "it depends on others exactly")
        except (InputError, ConvergenceError):
            break
        else:
            factor = found.consistency * found.correction
            whole = factor * np.atleast_2d(np.cov(sample[found.weights], rowvar=False))
            anchors = tuple(usable)
            return RobustFit(anchors, found.location, found.scatter, whole, "; ".join(notes))
    why = (
        "no column is free of ties"
        if not usable
        else f"a robust scatter of {len(usable)} columns cannot be had from {n} rows"
    )
    notes.append(f"no robust distances: {why}, so isolation alone tells who stands out")
    return RobustFit((), np.empty(0), np.empty((0, 0)), np.eye(p), "; ".join(notes))


def robust_distances(standard: Matrix, fit: RobustFit) -> Vector:
    """Return each row's robust distance over the fit's anchors; zeros where there are none.

    Examples
    --------
    >>> fit = RobustFit((0,), np.array([1.0]), np.array([[4.0]]), np.eye(1))
    >>> robust_distances(np.array([[1.0, 5.0, -1.0]]), fit)
    array([0., 2., 1.])
    """
    distances = np.zeros(standard.shape[1])
    for rows in row_blocks(standard.shape[1]):
        distances[rows] = _distances(standard[list(fit.anchors), rows], fit)
    return distances


def robust_distances_in(points: FeatureTable, rows: slice, fit: RobustFit) -> Vector:
    """Return the robust distances of a part of the rows, in robust units."""
    distances = [
        _distances(points.block(slice(start, min(start + LEAF_ROWS, rows.stop)))[anchors], fit)
        for anchors in [list(fit.anchors)]
        for start in range(rows.start, rows.stop, LEAF_ROWS)
    ]
    return np.concatenate(distances)


def _distances(columns: Matrix, fit: RobustFit) -> Vector:
    """Return the robust distances of the anchors' columns."""
    if not fit.anchors:
        return np.zeros(columns.shape[1])
    whitener = np.linalg.inv(np.linalg.cholesky(fit.scatter))
    whitened = whitener @ (np.nan_to_num(columns, nan=0.0) - fit.location[:, None])
    return np.asarray(np.sqrt(np.einsum("ji,ji->i", whitened, whitened)))


def _left_out(columns: list[int], names: tuple[str, ...] | None, why: str) -> list[str]:
    if not columns:
        return []
    listed = ", ".join(names[j] if names else str(j) for j in columns)
    return [f"robust distances leave out {listed}: {why}"]
