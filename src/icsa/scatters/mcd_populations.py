"""Independent populations of descents, as many as it takes until they agree on the best subset.

A population is a handful of random starts that descend, and then cross: the rows that its best
subset shares with another one are a start themselves. Its champion is what none of this improves.
Populations know nothing of each other, so champions are independent draws from the subsets where
such a search can end, and how often they coincide tells how likely it is that a better one is
still unseen.
"""

from __future__ import annotations

import math

import numpy as np

from icsa.matrices import Matrix
from icsa.scatters.mcd_ends import EQUAL, Ends
from icsa.scatters.mcd_kernels import Rows, draw_balls, draw_subsets
from icsa.scatters.mcd_planes import robust_units

__all__ = ["Populations", "populations_needed"]

# Members of a population that start from p + 1 random rows, each the best of so many after one
# C-step; and members that start from the h rows nearest to a random one.
_ELEMENTAL, _TRIALS, _BALLS = 3, 3, 2
_STARTS = _ELEMENTAL * _TRIALS + _BALLS
# Independent populations that must have reached the best objective.
_AGREEING = 3
# The chance that a further champion is a new one must be estimated below this.
_UNSEEN = 1 / 10
# Standardized cells are drawn in to this, so that nothing overflows.
_FAR = 1e9
# No more populations than this, agreed or not.
_MOST = 60


def populations_needed(different: int) -> int:
    """Return the least number M of champions, W of them different, after which a search may stop.

    A further champion would be a new one with a chance that is estimated by W (W + 1)/(M (M - 1)).

    Examples
    --------
    >>> [populations_needed(different) for different in (1, 2, 3)]
    [5, 9, 12]
    """
    product = different * (different + 1) / _UNSEEN
    return math.ceil(0.5 + math.sqrt(0.25 + product) - 1e-9)


class Populations:
    """The populations of a table (p, n) and a subset size, up to a number or until they agree."""

    def __init__(self, xt: Matrix, h: int, seed: int) -> None:
        self._ends, self._seed, self._count = Ends(xt, h), seed, 0
        # Further rows stand by for starts that are singular.
        self._width = min(h, 2 * xt.shape[0] + 2)
        self._z = _standardized(xt)
        self._champions: list[int] = []

    @property
    def starts(self) -> int:
        """The number of random starts so far."""
        return self._count * _STARTS

    @property
    def objective(self) -> float:
        """The lowest objective so far."""
        return float(np.min(self._ends.objectives, initial=math.inf))

    @property
    def rows(self) -> Rows:
        """The best subset so far; any one where not even h rows are regular."""
        if self.objective == math.inf:
            return np.arange(self._ends.h)
        return self._ends.rows(int(np.argmin(self._ends.objectives)))

    @property
    def agreeing(self) -> int:
        """The number of populations whose champion is as good as the best."""
        return int(np.sum(self._ends.objectives[self._champions] <= self.objective + EQUAL))

    def search(self, n_starts: int | None = None) -> None:
        """Add populations until they agree, or for a given number of random starts."""
        most = _MOST if n_starts is None else -(-n_starts // (_STARTS))
        wanted = populations_needed(1) if n_starts is None else most
        while wanted:
            self._grow(wanted)
            wanted = self._missing(most) if n_starts is None else 0
            if not wanted:
                before = self.objective
                self._crossed([self._champions])
                if n_starts is None and self.objective < before - EQUAL:
                    wanted = self._missing(most)

    def _missing(self, most: int) -> int:
        """Return how many more populations it takes at least until the search may stop."""
        if self.objective == -math.inf:
            return 0
        found = np.sort(self._ends.objectives[self._champions])
        different = 1 + int(np.sum(np.diff(found) > EQUAL))
        missing = max(populations_needed(different) - found.size, _AGREEING - self.agreeing, 0)
        return min(missing, most - self._count)

    def _grow(self, count: int) -> None:
        """Add populations; each leaves its champion."""
        elemental, balls = self._from_elements(count), self._from_balls(count)
        groups = [first + second for first, second in zip(elemental, balls, strict=True)]
        self._count += count
        self._champions.extend(self._crossed([group for group in groups if group]))

    def _from_elements(self, count: int) -> list[list[int]]:
        """Return where the elemental starts of new populations end; singular ones do nowhere."""
        starts = np.empty((count * _ELEMENTAL * _TRIALS, self._width), dtype=np.int64)
        first = self._count * _ELEMENTAL * _TRIALS
        draw_subsets(self._ends.xt.shape[1], first, self._seed, starts)
        objectives, subsets = self._ends.one_step(starts)
        trials = objectives.reshape(-1, _TRIALS)
        chosen = np.argmin(trials, axis=1) + _TRIALS * np.arange(trials.shape[0])
        members = np.flatnonzero(objectives[chosen] < math.inf)
        if members.size == 0 and self._width < self._ends.h:
            self._width = self._ends.h  # tied columns may need many more rows
            return self._from_elements(count)
        sizes = np.full(members.size, self._ends.h)
        places = self._ends.descend(subsets[chosen[members]], sizes)
        groups: list[list[int]] = [[] for _ in range(count)]
        for member, place in zip(members, places, strict=True):
            groups[member // _ELEMENTAL].append(place)
        return groups

    def _from_balls(self, count: int) -> list[list[int]]:
        """Return where the balls of new populations end."""
        centres = np.empty((count * _BALLS, 1), dtype=np.int64)
        draw_subsets(self._ends.xt.shape[1], self._count * _BALLS, self._seed + 1, centres)
        starts = np.empty((centres.size, self._ends.h), dtype=np.int64)
        draw_balls(self._z, centres, self._ends.h, starts)
        places = self._ends.descend(starts, np.full(centres.size, self._ends.h))
        return [places[i * _BALLS : (i + 1) * _BALLS] for i in range(count)]

    def _crossed(self, groups: list[list[int]]) -> list[int]:
        """Return each group's champion, crossed with the other members as long as that helps."""
        objectives = self._ends.objectives
        champions = [min(group, key=objectives.__getitem__) for group in groups]
        couples = self._couples(groups, champions, set(range(len(groups))))
        while couples:
            firsts, others = [champions[g] for g, _ in couples], [other for _, other in couples]
            places = self._ends.cross(firsts, others)
            objectives, improved = self._ends.objectives, set()
            for (g, _), place in zip(couples, places, strict=True):
                if objectives[place] < objectives[champions[g]] - EQUAL:
                    champions[g] = place
                    improved.add(g)
            couples = self._couples(groups, champions, improved)
        return champions

    def _couples(
        self, groups: list[list[int]], champions: list[int], improved: set[int]
    ) -> list[tuple[int, int]]:
        """Return groups with members whose objectives differ from the champion's and each other."""
        couples, objectives = [], self._ends.objectives
        for g in sorted(improved):
            last = objectives[champions[g]]
            for place in sorted(groups[g], key=objectives.__getitem__):
                if last + EQUAL < objectives[place] < math.inf:
                    couples.append((g, place))
                    last = objectives[place]
        return couples


def _standardized(xt: Matrix) -> Matrix:
    """Return the columns from their medians in units of their MADs, far cells drawn in."""
    n = xt.shape[1]
    gaps = xt - np.partition(xt, n // 2, axis=1)[:, n // 2, None]
    return np.clip(gaps / robust_units(xt)[:, None], -_FAR, _FAR)
