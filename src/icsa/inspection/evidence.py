"""What whole numbers say by themselves: that they are given, levels, or measured.

Measured numbers have a smooth density. On a lattice that tells how many of them coincide, as
birthdays do: so many as `expected_ties` says. Numbers that were given, one to a person, coincide
less. Levels coincide more: most points between them have nobody. And where a design gave every
level to as many people, their counts differ less than chance lets counts differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.columns.levels import FEWEST_HOLDERS
from icsa.inspection.limits import LIMITS
from icsa.inspection.profile import Counts, Profile
from icsa.matrices import Vector

__all__ = ["Spacing", "are_even", "are_levels", "chance_if_measured", "spacing_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Spacing:
    """Sorted whole numbers, as points of the coarsest lattice that holds them.

    Attributes
    ----------
    points : array of int
        Different ones, ascending, from 0.
    held : array of int
        How many rows hold each.
    """

    points: npt.NDArray[np.int64]
    held: Counts


def spacing_of(profile: Profile, without: Collection[float] = ()) -> Spacing:
    """Return the points of a column of whole numbers, of which at least two differ.

    Numbers that stand for missing may be left out.
    """
    order = np.argsort(profile.numbers)
    order = order[~np.isin(profile.numbers[order], list(without))]
    points = (profile.numbers[order] - profile.numbers[order[0]]).astype(np.int64)
    return Spacing(points // max(1, int(np.gcd.reduce(points))), profile.held[order])


def expected_ties(spacing: Spacing) -> float:
    """Return how many pairs of rows hold the same number, were the numbers measured.

    Ten neighbours at a time are taken to be spread evenly: k of them with a distance of w points
    between the outermost have (k - 1)^2 / 2 w pairs. Nothing is supposed of the density from block
    to block.

    Examples
    --------
    >>> spread = Spacing(np.arange(0, 4000, 10), np.ones(400, dtype=np.int64))
    >>> expected_ties(spread)  # 40 blocks of 10 cells, 90 points between their ends
    18.0
    """
    cells = np.repeat(spacing.points, spacing.held)
    blocks = max(1, cells.size // LIMITS.neighbours)
    first = np.linspace(0, cells.size, blocks + 1).astype(np.intp)
    between = np.diff(first) - 1
    width = np.maximum(cells[first[1:] - 1] - cells[first[:-1]], 1)
    return float((between**2 / (2 * width)).sum())


def chance_if_measured(spacing: Spacing) -> float:
    """Return a limit of the chance that measured numbers coincide as rarely as these do.

    Chernoff's limit for t pairs where m are expected: exp(t - m) (m / t)^t.

    Examples
    --------
    >>> spread = Spacing(np.arange(0, 4000, 10), np.ones(400, dtype=np.int64))
    >>> chance_if_measured(spread) < 1e-7
    True
    """
    ties = float((spacing.held * (spacing.held - 1) / 2).sum())
    expected = expected_ties(spacing)
    if ties >= expected:
        return 1.0
    return math.exp(ties - expected + (ties * math.log(expected / ties) if ties else 0.0))


def are_even(numbers: Vector) -> bool:
    """Return whether sorted numbers are spread over their range as evenly as drawn lots.

    Kolmogorov's distance from an even distribution is below what two in three of such have.

    Examples
    --------
    >>> are_even(np.arange(100.0)), are_even(np.exp(np.arange(100.0) / 20))
    (True, False)
    """
    even = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
    ranks = (np.arange(numbers.size) + 0.5) / numbers.size
    return bool(np.abs(even - ranks).max() * math.sqrt(numbers.size) < LIMITS.evenness)


def are_levels(spacing: Spacing) -> bool:
    """Return whether numbers that repeat can only be those that occur.

    Each must be held by three rows, and by five on average, so that none points at a person. Then
    either most points between them are empty, where measured numbers would have filled them, or
    all are held equally often, as a design does and chance does not.

    Examples
    --------
    >>> schools = Spacing(np.array([0, 64, 72, 84, 93, 150, 238, 301, 355]), np.full(9, 40))
    >>> are_levels(schools)
    True
    """
    levels, held = spacing.points.size, spacing.held
    if not LIMITS.few_values < levels <= LIMITS.most_levels_of_types:
        return False
    if held.min() < FEWEST_HOLDERS or held.sum() < LIMITS.rows_a_value * levels:
        return False
    return _are_sparse(spacing) or _are_balanced(held)


def _are_sparse(spacing: Spacing) -> bool:
    """Return whether points are empty that chance leaves empty in w exp(-n / w) of w cases."""
    points, held = spacing.points, spacing.held
    levels = points.size
    blocks = max(1, levels // max(5, math.isqrt(levels)))
    first = np.linspace(0, levels, blocks + 1).astype(np.intp)
    width = np.diff(np.append(points, points[-1] + 1)[first])
    rows = np.add.reduceat(held, first[:-1])
    empty = int(points[-1]) + 1 - levels
    by_chance = float((width * np.exp(-rows / width)).sum())
    excess = (empty - by_chance) / math.sqrt(max(by_chance, 1.0))
    return empty >= levels and excess > LIMITS.empty_errors


def _are_balanced(held: Counts) -> bool:
    """Return whether counts differ less than chance lets them, by a chi-squared statistic.

    Its cube root is nearly normal (Wilson and Hilferty).
    """
    free = held.size - 1
    ratio = float(((held - held.mean()) ** 2).sum() / held.mean() / free)
    error = 2.0 / (9.0 * free)
    return math.cbrt(ratio) < 1.0 - error - LIMITS.balance_errors * math.sqrt(error)
