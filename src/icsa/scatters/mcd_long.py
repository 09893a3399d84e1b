"""The search for the least determinant in long tables: it begins in random parts of the rows."""

from __future__ import annotations

import math

import numpy as np

from icsa.matrices import Matrix
from icsa.scatters.mcd_ends import Ends
from icsa.scatters.mcd_factors import subset_size
from icsa.scatters.mcd_kernels import Rows
from icsa.scatters.mcd_moments import SubsetMoments
from icsa.scatters.mcd_populations import Populations
from icsa.scatters.mcd_settling import SWAPS_UP_TO, columns_of, nearest_to_plane, settle
from icsa.scatters.mcd_starts import RandomStarts, Starts, c_steps

__all__ = ["PartStarts", "part_size", "settled_from_part"]

# Rows of a part: so many a column, within bounds, and never fewer than a few a column.
_LEAST, _MOST, _A_COLUMN, _LEAST_A_COLUMN = 600, 1500, 50, 5
# Each round takes this many times the rows of the one before.
_GROWTH = 10
# Share of the rows, on each side of the border, that are looked at between two passes over all; the
# smaller one where the start comes from tens of thousands of rows.
_BAND, _NARROW_BAND = 0.05, 0.02
# Far more C-steps and passes than any descent takes.
_UNTIL_CONVERGED = 10_000
# Different ends in a part that a population carries to the whole table.
_CARRIED = 2
# Ends in a part that go on to more rows, each with another tenth of its rows or more.
_CANDIDATES, _OTHER = 5, 0.1


def part_size(p: int) -> int:
    """Return the number of rows of a part."""
    return max(min(_MOST, max(_LEAST, _A_COLUMN * p)), _LEAST_A_COLUMN * p)


class PartStarts:
    """Starts for a long table (p, n): each population's come from a random part of its own.

    They take C-steps there until they halt, which costs little, and settle in the whole table.
    """

    def __init__(self, xt: Matrix, alpha: float, seed: int) -> None:
        self._xt, self._alpha, self._seed = xt, alpha, seed

    def draw(self, first: int, count: int) -> Starts:
        """Return the starts of the populations number first, first + 1, ..."""
        subsets = [self._settled(first + number) for number in range(count)]
        populations = np.repeat(np.arange(count), [len(group) for group in subsets])
        return Starts(np.array([rows for group in subsets for rows in group]), populations)

    def _settled(self, number: int) -> list[Rows]:
        """Return the different starts of one population."""
        p, n = self._xt.shape
        rng = np.random.default_rng([self._seed, number])
        part = columns_of(self._xt, np.sort(rng.choice(n, part_size(p), replace=False)))
        h = subset_size(part.shape[1], p, self._alpha)
        starts = RandomStarts(part, h, self._seed).draw(number, 1).subsets
        sizes = np.full(starts.shape[0], h)
        objectives, subsets = c_steps(part, starts, sizes, h, _UNTIL_CONVERGED)
        values, places = np.unique(objectives, return_index=True)
        best = places[values < math.inf][:_CARRIED]
        fits = [SubsetMoments.of(part, subsets[i]) for i in best]
        return [_carried(self._xt, fit, subset_size(n, p, self._alpha)) for fit in fits]


def _carried(xt: Matrix, fit: SubsetMoments, h: int) -> Rows:
    """Return the h rows of a table that a fit to a part of it settles on."""
    if fit.whitener()[1] == -math.inf:
        return nearest_to_plane(xt, fit, h)
    return settle(xt, fit, h, _BAND, _UNTIL_CONVERGED)[1]


def settled_from_part(
    xt: Matrix, alpha: float, seed: int, n_starts: int | None
) -> tuple[Rows, Populations]:
    """Return rows of a table too long for swaps, and the populations of the part it began in.

    The best ends in the part settle in ten times as many rows, the best of these in ten times as
    many again, and so on.
    """
    p, n = xt.shape
    h, sizes = subset_size(n, p, alpha), [part_size(p)]
    while sizes[-1] * _GROWTH**1.5 < n:
        sizes.append(sizes[-1] * _GROWTH)
    drawn = np.random.default_rng(seed).choice(n, sizes[-1], replace=False)
    table = columns_of(xt, np.sort(drawn[: sizes[0]]))
    part_h = subset_size(sizes[0], p, alpha)
    ends = Ends(table, part_h)
    populations = Populations(ends, RandomStarts(table, part_h, seed), seed)
    populations.search(n_starts)
    fits = [SubsetMoments.of(table, rows) for rows in _candidates(populations.rows, ends)]
    for size in sizes[1:]:
        table = columns_of(xt, np.sort(drawn[:size]))
        fits = [_least(table, fits, subset_size(size, p, alpha))]
    fit = fits[0] if len(fits) == 1 else _least(xt, fits, h)
    if fit.whitener()[1] == -math.inf:
        return nearest_to_plane(xt, fit, h), populations
    share = _NARROW_BAND if sizes[-1] > SWAPS_UP_TO else _BAND
    return settle(xt, fit, h, share, _UNTIL_CONVERGED)[1], populations


def _candidates(best: Rows, ends: Ends) -> list[Rows]:
    """Return the best subset, and the next best ones that differ from it and from each other."""
    chosen = [best]
    for place in np.argsort(ends.objectives, kind="stable"):
        if len(chosen) == _CANDIDATES or ends.objectives[place] == math.inf:
            break
        rows, least = ends.rows(place), _OTHER * best.size
        if all(np.setdiff1d(rows, other, assume_unique=True).size >= least for other in chosen):
            chosen.append(rows)
    return chosen


def _least(xt: Matrix, fits: list[SubsetMoments], h: int) -> SubsetMoments:
    """Return the fit of the least determinant after one pass over a table."""
    passed = [settle(xt, fit, h, _BAND, 1)[0] for fit in fits]
    return min(passed, key=lambda fit: fit.whitener()[1])
