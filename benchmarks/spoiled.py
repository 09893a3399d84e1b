"""Harmful releases of a table, and harmless ones by others: what the word must and must not see.

Each function takes a `Scene` (a table, fresh rows of the same law, a generator) and returns a
release. Most put people who do not stand out among fresh rows, as they are or a little changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable

__all__ = ["HARMFUL", "HARMLESS", "Scene"]


@dataclass(frozen=True)
class Scene:
    """A table, its people who do not stand out, and fresh rows."""

    original: FeatureTable
    fresh: FeatureTable
    ordinary: RowNumbers
    rng: Generator

    def copied(self, share: float) -> RowNumbers:
        """Return ordinary people who are copied: a share of all, or one."""
        count = max(1, round(share * self.original.n_rows)) if share else 1
        return self.rng.permutation(self.ordinary)[: min(count, self.fresh.n_rows)]


Release = Callable[[Scene], FeatureTable]


def _among_fresh(scene: Scene, people: FeatureTable) -> FeatureTable:
    """Return the fresh rows, the first of them replaced by people."""
    numbers, codes = scene.fresh.numbers.copy(), scene.fresh.codes.copy()
    numbers[:, : people.n_rows], codes[:, : people.n_rows] = people.numbers, people.codes
    order = scene.rng.permutation(numbers.shape[1])
    return FeatureTable(numbers[:, order], codes[:, order])


def _noisy(scene: Scene, people: FeatureTable, noise: float) -> FeatureTable:
    """Return people with noise of a share of each column's deviation, on the column's lattice."""
    spread = np.nanstd(scene.original.numbers, axis=1)[:, None]
    return FeatureTable(
        people.numbers + noise * spread * scene.rng.normal(size=people.numbers.shape), people.codes
    )


def _changed(scene: Scene, people: FeatureTable, cells: int) -> FeatureTable:
    """Return people with so many cells each taken from somebody else."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    p = numbers.shape[0]
    for k in range(people.n_rows):
        for j in scene.rng.permutation(p + codes.shape[0])[:cells]:
            other = int(scene.rng.integers(scene.original.n_rows))
            if j < p:
                numbers[j, k] = scene.original.numbers[j, other]
            else:
                codes[j - p, k] = scene.original.codes[j - p, other]
    return FeatureTable(numbers, codes)


def _copied(share: float, noise: float = 0.0, cells: int = 0) -> Release:
    def release(scene: Scene) -> FeatureTable:
        people = scene.original.rows(scene.copied(share))
        if noise:
            people = _noisy(scene, people, noise)
        return _among_fresh(scene, _changed(scene, people, cells) if cells else people)

    return release


def _everybody(noise: float) -> Release:
    def release(scene: Scene) -> FeatureTable:
        people = scene.original.rows(scene.rng.permutation(scene.ordinary))
        return _noisy(scene, people, noise) if noise else people

    return release


def _in_other_units(change: Callable[[np.ndarray, float, Generator], np.ndarray]) -> Release:
    """Return those who do not stand out, each column of numbers changed in a way of its own."""

    def release(scene: Scene) -> FeatureTable:
        people = scene.original.rows(scene.rng.permutation(scene.ordinary))
        numbers = people.numbers.copy()
        for j, column in enumerate(numbers):
            spread = float(np.nanstd(scene.original.numbers[j])) or 1.0
            numbers[j] = change(column, spread, scene.rng)
        return FeatureTable(numbers, people.codes)

    return release


def _rescaled(column: np.ndarray, spread: float, rng: Generator) -> np.ndarray:
    return column * float(np.exp(0.3 * rng.normal())) + 0.5 * spread * float(rng.normal())


def _logarithms(column: np.ndarray, spread: float, _rng: Generator) -> np.ndarray:
    return np.log(column - np.nanmin(column) + 0.05 * spread)


def _rounded(column: np.ndarray, spread: float, _rng: Generator) -> np.ndarray:
    return np.round(column / spread) * spread


def _rank_swapped(scene: Scene) -> FeatureTable:
    """Return the table with each number swapped with one at most 5% of the ranks away."""
    numbers = scene.original.numbers.copy()
    n = numbers.shape[1]
    reach = max(1, round(0.05 * n))
    for column in numbers:
        order, done = np.argsort(column, kind="stable"), np.zeros(n, dtype=bool)
        for place in range(n):
            free = [q for q in range(place + 1, min(n, place + reach + 1)) if not done[q]]
            if not done[place] and free:
                other = int(scene.rng.choice(free))
                first, second = order[place], order[other]
                column[first], column[second] = column[second], column[first]
                done[place] = done[other] = True
    return FeatureTable(numbers, scene.original.codes.copy())


