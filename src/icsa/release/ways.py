"""Which way a table goes of which something is said: units, weights, strata."""

from __future__ import annotations

from icsa.inspection.design_checks import checked_units
from icsa.inspection.overview import with_belonging
from icsa.inspection.unit_rows import UnitRows
from icsa.release.design_plans import PreparedDesign
from icsa.release.limits import LIMITS
from icsa.release.strata_release import prepare_strata
from icsa.release.units.two_levels import prepare_levels
from icsa.release.units.wide_release import prepare_wide
from icsa.release.units.wide_tables import WideLayout, layout_by_role, layout_by_time
from icsa.release.weighted_release import prepare_weighted
from icsa.schema import Schema
from icsa.tables import Table

__all__ = ["is_wide", "prepare_designed"]


def prepare_designed(table: Table, schema: Schema, recipe: str, *, guessed: bool) -> PreparedDesign:
    """Return a table of which something is said, ready to be planned.

    Parameters
    ----------
    table : Table
    schema : Schema
        Whose design is checked.
    recipe : str
    guessed : bool
        Whether the columns' kinds were guessed: those of units are guessed again from units.
    """
    if schema.design.unit:
        schema = with_belonging(table, schema, guessed=guessed)
    if schema.design.strata:
        return prepare_strata(table, schema, recipe)
    if schema.design.weight:
        return prepare_weighted(table, schema, recipe)
    rows, _ = checked_units(table, schema)
    layout = _layout(table, schema, rows)
    if layout is not None:
        return prepare_wide(table, schema, layout, recipe)
    return prepare_levels(table, schema, rows, recipe)


def _layout(table: Table, schema: Schema, rows: UnitRows) -> WideLayout | None:
    """Return where rows stand side by side, if that is the way."""
    design = schema.design
    of_unit = [n for n, s in schema.columns.items() if s.belongs_to == "unit" or n == design.unit]
    of_row = [name for name in schema.columns if name not in of_unit]
    if design.role:
        return layout_by_role(table, rows, design.role, of_unit, of_row)
    if not design.time:
        return None
    layout = layout_by_time(table, rows, design.time, of_unit, of_row)
    if layout is None or not is_wide(
        layout.shape.n_places, rows.n_units, len(of_unit), len(of_row)
    ):
        return None
    return layout


def is_wide(n_places: int, n_units: int, n_of_unit: int, n_of_row: int) -> bool:
    """Return whether rows at the same times stand side by side: few of them, and units enough.

    Columns that belong to rows are counted with the time.

    Examples
    --------
    >>> is_wide(4, 200, 3, 5), is_wide(4, 50, 3, 5)
    (True, False)
    """
    width = n_of_unit + n_places * n_of_row
    return n_places <= LIMITS.most_places and n_units >= LIMITS.units_a_column * width
