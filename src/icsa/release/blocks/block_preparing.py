"""The first passes over a large table: every column looked at and fitted, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from icsa.columns import Column, ColumnSpec, Kind
from icsa.columns.unmasked import Identifier
from icsa.constraints import parse_rule
from icsa.constraints.coded_columns import quantity_of
from icsa.errors import InputError
from icsa.inspection.cautions import cautions_on
from icsa.inspection.kinds import guess_kind
from icsa.inspection.overview import guess_column
from icsa.inspection.profile import profile_of
from icsa.inspection.units_seen import may_name, rows_of_some, seen_in_sample
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.encoding import Presence, presence_of
from icsa.release.preparing import (
    Extent,
    fitted_column,
    has_reasons,
    require_masked,
    unnamed_columns,
)
from icsa.schema import Design, Schema, names_with, with_fates
from icsa.schema_files.checks import check_column, check_rules_hold
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = ["Fitted", "Kept", "Prepared", "prepare_in_blocks", "row_by_row"]


class Looked(NamedTuple):
    """What a column is taken for, and whether its cells may name people with several rows."""

    spec: ColumnSpec
    may_name: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """A column that is masked: its numbers are in scratch.

    Attributes
    ----------
    column : Column
    extent : Extent
    presence : Presence
    has_reasons : bool
        Whether some cells say why they are missing.
    """

    column: Column
    extent: Extent
    presence: Presence
    has_reasons: bool


@dataclass(frozen=True, eq=False)
class Kept:
    """A column that is not masked.

    Attributes
    ----------
    missing : int
    fresh : Identifier, optional
        What its cells are replaced by.
    step : float, optional
    kind : str
        Of what a column measures that is released as it is; empty for others.
    """

    missing: int
    fresh: Identifier | None = None
    step: float | None = None
    kind: Kind = ""


@dataclass(frozen=True, eq=False)
class Prepared:
    """All columns, and what to look at in the original's cells."""

    schema: Schema
    recipe: Recipe
    fitted: Mapping[str, Fitted]
    others: Mapping[str, Kept]
    notes: tuple[str, ...]


def prepare_in_blocks(
    passes: Passes,
    ground: Ground,
    schema: Schema | None,
    *,
    keep: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    recipe: str = "mixed",
    unit: bool | None = None,
) -> Prepared:
    """Return the columns of a large table, as `icsa.release.prepare` does those of others.

    Parameters
    ----------
    passes : Passes
    ground : Ground
    schema : Schema, optional
        Read and checked; by default guessed.
    keep, drop : tuple of str
    recipe : str
    unit : bool, optional
        False: every row is a person of its own, whatever it looks like.
    """
    table, names = ground.table, ground.table.names
    said = {} if schema is None else schema.columns
    looked: list[Looked] = passes.over(
        "looking at columns", [Task(_look, (table, name, said.get(name))) for name in names]
    )
    columns = {one.spec.name: one.spec for one in looked}
    schema = Schema(columns=columns) if schema is None else replace(schema, columns=columns)
    declared = with_fates(schema, keep=keep, drop=drop)
    if unit is False:
        declared = replace(declared, design=Design(unit=False))
    _require_rows_of_their_own(declared)
    if declared.design.unit is None:
        for name in (n for n, one in zip(names, looked, strict=True) if one.may_name):
            passes.once(f"people named by {names.index(name)}", _require_no_units, table, name)
    require_masked(declared, table.without_rows())
    if declared.rules:
        passes.once("rules declared", _check_rules, table, declared)
    chosen = resolve_recipe(recipe, declared.recipe)
    if not names_with("mask", declared):
        raise InputError("No column is left to mask. Give at least one another kind or action.")
    tasks = [
        Task(_fit, (table, name, place, declared, chosen, bool(said)))
        for place, name in enumerate(names)
    ]
    found = dict(zip(names, passes.over("fitting columns", tasks), strict=True))
    return Prepared(
        declared,
        chosen,
        {name: one for name, (one, _) in found.items() if isinstance(one, Fitted)},
        {name: one for name, (one, _) in found.items() if isinstance(one, Kept)},
        (
            *unnamed_columns(table.without_rows(), declared),
            *(note for _, notes in found.values() for note in notes),
        ),
    )


