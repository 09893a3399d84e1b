"""The cells of a large release: block by block from the numbers, into files of Parquet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.inspection.unit_rows import Places
from icsa.matrices import LEAF_ROWS
from icsa.measures import Reach, reach_beyond
from icsa.randomness import Key
from icsa.release.accounts import Accounted
from icsa.release.blocks.block_preparing import Prepared, ReadByColumn
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.planning import Plan
from icsa.release.preparing import Extent, extent_of
from icsa.release.releasing import is_reordered, row_order, with_reasons
from icsa.tables.stored import StoredTable

__all__ = ["Cells", "StoredCells", "accounts_of", "give_reasons", "ready_cells", "write_cells"]

# Rows of a column whose cells are made at a time, and cells of all columns: with usual ones less
# than a hundred megabytes. No matter what memory there is, so that files are always the same.
_ROWS = 16 * LEAF_ROWS
_CELLS = 20 * _ROWS
# Columns that looking at the released numbers of one holds: measured, 2.9.
_HELD_COUNTING = 3


class Cells(ABC):
    """Where the released cells come from, in the order of the columns."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of the release."""

    @abstractmethod
    def between(self, start: int, stop: int, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Return the cells of some rows, in all columns or some."""

    @property
    def starts(self) -> Places | None:
        """Where units begin; None where every row is one."""
        return None

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Columns of the release."""

    @property
    def rows_at_a_time(self) -> int:
        """Rows of all columns that are made at a time."""
        leaves = _CELLS // max(self.n_columns, 1) // LEAF_ROWS
        return min(max(leaves, 1) * LEAF_ROWS, _ROWS)

    @property
    def rows_of_a_group(self) -> int | None:
        """Rows of a group in Parquet files, which are held until it is whole; None: as usual."""
        return None if self.rows_at_a_time == _ROWS else self.rows_at_a_time

    def blocks(
        self,
        start: int,
        stop: int,
        n_rows: int | None = None,
        names: Sequence[str] | None = None,
    ) -> Iterator[pl.DataFrame]:
        """Yield the cells of some rows, block by block."""
        step = n_rows or self.rows_at_a_time
        for first in range(start, stop, step):
            yield self.between(first, min(first + step, stop), names)


@dataclass(frozen=True, eq=False)
class StoredCells(Cells):
    """Cells that are made of numbers in scratch, or are there themselves.

    Attributes
    ----------
    scratch : Scratch
    columns : mapping of str to Column or None
        What makes cells of numbers; None where cells themselves are in scratch.
    fresh : set of str
        Columns whose numbers are those of the rows.
    places : mapping of str to int
    numbers : str
        What the numbers are called in scratch.
    """

    scratch: Scratch
    columns: Mapping[str, Column | None]
    fresh: frozenset[str]
    places: Mapping[str, int]
    numbers: str

    @property
    def n_rows(self) -> int:
        """Rows of the release."""
        return self.scratch.n_rows

    @property
    def n_columns(self) -> int:
        """Columns of the release."""
        return len(self.columns)

    def between(self, start: int, stop: int, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Return the cells of some rows, in all columns or some."""
        rows = slice(start, stop)
        found = self.columns if names is None else names
        return pl.DataFrame([self._column(name, rows) for name in found])

    def let_go(self, names: Iterable[str]) -> None:
        """Remove the files of columns whose cells are not asked for any more."""
        for place in (self.places[name] for name in names):
            _cells_path(self.scratch, place).unlink(missing_ok=True)
            for what in ("released", "ordered"):
                self.scratch.path(what, place).unlink(missing_ok=True)

    def _column(self, name: str, rows: slice) -> pl.Series:
        maker, place = self.columns[name], self.places[name]
        if maker is None:
            path = _cells_path(self.scratch, place)
            lazy = pl.scan_ipc(path).slice(rows.start, rows.stop - rows.start)
            return lazy.collect().to_series()
        if name in self.fresh:
            return maker.cells(np.arange(rows.start + 1.0, rows.stop + 1.0)).alias(name)
        return maker.cells(self.scratch.rows(self.numbers, [place], rows)[:, 0])


def ready_cells(
    passes: Passes, table: StoredTable, prepared: Prepared, plan: Plan, key: Key
) -> StoredCells:
    """Return where the released cells come from, after the passes that whole columns need."""
    names, schema = table.names, prepared.schema
    order = None
    if is_reordered(plan.mask, schema):
        order = "order"
        passes.once("order of rows", _write_order, row_order(passes.scratch.n_rows, key))
    tasks: list[Task] = []
    makers: dict[str, Column | None] = {}
    for place, name in enumerate(names):
        spec = schema.columns[name]
        if spec.action == "drop":
            continue
        if spec.action == "replace":
            makers[name] = prepared.others[name].fresh
        elif spec.action == "keep":
            makers[name] = None
            tasks.append(Task(_keep_cells, (table, name, place, order)))
        elif prepared.fitted[name].has_reasons:
            makers[name] = None
            secret = key.reveal()
            exact = plan.recipe.exact_counts
            column = plan.columns[name]
            tasks.append(Task(give_reasons, (table, column, place, order, secret, exact)))
        else:
            makers[name] = plan.columns[name]
            if order is not None:
                tasks.append(Task(_reorder, (place,)))
    passes.over("making cells", tasks)
    places = {name: names.index(name) for name in makers}
    numbers = "released" if order is None else "ordered"
    fresh = frozenset(name for name in makers if schema.columns[name].action == "replace")
    return StoredCells(passes.scratch, makers, fresh, places, numbers)


def _write_order(scratch: Scratch, order: Any) -> None:
    scratch.write("order", 0, order)


def _order(scratch: Scratch) -> Any:
    return scratch.column("order", 0, np.int64)


def _reorder(scratch: Scratch, place: int) -> None:
    scratch.write("ordered", place, scratch.loaded("released", place)[_order(scratch)])


def _cells_path(scratch: Scratch, place: int) -> Path:
    return scratch.folder / "cells" / f"{place}.arrow"


def write_cells(scratch: Scratch, place: int, cells: pl.Series, order: str | None = None) -> None:
    """Keep the cells of a column as they are, or in the order that is called so in scratch."""
    path = _cells_path(scratch, place)
    path.parent.mkdir(exist_ok=True)
    ordered = cells if order is None else cells[_order(scratch)]
    with scratch.telling_of_room():
        ordered.to_frame().write_ipc(path, record_batch_size=_ROWS)


def _keep_cells(
    scratch: Scratch, table: StoredTable, name: str, place: int, order: str | None
) -> None:
    write_cells(scratch, place, table.column(name).frame[name], order)


def give_reasons(
    scratch: Scratch,
    table: ReadByColumn,
    column: Column,
    place: int,
    order: str | None,
    secret: bytes,
    exact: bool,
) -> None:
    """Write cells of which some say why they are missing, as often as the original's do."""
    released = column.cells(scratch.column("released", place))
    found, _ = with_reasons(released, table.column(column.name), column, Key(secret), exact=exact)
    write_cells(scratch, place, found, order)


def accounts_of(
    passes: Passes, plan: Accounted, names: Sequence[str]
) -> tuple[dict[str, Extent], dict[str, Reach]]:
    """Return how far released numbers spread, and how far beyond the original's range."""
    ours = list(plan.columns)
    tasks = [Task(_account, (names.index(name), plan.extents[name])) for name in ours]
    found = dict(zip(ours, passes.over("counting", tasks, held=_HELD_COUNTING), strict=True))
    return (
        {name: extent for name, (extent, _) in found.items()},
        {name: reach for name, (_, reach) in found.items() if plan.columns[name].levels is None},
    )


def _account(scratch: Scratch, place: int, before: Extent) -> tuple[Extent, Reach]:
    numbers = scratch.column("released", place)
    return extent_of(numbers), reach_beyond(before.smallest, before.largest, numbers)
