"""Notes on relations between columns: sums, columns that follow others, products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
import polars as pl

from icsa.columns.lattice import find_lattice
from icsa.inspection.kinds import guess_kind
from icsa.inspection.profile import profile_of
from icsa.matrices import Vector
from icsa.relations import find_gaps, find_products, find_relations
from icsa.schema import Kind, Schema
from icsa.tables.table import Table

__all__ = ["relation_notes"]

_NUMERIC = ("continuous", "integer", "zero-inflated")
_TEMPORAL = ("date", "datetime", "duration", "time")


class _Described(Protocol):
    def describe(self) -> str: ...


def relation_notes(table: Table, schema: Schema | None = None) -> Mapping[str, tuple[str, ...]]:
    """Return notes on relations with other columns, by the column that can be computed.

    Parameters
    ----------
    table : Table
    schema : Schema, optional
        With every column of the table. None: guessed.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.integers(0, 50, (2, 40))
    >>> relation_notes(Table(pl.DataFrame({"a": a, "b": b, "total": a + b})))
    {'total': ('total = a + b in all rows; kept so',)}
    """
    numbers: dict[str, Vector] = {}
    kinds: dict[str, Kind] = {}
    for name in table.frame.columns:
        spec = None if schema is None else schema.columns[name]
        profile = profile_of(table, name, spec)
        kind = guess_kind(profile).kind if spec is None else spec.kind
        masked = spec is None or spec.action == "mask"
        if masked and (kind in _NUMERIC or kind in _TEMPORAL) and profile.distinct > 1:
            numbers[name] = _numbers(profile.cells)
            kinds[name] = kind
    steps = {name: _step(values) for name, values in numbers.items()}
    linear = find_relations(numbers, steps, kinds)
    gaps = find_gaps(numbers, kinds)
    products = find_products(numbers, steps)
    targets = {relation.target for relation in linear}
    notes: dict[str, tuple[str, ...]] = {}
    _add(notes, ((found.target, found) for found in linear), "; kept so")
    _add(notes, ((gap.other, gap) for gap in gaps if gap.other not in targets), "; kept so")
    _add(notes, ((found.target, found) for found in products), "; not kept")
    return notes


def _add(
    notes: dict[str, tuple[str, ...]], found: Iterable[tuple[str, _Described]], ending: str
) -> None:
    for name, relation in found:
        notes[name] = (*notes.get(name, ()), _on_one_line(relation.describe()) + ending)


def _on_one_line(words: str) -> str:
    """Return words with escapes for what names may hold that ends a line or moves a cursor."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in words)


def _numbers(cells: pl.Series) -> Vector:
    """Return days of dates, seconds of times, and numbers as they are, NaN where missing."""
    if isinstance(cells.dtype, pl.Duration):
        cells = cells.dt.total_microseconds() / 1e6
    elif isinstance(cells.dtype, pl.Datetime):
        cells = cells.dt.epoch("us") / 1e6
    elif isinstance(cells.dtype, pl.Time):
        cells = cells.to_physical() / 1e9
    elif isinstance(cells.dtype, pl.Date):
        cells = cells.to_physical()
    numbers: Vector = cells.cast(pl.Float64).to_numpy()
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _step(numbers: Vector) -> float | None:
    there = np.sort(numbers[~np.isnan(numbers)])
    lattice = find_lattice(there) if there.size else None
    return None if lattice is None else lattice.width
