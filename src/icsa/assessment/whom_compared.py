"""Whom two tables are compared by: units where somebody names them, rows where nobody has to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from icsa.comparison.matching import Comparison, match_tables, with_number
from icsa.comparison.unit_matching import match_units
from icsa.inspection import guess_schema
from icsa.inspection.design_checks import require_design, require_said
from icsa.inspection.overview import with_belonging
from icsa.schema import Schema, with_design
from icsa.tables import Table

__all__ = ["declared_of", "matched"]


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
    named = {schema.design.unit, schema.design.time}
    common = set(original.frame.columns) & set(released.frame.columns)
    if schema.design.unit and common - named:
        return match_units(original, released, schema, leave_out=leave_out)
    return match_tables(original, released, schema, leave_out=leave_out)
