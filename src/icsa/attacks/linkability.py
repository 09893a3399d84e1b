"""Linkability: two parts of a person's columns, held by different people, are found to be one's.

The attacker looks for the released row that is nearest in the one part of the columns, and for the
one that is nearest in the other. If they are the same row, the release has linked the two parts.

References
----------
Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023), A unified framework for quantifying
privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.gower import nearest_in_columns, ranges_of
from icsa.attacks.protocol import AttackResult, Tally, Targets
from icsa.attacks.tallies import constant, not_applicable, outcome, tally_of_people
from icsa.attacks.whom import Whom, places_of, whom
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.matrices import Vector
from icsa.measures import NotEstimable

__all__ = ["link"]

# One division of the columns alone would say more about the division than about the release.
_DIVISIONS = 3
_Sets = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]


def link(targets: Targets, *, people: int, rng: np.random.Generator) -> tuple[AttackResult, ...]:
    """Return how often two parts of the columns lead to the same released row.

    Parameters
    ----------
    targets : Targets
        `knows` is the one part, `secret` the other (all other columns where it is empty). Without
        `knows` the columns are divided at random into two halves, three times.
    people : int
        How many are tried at most, of either kind.
    rng : numpy Generator

    Examples
    --------
    The release is the table itself, in another order:

    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(50, 4))
    >>> targets = Targets(features=as_features(x, x[::-1]))
    >>> found, = link(targets, people=50, rng=np.random.default_rng(2))
    >>> found.right.value, found.control_is
    (1.0, 'the original without the person')
    """
    sets = _parts(targets, rng)
    knows = (
        f"{', '.join(targets.knows)}; {', '.join(targets.secret) or 'all other columns'}"
        if targets.knows
        else "half of the columns; the other half"
    )
    about: dict[str, Any] = {"knows": knows, "guesses": "that both are of one person"}
    if isinstance(sets, str):
        return (not_applicable("linkability", reason=sets, **about),)
    released = targets.features.released
    seen = whom(targets, people, rng)
    right = _linked(seen.members, released, sets, None)
    naive: Tally = constant(1.0 / released.n_rows)
    return (
        outcome(
            "linkability",
            right=tally_of_people(right),
            control=_control(seen, sets),
            naive=naive,
            control_is=seen.control_is,
            **about,
        ),
    )


def _control(seen: Whom, sets: _Sets) -> Tally | NotEstimable:
    if seen.outsiders is not None:
        return tally_of_people(_linked(seen.outsiders, seen.released, sets, None))
    return tally_of_people(_linked(seen.members, seen.original, sets, seen.rows))


def _linked(
    people: FeatureTable, table: FeatureTable, sets: _Sets, own: RowNumbers | None
) -> Vector:
    """Return for each person in which share of the divisions both parts lead to the same row."""
    ranges = ranges_of(table)
    same = np.zeros(people.n_rows)
    for parts in sets:
        one, other = (
            nearest_in_columns(people, table, part, ranges=ranges, own=own) for part in parts
        )
        same += (one == other) & (one >= 0)
    return same / len(sets)


def _parts(targets: Targets, rng: np.random.Generator) -> _Sets | str:
    """Return pairs of parts of the columns, or why there are none."""
    every = np.arange(targets.features.n_columns)
    if targets.knows:
        first = places_of(targets.features, targets.knows)
        second = (
            places_of(targets.features, targets.secret)
            if targets.secret
            else np.setdiff1d(every, first)
        )
        return [(first, second)] if second.size else "no column is left for the other part"
    if every.size < 2:
        return "two columns or more are needed"
    half = every.size // 2
    orders = [rng.permutation(every) for _ in range(_DIVISIONS)]
    return [(np.sort(order[:half]), np.sort(order[half:])) for order in orders]
