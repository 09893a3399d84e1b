"""Random starts of the search for the least determinant, a population's worth at a time.

Members of a population start in two ways, because each way is blind where the other one sees.
Elemental starts, p + 1 random rows, follow the shape of the data; but in many columns hardly any is
free of a large cluster. The h rows nearest to a random one stay on one side of a gap; but they are
balls, whatever the shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_descent import descend
from icsa.scatters.mcd_kernels import Rows, draw_balls, draw_subsets
from icsa.scatters.mcd_planes import keep_planes, robust_units

__all__ = ["STARTS", "RandomStarts", "Starts", "c_steps"]

# Members that start from p + 1 random rows, each the best of so many after one C-step; and members
# that start from the h rows nearest to a random one.
_ELEMENTAL, _TRIALS, _BALLS = 2, 2, 2
# Random starts of a population.
STARTS = _ELEMENTAL * _TRIALS + _BALLS
# Standardized cells are drawn in to this, so that nothing overflows.
_FAR = 1e9


@dataclass(frozen=True)
class Starts:
    """Subsets of h rows to descend from, and the number of the population that each belongs to."""

    subsets: Rows
    populations: Rows


class RandomStarts:
    """Random starts of a table (p, n); a population's depend on the seed and its number alone."""

    def __init__(self, xt: Matrix, h: int, seed: int) -> None:
        self._xt, self._h, self._seed = xt, h, seed
        self._z = _standardized(xt)
        # Further rows stand by for starts that are singular.
        self._width = min(h, 2 * xt.shape[0] + 2)

    def draw(self, first: int, count: int) -> Starts:
        """Return the starts of some populations; those that stay singular are left out."""
        elements, balls = self._elements(first, count), self._balls(first, count)
        members = np.concatenate([elements.populations, balls.populations])
        return Starts(np.concatenate([elements.subsets, balls.subsets]), members)

    def _elements(self, first: int, count: int) -> Starts:
        """Return the best of some elemental starts each, one C-step later."""
        (p, n), total = self._xt.shape, count * _ELEMENTAL * _TRIALS
        starts = np.empty((total, self._width), dtype=np.int64)
        draw_subsets(n, first * _ELEMENTAL * _TRIALS, self._seed, starts)
        objectives, subsets = c_steps(self._xt, starts, np.full(total, p + 1), self._h, 1)
        trials = objectives.reshape(-1, _TRIALS)
        chosen = np.argmin(trials, axis=1) + _TRIALS * np.arange(trials.shape[0])
        members = np.flatnonzero(objectives[chosen] < math.inf)
        if members.size == 0 and self._width < self._h:
            self._width = self._h  # tied columns may need many more rows
            return self._elements(first, count)
        return Starts(subsets[chosen[members]], members // _ELEMENTAL)

    def _balls(self, first: int, count: int) -> Starts:
        """Return the h rows nearest to random ones, columns counted in their MADs."""
        centres = np.empty((count * _BALLS, 1), dtype=np.int64)
        draw_subsets(self._xt.shape[1], first * _BALLS, self._seed + 1, centres)
        subsets = np.empty((centres.size, self._h), dtype=np.int64)
        draw_balls(self._z, centres, self._h, subsets)
        return Starts(subsets, np.arange(centres.size) // _BALLS)


def c_steps(xt: Matrix, starts: Rows, sizes: Rows, h: int, steps: int) -> tuple[Vector, Rows]:
    """Return objectives and subsets so many C-steps after some starts, no rows swapped."""
    objectives, subsets = np.empty(sizes.size), np.empty((sizes.size, h), dtype=np.int64)
    none, nobody = np.empty(0), np.empty(0, dtype=np.int64)
    descend(xt, starts, sizes, h, steps, 0, 0, objectives, subsets, 0, none, nobody, 0)
    keep_planes(xt, objectives, subsets)
    return objectives, subsets


def _standardized(xt: Matrix) -> Matrix:
    """Return the columns from their medians in units of their MADs, far cells drawn in."""
    n = xt.shape[1]
    gaps = xt - np.partition(xt, n // 2, axis=1)[:, n // 2, None]
    units = robust_units(xt)
    return np.clip(gaps / np.where(units > 0, units, 1.0)[:, None], -_FAR, _FAR)
