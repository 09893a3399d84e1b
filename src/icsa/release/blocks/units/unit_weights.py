"""Weights of people with several rows, or of their rows, given back to a large release."""

from __future__ import annotations

from icsa.columns import Column, ColumnSpec
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.blocks.block_raking import Weighed, require_room_to_rake
from icsa.release.blocks.block_weights import Weighing
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.unit_preparing import DeclaredUnits
from icsa.release.preparing import fitted_column
from icsa.release.weighted_release import weighted_units
from icsa.release.weighted_totals import wanted_totals
from icsa.schema import names_with
from icsa.tables.stored import StoredTable

__all__ = ["weighing_in_blocks"]


def weighing_in_blocks(
    passes: Passes, ground: Ground, people: DeclaredUnits, total: float
) -> Weighing:
    """Return how the weights of a release are found, before the long passes begin.

    Parameters
    ----------
    passes : Passes
    ground : Ground
        The original.
    people : DeclaredUnits
        Whose design names the weight.
    total : float
        The sum of the original's weights.
    """
    schema = people.schema
    design, weight = schema.design, str(schema.design.weight)
    of_units = weighted_units(schema)
    original = Weighed(
        ground.table, weight, None if of_units is None else str(design.unit), passes.scratch
    )
    columns: dict[str, Column] = {}
    if design.raking:
        recipe = resolve_recipe(people.declared.recipe, schema.recipe)
        specs = [schema.columns[n] for n in names_with("mask", schema) if n != weight]
        tasks = [Task(_fit, (ground.table, spec, recipe)) for spec in specs]
        found = passes.over("columns as rows have them", tasks)
        columns = {spec.name: column for spec, column in zip(specs, found, strict=True)}
        if of_units is not None:
            require_room_to_rake(ground, wanted_totals(columns, of_units), people.found.n_units)
    return Weighing(original, columns, schema, total)


def _fit(_: Scratch, table: StoredTable, spec: ColumnSpec, recipe: Recipe) -> Column:
    """Return a column as all rows have it: their totals are taken of its levels."""
    return fitted_column(table.column(spec.name), spec, recipe)[0]
