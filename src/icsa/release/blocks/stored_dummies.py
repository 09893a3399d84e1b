"""Columns and their scores in scratch: those of levels never stand in memory as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from icsa.columns.declared import Flags
from icsa.columns.dummies import Rows
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.release.blocks.scratch import Scratch
from icsa.release.encoding import Part

__all__ = ["FILES_AT_A_TIME", "StoredDummies", "decoded_numbers", "write_scores"]

# Systems allow some hundreds.
FILES_AT_A_TIME = 200


class StoredDummies:
    """The scores of a column in scratch, of all rows or of those that are not missing.

    Attributes
    ----------
    scratch : Scratch
    what : str
        What the scores are called there.
    places : sequence of int
    missing : array of bool, optional
    """

    def __init__(
        self, scratch: Scratch, what: str, places: Sequence[int], missing: Flags | None
    ) -> None:
        self.scratch = scratch
        self.what = what
        self.places = places
        self.missing = missing

    @cached_property
    def _there(self) -> Rows | None:
        """The rows that are there; None for all."""
        return None if self.missing is None else np.flatnonzero(~self.missing)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.scratch.n_rows if self._there is None else self._there.size

    @property
    def width(self) -> int:
        """Number of scores."""
        return len(self.places)

    def between(self, start: int, stop: int) -> Matrix:
        """Return the scores of rows that follow one another."""
        if self._there is None:
            found: Matrix = self.scratch.rows(self.what, self.places, slice(start, stop))
            return found
        rows = self._there[start:stop]
        if not rows.size:
            return np.empty((0, len(self.places)))
        around = slice(int(rows[0]), int(rows[-1]) + 1)
        found = self.scratch.rows(self.what, self.places, around)
        return found[rows - around.start]

    def of_rows(self, column: int, rows: Rows) -> Vector:
        """Return one of the scores of rows from anywhere."""
        own = rows if self._there is None else self._there[rows]
        found: Vector = self.scratch.column(self.what, self.places[column])[own]
        return found


def write_scores(scratch: Scratch, what: str, part: Part, numbers: Vector) -> None:
    """Write the scores of a column, block by block."""
    width, place = part.column.width, part.place.start
    for first in range(0, width, FILES_AT_A_TIME):
        some = range(first, min(first + FILES_AT_A_TIME, width))
        with scratch.written(what, [place + j for j in some]) as files:
            for rows in row_blocks(numbers.size):
                scores = _encoded(part, numbers, rows)
                for j, file in zip(some, files, strict=True):
                    np.ascontiguousarray(scores[:, j]).tofile(file)


def _encoded(part: Part, numbers: Vector, rows: slice) -> Matrix:
    try:
        return part.column.encode(numbers[rows])
    except InputError:
        part.column.encode(numbers)  # says in which row of all
        raise


def decoded_numbers(
    scratch: Scratch, what: str, part: Part, missing: Flags | None, *, keeps_quantiles: bool
) -> Vector:
    """Return the numbers of a column, NaN in rows that are missing."""
    places = range(part.place.start, part.place.stop)
    if part.column.without_dummy is not None:
        return part.decode_dummies(StoredDummies(scratch, what, places, missing), missing)
    own = scratch.rows(what, places, slice(0, scratch.n_rows))
    return part.decode(own, missing, keeps_quantiles=keeps_quantiles, in_place=True)
