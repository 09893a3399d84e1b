"""More scores than rows can tell apart: a few factors, and what is left of every score.

No scatter of so many scores is more than a copy of the people: the rows span a space of their own
number, and correlations as they are would give that space away. What all columns have in common, a
few factors, is found so that nobody who stands out decides; the factors of people are masked as
any table is, and what they leave of a score is masked on its own, score by score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from icsa.anonymization import masked_copy
from icsa.forests.laws import middle_and_unit
from icsa.ics import InvariantCoordinates
from icsa.masks import MASKS
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key, as_key
from icsa.release.coordinates import find_coordinates, judge_anchors
from icsa.release.few_rows import factor_notes
from icsa.release.limits import LIMITS
from icsa.shuffling import permutation

__all__ = ["FactorMap", "factor_loadings", "fill_by_factors", "fitted_factors"]

# Standard deviations that scores count as at most when factors are looked for.
_REACH = 3.0
# Tables of the same scores, each shuffled on its own, that a factor must exceed.
_SHUFFLED = 5
_FILLING_ROUNDS = 2
# Times the squared standard error of a slope that are taken off its square: then pairs of columns
# have in a release the correlations that fresh people of simulated tables have, and no stronger.
_CHANCE_IN_SLOPES = 2.0
# Correlation of a score with what factors tell of it, at most, where it is made larger.
_MOST_TOLD = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class FactorMap:
    """A few factors that standardised scores have in common, and how they are masked.

    Attributes
    ----------
    loadings : ndarray of shape (n_scores, n_factors)
        By which scores of people give their factors.
    coordinates : InvariantCoordinates
        Of the factors.
    slopes : ndarray of shape (n_factors, n_scores)
        By which factors tell scores.
    explained : float
        Share of the scores' variance that they tell.
    """

    loadings: Matrix
    coordinates: InvariantCoordinates
    slopes: Matrix
    explained: float

    @property
    def n_factors(self) -> int:
        """How many there are."""
        return int(self.loadings.shape[1])

    def masked(
        self, scores: Matrix, mask: str, key: Key, seen: Callable[[Matrix], Matrix]
    ) -> Matrix:
        """Return other people's scores: masked factors, and what is left, masked by itself.

        `seen` gives what is seen of scores once they are decoded: levels hide a part of what their
        scores have in common with factors, so that the factors' part is made larger there.
        """
        factors = scores @ self.loadings
        left = np.asfortranarray(scores - factors @ self.slopes)
        left = MASKS[mask](left, key=key.child("left"), out=left)
        masked = masked_copy(factors, self.coordinates, mask=mask, random_state=key.child("mask"))
        told = masked @ self.slopes
        made = np.asfortranarray(told + left)
        wanted, kept = _correlations(made, told), _correlations(seen(made), told)
        weaker = np.flatnonzero((kept > 0.0) & (kept < wanted))
        for j in weaker:
            more = min(wanted[j] ** 2 / kept[j], _MOST_TOLD)
            made[:, j] = _mixed(told[:, j], left[:, j], more)
        return made

    def notes(self, n_rows: int) -> tuple[str, ...]:
        """Return what people should know."""
        return factor_notes(n_rows, self.loadings.shape[0], self.n_factors, self.explained)


def fitted_factors(scores: Matrix, scatters: tuple[str, ...]) -> FactorMap:
    """Return the factors of standardised scores without gaps, in coordinates of these scatters."""
    loadings = factor_loadings(scores)
    factors = scores @ loadings
    names = [f"factor {j + 1}" for j in range(loadings.shape[1])]
    found = find_coordinates(factors, judge_anchors(factors, names, scatters), scatters).coordinates
    assert found is not None
    slopes = _slopes(scores, factors)
    left = scores - factors @ slopes
    explained = 1.0 - float((left**2).sum() / (scores**2).sum())
    return FactorMap(loadings, found, slopes, explained)


def _slopes(scores: Matrix, factors: Matrix) -> Matrix:
    """Return the slopes of scores on factors, shrunk by what chance adds to their squares.

    With e the standard error of a slope b, b max(0, 1 - 2 e^2 / b^2): as many scores have nothing
    to do with a factor, their slopes are of this very table, and tell who is in it.
    """
    held = np.clip(scores, -_REACH, _REACH)
    reach = _REACH * np.array([middle_and_unit(factor)[1] for factor in factors.T])
    middle = np.median(factors, axis=0)
    given = np.clip(factors, middle - reach, middle + reach)
    given, held = given - given.mean(axis=0), held - held.mean(axis=0)
    inverse = np.linalg.inv(given.T @ given)
    slopes = inverse @ (given.T @ held)
    left = held - given @ slopes
    free = max(1, held.shape[0] - 1 - factors.shape[1])
    errors = np.outer(np.diag(inverse), (left**2).sum(axis=0) / free)
    shrunk = 1.0 - _CHANCE_IN_SLOPES * errors / np.maximum(slopes**2, 1e-300)
    return np.asarray(slopes * np.maximum(shrunk, 0.0))


def _correlations(one: Matrix, other: Matrix) -> Vector:
    """Return the correlation of each pair of columns in the same place; 0 where one is constant."""
    a, b = one - one.mean(axis=0), other - other.mean(axis=0)
    lengths = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    return np.asarray((a * b).sum(axis=0) / np.where(lengths > 0.0, lengths, np.inf))


def _mixed(told: Vector, left: Vector, correlation: float) -> Vector:
    """Return a sum of both with the variance of told + left, and this correlation with told."""
    whole = float(np.std(told + left))
    told, left = told - told.mean(), left - left.mean()
    left = left - told * float(told @ left) / float(told @ told)
    other = float(left.std())
    rest = math.sqrt(1.0 - correlation**2) * left / other if other > 0.0 else 0.0
    return np.asarray(whole * (correlation * told / float(told.std()) + rest))


def factor_loadings(scores: Matrix) -> Matrix:
    """Return orthonormal loadings of the factors that standardised scores have in common.

    The principal components of the rows' directions from the middle (spatial signs of scores held
    within 3), so that everybody counts alike, as many as explain more than those of the same
    scores each shuffled on its own; one at least, and one for five rows at most.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> common = generator.normal(size=(60, 2))
    >>> scores = common @ generator.normal(size=(2, 100)) + generator.normal(size=(60, 100))
    >>> factor_loadings((scores - scores.mean(axis=0)) / scores.std(axis=0)).shape
    (100, 2)
    """
    held = np.clip(scores, -_REACH, _REACH)
    signs = _signs(held)
    values, vectors = np.linalg.eigh(signs @ signs.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    most = max(1, scores.shape[0] // LIMITS.rows_a_factor)
    chance = np.zeros(values.size)
    key = as_key(0).child("shuffled scores")
    for number in range(_SHUFFLED):
        shuffled = np.empty_like(held)
        for j in range(held.shape[1]):
            shuffled[:, j] = held[permutation(held.shape[0], key.stream(str(number), j)), j]
        shuffled = _signs(shuffled)
        chance = np.maximum(chance, np.linalg.eigvalsh(shuffled @ shuffled.T)[::-1])
    beyond = np.flatnonzero(values[:most] <= chance[:most])
    n_factors = max(1, int(beyond[0]) if beyond.size else most)
    loadings = signs.T @ vectors[:, :n_factors]
    return np.asarray(np.linalg.qr(loadings)[0])


def _signs(held: Matrix) -> Matrix:
    """Return the rows' directions from the middle."""
    centred = held - held.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", centred, centred))
    return np.asarray(centred / np.where(lengths > 0.0, lengths, 1.0)[:, None])