def row_by_row(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of `icsa.release.prepare` as `prepare_in_blocks` takes them.

    Raises
    ------
    InputError
        Something is said of the rows that needs all of them in memory.
    """
    found = {**choices, "keep": tuple(choices["keep"]), "drop": tuple(choices["drop"])}
    design = found.pop("design", {})
    said = [key for key, value in design.items() if value and key != "raking"]
    if said:
        raise InputError(
            f"{said[0]} needs the table in memory, and this one is released from files, row by "
            "row. Give --memory more (collect the frame first in Python), or leave it out where "
            "every row is a person of its own."
        )
    return {**found, "unit": False if design.get("unit") is False else None}


def _require_rows_of_their_own(schema: Schema) -> None:
    design = schema.design
    said = [key for key in ("unit", "weight", "strata") if getattr(design, key)]
    if said:
        raise InputError(
            f"A table that does not fit in memory is released row by row, and {said[0]} was given. "
            "Use a machine with more memory (--memory says how much data may take), or leave "
            f"{said[0]} out if every row is a person of its own."
        )


def _look(_: Scratch, table: StoredTable, name: str, spec: ColumnSpec | None) -> Looked:
    one = table.column(name)
    if spec is None:
        spec = guess_column(one, name)
    elif spec.action == "keep":  # it may be named under keep alone
        spec = replace(spec, kind=guess_kind(profile_of(one, name)).kind)
    return Looked(spec, may_name(one.frame[name]))


def _check_rules(_: Scratch, table: StoredTable, schema: Schema) -> None:
    """Refuse rules that the table breaks; all columns that rules are about are looked at."""
    rules = [parse_rule(text, table.names) for text in schema.rules]
    named = dict.fromkeys(name for rule in rules for name in rule.columns)
    frame = pl.DataFrame([table.column(name).frame[name] for name in named])
    others = (name for name in table.names if name not in named)
    frame = frame.with_columns(pl.lit(None, table.dtypes[name]).alias(name) for name in others)
    check_rules_hold(schema.rules, schema.columns, Table(frame, table.variables, table.layout))


def _require_no_units(_: Scratch, table: StoredTable, name: str) -> None:
    """Refuse a table in which a column seems to name people with several rows."""
    own = table.column(name)
    profile = profile_of(own, name)
    rows = rows_of_some(own.frame[name])
    del own
    cells = [table.column(other).frame[other][rows] for other in table.names]
    sample = Table(pl.DataFrame(cells), table.variables, table.layout)
    if seen_in_sample(sample, name, profile):
        raise InputError(
            f"Several rows seem to be about one person: {name!r} stands for "
            f"{profile.distinct:,} people or groups in {profile.n_rows:,} rows. Released row by "
            "row, people would come apart. A table that does not fit in memory is released row by "
            "row only: use a machine with more memory (--memory) and --unit, or --unit none where "
            "every row is a person of its own (unit=False in Python)."
        )


def _fit(
    scratch: Scratch,
    stored: StoredTable,
    name: str,
    place: int,
    schema: Schema,
    recipe: Recipe,
    declared: bool,
) -> tuple[Fitted | Kept, tuple[str, ...]]:
    """Return a column, and what to look at in its cells; its numbers go to scratch."""
    table, spec = stored.column(name), schema.columns[name]
    if declared:
        check_column(spec, table)
    notes = cautions_on(table, schema)
    cells = table.frame[name]
    if spec.action == "replace":
        return Kept(cells.null_count(), Identifier.fit(cells, spec)), notes
    if spec.action != "mask":
        quantity = None
        if spec.action == "keep":
            quantity = quantity_of(profile_of(table, name, spec).cells, spec.kind)
        if quantity is None:
            return Kept(cells.null_count()), notes
        scratch.write("numbers", place, quantity.numbers)
        return Kept(cells.null_count(), step=quantity.step, kind=quantity.kind), notes
    column, numbers, extent = fitted_column(table, spec, recipe)
    reasons = has_reasons(table, {name: extent}, name)
    del cells, table
    scratch.write("numbers", place, numbers)
    return Fitted(column, extent, presence_of(column, numbers), reasons), notes
