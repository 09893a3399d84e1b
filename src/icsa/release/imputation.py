"""Missing scores filled by draws given the other scores.

Conditional means alone would leave the filled scores with less spread than the others, and the
masked ones with them: margins and standard errors come out too small.
"""

from __future__ import annotations

import numpy as np

from icsa.correlations import deviations
from icsa.matrices import Matrix

__all__ = ["fill_missing_scores"]

# Rows that a regression is fitted to at most.
_ENOUGH_ROWS = 20_000
# Scores farther out than so many standard deviations count as so far: none decides alone.
_LIMIT = 4.0
# A part of every variance added to it keeps the regressions on many columns stable.
_RIDGE = 1e-3
_ROUNDS = 3


def fill_missing_scores(scores: Matrix) -> None:
    """Replace NaN in place by a draw given the row's other scores, from linear regressions.

    First by the column's mean; then every column with gaps is regressed on all others, over the
    rows in which it is not missing, and predicted in those where it is, with one of the residuals
    added; three times in all, since the others have gaps too. The draws are the same each time:
    they are no secret, since they stand for cells that nobody has.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Changed in place. A column without any value becomes 0.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, np.nan]])
    >>> fill_missing_scores(scores)
    >>> scores[3].round(1)
    array([4., 8.])
    """
    gaps = {j: missing for j in range(scores.shape[1]) if (missing := np.isnan(scores[:, j])).any()}
    for j, missing in gaps.items():
        scores[missing, j] = 0.0 if missing.all() else scores[~missing, j].mean()
    open_gaps = {j: missing for j, missing in gaps.items() if not missing.all()}
    for _ in range(_ROUNDS):
        for j, missing in open_gaps.items():
            _predict(scores, j, missing)


def _predict(scores: Matrix, column: int, missing: np.ndarray) -> None:
    """Fill one column's gaps by the regression on all others."""
    known = np.flatnonzero(~missing)
    if known.size > _ENOUGH_ROWS:
        known = np.random.default_rng(column).choice(known, _ENOUGH_ROWS, replace=False)
    table = scores[known]
    spread = deviations(table)
    # A level that nobody has here must explain nothing, and its rounded mean leaves something.
    centre = np.where(spread > 0.0, table.mean(axis=0), table[0])
    spread[spread == 0.0] = 1.0
    standard = np.clip((table - centre) / spread, -_LIMIT, _LIMIT)
    others = np.arange(scores.shape[1]) != column
    gram = standard[:, others].T @ standard[:, others] / known.size
    gram[np.diag_indices_from(gram)] += _RIDGE
    slopes = np.linalg.solve(gram, standard[:, others].T @ standard[:, column] / known.size)
    rows = np.flatnonzero(missing)
    given = np.clip((scores[rows][:, others] - centre[others]) / spread[others], -_LIMIT, _LIMIT)
    residuals = standard[:, column] - standard[:, others] @ slopes
    drawn = np.random.default_rng([1, column]).choice(residuals, rows.size)
    scores[rows, column] = centre[column] + spread[column] * (given @ slopes + drawn)
