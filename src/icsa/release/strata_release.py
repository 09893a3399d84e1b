"""Strata released each for itself, so that effects of them are kept, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.errors import InputError
from icsa.inspection.unit_rows import Places, rows_of_units, taken
from icsa.randomness import Key
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.accounts import ColumnChange
from icsa.release.design_plans import DesignPlan, PreparedDesign, UnitAccount
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, plan
from icsa.release.preparing import PreparedOnce, prepare
from icsa.release.releasing import Release, release
from icsa.schema import ColumnSpec, Schema
from icsa.shuffling import permutation
from icsa.tables import Table

__all__ = ["prepare_strata"]


@dataclass(eq=False, repr=False, kw_only=True)
class PreparedStrata(PreparedDesign):
    """The strata of a table, each ready to be planned."""

    schema: Schema
    recipe: Recipe
    spare: Table
    strata: Sequence[PreparedOnce | PreparedDesign]
    sizes: Sequence[str]

    def planned(
        self, progress: Callable[[str, float], None], **options: Unpack[MethodOptions]
    ) -> StrataPlan:
        """Return the plan of every stratum."""
        progress("looking at strata", 0.1)
        plans = []
        options["straight"] = True  # all strata are made alike
        for number, (stratum, size) in enumerate(zip(self.strata, self.sizes, strict=True)):
            try:
                plans.append(plan(stratum, **options))
            except InputError as error:
                raise InputError(_too_small(number, len(self.strata), size, error)) from error
        return StrataPlan(
            schema=self.schema, spare=self.spare, columns=plans[0].columns, plans=tuple(plans)
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StrataPlan(DesignPlan):
    """A plan for every stratum."""

    schema: Schema
    spare: Table
    columns: Mapping[str, Column]
    plans: tuple[Plan | DesignPlan, ...]

    @property
    def within(self) -> Plan:
        """The plan of the first stratum."""
        first = self.plans[0]
        return first if isinstance(first, Plan) else first.within

    def released(self, key: Key, progress: Callable[[str, float], None]) -> Release:
        """Return the releases of all strata as one table, in a random order."""
        progress("masking strata", 0.4)
        made = [release(one, key.child("stratum", k)) for k, one in enumerate(self.plans)]
        frame = pl.concat([one.table.frame for one in made], how="vertical_relaxed")
        order, unit = self._order(made, key)
        fresh = [
            self._fresh(name, spec, unit)
            for name, spec in self.schema.columns.items()
            if spec.action == "replace"
        ]
        letters = {
            name: pl.concat([one.table.missing_letters[name] for one in made])[order]
            for name in self.spare.missing_letters
            if all(name in one.table.missing_letters for one in made)
        }
        changes = tuple(
            replace(
                self._told(own),
                missing_before=sum(change.missing_before for change in own),
                missing_after=sum(change.missing_after for change in own),
                beyond="",
            )
            for own in zip(*(one.columns for one in made), strict=True)
        )
        told = dict.fromkeys(text for one in made for text in one.warnings)
        moved = {
            rule: sum(one.moved_cells.get(rule, 0) for one in made) for rule in self.schema.rules
        }
        return replace(
            made[0],
            table=replace(
                made[0].table,
                frame=frame[order].with_columns(fresh),
                missing_letters=letters,
                variables={
                    name: found
                    for name, found in self.spare.variables.items()
                    if name in frame.columns
                },
            ),
            columns=changes,
            relations=tuple(
                text for text in made[0].relations if all(text in one.relations for one in made)
            ),
            moved_cells=moved,
            units=_account([one.units for one in made if one.units is not None]),
            warnings=(
                *told,
                f"Released within {len(made)} strata, which show in the release as they are: "
                "somebody who is known to be in a stratum is one of fewer.",
            ),
        )

    def _order(self, made: Sequence[Release], key: Key) -> tuple[Places, Places]:
        """Return a random order of all rows, and which unit each row is of then: 0, 1, ...

        Rows of a unit stay together, in their order.
        """
        sizes = np.concatenate([_rows_a_unit(one, self.schema.design.unit) for one in made])
        shuffled = permutation(sizes.size, key.stream("rows"))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        unit = np.repeat(np.arange(sizes.size), sizes[shuffled])
        within = np.arange(unit.size) - np.repeat(
            np.cumsum(sizes[shuffled]) - sizes[shuffled], sizes[shuffled]
        )
        return np.repeat(starts[shuffled], sizes[shuffled]) + within, unit

    def _fresh(self, name: str, spec: ColumnSpec, unit: Places) -> pl.Series:
        """Return fresh identifiers of rows, or of units: those of strata may be the same."""
        new = Identifier.fit(self.spare.frame[name], spec)
        if name == self.schema.design.unit or spec.belongs_to == "unit":
            return new.fresh(int(unit[-1]) + 1).gather(unit).alias(name)
        return new.fresh(unit.size).alias(name)

    def _told(self, own: Sequence[ColumnChange]) -> ColumnChange:
        """Return what was done to a column in the first stratum in which it varies."""
        told = next((change for change in own if change.action != "constant"), own[0])
        if told.action != "constant" or self.schema.columns[told.name].kind == "constant":
            return told
        kind = self.schema.columns[told.name].kind
        return replace(told, kind=kind, how="one value in each stratum, as it was")

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<StrataPlan: {len(self.plans)} strata>"


def prepare_strata(table: Table, schema: Schema, recipe: str) -> PreparedStrata:
    """Return the strata of a table, each fitted."""
    names = list(schema.design.strata)
    for name in names:
        if table.frame[name].null_count():
            raise InputError(
                f"Column {name!r} is a stratum: {table.frame[name].null_count()} missing."
            )
    unit = schema.design.unit or False
    if unit:
        _require_constant(table, names, unit)
    rows = _rows_of_strata(table, names)
    without = replace(schema, design=replace(schema.design, strata=(), unit=unit))
    weight = schema.design.weight
    prepared, sizes = [], []
    for number, own in enumerate(rows):
        part, said = taken(table, own), without
        if weight and part.frame[weight].n_unique() == 1:  # stays as it is
            said = replace(said, design=replace(said.design, weight=None))
        try:
            prepared.append(prepare(part, schema=said, recipe=recipe))
        except InputError as error:
            size = _size(part, unit)
            raise InputError(_too_small(number, len(rows), size, error)) from error
        sizes.append(_size(part, unit))
    return PreparedStrata(
        schema=schema,
        recipe=resolve_recipe(recipe, schema.recipe),
        spare=table,
        strata=prepared,
        sizes=sizes,
    )


def _rows_of_strata(table: Table, names: Sequence[str]) -> list[Places]:
    """Return the rows of every stratum, those of the first row's first."""
    grouped = (
        table.frame.select(names)
        .with_row_index("icsa row")
        .group_by(names, maintain_order=True)
        .agg("icsa row")
    )
    return [np.asarray(rows.to_numpy(), dtype=np.int64) for rows in grouped["icsa row"]]


