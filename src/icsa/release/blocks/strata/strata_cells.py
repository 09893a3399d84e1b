"""The released cells of all strata in one random order, column by column."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.inspection.unit_rows import Places
from icsa.randomness import Key, as_key
from icsa.release.blocks.block_cells import Cells, StoredCells, write_cells
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, read_starts, write_starts
from icsa.release.releasing import Release
from icsa.release.strata_release import names_units, order_of_rows, order_of_units
from icsa.schema import Schema
from icsa.tables.stored import StoredTable

__all__ = ["ReleasedPiece", "put_together"]


class ReleasedPiece(NamedTuple):
    """Strata that were released: their accounts, rows of their units, and where cells are."""

    accounts: tuple[Release, ...]
    sizes: Places
    cells: Cells | Path

    def column(self, name: str) -> pl.DataFrame:
        """Return the cells of one column."""
        if isinstance(self.cells, Path):
            return pl.scan_ipc(self.cells).select(name).collect()
        return pl.concat(list(self.cells.blocks(0, self.cells.n_rows, names=[name])))


@dataclass(frozen=True, eq=False)
class _OrderedCells(StoredCells):
    """Cells of all strata; units begin where scratch says, if there are some."""

    of_units: bool

    @property
    def starts(self) -> Places | None:
        """Where units begin; None where every row is one."""
        return read_starts(self.scratch) if self.of_units else None


def put_together(
    passes: Passes,
    made: Sequence[ReleasedPiece],
    schema: Schema,
    identifiers: Mapping[str, Identifier],
    table: StoredTable,
    key: Key,
) -> Cells:
    """Return the cells of all strata in one order; rows of a unit stay together.

    Parameters
    ----------
    passes : Passes
    made : sequence of ReleasedPiece
        In the order of the strata.
    schema : Schema
        Of the whole table.
    identifiers : mapping of str to Identifier
        Which replace the cells of columns: those of strata may be the same.
    table : StoredTable
        The original.
    key : Key
    """
    of_units = bool(schema.design.unit)
    folder = passes.scratch.folder / "put together"
    folder.mkdir(exist_ok=True)
    n_rows = sum(int(piece.sizes.sum()) for piece in made)
    after = replace(passes, scratch=Scratch(folder, n_rows))
    sizes = np.concatenate([piece.sizes for piece in made]) if of_units else None
    after.once("order of all rows", _write_order, sizes, key.reveal())
    sources = [_only_cells(piece) for piece in made]
    released = made[0].accounts[0].table.frame.columns
    places = {name: table.names.index(name) for name in released}
    tasks, makers, fresh = list[Task](), dict[str, Column | None](), set[str]()
    for name, place in places.items():
        makers[name] = identifiers.get(name)
        if name not in identifiers:
            tasks.append(Task(_put_column, (name, place, sources)))
        elif names_units(schema.columns[name], schema):
            tasks.append(Task(_number_units, (place,)))
        else:
            fresh.add(name)
    after.over("putting strata together", tasks)
    for path in (passes.scratch.folder / "strata", *passes.scratch.folder.glob("stratum *")):
        shutil.rmtree(path, ignore_errors=True)
    return _OrderedCells(after.scratch, makers, frozenset(fresh), places, "released", of_units)


def _only_cells(piece: ReleasedPiece) -> ReleasedPiece:
    """Return where a piece's cells are, without what tasks on columns do not need."""
    return ReleasedPiece((), piece.sizes[:0], piece.cells)


def _write_order(scratch: Scratch, sizes: Places | None, secret: bytes) -> None:
    """Write the order of all rows, and where units begin in it."""
    key = as_key(secret)
    if sizes is None:  # every row is a unit, and takes less room so
        scratch.write("order", 0, order_of_rows(scratch.n_rows, key))
        return
    order, unit = order_of_units(sizes, key)
    scratch.write("order", 0, order)
    del order
    counts = np.bincount(unit)
    write_starts(scratch, np.concatenate([[0], np.cumsum(counts)]))


def _put_column(scratch: Scratch, name: str, place: int, pieces: Sequence[ReleasedPiece]) -> None:
    """Write the cells of a column of all strata, in their order."""
    whole = pl.concat(
        [piece.column(name) for piece in pieces], how="vertical_relaxed", rechunk=True
    )
    write_cells(scratch, place, whole[name], "order")


def _number_units(scratch: Scratch, place: int) -> None:
    """Write which identifier each row has of its unit."""
    sizes = np.diff(read_starts(scratch))
    scratch.write("released", place, np.repeat(np.arange(1.0, sizes.size + 1.0), sizes))
