"""How well a release tells members from people who are not: over one release, or several halves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from icsa.correlations import area_under_curve, midranks
from icsa.matrices import Vector
from icsa.measures import Measure
from icsa.privacy.people_findings import clopper_pearson

__all__ = ["Round", "nearest_share", "pooled_area"]

# The nearest of all who are looked at, and the share of them that `fewest` may raise it to.
_TOP, _MOST_TOP = 0.01, 0.05
_NORMAL = NormalDist().inv_cdf(0.975)
# So many groups of rounds tell how much they vary; fewer are taken at their people's word.
_ENOUGH = 5


@dataclass(frozen=True, eq=False, repr=False)
class Round:
    """One release and the scores of people who were in its table, and of others.

    Examples
    --------
    >>> one = Round(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    >>> one.area, one.top()
    (0.75, (1.0, 1))
    """

    members: Vector
    outsiders: Vector

    @property
    def area(self) -> float:
        """The chance that a member has the larger score of the two; .5 is nothing told."""
        return area_under_curve(self.members, self.outsiders)

    @property
    def variance(self) -> float:
        """Of the area, over people (DeLong)."""
        inside, outside = self.members, self.outsiders
        both = np.concatenate([inside, outside])
        ranks, own, others = (midranks(part[:, None])[:, 0] for part in (both, inside, outside))
        first = (ranks[: inside.size] - own) / outside.size
        second = (ranks[inside.size :] - others) / inside.size
        return float(first.var(ddof=1) / inside.size + second.var(ddof=1) / outside.size)

    def top(self, fewest: int = 1) -> tuple[float, int]:
        """Return how many of those with the largest scores are members, and how many these are.

        These are 1% of all, or `fewest` where that is more, but not more than 5%. Of people with
        equal scores at the end of the list, members count by their share.
        """
        both = np.concatenate([self.members, self.outsiders])
        count = max(1, round(_TOP * both.size), min(fewest, round(_MOST_TOP * both.size)))
        last = np.sort(both)[-count]
        over, tied = self.members > last, self.members == last
        left = count - int(np.sum(both > last))
        return float(over.sum() + left * tied.sum() / np.sum(both == last)), count

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Round: {self.members.size} members, {self.outsiders.size} others>"


def pooled_area(rounds: Sequence[Round], *, roles: int) -> Measure:
    """Return the mean area under the curve of several rounds, with its interval.

    Rounds are independent but for the `roles` that follow each other: the same people, who change
    places. Their areas are averaged, and count as one. The standard error is that over people, as
    if the roles told the same; or that over such groups of rounds where it is larger, and there
    are five or more.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> same = [Round(rng.normal(size=100), rng.normal(size=100)) for _ in range(6)]
    >>> area = pooled_area(same, roles=2)
    >>> area.low < 0.5 < area.high
    True
    """
    areas = np.array([one.area for one in rounds]).reshape(-1, roles).mean(axis=1)
    spread = float(np.mean([one.variance for one in rounds]))
    if areas.size >= _ENOUGH:
        spread = max(spread, float(areas.var(ddof=1)))
    value, half = float(areas.mean()), _NORMAL * math.sqrt(spread / areas.size)
    return Measure.of(
        value,
        name="members told from others (AUC)",
        direction="lower is safer",
        n=sum(one.members.size + one.outsiders.size for one in rounds),
        interval=(max(0.0, value - half), min(1.0, value + half)),
    )


def nearest_share(rounds: Sequence[Round], *, roles: int, fewest: int = 1) -> Measure:
    """Return the share of members among those who are nearest to a release, with its interval.

    It is exact for as many people as the rounds are worth: fewer than all where the share varies
    more between groups of `roles` rounds than shares of independent people do.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> told = [Round(rng.normal(size=100) + 9, rng.normal(size=100)) for _ in range(4)]
    >>> print(nearest_share(told, roles=2))  # 2 people a round, 1% of 200; .025^(1/8) = .631
    1.00 (0.63 to 1.00)
    """
    found, counts = (
        np.array([one.top(fewest) for one in rounds]).reshape(-1, roles, 2).sum(axis=1).T
    )
    total = int(counts.sum())
    share = float(found.sum() / total)
    worth = total
    if counts.size >= _ENOUGH and 0.0 < share < 1.0:
        between = float(np.sum((found - share * counts) ** 2) / (counts.size - 1)) * counts.size
        worth = max(1, round(total / max(1.0, between / (total * share * (1.0 - share)))))
    low, high = clopper_pearson(math.floor(share * worth), worth)[0], 1.0
    if share < 1.0:
        high = clopper_pearson(math.ceil(share * worth), worth)[1]
    return Measure.of(
        share,
        name="share of members among the nearest",
        direction="lower is safer",
        n=total,
        interval=(min(low, share), max(high, share)),
    )
