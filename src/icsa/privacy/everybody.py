"""Everybody, standing out or not: who agrees with a released row more than chance explains.

A person's *resemblance* is the best score of a released row (`icsa.privacy.rarity`) less the fifth
best among the other originals: R. What chance gives is seen in the original: the best score among
the others less the sixth best, for everybody. It carries dependent columns and natural doubles. The
tail of these gives a person's p; people are combined by Simes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector
from icsa.privacy.exact_rows import row_hashes
from icsa.privacy.lenses import Lenses
from icsa.privacy.many_rows import best_in_buckets, best_of_the_nearest
from icsa.privacy.rarity import (
    Best,
    best_by_equal_cells,
    best_by_near_cells,
    equal_weights,
    with_gaps,
)
from icsa.privacy.tails import Tail, fit_tail, simes

__all__ = [
    "CloserShare",
    "Everybody",
    "Resemblance",
    "by_equal_cells",
    "look_at_everybody",
    "look_at_rows",
    "put_on_lattice",
    "shuffled_bound",
]

# Cells of pairs of rows that are compared one by one: a second or so of either kind.
_EQUAL_WORK, _NEAR_WORK = 2_000_000_000, 60_000_000
# Beyond, so many people are looked at, and fewer never.
_FEWEST, _SAMPLED = 400, 500
# Beyond, equal cells among originals are counted for so many people, against so many others.
_CALIBRATED, _REFERENCES = 1_000, 50_000
# Below this p the bound for shuffled columns is asked too.
_DOUBTFUL = 0.1
_THETAS = np.array([0.3, 0.5, 0.7, 0.85, 1.0, 1.2])
# The share of people whom chance gives a large resemblance, and halvings for the closer share.
_LARGE, _HALVINGS = 0.05, 100
# Steps of a map that tells where values are.
_MOST_STEPS = 1 << 16
# Fixed, and no secret: it chooses people, and halves a table that nobody gets to see.
_SEED = 20_009


@dataclass(frozen=True, eq=False, repr=False)
class Resemblance:
    """How much people resemble released rows, by one kind of score.

    Attributes
    ----------
    people : ndarray of shape (m,)
        Row numbers of the original: everybody, or a sample.
    chances : ndarray of shape (m,)
        p of each.
    released_rows : ndarray of shape (m,)
        The row that each resembles most; -1 for none.
    looked_at : int
        How many people were looked at in all; the p of those not listed are large.
    excess : float
        z of the number of people with an R that chance gives to one in twenty.
    """

    people: RowNumbers
    chances: Vector
    released_rows: RowNumbers
    looked_at: int
    excess: float

    @property
    def chance(self) -> float:
        """The people's p together (Simes)."""
        return simes(self.chances, self.looked_at)

    def found(self, level: float) -> RowNumbers:
        """Return the people who make the joint p at most `level`, the clearest first."""
        order = np.argsort(self.chances, kind="stable")
        steps = np.arange(1, order.size + 1)
        small = np.flatnonzero(self.looked_at * self.chances[order] / steps <= level)
        return self.people[order[: small[-1] + 1 if small.size else 0]]

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Resemblance of {self.people.size} people>"


@dataclass(frozen=True)
class CloserShare:
    """How many people are nearer to the release than to anybody else.

    Attributes
    ----------
    share : float
        Of the people; who is as near to either counts as `expected`.
    expected : float
        For fresh people: d* / (d* + d - 1), with the numbers of different rows.
    z : float
        Their difference in standard errors.
    n : int
        People looked at.
    """

    share: float
    expected: float
    z: float
    n: int

    @property
    def as_if_copied(self) -> float:
        """The share of people who would have to be copied to give this."""
        return max(0.0, (self.share - self.expected) / max(1e-12, 1.0 - self.expected))


@dataclass(frozen=True, eq=False)
class Everybody:
    """What the release has of everybody, whether they stand out or not.

    Attributes
    ----------
    equal, near : Resemblance
        By equal cells, and by near ones.
    closer : CloserShare
    own : Vector
        p that an exact copy of each of `own_people` would have, by equal cells.
    own_people : ndarray of int
    n : int
        People in the original.
    """

    equal: Resemblance
    near: Resemblance
    closer: CloserShare
    own: Vector = field(repr=False)
    own_people: RowNumbers = field(repr=False)
    n: int


