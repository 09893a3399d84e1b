"""Units whose rows stand side by side: released as one row each, by the ordinary way, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Unpack

import polars as pl

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.errors import InputError
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.accounts import Looks
from icsa.release.design_plans import DesignPlan, PreparedDesign
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.releasing import Release, release
from icsa.release.units.wide_accounts import WideAccount
from icsa.release.units.wide_tables import WideLayout, WideShape
from icsa.schema import Design, Schema, names_with
from icsa.tables import Table

__all__ = [
    "PreparedWide",
    "WidePlan",
    "looks_of",
    "prepare_wide",
    "prepared_wide",
    "replaced_of_rows",
    "said_of_wide",
    "telling_of_places",
]


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedWide(PreparedDesign):
    """A table with a row a unit, ready to be planned."""

    schema: Schema
    recipe: Recipe
    spare: Table
    layout: WideLayout
    inner: PreparedOnce

    def weigh_by(self, name: str) -> None:
        """Have units counted by a column of theirs that holds the logarithms of weights."""
        self.inner.weight = name

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> WidePlan:
        """Return the plan of the wide table."""
        with telling_of_places():
            inner = plan(self.inner, progress=progress, **options)
        assert isinstance(inner, Plan)
        return WidePlan(
            schema=self.schema,
            spare=self.spare,
            columns=inner.columns,
            layout=self.layout,
            inner=inner,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WidePlan(DesignPlan):
    """A plan for a table with a row a unit, and how its rows become many again.

    Attributes
    ----------
    schema : Schema
        Of the table with many rows a unit.
    spare : Table
        That table.
    layout : WideLayout
    inner : Plan
        Of the wide table.
    """

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    layout: WideLayout
    inner: Plan

    @property
    def within(self) -> Plan:
        """The plan of its table with a row a unit, or of logarithms of weights."""
        return self.inner

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release of the wide table, with a row for every row of a unit again."""
        made = release(self.inner, key, progress=progress)
        shape, original = self.layout.shape, self.spare.frame
        table = shape.narrowed(made.table, self.spare)
        n_rows = table.frame.height
        fresh = [
            Identifier.fit(original[name], self.schema.columns[name]).fresh(n_rows).alias(name)
            for name in replaced_of_rows(self.schema, shape)
        ]
        names = [n for n in original.columns if self.schema.columns[n].action != "drop"]
        frame = table.frame.with_columns(fresh).select(names)
        told = WideAccount(schema=self.schema, shape=shape, rows_before=original.height)
        return told.told(
            made, replace(table, frame=frame), n_rows, looks_of(original), looks_of(frame)
        )

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WidePlan: {self.layout!r}>"


@contextmanager
def telling_of_places() -> Iterator[None]:
    """Have errors on a wide table say that it is one."""
    try:
        yield
    except InputError as error:
        raise InputError(f"With all rows of a unit side by side: {error}") from error


def replaced_of_rows(schema: Schema, shape: WideShape) -> list[str]:
    """Return the identifiers of rows, which are made anew when rows are many again."""
    return [name for name in names_with("replace", schema) if name in shape.of_row]


def looks_of(frame: pl.DataFrame) -> dict[str, Looks]:
    """Return what an account tells of the cells of every column."""
    return {cells.name: Looks(cells.dtype, cells.null_count()) for cells in frame}


def said_of_wide(schema: Schema, shape: WideShape, empty: Table) -> Schema:
    """Return what the wide table is, by the schema and the columns of the one with many rows.

    Raises
    ------
    InputError
        A column is to be kept whose cells would have no place, or a rule is about the labels.
    """
    kept = [n for n in names_with("keep", schema) if n in shape.of_row]
    if kept and not shape.always.all():
        raise InputError(
            f"Column {kept[0]!r} is to be kept, but not every unit has all rows: its cells would "
            "have no place. Have it masked or dropped."
        )
    again = {n: replace(schema.columns[n], action="drop") for n in replaced_of_rows(schema, shape)}
    said = shape.widened_schema(replace(schema, columns={**schema.columns, **again}), empty)
    return replace(said, design=Design(unit=False))


def prepared_wide(wide: Table, said: Schema, recipe: str) -> PreparedOnce:
    """Return a wide table, fitted."""
    inner = prepare(wide, schema=said, recipe=recipe)
    assert isinstance(inner, PreparedOnce)
    inner.nested = True
    return inner


def prepare_wide(table: Table, schema: Schema, layout: WideLayout, recipe: str) -> PreparedWide:
    """Return the table with a row a unit, fitted."""
    said = said_of_wide(schema, layout.shape, table)
    inner = prepared_wide(layout.widened(table), said, recipe)
    return PreparedWide(
        schema=schema,
        recipe=inner.recipe,
        spare=table,
        layout=layout,
        inner=inner,
    )
