"""Weights of a large release raked: by sums over leaves of those who have them, rows or units.

Where these are few enough for a table in memory, all of them are raked at once, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from icsa.inspection.unit_rows import Flags, Places, UnitRows, rows_of_units, unit_leaves
from icsa.limits import LONG
from icsa.linalg import inner_product
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.ground import Ground, row_ranges
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch, read_starts
from icsa.release.raking import (
    RoundSums,
    Scaled,
    moved_weights,
    raked,
    raking_note,
    round_sums,
    scale_of,
    slope_of,
    weighted_totals,
)
from icsa.release.weighted_totals import Total, fitting_totals, present, totalled
from icsa.row_sums import added
from icsa.tables.stored import StoredTable

__all__ = ["RAKED", "WEIGHTS", "Weighed", "rake_in_blocks", "require_room_to_rake"]

# What released weights are called in scratch, one a row: before they are raked, and after.
WEIGHTS = "weights"
RAKED = "raked"
# The same of units.
_HELD = "weights of units"
# The order of the original's rows by unit, as the file has them within each.
_ORDER = "order in the file"
# Matrices with all totals of all holders that raking at once takes.
_AT_ONCE = 5


@dataclass(frozen=True, eq=False)
class Weighed:
    """An original with weights.

    Attributes
    ----------
    table : StoredTable
    weight : str
    unit : str, optional
        The column that names who has the weights; None where each row has its own.
    scratch : Scratch
        Where the original's units begin.
    """

    table: StoredTable
    weight: str
    unit: str | None
    scratch: Scratch

    def write_order(self) -> None:
        """Write the rows of units as the file has them."""
        assert self.unit is not None
        cells = self.table.column(self.unit).frame[self.unit]
        self.scratch.write(_ORDER, 0, rows_of_units(cells).order)

    @property
    def starts(self) -> Places | None:
        """Where units begin; None where rows have the weights."""
        return None if self.unit is None else read_starts(self.scratch)

    def weights(self) -> Vector:
        """Return the weights of all who have some."""
        found = self.table.column(self.weight).frame[self.weight].cast(pl.Float64).to_numpy()
        return found if self.unit is None else found[self._order()[read_starts(self.scratch)[:-1]]]

    def values(self, total: Total, holders: Sequence[slice]) -> Iterator[Matrix]:
        """Yield what the weights of some holders are multiplied by, leaf by leaf."""
        cells = None
        if total.name is not None:
            cells = self.table.column(total.name).frame[total.name]
        starts = self.starts
        order = None if starts is None else self._order()

        def read(rows: slice, _: Sequence[str]) -> pl.DataFrame:
            if cells is None:
                return pl.DataFrame()
            own = cells[rows] if order is None else cells.gather(order[rows])
            return own.to_frame()

        for leaf in holders:
            yield _values([total], read, starts, leaf)

    def _order(self) -> Places:
        found: Places = self.scratch.column(_ORDER, 0, np.int64)
        return found


@dataclass(frozen=True, eq=False)
class _Released:
    """What released weights are multiplied by.

    Attributes
    ----------
    cells : Cells
    totals : sequence of Total
    of_units : bool
        Whether units have the weights.
    there : array of bool, optional
        Which of the totals are somewhere not 0; all of them by default.
    """

    cells: Cells
    totals: Sequence[Total]
    of_units: bool
    there: Flags | None = None

    def values(self, scratch: Scratch, holders: slice) -> Matrix:
        """Return the values of some holders."""
        starts = read_starts(scratch) if self.of_units else None

        def read(rows: slice, names: Sequence[str]) -> pl.DataFrame:
            return self.cells.between(rows.start, rows.stop, names)

        found = _values(self.totals, read, starts, holders)
        return found if self.there is None else found[:, self.there]

    def leaves(self, scratch: Scratch, holders: slice) -> Iterator[tuple[Vector, Matrix]]:
        """Yield weights and values of each leaf of some holders."""
        for leaf in row_blocks(holders.stop - holders.start):
            own = slice(holders.start + leaf.start, holders.start + leaf.stop)
            values = np.ascontiguousarray(self.values(scratch, own))
            yield self.weights(scratch, own), values

    def weights(self, scratch: Scratch, holders: slice) -> Vector:
        """Return the weights of some holders, before they are raked."""
        what = _HELD if self.of_units else WEIGHTS
        found: Vector = scratch.rows(what, [0], holders)[:, 0]
        return found

    def write(self, scratch: Scratch, holders: slice, weights: Vector) -> None:
        """Write raked weights of some holders, one a row."""
        rows = holders
        if self.of_units:
            starts = read_starts(scratch)[holders.start : holders.stop + 1]
            rows = slice(int(starts[0]), int(starts[-1]))
            weights = np.repeat(weights, np.diff(starts))
        scratch.write_rows(RAKED, [0], rows, weights[:, None])


def _values(
    totals: Sequence[Total],
    read: Callable[[slice, Sequence[str]], pl.DataFrame],
    starts: Places | None,
    holders: slice,
) -> Matrix:
    """Return what weights of some holders are multiplied by, from cells that are read by rows.

    Parameters
    ----------
    totals : sequence of Total
    read : function
        From rows and columns to their cells.
    starts : array of int, optional
        Where units begin that have the weights; None where rows have them.
    holders : slice
    """
    names = list(dict.fromkeys(one.name for one in totals if one.name is not None))
    if starts is None:
        return _joined(totals, read(holders, names), holders.stop - holders.start)
    found = np.empty((holders.stop - holders.start, sum(one.width for one in totals)))
    own = starts[holders.start : holders.stop + 1]
    for units in unit_leaves(own):
        edges = own[units.start : units.stop + 1]
        frame = read(slice(int(edges[0]), int(edges[-1])), names)
        rows = UnitRows(np.arange(edges[-1] - edges[0]), edges - edges[0])
        found[units] = _joined(totals, frame, rows)
    return found


def _joined(totals: Sequence[Total], frame: pl.DataFrame, rows: UnitRows | int) -> Matrix:
    return np.concatenate(list(totalled(totals, frame, rows)), axis=1)


def rake_in_blocks(
    passes: Passes, ground: Ground, original: Weighed, cells: Cells, totals: Sequence[Total]
) -> str:
    """Write weights that give the original's totals; return what to know of them.

    Parameters
    ----------
    passes : Passes
        Whose scratch has the released weights.
    ground : Ground
        How much a task may take.
    original : Weighed
    cells : Cells
        Of the release.
    totals : sequence of Total
        That are wanted.
    """
    of_units = original.unit is not None
    before, after = original.table.n_rows, cells.n_rows
    if of_units:
        passes.once("order of units in the file", _write_order, original)
        before = after = int(passes.once("weights of units", _hold))
    widths = [one.width for one in totals]
    kept = [totals[k] for k in fitting_totals(widths, min(before, after))]
    values = _Released(cells, kept, of_units)
    blocks = list(row_ranges(after, ground.block_rows))
    tasks = [Task(_there, (block, values)) for block in blocks]
    seen = passes.over("totals there are", tasks, held=OF_A_BLOCK)
    values = replace(values, there=np.any(seen, axis=0))
    wanted = _totals_before(passes, original, values, before)
    passes.scratch.allocate(RAKED, 1)
    if after <= LONG:
        off = float(passes.once("raking", _rake_at_once, values, wanted, after))
    else:
        off = _rake_by_leaves(passes, blocks, values, wanted)
    return raking_note(wanted.size, off)


def require_room_to_rake(ground: Ground, totals: Sequence[Total], n_holders: int) -> None:
    """Refuse more totals than there is room for, where all who have weights are raked at once."""
    if n_holders > LONG:
        return
    kept = [totals[k] for k in fitting_totals([one.width for one in totals], n_holders)]
    width = sum(one.width for one in kept)
    ground.require_bytes(
        8.0 * _AT_ONCE * n_holders * width,
        f"{width:,} weighted totals of {n_holders:,} units",
        "Drop columns with many levels, give --memory more, or use --no-raking.",
    )


def _write_order(_: Scratch, original: Weighed) -> None:
    original.write_order()


def _hold(scratch: Scratch) -> int:
    """Write the released weights of units; return how many there are."""
    starts = read_starts(scratch)
    scratch.write(_HELD, 0, scratch.column(WEIGHTS, 0)[starts[:-1]])
    return starts.size - 1


def _totals_before(passes: Passes, original: Weighed, values: _Released, n_holders: int) -> Vector:
    """Return the original's totals."""
    totals, there = values.totals, values.there
    assert there is not None
    if n_holders <= LONG:
        found: Vector = passes.once("totals of the original", _totals_at_once, original, values)
        return found
    tasks = [Task(_total_by_leaves, (original, one, n_holders)) for one in totals]
    return np.concatenate(passes.over("totals of the original", tasks))[there]


