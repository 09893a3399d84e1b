"""Membership: is this person in the table? Told by how near released rows are.

Two scores: the distance to the nearest released row, and the density of the release at the person
over that of people who are known not to be in the table (density ratio). The latter does not fall
for people who are near to everybody. Densities are by the distance to the nearest row: their ratio
is a power of the ratio of two distances.

How well a score tells members from others is the probability that it is higher for a member (area
under the curve; one half by chance). That is an average; beside it stands the members' share among
the 1% with the highest scores, of as many of either kind.

References
----------
van Breugel, B., Sun, H., Qian, Z., van der Schaar, M. (2023), Membership inference attacks against
synthetic data through overfitting detection. AISTATS 2023.
DeLong, E. R., DeLong, D. M., Clarke-Pearson, D. L. (1988), Biometrics 44, 837-845.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from icsa.attacks.protocol import AttackResult, Tally, Targets
from icsa.attacks.tallies import constant, not_applicable, outcome, tally_of_trials
from icsa.attacks.whom import drawn, whom
from icsa.comparison.features import FeatureTable
from icsa.correlations import area_under_curve, midranks
from icsa.matrices import Vector
from icsa.privacy.lenses import robust_units
from icsa.privacy.neighbours import nearest
from icsa.threads import threads_for

__all__ = ["area_tally", "tell_members"]

_TOP = 0.01
# A distance of nothing has no logarithm; no other distance in robust units is as small.
_NOTHING = 1e-150
_GUESS = "who is in the table"
_HALF = constant(0.5)


def tell_members(
    targets: Targets, *, people: int, rng: np.random.Generator
) -> tuple[AttackResult, ...]:
    """Return how well members are told from people who are not in the table.

    Without such people: how many members are nearer to the release than to as many others of the
    original; one half of fresh people are.

    Parameters
    ----------
    targets : Targets
    people : int
        How many are tried at most, of either kind.
    rng : numpy Generator

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(90, 3))
    >>> features = as_features(x[:50], x[:50])
    >>> targets = Targets(features=features, outsiders=as_features(x[50:], x).original)
    >>> records = tell_members(targets, people=50, rng=np.random.default_rng(2))
    >>> [found.right.value for found in records]
    [1.0, 1.0, 1.0, 1.0]
    """
    seen = whom(targets, people, rng)
    centres, scales = robust_units(seen.released.numbers)
    release = _standardized(seen.released, centres, scales)
    members = _standardized(seen.members, centres, scales)
    if seen.outsiders is None:
        original = _standardized(seen.original, centres, scales)
        return (_nearer_than_others(members, release, original, seen.rows, rng),)
    others = _standardized(seen.outsiders, centres, scales)
    inside, outside = (_distances(part, release) for part in (members, others))
    records = list(_told("the person", "the nearest row", -inside, -outside, rng))
    knows = "the person, and others like them"
    if others.n_rows < 2:
        reason = "two people who were not in the table are needed"
        guesses = f"{_GUESS}, by density"
        records.append(not_applicable("membership", knows=knows, guesses=guesses, reason=reason))
    else:
        records += _told(knows, "density", *_density_ratios(members, others, release, rng), rng)
    return tuple(records)


def area_tally(inside: Vector, outside: Vector) -> Tally:
    """Return the area under the curve as a tally, with DeLong's variance.

    Examples
    --------
    >>> area_tally(np.array([3.0, 2.0]), np.array([1.0, 2.0])).share
    0.875
    """
    area = area_under_curve(inside, outside)
    n, m = inside.size, outside.size
    every = midranks(np.concatenate([inside, outside])[:, None])[:, 0]
    own = [midranks(part[:, None])[:, 0] for part in (inside, outside)]
    above = (every[:n] - own[0]) / m
    below = 1.0 - (every[n:] - own[1]) / n
    variance = sum(float(part.var(ddof=1)) / part.size for part in (above, below) if part.size > 1)
    least = float(min(n, m))
    effective = area * (1.0 - area) / variance if variance > 0.0 else least
    return Tally(area * (n + m), n + m, max(effective, 1.0) if 0.0 < area < 1.0 else least)


def _told(
    knows: str, by: str, inside: Vector, outside: Vector, rng: np.random.Generator
) -> tuple[AttackResult, ...]:
    """Return the records of one score: pairs told apart, and members among the highest 1%."""
    size = min(inside.size, outside.size)
    first, second = (part[drawn(part.size, size, rng)] for part in (inside, outside))
    scores = np.concatenate([first, second])
    top = max(1, round(_TOP * scores.size))
    order = np.lexsort((rng.random(scores.size), -scores))[:top]
    cases = (
        (f"{_GUESS}, by {by}", area_tally(inside, outside)),
        (f"{_GUESS}, by {by}: the surest 1%", tally_of_trials(order < size)),
    )
    return tuple(
        outcome(
            "membership",
            knows=knows,
            guesses=guesses,
            right=right,
            control=_HALF,
            naive=_HALF,
            control_is="people who were not in the table",
        )
        for guesses, right in cases
    )


def _density_ratios(
    members: FeatureTable, others: FeatureTable, release: FeatureTable, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """Return the log ratio of distances: to people known to be outside, and to the release.

    One half of the outsiders is what densities are compared with, the other is tried; then the
    other way round. Members are compared with either half, at random.
    """
    halves = np.array_split(rng.permutation(others.n_rows), 2)
    sides = np.array_split(rng.permutation(members.n_rows), 2)
    inside, outside = np.empty(members.n_rows), np.empty(others.n_rows)
    for k in (0, 1):
        known = others.rows(np.sort(halves[k]))
        for scores, table, rows in (
            (inside, members, sides[k]),
            (outside, others, halves[1 - k]),
        ):
            people = table.rows(rows)
            away = _distances(people, known)
            scores[rows] = np.log(away) - np.log(_distances(people, release))
    return inside, outside


def _nearer_than_others(
    members: FeatureTable,
    release: FeatureTable,
    original: FeatureTable,
    own: np.ndarray,
    rng: np.random.Generator,
) -> AttackResult:
    """Return how many are nearer to the release than to as many other originals."""
    about: dict[str, Any] = {"knows": "the person", "guesses": f"{_GUESS}, by the nearest row"}
    if original.n_rows < 2:
        reason = "two people or more are needed"
        return not_applicable("membership", reason=reason, **about)
    size = min(release.n_rows, original.n_rows - 1)
    rows = drawn(release.n_rows, size, rng)
    to_release = _distances(members, release.rows(rows))
    if size < original.n_rows - 1:
        kept = drawn(original.n_rows, size + 1, rng)
        place = np.full(original.n_rows, -1, dtype=np.int64)
        place[kept] = np.arange(kept.size)
        others, own = original.rows(kept), place[own]
    else:
        others = original
    to_others = nearest(members, others, own=own, threads=_threads(others)).distances[:, 0]
    nearer = (to_release < to_others) + 0.5 * (to_release == to_others)
    return outcome(
        "membership",
        right=Tally(float(nearer.sum()), nearer.size, float(nearer.size)),
        control=_HALF,
        naive=_HALF,
        control_is="the original without the person",
        **about,
    )


def _standardized(table: FeatureTable, centres: Vector, scales: Vector) -> FeatureTable:
    """Return a table in robust units of the release: the attacker has no others."""
    return FeatureTable((table.numbers - centres[:, None]) / scales[:, None], table.codes)


def _distances(people: FeatureTable, points: FeatureTable) -> Vector:
    """Return distances to the nearest row, nothing counting as next to nothing."""
    found = nearest(people, points, threads=_threads(points))
    return np.maximum(found.distances[:, 0], _NOTHING)


def _threads(table: FeatureTable) -> int:
    return threads_for(table.numbers.size + table.codes.size, None)
