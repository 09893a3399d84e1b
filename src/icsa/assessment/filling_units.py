"""The part of an assessment's document about people with several rows."""

from __future__ import annotations

import numpy as np
from msgspec import UNSET

from icsa.assessment import document_units as doc
from icsa.assessment.document_parts import measured
from icsa.assessment.unit_assessing import UnitFindings
from icsa.comparison.column_pairs import named
from icsa.comparison.trajectories import Visits
from icsa.privacy import PrivacyAssessment
from icsa.privacy.reasons import STATUSES

__all__ = ["filled_units"]

# Columns and people whose trajectories are drawn, and rows that a line needs.
_PANELS, _PEOPLE, _FEWEST_ROWS = 3, 12, 3
# Fixed, and no secret: it chooses the people who are drawn.
_SEED = 20_018


def filled_units(found: UnitFindings) -> doc.Units:
    """Return sizes, what holds within units, parts of trajectories, and some of these to draw."""
    compared, design = found.comparison, found.comparison.design
    sizes = [
        doc.UnitTable(**size._asdict(), sampled=own.n_units if own.n_units < size.units else UNSET)
        for size, own in zip(compared.sizes, compared.rows, strict=True)
    ]
    return doc.Units(
        unit=str(design.unit),
        time=design.time,
        bound=design.bound,
        role=design.role,
        original=sizes[0],
        released=sizes[1],
        kept=[
            doc.KeptWithin(rule=kept.rule, original=kept.original, released=kept.released)
            for kept in found.kept
        ],
        parts=measured(found.visits.measure, definition="visit_rows", good="above .005"),
        single_rows=None if found.rows is None else _single_rows(found.rows),
        columns=[
            doc.PeopleColumn(name=column.name, column=column.column or None, how=column.how)
            for column in compared.people_columns
        ],
        trajectories=_trajectories(found),
    )


def _single_rows(found: PrivacyAssessment) -> doc.SingleRows:
    words = [person.status for person in found.people]
    return doc.SingleRows(
        verdict=found.verdict.word,
        people=len(words),
        status={status: words.count(status) for status in STATUSES},
        verbatim=measured(
            found.measures["verbatim_rows"],
            definition="verbatim_rows",
            good=f"about {found.by_chance['verbatim_rows']:.2g} by chance",
        ),
    )


def _trajectories(found: UnitFindings) -> list[doc.Trajectories]:
    """Return some people's numbers over time, in the columns with the most different values."""
    compared = found.comparison
    original, released = compared.both_visits
    time = compared.design.time
    if original.times is None or time is None:
        return []
    columns = compared.visit_columns[: original.table.numbers.shape[0]]
    different = [np.unique(column.original).size for column in columns]
    chosen = sorted(np.argsort(different)[::-1][:_PANELS].tolist())
    people = [_drawn_units(visits) for visits in (original, released)]
    return [
        doc.Trajectories(
            column=columns[place].name,
            time=time,
            clock=named(compared.by_row.columns, time).unit,
            original=_lines(original, people[0], place),
            released=_lines(released, people[1], place),
        )
        for place in chosen
    ]


def _drawn_units(visits: Visits) -> np.ndarray:
    several = np.flatnonzero(np.diff(visits.starts) >= _FEWEST_ROWS)
    rng = np.random.default_rng(_SEED)
    return rng.permutation(several)[:_PEOPLE]


def _lines(visits: Visits, units: np.ndarray, place: int) -> list[doc.Line]:
    """Return a line a unit, with the digits that a drawing needs."""
    assert visits.times is not None
    found = []
    for unit in units.tolist():
        own = slice(visits.starts[unit], visits.starts[unit + 1])
        times, values = visits.times[own], visits.table.numbers[place, own]
        known = ~(np.isnan(times) | np.isnan(values))
        pairs = zip(times[known].tolist(), values[known].tolist(), strict=True)
        found.append([(float(f"{x:.6g}"), float(f"{y:.4g}")) for x, y in pairs])
    return [line for line in found if len(line) > 1]
