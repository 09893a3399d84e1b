"""The document's part about people with several rows."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from icsa.assessment.document_parts import (
    INTERNAL,
    Count,
    Few,
    Formula,
    Measure,
    Name,
    Number,
    Part,
    Words,
)
from icsa.privacy.reasons import Status, Word

__all__ = ["KeptWithin", "PeopleColumn", "SingleRows", "Trajectories", "UnitTable", "Units"]

Line: TypeAlias = list[tuple[float, float]]


class UnitTable(Part, frozen=True):
    """How many units a table has, and rows of them."""

    units: Count
    rows: Count
    largest: Annotated[
        Count | None, INTERNAL, Meta(description="Rows of the unit that has most; of one person.")
    ]
    sampled: Annotated[
        Count | UnsetType,
        Meta(
            description="Units, drawn at random, that what holds within units and parts of people "
            "are from; absent where these are all."
        ),
    ] = UNSET


class KeptWithin(Part, frozen=True):
    """What holds within units, and in which share of them."""

    rule: Formula
    original: Number
    released: Number


class PeopleColumn(Part, frozen=True):
    """A column that people are compared by: what of a column of the tables it is."""

    name: Name
    column: Annotated[Name | None, Meta(description="Null for the number of rows.")]
    how: Annotated[Words, Meta(description="Empty where it is the same in all rows of a unit.")]


class SingleRows(Part, frozen=True):
    """What was found of rows that are people themselves, such as pupils of schools."""

    verdict: Word
    people: Few
    status: dict[Status, Few]
    verbatim: Measure


class Trajectories(Part, frozen=True):
    """Some people's values over time; those of the original are for the internal edition only."""

    column: Name
    time: Name
    clock: Annotated[Words, Meta(description="What times count, where they are dates.")]
    original: Annotated[list[Line], INTERNAL]
    released: list[Line]


class Units(Part, frozen=True, kw_only=True):
    """Whom the rows are about where people have several, and what was found besides."""

    unit: Name
    time: Name | None
    bound: Name | None
    role: Name | None
    original: UnitTable
    released: UnitTable
    kept: list[KeptWithin]
    parts: Measure
    single_rows: SingleRows | None
    columns: list[PeopleColumn]
    trajectories: list[Trajectories]
