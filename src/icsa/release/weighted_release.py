"""Samples in which people stand for different numbers: their weights are masked, too.

The logarithm of the weight is masked with all other columns, calibration compares weighted
correlations, and the released weights are rescaled to the original's sum and raked: weighted totals
of measurements and levels come out as they were. That publishes these totals, so that it can be
switched off.

Of people or households with several rows, a weight that is the same in all of them belongs to the
unit and stays so; one that varies is a column of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.inspection.unit_rows import UnitRows, rows_of_units
from icsa.matrices import Vector
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.design_plans import DesignPlan, PreparedDesign
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, fitted_column, prepare
from icsa.release.raking import raked, raking_note, weighted_totals
from icsa.release.releasing import Release, release
from icsa.release.weighted_totals import totals_of_both, wanted_totals
from icsa.schema import ColumnSpec, Design, Schema, names_with
from icsa.tables import Table

__all__ = [
    "SUM_NOTE",
    "how_weighted",
    "logarithms",
    "prepare_weighted",
    "weight_type",
    "weighted_units",
    "with_logarithms",
]

SUM_NOTE = "Weights are masked: they sum up to what they did."


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedWeighted(PreparedDesign):
    """A weighted sample, ready to be planned."""

    schema: Schema
    recipe: Recipe
    spare: Table
    inner: PreparedOnce | PreparedDesign

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> WeightedPlan:
        """Return the plan, calibrated with weights."""
        inner = plan(self.inner, progress=progress, **options)
        columns = inner.columns if isinstance(inner, Plan) else self._long_columns()
        return WeightedPlan(schema=self.schema, spare=self.spare, columns=columns, inner=inner)

    def _long_columns(self) -> dict[str, Column]:
        """Return the masked columns as all rows of all units have them."""
        names = (n for n in names_with("mask", self.schema) if n != self.schema.design.weight)
        specs = {name: self.schema.columns[name] for name in names}
        return {n: fitted_column(self.spare, spec, self.recipe)[0] for n, spec in specs.items()}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedPlan(DesignPlan):
    """A plan for a weighted sample, whose weights are logarithms within."""

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    inner: Plan | DesignPlan

    @property
    def within(self) -> Plan:
        """The plan of its table with a row a unit, or of logarithms of weights."""
        return self.inner if isinstance(self.inner, Plan) else self.inner.within

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release with its weights."""
        made = release(self.inner, key, progress=progress)
        name = str(self.schema.design.weight)
        original = self.spare.frame[name].cast(pl.Float64).to_numpy()
        weights = np.exp(made.table.frame[name].cast(pl.Float64).to_numpy())
        weights *= original.sum() / weights.sum()
        notes = [SUM_NOTE]
        if self.schema.design.raking:
            weights, off, n_totals = self._raked(original, weights, made.table.frame)
            notes = [raking_note(n_totals, off)]
        how = how_weighted(self.schema)
        cells = pl.Series(name, weights).cast(self._type(name))
        frame = made.table.frame.with_columns(cells)
        return replace(
            made,
            table=replace(made.table, frame=frame),
            columns=tuple(replace(c, how=how) if c.name == name else c for c in made.columns),
            warnings=(*made.warnings, *notes),
        )

    def _type(self, name: str) -> pl.DataType:
        """Return the original's type, or numbers with decimals for whole ones."""
        return weight_type(self.spare.frame[name].dtype)

    def _raked(
        self, before: Vector, after: Vector, frame: pl.DataFrame
    ) -> tuple[Vector, float, int]:
        """Return the weights that give the original's totals, how far off, and how many totals."""
        columns = {n: c for n, c in self.columns.items() if n != self.schema.design.weight}
        both = self.spare.frame, frame
        of_units = weighted_units(self.schema)
        if of_units is None:
            old, new = totals_of_both(wanted_totals(columns), *((one, one.height) for one in both))
            found, off = raked(after, new, weighted_totals(before, old))
            return found, off, new.shape[1]
        units = self._units(both[0]), self._units(frame)
        totals = wanted_totals(columns, of_units)
        old, new = totals_of_both(totals, *zip(both, units, strict=True))
        held, off = raked(
            after[units[1].firsts], new, weighted_totals(before[units[0].firsts], old)
        )
        found = np.empty(frame.height)
        found[units[1].order] = np.repeat(held, units[1].sizes)
        return found, off, new.shape[1]

    def _units(self, frame: pl.DataFrame) -> UnitRows:
        return rows_of_units(frame[str(self.schema.design.unit)])

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WeightedPlan: {self.inner!r}>"


def logarithms(weights: pl.Series) -> pl.Series:
    """Return the logarithms of weights, which are masked."""
    return pl.Series(weights.name, np.log(weights.cast(pl.Float64).to_numpy()))


def with_logarithms(schema: Schema) -> Schema:
    """Return what is declared of a table whose weights are logarithms: numbers like others."""
    name, design = str(schema.design.weight), schema.design
    where = schema.columns[name].belongs_to
    spec = ColumnSpec(name=name, kind="continuous", derive="", belongs_to=where)
    within = replace(design, weight=None) if design.unit else Design(unit=False)
    return replace(schema, columns={**schema.columns, name: spec}, design=within)


def weight_type(dtype: pl.DataType) -> pl.DataType:
    """Return the type of released weights: the original's, or decimals for whole ones."""
    return dtype if dtype.is_float() else pl.Float64()


def weighted_units(schema: Schema) -> frozenset[str] | None:
    """Return the columns of units where these have the weights; None where each row has its own."""
    columns, design = schema.columns, schema.design
    if not design.unit or columns[str(design.weight)].belongs_to != "unit":
        return None
    return frozenset(name for name, spec in columns.items() if spec.belongs_to == "unit")


def how_weighted(schema: Schema) -> str:
    """Return what is done to weights."""
    of_units = weighted_units(schema) is not None
    raked = ", raked" * schema.design.raking
    return f"masked on a logarithmic scale{raked}{', one a unit' * of_units}"


def prepare_weighted(table: Table, schema: Schema, recipe: str) -> PreparedWeighted:
    """Return a weighted sample, fitted, its weights as logarithms."""
    name = str(schema.design.weight)
    logs, where = logarithms(table.frame[name]), schema.columns[name].belongs_to
    inner = prepare(
        table.with_frame(table.frame.with_columns(logs), table.missing_letters),
        schema=with_logarithms(schema),
        recipe=recipe,
    )
    if isinstance(inner, PreparedOnce):
        inner.weight = name
    elif where == "unit":
        inner.weigh_by(name)
    return PreparedWeighted(schema=schema, recipe=inner.recipe, spare=table, inner=inner)
