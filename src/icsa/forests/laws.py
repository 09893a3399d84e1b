"""Laws of one column given those before it: fitted by forests, and drawn from.

A measurement is a mean that a forest tells, and a residual of somebody in the same leaf of another
forest, between that person's and the next one's. Cells far out are not fitted; as many are drawn at
the end of what counts as near. Levels are drawn by their chances, which a forest tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from icsa.correlations import mad_scale
from icsa.forests.forest_kernels import Codes, Nodes, Whole
from icsa.forests.growing import (
    Forest,
    Targets,
    grown_forest,
    grown_tree,
    joined,
    reached,
    rows_drawn,
)
from icsa.forests.limits import LIMITS
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key, Stream

__all__ = ["LevelLaw", "MeasuredLaw", "MiddleAndUnit", "middle_and_unit", "near_ends", "uniforms"]

MiddleAndUnit = tuple[float, float]


def middle_and_unit(numbers: Vector) -> MiddleAndUnit:
    """Return the median, and a robust standard deviation or else the usual one; 1 for none.

    Examples
    --------
    >>> middle_and_unit(np.array([5.0, 5.0, 5.0]))
    (5.0, 1.0)
    """
    middle = float(np.median(numbers))
    return middle, mad_scale(numbers, middle) or float(numbers.std()) or 1.0


def near_ends(standard: Vector) -> tuple[float, float]:
    """Return up to where standardised numbers are near: 3.5 units, or 7 where many lie beyond.

    Many are one in fifty of either end: then it is a long tail rather than a few people.

    Examples
    --------
    >>> near_ends(np.append(np.zeros(99), 30.0)), near_ends(np.append(np.zeros(90), np.full(10, 5)))
    ((-3.5, 3.5), (-3.5, 5.0))
    """
    share, reach = LIMITS.many_beyond, LIMITS.reach
    low, high = np.quantile(standard, [share, 1.0 - share])
    low, high = np.clip([-low, high], reach, 2.0 * reach)
    return -float(low), float(high)


def uniforms(size: int, stream: Stream) -> Vector:
    """Return numbers between 0 and 1, neither of them.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> uniforms(2, as_key(7).stream("example")).round(6)
    array([0.366553, 0.260765])
    """
    return np.asarray(((stream.words(size) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def _random_order(size: int, stream: Stream) -> Whole:
    return np.argsort(stream.words(size), kind="stable")


@dataclass(frozen=True, eq=False, repr=False)
class _Leaves:
    """Trees whose leaves hold residuals.

    Attributes
    ----------
    nodes, roots : ndarray
        As those of a `Forest`.
    begins, sizes : ndarray of int64, shape (n_nodes,)
        Where the residuals of each leaf are, and how many.
    residuals : ndarray
        Ascending within each leaf.
    """

    nodes: Nodes
    roots: Whole
    begins: Whole
    sizes: Whole
    residuals: Vector

    @classmethod
    def fit(cls, codes: Codes, n_features: int, residuals: Vector, bags: Key) -> Self:
        """Return trees that part rows whose residuals differ in law."""
        n, parts = residuals.size, LIMITS.shape_parts
        borders = np.quantile(residuals, np.arange(1, parts) / parts)
        targets = Targets.levels(np.searchsorted(borders, residuals).astype(np.int64), parts)
        fewest = LIMITS.of_rows(LIMITS.shape_leaf, n)
        trees, sizes, ordered = [], [], []
        for index in range(LIMITS.shape_trees if n_features else 1):
            drawn = rows_drawn(n, bags.stream("bag", index))
            tree = grown_tree(codes, n_features, targets, drawn, fewest)
            leaves = reached(codes, tree.nodes, np.zeros(n, dtype=np.int64))
            trees.append(tree)
            sizes.append(np.bincount(leaves, minlength=tree.nodes.size))
            ordered.append(residuals[np.lexsort((residuals, leaves))])
        held = np.concatenate(sizes)
        return cls(*joined(trees), np.cumsum(held) - held, held, np.concatenate(ordered))

    def at(self, codes: Codes, trees: Vector, shares: Vector) -> Vector:
        """Return a residual a row: of a tree's leaf, at a place between people.

        Outside of the first and the last as far as halfway to their neighbours: never somebody's.
        Trees and places are random numbers between 0 and 1.
        """
        tree = (trees * self.roots.size).astype(np.int64)
        leaves = reached(codes, self.nodes, self.roots[tree])
        begin, size = self.begins[leaves], self.sizes[leaves]
        place = shares * size - 0.5
        low = np.clip(np.floor(place).astype(np.int64), 0, np.maximum(size - 2, 0))
        rest = place - low
        first = self.residuals[begin + low]
        second = self.residuals[begin + np.minimum(low + 1, size - 1)]
        return np.asarray(first * (1.0 - rest) + second * rest)


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredLaw:
    """The law of a measurement given the columns before.

    Attributes
    ----------
    middle, unit : float
        Of the measurement; all below is counted from there, in units.
    means : Forest, optional
        For the mean, where it explains enough.
    slope, centre : float
        The mean is slope (forest - centre).
    leaves : _Leaves
        Of the residuals.
    ends, beyond : pair of float
        Up to where cells are near, and shares of those beyond, below and above.
    """

    middle: float
    unit: float
    means: Forest | None
    slope: float
    centre: float
    leaves: _Leaves
    ends: tuple[float, float]
    beyond: tuple[float, float]

    @classmethod
    def fit(
        cls, codes: Codes, n_features: int, numbers: Vector, bags: Key, threads: int = 1
    ) -> Self:
        """Return the law of numbers given the bins of the first features."""
        middle, unit = middle_and_unit(numbers)
        standard = (numbers - middle) / unit
        ends = near_ends(standard)
        low, high = standard < ends[0], standard > ends[1]
        near = np.flatnonzero(~(low | high))
        beyond = (float(low.mean()), float(high.mean()))
        codes, standard = codes[near], standard[near]
        means, slope, centre, told = _fitted_means(codes, n_features, standard, bags, threads)
        left = standard if means is None else standard - slope * (told - centre)
        leaves = _Leaves.fit(codes, n_features, left, bags.child("shape"))
        return cls(middle, unit, means, slope, centre, leaves, ends, beyond)

    def shares(self, n_rows: int, key: Key) -> Vector:
        """Return which share of the people in its leaf is below each row, evenly over all rows.

        Infinite for rows far out.
        """
        found = uniforms(n_rows, key.stream("share"))
        found += _random_order(n_rows, key.stream("order"))
        found /= n_rows
        order = _random_order(n_rows, key.stream("beyond"))
        below, above = (round(share * n_rows) for share in self.beyond)
        found[order[:below]] = -np.inf
        found[order[below : below + above]] = np.inf
        return found

    def draw(
        self, codes: Codes, shares: Vector, key: Key, *, first_row: int = 0, threads: int = 1
    ) -> Vector:
        """Return a number for each row of bins, of rows that follow one another."""
        trees = uniforms(codes.shape[0], key.stream("tree", first_word=first_row))
        drawn = self.leaves.at(codes, trees, np.clip(shares, 0.0, 1.0))
        drawn[shares == -np.inf] = self.ends[0]
        drawn[shares == np.inf] = self.ends[1]
        if self.means is not None:
            drawn += self.slope * (self.means.mean(codes, threads)[:, 0] - self.centre)
        return np.asarray(self.middle + self.unit * drawn)


def _fitted_means(
    codes: Codes, n_features: int, standard: Vector, bags: Key, threads: int
) -> tuple[Forest | None, float, float, Vector]:
    """Return the forest for means or None, its slope and centre, and what it says out of bag.

    With g what it says, centred, the slope is <g, y>/<g, g>, from 0 to 1.
    """
    nothing = (None, 0.0, 0.0, standard)
    spread = float(np.var(standard))
    if not n_features or spread == 0.0:
        return nothing
    fewest = LIMITS.of_rows(LIMITS.mean_leaf, standard.size)
    forest = grown_forest(
        codes,
        n_features,
        Targets.measured(standard),
        trees=LIMITS.mean_trees,
        fewest=fewest,
        bags=bags.child("means"),
        threads=threads,
    )
    told = np.nan_to_num(
        forest.unseen(codes, bags.child("means"))[:, 0], nan=float(standard.mean())
    )
    centre = float(told.mean())
    centred = told - centre
    missed = float(np.mean((standard - standard.mean() - centred) ** 2))
    if 1.0 - missed / spread <= LIMITS.least_explained:
        return nothing
    slope = float(centred @ standard) / float(centred @ centred)
    return forest, min(max(slope, 0.0), 1.0), centre, told


@dataclass(frozen=True, eq=False, repr=False)
class LevelLaw:
    """The chances of levels given the columns before."""

    chances: Forest

    @classmethod
    def fit(
        cls,
        codes: Codes,
        n_features: int,
        places: Whole,
        n_levels: int,
        bags: Key,
        threads: int = 1,
    ) -> Self:
        """Return the law of levels, by their places, given the bins of the first features."""
        targets = Targets.levels(places, n_levels)
        fewest = LIMITS.of_rows(LIMITS.level_leaf, places.size)
        forest = grown_forest(
            codes,
            n_features,
            targets,
            trees=LIMITS.level_trees if n_features else 1,
            fewest=fewest,
            bags=bags,
            threads=threads,
        )
        return cls(forest)

    def draw(self, codes: Codes, key: Key, *, first_row: int = 0, threads: int = 1) -> Matrix:
        """Return how well each level fits each of some rows, shape (n_rows, n_levels).

        The logarithm of its chance, with noise by which the best level of a row has that chance.
        """
        least = LIMITS.least_chance
        chances = np.clip(self.chances.mean(codes, threads), least, 1.0 - least)
        stream = key.stream("level", first_word=first_row * chances.shape[1])
        drawn = uniforms(chances.size, stream).reshape(chances.shape)
        return np.asarray(np.log(chances) - np.log(-np.log(drawn)))
