"""Columns that follow from others: how they are found, and how what remains is coded."""

from __future__ import annotations

from collections.abc import Mapping, Set

import polars as pl

from icsa.columns import fit_column
from icsa.columns.base import Column
from icsa.inspection.profile import profile_of
from icsa.inspection.related import quantity_of
from icsa.matrices import Vector
from icsa.relations import Derivation, Gap, LinearRelation, find_derivation
from icsa.release.recipes import Recipe
from icsa.schema import ColumnSpec, Kind, Schema
from icsa.tables import Table

__all__ = ["broken_by_keeping", "derivation_of", "gap_column", "step_of"]

# From this share of equal cells on, a column is coded in two parts.
_MANY_ZEROS = 0.4


def derivation_of(columns: Mapping[str, Column], numbers: Mapping[str, Vector]) -> Derivation:
    """Return what follows from what among fitted columns."""
    return find_derivation(numbers, _steps(columns), _kinds(columns))


def broken_by_keeping(
    table: Table, schema: Schema, columns: Mapping[str, Column], numbers: Mapping[str, Vector]
) -> tuple[str, ...]:
    """Return a sentence for each relation that is lost because some of its columns are kept.

    Cells of kept columns are no longer in a row with those of masked ones. What holds among kept
    columns alone goes on to hold.

    Parameters
    ----------
    table : Table
    schema : Schema
    columns, numbers : mapping by str
        Of the columns that are masked.
    """
    kept = {}
    for spec in schema.columns.values():
        if spec.action == "keep":
            quantity = quantity_of(profile_of(table, spec.name, spec), spec.kind)
            if quantity is not None:
                kept[spec.name] = quantity
    if not kept:
        return ()
    both = {**numbers, **{name: values for name, (values, _) in kept.items()}}
    found = find_derivation(
        {name: both[name] for name in table.frame.columns if name in both},
        {**_steps(columns), **{name: step for name, (_, step) in kept.items()}},
        {**_kinds(columns), **{name: schema.columns[name].kind for name in kept}},
    )
    return tuple(
        _broken(one, names & kept.keys())
        for one in (*found.relations, *found.gaps, *found.unkept)
        if (names := one.columns) & kept.keys() and not names <= kept.keys()
    )


def _broken(found: LinearRelation | Gap, kept: Set[str]) -> str:
    names = " and ".join(sorted(kept))
    are = "are released as they are" if len(kept) > 1 else "is released as it is"
    again = ""
    if isinstance(found, LinearRelation) and found.target not in kept:
        again = f", or compute {found.target} again from the released columns"
    return (
        f"{found.describe()}; not in the release, because {names} {are} and the others "
        f"are masked. Have {names} masked{again}."
    )


def gap_column(gap: Gap, other: Column, values: pl.Series, recipe: Recipe) -> Column:
    """Return the column that a gap is coded by."""
    present = values.drop_nulls()
    many_zeros = recipe.split_zeros and (present == 0.0).sum() >= _MANY_ZEROS * present.len()
    spec = ColumnSpec(
        name=gap.other,
        kind="zero-inflated" if many_zeros else "continuous",
        step=step_of(other),
    )
    return fit_column(values, spec, scale=recipe.scale)


def step_of(column: Column) -> float | None:
    """Return the lattice step of a column, None where it has none."""
    # Of a column in two parts the second has the lattice.
    lattice = getattr(getattr(column, "part", column), "lattice", None)
    return None if lattice is None else float(lattice.step)


def _steps(columns: Mapping[str, Column]) -> dict[str, float | None]:
    return {name: step_of(column) for name, column in columns.items()}


def _kinds(columns: Mapping[str, Column]) -> dict[str, Kind]:
    return {name: column.kind for name, column in columns.items()}
