"""The search for the h rows whose covariance has the least determinant.

Populations of random starts descend to where neither a C-step nor a chain of swaps helps, until
they agree (see `mcd_populations`). In long tables the starts come from random parts of the rows; in
very long ones only a part is searched, and its best ends settle in ever more rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_ends import SHORT, Ends
from icsa.scatters.mcd_factors import subset_size
from icsa.scatters.mcd_kernels import Rows
from icsa.scatters.mcd_long import PartStarts, settled_from_part
from icsa.scatters.mcd_populations import Populations
from icsa.scatters.mcd_settling import SWAPS_UP_TO
from icsa.scatters.mcd_starts import RandomStarts

__all__ = ["Found", "least_determinant_rows"]

# With fewer rows a column than this, a part of the rows would say nothing about them.
_ROWS_A_COLUMN = 5


@dataclass(frozen=True)
class Found:
    """The rows that a search found, the starts it took, and how many populations agreed."""

    rows: Rows
    starts: int = 0
    agreeing: int = 0


def least_determinant_rows(xt: Matrix, alpha: float, seed: int, n_starts: int | None) -> Found:
    """Return the best h columns of `xt` (p, n) that the search finds, ascending."""
    p, n = xt.shape
    h = subset_size(n, p, alpha)
    if h == n:
        return Found(np.arange(n))
    if p == 1:
        return Found(_shortest_window(xt[0], h))
    if n > max(SWAPS_UP_TO, _ROWS_A_COLUMN * p):
        rows, populations = settled_from_part(xt, alpha, seed, n_starts)
        return Found(rows, populations.starts, populations.agreeing)
    short = n <= max(SHORT, _ROWS_A_COLUMN * p)
    if short:
        populations = Populations(Ends(xt, h), RandomStarts(xt, h, seed), seed)
    else:
        populations = Populations(Ends(xt, h), PartStarts(xt, alpha, seed), seed, restarts=0)
    populations.search(n_starts)
    return Found(populations.rows, populations.starts, populations.agreeing)


def _shortest_window(values: Vector, h: int) -> Rows:
    """Return the h neighbours on the line with the least variance: exact for one column."""
    order = np.argsort(values, kind="stable")
    n, middle = values.size, values.size // 2
    gaps = values[order] - values[order[middle]]
    # A window holds the median. Sums that run outwards from it meet far values last.
    sums, squares = (_outward_sums(part, middle) for part in (gaps, gaps**2))
    starts = np.arange(n - h + 1)
    total = sums[starts] + sums[starts + h]
    size = squares[starts] + squares[starts + h]
    spread = size - total**2 / h
    best = int(np.argmin(spread))
    # Of windows that tie, the first: rounding would choose another one in other units. It is that
    # of the cells, in the products with their gaps, and one of the sum for each of h summands.
    length, largest = np.sqrt(h * size[best]), np.abs(values).max()
    allowed = np.finfo(np.float64).eps * (h * size[best] + 4.0 * largest * length)
    start = int(np.argmax(spread <= spread[best] + allowed))
    return np.sort(order[start : start + h])


def _outward_sums(values: Vector, middle: int) -> Vector:
    """Return the sums from each place to the middle, and from the middle to each place."""
    before = np.cumsum(values[:middle][::-1])[::-1]
    return np.concatenate([before, [0.0], np.cumsum(values[middle:])])
