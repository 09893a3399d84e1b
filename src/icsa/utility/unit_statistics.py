"""What analyses of people with several rows rest on: variance between, memory, number of rows.

Standard errors are of the jackknife that leaves out one unit at a time: rows of one person hang
together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.trajectories import Places, Visits
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome, compare_estimates

__all__ = [
    "BETWEEN",
    "ROWS",
    "SUCCESSIVE",
    "between_share",
    "compare_units",
    "lag_one_correlation",
    "rows_a_unit",
]

BETWEEN = "share of variance between units"
SUCCESSIVE = "correlation of successive rows"
ROWS = "rows a unit"

_FEWEST_UNITS = 5


def compare_units(
    columns: Sequence[ColumnPair], original: Visits, released: Visits
) -> tuple[AnalysisComparison, ...]:
    """Return what is kept of people with several rows: three analyses on both tables.

    The share of each column's variance that lies between units (the intraclass correlation), its
    correlation from one row of a unit to the next where rows have times, and the number of rows.
    Of two levels the second one counts as 1; other categories are left out.

    Parameters
    ----------
    columns : sequence of ColumnPair
        Those of the visits, in their order.
    original, released : Visits

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> from icsa.comparison.features import FeatureTable
    >>> rng = np.random.default_rng(1)
    >>> x = np.repeat(3 * rng.normal(size=50), 4) + rng.normal(size=200)
    >>> rows = FeatureTable(x[None], np.empty((0, 200), dtype=np.int32))
    >>> visits = Visits(rows, np.tile(np.arange(4.0), 50), np.arange(0, 201, 4))
    >>> found = compare_units([numeric_column("x", x, x)], visits, visits)
    >>> [analysis.name for analysis in found]
    ['rows a unit', 'share of variance between units', 'correlation of successive rows']
    >>> round(found[1].estimates[0].original.value, 1)
    0.9
    """
    both = original, released
    analyses: dict[str, list[Mapping[str, Outcome]]] = {
        ROWS: [rows_a_unit(visits.starts) for visits in both]
    }
    statistics: dict[str, Callable[[Vector, Places], Outcome]] = {BETWEEN: between_share}
    if original.times is not None and released.times is not None:
        statistics[SUCCESSIVE] = lag_one_correlation
    numbers = [_as_numbers(columns, visits) for visits in both]
    for name, statistic in statistics.items():
        if numbers[0]:
            analyses[name] = [
                {column: statistic(values, visits.starts) for column, values in own.items()}
                for own, visits in zip(numbers, both, strict=True)
            ]
    return tuple(
        compare_estimates(
            name,
            *found,
            n_original=original.n_units,
            n_released=released.n_units,
            method="units",
        )
        for name, found in analyses.items()
    )


def between_share(values: Vector, starts: Places) -> Outcome:
    """Return the share of the variance between units, by analysis of variance, with its error.

    (MSB - MSW) / (MSB + (n0 - 1) MSW) with n0 = (N - sum n^2 / N) / (m - 1); missing cells are left
    out.

    Examples
    --------
    Rows of a unit are the same:

    >>> between_share(np.repeat(np.arange(6.0), 2), np.arange(0, 13, 2)).value
    1.0
    """
    sums = _sums_of_units(values, starts, lambda x: (np.ones_like(x), x, x * x))
    n, total, squares = sums[:, sums[0] > 0]
    if n.size < _FEWEST_UNITS or n.max(initial=0.0) < 2.0:
        return NotEstimable("too few units have two rows with a value")

    def share(kept: Matrix) -> Vector:
        units, rows, rows_squared, x, xx, between = kept
        n0 = (rows - rows_squared / rows) / (units - 1.0)
        msb = (between - x * x / rows) / (units - 1.0)
        msw = (xx - between) / (rows - units)
        return np.asarray((msb - msw) / (msb + (n0 - 1.0) * msw))

    parts = np.stack([np.ones_like(n), n, n * n, total, squares, total**2 / n])
    return _jackknifed(share, parts)


def lag_one_correlation(values: Vector, starts: Places) -> Outcome:
    """Return the correlation between a row and the next of the same unit, with its error.

    Examples
    --------
    >>> lag_one_correlation(np.tile([0.0, 1.0, 2.0], 6), np.arange(0, 19, 3)).value
    1.0
    """
    follows = np.ones(values.size, dtype=bool)
    follows[starts[:-1]] = False
    later = np.flatnonzero(follows & ~np.isnan(values) & ~np.isnan(np.roll(values, 1)))
    unit = np.repeat(np.arange(starts.size - 1), np.diff(starts))[later]
    if np.unique(unit).size < _FEWEST_UNITS:
        return NotEstimable("too few units have two rows in a row with a value")
    centre = values[later].mean()
    y, x = values[later] - centre, values[later - 1] - centre
    every = (np.ones(x.size), x, y, x * x, y * y, x * y)
    parts: Matrix = np.stack(
        [np.bincount(unit, part, minlength=starts.size - 1).astype(np.float64) for part in every]
    )

    def correlation(kept: Matrix) -> Vector:
        n, sx, sy, sxx, syy, sxy = kept
        below = np.sqrt((sxx - sx * sx / n) * (syy - sy * sy / n))
        return np.asarray((sxy - sx * sy / n) / below)

    return _jackknifed(correlation, parts[:, parts[0] > 0])


def rows_a_unit(starts: Places) -> dict[str, Outcome]:
    """Return mean and standard deviation of the number of rows, with their errors.

    Examples
    --------
    >>> round(rows_a_unit(np.cumsum([0, 1, 2, 3, 4, 5, 6]))["mean"].value, 2)
    3.5
    """
    n = np.diff(starts).astype(np.float64)
    parts = np.stack([np.ones_like(n), n, n * n])
    deviation = _jackknifed(
        lambda kept: np.sqrt((kept[2] - kept[1] ** 2 / kept[0]) / (kept[0] - 1.0)), parts
    )
    mean = _jackknifed(lambda kept: np.asarray(kept[1] / kept[0]), parts)
    return {"mean": mean, "standard deviation": deviation}


def _as_numbers(columns: Sequence[ColumnPair], visits: Visits) -> dict[str, Vector]:
    """Return the columns that have numbers, or two levels."""
    found = {}
    p = visits.table.numbers.shape[0]
    for place, column in enumerate(columns):
        if column.levels is None:
            found[column.name] = visits.table.numbers[place]
        elif len(column.levels) == 2:
            codes = visits.table.codes[place - p]
            found[column.name] = np.where(codes < 0, np.nan, codes == 1)
    return found


def _sums_of_units(
    values: Vector, starts: Places, of: Callable[[Vector], tuple[Vector, ...]]
) -> Matrix:
    """Return sums over known rows of each unit, of values less their mean."""
    known = ~np.isnan(values)
    centre = values[known].mean() if known.any() else 0.0
    filled = np.where(known, values - centre, 0.0)
    return np.stack([np.add.reduceat(part * known, starts[:-1]) for part in of(filled)])


def _jackknifed(statistic: Callable[[Matrix], Vector], parts: Matrix) -> Outcome:
    """Return a statistic of sums over units, with its error when one unit is left out at a time."""
    total = parts.sum(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        value = float(statistic(total)[0])
        without = statistic(total - parts)
    if not (np.isfinite(value) and np.isfinite(without).all()):
        return NotEstimable("it does not vary, or one unit alone decides")
    m = parts.shape[1]
    error = float(np.sqrt((m - 1.0) / m * np.sum((without - without.mean()) ** 2)))
    return Estimated.of(value, error)
