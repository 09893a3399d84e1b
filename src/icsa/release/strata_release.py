"""Strata released each for itself, so that effects of them are kept, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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

__all__ = [
    "account_of_strata",
    "names_units",
    "order_of_rows",
    "order_of_units",
    "prepare_strata",
    "rows_a_unit",
    "said_of_stratum",
    "size_in_words",
    "strata_of",
    "telling_of_stratum",
]


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
            with telling_of_stratum(number, len(self.strata), size):
                plans.append(plan(stratum, **options))
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
        named = self.schema.design.unit
        order, unit = order_of_units(
            np.concatenate([rows_a_unit(one.table.frame, named) for one in made]), key
        )
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
        return replace(
            account_of_strata(made, self.schema),
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
        )

    def _fresh(self, name: str, spec: ColumnSpec, unit: Places) -> pl.Series:
        """Return fresh identifiers of rows, or of units: those of strata may be the same."""
        new = Identifier.fit(self.spare.frame[name], spec)
        if names_units(spec, self.schema):
            return new.fresh(int(unit[-1]) + 1).gather(unit).alias(name)
        return new.fresh(unit.size).alias(name)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<StrataPlan: {len(self.plans)} strata>"


def prepare_strata(table: Table, schema: Schema, recipe: str) -> PreparedStrata:
    """Return the strata of a table, each fitted."""
    rows = strata_of(table, schema)
    unit = schema.design.unit or False
    prepared, sizes = [], []
    for number, own in enumerate(rows):
        part = taken(table, own)
        sizes.append(size_in_words(part, unit))
        with telling_of_stratum(number, len(rows), sizes[-1]):
            prepared.append(prepare(part, schema=said_of_stratum(part, schema), recipe=recipe))
    return PreparedStrata(
        schema=schema,
        recipe=resolve_recipe(recipe, schema.recipe),
        spare=table,
        strata=prepared,
        sizes=sizes,
    )


def strata_of(table: Table, schema: Schema) -> list[Places]:
    """Return the rows of every stratum, those of the first row's first, after all checks.

    The table needs the columns that name strata and units only.
    """
    names, unit = list(schema.design.strata), schema.design.unit
    for name in names:
        if table.frame[name].null_count():
            raise InputError(
                f"Column {name!r} is a stratum: {table.frame[name].null_count()} missing."
            )
    if unit:
        _require_constant(table, names, unit)
    grouped = (
        table.frame.select(names)
        .with_row_index("icsa row")
        .group_by(names, maintain_order=True)
        .agg("icsa row")
    )
    return [np.asarray(rows.to_numpy(), dtype=np.int64) for rows in grouped["icsa row"]]


def said_of_stratum(part: Table, schema: Schema) -> Schema:
    """Return what is said of a stratum's rows; weights that are all the same stay as they are.

    Of the stratum's columns that of the weights is needed only.
    """
    design = replace(schema.design, strata=(), unit=schema.design.unit or False)
    if design.weight and part.frame[design.weight].n_unique() == 1:
        design = replace(design, weight=None)
    return replace(schema, design=design)


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


def rows_a_unit(frame: pl.DataFrame, unit: str | Literal[False] | None) -> Places:
    """Return how many rows each unit of a release has; 1 where every row is one."""
    if not unit:
        return np.ones(frame.height, dtype=np.int64)
    return np.asarray(frame[unit].rle().struct.field("len").to_numpy(), dtype=np.int64)


def order_of_units(sizes: Places, key: Key) -> tuple[Places, Places]:
    """Return a random order of all rows, and which unit each row is of then: 0, 1, ...

    Rows of a unit stay together, in their order.

    Parameters
    ----------
    sizes : array of int
        Rows of every unit, as `rows_a_unit` has them of all strata.
    key : Key
    """
    shuffled = order_of_rows(sizes.size, key)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    unit = np.repeat(np.arange(sizes.size), sizes[shuffled])
    within = np.arange(unit.size) - np.repeat(
        np.cumsum(sizes[shuffled]) - sizes[shuffled], sizes[shuffled]
    )
    return np.repeat(starts[shuffled], sizes[shuffled]) + within, unit


def order_of_rows(n_rows: int, key: Key) -> Places:
    """Return a random order of all rows of all strata, where each row is a unit.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> np.sort(order_of_rows(3, as_key(1)))
    array([0, 1, 2])
    """
    return permutation(n_rows, key.stream("rows"))


def names_units(spec: ColumnSpec, schema: Schema) -> bool:
    """Return whether fresh identifiers in a column are of units, and not of rows."""
    return spec.name == schema.design.unit or spec.belongs_to == "unit"


def account_of_strata(made: Sequence[Release], schema: Schema) -> Release:
    """Return the account of the releases of all strata; its table is that of the first."""
    changes = tuple(
        replace(
            _told(own, schema),
            missing_before=sum(change.missing_before for change in own),
            missing_after=sum(change.missing_after for change in own),
            beyond="",
        )
        for own in zip(*(one.columns for one in made), strict=True)
    )
    told = dict.fromkeys(text for one in made for text in one.warnings)
    return replace(
        made[0],
        columns=changes,
        relations=tuple(
            text for text in made[0].relations if all(text in one.relations for one in made)
        ),
        moved_cells={
            rule: sum(one.moved_cells.get(rule, 0) for one in made) for rule in schema.rules
        },
        units=_account([one.units for one in made if one.units is not None]),
        warnings=(
            *told,
            f"Released within {len(made)} strata, which show in the release as they are: "
            "somebody who is known to be in a stratum is one of fewer.",
        ),
    )


def _told(own: Sequence[ColumnChange], schema: Schema) -> ColumnChange:
    """Return what was done to a column in the first stratum in which it varies."""
    told = next((change for change in own if change.action != "constant"), own[0])
    kind = schema.columns[told.name].kind
    if told.action != "constant" or kind == "constant":
        return told
    return replace(told, kind=kind, how="one value in each stratum, as it was")


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


def size_in_words(part: Table, unit: str | Literal[False] | None) -> str:
    """Return in words how large a stratum is."""
    rows = f"{part.frame.height} rows"
    return f"{rows} of {part.frame[unit].n_unique()} units" if unit else rows


@contextmanager
def telling_of_stratum(number: int, n_strata: int, size: str) -> Iterator[None]:
    """Have errors say which stratum cannot be released."""
    try:
        yield
    except InputError as error:
        raise InputError(
            f"Stratum number {number + 1} of {n_strata} has {size} and cannot be released for "
            f"itself: {error} Merge strata, or name fewer columns under strata."
        ) from error