def _microaggregated(scene: Scene) -> FeatureTable:
    """Return numbers replaced by means of five people who are near in all of them (MDAV)."""
    numbers = scene.original.numbers.copy()
    filled = np.where(np.isnan(numbers), np.nanmedian(numbers, axis=1)[:, None], numbers)
    units = (filled - filled.mean(axis=1)[:, None]) / np.maximum(filled.std(axis=1), 1e-12)[:, None]
    left = np.arange(numbers.shape[1])
    while left.size:
        centre = units[:, left].mean(axis=1)
        far = left[np.argmax(((units[:, left] - centre[:, None]) ** 2).sum(axis=0))]
        gaps = ((units[:, left] - units[:, [far]]) ** 2).sum(axis=0)
        group = left[np.argsort(gaps, kind="stable")[: 5 if left.size >= 10 else left.size]]
        numbers[:, group] = filled[:, group].mean(axis=1)[:, None]
        left = np.setdiff1d(left, group)
    return FeatureTable(numbers, scene.original.codes.copy())


def _trees(leaf: int, smoothed: bool = False) -> Release:
    """Return column after column drawn from the leaves of a tree on the columns before."""

    def release(scene: Scene) -> FeatureTable:
        table, rng = scene.original, scene.rng
        columns = [*table.numbers, *table.codes.astype(float)]
        n, p = table.n_rows, table.numbers.shape[0]
        made = [columns[0][rng.integers(n, size=n)]]
        for j in range(1, len(columns)):
            kind = DecisionTreeRegressor if j < p else DecisionTreeClassifier
            tree = kind(min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))
            known = np.nan_to_num(np.column_stack(columns[:j]), nan=-1e6)
            given = np.nan_to_num(np.column_stack(made), nan=-1e6)
            tree.fit(known, np.nan_to_num(columns[j], nan=-1e6))
            leaves, wanted = tree.apply(known), tree.apply(given)
            drawn = np.empty(n)
            for number in np.unique(wanted):
                to, source = np.flatnonzero(wanted == number), np.flatnonzero(leaves == number)
                drawn[to] = columns[j][rng.choice(source, size=to.size)]
            made.append(drawn)
        numbers = np.array(made[:p]).reshape(p, n)
        if smoothed:
            numbers += 0.3 * np.nanstd(table.numbers, axis=1)[:, None] * rng.normal(size=(p, n))
        codes = np.array(made[p:]).reshape(len(columns) - p, n).astype(np.int32)
        return FeatureTable(numbers, codes)

    return release


def _extremes(scene: Scene) -> FeatureTable:
    """Return fresh rows whose ends of columns are those of the original."""
    numbers = scene.fresh.numbers.copy()
    for column, released in zip(scene.original.numbers, numbers, strict=True):
        known = np.flatnonzero(~np.isnan(released))
        if known.size:
            released[known[np.argmin(released[known])]] = np.nanmin(column)
            released[known[np.argmax(released[known])]] = np.nanmax(column)
    return FeatureTable(numbers, scene.fresh.codes)


def _half_swapped(scene: Scene) -> FeatureTable:
    """Return the table with the second half of its columns shuffled as a block."""
    numbers, codes = scene.original.numbers.copy(), scene.original.codes.copy()
    order = scene.rng.permutation(numbers.shape[1])
    everything = [*numbers, *codes]
    for column in everything[len(everything) // 2 :]:
        column[:] = column[order]
    return FeatureTable(numbers, codes)


HARMLESS: Mapping[str, Release] = {
    "fresh people": lambda scene: scene.fresh,
    "trees, leaves of 20, smoothed": _trees(20, smoothed=True),
}
HARMFUL: Mapping[str, Release] = {
    "everybody ordinary": _everybody(0.0),
    "everybody ordinary, 1% noise": _everybody(0.01),
    "everybody ordinary, 10% noise": _everybody(0.1),
    "everybody ordinary, 20% noise": _everybody(0.2),
    "everybody ordinary, 30% noise": _everybody(0.3),
    "everybody ordinary, shifted and rescaled": _in_other_units(_rescaled),
    "everybody ordinary, logarithms": _in_other_units(_logarithms),
    "everybody ordinary, rounded to a deviation": _in_other_units(_rounded),
    "60% copied": _copied(0.6),
    "10% copied": _copied(0.1),
    "1% copied": _copied(0.01),
    "one copied": _copied(0.0),
    "one copied, 1 cell changed": _copied(0.0, cells=1),
    "one copied, 2 cells changed": _copied(0.0, cells=2),
    "one copied, 1% noise": _copied(0.0, noise=0.01),
    "one copied, 10% noise": _copied(0.0, noise=0.1),
    "10% copied, 2 cells changed": _copied(0.1, cells=2),
    "halves of the columns swapped": _half_swapped,
    "rank swap, 5%": _rank_swapped,
    "means of five (MDAV)": _microaggregated,
    "trees, leaves of 5": _trees(5),
    "trees, leaves of 20": _trees(20),
    "verbatim extremes": _extremes,
}
