"""The first passes over a large table: every column looked at and fitted, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import polars as pl

from icsa.columns import Column, ColumnSpec, Kind
from icsa.columns.unmasked import Identifier
from icsa.constraints import parse_rule
from icsa.constraints.coded_columns import quantity_of
from icsa.errors import InputError
from icsa.inspection.cautions import cautions_on
from icsa.inspection.design_checks import require_sense
from icsa.inspection.kinds import guess_kind
from icsa.inspection.overview import guess_column
from icsa.inspection.profile import profile_of
from icsa.inspection.units_seen import may_name, rows_of_some, seen_in_sample
from icsa.recipes import Recipe, resolve_recipe
from icsa.release.blocks.ground import Ground, memory_of_a_column
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.encoding import Presence, presence_of
from icsa.release.preparing import (
    Extent,
    fitted_column,
    has_reasons,
    require_masked,
    require_needed,
    unnamed_columns,
)
from icsa.schema import Schema, names_with, with_design, with_fates
from icsa.schema_files.checks import check_column, check_rules_hold
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = [
    "Declared",
    "Fitted",
    "Kept",
    "Prepared",
    "ReadByColumn",
    "declare_in_blocks",
    "fit_in_blocks",
    "prepare_in_blocks",
    "require_no_units",
    "said_in_blocks",
]


# Columns of text that looking at one holds at a time. Measured: 1.2.
_TEXTS_AT_A_TIME = 1.5


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
    """All columns, and what to look at in the original's cells.

    Attributes
    ----------
    weight : str, optional
        The column of logarithms of weights, with which calibration compares correlations.
    nested : bool
        Whether cells that are missing wherever others are go on to be, as those of absent rows.
    """

    schema: Schema
    recipe: Recipe
    fitted: Mapping[str, Fitted]
    others: Mapping[str, Kept]
    notes: tuple[str, ...]
    weight: str | None = None
    nested: bool = False


@dataclass(frozen=True, eq=False)
class Declared:
    """What every column is and what is said of the rows, before anything is fitted.

    Attributes
    ----------
    schema : Schema
    recipe : str
    by_schema : bool
        Whether a schema says it; otherwise it is guessed.
    """

    schema: Schema
    recipe: str
    by_schema: bool


def declare_in_blocks(
    passes: Passes,
    ground: Ground,
    schema: Schema | None,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    recipe: str = "mixed",
    design: Mapping[str, Any] = MappingProxyType({}),
) -> Declared:
    """Return what the columns of a large table are, as `icsa.release.prepare` finds it.

    Parameters
    ----------
    passes : Passes
    ground : Ground
    schema : Schema, optional
        Read and checked; by default guessed.
    keep, drop : sequence of str
    recipe : str
    design : mapping
        What is said of the rows.
    """
    table, names = ground.table, ground.table.names
    said = {} if schema is None else schema.columns
    looked: list[Looked] = passes.over(
        "looking at columns",
        [Task(_look, (table, name, said.get(name), ground.memory)) for name in names],
    )
    columns = {one.spec.name: one.spec for one in looked}
    schema = Schema(columns=columns) if schema is None else replace(schema, columns=columns)
    declared = with_design(with_fates(schema, keep=keep, drop=drop), **design)
    require_needed(declared.design, drop)
    require_sense(declared)
    if declared.design.unit is None:
        for name in (n for n, one in zip(names, looked, strict=True) if one.may_name):
            passes.once(
                f"people named by {names.index(name)}", require_no_units, table, name, "Released"
            )
    require_masked(declared, table.without_rows())
    if declared.rules:
        passes.once("rules declared", _check_rules, table, declared)
    return Declared(declared, recipe, bool(said))


def prepare_in_blocks(passes: Passes, ground: Ground, declared: Declared) -> Prepared:
    """Return the columns of a large table, as `icsa.release.prepare` does those of others."""
    return fit_in_blocks(passes, ground.table, declared, ground.table.names)


def fit_in_blocks(
    passes: Passes, table: ReadByColumn, declared: Declared, names: Sequence[str]
) -> Prepared:
    """Return some columns of a table, fitted; their numbers are in scratch, in the order of all."""
    schema, every = declared.schema, table.names
    chosen = resolve_recipe(declared.recipe, schema.recipe)
    if not names_with("mask", schema):
        raise InputError("No column is left to mask. Give at least one another kind or action.")
    tasks = [Task(_fit, (table, name, every.index(name), schema, chosen)) for name in names]
    found = dict(zip(names, passes.over("fitting columns", tasks), strict=True))
    return Prepared(
        schema,
        chosen,
        {name: one for name, (one, _) in found.items() if isinstance(one, Fitted)},
        {name: one for name, (one, _) in found.items() if isinstance(one, Kept)},
        (
            *unnamed_columns(table.without_rows(), schema),
            *(note for _, notes in found.values() for note in notes),
        ),
    )


class ReadByColumn(Protocol):
    """A table of which one column at a time is read, whatever the order of its rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    def column(self, name: str) -> Table:
        """Return a table of one column, all rows of it."""
        ...

    def without_rows(self) -> Table:
        """Return a table with all columns and no row."""
        ...


