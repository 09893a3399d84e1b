"""Columns that follow from others: how they are found, and how what remains is coded."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import polars as pl

from icsa.columns import fit_column
from icsa.columns.base import Column
from icsa.columns.binary import Binary
from icsa.inspection.profile import profile_of
from icsa.inspection.related import quantity_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.relations import Derivation, Gap, LinearRelation, find_derivation
from icsa.release.recipes import Recipe
from icsa.schema import ColumnSpec, Kind, Schema
from icsa.tables import Table

__all__ = ["broken_by_keeping", "coded_columns", "derivation_of", "step_of"]

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


def coded_columns(
    columns: Mapping[str, Column],
    numbers: Mapping[str, Vector],
    derivation: Derivation,
    recipe: Recipe,
) -> tuple[dict[str, Column], dict[str, Vector]]:
    """Return the columns that are encoded, and their numbers: no targets, gaps as gaps."""
    reduced = derivation.reduce(numbers)
    coded = {name: columns[name] for name in reduced if name in columns}
    for gap in derivation.gaps:
        values = pl.Series(gap.name, reduced[gap.name], nan_to_null=True)
        coded[gap.name] = _gap_column(gap, columns[gap.other], values, recipe)
        reduced[gap.name] = coded[gap.name].numbers(values)
    for name in (relation.target for relation in derivation.relations if relation.missing):
        spec = ColumnSpec(name=name, kind="binary")
        coded[name] = _Emptiness.fit(pl.Series(name, reduced[name]), spec)
    return coded, reduced


class _Emptiness(Binary):
    """Where a computed column is missing of its own accord; masked scores are left as they are.

    How many cells are to be emptied is known only when the columns are there that it is computed
    from.
    """

    decodes_by_row: ClassVar[bool] = True

    def decode(self, scores: Matrix) -> Vector:
        """Return the scores."""
        self.require_scores(scores)
        return scores[:, 0].copy()

    def view(self, numbers: Vector) -> Matrix:
        """Return 1 for as large a share of the rows as was empty, 0 for others."""
        return super().decode(numbers[:, None])[:, None]


@dataclass(frozen=True, eq=False)
class _Unseen:
    """A gap beside its columns: where it is not there, nobody sees it, and it is not missing.

    Its number is infinite there. It is masked in every row, and told in those that have a use for
    it.
    """

    column: Column

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def kind(self) -> Kind:
        return self.column.kind

    @property
    def width(self) -> int:
        return self.column.width

    @property
    def decodes_by_row(self) -> bool:
        return self.column.decodes_by_row

    def numbers(self, cells: pl.Series) -> Vector:
        numbers = self.column.numbers(cells)
        return np.where(np.isnan(numbers), np.inf, numbers)

    def encode(self, numbers: Vector) -> Matrix:
        return self.column.encode(_finite(numbers))

    def decode(self, scores: Matrix) -> Vector:
        return self.column.decode(scores)

    def regain_quantiles(self, scores: Matrix) -> None:
        self.column.regain_quantiles(scores)

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        return replace(self, column=self.column.with_moved_counts(stream, reverse=reverse))

    def with_drawn_tails(self, stream: Stream) -> Self:
        return replace(self, column=self.column.with_drawn_tails(stream))

    def anchor(self, numbers: Vector) -> Vector | None:  # noqa: ARG002
        """Return None: the gap follows from its columns, which are anchors."""
        return None

    def view(self, numbers: Vector) -> Matrix:
        return self.column.view(_finite(numbers))

    def cells(self, numbers: Vector) -> pl.Series:
        return self.column.cells(numbers)


def _finite(numbers: Vector) -> Vector:
    return np.where(np.isinf(numbers), np.nan, numbers)


def _gap_column(gap: Gap, other: Column, values: pl.Series, recipe: Recipe) -> Column:
    """Return the column that a gap is coded by."""
    present = values.drop_nulls()
    many_zeros = recipe.split_zeros and (present == 0.0).sum() >= _MANY_ZEROS * present.len()
    spec = ColumnSpec(
        name=gap.name,
        kind="zero-inflated" if many_zeros else "continuous",
        step=step_of(other),
    )
    column = fit_column(values, spec, scale=recipe.scale)
    return column if gap.name == gap.other else _Unseen(column)


def step_of(column: Column) -> float | None:
    """Return the lattice step of a column, None where it has none."""
    # Of a column in two parts the second has the lattice.
    lattice = getattr(getattr(column, "part", column), "lattice", None)
    return None if lattice is None else float(lattice.step)


def _steps(columns: Mapping[str, Column]) -> dict[str, float | None]:
    return {name: step_of(column) for name, column in columns.items()}


def _kinds(columns: Mapping[str, Column]) -> dict[str, Kind]:
    return {name: column.kind for name, column in columns.items()}
