"""Mixed columns of both tables as one space of numbers: for models, pictures and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from icsa.comparison.column_pairs import ColumnPair
from icsa.correlations import mad_scale, tail_scale, varies
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector

__all__ = ["Design", "Scale", "encoded", "location_and_scale"]

Scale: TypeAlias = Literal["moments", "robust"]

# Levels beyond the most frequent ones count as one.
_MOST_LEVELS = 30


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Design:
    """Both tables as matrices with the same columns, without missing cells.

    Attributes
    ----------
    original, released : ndarray of shape (n_rows, n_features)
    sources : tuple of str
        The table's column that each feature comes from.
    """

    original: Matrix
    released: Matrix
    sources: tuple[str, ...]

    def __repr__(self) -> str:
        """Show sizes only."""
        n, m = self.original.shape[0], self.released.shape[0]
        return f"<{len(self.sources)} features of {n} and {m} rows>"


def encoded(columns: Sequence[ColumnPair], *, scale: Scale = "moments") -> Design:
    """Return the columns as features: numbers, and dummies of levels, on the original's scale.

    A number becomes (x - location) / scale with a missing cell at 0, and a feature of its own says
    where cells are missing. A category becomes a dummy for every level but the most frequent one
    (missing is a level), divided by sqrt(p (1 - p) (L - 1)): all L levels of a column weigh about
    as much as one number. What is constant in both tables is left out.

    Parameters
    ----------
    columns : sequence of ColumnPair
    scale : "moments" or "robust"
        Mean and standard deviation, or median and median absolute deviation.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column, numeric_column
    >>> age = numeric_column("age", [1.0, 3.0, np.nan], [3.0])
    >>> ward = category_column("ward", ["a", "a", "b"], ["b"])
    >>> design = encoded([age, ward])
    >>> design.sources
    ('age', 'age', 'ward')
    >>> design.original.round(2)
    array([[-1.  ,  0.  ,  0.  ],
           [ 1.  ,  0.  ,  0.  ],
           [ 0.  ,  2.12,  2.12]])
    """
    if not columns:
        raise InputError("There is no column to compare: give at least one.")
    first: list[Vector] = []
    second: list[Vector] = []
    sources: list[str] = []
    for column in columns:
        features = _of_numbers(column, scale) if column.levels is None else _of_levels(column)
        for before, after in features:
            first.append(before)
            second.append(after)
            sources.append(column.name)
    n, m = columns[0].original.size, columns[0].released.size
    return Design(_matrix(first, n), _matrix(second, m), tuple(sources))


def location_and_scale(values: Vector, scale: Scale) -> tuple[float, float]:
    """Return the centre and the spread of the values that are not missing; spread 0 if constant.

    Where the median absolute deviation is 0 the interquartile range takes its place, and where that
    is 0 the standard deviation.

    Examples
    --------
    >>> location_and_scale(np.array([1.0, 2.0, 9.0, np.nan]), "robust")
    (2.0, 1.482602218505602)
    """
    cells = values[~np.isnan(values)]
    if not cells.size:
        return 0.0, 0.0
    deviation = _deviation(cells)
    if scale == "moments":
        return float(cells.mean()), deviation
    centre = float(np.median(cells))
    return centre, mad_scale(cells, centre) or tail_scale(cells, centre, n_tails=1) or deviation


def _deviation(cells: Vector) -> float:
    if not varies(cells):
        return 0.0
    largest = float(np.abs(cells).max())
    return float((cells / largest).std()) * largest


def _of_numbers(column: ColumnPair, scale: Scale) -> list[tuple[Vector, Vector]]:
    centre, spread = location_and_scale(column.original, scale)
    if spread == 0.0:  # constant in the original, but perhaps not in the release
        centre, spread = location_and_scale(
            np.concatenate([column.original, column.released]), "moments"
        )
    features = []
    if spread > 0.0:
        scaled = [(cells - centre) / spread for cells in (column.original, column.released)]
        features.append((np.nan_to_num(scaled[0]), np.nan_to_num(scaled[1])))
    missing = column.missing
    return features + _dummies(missing[0][:, None], missing[1][:, None], 2)


def _of_levels(column: ColumnPair) -> list[tuple[Vector, Vector]]:
    # missing cells become level 0
    first, second = column.original + 1, column.released + 1
    counts = np.bincount(np.concatenate([first, second]), minlength=len(column.levels or ()) + 1)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    levels = order[1:_MOST_LEVELS]  # the most frequent one is the reference
    hot = [cells[:, None] == levels for cells in (first, second)]
    if order.size > _MOST_LEVELS:
        rest = order[_MOST_LEVELS:]
        hot = [
            np.column_stack([dummies, np.isin(cells, rest)])
            for dummies, cells in zip(hot, (first, second), strict=True)
        ]
    return _dummies(hot[0], hot[1], min(order.size, _MOST_LEVELS + 1))


def _dummies(
    first: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    second: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    n_levels: int,
) -> list[tuple[Vector, Vector]]:
    features = []
    for before, after in zip(first.T, second.T, strict=True):
        share = before.mean() if before.size else 0.0
        if share in (0.0, 1.0):  # the original cannot say how much the dummy varies
            share = (before.sum() + after.sum()) / max(before.size + after.size, 1)
        if 0.0 < share < 1.0:
            scale = 1.0 / np.sqrt(share * (1.0 - share) * max(n_levels - 1, 1))
            features.append((before * scale, after * scale))
    return features


def _matrix(features: list[Vector], n_rows: int) -> Matrix:
    return np.column_stack(features) if features else np.empty((n_rows, 0))
