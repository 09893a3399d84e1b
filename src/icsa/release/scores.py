"""Scores made ready for the coordinates: no gaps, a common unit or the columns' own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icsa.correlations import deviations, varies
from icsa.matrices import Matrix, Vector
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.threads import in_threads

__all__ = ["back_to_raw_units", "fill_missing_scores", "standardize"]


def fill_missing_scores(scores: Matrix) -> None:
    """Replace NaN in place by a draw given the row's other scores, from linear regressions.

    First by the column's mean; then every column with gaps is regressed on all others, over the
    rows in which it is not missing, and predicted in those where it is, with one of the residuals
    added; three times in all, since the others have gaps too. Conditional means alone would leave
    the filled scores with less spread than the others: margins and standard errors would come out
    too small. The draws are the same each time: they are no secret, since they stand for cells
    that nobody has.

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
    for _ in range(LIMITS.imputation_rounds):
        for j, missing in open_gaps.items():
            _predict(scores, j, missing)


def _predict(scores: Matrix, column: int, missing: np.ndarray) -> None:
    """Fill one column's gaps by the regression on all others."""
    known = np.flatnonzero(~missing)
    if known.size > LIMITS.sample_rows:
        known = np.random.default_rng(column).choice(known, LIMITS.sample_rows, replace=False)
    table = scores[known]
    spread, reach = deviations(table), LIMITS.imputation_reach
    # A level that nobody has here must explain nothing, and its rounded mean leaves something.
    centre = np.where(spread > 0.0, table.mean(axis=0), table[0])
    spread[spread == 0.0] = 1.0
    standard = np.clip((table - centre) / spread, -reach, reach)
    others = np.arange(scores.shape[1]) != column
    gram = standard[:, others].T @ standard[:, others] / known.size
    gram[np.diag_indices_from(gram)] += LIMITS.imputation_ridge
    slopes = np.linalg.solve(gram, standard[:, others].T @ standard[:, column] / known.size)
    rows = np.flatnonzero(missing)
    given = np.clip((scores[rows][:, others] - centre[others]) / spread[others], -reach, reach)
    residuals = standard[:, column] - standard[:, others] @ slopes
    drawn = np.random.default_rng([1, column]).choice(residuals, rows.size)
    scores[rows, column] = centre[column] + spread[column] * (given @ slopes + drawn)


def standardize(scores: Matrix, threads: int) -> tuple[Vector, Vector]:
    """Give every column mean 0 and standard deviation 1 in place; return what they were."""
    centre, spread = np.empty(scores.shape[1]), np.ones(scores.shape[1])

    def work(j: int) -> None:
        column = scores[:, j]
        if not varies(column):
            centre[j] = column[0]
            column[:] = 0.0
            return
        centre[j] = column.mean()
        column -= centre[j]
        spread[j] = np.sqrt(column @ column / column.size)
        column /= spread[j]

    in_threads(work, range(scores.shape[1]), threads)
    return centre, spread


def back_to_raw_units(
    scores: Matrix, encoding: Encoding, numbers: Mapping[str, Vector], spread: Vector
) -> Vector:
    """Give scores the spread of the columns' own units in place; return what they are now."""
    raw = np.ones_like(spread)
    for part in encoding.parts:
        found = part.column.measured(numbers[part.column.name])
        if found is not None:
            place, measured = part.place.start + found[0], found[1]
            raw[place] = spread[place] / (float(np.nanstd(measured)) if varies(measured) else 1.0)
    scores *= spread / raw
    return raw
