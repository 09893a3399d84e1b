"""Binary and ordinal columns: levels in an order, scored by their position."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from icsa.columns.base import Column, KindRecord
from icsa.columns.counts import counts_among, moved_counts, positions_by_rank
from icsa.columns.declared import ColumnSpec
from icsa.columns.levels import Levels, find_levels
from icsa.columns.unmasked import Constant
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["BINARY", "ORDINAL", "Binary", "Ordinal"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _RankedLevels(Column):
    """A column whose levels are numbered 0, 1, 2 ... in their order; the number is the score.

    Decoding gives the lowest scores the first level, as many as had it, and so on.

    Attributes
    ----------
    levels : Levels
    """

    levels: Levels

    def numbers(self, cells: pl.Series) -> Vector:
        """Return each cell's level, counted from 0, NaN where missing."""
        return self.levels.positions(cells, self.spec)

    def encode(self, numbers: Vector) -> Matrix:
        """Return the numbers as the only column of scores."""
        return np.array(numbers, dtype=np.float64)[:, None]

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with a few people moved from level to level."""
        moved = moved_counts(self.levels.counts, stream, reverse=reverse)
        return replace(self, levels=self.levels.with_counts(moved))

    def decode(self, scores: Matrix) -> Vector:
        """Return the levels by the order of the scores, with the original counts."""
        self.require_scores(scores)
        counts = counts_among(self.levels.counts, scores.shape[0])
        return positions_by_rank(scores[:, 0], counts)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the levels' values, null for NaN."""
        return self.levels.cells(numbers, self.name)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Binary(_RankedLevels):
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
        n_present = int(levels.counts.sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present, levels=levels)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ordinal(_RankedLevels):
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
        n_present = int(levels.counts.sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present, levels=levels)


BINARY = KindRecord(
    name="binary",
    fit=Binary.fit,
    promise="masked, both values as often as before",
    account="masked, counts kept",
    moved_account="masked, counts moved by a few",
    has_levels=True,
    most_values=2,
)
ORDINAL = KindRecord(
    name="ordinal",
    fit=Ordinal.fit,
    promise="masked, every level as often as before",
    account="masked, counts kept",
    moved_account="masked, counts moved by a few",
    compared="order",
    has_levels=True,
)
