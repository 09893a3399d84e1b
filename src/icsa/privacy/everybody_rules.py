"""The rules about everybody, standing out or not: each returns its reasons, or none."""

from __future__ import annotations

from collections.abc import Mapping

from icsa.privacy.everybody import Everybody, Resemblance
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.reasons import Reason, Word

__all__ = [
    "of_closer_share",
    "of_equal_cells",
    "of_exact_rows",
    "of_extremes",
    "of_near_cells",
    "of_resemblance",
]


def of_exact_rows(limits: Mapping[str, float], exact: ExactRows) -> list[Reason]:
    """Return whether more unique people are repeated in every cell than doubles lead to expect."""
    if exact.chance > limits["exact_look"]:
        return []
    text = (
        f"{exact.matched.size} of the {exact.unique} people who are like nobody else in the "
        "original stand in the release cell by cell, whether they stand out or not; chance would "
        f"give about {exact.expected:.0f} (P = {exact.chance:.2g})"
    )
    word: Word = "do not release" if exact.chance <= limits["exact_stop"] else "look again"
    return [Reason(word, "exact rows", text, tuple(exact.matched.tolist()))]


def of_equal_cells(limits: Mapping[str, float], everybody: Everybody) -> list[Reason]:
    """Return whether people have rarer cells in common with a released row than chance explains."""
    what = "cells in common with one released row that are too rare together for chance"
    return _resembling(limits, everybody.equal, "equal", "equal cells", what)


def of_near_cells(limits: Mapping[str, float], everybody: Everybody) -> list[Reason]:
    """Return whether a released row is near to people in more cells than chance explains."""
    what = "a released row that is near in too many cells together for chance"
    return _resembling(limits, everybody.near, "near", "near cells", what)


def of_closer_share(limits: Mapping[str, float], everybody: Everybody) -> list[Reason]:
    """Return whether many more people are nearer to the release than to anybody else."""
    closer = everybody.closer
    if closer.z < limits["closer_clear"] or closer.as_if_copied < limits["closer_look"]:
        return []
    text = (
        f"{closer.share:.0%} of people are nearer to the release than to anyone else (of fresh "
        f"people {closer.expected:.0%}), as if {closer.as_if_copied:.0%} had been copied"
    )
    stops = closer.as_if_copied >= limits["closer_stop"]
    return [Reason("do not release" if stops else "look again", "closer", text)]


def of_resemblance(limits: Mapping[str, float], everybody: Everybody) -> list[Reason]:
    """Return whether many people resemble a released row a little more than chance explains."""
    if everybody.near.excess < limits["large_clear"]:
        return []
    text = (
        "Many more people than one in twenty resemble a released row as only one in twenty "
        f"resembles another original ({everybody.near.excess:.1f} standard errors more)"
    )
    return [Reason("look again", "resemblance", text)]


def of_extremes(limits: Mapping[str, float], extremes: Extremes) -> list[Reason]:
    """Return whether more unique extremes are released as they are than chance explains."""
    if extremes.released.size < 2 or extremes.chance > limits["extremes_look"]:
        return []
    text = (
        f"{extremes.released.size} of the {extremes.people} people who alone have a column's "
        "largest or smallest value have it released as it is; chance would give about "
        f"{extremes.expected:.1f} (P = {extremes.chance:.2g})"
    )
    return [Reason("look again", "extremes", text, tuple(extremes.released.tolist()))]


def _resembling(
    limits: Mapping[str, float], found: Resemblance, name: str, rule: str, what: str
) -> list[Reason]:
    chance = found.chance
    if chance > limits[f"{name}_look"]:
        return []
    people = found.found(limits[f"{name}_look"])
    text = (
        f"{people.size} of the {found.looked_at} people who were looked at: {what} (joint P = "
        f"{chance:.2g}); who that is need not stand out"
    )
    word: Word = "do not release" if chance <= limits[f"{name}_stop"] else "look again"
    return [Reason(word, rule, text, tuple(people.tolist()))]
