"""The protocol of a column: cells to numbers to scores, and back."""

from __future__ import annotations

from typing import Protocol, Self

import polars as pl

from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.schema import Kind

__all__ = ["Column"]


class Column(Protocol):
    """A column fitted to a table's cells, with everything needed to mask and rebuild it.

    *Cells* are a polars series. *Numbers* are one float64 a row, NaN where the cell is missing:
    values of numeric columns, days or seconds of dates and times, positions of levels. *Scores* are
    what the scatters see, `width` columns a row. Numbers between cells and scores let relations
    between columns be taken out and put back without a thought of types.
    """

    @property
    def name(self) -> str:
        """The column's name."""
        ...

    @property
    def kind(self) -> Kind:
        """One of `icsa.schema.KINDS`."""
        ...

    @property
    def dtype(self) -> pl.DataType:
        """Data type of the cells."""
        ...

    @property
    def width(self) -> int:
        """Number of columns of scores."""
        ...

    @property
    def decodes_by_row(self) -> bool:
        """Whether a row's number depends on its own scores only, not on counts over all rows."""
        ...

    def numbers(self, cells: pl.Series) -> Vector:
        """Return one number a cell, NaN where missing."""
        ...

    def encode(self, numbers: Vector) -> Matrix:
        """Return the scores, shape (n_rows, width), NaN where they are not defined.

        Those of a row depend on its number only.
        """
        ...

    def decode(self, scores: Matrix) -> Vector:
        """Return the numbers that belong to masked scores of rows that are not missing.

        For as many rows as the column was fitted to that are not missing, counts of levels come
        out exactly as they were; for another number, in the same proportions.
        """
        ...

    def regain_quantiles(self, scores: Matrix) -> None:
        """Move masked scores of rows that are not missing, in place, before they are decoded.

        Afterwards scores of measurements have the quantiles that the original's have.
        """
        ...

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with counts and quantiles moved by a few people, to decode with.

        Those of levels, or on the spike and off it, first; see `icsa.columns.counts.moved_counts`.
        """
        ...

    def with_drawn_tails(self, stream: Stream) -> Self:
        """Return the column with tails drawn near to what they are, to decode with.

        Tails as they are would show to the last digit what all people in them make up.
        """
        ...

    def anchor(self, numbers: Vector) -> Vector | None:
        """Return the numbers on a robustly standardised linear scale; None for discrete kinds."""
        ...

    def view(self, numbers: Vector) -> Matrix:
        """Return what calibration compares, shape (n_rows, width): numbers winsorised, or dummies.

        NaN where `encode` gives NaN.
        """
        ...

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the cells that the numbers stand for, null for NaN, in the original's type."""
        ...
