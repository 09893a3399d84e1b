"""Which columns vary, how much, and how they go together: the same answers on every processor.

Each processor's kernels add sums in an order of their own, and the last digits differ. A difference
of two sums that should be 0 is then some rounding error, and a test of it against 0, or against any
fixed limit, comes out one way here and the other way there. So whether a column varies is told by
its lowest and its highest cell, which no sum has touched, and where a difference of sums has lost
its digits the pair is computed again from its own rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.matrices import Matrix, Vector, row_blocks

__all__ = [
    "CANCELLED",
    "IQR_TO_DEVIATION",
    "MAD_TO_DEVIATION",
    "area_under_curve",
    "centred_columns",
    "deviations",
    "exceeds_rounding",
    "mad_scale",
    "median_mad",
    "midranks",
    "moments_and_correlations",
    "pairwise_correlations",
    "tail_scale",
    "varies",
]

# Cells that differ by no more than this share of the largest are one number that was computed in
# two ways: four units in the last place.
_SAME = 4.0 * np.finfo(np.float64).eps
# A difference of sums with no more than this share of them left has lost four of its sixteen
# digits, besides those that the sums of many rows had lost: it is computed again from its rows.
CANCELLED = 1e-4
# The normal quantile of 3/4. What makes the median distance of normal cells from their median, and
# the distance of their quartiles, the standard deviation.
_QUARTILE = 0.6744897501960817
MAD_TO_DEVIATION, IQR_TO_DEVIATION = 1.0 / _QUARTILE, 0.5 / _QUARTILE
# Tails, and how far apart their quantiles are in a standard normal.
_TAILS = ((0.25, 2.0 * _QUARTILE), (0.1, 2.5631031310892007), (0.02, 4.107497821183106))


def exceeds_rounding(spread: Vector | float, size: Vector | float) -> npt.NDArray[np.bool_]:
    """Return whether a distance between cells is more than the rounding of cells of this size.

    For distances that no sum has touched: ranges, and medians of distances.

    Examples
    --------
    >>> bool(exceeds_rounding(0.1 + 0.2 - 0.3, 0.3)), bool(exceeds_rounding(1e-12, 0.3))
    (False, True)
    """
    return np.asarray(spread > _SAME * np.abs(size))


def varies(x: Matrix | Vector) -> npt.NDArray[np.bool_]:
    """Return which columns vary by more than the rounding of their cells; NaN does not count.

    Examples
    --------
    >>> varies(np.array([[0.3, 1e9], [0.1 + 0.2, 1e9 + 1], [np.nan, 1e9]]))
    array([False,  True])
    """
    lowest, highest = _ends(x)
    with np.errstate(over="ignore"):
        return exceeds_rounding(highest - lowest, np.maximum(np.abs(lowest), np.abs(highest)))


def deviations(x: Matrix | Vector) -> Vector:
    """Return the standard deviation of every column (divisor n), exactly 0 where it does not vary.

    The mean of a hundred times .1 is not .1, so that plain deviations from it are not 0.

    Examples
    --------
    >>> deviations(np.column_stack([np.full(100, 0.1), np.arange(100) % 2]))
    array([0. , 0.5])
    """
    return np.where(varies(x), np.std(x, axis=0), 0.0)


def median_mad(x: Matrix) -> tuple[Vector, Vector]:
    """Return the median of each column and its median absolute deviation, without a factor.

    Examples
    --------
    >>> median_mad(np.array([[1.0], [2.0], [3.0], [4.0], [90.0]]))
    (array([3.]), array([1.]))
    """
    columns = np.ascontiguousarray(x.T)
    median = np.median(columns, axis=1)
    return median, np.median(np.abs(columns - median[:, None]), axis=1)


def mad_scale(cells: Vector, centre: float) -> float:
    """Return the median distance from the centre as a standard deviation; 0 if it is rounding.

    Examples
    --------
    >>> round(mad_scale(np.array([1.0, 2.0, 3.0, 4.0, 90.0]), 3.0), 4)
    1.4826
    """
    mad = float(np.median(np.abs(cells - centre)))
    return mad / _QUARTILE if exceeds_rounding(mad, centre) else 0.0


def tail_scale(cells: Vector, centre: float, n_tails: int = len(_TAILS)) -> float:
    """Return the distance of two quantiles as a standard deviation, where cells are mostly tied.

    Those of 25% and 75%, or of 10% and 90%, or of 2% and 98%: the first that differ, as far as
    `n_tails` allows; 0 where none do.

    Examples
    --------
    Of 0, 0, 0, 0 and 10 the 90% quantile is 6:

    >>> round(tail_scale(np.array([0.0, 0.0, 0.0, 0.0, 10.0]), 0.0), 4)
    2.3409
    """
    for tail, normal in _TAILS[:n_tails]:
        low, high = np.quantile(cells, [tail, 1.0 - tail])
        if exceeds_rounding(high - low, centre):
            return float(high - low) / normal
    return 0.0


def pairwise_correlations(x: Matrix) -> Matrix:
    """Return Pearson's correlation of all pairs, over the rows where neither cell is missing.

    NaN where there are no such rows, or one of the two columns does not vary among them; a column
    that does not vary has none with itself either.

    Examples
    --------
    Without the last row, y = 2x:

    >>> pairwise_correlations(np.array([[1.0, 2.0], [2.0, 4.0], [9.0, np.nan]]))[0, 1].round(12)
    np.float64(1.0)
    """
    present = ~np.isnan(x)
    varying, centred = varies(x), centred_columns(x)
    defined = np.logical_and.outer(varying, varying)
    products = centred.T @ centred
    if present.all():
        squares = np.where(varying, np.diagonal(products), 1.0)
        # The root of a square is exact, so that equal columns have exactly 1.
        found = products / np.sqrt(np.outer(squares, squares))
        return np.where(defined, np.clip(found, -1.0, 1.0), np.nan)
    mask = present.astype(np.float64)
    # sums[j, k] is the sum of column j over the rows where column k is there
    count, sums, squares = mask.T @ mask, centred.T @ mask, np.square(centred).T @ mask
    shared = np.maximum(count, 1.0)
    covariances, variances = products - sums * sums.T / shared, squares - sums**2 / shared
    kept = variances > CANCELLED * squares
    kept &= kept.T
    found = np.full_like(covariances, np.nan)
    np.divide(covariances, np.sqrt(np.abs(variances * variances.T)), out=found, where=kept)
    for j, k in np.argwhere(np.triu(defined & (count > 0.0) & ~kept)):
        both = present[:, j] & present[:, k]
        found[j, k] = found[k, j] = _correlation(x[both, j], x[both, k])
    return np.clip(found, -1.0, 1.0)


def midranks(numbers: Matrix) -> Matrix:
    """Return the ranks of every column, the mean rank for ties, NaN where missing.

    Examples
    --------
    >>> midranks(np.array([[5.0], [1.0], [5.0], [np.nan]])).T
    array([[2.5, 1. , 2.5, nan]])
    """
    n, k = numbers.shape
    ranks = np.empty((n, k), order="F")
    for j in range(k):
        column = numbers[:, j]
        order = np.argsort(column)  # NaN comes last
        ordered = column[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        lengths = np.diff(starts, append=n)
        ranks[order, j] = np.repeat(starts + (lengths + 1) / 2, lengths)
        ranks[np.isnan(column), j] = np.nan
    return ranks


def area_under_curve(above: Vector, below: Vector) -> float:
    """Return the probability that a number of the first kind is above one of the second.

    Ties count one half. There must be numbers of both kinds.

    Examples
    --------
    >>> area_under_curve(np.array([3.0, 2.0]), np.array([1.0, 2.0]))
    0.875
    """
    n, m = above.size, below.size
    total = float(midranks(np.concatenate([above, below])[:, None])[:n].sum())
    return (total - n * (n + 1) / 2) / (n * m)


def moments_and_correlations(x: Matrix, columns: np.ndarray) -> tuple[Vector, Vector, Matrix]:
    """Return means, standard deviations and correlations of some columns, by blocks of rows.

    The columns vary and nothing is missing; what `pairwise_correlations` does is not needed.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> means, spread, correlation = moments_and_correlations(x, np.array([0, 1]))
    >>> means, float(correlation[0, 1].round(12))
    (array([2., 4.]), 1.0)
    """
    means = x[:, columns].mean(axis=0) if columns.size < x.shape[1] else x.mean(axis=0)
    cross = np.zeros((columns.size, columns.size))
    scale = np.maximum(x.max(axis=0), -x.min(axis=0))[columns]
    for rows in row_blocks(x.shape[0]):
        centred = (x[rows][:, columns] - means) / scale
        cross += centred.T @ centred
    deviations = np.sqrt(np.diagonal(cross))
    correlation = cross / np.outer(deviations, deviations)
    return means, deviations * scale / np.sqrt(x.shape[0]), correlation


def centred_columns(x: Matrix) -> Matrix:
    """Return columns with mean 0, in half their ranges; 0 where they do not vary or are missing.

    Counted from the middle first, so that columns far from 0 lose no digits; in half ranges, so
    that squares stay within the range of floats.

    Examples
    --------
    >>> centred_columns(np.array([[1.0, 0.1], [2.0, 0.1], [3.0, 0.1], [np.nan, 0.1]])).T
    array([[-1.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  0.]])
    """
    varying, missing = varies(x), np.isnan(x)
    lowest, highest = np.where(varying, _ends(x), [[-1.0], [1.0]])
    centred: Matrix = np.subtract(x, 0.5 * lowest + 0.5 * highest, order="F")
    centred /= 0.5 * highest - 0.5 * lowest
    centred[missing] = 0.0
    centred[:, ~varying] = 0.0
    centred -= centred.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    centred[missing] = 0.0
    return centred


def _correlation(x: Vector, y: Vector) -> float:
    if not (varies(x) and varies(y)):
        return np.nan
    return float(pairwise_correlations(np.column_stack([x, y]))[0, 1])


def _ends(x: Matrix | Vector) -> tuple[Vector, Vector]:
    """Return the lowest and the highest cell of every column; inf and -inf where there is none."""
    return (
        np.asarray(np.fmin.reduce(x, axis=0, initial=np.inf)),
        np.asarray(np.fmax.reduce(x, axis=0, initial=-np.inf)),
    )