def said_in_blocks(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of `icsa.release.prepare` as `declare_in_blocks` takes them."""
    return {**choices, "keep": tuple(choices["keep"]), "drop": tuple(choices["drop"])}


def _look(
    _: Scratch, table: StoredTable, name: str, spec: ColumnSpec | None, allowed: float
) -> Looked:
    needed = _TEXTS_AT_A_TIME * table.text_bytes(name)
    if needed > max(allowed, memory_of_a_column(table.n_rows)):
        raise InputError(
            f"Column {name!r} takes {needed / 1e9:.3g} GB as text while it is looked at, and "
            f"{allowed / 1e9:.3g} GB may be taken. Give --memory more or fewer --workers, or take "
            "the column out of the file."
        )
    one, declared = table.column(name), spec is not None
    if spec is None:
        spec = guess_column(one, name)
    elif spec.action == "keep":  # it may be named under keep alone
        spec = replace(spec, kind=guess_kind(profile_of(one, name)).kind)
    if declared:
        check_column(spec, one)
    return Looked(spec, may_name(one.frame[name]))


def _check_rules(_: Scratch, table: StoredTable, schema: Schema) -> None:
    """Refuse rules that the table breaks; all columns that rules are about are looked at."""
    rules = [parse_rule(text, table.names) for text in schema.rules]
    named = dict.fromkeys(name for rule in rules for name in rule.columns)
    frame = pl.DataFrame([table.column(name).frame[name] for name in named])
    others = (name for name in table.names if name not in named)
    frame = frame.with_columns(pl.lit(None, table.dtypes[name]).alias(name) for name in others)
    check_rules_hold(schema.rules, schema.columns, Table(frame, table.variables, table.layout))


def require_no_units(_: Scratch, table: StoredTable, name: str, doing: str) -> None:
    """Refuse a table in which a column seems to name people with several rows.

    `doing` is what would be done to rows that are no people.
    """
    own = table.column(name)
    profile = profile_of(own, name)
    rows = rows_of_some(own.frame[name])
    del own
    cells = [table.column(other).frame[other][rows] for other in table.names]
    sample = Table(pl.DataFrame(cells), table.variables, table.layout)
    if seen_in_sample(sample, name, profile):
        raise InputError(
            f"Several rows seem to be about one person: {name!r} stands for "
            f"{profile.distinct:,} people or groups in {profile.n_rows:,} rows. {doing} row by "
            f"row, people would come apart. Add --unit {name}, with --time and --bound if there "
            "are such columns, or --unit none where every row is a person of its own (unit=False "
            "in Python)."
        )


def _fit(
    scratch: Scratch,
    stored: ReadByColumn,
    name: str,
    place: int,
    schema: Schema,
    recipe: Recipe,
) -> tuple[Fitted | Kept, tuple[str, ...]]:
    """Return a column, and what to look at in its cells; its numbers go to scratch."""
    table, spec = stored.column(name), schema.columns[name]
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
