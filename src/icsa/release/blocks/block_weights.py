"""Weights of a large table: logarithms are masked, and released ones raked by sums over leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.inspection.design_checks import require_weight
from icsa.inspection.unit_rows import Places
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_raking import RAKED, WEIGHTS, Weighed, rake_in_blocks
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch
from icsa.release.weighted_release import (
    SUM_NOTE,
    how_weighted,
    logarithms,
    weight_type,
    weighted_units,
    with_logarithms,
)
from icsa.release.weighted_totals import wanted_totals
from icsa.schema import Schema
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = ["Weighing", "WeightedCells", "check_weights", "logged", "with_weights"]


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

    def let_go(self, names: Iterable[str]) -> None:
        """Keep all columns: weighted totals are taken of the original's cells."""


@dataclass(frozen=True, eq=False)
class WeightedCells(Cells):
    """Released cells of which one column is of weights.

    Attributes
    ----------
    inner : Cells
        With logarithms in their place.
    scratch : Scratch
        Where the weights are.
    weight : str
    dtype : polars data type
    what : str
        What the weights are called in scratch.
    """

    inner: Cells
    scratch: Scratch
    weight: str
    dtype: pl.DataType
    what: str

    @property
    def n_rows(self) -> int:
        """Rows of the release."""
        return self.inner.n_rows

    @property
    def n_columns(self) -> int:
        """Columns of the release."""
        return self.inner.n_columns

    @property
    def starts(self) -> Places | None:
        """Where units begin; None where every row is one."""
        return self.inner.starts

    def between(self, start: int, stop: int, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Return the cells of some rows, in all columns or some."""
        found = self.inner.between(start, stop, names)
        if self.weight not in found.columns:
            return found
        weights = self.scratch.rows(self.what, [0], slice(start, stop))[:, 0]
        return found.with_columns(pl.Series(self.weight, weights).cast(self.dtype))


def logged(table: StoredTable, schema: Schema) -> tuple[StoredTable, Schema]:
    """Return a table and what is declared of it, with the logarithms of its weights."""
    name = str(schema.design.weight)
    same = {one.name: getattr(table, one.name) for one in fields(StoredTable)}
    same["dtypes"] = {**table.dtypes, name: pl.Float64()}
    return _Logged(original=table, weight=name, **same), with_logarithms(schema)


def check_weights(_: Scratch, table: StoredTable, schema: Schema) -> float:
    """Return the sum of the weights, after all checks of them."""
    name = str(schema.design.weight)
    own = table.column(name)
    require_weight(own, schema)
    return float(own.frame[name].cast(pl.Float64).to_numpy().sum())


@dataclass(frozen=True, eq=False)
class Weighing:
    """How the weights of a release are found.

    Attributes
    ----------
    original : Weighed
    columns : mapping of str to Column
        That are masked, as fitted to all rows of the original.
    schema : Schema
        Of the original.
    total : float
        The sum of the original's weights.
    """

    original: Weighed
    columns: Mapping[str, Column]
    schema: Schema
    total: float


def with_weights(
    passes: Passes, ground: Ground, weighing: Weighing, made: MadeInBlocks
) -> MadeInBlocks:
    """Return a release whose weights were logarithms with weights.

    Parameters
    ----------
    passes : Passes
        Whose scratch is of released rows.
    ground : Ground
    weighing : Weighing
    made : MadeInBlocks
        The release with logarithms.
    """
    original, schema = weighing.original, weighing.schema
    name, cells = original.weight, made.cells
    passes.once("weights of released rows", _write_weights, cells, name, weighing.total)
    notes, what = [SUM_NOTE], WEIGHTS
    if schema.design.raking:
        ours = {other: column for other, column in weighing.columns.items() if other != name}
        totals = wanted_totals(ours, weighted_units(schema))
        notes, what = [rake_in_blocks(passes, ground, original, cells, totals)], RAKED
    dtype = weight_type(original.table.dtypes[name])
    weighted = WeightedCells(cells, passes.scratch, name, dtype, what)
    how, account = how_weighted(schema), made.release
    return replace(
        made,
        cells=weighted,
        release=replace(
            account,
            table=replace(account.table, frame=weighted.between(0, 0)),
            columns=tuple(replace(c, how=how) if c.name == name else c for c in account.columns),
            warnings=(*account.warnings, *notes),
        ),
    )


def _write_weights(scratch: Scratch, cells: Cells, name: str, total: float) -> None:
    """Write the released weights, with the original's sum."""
    blocks = cells.blocks(0, cells.n_rows, names=[name])
    weights = np.exp(np.concatenate([block[name].cast(pl.Float64).to_numpy() for block in blocks]))
    weights *= total / weights.sum()
    scratch.write(WEIGHTS, 0, weights)
