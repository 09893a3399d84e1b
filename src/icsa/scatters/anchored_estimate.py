"""The anchored scatter: the MCD of some columns says which rows count, for all columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.correlations import varies
from icsa.errors import ConvergenceError, ExactFitError, InputError, NoAnchorError
from icsa.linalg import squared_distances, symmetrize
from icsa.matrices import Matrix, Vector, as_matrix, row_blocks
from icsa.row_sums import mean_and_covariance
from icsa.scatters.base import LocationScatter
from icsa.scatters.mcd_estimate import (
    REWEIGHTING_QUANTILE,
    mcd,
    require_alpha,
)
from icsa.scatters.mcd_factors import chi2_quantile
from icsa.threads import in_threads, threads_for

__all__ = [
    "AnchorJudge",
    "AnchoredScatter",
    "anchor_weights",
    "anchored",
    "fitted_judge",
    "judging_rows",
    "weighted_scatter",
    "with_borrowed_variance",
]

# Directions whose share of their variance among all rows is below this do not vary among the rows
# that count.
_FLAT = 1e-8
_ROUNDING = 1e-7
# The MCD is fitted to so many rows, drawn once and for all; then every row is judged by it. More
# rows move its bounds by less than 1%.
_ENOUGH_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class AnchoredScatter(LocationScatter):
    """An anchored scatter with what it was made from.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,), bool
        The rows that count.
    anchors : tuple of int
        The anchors used, as positions among those given; ones that would make the MCD singular are
        left away.
    n_borrowed : int
        Number of directions that vary only among rows that do not count; their variance is that
        among all rows.
    """

    weights: npt.NDArray[np.bool_] = None  # type: ignore[assignment]
    anchors: tuple[int, ...] = ()
    n_borrowed: int = 0


def anchored(
    x: object, *, anchors: object, alpha: float = 0.5, random_state: object = None
) -> AnchoredScatter:
    """Return mean and covariance of all columns over the rows that the MCD of some columns keeps.

    Binary and otherwise tied columns put half the rows on a hyperplane, where the MCD is singular.
    The continuous columns, the anchors, tell as well which rows stand out.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table.
    anchors : sequence of int, or array-like of shape (n_rows, n_anchors)
        Positions of columns of `x`, or other columns about the same rows. Where more than half the
        rows lie on one hyperplane of them, a column of it is left away.
    alpha : float
        The MCD's support fraction, from .5 to 1.
    random_state : int, bytes, Generator or None
        Seed of the MCD's starts; None is a fixed one.

    Returns
    -------
    AnchoredScatter

    Raises
    ------
    InputError
        When no anchor is left.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = np.column_stack([generator.normal(size=(60, 2)), generator.random(60) < 0.1])
    >>> x[:6, :2] += 50.0
    >>> estimate = anchored(x, anchors=[0, 1])
    >>> bool(np.all(np.abs(estimate.location[:2]) < 0.5)), int(estimate.weights[:6].sum())
    (True, 0)
    """
    matrix = as_matrix(x, minimum_rows=2)
    weights, used = anchor_weights(_anchor_matrix(matrix, anchors), alpha, random_state)
    return weighted_scatter(matrix, weights, used)


def weighted_scatter(
    matrix: Matrix, weights: npt.NDArray[np.bool_], used: tuple[int, ...]
) -> AnchoredScatter:
    """Return mean and covariance over the rows that count, from what `anchor_weights` gave.

    For tables so long that the anchors are better gone before the table is made.

    Examples
    --------
    >>> x = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0], [90.0, 1.0]])
    >>> weighted_scatter(x, np.array([True, True, True, False]), (0,)).location.round(4)
    array([1.    , 1.3333])
    """
    location, scatter = mean_and_covariance(matrix, weights)

    def everyone() -> Matrix:
        if not np.all(varies(matrix)):
            raise InputError("The anchored scatter needs columns that vary. Drop constant ones.")
        return mean_and_covariance(matrix)[1]

    scatter, n_borrowed = with_borrowed_variance(location, scatter, everyone)
    return AnchoredScatter(
        location=location, scatter=scatter, weights=weights, anchors=used, n_borrowed=n_borrowed
    )


def anchor_weights(
    anchors: Matrix, alpha: float, random_state: object = None
) -> tuple[npt.NDArray[np.bool_], tuple[int, ...]]:
    """Return which rows the reweighted MCD of the anchors keeps, and the anchors it could use.

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(60, 3))
    >>> x[:45, 2] = 0.0  # one value in most rows
    >>> weights, used = anchor_weights(x, 0.5)
    >>> used
    (0, 1)
    """
    n_rows = anchors.shape[0]
    judge = fitted_judge(anchors[judging_rows(n_rows)], alpha, random_state)
    if n_rows <= _ENOUGH_ROWS:
        return judge.weights, judge.used
    weights = np.empty(n_rows, dtype=bool)

    def work(rows: slice) -> None:
        weights[rows] = judge.keeps(anchors[rows])

    in_threads(work, list(row_blocks(n_rows)), threads_for(anchors.size, None))
    return weights, judge.used


@dataclass(frozen=True, eq=False)
class AnchorJudge:
    """An MCD of some rows' anchors, which says of any row whether it counts.

    Attributes
    ----------
    used : tuple of int
        The anchors that it could use.
    location, scatter : ndarray
        Raw ones, of these anchors.
    weights : ndarray of bool
        Which of the rows that it was fitted to count.
    """

    used: tuple[int, ...]
    location: Vector
    scatter: Matrix
    weights: npt.NDArray[np.bool_]

    def keeps(self, anchors: Matrix) -> npt.NDArray[np.bool_]:
        """Return which rows lie as near as those that the MCD keeps."""
        limit = chi2_quantile(REWEIGHTING_QUANTILE, len(self.used))
        block = anchors[:, list(self.used)]
        kept: npt.NDArray[np.bool_] = squared_distances(block, self.location, self.scatter) < limit
        return kept


def judging_rows(n_rows: int) -> npt.NDArray[np.int64] | slice:
    """Return which rows an MCD of anchors is fitted to: all, or a fixed sample of a long table."""
    if n_rows <= _ENOUGH_ROWS:
        return slice(None)
    return np.random.default_rng(n_rows).choice(n_rows, _ENOUGH_ROWS, replace=False)


def fitted_judge(rows: Matrix, alpha: float, random_state: object = None) -> AnchorJudge:
    """Return the MCD of the anchors of `judging_rows`, without those that make it singular."""
    require_alpha(alpha)
    reason = "one value in most rows"
    used = list(range(rows.shape[1]))
    while used:
        try:
            found = mcd(rows[:, used], alpha=alpha, random_state=random_state)
        except ExactFitError as error:
            used.remove(used[max(error.columns, key=lambda j: _tied_share(rows[:, used[j]]))])
        except (InputError, ConvergenceError) as error:
            reason = str(error)
            used.remove(max(used, key=lambda j: _tied_share(rows[:, j])))
        else:
            return AnchorJudge(tuple(used), found.raw_location, found.raw_scatter, found.weights)
    raise NoAnchorError(
        f"No anchor is left for the MCD of {rows.shape[1]} column(s): {reason.rstrip('.')}. "
        "Give continuous columns with enough rows as anchors, or use spectral anonymization (the "
        "method sa, scatters identity and cov)."
    )


def _anchor_matrix(x: Matrix, anchors: object) -> Matrix:
    if isinstance(anchors, np.ndarray) and anchors.ndim == 1:
        anchors = anchors.tolist()
    if isinstance(anchors, Sequence) and all(isinstance(j, int | np.integer) for j in anchors):
        if not all(0 <= j < x.shape[1] for j in anchors):
            raise InputError(f"Anchors are positions of columns, from 0 to {x.shape[1] - 1}.")
        return x[:, list(anchors)]
    matrix = as_matrix(anchors)
    if matrix.shape[0] != x.shape[0]:
        raise InputError(
            f"Anchors need the table's rows: got {matrix.shape[0]} rows for {x.shape[0]}."
        )
    return matrix


def _tied_share(column: Vector) -> float:
    """Return the share of the rows at the column's commonest value."""
    return float(np.unique(column, return_counts=True)[1].max() / column.size)