def _total_by_leaves(_: Scratch, original: Weighed, total: Total, n_holders: int) -> list[float]:
    """Return weighted totals as `icsa.release.raking.weighted_totals` does those of many."""
    weights, leaves = original.weights(), list(row_blocks(n_holders))
    found = [0.0] * total.width
    for leaf, values in zip(leaves, original.values(total, leaves), strict=True):
        for j, column in enumerate(values.T):
            found[j] += inner_product(weights[leaf], column)
    return found


def _totals_at_once(_: Scratch, original: Weighed, values: _Released) -> Vector:
    weights = original.weights()
    everybody = [slice(0, weights.size)]
    found = [next(original.values(one, everybody)) for one in values.totals]
    return weighted_totals(weights, np.concatenate(found, axis=1)[:, values.there])


def _rake_at_once(scratch: Scratch, values: _Released, wanted: Vector, n_holders: int) -> float:
    everybody = slice(0, n_holders)
    found, off = raked(
        values.weights(scratch, everybody), values.values(scratch, everybody), wanted
    )
    values.write(scratch, everybody, found)
    return off


def _rake_by_leaves(
    passes: Passes, blocks: Sequence[slice], values: _Released, wanted: Vector
) -> float:
    """Write raked weights of many holders; return how far off totals are."""

    def summed(what: str, function: Callable[..., Any], *arguments: Any) -> list[Matrix]:
        """Return sums over all leaves, added one after the other."""
        tasks = [Task(function, (block, values, *arguments)) for block in blocks]
        found: list[Matrix] | None = None
        for block in passes.each(f"raking {what}", tasks, held=OF_A_BLOCK):
            found = [np.zeros_like(one[0]) for one in block] if found is None else found
            found = [added(one, before) for one, before in zip(block, found, strict=True)]
        assert found is not None
        return found

    total = float(passes.once("sum of weights", _sum, values))
    centre = summed("means", _means)[0] / total
    scaled = scale_of(total, centre, summed("squares", _squares, centre)[0], wanted)
    number = 0

    def sums(slope: Vector) -> RoundSums:
        nonlocal number
        number += 1
        return RoundSums(*summed(f"round {number}", _round, scaled, slope))

    slope, off = slope_of(scaled, sums)
    tasks = [Task(_move, (block, values, scaled, slope)) for block in blocks]
    passes.over("raking", tasks, held=OF_A_BLOCK)
    return off


