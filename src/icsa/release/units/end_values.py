"""What units begin and end with: first and last values by the columns of units.

What comes right before an event shows in the last rows of the people who had it. Levels and slopes
follow columns of units over all rows, so that a fall just before the end is spread over a person's
time, and whoever dies early falls too little. So calibration compares how first and last values
follow the columns of units, and gives what is lacking back to rows near the one or the other end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from icsa.inspection.unit_rows import Places
from icsa.matrices import Matrix, Vector

__all__ = ["Ends"]

_RIDGE: Final = 0.02


@dataclass(frozen=True)
class Ends:
    """How first and last rows are compared.

    Attributes
    ----------
    gap : float
        The usual one between two rows, on the scale of slopes: after as much time, e^-1 of what is
        added at an end is left.
    """

    gap: float

    def on_x(self, view: Matrix, starts: Places, x: Matrix, weights: Vector) -> Matrix:
        """Return how first and last values follow 1 and x, shape (2, 1 + n_columns, n_scores).

        Parameters
        ----------
        view : ndarray of shape (n_rows, n_scores)
            NaN where cells are missing: such units do not count.
        starts : array of int of shape (n_units + 1,)
        x : ndarray of shape (n_units, n_columns)
        weights : ndarray of shape (n_units,)
        """
        known = np.column_stack([np.ones(x.shape[0]), x])
        found = np.zeros((2, known.shape[1], view.shape[1]))
        for end, rows in enumerate((starts[:-1], starts[1:] - 1)):
            values = view[rows]
            there = ~np.isnan(values)
            for j in range(view.shape[1]):
                weighted = known * (weights * there[:, j])[:, None]
                gram = weighted.T @ known
                gram[np.diag_indices_from(gram)] += _RIDGE * max(gram[0, 0], 1e-300)
                found[end, :, j] = np.linalg.solve(gram, weighted.T @ np.nan_to_num(values[:, j]))
        return found

    def nearness(self, times: Vector, starts: Places) -> Matrix:
        """Return how near each row is to its unit's first and to its last, shape (2, n_rows)."""
        sizes = np.diff(starts)
        since = times - np.repeat(times[starts[:-1]], sizes)
        until = np.repeat(times[starts[1:] - 1], sizes) - times
        return np.exp(-np.stack([since, until]) / self.gap)