def with_borrowed_variance(
    location: Vector, scatter: Matrix, everyone: Callable[[], Matrix]
) -> tuple[Matrix, int]:
    """Return the scatter with the variance among all rows where those that count do not vary.

    A rare level may be held only by people who stand out: its column would have variance 0.

    Parameters
    ----------
    location, scatter : ndarray
        Of the rows that count.
    everyone : function
        Gives the covariance of all rows; called where it is needed.

    Returns
    -------
    scatter : ndarray
    n_borrowed : int
        Directions whose variance is that of everybody.
    """
    scale = np.sqrt(np.diagonal(scatter))
    # One value in all rows that count leaves rounding errors of it.
    if np.all(scale > _ROUNDING * np.abs(location)):
        correlation = scatter / np.outer(scale, scale)
        if np.linalg.eigvalsh(symmetrize(correlation))[0] > _FLAT:
            return scatter, 0
    among_all = everyone()
    scale = np.sqrt(np.diagonal(among_all))
    units = np.outer(scale, scale)
    values, vectors = np.linalg.eigh(symmetrize(scatter / units))
    flat = values < _FLAT * values[-1]
    if not flat.any():
        return scatter, 0
    null = vectors[:, flat]
    lent = null @ (null.T @ (among_all / units) @ null) @ null.T
    return symmetrize(scatter + units * lent), int(flat.sum())
