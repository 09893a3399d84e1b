"""What is asked of people with several rows besides: parts of them, two visits, both levels.

Everything else is asked of a table with a row a person, as of any other table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.assessment.attackers import reasons_of_attacks
from icsa.assessment.controls import Control
from icsa.attacks import AttackResult
from icsa.attacks.two_visits import NAME as TWO_VISITS
from icsa.attacks.two_visits import two_visits
from icsa.columns import storage_of
from icsa.comparison.matching import Comparison
from icsa.comparison.unit_matching import UnitComparison
from icsa.inspection.unit_rows import UnitRows
from icsa.matrices import Vector
from icsa.privacy import Person, Policy, PrivacyAssessment, Reason, assess_privacy
from icsa.privacy.copied_visits import CopiedVisits, copied_visits, of_copied_visits

__all__ = [
    "KeptRule",
    "UnitFindings",
    "in_the_file",
    "look_at_units",
    "of_sample",
    "people_in_file",
]


@dataclass(frozen=True)
class KeptRule:
    """What holds within units, and in which share of them in each table."""

    rule: str
    original: float
    released: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UnitFindings:
    """What was found out about people with several rows besides what is asked of all people.

    Attributes
    ----------
    comparison : UnitComparison
    visits : CopiedVisits
        Rows of people that the release repeats.
    attackers : tuple of AttackResult
        Who know two rows of somebody.
    rows : PrivacyAssessment, optional
        Of rows, where these are people themselves.
    kept : tuple of KeptRule
        What holds within units.
    reasons : tuple of Reason
        Which of it speaks against the release; rows are those of the file.
    """

    comparison: UnitComparison
    visits: CopiedVisits
    attackers: tuple[AttackResult, ...]
    rows: PrivacyAssessment | None
    kept: tuple[KeptRule, ...]
    reasons: tuple[Reason, ...]

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<UnitFindings: {self.comparison!r}, {len(self.reasons)} reasons>"


def look_at_units(
    comparison: Comparison,
    control: Control,
    policy: Policy,
    holdout: pl.DataFrame | None,
    told: Callable[[str, float], None],
    rows: PrivacyAssessment | None = None,
) -> UnitFindings | None:
    """Return what is found about units; None where every row is a person.

    Parameters
    ----------
    comparison : Comparison
    control : Control
        A rehearsal has tried two visits already.
    policy : Policy
    holdout : polars.DataFrame, optional
        Rows of people who were not in the table.
    told : callable
        Is told the stage.
    rows : PrivacyAssessment, optional
        Of rows that are people themselves, where that is known already.
    """
    if not isinstance(comparison, UnitComparison):
        return None
    told("looking for parts of people", 0.55)
    first, second = comparison.rows
    visits = copied_visits(comparison.visit_features, first.unit, second.unit)
    attackers = tuple(result for result in control.attacks if result.attack == TWO_VISITS)
    if not attackers:
        outsiders = None if holdout is None else comparison.visits(holdout)
        attackers = two_visits(*comparison.both_visits, outsiders)
    reasons = [of_sample(r, comparison) for r in of_copied_visits(policy.values(), visits)]
    reasons += reasons_of_attacks(attackers, policy)
    if comparison.rows_are_people:
        told("looking for rows in the release", 0.57)
        if rows is None:
            rows = assess_privacy(comparison.by_row.features, policy=policy)
        reasons += [_of_rows(reason) for reason in rows.verdict.reasons]
    return UnitFindings(
        comparison=comparison,
        visits=visits,
        attackers=attackers,
        rows=rows,
        kept=tuple(_kept(comparison)),
        reasons=tuple(reasons),
    )


def in_the_file(reason: Reason, comparison: Comparison) -> Reason:
    """Return a reason with rows of the file in place of units: the first of each."""
    if not isinstance(comparison, UnitComparison) or not reason.rows:
        return reason
    return replace(reason, rows=comparison.first_rows(reason.rows))


def of_sample(reason: Reason, comparison: Comparison) -> Reason:
    """Return a reason with rows of the file in place of those, or of units, that are in memory."""
    return in_the_file(replace(reason, rows=comparison.rows_of_sample(reason.rows)), comparison)


def people_in_file(people: Sequence[Person], comparison: Comparison) -> tuple[Person, ...]:
    """Return people with rows and columns of the file in place of units and summaries."""
    if not isinstance(comparison, UnitComparison):
        return tuple(people)
    rows = comparison.first_rows([person.row for person in people])
    columns = {summary.name: summary.column for summary in comparison.people_columns}
    return tuple(
        replace(
            person,
            row=row,
            matched_by=tuple(
                (columns[name], share) for name, share in person.matched_by if columns[name]
            ),
        )
        for person, row in zip(people, rows, strict=True)
    )


def _of_rows(reason: Reason) -> Reason:
    """Return a reason about rows that are people of their own."""
    return replace(reason, text=f"Of single rows: {reason.text[:1].lower()}{reason.text[1:]}")


def _kept(comparison: UnitComparison) -> list[KeptRule]:
    """Return what holds within units, with the shares of units in which it does."""
    design, found = comparison.design, []
    frames = comparison.by_row.original.frame, comparison.by_row.released.frame
    both = list(zip(frames, comparison.rows, strict=True))
    constant = [
        name
        for name, where in comparison.belonging.items()
        if where == "unit" and name != design.unit and name in frames[1].columns
    ]
    if constant:
        shares = [_share(~_varying(frame, rows, constant)) for frame, rows in both]
        found.append(KeptRule("columns of units are the same in all their rows", *shares))
    if design.time:
        times = [_numbers(frame, design.time) for frame in frames]
        shares = [
            _share(rows.is_rising(own[rows.order]))
            for own, (_, rows) in zip(times, both, strict=True)
        ]
        found.append(KeptRule("no two rows of a unit are at one time", *shares))
        if design.bound and design.bound in frames[1].columns:
            bounds = [_numbers(frame, design.bound) for frame in frames]
            shares = [
                _share(~rows.any((own > limit)[rows.order]))
                for own, limit, (_, rows) in zip(times, bounds, both, strict=True)
            ]
            found.append(KeptRule(f"{design.time} <= {design.bound}", *shares))
    if comparison.head is not None and design.role in frames[1].columns:
        shares = [_share(_heads(frame, rows, comparison) == 1) for frame, rows in both]
        found.append(KeptRule("every unit has one head", *shares))
    return found


def _share(units: np.ndarray) -> float:
    return float(units.mean())


def _varying(frame: pl.DataFrame, rows: UnitRows, names: Sequence[str]) -> np.ndarray:
    found: np.ndarray = np.logical_or.reduce([rows.varying(frame[name]) for name in names])
    return found


def _numbers(frame: pl.DataFrame, name: str) -> Vector:
    storage = storage_of(frame[name].dtype)
    if storage is None:
        return np.full(frame.height, np.nan)
    return storage.numbers(frame[name])


def _heads(frame: pl.DataFrame, rows: UnitRows, comparison: UnitComparison) -> np.ndarray:
    roles = frame[str(comparison.design.role)].cast(pl.String).gather(rows.order)
    is_head = (roles == comparison.head).fill_null(value=False).to_numpy()
    found: np.ndarray = np.bincount(rows.unit[is_head], minlength=rows.n_units)
    return found
