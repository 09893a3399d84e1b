"""What is declared of each level of a table with several rows a unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from icsa.columns import ColumnSpec
from icsa.constraints import Derivation, parse_rule
from icsa.errors import InputError
from icsa.release.units.row_level import RowLevel
from icsa.schema import Design, Schema, names_with

__all__ = [
    "names_of_rows",
    "names_of_units",
    "needed_columns",
    "part_of",
    "require_none_kept",
    "said_of_units",
    "with_rules",
]


def require_none_kept(schema: Schema) -> None:
    """Refuse columns that are to be released as they are."""
    kept = names_with("keep", schema)
    if kept:
        raise InputError(
            f"Column {kept[0]!r} is to be kept, but units are released with other numbers of rows: "
            "its cells would have no place. Have it masked or dropped."
        )


def names_of_units(schema: Schema) -> list[str]:
    """Return the columns that belong to units, with the one that names them."""
    return [
        name
        for name, spec in schema.columns.items()
        if spec.belongs_to == "unit" or name == schema.design.unit
    ]


def names_of_rows(schema: Schema, of_unit: Sequence[str]) -> list[str]:
    """Return the columns that belong to rows, without the time; an error where there are none."""
    names = [n for n in schema.columns if n not in of_unit and n != schema.design.time]
    if not names:
        raise InputError(
            f"No column tells rows of one {schema.design.unit!r} apart, but for the time if there "
            "is one. Release a table with one row for each."
        )
    return names


def part_of(schema: Schema, names: Iterable[str], rules: Sequence[str] = ()) -> Schema:
    """Return what is declared of some columns, as of a table whose rows are all."""
    columns = {name: schema.columns[name] for name in names}
    return replace(schema, columns=columns, rules=tuple(rules), design=Design(unit=False))


def _rules(schema: Schema, of_unit: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules that speak of units alone, and all others."""
    on_units = tuple(text for text in schema.rules if _spoken(schema, text) <= set(of_unit))
    return on_units, tuple(text for text in schema.rules if text not in on_units)


def _spoken(schema: Schema, rule: str) -> set[str]:
    return set(parse_rule(rule, list(schema.columns)).columns)


def needed_columns(schema: Schema, derivation: Derivation) -> set[str]:
    """Return the columns that rules speak of, or that others are computed from or coded by."""
    spoken = {name for text in schema.rules for name in _spoken(schema, text)}
    sources = {name for one in derivation.computed for name in one.sources}
    return spoken | sources | {name for gap in derivation.gaps for name in gap.bases}


def with_rules(level: RowLevel, schema: Schema, of_unit: Sequence[str]) -> RowLevel:
    """Return the level of rows with the rules that speak of them."""
    rules = _rules(schema, of_unit)[1]
    alone = tuple(text for text in rules if _spoken(schema, text) <= set(level.schema.columns))
    return replace(level, rules=rules, schema=replace(level.schema, rules=alone))


def said_of_units(
    schema: Schema, of_unit: Sequence[str], computed: Set[str], extras: Iterable[str]
) -> Schema:
    """Return what the table with a row a unit is.

    Parameters
    ----------
    schema : Schema
        Of the table with several rows each.
    of_unit : sequence of str
        Columns that belong to units.
    computed : set of str
        Those that follow from rows.
    extras : iterable of str
        Columns of the pattern of times, of levels and slopes.
    """
    names = [name for name in of_unit if name not in computed]
    specs = {name: _bounded(schema, schema.columns[name]) for name in names}
    specs |= {name: ColumnSpec(name=name, kind="continuous", derive="") for name in extras}
    return replace(part_of(schema, names, _rules(schema, of_unit)[0]), columns=specs)


def _bounded(schema: Schema, spec: ColumnSpec) -> ColumnSpec:
    """Return what is said of a column; what no time exceeds is not below what times begin with."""
    if spec.name != schema.design.bound or schema.design.time is None or spec.lower is not None:
        return spec
    time = schema.columns[schema.design.time]
    return replace(spec, lower=time.lower) if time.kind == spec.kind else spec
