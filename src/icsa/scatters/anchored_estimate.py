"""The anchored scatter: the MCD of some columns says which rows count, for all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.correlations import varies
from icsa.errors import ConvergenceError, ExactFitError, InputError, NoAnchorError
from icsa.linalg import squared_distances, symmetrize
from icsa.matrices import Matrix, Vector, as_matrix, row_blocks
from icsa.scatters.base import LocationScatter
from icsa.scatters.mcd_estimate import (
    REWEIGHTING_QUANTILE,
    MinimumCovarianceDeterminant,
    mcd,
    require_alpha,
)
from icsa.scatters.mcd_factors import chi2_quantile
from icsa.threads import in_threads, threads_for

__all__ = ["AnchoredScatter", "anchor_weights", "anchored", "weighted_scatter"]

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
    location, scatter = _moments(matrix, weights)
    scatter, n_borrowed = _with_borrowed_variance(matrix, location, scatter)
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
    require_alpha(alpha)
    reason = "one value in most rows"
    used = list(range(anchors.shape[1]))
    n_rows = anchors.shape[0]
    rows = anchors
    if n_rows > _ENOUGH_ROWS:
        rows = anchors[np.random.default_rng(n_rows).choice(n_rows, _ENOUGH_ROWS, replace=False)]
    while used:
        try:
            found = mcd(rows[:, used], alpha=alpha, random_state=random_state)
        except ExactFitError as error:
            used.remove(used[max(error.columns, key=lambda j: _tied_share(rows[:, used[j]]))])
        except (InputError, ConvergenceError) as error:
            reason = str(error)
            used.remove(max(used, key=lambda j: _tied_share(rows[:, j])))
        else:
            weights = found.weights if rows is anchors else _judged(anchors, used, found)
            return weights, tuple(used)
    raise NoAnchorError(
        f"No anchor is left for the MCD of {anchors.shape[1]} column(s): {reason.rstrip('.')}. "
        "Give continuous columns with enough rows as anchors, or use spectral anonymization (the "
        "method sa, scatters identity and cov)."
    )


def _judged(
    anchors: Matrix, used: list[int], found: MinimumCovarianceDeterminant
) -> npt.NDArray[np.bool_]:
    """Return which of all rows lie as near as the rows that an MCD of some of them keeps."""
    limit = chi2_quantile(REWEIGHTING_QUANTILE, len(used))
    weights = np.empty(anchors.shape[0], dtype=bool)

    def judge(rows: slice) -> None:
        block = anchors[rows][:, used]
        weights[rows] = squared_distances(block, found.raw_location, found.raw_scatter) < limit

    in_threads(judge, list(row_blocks(anchors.shape[0])), threads_for(anchors.size, None))
    return weights


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


def _moments(x: Matrix, weights: npt.NDArray[np.bool_]) -> tuple[Vector, Matrix]:
    """Return mean and covariance of the rows that count, by blocks of rows."""
    count = int(weights.sum())
    blocks = list(row_blocks(x.shape[0]))
    threads = threads_for(x.size, None)

    def total(rows: slice) -> Vector:
        return np.asarray(weights[rows].astype(np.float64) @ x[rows])

    mean = sum(in_threads(total, blocks, threads), start=np.zeros(x.shape[1])) / count

    def cross(rows: slice) -> Matrix:
        centred = x[rows] - mean
        centred *= weights[rows, None]
        return np.asarray(centred.T @ centred)

    start = np.zeros((x.shape[1], x.shape[1]))
    return mean, sum(in_threads(cross, blocks, threads), start=start) / (count - 1)


def _with_borrowed_variance(x: Matrix, location: Vector, scatter: Matrix) -> tuple[Matrix, int]:
    """Return the scatter with the variance among all rows where those that count do not vary.

    A rare level may be held only by people who stand out: its column would have variance 0.
    """
    scale = np.sqrt(np.diagonal(scatter))
    # One value in all rows that count leaves rounding errors of it.
    if np.all(scale > _ROUNDING * np.abs(location)):
        correlation = scatter / np.outer(scale, scale)
        if np.linalg.eigvalsh(symmetrize(correlation))[0] > _FLAT:
            return scatter, 0
    everyone = _moments(x, np.ones(x.shape[0], dtype=bool))[1]
    scale = np.sqrt(np.diagonal(everyone))
    if not np.all(varies(x)):
        raise InputError("The anchored scatter needs columns that vary. Drop constant ones.")
    units = np.outer(scale, scale)
    values, vectors = np.linalg.eigh(symmetrize(scatter / units))
    flat = values < _FLAT * values[-1]
    if not flat.any():
        return scatter, 0
    null = vectors[:, flat]
    lent = null @ (null.T @ (everyone / units) @ null) @ null.T
    return symmetrize(scatter + units * lent), int(flat.sum())