def fill_by_factors(scores: Matrix) -> None:
    """Replace NaN in place by what the factors say, with what they leave of somebody's added.

    As `icsa.release.scores.fill_missing_scores` does for tables with more rows.
    """
    gaps = np.isnan(scores)
    if not gaps.any():
        return
    for j in np.flatnonzero(gaps.any(axis=0)):
        there = scores[~gaps[:, j], j]
        scores[gaps[:, j], j] = there.mean() if there.size else 0.0
    for _ in range(_FILLING_ROUNDS):
        centre, spread = scores.mean(axis=0), scores.std(axis=0)
        spread[spread == 0.0] = 1.0
        standard = np.clip((scores - centre) / spread, -_REACH, _REACH)
        loadings = factor_loadings(standard)
        told = standard @ loadings @ loadings.T
        for j in np.flatnonzero(gaps.any(axis=0) & ~gaps.all(axis=0)):
            own = gaps[:, j]
            drawn = _left_of_somebody(standard[~own, j] - told[~own, j], int(own.sum()), int(j))
            scores[own, j] = centre[j] + spread[j] * (told[own, j] + drawn)


def _left_of_somebody(left: Vector, count: int, place: int) -> Vector:
    """Return some of what is left; the same each time, as nobody has these cells."""
    return np.random.default_rng([1, place]).choice(left, count)
