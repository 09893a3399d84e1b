"""A release in the units of its original: copies that were shifted, rescaled or made coarser.

Who converts kilograms to pounds, takes logarithms or rounds ages to bands has hidden nobody, but no
cell is equal, and few are near. So columns that are distributed otherwise are read back first. A
column with fewer different values than the original's is taken as it is, and the original is put
into its values. Any other goes back by a rising line through a few quantiles of both: too few to
draw fresh people to those in the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.correlations import varies
from icsa.matrices import Vector

__all__ = ["CommonUnits", "in_common_units"]

# Cells of a column that its distribution is seen in; with fewer it is not known.
_MOST_CELLS, _FEWEST_CELLS = 20_000, 10
# The distance of two distributions, in units that chance exceeds in one column of four, and at
# least so much: less does not hide a copy.
_UNLIKE, _LEAST = 1.0, 0.02
# Coarser: so many times fewer different values than the original's; or so many cells for each.
_COARSER, _TIED = 2, 8
# Quantiles that the line goes through, a quantile for so many cells; tails are drawn on from there.
_CELLS_A_KNOT, _FEWEST_KNOTS, _MOST_KNOTS = 25, 4, 32
_TAIL = 0.02
# Fixed, and no secret: it chooses cells.
_SEED = 20_010


@dataclass(frozen=True, eq=False, repr=False)
class CommonUnits:
    """Both tables in common units.

    Attributes
    ----------
    features : Features
    names : tuple of str
        The columns that were changed, in either table.
    """

    features: Features
    names: tuple[str, ...]

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<CommonUnits: {len(self.names)} of {self.features.n_columns} columns changed>"


def in_common_units(
    features: Features, standing_out: RowNumbers | None = None
) -> CommonUnits | None:
    """Return both tables with columns that are distributed otherwise in common units; None if none.

    Parameters
    ----------
    features : Features
    standing_out : ndarray of int, optional
        People whom a release may have left out: where its quantiles are straighter against those of
        all others, these are the units.

    Examples
    --------
    Pounds instead of kilograms, and heights in bands:

    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal([70.0, 170.0, 0.0], [10.0, 8.0, 1.0], size=(400, 3))
    >>> released = x * [2.2046, 1.0, 1.0]
    >>> released[:, 1] = 10.0 * np.round(x[:, 1] / 10.0)
    >>> found = in_common_units(as_features(x, released))
    >>> found.names
    ('number 0', 'number 1')
    >>> both = found.features
    >>> bool(np.abs(both.released.numbers[0] - x[:, 0]).max() < 1e-9)
    True
    >>> float(np.mean(both.original.numbers[1] == released[:, 1]))
    1.0
    >>> in_common_units(as_features(x, x))
    """
    tables = features.original, features.released
    columns, names = list(features.columns), []
    changed: tuple[dict[int, Vector], dict[int, Vector]] = {}, {}
    units = _units(features, standing_out)
    for j, column in enumerate(features.columns[: features.n_numbers]):
        first, second = (_sample(table.numbers[j]) for table in (units, tables[1]))
        if min(first.size, second.size) < _FEWEST_CELLS:
            continue
        unlike = _are_unlike(_sample(tables[0].numbers[j]), second)
        if _is_coarser(first, second, unlike=unlike):
            changed[0][j] = _in_values(tables[0].numbers[j], first, second)
            columns[j] = replace(column, grid=0.0)
        elif unlike and (line := _line(first, second)) is not None:
            changed[1][j] = _along(tables[1].numbers[j], *line)
        else:
            continue
        names.append(column.name)
    if not names:
        return None
    both = [_with_columns(table, new) for table, new in zip(tables, changed, strict=True)]
    return CommonUnits(Features(both[0], both[1], tuple(columns)), tuple(names))


def _units(features: Features, standing_out: RowNumbers | None) -> FeatureTable:
    """Return the original, or those in it who do not stand out if the release is more like them."""
    whole = features.original
    if standing_out is None or not 0 < standing_out.size < whole.n_rows / 2:
        return whole
    others = whole.rows(np.setdiff1d(np.arange(whole.n_rows), standing_out))
    straight = [_straightness(table, features.released) for table in (whole, others)]
    return others if straight[1] > straight[0] else whole


def _straightness(original: FeatureTable, released: FeatureTable) -> float:
    """Return the mean correlation of the quantiles of two tables' columns."""
    levels = np.linspace(_TAIL, 1.0 - _TAIL, _MOST_KNOTS)
    found = []
    for columns in zip(original.numbers, released.numbers, strict=True):
        cells = [_sample(column) for column in columns]
        if min(side.size for side in cells) >= _FEWEST_CELLS:
            first, second = (np.quantile(side, levels, method="hazen") for side in cells)
            if varies(first) and varies(second):
                found.append(float(np.corrcoef(first, second)[0, 1]))
    return sum(found) / max(1, len(found))


