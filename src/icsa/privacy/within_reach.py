"""Which rows of a block can be near people at all, by how far both are from the centre.

|x - r| is at least the difference of |x| and |r|: rows in the middle are out of reach of people who
stand far out and know somebody nearer. That takes one number a row, where a bound by products takes
one a row and person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.near_filter import NearFilter

__all__ = ["Columns", "within_reach"]

# People who are looked at together.
_PEOPLE = 128
# Lengths are sums of squares: they are wrong by less, for any number of columns that fits.
_ROUNDING = 1e-9
# So large a share of the rows is not worth a copy of them.
_MOST = 0.8


@dataclass(eq=False)
class Columns:
    """Some rows of a block, columns first.

    Attributes
    ----------
    numbers, codes : ndarray of shape (n_numbers, n), (n_codes, n)
    numbered : ndarray of shape (n,)
        The rows' numbers in their table, ascending.
    gaps : ndarray of shape (n_numbers,), bool
        Columns of numbers in which cells of the block are missing.
    """

    numbers: Matrix
    codes: Codes
    numbered: RowNumbers
    gaps: npt.NDArray[np.bool_]
    _others: npt.NDArray[np.float32] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, numbers: Matrix, codes: Codes, first: int) -> Columns:
        """Return a whole block, the first row of which has this number."""
        numbered = np.arange(first, first + numbers.shape[1], dtype=np.int64)
        return cls(numbers, codes, numbered, np.asarray(np.isnan(numbers).any(axis=1)))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.numbered.size)

    def screened(self, screen: NearFilter) -> npt.NDArray[np.float32] | None:
        """Return the rows' side of a filter, which is computed once."""
        if self._others is None:
            self._others = screen.rows(self.numbers, self.codes)
        return self._others

    def some(self, chosen: RowNumbers) -> Columns:
        """Return some of the rows, by their places."""
        others = None if self._others is None else np.take(self._others, chosen, axis=1)
        numbers, codes = np.take(self.numbers, chosen, axis=1), np.take(self.codes, chosen, axis=1)
        return Columns(numbers, codes, self.numbered[chosen], self.gaps, others)


def within_reach(
    targets: Matrix, squares: Vector, columns: Columns
) -> Iterator[tuple[RowNumbers, Columns]]:
    """Yield groups of people, with those rows that may be nearer to some of them than is known.

    Parameters
    ----------
    targets : ndarray of shape (m, n_numbers)
        The people.
    squares : ndarray of shape (m,)
        The squared distance, for each, below which a row is of interest. It may become smaller
        meanwhile.
    columns : Columns

    Examples
    --------
    >>> row = np.array([[0.0, 1.0, 2.0, 30.0, 70.0]])
    >>> block = Columns.of(row, np.empty((0, 5), dtype=np.int32), 100)
    >>> for people, near in within_reach(np.array([[40.0], [50.0]]), np.array([400.0, 1.0]), block):
    ...     print(people, near.numbered)
    [0 1] [103]
    """
    plain = ~(columns.gaps | np.isnan(targets).any(axis=0))
    own, reach = _lengths(targets.T, plain), np.sqrt(squares)
    reach += _ROUNDING * (own + reach)
    low, high = own - reach, own + reach
    low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
    order = np.argsort(low, kind="stable")
    # Of this group and all later ones: rows out of reach here are so for the rest.
    highest = np.maximum.accumulate(high[order][::-1])[::-1]
    lengths = _lengths(columns.numbers, plain)
    for group in row_blocks(order.size, _PEOPLE):
        # What is not a number is within reach of everybody.
        out = (lengths < low[order[group.start]]) | (lengths > highest[group.start])
        left = np.flatnonzero(~out)
        if left.size < _MOST * lengths.size:
            columns, lengths = columns.some(left), lengths[left]
        if not lengths.size:
            return
        yield np.sort(order[group]), columns


def _lengths(numbers: Matrix, plain: npt.NDArray[np.bool_]) -> Vector:
    """Return how long the rows are in some columns; those too long to tell are not numbers."""
    chosen = numbers if plain.all() else numbers[plain]
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.sqrt(np.einsum("ji,ji->i", chosen, chosen))
    found[np.isinf(found)] = np.nan
    return np.asarray(found)
