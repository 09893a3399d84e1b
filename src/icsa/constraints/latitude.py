"""What cells may be when a rule moves them, and which of them move together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.constraints.grammar import Rule

__all__ = ["Latitude", "Moves"]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Latitude:
    """What is known about the columns of a table besides its rules.

    Attributes
    ----------
    steps : mapping of str to float
        Lattice step of columns (days for dates, seconds for other times).
    allowed : mapping of str to function
        From cells of a column to one boolean each: whether the column may have that cell.
    counted : set of str
        Columns of few levels, whose counts are to stay: of two cells in the wrong order the other
        is moved.
    together : tuple of tuple of str
        Columns that are missing in the same rows.
    orders : tuple of Rule
        Orders that hold too. A cell that one of them moves counts for the rule that moved others
        of the same row before.
    """

    steps: Mapping[str, float | None] = field(default_factory=_nothing)
    allowed: Mapping[str, Callable[[pl.Series], pl.Series]] = field(default_factory=_nothing)
    counted: frozenset[str] = frozenset()
    together: tuple[tuple[str, ...], ...] = ()
    orders: tuple[Rule, ...] = ()

    def admits(self, name: str, cells: pl.Series) -> pl.Series:
        """Return one boolean a cell: whether the column may have it.

        Examples
        --------
        >>> latitude = Latitude(allowed={"dose": lambda cells: cells.is_in([5, 10])})
        >>> latitude.admits("dose", pl.Series([5, 7])).to_list()
        [True, False]
        """
        if name not in self.allowed:
            return pl.Series([True]).new_from_index(0, cells.len())
        return self.allowed[name](cells)

    def group_of(self, name: str) -> tuple[str, ...]:
        """Return the columns that are missing where one is, that one first.

        Examples
        --------
        >>> Latitude(together=(("low", "high"),)).group_of("high")
        ('high', 'low')
        """
        for group in self.together:
            if name in group:
                return (name, *(other for other in group if other != name))
        return (name,)


class Moves:
    """Which rule moved each cell last, and each row.

    Examples
    --------
    >>> moves = Moves(2)
    >>> before, after = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1, 3]})
    >>> moves.note("a", np.array([False, True]), 0)
    >>> moves.counts(before, after, 1).tolist()
    [1]
    """

    def __init__(self, n_rows: int) -> None:
        self.by_row: npt.NDArray[np.int64] = np.full(n_rows, -1)
        self.by_cell: dict[str, npt.NDArray[np.int64]] = {}

    def note(self, column: str, changed: npt.NDArray[np.bool_], place: int | None) -> None:
        """Write down that a rule moved cells; None for the rule that moved the row before."""
        if place is not None:
            self.by_row[changed] = place
        own = self.by_cell.setdefault(column, np.full(self.by_row.size, -1))
        own[changed] = self.by_row[changed]

    def counts(
        self, before: pl.DataFrame, after: pl.DataFrame, n_rules: int
    ) -> npt.NDArray[np.int64]:
        """Return for each rule how many cells differ that it moved."""
        counts = np.zeros(n_rules, dtype=np.int64)
        for column, mover in self.by_cell.items():
            moved = before[column].ne_missing(after[column]).to_numpy() & (mover >= 0)
            counts += np.bincount(mover[moved], minlength=n_rules)
        return counts
