"""Gaps in the scores of a large table, filled leaf by leaf as in memory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icsa.limits import LONG
from icsa.matrices import row_blocks
from icsa.release.blocks.scratch import Scratch
from icsa.release.limits import LIMITS
from icsa.release.scores import Prediction, first_guess, fitted_prediction, known_rows

__all__ = ["fill_in_blocks"]


def fill_in_blocks(scratch: Scratch, n_scores: int, gaps: Mapping[int, bool]) -> None:
    """Fill the gaps of raw scores where they are, as `fill_missing_scores` does.

    Parameters
    ----------
    scratch : Scratch
    n_scores : int
    gaps : mapping of int to bool
        Scores with gaps, and whether they have nothing else.
    """
    for place in gaps:
        column = scratch.loaded("raw", place)
        missing = scratch.column("gaps", place, np.bool_)
        column[missing] = first_guess(column, missing)
        scratch.write("raw", place, column)
    open_gaps = [place for place in sorted(gaps) if not gaps[place]]
    for _ in range(LIMITS.imputation_rounds):
        for place in open_gaps:
            missing = scratch.column("gaps", place, np.bool_)
            sample = scratch.gathered("raw", range(n_scores), known_rows(place, missing))
            _fill(scratch, n_scores, fitted_prediction(sample, place), missing)


def _fill(scratch: Scratch, n_scores: int, found: Prediction, missing: np.ndarray) -> None:
    drawn = found.draws(int(np.count_nonzero(missing)))
    first = 0
    for leaf in row_blocks(scratch.n_rows, LONG):
        gone = missing[leaf]
        last = first + int(np.count_nonzero(gone))
        if last > first:
            scores = scratch.rows("raw", range(n_scores), leaf)
            found.fill(scores, gone, drawn[first:last])
            filled = scores[:, [found.column]]
            scratch.write_rows("raw", [found.column], leaf, filled)
        first = last
