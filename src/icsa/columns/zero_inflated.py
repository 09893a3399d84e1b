"""Zero-inflated columns: one value again and again, and measurements besides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from icsa.columns.base import Column
from icsa.columns.bounds import just_above, just_below
from icsa.columns.continuous import CONTINUOUS, Continuous, Integer
from icsa.columns.counts import counts_among, moved_counts, positions_by_rank
from icsa.columns.declared import ColumnSpec, Flags
from icsa.columns.levelled import Binary
from icsa.columns.temporal import Duration
from icsa.columns.unmasked import Constant
from icsa.correlations import varies
from icsa.limits import MANY_EQUAL
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["ZERO_INFLATED", "ZeroInflated"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ZeroInflated(Column):
    """A column in which one value, the spike, stands for a large share of the cells.

    The first score says whether a cell is off the spike (1) or on it (0), the second is that of the
    part off the spike and not defined on it. Decoding puts as many rows on the spike as were there,
    those with the smallest first scores, and keeps the others off it.

    Attributes
    ----------
    spike : float
        Zero, or the most common number.
    n_spike : int
        Number of cells on it.
    part : Continuous
        Fitted to the other cells.

    Examples
    --------
    >>> cells = pl.Series("drinks", [0, 0, 3, 7, 0, 5])
    >>> column = ZeroInflated.fit(cells, ColumnSpec(name="drinks", kind="zero-inflated"), "linear")
    >>> column.encode(column.numbers(cells))[:, 0]
    array([0., 0., 1., 1., 0., 1.])
    >>> masked = np.array([[0.9, 0.0], [0.1, 0.0], [0.8, -9.0], [0.2, 1.0], [0.3, 2.0], [0.7, 0.4]])
    >>> column.cells(column.decode(masked)).to_list()
    [5, 0, 1, 0, 0, 6]
    """

    spike: float
    n_spike: int
    part: Continuous

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:
        """Return the column fitted to cells; binary or constant where there is no such part."""
        part = _part_class(cells.dtype)
        numbers = part.read(cells, spec)
        ordered = np.sort(numbers[~np.isnan(numbers)])
        if not varies(ordered):
            return Constant.of_first(cells, spec)
        spike = _find_spike(ordered)
        away = ordered[ordered != spike]
        if away[0] == away[-1]:
            return Binary.fit(cells, replace(spec, kind="binary", levels=()))
        fitted = part.of_numbers(away, cells.dtype, spec, scale, spike=spike)
        return cls(
            spec=spec,
            dtype=cells.dtype,
            n_present=ordered.size,
            lattice=fitted.lattice,
            lower=fitted.lower,
            upper=fitted.upper,
            spike=spike,
            n_spike=ordered.size - away.size,
            part=fitted,
        )

    @property
    def width(self) -> int:
        """Two: off the spike or on it, and how far."""
        return 2

    def numbers(self, cells: pl.Series) -> Vector:
        """Return one number a cell, NaN where missing."""
        return self.part.numbers(cells)

    def encode(self, numbers: Vector) -> Matrix:
        """Return the scores, shape (n_rows, 2), the second NaN on the spike."""
        return self._two(numbers, self.part.encode(self._off(numbers)))

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with a few people moved onto the spike or off it."""
        counts = np.array([self.n_spike, self.n_present - self.n_spike])
        moved = moved_counts(counts, stream, reverse=reverse)
        return replace(self, n_spike=int(moved[0]), part=self.part.with_moved_counts(stream))

    def with_drawn_tails(self, stream: Stream) -> Self:
        """Return the column with tails drawn near to what they are, to decode with."""
        return replace(self, part=self.part.with_drawn_tails(stream))

    def regain_quantiles(self, scores: Matrix) -> None:
        """Move masked scores of rows off the spike in place, as the part does."""
        off = self._rows_off(scores)
        scores[off, 1] = self.part.quantiles.regained(scores[off, 1])

    def decode(self, scores: Matrix) -> Vector:
        """Return numbers, as many on the spike as there were."""
        self.require_scores(scores)
        off = self._rows_off(scores)
        numbers = np.full(scores.shape[0], self.spike)
        for rows in row_blocks(off.size):  # a long column needs the room
            away = scores[rows, 1][off[rows]]
            numbers[rows][off[rows]] = self._off_the_spike(self.part.unrounded(away))
        return numbers

    def view(self, numbers: Vector) -> Matrix:
        """Return the first score and the winsorised part, shape (n_rows, 2)."""
        return self._two(numbers, self.part.view(self._off(numbers)))

    def measured(self, numbers: Vector) -> tuple[int, Vector]:
        """Return the second score, and the numbers off the spike."""
        return 1, numbers[numbers != self.spike]

    def second_part(self, numbers: Vector) -> Flags:
        """Return who is off the spike."""
        return np.not_equal(numbers, self.spike)

    def has_its_counts(self, numbers: Vector) -> bool:
        """Return whether as many released numbers are on the spike as there were."""
        return int(np.sum(numbers == self.spike)) == self.n_spike

    def admits(self, numbers: Vector) -> Flags:
        """Return which numbers the part may have or are on the spike."""
        return self.part.admits(numbers) | np.equal(numbers, self.spike)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the cells that the numbers stand for, null for NaN, in the original's type."""
        return self.part.cells(numbers)

    def _rows_off(self, scores: Matrix) -> Flags:
        """Return which rows of masked scores come off the spike."""
        counts = np.array([self.n_spike, self.n_present - self.n_spike])
        places = positions_by_rank(scores[:, 0], counts_among(counts, scores.shape[0]))
        return np.equal(places, 1.0)

    def _off(self, numbers: Vector) -> Vector:
        return np.where(numbers == self.spike, np.nan, numbers)

    def _two(self, numbers: Vector, part: Matrix) -> Matrix:
        indicator = np.where(np.isnan(numbers), np.nan, numbers != self.spike)
        return np.column_stack([indicator, part])

    def _off_the_spike(self, unrounded: Vector) -> Vector:
        """Return numbers rounded and bounded; those that fall on the spike go to its next point."""
        numbers = self.part.held(unrounded)
        above = just_above(self.spike, self.spike, self.lattice)
        below = just_below(self.spike, self.spike, self.lattice)
        upwards = (unrounded >= self.spike) | (below < self.lower)
        upwards &= above <= self.upper
        return np.where(numbers == self.spike, np.where(upwards, above, below), numbers)


def _part_class(dtype: pl.DataType) -> type[Continuous]:
    if isinstance(dtype, pl.Duration):
        return Duration
    return Integer if dtype.is_integer() else Continuous


def _find_spike(ordered: Vector) -> float:
    """Return zero if enough cells have it, or else the most common number."""
    n_zero = np.searchsorted(ordered, 0.0, "right") - np.searchsorted(ordered, 0.0, "left")
    if n_zero >= MANY_EQUAL * ordered.size:
        return 0.0
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
    lengths = np.diff(np.append(starts, ordered.size))
    if lengths.max() < MANY_EQUAL * ordered.size and n_zero > 0:
        return 0.0
    return float(ordered[starts[np.argmax(lengths)]])


ZERO_INFLATED = replace(
    CONTINUOUS,
    name="zero-inflated",
    fit=ZeroInflated.fit,
    promise="masked, as many zeros as before",
    account="masked, as many equal cells as before",
    moved_account="masked, about as many equal cells as before",
    unsplit=lambda dtype: "integer" if dtype.is_integer() else "continuous",
)
