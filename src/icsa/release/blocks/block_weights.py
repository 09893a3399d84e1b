"""Weights of a large table: logarithms are masked, and released ones raked by sums over leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.inspection.design_checks import require_weight
from icsa.inspection.unit_rows import Flags
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.raking import (
    RoundSums,
    Scaled,
    moved_weights,
    raking_note,
    round_sums,
    scale_of,
    slope_of,
)
from icsa.release.releasing import Release
from icsa.release.weighted_release import (
    SUM_NOTE,
    how_weighted,
    logarithms,
    weight_spec,
    weight_type,
)
from icsa.release.weighted_totals import by_width, indicators
from icsa.row_sums import added
from icsa.schema import Design
from icsa.schema_files.checks import check_column
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = ["WeightedCells", "check_weights", "logged", "with_weights"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Logged(StoredTable):
    """A stored table with the logarithms of its weights in their place."""

    original: StoredTable
    weight: str

    def column(self, name: str) -> Table:
        """Return a table of one column, all rows of it."""
        own = self.original.column(name)
        return (
            own if name != self.weight else own.with_frame(logarithms(own.frame[name]).to_frame())
        )


@dataclass(frozen=True, eq=False)
class WeightedCells(Cells):
    """Where released cells come from, weights among them.

    Attributes
    ----------
    weight : str
    dtype : polars data type
    what : str
        What the weights are called in scratch.
    """

    weight: str = ""
    dtype: pl.DataType = field(default_factory=pl.Float64)
    what: str = "weights"

    def _column(self, name: str, rows: slice) -> pl.Series:
        if name != self.weight:
            return super()._column(name, rows)
        return pl.Series(name, self.scratch.rows(self.what, [0], rows)[:, 0]).cast(self.dtype)


def logged(ground: Ground, declared: Declared) -> tuple[Ground, Declared]:
    """Return a table and what is declared of it, with the logarithms of its weights."""
    name, table = str(declared.schema.design.weight), ground.table
    same = {one.name: getattr(table, one.name) for one in fields(StoredTable)}
    same["dtypes"] = {**table.dtypes, name: pl.Float64()}
    columns = {**declared.schema.columns, name: weight_spec(name)}
    schema = replace(declared.schema, columns=columns, design=Design(unit=False))
    within = _Logged(original=table, weight=name, **same)
    return replace(ground, table=within), replace(declared, schema=schema)


def check_weights(_: Scratch, table: StoredTable, declared: Declared) -> float:
    """Return the sum of the weights, after all checks of them."""
    name = str(declared.schema.design.weight)
    own = table.column(name)
    if declared.by_schema:
        check_column(declared.schema.columns[name], own)
    require_weight(own, declared.schema)
    return float(own.frame[name].cast(pl.Float64).to_numpy().sum())


def with_weights(
    passes: Passes,
    ground: Ground,
    cells: Cells,
    made: Release,
    columns: Mapping[str, Column],
    design: Design,
    total: float,
) -> tuple[Cells, Release]:
    """Return cells and account of a release whose weights were logarithms.

    Parameters
    ----------
    passes : Passes
    ground : Ground
        The original.
    cells, made
        The release with logarithms.
    columns : mapping of str to Column
        That were masked.
    design : Design
    total : float
        The sum of the original's weights.
    """
    name = str(design.weight)
    passes.once("weights of released rows", _write_weights, cells, name, total)
    notes, what = [SUM_NOTE], "weights"
    if design.raking:
        notes, what = [_rake(passes, ground, cells, columns, name)], "raked"
    kept = {one.name: getattr(cells, one.name) for one in fields(Cells)}
    dtype = weight_type(ground.table.dtypes[name])
    weighted = WeightedCells(**kept, weight=name, dtype=dtype, what=what)
    how = how_weighted(raking=design.raking)
    return weighted, replace(
        made,
        table=replace(made.table, frame=weighted.between(0, 0)),
        columns=tuple(replace(c, how=how) if c.name == name else c for c in made.columns),
        warnings=(*made.warnings, *notes),
    )


def _write_weights(scratch: Scratch, cells: Cells, name: str, total: float) -> None:
    """Write the released weights, with the original's sum."""
    alone = replace(cells, columns={name: cells.columns[name]})
    found = [block[name].cast(pl.Float64).to_numpy() for block in alone.blocks(0, scratch.n_rows)]
    weights = np.exp(np.concatenate(found))
    weights *= total / weights.sum()
    scratch.write("weights", 0, weights)


