"""The control: people who were not in the table, beside whom those in it are attacked.

A release by a plan is rehearsed (`icsa.assessment.rehearsal`); for a release by another tool a
holdout can be given. With neither, all that is left is the nearest other original, which is weaker:
whoever is nearer to the release than to others may be so by chance or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from icsa.attacks import AttackResult, pooled
from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.measures import Measure
from icsa.privacy.exact_rows import exact_rows
from icsa.privacy.member_scores import MemberScores
from icsa.privacy.membership_rounds import Round, nearest_share, pooled_area
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Reason

__all__ = [
    "NO_CONTROL",
    "Control",
    "ControlKind",
    "beside_control",
    "control_reasons",
    "held_out",
    "people_for",
    "pooled_by_split",
    "without_control",
]

ControlKind: TypeAlias = Literal["rehearsal", "holdout", "none"]

_WEAKER = (
    "the nearest other original, which is weaker than people who were not in the table: give some "
    "(--holdout FILE), or say how icsa made the release (--recipe NAME), so that it is rehearsed"
)
# Steps that scoring one release may take: about as many seconds as billions.
_STEPS = 1_000_000_000
_FEWEST_PEOPLE, _MOST_PEOPLE = 200, 2_000
# With fewer people, or fewer of the nearest, nothing can be told.
_FEWEST_HELD_OUT, _FEWEST_NEAREST = 20, 25
_FEWEST_TOLD = 3
# So many splits tell how much they vary.
_ENOUGH_SPLITS = 5
# Fixed, and no secret: it chooses the people who are looked at.
_SEED = 20_006
_SAID: Mapping[ControlKind, str] = MappingProxyType(
    {
        "rehearsal": "rehearsed on {control.n_halves} random halves of the people, the recipe "
        "tells who was in the table",
        "holdout": "beside {control.n_people} people who were not in it, the release tells who was "
        "in the table",
    }
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Control:
    """Which control an assessment had, and how the people in the table fared beside it.

    Attributes
    ----------
    kind : "rehearsal", "holdout" or "none"
    words : str
        What that was, or why there is none.
    n_people : int
        People who were not in the table: rows of the holdout; all people, in a rehearsal.
    n_halves : int
        Releases of half of the people.
    told_apart : Measure, optional
        The chance that of somebody in the table and somebody who is not, the former is nearer to
        the release by `icsa.privacy.member_scores`: the AUC, .5 where nothing is told.
    nearest : Measure, optional
        Share of people in the table among the 1% who are nearest; .5 where nothing is told.
    outsiders : FeatureTable, optional
        The holdout.
    attacks : tuple of AttackResult
        Of a rehearsal: what attackers get, beside the same on people who were not in the half.
    """

    kind: ControlKind
    words: str
    n_people: int = 0
    n_halves: int = 0
    told_apart: Measure | None = None
    nearest: Measure | None = None
    outsiders: FeatureTable | None = None
    attacks: tuple[AttackResult, ...] = ()

    def __repr__(self) -> str:
        """Show its kind and sizes."""
        return f"<Control: {self.kind}, {self.n_people} people, {self.n_halves} halves>"


NO_CONTROL = Control(kind="none", words=_WEAKER)


def without_control(why: str) -> Control:
    """Return that there is no control, and why.

    Examples
    --------
    >>> without_control("not rehearsed").words[:45]
    'not rehearsed. Compared was with the nearest '
    """
    return Control(kind="none", words=f"{why}. Compared was with {_WEAKER}")


def held_out(comparison: Comparison, others: FeatureTable) -> Control:
    """Return how people in the table fare beside others who were not in it.

    Parameters
    ----------
    comparison : Comparison
        Of the original and the release.
    others : FeatureTable
        People like those in the table, encoded like it.

    Returns
    -------
    Control
        Of kind "none" where some of the others are people of the original.
    """
    if others.n_rows < _FEWEST_HELD_OUT:
        raise InputError(
            f"The holdout has {others.n_rows} rows, and at least {_FEWEST_HELD_OUT} are needed to "
            "tell anything. Leave it out, or give more people who were not in the table."
        )
    features = comparison.features
    shared = exact_rows(features.with_released(others))
    n, m = features.original.n_rows, others.n_rows
    if shared.chance <= Policy().exact_look.value:
        # A small count would tell of people in a public edition.
        who = f"{shared.matched.size:,}" if shared.matched.size >= _FEWEST_TOLD else "some"
        return without_control(
            f"the {m:,} rows that were given as people who were not in the table repeat {who} of "
            f"its people in every cell (chance would give about {shared.expected:.0f}): they are "
            "no holdout"
        )
    rng = np.random.default_rng(_SEED)
    count = min(n, m, people_for(n + m, features.released.n_rows, features.n_columns) // 2)
    people = np.concatenate(
        [np.sort(rng.permutation(n)[:count]), n + np.sort(rng.permutation(m)[:count])]
    )
    scores = MemberScores(_together(features.original, others), people)(features.released)
    rounds = [Round(scores[:count], scores[count:])]
    return Control(
        kind="holdout",
        words=f"{m:,} people who were not in the table, as they were given",
        n_people=m,
        told_apart=pooled_area(rounds, roles=1),
        nearest=nearest_share(rounds, roles=1, fewest=_FEWEST_NEAREST),
        outsiders=others,
    )


def pooled_by_split(halves: Sequence[Sequence[AttackResult]]) -> tuple[AttackResult, ...]:
    """Return what attackers get from the halves of several splits, as one result each.

    Both halves of a split follow each other and have the same people, who change places. Where
    differences vary more between splits than their interval knows of, it is widened.
    """
    found = []
    for place, result in enumerate(pooled(halves)):
        values = [half[place].difference.value for half in halves]
        known = np.array([np.nan if value is None else value for value in values])
        by_split = known.reshape(-1, 2).mean(axis=1)
        found.append(_widened(result, by_split[~np.isnan(by_split)]))
    return tuple(found)


def _widened(result: AttackResult, by_split: Vector) -> AttackResult:
    told = result.difference
    if by_split.size < _ENOUGH_SPLITS or told.value is None or told.low is None:
        return result
    half = 1.96 * float(by_split.std(ddof=1)) / math.sqrt(by_split.size)
    low, high = min(told.low, told.value - half), max(told.high or 0.0, told.value + half)
    return replace(result, difference=replace(told, low=max(-1.0, low), high=min(1.0, high)))


def beside_control(control: Control, attackers: Sequence[AttackResult]) -> tuple[AttackResult, ...]:
    """Return what attackers get: from halves where it was rehearsed, else from the release."""
    rehearsed = {result.attack for result in control.attacks}
    return (*control.attacks, *(one for one in attackers if one.attack not in rehearsed))


def people_for(n_reference: int, n_released: int, n_columns: int) -> int:
    """Return how many people are looked at: fewer in long and wide tables, where each takes longer.

    Examples
    --------
    >>> people_for(800, 400, 10), people_for(100_000, 50_000, 20)
    (2000, 333)
    """
    affordable = _STEPS // max(1, (n_reference + n_released) * n_columns)
    return min(_MOST_PEOPLE, max(_FEWEST_PEOPLE, affordable))


def control_reasons(control: Control, policy: Policy) -> tuple[Reason, ...]:
    """Return why a release, or the recipe that made it, gives away who was in the table.

    Examples
    --------
    >>> area = Measure(name="AUC", value=0.8, low=0.78, high=0.82)
    >>> told = Control(kind="rehearsal", words="", n_halves=8, told_apart=area)
    >>> [(reason.word, reason.rule) for reason in control_reasons(told, Policy())]
    [('look again', 'rehearsal')]
    """
    area, share = control.told_apart, control.nearest
    found = []
    if area is not None and (area.low or 0.0) > policy.rehearsal_area.value:
        found.append(
            f"of a person in the table and one who was not, the former is the nearer to the "
            f"release in {area.value:.0%} of the cases ({area.low:.0%} to {area.high:.0%})"
        )
    if share is not None and (share.low or 0.0) > policy.rehearsal_nearest.value:
        found.append(
            f"of those who are nearest to the release {share.value:.0%} were in the table "
            f"({share.low:.0%} to {share.high:.0%})"
        )
    if control.kind == "none" or not found:
        return ()
    how = _SAID[control.kind].format(control=control)
    text = f"{how}: {'; '.join(found)}. By chance it would be one half"
    return (Reason("look again", control.kind, text),)


def _together(first: FeatureTable, second: FeatureTable) -> FeatureTable:
    return FeatureTable(
        np.hstack([first.numbers, second.numbers]), np.hstack([first.codes, second.codes])
    )
