"""The first step of a release: every column fitted, and its cells no longer needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from icsa.columns import Column, fit_column, kind_of
from icsa.constraints import parse_rule
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.inspection.cautions import cautions_on
from icsa.inspection.design_checks import require_design, require_said
from icsa.matrices import Vector
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.design_plans import PreparedDesign
from icsa.schema import ColumnSpec, Design, Schema, names_with, with_design, with_fates
from icsa.tables import Table
from icsa.threads import in_threads, one_linear_algebra_thread, threads_for

__all__ = [
    "Extent",
    "PreparedOnce",
    "extent_of",
    "fitted_column",
    "has_reasons",
    "prepare",
    "require_masked",
    "require_needed",
    "unnamed_columns",
]


class Extent(NamedTuple):
    """How much of a column is missing, and how far its numbers spread; NaN where it has none."""

    missing: int
    deviation: float
    smallest: float
    largest: float


def extent_of(numbers: Vector) -> Extent:
    """Return the number of missing cells, the others' standard deviation and their ends.

    Examples
    --------
    >>> extent_of(np.array([1.0, 3.0, np.nan]))
    Extent(missing=1, deviation=1.0, smallest=1.0, largest=3.0)
    """
    missing = int(np.isnan(numbers).sum())
    there = numbers[~np.isnan(numbers)] if missing else numbers
    if not there.size:
        return Extent(missing, 0.0, np.nan, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of 1e300
        return Extent(missing, float(there.std()), float(there.min()), float(there.max()))


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedOnce:
    """The columns that are to be masked, for one plan, and what is left of the table besides.

    Attributes
    ----------
    schema : Schema
        Of the whole table.
    recipe : Recipe
        With the choices that the schema makes.
    columns : mapping of str to Column
        Fitted, in the table's order.
    extents : mapping of str to Extent
    spare : Table
        The table without the cells of these columns, but for those that say why they are missing:
        all that a release still needs. A long table takes less room without them.
    notes : tuple of str
        What to look at in the original's cells.
    nested : bool
        Whether cells that are missing wherever others are go on to be, as those of absent rows.
    weight : str, optional
        The column of logarithms of weights, with which calibration compares correlations.
    """

    schema: Schema
    recipe: Recipe
    columns: Mapping[str, Column]
    extents: Mapping[str, Extent]
    spare: Table
    notes: tuple[str, ...]
    _numbers: dict[str, Vector]
    nested: bool = False
    weight: str | None = None

    def take_numbers(self) -> dict[str, Vector]:
        """Return the numbers of every column and let go of them: a long table needs the room."""
        numbers, self._numbers = self._numbers, {}
        if not numbers:
            raise InputError("A prepared table makes one plan. Prepare the table again.")
        return numbers

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<PreparedOnce: {len(self.columns)} columns>"


def prepare(
    table: Table,
    *,
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    recipe: str = "mixed",
    design: Mapping[str, Any] = MappingProxyType({}),
) -> PreparedOnce | PreparedDesign:
    """Return the columns of a table that are to be masked, fitted, for one plan.

    Whoever lets the table go now saves the room of its cells: `PreparedOnce.spare` has what a
    release still needs. Options are those of `icsa.release.anonymize`; a schema is taken at its
    word: `icsa.schema_files` has read and checked it. `design` says whom the rows are about, by the
    keys of `icsa.schema.Design`; it goes before what the schema says.
    """
    declared = guess_schema(table) if schema is None else schema
    declared = with_design(with_fates(declared, keep=keep, drop=drop), **design)
    require_needed(declared.design, drop)
    require_said(table, declared)
    require_design(table, declared)
    if declared.design != Design() and declared.design != Design(unit=False):
        from icsa.release.ways import prepare_designed  # which prepares flat tables in turn

        return prepare_designed(table, declared, recipe, guessed=schema is None)
    return prepare_rows(table, declared, recipe)


def require_needed(design: Design, drop: Sequence[str]) -> None:
    """Raise an `InputError` where a column is to be dropped that the release has to have."""
    for key in ("unit", "weight"):
        name = getattr(design, key)
        if name and name in drop:
            raise InputError(
                f"Column {name!r} is the {key}, which the release needs: it cannot be dropped. "
                "Leave it out of the columns to be dropped."
            )


def prepare_rows(table: Table, schema: Schema, recipe: str = "mixed") -> PreparedOnce:
    """Return the columns of a table that are to be masked, every row for itself."""
    require_masked(schema, table)
    chosen = resolve_recipe(recipe, schema.recipe)
    with one_linear_algebra_thread():
        return _fitted(table, schema, chosen)


def has_reasons(table: Table, extents: Mapping[str, Extent], name: str) -> bool:
    """Return whether some cells of a column say why they are missing."""
    missing = extents[name].missing
    return name in table.missing_letters or missing > table.frame[name].null_count()


def require_masked(schema: Schema, table: Table) -> None:
    """Refuse rules about columns that are not masked: their cells could not be moved."""
    for rule in (parse_rule(text, table.frame.columns) for text in schema.rules):
        for name in rule.columns:
            action = schema.columns[name].action
            if action != "mask":
                fates = {"keep": "released as it is", "drop": "left out", "replace": "replaced"}
                raise InputError(
                    f"The rule {rule.text!r} is about the column {name!r}, which is "
                    f"{fates[action]}. Take the rule out, or have the column masked."
                )


def _fitted(table: Table, schema: Schema, recipe: Recipe) -> PreparedOnce:
    specs = [schema.columns[name] for name in names_with("mask", schema)]
    if not specs:
        raise InputError("No column is left to mask. Give at least one another kind or action.")

    def fit(spec: ColumnSpec) -> tuple[Column, Vector, Extent]:
        return fitted_column(table, spec, recipe)

    threads = threads_for(table.frame.height * table.frame.width, None)
    found = dict(zip([s.name for s in specs], in_threads(fit, specs, threads), strict=True))
    extents = {name: extent for name, (_, _, extent) in found.items()}
    return PreparedOnce(
        schema=schema,
        recipe=recipe,
        columns={name: column for name, (column, _, _) in found.items()},
        extents=extents,
        spare=_without_cells(table, [n for n in found if not has_reasons(table, extents, n)]),
        notes=(*unnamed_columns(table, schema), *cautions_on(table, schema)),
        _numbers={name: numbers for name, (_, numbers, _) in found.items()},
    )


def fitted_column(table: Table, spec: ColumnSpec, recipe: Recipe) -> tuple[Column, Vector, Extent]:
    """Return one column of a table, fitted to its cells; its numbers, and how far they spread."""
    cells = table.frame[spec.name]
    column = fit_column(cells, _as_fitted(spec, table, recipe), scale=recipe.scale)
    numbers = column.numbers(cells)
    return column, numbers, extent_of(numbers)


def unnamed_columns(table: Table, schema: Schema) -> Iterator[str]:
    """Yield a note on released columns that have no name in the file."""
    released = [n for n in table.layout.unnamed if _is_released(n, schema)]
    if released:
        yield (
            f"{', '.join(released)}: without a name in the file's header, such as row numbers that "
            "a program wrote. Name what is meant to be released, or drop it."
        )


def _is_released(name: str, schema: Schema) -> bool:
    return name in schema.columns and schema.columns[name].action != "drop"


def _without_cells(table: Table, names: list[str]) -> Table:
    empty = (pl.lit(None, dtype=table.frame.schema[name]).alias(name) for name in names)
    return table.with_frame(table.frame.with_columns(empty), table.missing_letters)


def _as_fitted(spec: ColumnSpec, table: Table, recipe: Recipe) -> ColumnSpec:
    """Return the specification with the file's missing codes, and the kind that a recipe allows."""
    coded = spec.in_file(table)
    unsplit = None if recipe.split_zeros else kind_of(spec.kind).unsplit
    return coded if unsplit is None else replace(coded, kind=unsplit(table.frame.schema[spec.name]))
