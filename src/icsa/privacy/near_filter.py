"""Which rows can be near at all: a lower bound of squared distances by one matrix product.

|x - r|^2 = |x|^2 + |r|^2 - 2 x'r takes a third of the time of a sum of squared differences, in
single precision even less. It rounds, so that it decides nothing: rows that it puts farther away
than the nearest known ones, by more than it can be wrong, are passed over. All others are looked at
exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes
from icsa.matrices import Matrix, Vector

__all__ = ["NearFilter", "near_filter"]

_Single = npt.NDArray[np.float32]

# Half the distance of 1 to the next number of single precision.
_ROUNDING = 2.0**-24
# Squares and sums of larger numbers are none in single precision.
_LARGEST = 1e15
# Fewer people, or fewer pairs of people and rows, are not worth a second look.
_FEWEST_PEOPLE, _FEWEST_PAIRS = 16, 16_384
# Levels that are compared here; columns with many of them are left out, which bounds as well.
_MOST_LEVELS = 48
_MISMATCH = 2.0


@dataclass(frozen=True, eq=False)
class NearFilter:
    """What turns blocks of rows into bounds of their distances to some people.

    Attributes
    ----------
    people : ndarray of shape (m, k), float32
        One side of the product.
    lengths : ndarray of shape (m,)
        What is to be added to the product for a bound of the squared distance.
    gaps : tuple of int
        Columns of numbers in which cells are missing, in either table.
    categories : tuple of (int, int)
        Columns of codes that are compared, with their numbers of levels.
    """

    people: _Single
    lengths: Vector
    gaps: tuple[int, ...]
    categories: tuple[tuple[int, int], ...]

    @property
    def error(self) -> float:
        """What the product may be wrong by, as a share of the squares of both sides."""
        return 4.0 * (int(self.people.shape[1]) + 8) * _ROUNDING

    def rows(self, numbers: Matrix, codes: Codes) -> _Single | None:
        """Return the other side, shape (k, n); None where single precision does not reach."""
        if np.nanmax(np.abs(numbers), initial=0.0) > _LARGEST:
            return None
        gaps, plain = list(self.gaps), _others(self.gaps, numbers.shape[0])
        known = ~np.isnan(numbers[gaps])
        cells = np.where(known, numbers[gaps], 0.0)
        if np.isnan(numbers[plain]).any():
            return None  # a gap where nobody said there was one
        squares = np.einsum("ji,ji->i", numbers[plain], numbers[plain])
        wholes = squares + (cells**2).sum(axis=0) + 2.0 * _MISMATCH * len(gaps)
        parts: list[npt.NDArray[np.generic]] = [
            numbers[plain],
            cells,
            known,
            cells**2 + _MISMATCH - 2.0 * _MISMATCH * known,
        ]
        parts += [codes[j] == np.arange(-1, count)[:, None] for j, count in self.categories]
        own = squares + _MISMATCH * known.sum(axis=0)
        parts.append((own - self.error * wholes)[None, :])
        return np.concatenate([np.asarray(part, dtype=np.float32) for part in parts])


def near_filter(
    targets: Matrix,
    target_codes: Codes,
    n_rows: int,
    gaps: npt.NDArray[np.bool_],
) -> NearFilter | None:
    """Return a filter for people, rows first; None where there is nothing to be gained.

    Parameters
    ----------
    targets, target_codes : ndarray of shape (m, n_numbers), (m, n_codes)
    n_rows : int
        Of the table that they are compared with.
    gaps : ndarray of shape (n_numbers,)
        Whether cells of a column are missing, in either table.

    Examples
    --------
    >>> people = np.ones((20, 2))
    >>> none = np.empty((20, 0), dtype=np.int32)
    >>> found = near_filter(people, none, 5_000, np.zeros(2, bool))
    >>> product = found.people @ found.rows(np.array([[1.0, 4.0], [1.0, 5.0]]), none.T)
    >>> np.abs(product[0] + found.lengths[0]).round(2)  # of distances 0 and 5
    array([ 0., 25.])
    """
    m, p = targets.shape
    if m < _FEWEST_PEOPLE or m * n_rows < _FEWEST_PAIRS:
        return None
    if np.nanmax(np.abs(targets), initial=0.0) > _LARGEST:
        return None
    missing, plain = np.flatnonzero(gaps).tolist(), _others(np.flatnonzero(gaps), p)
    categories = _few_levels(target_codes)
    known = ~np.isnan(targets[:, missing])
    cells = np.where(known, targets[:, missing], 0.0)
    parts = [-2.0 * targets[:, plain], -2.0 * cells, cells**2, known]
    parts += [
        -_MISMATCH * (target_codes[:, [j]] == np.arange(-1, count)) for j, count in categories
    ]
    people = np.concatenate([*parts, np.ones((m, 1))], axis=1).astype(np.float32)
    squares = np.einsum("kj,kj->k", targets[:, plain], targets[:, plain])
    wholes = squares + (cells**2).sum(axis=1) + 2.0 * _MISMATCH * (len(missing) + len(categories))
    found = NearFilter(people, np.empty(0), tuple(missing), categories)
    lengths = squares + _MISMATCH * len(categories) - found.error * wholes
    return NearFilter(people, lengths, tuple(missing), categories)


def _others(columns: object, count: int) -> list[int]:
    left_out = set(np.asarray(columns, dtype=np.int64).tolist())
    return [j for j in range(count) if j not in left_out]


def _few_levels(codes: Codes) -> tuple[tuple[int, int], ...]:
    """Return the columns in which people have the fewest levels, as many as there is room for.

    Levels that no person has differ from everybody's and need no place.
    """
    counts = codes.max(axis=0, initial=-1) + 1
    chosen, total = [], 0
    for j in np.argsort(counts, kind="stable").tolist():
        total += int(counts[j]) + 1
        if total > _MOST_LEVELS:
            break
        chosen.append((j, int(counts[j])))
    return tuple(chosen)