def _with_columns(table: FeatureTable, new: dict[int, Vector]) -> FeatureTable:
    """Return a table with other columns of numbers in some places; missing cells stay missing."""
    if not new:
        return table
    numbers = table.numbers.copy()
    for j, cells in new.items():
        known = ~np.isnan(numbers[j])
        numbers[j, known] = cells[known]
    return FeatureTable(numbers, table.codes)


def _sample(cells: Vector) -> Vector:
    """Return some of the cells that are not missing, in order."""
    cells = cells[~np.isnan(cells)]
    if cells.size > _MOST_CELLS:
        cells = np.random.default_rng(_SEED).choice(cells, _MOST_CELLS, replace=False)
    return np.sort(cells)


def _are_unlike(first: Vector, second: Vector) -> bool:
    """Return whether two sorted samples are distributed differently (Kolmogorov and Smirnov)."""
    both = np.concatenate([first, second])
    below = [np.searchsorted(side, both, side="right") / side.size for side in (first, second)]
    limit = _UNLIKE * np.sqrt(1.0 / first.size + 1.0 / second.size)
    return bool(np.abs(below[0] - below[1]).max() > max(_LEAST, limit))


def _is_coarser(first: Vector, second: Vector, *, unlike: bool) -> bool:
    """Return whether a release has clearly fewer values than as many cells of the original."""
    rng = np.random.default_rng(_SEED)
    size = min(first.size, second.size)
    here, there = (np.unique(rng.permutation(side)[:size]).size for side in (first, second))
    if there < 2:
        return False
    return bool(_COARSER * there <= here or (unlike and _TIED * there <= size))


def _in_values(cells: Vector, first: Vector, second: Vector) -> Vector:
    """Return cells of the original as the values of the same ranks in the release."""
    ranks = np.searchsorted(first, cells, "left") + np.searchsorted(first, cells, "right")
    place = (ranks * second.size) // (2 * first.size)
    return np.asarray(second[np.minimum(place, second.size - 1)])


def _line(first: Vector, second: Vector) -> tuple[Vector, Vector] | None:
    """Return knots of the release and what they are in the original; None without two of them."""
    count = min(first.size, second.size) // _CELLS_A_KNOT
    levels = np.linspace(_TAIL, 1.0 - _TAIL, int(np.clip(count, _FEWEST_KNOTS, _MOST_KNOTS)))
    here, there = (np.quantile(side, levels, method="hazen") for side in (first, second))
    knots, place = np.unique(there, return_inverse=True)
    if knots.size < 2 or np.diff(knots).min() <= 1e-12 * np.abs(knots).max():
        return None
    return knots, np.bincount(place, here) / np.bincount(place)


def _along(cells: Vector, knots: Vector, values: Vector) -> Vector:
    """Return the line at each cell, drawn on beyond its ends."""
    slopes = np.diff(values) / np.diff(knots)
    place = np.clip(np.searchsorted(knots, cells, side="right") - 1, 0, slopes.size - 1)
    return np.asarray(values[place] + slopes[place] * (cells - knots[place]))
