"""Columns in files that are indexed as a matrix is: what is asked for is read, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.matrices import Vector
from icsa.privacy.lenses import spread_cells, standardize

__all__ = ["FiledColumn", "FiledMatrix", "Gaps", "InFile", "InRobustUnits"]

Rows: TypeAlias = slice | npt.NDArray[Any]
_Cells: TypeAlias = npt.NDArray[Any]

_NUMBERS, _CODES = np.dtype(np.float64), np.dtype(np.int32)
# Draws that are made at a time, and how many of them take as long as a jump to one.
_DRAWS, _JUMP = 1 << 20, 1_000


class FiledColumn(Protocol):
    """A column of which some rows can be read."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its cells."""
        ...

    def read(self, rows: Rows) -> _Cells:
        """Return the cells of rows between two, or of rows by their numbers."""
        ...


@dataclass(frozen=True)
class InFile:
    """A column as it is in its file: one number a row and nothing else."""

    path: Path
    dtype: np.dtype[Any]

    def read(self, rows: Rows) -> _Cells:
        """Return the cells of some rows, in memory of their own."""
        if isinstance(rows, slice):
            start, stop = rows.start or 0, rows.stop
            count = -1 if stop is None else max(0, stop - start)
            found = np.fromfile(self.path, self.dtype, count, offset=start * self.dtype.itemsize)
            return found[:: rows.step or 1]
        if _follow_one_another(rows):
            return self.read(slice(int(rows[0]), int(rows[-1]) + 1))
        return (
            np.array(np.memmap(self.path, self.dtype, mode="r")[rows])
            if rows.size
            else (np.empty(0, self.dtype))
        )


@dataclass(frozen=True)
class Gaps:
    """Whether cells of a column of numbers are missing, as codes."""

    of: InFile
    dtype: np.dtype[Any] = _CODES

    def read(self, rows: Rows) -> _Cells:
        """Return 1 where a cell is missing."""
        return np.isnan(self.of.read(rows)).astype(np.int32)


@dataclass(frozen=True)
class InRobustUnits:
    """A column of numbers as lenses see it: rounded cells spread within their step, then scaled.

    Attributes
    ----------
    of : InFile
    step : float
        0 for a column that is not rounded.
    seed : tuple of int
        Of the draws that spread the cells, one for every row.
    centre, scale : float
    """

    of: InFile
    step: float
    seed: tuple[int, ...]
    centre: float
    scale: float
    dtype: np.dtype[Any] = _NUMBERS

    def read(self, rows: Rows) -> _Cells:
        """Return the cells of some rows."""
        cells = self.of.read(rows)
        self.change(cells, rows)
        return cells

    def change(self, cells: Vector, rows: Rows) -> None:
        """Change cells of some rows, in place."""
        if self.step > 0.0 and cells.size:
            spread_cells(cells, _draws(self.seed, rows, cells.size), self.step)
        standardize(cells, self.centre, self.scale)


class FiledMatrix:
    """Columns in files that are indexed as an array of shape (n_columns, n_rows) is.

    Parameters
    ----------
    columns : tuple of FiledColumn
    n_rows : int
    dtype : numpy type
        Of what is read, where there are no columns.
    """

    def __init__(
        self, columns: tuple[FiledColumn, ...], n_rows: int, dtype: npt.DTypeLike = np.float64
    ) -> None:
        self.columns = columns
        self.shape = (len(columns), n_rows)
        self.dtype = columns[0].dtype if columns else np.dtype(dtype)

    def __getitem__(self, key: Any) -> Any:
        """Return cells; all rows of several columns are not read, but can be asked again."""
        columns, rows = key if isinstance(key, tuple) else (key, slice(None))
        places = np.arange(self.shape[0])[columns]
        whole = isinstance(rows, slice) and rows == slice(None)
        if places.ndim == 0:
            return self.columns[int(places)].read(rows)
        chosen = tuple(self.columns[place] for place in places.tolist())
        if whole:
            return FiledMatrix(chosen, self.shape[1], self.dtype)
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        count = len(range(*rows.indices(self.shape[1]))) if isinstance(rows, slice) else rows.size
        found = np.empty((len(chosen), count), dtype=self.dtype)
        for row, column in zip(found, chosen, strict=True):
            row[:] = column.read(rows)
        return found

    def __iter__(self) -> Iterator[_Cells]:
        """Read one column after the other, each as a whole."""
        return (column.read(slice(None)) for column in self.columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<FiledMatrix: {self.shape[0]} columns, {self.shape[1]} rows>"


def _follow_one_another(rows: npt.NDArray[Any]) -> bool:
    if rows.dtype.kind not in "iu" or rows.size < 2 or rows[-1] - rows[0] + 1 != rows.size:
        return False
    return bool((np.diff(rows) == 1).all())


def _draws(seed: tuple[int, ...], rows: Rows, count: int) -> Vector:
    """Return the draws of some rows, of a stream that has one for every row."""
    if isinstance(rows, slice):
        found = _generator(seed, rows.start or 0).random(_spanned(rows, count))
        return found[:: rows.step or 1].copy()
    if not rows.size:
        return np.empty(0)
    wanted, place = np.unique(rows, return_inverse=True)
    first, last = int(wanted[0]), int(wanted[-1])
    if last - first > _JUMP * wanted.size:
        return _single_draws(seed, wanted)[place]
    draws, rng = np.empty(wanted.size), _generator(seed, first)
    for start in range(first, last + 1, _DRAWS):
        stop = min(start + _DRAWS, last + 1)
        low, high = np.searchsorted(wanted, [start, stop])
        draws[low:high] = rng.random(stop - start)[wanted[low:high] - start]
    return draws[place]


def _single_draws(seed: tuple[int, ...], rows: npt.NDArray[Any]) -> Vector:
    """Return the draws of rows in ascending order, jumping from one to the next."""
    bits = np.random.PCG64(list(seed))
    rng, draws = np.random.Generator(bits), np.empty(rows.size)
    for place, jump in enumerate(np.diff(rows, prepend=-1).tolist()):
        bits.advance(jump - 1)
        draws[place] = rng.random()
    return draws


def _spanned(rows: slice, count: int) -> int:
    return (count - 1) * (rows.step or 1) + 1


def _generator(seed: tuple[int, ...], start: int) -> np.random.Generator:
    """Return the generator of a stream, `start` draws on."""
    bits = np.random.PCG64(list(seed))
    bits.advance(start)
    return np.random.Generator(bits)
