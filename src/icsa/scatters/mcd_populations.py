"""Independent populations of descents, as many as it takes until they agree on the best subset.

A population is a handful of random starts that descend, and then cross: the rows that its best
subset shares with another one are a start themselves, and so are a few rows of the best subset
alone. Its champion is what none of this improves.
Populations know nothing of each other, so champions are independent draws from the subsets where
such a search can end, and how often they coincide tells how likely it is that a better one is
still unseen.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from icsa.scatters.mcd_ends import Ends
from icsa.scatters.mcd_kernels import Rows, draw_subsets
from icsa.scatters.mcd_starts import STARTS, Starts

__all__ = ["RESTARTS", "Populations", "populations_needed"]

# Independent populations that must have reached the best objective.
_AGREEING = 3
# The chance that a further champion is a better one must be estimated at this or below. With 1/20
# and three that agree, 0.3% of the searches that were tried stopped too early, with 1/30 0.1% at
# 1.2 times the cost.
_BETTER = 1 / 20
# Starts of a population from this share of its champion's rows, drawn at random. Where the best
# subset lies beside a champion, as in a reference set, they find it five times as often as others.
RESTARTS, _KEPT = 2, 0.2
# No more populations than this, agreed or not.
_MOST = 60


def populations_needed(different: int) -> int:
    """Return the least number M of champions, W of them different, after which a search may stop.

    A further champion would be a new one with a chance that is estimated by W (W + 1)/(M (M - 1)),
    and better than the others with a chance of 1/(W + 1) if new: together W/(M (M - 1)).

    References
    ----------
    Boender and Rinnooy Kan (1987), Bayesian stopping rules for multistart global optimization
    methods.

    Examples
    --------
    >>> [populations_needed(different) for different in (1, 2, 3)]
    [5, 7, 9]
    """
    return math.ceil(0.5 + math.sqrt(0.25 + different / _BETTER) - 1e-9)


class Source(Protocol):
    """Where the starts of populations come from."""

    def draw(self, first: int, count: int) -> Starts:
        """Return the starts of the populations number first, first + 1, ..."""


class Populations:
    """Populations with starts from a source, a given number of them or until they agree."""

    def __init__(self, ends: Ends, source: Source, seed: int, restarts: int = RESTARTS) -> None:
        self._ends, self._source, self._seed, self._restarts = ends, source, seed, restarts
        self._count = 0
        self._champions: list[int] = []

    @property
    def starts(self) -> int:
        """The number of random starts so far."""
        return self._count * STARTS

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
        highest = self.objective + self._ends.equal
        return int(np.sum(self._ends.objectives[self._champions] <= highest))

    def search(self, n_starts: int | None = None) -> None:
        """Add populations until they agree, or for a given number of random starts."""
        most = _MOST if n_starts is None else -(-n_starts // STARTS)
        wanted = populations_needed(1) if n_starts is None else most
        while wanted:
            self._grow(wanted)
            wanted = self._missing(most) if n_starts is None else 0
            if not wanted:
                before = self.objective
                self._crossed([self._champions])
                if n_starts is None and self.objective < before - self._ends.equal:
                    wanted = self._missing(most)

    def _missing(self, most: int) -> int:
        """Return how many more populations it takes at least until the search may stop."""
        if self.objective == -math.inf:
            return 0
        found = np.sort(self._ends.objectives[self._champions])
        different = 1 + int(np.sum(np.diff(found[found < math.inf]) > self._ends.equal))
        missing = max(populations_needed(different) - found.size, _AGREEING - self.agreeing, 0)
        return min(missing, most - self._count)

    def _grow(self, count: int) -> None:
        """Add populations; each leaves its champion."""
        starts = self._source.draw(self._count, count)
        sizes = np.full(starts.populations.size, self._ends.h)
        groups: list[list[int]] = [[] for _ in range(count)]
        places = self._ends.descend(starts.subsets, sizes)
        for population, place in zip(starts.populations, places, strict=True):
            groups[population].append(place)
        groups = [group for group in groups if group]
        self._champions.extend(self._restarted(groups, self._crossed(groups)))
        self._count += count

    def _restarted(self, groups: list[list[int]], champions: list[int]) -> list[int]:
        """Return the champions, or what starts from a few of their own rows make of them."""
        objectives, times = self._ends.objectives, range(self._restarts)
        regular = [g for g, place in enumerate(champions) if math.isfinite(objectives[place])]
        owners = [g for g in regular for _ in times]
        if owners:
            starts, sizes = self._few_rows([champions[g] for g in owners])
            places = self._ends.descend(starts, sizes)
            for g, place in zip(owners, places, strict=True):
                groups[g].append(place)
        objectives = self._ends.objectives
        lowest = [min(objectives[group]) for group in groups]
        least = [objectives[place] - self._ends.equal for place in champions]
        improved = [g for g in regular if lowest[g] < least[g]]
        better = self._crossed([groups[g] for g in improved])
        for g, champion in zip(improved, better, strict=True):
            champions[g] = champion
        return champions

    def _few_rows(self, places: list[int]) -> tuple[Rows, Rows]:
        """Return starts from random rows of some ends; others of theirs stand by."""
        p, h = self._ends.xt.shape[0], self._ends.h
        size = max(p + 1, int(_KEPT * h))
        order = np.empty((len(places), min(h, size + p)), dtype=np.int64)
        draw_subsets(h, self._count * self._restarts, self._seed + 2, order)
        rows = np.array([self._ends.rows(place) for place in places])
        return np.take_along_axis(rows, order, axis=1), np.full(len(places), size)

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
                if objectives[place] < objectives[champions[g]] - self._ends.equal:
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
                if last + self._ends.equal < objectives[place] < math.inf:
                    couples.append((g, place))
                    last = objectives[place]
        return couples
