"""The columns of units as standardised scores, by which levels of their rows are explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from icsa.columns import Column
from icsa.matrices import Matrix, Vector
from icsa.release.encoding import Encoding, encoding_of
from icsa.release.scores import fill_missing_scores, standardize

__all__ = ["UnitScores", "unit_scores"]


@dataclass(frozen=True, eq=False, repr=False)
class UnitScores:
    """How columns of units become scores.

    Attributes
    ----------
    encoding : Encoding
    centre, spread : ndarray of shape (n_scores,)
        Of the original's.
    """

    encoding: Encoding
    centre: Vector
    spread: Vector

    @property
    def width(self) -> int:
        """Number of scores."""
        return self.encoding.n_scores

    def of(self, numbers: Mapping[str, Vector], n_units: int) -> Matrix:
        """Return the scores of so many units, original or released; no gaps."""
        if not self.width:
            return np.zeros((n_units, 0))
        scores = self.encoding.room(n_units)
        self.encoding.encode(numbers, scores)
        fill_missing_scores(scores)
        return np.ascontiguousarray((scores - self.centre) / self.spread)


def unit_scores(columns: Mapping[str, Column], numbers: Mapping[str, Vector]) -> UnitScores:
    """Return how columns of units become scores with mean 0 and standard deviation 1."""
    encoding = encoding_of(columns, numbers)
    if not encoding.n_scores:
        return UnitScores(encoding, np.empty(0), np.empty(0))
    scores = encoding.room(next(iter(numbers.values())).size)
    encoding.encode(numbers, scores)
    fill_missing_scores(scores)
    centre, spread = standardize(scores, 1)
    return UnitScores(encoding, centre, spread)
