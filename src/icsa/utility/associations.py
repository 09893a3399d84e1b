"""How strongly the columns of one table go together, all pairs at once.

Numbers and numbers by Pearson's and Spearman's correlation, categories by Cramer's V, and a
category and a number by the correlation ratio. The last two are corrected for what they would be by
chance alone, so that tables of different sizes can be compared. Cells that are missing in either
column of a pair are left out of that pair; Spearman's ranks are those among all cells of a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from icsa.comparison.column_pairs import Codes
from icsa.correlations import CANCELLED, centred_columns, midranks, pairwise_correlations
from icsa.matrices import Matrix, Vector

__all__ = [
    "Associations",
    "associations",
    "correlation_ratios",
    "cramers_v",
]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Associations:
    """Matrices of associations, NaN where a pair has none.

    Attributes
    ----------
    pearson, spearman : ndarray of shape (n_numeric, n_numeric)
    cramers_v : ndarray of shape (n_categories, n_categories)
    correlation_ratio : ndarray of shape (n_categories, n_numeric)
    """

    pearson: Matrix
    spearman: Matrix
    cramers_v: Matrix
    correlation_ratio: Matrix


def associations(numbers: Matrix, codes: Codes, n_levels: tuple[int, ...]) -> Associations:
    """Return the associations of all pairs of columns of a table.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numeric)
        NaN where missing.
    codes : ndarray of int64, shape (n_rows, n_categories)
        -1 where missing.
    n_levels : tuple of int
        Of each column of `codes`.

    Examples
    --------
    >>> numbers = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 9.0]])
    >>> found = associations(numbers, np.empty((3, 0), np.int64), ())
    >>> round(float(found.pearson[0, 1]), 3), float(found.spearman[0, 1])
    (0.971, 1.0)
    """
    return Associations(
        pairwise_correlations(numbers),
        pairwise_correlations(midranks(numbers)),
        _all_cramers_v(codes, n_levels),
        correlation_ratios(numbers, codes, n_levels),
    )


def cramers_v(table: Matrix) -> float:
    """Return Cramer's V of a table of counts, corrected for bias (Bergsma 2013); NaN if undefined.

    With phi^2 = chi^2 / n, r rows and c columns that are not empty:
    V^2 = max(0, phi^2 - (r-1)(c-1)/(n-1)) / min(r' - 1, c' - 1), r' = r - (r-1)^2/(n-1), c' alike.

    References
    ----------
    W. Bergsma (2013). A bias-correction for Cramer's V and Tschuprow's T. Journal of the Korean
    Statistical Society 42, 323-328.

    Examples
    --------
    >>> cramers_v(np.array([[5.0, 5.0], [5.0, 5.0]]))
    0.0
    >>> round(cramers_v(np.array([[10.0, 0.0], [0.0, 10.0]])), 12)
    1.0
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    rows, columns, table = rows[rows > 0], columns[columns > 0], table[rows > 0][:, columns > 0]
    n, r, c = float(rows.sum()), rows.size, columns.size
    if n < 2 or r < 2 or c < 2:
        return float("nan")
    phi2 = float((table**2 / np.outer(rows, columns)).sum()) - 1.0
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    fewest = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1.0
    if fewest <= 0.0:
        return float("nan")
    return float(min(1.0, np.sqrt(corrected / fewest)))


def correlation_ratios(numbers: Matrix, codes: Codes, n_levels: tuple[int, ...]) -> Matrix:
    """Return the correlation ratio of every category and number, shape (n_categories, n_numeric).

    The root of the share of a number's variance that lies between levels, corrected for chance
    (Kelley 1935): with eta^2 that share, n cells and L levels that are there,
    max(0, 1 - (1 - eta^2)(n - 1)/(n - L)).

    References
    ----------
    T. L. Kelley (1935). An unbiased correlation ratio measure. PNAS 21, 554-559.

    Examples
    --------
    Means 1.5 and 5.5; between levels 16 of 17 parts: 1 - 3/2 (1/17) = .912, the root is .955:

    >>> numbers = np.array([[1.0], [2.0], [5.0], [6.0]])
    >>> correlation_ratios(numbers, np.array([[0], [0], [1], [1]]), (2,)).round(3)
    array([[0.955]])
    """
    centred = centred_columns(numbers)
    cells = np.hstack([centred, centred**2, ~np.isnan(numbers)])
    k = numbers.shape[1]
    ratios = np.full((codes.shape[1], k), np.nan)
    for j, levels in enumerate(n_levels):
        known = np.flatnonzero(codes[:, j] >= 0)
        shape = (levels, numbers.shape[0])
        one_hot = sparse.csr_array((np.ones(known.size), (codes[known, j], known)), shape=shape)
        totals = one_hot @ cells
        ratios[j], lost = _ratios(totals[:, :k], totals[:, k : 2 * k], totals[:, 2 * k :])
        if lost.any() and known.size < numbers.shape[0]:
            # Where the category is known the numbers hardly vary: centred among these rows alone.
            among = np.ix_(known, np.flatnonzero(lost))
            ratios[j, lost] = correlation_ratios(numbers[among], codes[known, j : j + 1], (levels,))
    return ratios


def _ratios(sums: Matrix, squares: Matrix, counts: Matrix) -> tuple[Vector, npt.NDArray[np.bool_]]:
    """Return the corrected ratios from sums, sums of squares and counts, shape (n_levels, k).

    And which of them rounding has spoilt: too little is left of the squares.
    """
    n, total = counts.sum(axis=0), sums.sum(axis=0)
    levels = np.count_nonzero(counts, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = squares.sum(axis=0) - total**2 / n
        within = spread - (
            np.where(counts > 0, sums**2 / np.maximum(counts, 1.0), 0.0).sum(axis=0) - total**2 / n
        )
        lost = ~(spread > CANCELLED * squares.sum(axis=0))
        defined = (levels >= 2) & (n > levels) & ~lost
        squared = 1.0 - np.clip(within / spread, 0.0, 1.0) * (n - 1) / (n - levels)
        return np.where(defined, np.sqrt(np.maximum(squared, 0.0)), np.nan), lost


def _all_cramers_v(codes: Codes, n_levels: tuple[int, ...]) -> Matrix:
    k = len(n_levels)
    columns = [np.ascontiguousarray(codes[:, j]) for j in range(k)]
    present = [column >= 0 for column in columns]
    complete = [bool(known.all()) for known in present]
    values = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(i):
            places = columns[i] * n_levels[j] + columns[j]
            if not (complete[i] and complete[j]):
                places = places[present[i] & present[j]]
            counts = np.bincount(places, minlength=n_levels[i] * n_levels[j])
            table = counts.reshape(n_levels[i], n_levels[j]).astype(np.float64)
            values[i, j] = values[j, i] = cramers_v(table)
        values[i, i] = 1.0
    return values
