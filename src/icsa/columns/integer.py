"""Integer columns: counts and other whole numbers."""

from __future__ import annotations

from typing import ClassVar

from icsa.columns.continuous import Continuous

__all__ = ["Integer"]


class Integer(Continuous):
    """A column of whole numbers, also where its type is a floating-point one.

    Encoded and decoded like `Continuous`, on a lattice of whole numbers or a coarser one.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.schema import ColumnSpec
    >>> cells = pl.Series("age", [41, 33, 67, 58], dtype=pl.UInt8)
    >>> column = Integer.fit(cells, ColumnSpec(name="age", kind="integer"))
    >>> scores = column.encode(column.numbers(cells)) + 0.3
    >>> column.cells(column.decode(scores)).dtype
    UInt8
    """

    whole: ClassVar[bool] = True
