"""Whom two tables are compared by: units where somebody names them, rows where nobody has to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from icsa.comparison.matching import Comparison, match_tables, with_number
from icsa.comparison.unit_columns import require_names_of_units
from icsa.comparison.unit_matching import match_units
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.inspection.design_checks import require_design, require_said
from icsa.inspection.overview import with_belonging
from icsa.schema import Design, Schema, with_design
from icsa.tables import Table

__all__ = ["are_by_unit", "declared_of", "matched", "require_same_people"]


def declared_of(schema: Schema | None, table: Table, **said: Any) -> Schema:
    """Return a schema with guesses for columns that it does not mention, and whom rows are about.

    Units that nobody has spoken of are an error: compared row by row, a person with six rows would
    count as six.

    Parameters
    ----------
    schema : Schema, optional
    table : Table
        The original.
    **said
        Goes before what the schema says, by the keys of `icsa.schema.Design`.
    """
    found = schema
    if found is None or not all(name in found.columns for name in table.frame.columns):
        guessed = guess_schema(table)
        known = {} if schema is None else schema.columns
        found = replace(schema or guessed, columns={**guessed.columns, **known})
    found = with_design(found, **said)
    require_said(table, found, "Compared")
    require_design(table, found)
    return with_belonging(table, found, guessed=schema is None) if found.design.unit else found


def matched(
    original: Table, released: Table, schema: Schema, leave_out: Sequence[str] = ()
) -> Comparison:
    """Return two tables matched: by unit where the schema names one, else row by row.

    Tables that have nothing in common but the names of units and times are matched by row too: they
    are not the same table, whatever rows of it are about.
    """
    schema = with_number(schema, schema.design.weight)
    if are_by_unit(schema.design, original.frame.columns, released.frame.columns):
        return match_units(original, released, schema, leave_out=leave_out)
    return match_tables(original, released, schema, leave_out=leave_out)


def are_by_unit(design: Design, original: Collection[str], released: Collection[str]) -> bool:
    """Return whether units are compared, and not rows, from the names of columns.

    Examples
    --------
    >>> visits = Design(unit="id", time="day")
    >>> are_by_unit(visits, ["id", "day", "kg"], ["id", "day", "kg"])
    True
    >>> are_by_unit(visits, ["id", "day", "kg"], ["id", "day"])
    False
    """
    common = set(original) & set(released)
    return bool(design.unit) and bool(common - {design.unit, design.time})


def require_same_people(
    design: Design, original: Collection[str], released: Collection[str], other: Collection[str]
) -> None:
    """Refuse two releases, by the names of their columns, of which one is compared by row only."""
    by_unit = [are_by_unit(design, original, names) for names in (released, other)]
    if not any(by_unit):
        return
    if not all(by_unit):
        which = "other release" if by_unit[0] else "release"
        raise InputError(
            f"The {which} has no column in common with the original but what names units and "
            "times: people of two releases cannot be compared by that. Leave one of them out."
        )
    require_names_of_units(other, design, "other release")
