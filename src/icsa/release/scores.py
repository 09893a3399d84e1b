"""Scores made ready for the coordinates: no gaps, a common unit or the columns' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.columns import Column
from icsa.correlations import deviations, varies
from icsa.limits import LONG
from icsa.linalg import inner_product
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.threads import in_threads

__all__ = [
    "Prediction",
    "back_to_raw_units",
    "fill_missing_scores",
    "first_guess",
    "fitted_prediction",
    "known_rows",
    "raw_unit",
    "standardize",
    "standardize_column",
]

Flags = npt.NDArray[np.bool_]


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
        scores[missing, j] = first_guess(scores[:, j], missing)
    open_gaps = {j: missing for j, missing in gaps.items() if not missing.all()}
    leaves = list(row_blocks(scores.shape[0], LONG))
    for _ in range(LIMITS.imputation_rounds):
        for j, missing in open_gaps.items():
            found = fitted_prediction(scores[known_rows(j, missing)], j)
            drawn = found.draws(int(np.count_nonzero(missing)))
            first = 0
            for leaf in leaves:
                gone = missing[leaf]
                last = first + int(np.count_nonzero(gone))
                found.fill(scores[leaf], gone, drawn[first:last])
                first = last


def first_guess(column: Vector, missing: Flags) -> float:
    """Return what a column's gaps are filled with before anything is predicted: its mean, or 0."""
    return 0.0 if missing.all() else float(column[~missing].mean())


def known_rows(column: int, missing: Flags) -> npt.NDArray[np.int64]:
    """Return the rows that a column's regression is fitted to: those known, or a sample of them."""
    known = np.flatnonzero(~missing)
    if known.size > LIMITS.sample_rows:
        known = np.random.default_rng(column).choice(known, LIMITS.sample_rows, replace=False)
    return known


@dataclass(frozen=True, eq=False)
class Prediction:
    """A column's regression on all others, by which its gaps are filled row by row."""

    column: int
    centre: Vector
    spread: Vector
    slopes: Vector
    residuals: Vector

    def draws(self, count: int) -> Vector:
        """Return a residual for each gap of the column, always the same ones."""
        return np.random.default_rng([1, self.column]).choice(self.residuals, count)

    def fill(self, scores: Matrix, missing: Flags, drawn: Vector) -> None:
        """Fill the gaps of some rows in place."""
        j, reach = self.column, LIMITS.imputation_reach
        rows, others = np.flatnonzero(missing), np.arange(scores.shape[1]) != j
        given = (scores[rows][:, others] - self.centre[others]) / self.spread[others]
        predicted = np.clip(given, -reach, reach) @ self.slopes
        scores[rows, j] = self.centre[j] + self.spread[j] * (predicted + drawn)


def fitted_prediction(table: Matrix, column: int) -> Prediction:
    """Return the regression of a column on all others, in rows in which it is known."""
    spread, reach = deviations(table), LIMITS.imputation_reach
    # A level that nobody has here must explain nothing, and its rounded mean leaves something.
    centre = np.where(spread > 0.0, table.mean(axis=0), table[0])
    spread[spread == 0.0] = 1.0
    standard = np.clip((table - centre) / spread, -reach, reach)
    others = np.arange(table.shape[1]) != column
    gram = standard[:, others].T @ standard[:, others] / table.shape[0]
    gram[np.diag_indices_from(gram)] += LIMITS.imputation_ridge
    slopes = np.linalg.solve(gram, standard[:, others].T @ standard[:, column] / table.shape[0])
    residuals = standard[:, column] - standard[:, others] @ slopes
    return Prediction(column, centre, spread, slopes, residuals)


def standardize(scores: Matrix, threads: int) -> tuple[Vector, Vector]:
    """Give every column mean 0 and standard deviation 1 in place; return what they were."""
    centre, spread = np.empty(scores.shape[1]), np.empty(scores.shape[1])

    def work(j: int) -> None:
        centre[j], spread[j] = standardize_column(scores[:, j])

    in_threads(work, range(scores.shape[1]), threads)
    return centre, spread


def standardize_column(column: Vector) -> tuple[float, float]:
    """Give a column mean 0 and standard deviation 1 in place; return what they were."""
    if not varies(column):
        centre = float(column[0])
        column[:] = 0.0
        return centre, 1.0
    centre = float(column.mean())
    column -= centre
    spread = float(np.sqrt(inner_product(column, column) / column.size))
    column /= spread
    return centre, spread


def back_to_raw_units(
    scores: Matrix, encoding: Encoding, numbers: Mapping[str, Vector], spread: Vector
) -> Vector:
    """Give scores the spread of the columns' own units in place; return what they are now."""
    raw = np.ones_like(spread)
    for part in encoding.parts:
        found = raw_unit(part.column, numbers[part.column.name])
        if found is not None:
            place = part.place.start + found[0]
            raw[place] = spread[place] / found[1]
    scores *= spread / raw
    return raw


def raw_unit(column: Column, numbers: Vector) -> tuple[int, float] | None:
    """Return which score of a column measures something, and its numbers' standard deviation."""
    found = column.measured(numbers)
    if found is None:
        return None
    return found[0], float(np.nanstd(found[1])) if varies(found[1]) else 1.0