def look_at_everybody(
    lenses: Lenses, *, near_people: int | None = None, threads: int = 1
) -> Everybody:
    """Return whom a release resembles, of all people of the original.

    Parameters
    ----------
    lenses : Lenses
        With the release.
    near_people : int, optional
        Ask no more people for near cells; by default as many as take about a second.
    threads : int
        How many parts of the people to look at at a time.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> rng = np.random.default_rng(1)
    >>> x, released = rng.normal(size=(2, 200, 6))
    >>> released[17] = x[41]
    >>> found = look_at_everybody(fit_lenses(as_features(x, released)))
    >>> found.equal.chance < 1e-6, found.equal.found(0.01), found.equal.released_rows[41]
    (True, array([41]), np.int64(17))
    >>> bool(found.closer.z < 3), found.closer.expected.__round__(3)
    (True, 0.501)
    """
    features = with_gaps(lenses.features.with_released(_on_lattices(lenses.features)))
    equal, own, own_people = by_equal_cells(features, threads)
    near, closer = _by_near_cells(lenses, features, near_people, threads)
    return Everybody(equal, near, closer, own, own_people, features.original.n_rows)


def look_at_rows(
    features: Features, unit: RowNumbers, others: RowNumbers, *, most: int, threads: int = 1
) -> Resemblance:
    """Return which rows of people with several a release resembles, by equal cells.

    What chance gives is seen between a row and one row of everybody else: rows of one person are
    alike anyway.

    Parameters
    ----------
    features : Features
        Rows of the original and of the release.
    unit : ndarray of shape (n_rows,)
        Whose row each of the original is, counted from 0.
    others : ndarray of shape (n_units,)
        One row of every unit.
    most : int
        Look at so many rows at most.
    threads : int

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> rng = np.random.default_rng(1)
    >>> x, released = rng.normal(size=(2, 200, 6))
    >>> released[17] = x[41]
    >>> found = look_at_rows(
    ...     as_features(x, released), np.arange(200) // 4, np.arange(0, 200, 4), most=1000
    ... )
    >>> found.found(0.01)
    array([41])
    """
    features = with_gaps(features.with_released(_on_lattices(features)))
    original, released = features.original, features.released
    n, n_released = original.n_rows, released.n_rows
    rows = np.sort(np.random.default_rng(_SEED).permutation(n)[:most]).astype(np.int64)
    told: dict[str, Any] = {"weights": equal_weights(original, rows), "threads": threads}
    among = best_by_equal_cells(original, rows, original.rows(others), own=unit[rows], **told)
    across = best_by_equal_cells(original, rows, released, **told)
    tail, fifth = _calibrated(among.scores)
    found = _resemblance(rows, across, fifth, tail, n_released / others.size, rows.size)
    return _bounded(found, features, n_released)


def _on_lattices(features: Features) -> FeatureTable:
    """Return the release with cells of rounded columns at original values within half a step.

    Digits that the original does not have would make rows nearer than anybody can be.
    """
    released = features.released
    numbers = released.numbers.copy()
    for column, cells, step in zip(
        features.original.numbers, numbers, features.grids.tolist(), strict=True
    ):
        if step > 0.0:
            put_on_lattice(cells, np.unique(column[~np.isnan(column)]), step)
    return FeatureTable(numbers, released.codes)


def put_on_lattice(cells: Vector, values: Vector, step: float) -> None:
    """Move cells to sorted values that are within half a step, in place.

    Examples
    --------
    >>> cells = np.array([1.4, 2.6, 7.0])
    >>> put_on_lattice(cells, np.array([1.0, 2.0, 3.0]), 1.0)
    >>> cells
    array([1., 3., 7.])
    """
    if values.size:
        # Within a step there is one value, or few, unless the range is too long for a map of steps.
        steps = min((values[-1] - values[0]) / step, _MOST_STEPS)
        width = max(step, (values[-1] - values[0]) / max(1.0, steps))
        edges = values[0] + width * np.arange(int(steps) + 2)
        starts = np.maximum(np.searchsorted(values, edges, "right") - 1, 0)
        _move_to_nearest(cells, np.ascontiguousarray(values), starts, width, 0.5 * step)


