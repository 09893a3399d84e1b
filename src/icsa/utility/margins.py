"""Each column on its own: how well the release keeps its distribution.

Every number of the release stands beside the original's, with the range where another sample of
that size would lie, and every distance beside what two samples of these sizes would give by chance
(`icsa.utility.chance`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import Codes, ColumnPair
from icsa.compilation import kernel
from icsa.correlations import varies
from icsa.matrices import Vector
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.utility.chance import (
    LIMIT,
    AgainstChance,
    SideBySide,
    folded_normal,
    ks_chance,
    tv_chance,
)

__all__ = [
    "QUANTILES",
    "CategoryMargin",
    "Margin",
    "NumericMargin",
    "category_margin",
    "compare_margins",
    "numeric_margin",
]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_NOTHING = "every cell of the {} is missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericMargin:
    """What `numeric_margin` found.

    Attributes
    ----------
    name : str
        The column.
    mean, standard_deviation : SideBySide
        The standard deviation has divisor n - 1.
    quantiles : tuple of SideBySide
        In the order of `QUANTILES`.
    missing : SideBySide
        The share of missing cells.
    distance : AgainstChance
        Kolmogorov-Smirnov: the largest difference of the two distribution functions.
    """

    name: str
    mean: SideBySide
    standard_deviation: SideBySide
    quantiles: tuple[SideBySide, ...]
    missing: SideBySide
    distance: AgainstChance


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryMargin:
    """What `category_margin` found.

    Attributes
    ----------
    name : str
        The column.
    shares : tuple of SideBySide
        Of every level among the cells that are not missing, in the order of the column's levels.
    missing : SideBySide
        The share of missing cells.
    distance : AgainstChance
        Total variation: half the sum of the absolute differences of shares.
    """

    name: str
    shares: tuple[SideBySide, ...]
    missing: SideBySide
    distance: AgainstChance


Margin = NumericMargin | CategoryMargin


def compare_margins(columns: Sequence[ColumnPair]) -> tuple[Margin, ...]:
    """Return the comparison of every column on its own, in the order given.

    Parameters
    ----------
    columns : sequence of ColumnPair

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column, numeric_column
    >>> age = numeric_column("age", [20, 30, 40, 50], [20, 30, 40, 90])
    >>> ward = category_column("ward", ["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> for margin in compare_margins([age, ward]):
    ...     print(margin.name, margin.distance.measure)
    age 0.250
    ward 0.250
    """
    return tuple(
        numeric_margin(column) if column.levels is None else category_margin(column)
        for column in columns
    )


def numeric_margin(column: ColumnPair) -> NumericMargin:
    """Return mean, SD, quantiles, missing share and Kolmogorov-Smirnov distance of both tables.

    With n and m cells that are not missing, s the original's standard deviation and k its kurtosis,
    95% of other samples of m cells have

    - a mean within 1.96 s sqrt(1/n + 1/m) of the original's;
    - a standard deviation within the factor exp(1.96 sqrt((k - 1) / 4 (1/n + 1/m)));
    - a q-quantile between the original's quantiles q -+ 1.96 sqrt(q (1 - q) (1/n + 1/m)).

    Parameters
    ----------
    column : ColumnPair
        Of numbers.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> margin = numeric_margin(numeric_column("age", [20, 30, 40, 50], [20, 30, 40, 90]))
    >>> print(margin.mean.original, margin.mean.released, margin.quantiles[2].released)
    35.0 45.0 35.0
    >>> margin.mean.beyond_chance
    False
    """
    first = np.sort(column.original[~np.isnan(column.original)])
    second = np.sort(column.released[~np.isnan(column.released)])
    spread = math.sqrt(1.0 / max(first.size, 1) + 1.0 / max(second.size, 1))
    return NumericMargin(
        name=column.name,
        mean=_means(first, second, spread),
        standard_deviation=_deviations(first, second, spread),
        quantiles=tuple(_quantile(first, second, q, spread) for q in QUANTILES),
        missing=_missing(column.original.size, first.size, column.released.size, second.size),
        distance=AgainstChance.of(
            _largest_gap(first, second),
            ks_chance(_value_shares(first), first.size, second.size)
            if first.size and second.size
            else None,
            name="Kolmogorov-Smirnov distance",
            n=second.size,
        ),
    )


def category_margin(column: ColumnPair) -> CategoryMargin:
    """Return level shares, missing share and total variation of both tables.

    Parameters
    ----------
    column : ColumnPair
        Of levels.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column
    >>> column = category_column("ward", ["a", "a", "b", None], ["a", "b", "b", "c"])
    >>> margin = category_margin(column)
    >>> [str(share.released) for share in margin.shares]
    ['0.250', '0.500', '0.250']
    >>> print(margin.missing.original, margin.missing.released)
    0.250 0.00

    The shares are 2/3, 1/3, 0 and 1/4, 1/2, 1/4; half of 5/12 + 1/6 + 1/4 is 5/12:

    >>> print(margin.distance.measure)
    0.417
    """
    n_levels = len(column.levels or ())
    counts = [_level_counts(codes, n_levels) for codes in (column.original, column.released)]
    n, m = (int(count.sum()) for count in counts)
    reason = _why_empty(n, m)
    shares = [count / max(count.sum(), 1.0) for count in counts]
    return CategoryMargin(
        name=column.name,
        shares=tuple(
            _share(float(p), n, float(q), m, "share of a level")
            for p, q in zip(*shares, strict=True)
        ),
        missing=_missing(column.original.size, n, column.released.size, m),
        distance=AgainstChance.of(
            reason or float(0.5 * np.abs(shares[0] - shares[1]).sum()),
            None if reason else tv_chance(shares[0], n, m),
            name="total variation",
            n=m,
        ),
    )


def _means(first: Vector, second: Vector, spread: float) -> SideBySide:
    original, released = _mean(first), _mean(second)
    deviation = _deviation(first)
    if isinstance(original, NotEstimable) or isinstance(deviation, NotEstimable):
        return _side_by_side("mean", original, first.size, released, second.size, None)
    half = LIMIT * deviation * spread
    chance = (original - half, original + half)
    return _side_by_side("mean", original, first.size, released, second.size, chance)


def _deviations(first: Vector, second: Vector, spread: float) -> SideBySide:
    original, released = _deviation(first), _deviation(second)
    chance = None
    if not isinstance(original, NotEstimable):
        # the delta method: log s has variance (kurtosis - 1) / (4 n)
        factor = math.exp(LIMIT * spread * math.sqrt(max(_kurtosis(first) - 1.0, 0.0) / 4.0))
        chance = (original / factor, original * factor)
    name = "standard deviation"
    return _side_by_side(name, original, first.size, released, second.size, chance)


def _quantile(first: Vector, second: Vector, q: float, spread: float) -> SideBySide:
    values: list[Estimate] = [
        _sorted_quantile(cells, q) if cells.size else NotEstimable(_NOTHING.format(table))
        for cells, table in ((first, "original"), (second, "release"))
    ]
    chance = None
    if first.size:
        half = LIMIT * spread * math.sqrt(q * (1.0 - q))
        low, high = max(0.0, q - half), min(1.0, q + half)
        chance = (_sorted_quantile(first, low), _sorted_quantile(first, high))
    name = f"{100 * q:g}% quantile"
    return _side_by_side(name, values[0], first.size, values[1], second.size, chance)


def _sorted_quantile(ordered: Vector, q: float) -> float:
    """Return what numpy's default gives: linear between the order statistics (n - 1) q."""
    place = (ordered.size - 1) * q
    below = math.floor(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    part = place - below
    return low * (1.0 - part) + high * part  # the difference of huge numbers could overflow


def _missing(rows: int, present: int, released_rows: int, released_present: int) -> SideBySide:
    name = "share of missing cells"
    if not rows or not released_rows:
        nothing = NotEstimable("a table has no rows")
        return _side_by_side(name, nothing, rows, nothing, released_rows, None)
    p, q = 1.0 - present / rows, 1.0 - released_present / released_rows
    return _share(p, rows, q, released_rows, name)


def _share(p: float, n: int, q: float, m: int, name: str) -> SideBySide:
    reason = _why_empty(n, m)
    if reason:
        return _side_by_side(name, reason if not n else p, n, reason if not m else q, m, None)
    half = folded_normal(math.sqrt(p * (1.0 - p) * (1.0 / n + 1.0 / m)))[1]
    return _side_by_side(name, p, n, q, m, (max(0.0, p - half), min(1.0, p + half)))


def _side_by_side(
    name: str,
    original: Estimate,
    n: int,
    released: Estimate,
    m: int,
    chance: tuple[float, float] | None,
) -> SideBySide:
    low, high = (None, None) if chance is None else chance
    return SideBySide(
        original=Measure.of(original, name=name, n=n),
        released=Measure.of(released, name=name, n=m),
        low=low,
        high=high,
    )


def _largest_gap(first: Vector, second: Vector) -> Estimate:
    """Return max |F - G| over all values; both vectors are sorted."""
    reason = _why_empty(first.size, second.size)
    if reason:
        return reason
    return float(_merge(first, second))


@kernel
def _merge(first: Vector, second: Vector) -> float:
    """Return max |F - G| in one walk through both sorted vectors."""
    n, m = first.size, second.size
    i, j, gap = 0, 0, 0.0
    while i < n and j < m:
        place = min(first[i], second[j])
        while i < n and first[i] == place:
            i += 1
        while j < m and second[j] == place:
            j += 1
        gap = max(gap, abs(i / n - j / m))
    return gap


def _why_empty(n: int, m: int) -> NotEstimable | None:
    if n and m:
        return None
    return NotEstimable(_NOTHING.format("release" if n else "original"))


def _value_shares(ordered: Vector) -> Vector:
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.diff(starts, append=ordered.size) / ordered.size


def _level_counts(codes: Codes, n_levels: int) -> Vector:
    return np.bincount(codes[codes >= 0], minlength=n_levels).astype(np.float64)


def _size(values: Vector) -> float:
    """Return a factor that keeps squares of huge and of tiny numbers within the range of floats."""
    largest = float(np.abs(values).max(initial=0.0))
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0


def _mean(values: Vector) -> Estimate:
    if not values.size:
        return NotEstimable("every cell is missing")
    size = _size(values)
    return float((values / size).mean() * size)


def _deviation(values: Vector) -> Estimate:
    if values.size < 2:
        return NotEstimable("a standard deviation needs two cells that are not missing")
    if not varies(values):
        return 0.0
    size = _size(values)
    return float((values / size).std(ddof=1) * size)


def _kurtosis(values: Vector) -> float:
    if not varies(values):
        return 1.0
    centred = values / _size(values)
    centred = centred - centred.mean()
    squares = centred * centred
    return float((squares * squares).mean()) / float(squares.mean()) ** 2
