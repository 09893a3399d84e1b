"""Rows in the original's order: whose row it is, is then known by its place.

Noise hides what a cell was, not whose it is, if the third released row is the third person's. Row
by row the two tables are laid side by side, then shifted against each other by some rows: in
shuffled tables no shift is special, and in tables that are both sorted all small ones are nearly
the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from icsa.comparison.features import Features
from icsa.correlations import midranks
from icsa.matrices import Vector
from icsa.privacy.reasons import Reason

__all__ = ["of_row_order", "order_excess"]

# By so many rows the tables are shifted at most; the first of so many rows are looked at.
_MOST_SHIFT, _MOST_ROWS = 60, 20_000
_FEWEST_ROWS = 40
# Standard errors beyond what other shifts give: no fresh table of some thousands reached it.
_CLEAR = 6.0


def of_row_order(features: Features) -> tuple[Reason, ...]:
    """Return whether rows stand in the original's order, more clearly than chance explains."""
    excess = order_excess(features)
    if excess is None or excess < _CLEAR:
        return ()
    text = (
        "Released rows stand in the order of the original: the row in each place resembles the "
        "person in the same place more than the people before and after "
        f"({excess:.0f} standard errors). Who knows the order knows whose row it is"
    )
    return (Reason("look again", "row order", text),)


def order_excess(features: Features) -> float | None:
    """Return how much more alike rows in the same places are, in units of what chance gives.

    None where the tables have other numbers of rows, so that places say nothing, or few.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(200, 4))
    >>> noisy = x + rng.normal(size=x.shape)
    >>> order_excess(as_features(x, noisy)) > 6, order_excess(as_features(x, noisy[::-1])) > 6
    (True, False)
    """
    n = features.original.n_rows
    if n != features.released.n_rows or n < _FEWEST_ROWS:
        return None
    rows = slice(0, min(n, _MOST_ROWS))
    shift = min(_MOST_SHIFT, (rows.stop - 1) // 4)
    alike = np.zeros(2 * shift + 1)
    for numbers in zip(features.original.numbers, features.released.numbers, strict=True):
        here, there = (_centred_ranks(column[rows]) for column in numbers)
        alike += _over_shifts(lambda a, b: float(np.vdot(a, b)), here, there, shift)
    for codes in zip(features.original.codes, features.released.codes, strict=True):
        here, there = (column[rows] for column in codes)
        alike += _over_shifts(lambda a, b: float(np.count_nonzero(a == b)), here, there, shift)
    beside = np.convolve(alike, [0.25, 0.25, 0.0, 0.25, 0.25], mode="valid")
    more = alike[2:-2] - beside
    middle = more.size // 2
    others = np.delete(more, range(middle - 2, middle + 3))
    spread = float(np.sqrt(np.mean(others**2)))
    return float(more[middle]) / spread if spread > 0.0 else None


def _centred_ranks(cells: Vector) -> Vector:
    """Return ranks with variance one around 0, which missing cells have."""
    known = ~np.isnan(cells)
    ranks = np.zeros(cells.size)
    if known.any():
        share = midranks(cells[known][:, None])[:, 0] / np.count_nonzero(known)
        ranks[known] = np.sqrt(12.0) * (share - share.mean())
    return ranks


def _over_shifts(
    alike: Callable[[np.ndarray, np.ndarray], float],
    here: np.ndarray,
    there: np.ndarray,
    shift: int,
) -> Vector:
    """Return how alike two columns are at each shift; the same rows of `here` count at all."""
    core = here[shift : here.size - shift]
    starts = range(2 * shift + 1)
    return np.array([alike(core, there[s : s + core.size]) for s in starts], dtype=np.float64)