@kernel
def _move_to_nearest(
    cells: Vector, values: Vector, starts: RowNumbers, width: float, most: float
) -> None:
    """Move cells to the nearest of sorted values, the lower of two, where it is near enough.

    `starts` are the places of the last values that are not above steps of some width.
    """
    for i in range(cells.size):
        cell = cells[i]
        if not (values[0] - most <= cell <= values[values.size - 1] + most):
            continue
        place = min(max(0, int((cell - values[0]) / width)), starts.size - 2)
        low, size = starts[place], starts[place + 1] - starts[place] + 1
        while size > 1:  # the last value of the step that is not above the cell, or the first
            half = size >> 1
            low += half if values[low + half] <= cell else 0
            size -= half
        # The step may be the next one, by rounding.
        low += low + 1 < values.size and values[low + 1] <= cell
        low -= low > 0 and values[low] > cell
        best = values[low]
        if low + 1 < values.size and values[low + 1] - cell < abs(cell - best):
            best = values[low + 1]
        if abs(cell - best) <= most:
            cells[i] = best


def by_equal_cells(
    features: Features,
    threads: int,
    in_buckets: Callable[[Features], tuple[RowNumbers, Best]] = best_in_buckets,
) -> tuple[Resemblance, Vector, RowNumbers]:
    """Return the resemblance by equal cells, and what exact copies would give, of which people.

    Parameters
    ----------
    features : Features
        With released cells on the original's lattices, and a column of gaps if there are any.
    threads : int
    in_buckets : callable
        What finds people in long tables.
    """
    original, released = features.original, features.released
    n, n_released = original.n_rows, released.n_rows
    every: RowNumbers = np.arange(n, dtype=np.int64)
    if n * (n + n_released) * features.n_columns <= _EQUAL_WORK:
        weights, own_people = equal_weights(original, every), every
        told: dict[str, Any] = {"weights": weights, "threads": threads}
        among = best_by_equal_cells(original, every, original, own=every, **told)
        across = best_by_equal_cells(original, every, released, **told)
        tail, fifth = _calibrated(among.scores)
        found = _resemblance(every, across, fifth, tail, n_released / n, n)
    else:
        del every
        order = np.random.default_rng(_SEED).permutation(n)
        own_people, others = np.sort(order[:_CALIBRATED]), np.sort(order[:_REFERENCES])
        del order
        weights, reference = equal_weights(original, own_people), original.rows(others)
        place = np.searchsorted(others, own_people)
        told = {"weights": weights, "threads": threads}
        among = best_by_equal_cells(original, own_people, reference, own=place, **told)
        tail, fifth = _calibrated(among.scores)
        people, best = in_buckets(features)
        theirs = best_by_equal_cells(
            original, people, reference, own=_places(others, people), threads=threads
        )
        found = _resemblance(people, best, theirs.scores[:, 4], tail, n_released / others.size, n)
    found = _bounded(found, features, n_released)
    own = np.minimum(1.0, tail.beyond(weights.sum(axis=1) - fifth))
    own = np.maximum(own, n_released * shuffled_bound(weights, weights.sum(axis=1)))
    return found, own, own_people


def _by_near_cells(
    lenses: Lenses, features: Features, near_people: int | None, threads: int
) -> tuple[Resemblance, CloserShare]:
    """Return the resemblance by near cells, and the closer share."""
    original, released = features.original, features.released
    n, n_released = original.n_rows, released.n_rows
    most = _NEAR_WORK // ((n + n_released) * max(1, features.n_columns))
    order = np.random.default_rng(_SEED).permutation(n).astype(np.int64)
    wanted = n if near_people is None else min(n, near_people)
    if most >= min(wanted, _FEWEST):
        people = np.sort(order[: min(wanted, most)])
        told: dict[str, Any] = {"weights": equal_weights(original, people), "threads": threads}
        among = best_by_near_cells(original, people, original, own=people, **told)
        across = best_by_near_cells(original, people, released, **told)
    else:
        people = np.sort(order[: min(wanted, _SAMPLED)])
        among = best_of_the_nearest(lenses, features, people, threads=threads)
        across = best_of_the_nearest(lenses, features, people, of_the_release=True, threads=threads)
    tail, fifth = _calibrated(among.scores)
    found = _resemblance(people, across, fifth, tail, n_released / n, people.size)
    if not original.numbers.shape[0]:  # of levels only equal ones are near
        found = _bounded(found, features, n_released)
    return found, _closer(features, people, among, across.scores[:, 0])


def _calibrated(among: Matrix) -> tuple[Tail, Vector]:
    """Return the tail of what chance gives, and everybody's fifth best score."""
    return fit_tail(among[:, 0] - among[:, 5]), among[:, 4]


