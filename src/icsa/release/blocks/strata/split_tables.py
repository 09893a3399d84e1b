"""A stored table split by strata: every column in a file for each piece of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from icsa.limits import LONG, TABLES_IN_MEMORY
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.scratch import Scratch
from icsa.release.strata_release import strata_of
from icsa.schema import Schema
from icsa.tables import Table
from icsa.tables.stored import StoredColumns, StoredTable

__all__ = ["Piece", "find_strata", "piece_table", "pieces_of", "split_column"]

# The order of all rows by stratum, in scratch.
_ORDER = "rows of strata"


@dataclass(frozen=True)
class Piece:
    """Strata that follow one another and are released at a time.

    Attributes
    ----------
    first : int
        The number of the first of them.
    sizes : tuple of int
        Rows of each.
    fits : bool
        Whether they are released in memory; the only one is released by blocks otherwise.
    """

    first: int
    sizes: tuple[int, ...]
    fits: bool

    @property
    def n_rows(self) -> int:
        """Rows of all of them."""
        return sum(self.sizes)

    def strata(self) -> Iterator[tuple[int, slice]]:
        """Yield the number of each stratum, and which rows of the piece it has."""
        ends = accumulate(self.sizes)
        for number, (size, end) in enumerate(zip(self.sizes, ends, strict=True), self.first):
            yield number, slice(end - size, end)


def find_strata(scratch: Scratch, table: StoredTable, schema: Schema) -> tuple[int, ...]:
    """Write the order of rows by stratum, after all checks; return how many rows each has."""
    unit = schema.design.unit
    names = dict.fromkeys([*schema.design.strata, *([unit] if unit else [])])
    frame = pl.DataFrame([table.column(name).frame[name] for name in names])
    rows = strata_of(Table(frame, table.variables, table.layout), schema)
    del frame
    scratch.write(_ORDER, 0, np.concatenate(rows))
    return tuple(own.size for own in rows)


def pieces_of(sizes: Sequence[int], ground: Ground) -> list[Piece]:
    """Return strata in pieces: small ones together, those that do not fit by themselves.

    Raises
    ------
    InputError
        A stratum does not fit, and is too short for blocks.
    """
    a_row = TABLES_IN_MEMORY * 8.0 * len(ground.table.names)
    most = min(ground.memory / a_row, LONG)
    pieces: list[Piece] = []
    waiting: list[int] = []

    def put(first: int, own: Sequence[int], *, fits: bool) -> None:
        if own:
            pieces.append(Piece(first, tuple(own), fits))

    for number, size in enumerate(sizes):
        fits = a_row * size <= ground.memory
        if size <= LONG:
            ground.require_bytes(
                a_row * size,
                f"Stratum number {number + 1} of {len(sizes)}, with {size:,} rows,",
                f"Up to {LONG:,} rows are released in memory only: give --memory more.",
            )
        if not fits or sum(waiting) + size > most:
            put(number - len(waiting), waiting, fits=True)
            waiting = []
        if fits:
            waiting.append(size)
        else:
            put(number, [size], fits=False)
    put(len(sizes) - len(waiting), waiting, fits=True)
    return pieces


def _path(scratch: Scratch, piece: Piece, place: int) -> Path:
    return scratch.folder / "strata" / str(piece.first) / f"{place}.arrow"


def split_column(
    scratch: Scratch, table: StoredTable, name: str, place: int, pieces: Sequence[Piece]
) -> None:
    """Write the cells of a column stratum by stratum, a file for each piece."""
    cells = table.column(name).frame[name].gather(scratch.column(_ORDER, 0, np.int64)).to_frame()
    start = 0
    for piece in pieces:
        path = _path(scratch, piece, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch.telling_of_room():
            cells[start : start + piece.n_rows].write_ipc(path)
        start += piece.n_rows


def piece_table(scratch: Scratch, table: StoredTable, piece: Piece) -> StoredColumns:
    """Return the rows of a piece, as a table whose columns are in files of their own."""
    files: Mapping[str, Path] = {
        name: _path(scratch, piece, place) for place, name in enumerate(table.names)
    }
    return StoredColumns(
        parts=(),
        rows=(piece.n_rows,),
        dtypes=table.dtypes,
        variables=table.variables,
        layout=table.layout,
        files=files,
    )
