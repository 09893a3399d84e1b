"""The first step of a release: every column fitted, and its cells no longer needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from icsa.columns import Column, fit_column, kind_of
from icsa.constraints.extents import Extent, extent_of
from icsa.errors import InputError
from icsa.inspection.cautions import cautions_on
from icsa.matrices import Vector
from icsa.recipes import Recipe
from icsa.schema import ColumnSpec, Schema, names_with
from icsa.tables import Table
from icsa.threads import in_threads, threads_for

__all__ = ["Prepared", "has_reasons", "prepare"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Prepared:
    """The columns that are to be masked, and what is left of the table besides.

    Attributes
    ----------
    columns : mapping of str to Column
        Fitted, in the table's order.
    numbers : dict of str to ndarray
        Of every column; the plan uses them up.
    extents : mapping of str to Extent
    spare : Table
        The table without the cells of these columns, but for those that say why they are missing:
        all that a release still needs. A long table takes less room without them.
    notes : tuple of str
        What to look at in the original's cells.
    """

    columns: Mapping[str, Column]
    numbers: dict[str, Vector]
    extents: Mapping[str, Extent]
    spare: Table
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Prepared: {len(self.columns)} columns>"


def prepare(table: Table, schema: Schema, recipe: Recipe) -> Prepared:
    """Return the columns of a table that are to be masked, fitted."""
    specs = [schema.columns[name] for name in names_with("mask", schema)]
    if not specs:
        raise InputError("No column is left to mask. Give at least one another kind or action.")

    def fit(spec: ColumnSpec) -> tuple[Column, Vector, Extent]:
        cells = table.frame[spec.name]
        column = fit_column(cells, _declared(spec, table, recipe), scale=recipe.scale)
        numbers = column.numbers(cells)
        return column, numbers, extent_of(numbers)

    threads = threads_for(table.frame.height * table.frame.width, None)
    found = dict(zip([s.name for s in specs], in_threads(fit, specs, threads), strict=True))
    extents = {name: extent for name, (_, _, extent) in found.items()}
    return Prepared(
        columns={name: column for name, (column, _, _) in found.items()},
        numbers={name: numbers for name, (_, numbers, _) in found.items()},
        extents=extents,
        spare=_without_cells(table, [n for n in found if not has_reasons(table, extents, n)]),
        notes=cautions_on(table, schema),
    )


def has_reasons(table: Table, extents: Mapping[str, Extent], name: str) -> bool:
    """Return whether some cells of a column say why they are missing."""
    missing = extents[name].missing
    return name in table.missing_letters or missing > table.frame[name].null_count()


def _without_cells(table: Table, names: list[str]) -> Table:
    empty = (pl.lit(None, dtype=table.frame.schema[name]).alias(name) for name in names)
    return table.with_frame(table.frame.with_columns(empty), table.missing_letters)


def _declared(spec: ColumnSpec, table: Table, recipe: Recipe) -> ColumnSpec:
    """Return the specification with the file's missing codes, and the kind that a recipe allows."""
    codes = (*spec.missing_codes, *table.variable(spec.name).missing_codes)
    unsplit = None if recipe.split_zeros else kind_of(spec.kind).unsplit
    kind = spec.kind if unsplit is None else unsplit(table.frame.schema[spec.name])
    return replace(spec, missing_codes=codes, kind=kind)
