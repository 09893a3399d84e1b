"""Samples in which people stand for different numbers: their weights are masked, too.

The logarithm of the weight is masked with all other columns, calibration compares weighted
correlations, and the released weights are rescaled to the original's sum and raked: weighted totals
of measurements and levels come out as they were. That publishes these totals, so that it can be
switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from icsa.columns import Column, storage_of
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.recipes import Recipe
from icsa.release.design_plans import DesignPlan, PreparedDesign
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.raking import raked
from icsa.release.releasing import Release, release
from icsa.schema import ColumnSpec, Design, Schema
from icsa.tables import Table

__all__ = ["prepare_weighted"]

# Rows for each total that is raked to: with fewer, weights would be bent to chance.
_ROWS_A_TOTAL = 4
# Differences in standard deviations that nobody sees.
_SEEN = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedWeighted(PreparedDesign):
    """A weighted sample, ready to be planned."""

    schema: Schema
    recipe: Recipe
    spare: Table
    inner: PreparedOnce

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> WeightedPlan:
        """Return the plan, calibrated with weights."""
        inner = plan(self.inner, progress=progress, **options)
        assert isinstance(inner, Plan)
        return WeightedPlan(
            schema=self.schema, spare=self.spare, columns=inner.columns, inner=inner
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedPlan(DesignPlan):
    """A plan for a weighted sample, whose weights are logarithms within."""

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    inner: Plan

    @property
    def within(self) -> Plan:
        """The plan of its table with a row a unit, or of logarithms of weights."""
        return self.inner

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the release with its weights."""
        made = release(self.inner, key, progress=progress)
        name = str(self.schema.design.weight)
        original = self.spare.frame[name].cast(pl.Float64).to_numpy()
        weights = np.exp(made.table.frame[name].cast(pl.Float64).to_numpy())
        weights *= original.sum() / weights.sum()
        notes = ["Weights are masked: they sum up to what they did."]
        if self.schema.design.raking:
            weights, off, n_totals = self._raked(original, weights, made.table.frame)
            ending = "" if off < _SEEN else f", but for up to {off:.2g} standard deviations"
            notes = [
                f"{n_totals} weighted totals are those of the original{ending}, which publishes "
                "them. Use --no-raking (raking = false) if they may not be known."
            ]
        cells = pl.Series(name, weights).cast(self._type(name))
        changes = tuple(
            replace(c, how=f"masked on a logarithmic scale{', raked' * self.schema.design.raking}")
            if c.name == name
            else c
            for c in made.columns
        )
        frame = made.table.frame.with_columns(cells)
        return replace(
            made,
            table=replace(made.table, frame=frame),
            columns=changes,
            warnings=(*made.warnings, *notes),
        )

    def _type(self, name: str) -> pl.DataType:
        """Return the original's type, or numbers with decimals for whole ones."""
        dtype = self.spare.frame[name].dtype
        return dtype if dtype.is_float() else pl.Float64()

    def _raked(
        self, before: Vector, after: Vector, frame: pl.DataFrame
    ) -> tuple[Vector, float, int]:
        """Return the weights that give the original's totals, how far off, and how many totals."""
        parts = [np.ones((before.size, 1))], [np.ones((after.size, 1))]
        room = min(before.size, after.size) // _ROWS_A_TOTAL
        for name, column in self._by_width():
            pair = [_indicators(column, cells) for cells in (self.spare.frame[name], frame[name])]
            if sum(part.shape[1] for part in parts[0]) + pair[0].shape[1] > room:
                continue
            for own, found in zip(parts, pair, strict=True):
                own.append(found)
        old, new = (np.concatenate(own, axis=1) for own in parts)
        there = (np.abs(new) > 0.0).any(axis=0)
        found, off = raked(after, new[:, there], before @ old[:, there])
        return found, off, int(there.sum())

    def _by_width(self) -> Iterator[tuple[str, Column]]:
        """Yield the masked columns but the weight, those with one total first."""
        weight = self.schema.design.weight
        named = [item for item in self.columns.items() if item[0] != weight and item[1].width]
        yield from sorted(named, key=lambda item: item[1].width)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WeightedPlan: {self.inner!r}>"


def prepare_weighted(table: Table, schema: Schema, recipe: str) -> PreparedWeighted:
    """Return a weighted sample, fitted, its weights as logarithms."""
    name = str(schema.design.weight)
    logs = np.log(table.frame[name].cast(pl.Float64).to_numpy())
    spec = ColumnSpec(name=name, kind="continuous", derive="")
    inner = prepare(
        table.with_frame(table.frame.with_columns(pl.Series(name, logs)), table.missing_letters),
        schema=replace(schema, columns={**schema.columns, name: spec}, design=Design(unit=False)),
        recipe=recipe,
    )
    assert isinstance(inner, PreparedOnce)
    inner.weight = name
    return PreparedWeighted(schema=schema, recipe=inner.recipe, spare=table, inner=inner)


def _indicators(column: Column, cells: pl.Series) -> Matrix:
    """Return what is summed up of a column: its numbers, or a flag for each level but one.

    Missing cells count as 0.
    """
    numbers = column.numbers(cells)
    if column.levels is None:
        storage = storage_of(cells.dtype)
        values = numbers if storage is not None else column.encode(numbers)[:, 0]
        return np.nan_to_num(values)[:, None]
    levels = np.flatnonzero(column.levels.counts)[1:]
    return np.asarray(numbers[:, None] == levels, dtype=np.float64)