def _require_constant(table: Table, names: Sequence[str], unit: str) -> None:
    """Raise an `InputError` where a unit would be torn apart."""
    units = rows_of_units(table.frame[unit])
    for name in names:
        varying = int(np.count_nonzero(units.varying(table.frame[name])))
        if varying:
            raise InputError(
                f"Column {name!r} is a stratum, but varies within {varying} of {units.n_units} "
                f"units of {unit!r}. Correct it, or leave it out of strata."
            )


def _rows_a_unit(made: Release, unit: str | Literal[False] | None) -> Places:
    """Return how many rows each unit of a release has; 1 where every row is one."""
    if not unit:
        return np.ones(made.table.frame.height, dtype=np.int64)
    return np.asarray(made.table.frame[unit].rle().struct.field("len").to_numpy(), dtype=np.int64)


def _account(accounts: Sequence[UnitAccount]) -> UnitAccount | None:
    """Return how the units of all strata were released; None where rows are units."""
    if not accounts:
        return None
    return replace(
        accounts[0],
        way="wide" if all(one.way == "wide" for one in accounts) else "two levels",
        n_units=sum(one.n_units for one in accounts),
        rows_before=sum(one.rows_before for one in accounts),
        rows_after=sum(one.rows_after for one in accounts),
    )


def _size(part: Table, unit: str | Literal[False]) -> str:
    """Return in words how large a stratum is."""
    rows = f"{part.frame.height} rows"
    return f"{rows} of {part.frame[unit].n_unique()} units" if unit else rows


def _too_small(number: int, n_strata: int, size: str, error: InputError) -> str:
    return (
        f"Stratum number {number + 1} of {n_strata} has {size} and cannot be released for "
        f"itself: {error} Merge strata, or name fewer columns under strata."
    )