@dataclass(frozen=True, eq=False)
class _Values:
    """What weights are multiplied by, from released cells.

    Attributes
    ----------
    cells : Cells
        Of the columns alone.
    columns : list of pairs of str and Column
    there : array of bool, optional
        Which of them are somewhere not 0; all of them by default.
    """

    cells: Cells
    columns: list[tuple[str, Column]]
    there: Flags | None = None

    def leaves(self, scratch: Scratch, rows: slice) -> Iterator[tuple[Vector, Matrix]]:
        """Yield weights and values of each leaf of some rows."""
        frame = self.cells.between(rows.start, rows.stop)
        weights = scratch.rows("weights", [0], rows)[:, 0]
        for leaf in row_blocks(frame.height):
            part = frame[leaf]
            found = [indicators(column, part[name]) for name, column in self.columns]
            values = np.concatenate([np.ones((part.height, 1)), *found], axis=1)
            if self.there is not None:
                values = values[:, self.there]
            yield weights[leaf], np.ascontiguousarray(values)


def _rake(
    passes: Passes, ground: Ground, cells: Cells, columns: Mapping[str, Column], name: str
) -> str:
    """Write weights that give the original's totals; return what to know of them."""
    ours = by_width({other: column for other, column in columns.items() if other != name})
    tasks = [Task(_totals, (ground.table, None, None, name))]
    tasks += [Task(_totals, (ground.table, other, column, name)) for other, column in ours]
    totals = np.concatenate(passes.over("totals of the original", tasks))
    alone = replace(cells, columns={other: cells.columns[other] for other, _ in ours})
    values = _Values(alone, ours)
    blocks = ground.blocks
    seen = passes.over("totals there are", [Task(_there, (rows, values)) for rows in blocks])
    there = np.any(seen, axis=0)
    values, wanted = replace(values, there=there), totals[there]
    p = wanted.size

    def summed(what: str, function: Callable[..., Any], *arguments: Any) -> list[Matrix]:
        """Return sums over all leaves, added one after the other."""
        tasks = [Task(function, (rows, values, *arguments)) for rows in blocks]
        found: list[Matrix] | None = None
        for block in passes.each(f"raking {what}", tasks):
            found = [np.zeros_like(one[0]) for one in block] if found is None else found
            found = [added(one, before) for one, before in zip(block, found, strict=True)]
        assert found is not None
        return found

    total = float(passes.once("sum of weights", _sum))
    centre = summed("means", _means)[0] / total
    scaled = scale_of(total, centre, summed("squares", _squares, centre)[0], wanted)
    number = 0

    def sums(slope: Vector) -> RoundSums:
        nonlocal number
        number += 1
        return RoundSums(*summed(f"round {number}", _round, scaled, slope))

    slope, off = slope_of(scaled, sums)
    passes.scratch.allocate("raked", 1)
    passes.over("raking", [Task(_move, (rows, values, scaled, slope)) for rows in blocks])
    return raking_note(p, off)


def _totals(
    _: Scratch, table: StoredTable, name: str | None, column: Column | None, weight: str
) -> list[float]:
    """Return the original's weighted totals of a column; without one, that of weights alone."""
    weights = table.column(weight).frame[weight].cast(pl.Float64).to_numpy()
    cells = None if name is None else table.column(name).frame[name]
    found: list[float] | None = None
    for leaf in row_blocks(weights.size):
        values = np.ones((leaf.stop - leaf.start, 1))
        if cells is not None and column is not None:
            values = indicators(column, cells[leaf])
        own = [float(weights[leaf] @ np.ascontiguousarray(one)) for one in values.T]
        found = own if found is None else [a + b for a, b in zip(found, own, strict=True)]
    assert found is not None
    return found


def _there(scratch: Scratch, rows: slice, values: _Values) -> Flags:
    found = [(np.abs(here) > 0.0).any(axis=0) for _, here in values.leaves(scratch, rows)]
    return np.asarray(np.any(found, axis=0))


def _sum(scratch: Scratch) -> float:
    return float(scratch.column("weights", 0).sum())


def _means(scratch: Scratch, rows: slice, values: _Values) -> list[list[Vector]]:
    return [[own @ found for own, found in values.leaves(scratch, rows)]]


def _squares(scratch: Scratch, rows: slice, values: _Values, centre: Vector) -> list[list[Vector]]:
    return [[own @ (found - centre) ** 2 for own, found in values.leaves(scratch, rows)]]


def _round(
    scratch: Scratch, rows: slice, values: _Values, scaled: Scaled, slope: Vector
) -> list[list[Matrix]]:
    leaves = values.leaves(scratch, rows)
    found = [round_sums(own, here, scaled, slope) for own, here in leaves]
    return [[one.totals for one in found], [one.curvature for one in found]]


def _move(scratch: Scratch, rows: slice, values: _Values, scaled: Scaled, slope: Vector) -> None:
    leaves = values.leaves(scratch, rows)
    moved = [moved_weights(own, here, scaled, slope) for own, here in leaves]
    scratch.write_rows("raked", [0], rows, np.concatenate(moved)[:, None])