def _resemblance(
    people: RowNumbers, best: Best, fifth: Vector, tail: Tail, factor: float, looked_at: int
) -> Resemblance:
    resemblance = best.scores[:, 0] - fifth
    chances = np.minimum(1.0, factor * tail.beyond(resemblance))
    large = float(np.quantile(tail.values, 1.0 - _LARGE)) if tail.values.size else np.inf
    count, expected = int(np.sum(resemblance > large)), min(1.0, factor * _LARGE) * people.size
    excess = (count - expected) / np.sqrt(max(1.0, count + expected))
    return Resemblance(people, chances, best.rows[:, 0], looked_at, float(excess))


def _bounded(found: Resemblance, features: Features, n_released: int) -> Resemblance:
    """Return the resemblance with p at least what shuffled columns can give."""
    small = np.flatnonzero(found.chances <= _DOUBTFUL)
    chances = found.chances.copy()
    people, rows = found.people[small], found.released_rows[small]
    weights = equal_weights(features.original, people)
    equal = _equal_cells(features.original, people, features.released, rows)
    bound = n_released * shuffled_bound(weights, (weights * equal).sum(axis=1))
    chances[small] = np.minimum(1.0, np.maximum(chances[small], bound))
    return Resemblance(found.people, chances, found.released_rows, found.looked_at, found.excess)


def shuffled_bound(weights: Matrix, scores: Vector) -> Vector:
    """Return a bound of the probability that one row of shuffled columns scores so much.

    Chernoff's: the smallest over theta of exp(-theta S) times the product over the columns of
    1 - f + f exp(theta w), f = exp(-w) being the share of the originals with the person's value.

    Examples
    --------
    >>> shuffled_bound(np.log([[100.0, 100.0]]), np.log([1e4])).round(4)  # at least 1e-4
    array([0.0002])
    """
    shares = np.exp(-weights)
    best = np.zeros(scores.size)
    for theta in _THETAS:
        growth = np.log1p(shares * np.expm1(theta * weights)).sum(axis=1)
        best = np.minimum(best, growth - theta * scores)
    return np.asarray(np.exp(best))


def _equal_cells(
    original: FeatureTable, people: RowNumbers, released: FeatureTable, rows: RowNumbers
) -> np.ndarray:
    """Return which cells each person has in common with one released row, shape (m, columns)."""
    mine, theirs = original.numbers[:, people], released.numbers[:, rows]
    numbers = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    return np.vstack([numbers, original.codes[:, people] == released.codes[:, rows]]).T


def _places(sorted_rows: RowNumbers, rows: RowNumbers) -> RowNumbers:
    """Return where rows stand in a sorted list, -1 for those that do not."""
    place = np.minimum(np.searchsorted(sorted_rows, rows), sorted_rows.size - 1)
    return np.where(sorted_rows[place] == rows, place, -1).astype(np.int64)


def _closer(features: Features, people: RowNumbers, among: Best, across: Vector) -> CloserShare:
    """Return the share of people whose best released row beats the best other original."""
    different = [np.unique(row_hashes(t)).size for t in (features.original, features.released)]
    expected = different[1] / max(1, different[1] + different[0] - 1)
    best = among.scores[:, 0]
    slack = 1e-9 * np.maximum(1.0, best)
    wins, ties = across > best + slack, np.abs(across - best) <= slack
    share = float(np.mean(wins + expected * ties)) if people.size else expected
    error = np.sqrt(expected * (1.0 - expected) * _design_effect(people, among) / people.size)
    z = (share - expected) / error if error > 0.0 else 0.0
    return CloserShare(share, expected, float(z), people.size)


def _design_effect(people: RowNumbers, among: Best) -> float:
    """Return by what the variance of the share exceeds that of independent people.

    People have neighbours in common. In random halves of the original everybody's nearest other is
    in the other half or not; the variance of their share is seen.
    """
    known, place = np.unique(np.concatenate([people, among.rows.ravel()]), return_inverse=True)
    own = place[: people.size]
    others = place[people.size :].reshape(among.rows.shape)
    tied = (among.scores >= among.scores[:, :1] - 1e-9) & (among.rows >= 0)
    counts = np.maximum(1, tied.sum(axis=1))
    rng = np.random.default_rng(_SEED)
    shares = np.empty(_HALVINGS)
    for number in range(_HALVINGS):
        half = rng.integers(0, 2, size=known.size, dtype=np.int8)
        there = np.sum((half[others] == 1) & tied, axis=1) / counts
        mine = half[own] == 0
        shares[number] = there[mine].mean() if mine.any() else 0.5
    plain = 0.25 / (0.5 * max(1, people.size))
    return max(1.0, float(shares.var()) / plain)
