"""Columns of levels: binary and ordinal ones, scored by position, and categories, by dummies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import polars as pl

from icsa.columns.base import Column, KindRecord
from icsa.columns.counts import counts_among, moved_counts, positions_by_rank
from icsa.columns.declared import ColumnSpec
from icsa.columns.dummies import Dummies, DummiesInMemory, LevelScores
from icsa.columns.levels import Levels, find_levels
from icsa.columns.unmasked import Constant
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["BINARY", "CATEGORY", "ORDINAL", "Binary", "Category", "Ordinal"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Levelled(Column):
    """A column whose numbers are the positions of its levels."""

    levels: Levels

    @classmethod
    def of_levels(cls, levels: Levels, cells: pl.Series, spec: ColumnSpec, **more: Any) -> Self:
        """Return the column of cells that have these levels."""
        n_present = int(levels.counts.sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present, levels=levels, **more)

    def numbers(self, cells: pl.Series) -> Vector:
        """Return each cell's position among the levels, NaN where missing."""
        return self.levels.positions(cells, self.spec)

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with a few people moved from level to level."""
        moved = moved_counts(self.levels.counts, stream, reverse=reverse)
        return replace(self, levels=self.levels.with_counts(moved))

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the levels' values, null for NaN."""
        return self.levels.cells(numbers, self.name)


class _Ranked(_Levelled):
    """A column whose levels are numbered 0, 1, 2 ... in their order; the number is the score.

    Decoding gives the lowest scores the first level, as many as had it, and so on.
    """

    def encode(self, numbers: Vector) -> Matrix:
        """Return the numbers as the only column of scores."""
        return np.array(numbers, dtype=np.float64)[:, None]

    def decode(self, scores: Matrix) -> Vector:
        """Return the levels by the order of the scores, with the original counts."""
        self.require_scores(scores)
        counts = counts_among(self.levels.counts, scores.shape[0])
        return positions_by_rank(scores[:, 0], counts)


class Binary(_Ranked):
    """A column with two values, numbered 0 and 1 in their sorted or declared order.

    The number is the score. Decoding gives the second value to as many rows as had it, those with
    the largest scores.
    """

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec)
        if levels.counts.size < 2:
            return Constant.of_first(cells, spec)
        if levels.counts.size > 2:
            raise InputError(
                f"Column {spec.name!r}: a binary column has 2 different values: this one has "
                f"{levels.counts.size}. Give it another kind, or declare missing codes."
            )
        return cls.of_levels(levels, cells, spec)


class Ordinal(_Ranked):
    """A column of ordered levels, scored 0, 1, 2 ... in their order.

    The order is that declared, that of an Enum, or that of numbers and dates. Decoding gives the
    lowest scores the first level, as many as had it, and so on.

    Examples
    --------
    >>> cells = pl.Series("pain", ["none", "much", "some", "none"])
    >>> spec = ColumnSpec(name="pain", kind="ordinal", levels=("none", "some", "much"))
    >>> column = Ordinal.fit(cells, spec)
    >>> column.numbers(cells)
    array([0., 2., 1., 0.])
    >>> column.cells(column.decode(np.array([[1.4], [0.2], [0.3], [2.5]]))).to_list()
    ['some', 'none', 'none', 'much']
    """

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec, keep_unseen=True)
        if np.count_nonzero(levels.counts) < 2:
            return Constant.of_first(cells, spec)
        if cells.dtype in (pl.String, pl.Categorical) and not spec.levels:
            raise InputError(
                f"Column {spec.name!r}: the order of its {levels.counts.size} levels is not known, "
                "as they are text. Declare its levels in order, or give it the kind 'category'."
            )
        return cls.of_levels(levels, cells, spec)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Category(_Levelled):
    """A column of levels without an order, scored by one dummy for each level but one.

    The level without a dummy, the base, is the most frequent one; its score is 1 minus the sum of
    the others. Decoding gives every row the level with the largest score after an offset for each
    level, found so that all counts are as they were.

    Attributes
    ----------
    levels : Levels
        Those that occur, with their counts.
    base : int
        Position of the level without a dummy.

    Examples
    --------
    >>> cells = pl.Series("blood", ["A", "0", "A", "B"])
    >>> column = Category.fit(cells, ColumnSpec(name="blood", kind="category"))
    >>> column.encode(column.numbers(cells))
    array([[0., 0.],
           [1., 0.],
           [0., 0.],
           [0., 1.]])
    >>> masked = np.array([[0.2, 0.9], [0.1, 0.2], [0.6, 0.1], [0.0, 0.3]])
    >>> column.cells(column.decode(masked)).to_list()
    ['B', 'A', '0', 'A']
    """

    base: int

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec)
        if levels.counts.size < 2:
            return Constant.of_first(cells, spec)
        return cls.of_levels(levels, cells, spec, base=int(np.argmax(levels.counts)))

    @property
    def width(self) -> int:
        """One less than there are levels."""
        return self.levels.counts.size - 1

    @property
    def without_dummy(self) -> int:
        """The base."""
        return self.base

    def encode(self, numbers: Vector) -> Matrix:
        """Return the dummies, shape (n_rows, width)."""
        missing = np.isnan(numbers)
        dummies = np.zeros((numbers.size, self.width), order="F")
        rows = np.flatnonzero(~missing & (numbers != self.base))
        places = numbers[rows].astype(np.intp)
        dummies[rows, places - (places > self.base)] = 1.0
        dummies[missing] = np.nan
        return dummies

    def decode(self, scores: Matrix) -> Vector:
        """Return the positions of the levels that fit the scores best with the original counts."""
        self.require_scores(scores)
        return self.decode_dummies(DummiesInMemory(scores))

    def decode_dummies(self, dummies: Dummies) -> Vector:
        """Return what `decode` does, of dummies that need not be in memory."""
        # Imported here: loading the compiler takes half a second, which inspection need not wait.
        from icsa.columns.assignment import assigned_levels

        counts = counts_among(self.levels.counts, dummies.n_rows)
        return assigned_levels(LevelScores(dummies, self.base), counts)


_with_levels = partial(
    KindRecord,
    promise="masked, every level as often as before",
    account="masked, counts kept",
    moved_account="masked, counts moved by a few",
    has_levels=True,
)
BINARY = _with_levels(
    name="binary", fit=Binary.fit, promise="masked, both values as often as before", most_values=2
)
ORDINAL = _with_levels(name="ordinal", fit=Ordinal.fit, compared="order")
CATEGORY = _with_levels(name="category", fit=Category.fit)