def _there(scratch: Scratch, block: slice, values: _Released) -> Flags:
    found = [present(here) for _, here in values.leaves(scratch, block)]
    return np.asarray(np.any(found, axis=0))


def _sum(scratch: Scratch, values: _Released) -> float:
    return float(scratch.loaded(_HELD if values.of_units else WEIGHTS, 0).sum())


def _means(scratch: Scratch, block: slice, values: _Released) -> list[list[Vector]]:
    return [[own @ found for own, found in values.leaves(scratch, block)]]


def _squares(
    scratch: Scratch, block: slice, values: _Released, centre: Vector
) -> list[list[Vector]]:
    return [[own @ (found - centre) ** 2 for own, found in values.leaves(scratch, block)]]


def _round(
    scratch: Scratch, block: slice, values: _Released, scaled: Scaled, slope: Vector
) -> list[list[Matrix]]:
    leaves = values.leaves(scratch, block)
    found = [round_sums(own, here, scaled, slope) for own, here in leaves]
    return [[one.totals for one in found], [one.curvature for one in found]]


def _move(scratch: Scratch, block: slice, values: _Released, scaled: Scaled, slope: Vector) -> None:
    leaves = values.leaves(scratch, block)
    moved = [moved_weights(own, here, scaled, slope) for own, here in leaves]
    values.write(scratch, block, np.concatenate(moved))
