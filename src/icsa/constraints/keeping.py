"""The last step of a release: rules, bounds, orders and sums hold in the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
import polars as pl

from icsa.columns.base import Column
from icsa.constraints.checking import as_series, broken
from icsa.constraints.coding import step_of
from icsa.constraints.computing import Computed, differs
from icsa.constraints.donors import Bonds, related_numbers, with_cells_of_other_rows
from icsa.constraints.enforcing import mend, require_kept
from icsa.constraints.extents import admitted, on_lattice, within_bounds
from icsa.constraints.gaps import Gap
from icsa.constraints.grammar import Claim, Rule, parse_rule
from icsa.constraints.latitude import Latitude
from icsa.errors import InputError
from icsa.schema import ColumnSpec, Schema

__all__ = ["rules_of", "with_rules", "without_missing_codes"]


def rules_of(schema: Schema, frame: pl.DataFrame, columns: Mapping[str, Column]) -> list[Rule]:
    """Return the declared rules, in which a value that is a missing code means missing."""

    def meant(rule: Rule, claim: Claim) -> Claim:
        column = columns[claim.column]
        if not _codes_of(column) or claim.operator not in ("=", "!=", "in") or not claim.values:
            return claim
        values = (as_series(rule, claim.column, frame, word) for word in claim.values)
        if not all(_is_code(column, value, frame.schema[claim.column]) for value in values):
            return claim
        return Claim(claim.column, "present" if claim.operator == "!=" else "missing")

    rules = [parse_rule(text, frame.columns) for text in schema.rules]
    return [
        Rule(
            rule.text, meant(rule, rule.then), None if rule.when is None else meant(rule, rule.when)
        )
        for rule in rules
    ]


def without_missing_codes(frame: pl.DataFrame, columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return the table with null for the missing codes of columns."""
    return frame.with_columns(
        frame[name].set(pl.Series(np.isnan(column.numbers(frame[name]))), None)
        for name, column in columns.items()
        if _codes_of(column)
    )


def _codes_of(column: Column) -> tuple[object, ...]:
    codes: tuple[object, ...] = _spec_of(column).missing_codes
    return codes


def _is_code(column: Column, value: pl.Series, dtype: pl.DataType) -> bool:
    """Return whether one value of a rule stands for missing."""
    cell = value.cast(dtype, strict=False)
    try:
        return cell.null_count() == 0 and bool(np.isnan(column.numbers(cell)[0]))
    except InputError:  # a value that the column may not have is no code
        return False


def with_rules(
    frame: pl.DataFrame, bonds: Bonds, schema: Schema
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the table with cells moved until the rules hold, and how many each rule moved.

    Sums that were found stay exact, orders that were found hold too, and cells stay what their
    columns may have: where moving single cells does not do, those of another row are taken.
    """
    rules = rules_of(schema, frame, bonds.columns)
    if not rules and not _has_bounds(bonds):
        return frame, MappingProxyType({})
    plain = without_missing_codes(frame, bonds.columns)
    orders = tuple(
        order for gap in bonds.derivation.gaps for order in _orders_of(gap, frame.schema)
    )
    latitude = _latitude_of(bonds, orders)
    mended, moves = mend(rules, plain, latitude)
    mended = _with_targets(mended, bonds)
    for place, rule in enumerate(rules):
        moves.by_row[broken(rule, mended).to_numpy()] = place
    mended = with_cells_of_other_rows(mended, bonds, (*rules, *orders), moves.by_row >= 0)
    require_kept(rules, mended)
    if mended.equals(plain):
        return frame, MappingProxyType({rule.text: 0 for rule in rules})
    for column in mended.columns:
        changed = plain[column].ne_missing(mended[column]).to_numpy()
        if column in moves.by_cell:
            changed &= moves.by_cell[column] < 0
        moves.note(column, changed, None)
    counts = moves.counts(plain, mended, len(rules))
    moved = {rule.text: int(count) for rule, count in zip(rules, counts, strict=True)}
    return _with_codes_again(frame, plain, mended), MappingProxyType(moved)


def _spec_of(column: Column) -> ColumnSpec:
    spec: ColumnSpec = getattr(column, "spec", ColumnSpec(name=column.name, kind=column.kind))
    return spec


def _has_bounds(bonds: Bonds) -> bool:
    """Return whether a column that belongs to others has declared bounds, so that it was held."""
    derivation = bonds.derivation
    found: list[Computed | Gap] = [*derivation.computed, *derivation.gaps]
    names = {name for one in found for name in one.columns}
    specs = (_spec_of(bonds.columns[name]) for name in names)
    return any(spec.lower is not None or spec.upper is not None for spec in specs)


def _orders_of(gap: Gap, types: Mapping[str, pl.DataType]) -> list[Rule]:
    """Return the orders that a gap keeps, as rules."""
    last = types[gap.other]
    return [
        Rule(f"{base} <= {gap.other}", Claim(base, "<=", gap.other))
        for base in gap.bases
        if gap.ordered and (types[base] == last or (types[base].is_numeric() and last.is_numeric()))
    ]


def _latitude_of(bonds: Bonds, orders: tuple[Rule, ...]) -> Latitude:
    """Return what cells of a release may be, and what belongs together."""
    return Latitude(
        steps={name: step_of(column) for name, column in bonds.columns.items()},
        allowed={name: partial(admitted, column) for name, column in bonds.columns.items()},
        counted=frozenset(n for n, c in bonds.columns.items() if hasattr(c, "levels")),
        together=_missing_together(bonds),
        orders=orders,
    )


def _missing_together(bonds: Bonds) -> tuple[tuple[str, ...], ...]:
    """Return the groups of columns that are missing in the same rows, with what is computed."""
    groups = {name: group for name, group in bonds.groups.items() if name in bonds.columns}
    for relation in bonds.derivation.computed:
        among = {groups.get(name) for name in relation.sources} - {None}
        follows = len(among) == 1 and not relation.missing
        groups[relation.target] = among.pop() if follows else None
    found: dict[int, list[str]] = {}
    for name, group in groups.items():
        if group is not None:
            found.setdefault(group, []).append(name)
    return tuple(tuple(names) for names in found.values())


def _with_targets(frame: pl.DataFrame, bonds: Bonds) -> pl.DataFrame:
    """Return the table with what is computed from other columns computed again."""
    numbers = related_numbers(frame, bonds)
    fresh = []
    for relation in bonds.derivation.computed:
        name = relation.target
        column = bonds.columns[name]
        wanted = within_bounds(column, on_lattice(column, relation.predict(numbers)))
        exact = ~np.isnan(wanted - numbers[name]) & ~differs(numbers[name], wanted)
        exact |= np.isnan(numbers[name]) & (np.isnan(wanted) | (relation.missing > 0))
        numbers[name] = np.where(exact, numbers[name], wanted)
        if not exact.all():
            fresh.append(column.cells(numbers[name]).zip_with(pl.Series(~exact), frame[name]))
    return frame.with_columns(fresh)


def _with_codes_again(
    frame: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame
) -> pl.DataFrame:
    """Return the table with the codes of missing cells; emptied ones get the most usual."""
    columns: list[pl.Series] = []
    for cells in after:
        missing = before[cells.name].is_null()
        codes = frame[cells.name].filter(missing)
        if codes.null_count() < codes.len():
            usual = codes.value_counts(sort=True)[cells.name][0]
            filled = pl.Series([usual], dtype=cells.dtype).new_from_index(0, cells.len())
            known = frame[cells.name].zip_with(missing, filled)
            cells = cells.zip_with(cells.is_not_null(), known)
        columns.append(cells)
    return pl.DataFrame(columns)
