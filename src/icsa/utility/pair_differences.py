"""Pairs of columns: which associations a release changes, and by how much more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from icsa.comparison.column_pairs import Codes, ColumnPair, sampled
from icsa.comparison.features import Features
from icsa.errors import InputError
from icsa.matrices import Matrix
from icsa.measures import Estimate, NotEstimable
from icsa.utility.associations import Associations, associations
from icsa.utility.chance import AgainstChance, folded_normal

__all__ = ["Association", "PairComparison", "PairDifference", "compare_pairs"]

Association: TypeAlias = Literal["pearson", "spearman", "cramers_v", "correlation_ratio"]
_Table: TypeAlias = Literal["original", "released", "difference", "limit"]

_SEED = 0
_DRAWS = 50
# The spread of an association falls with the root of the rows, so that it can be found on few.
_DRAWN_ROWS = 4000
# Levels beyond the most frequent ones count as one.
_MOST_LEVELS = 64
# Differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """One association of two columns in both tables.

    Attributes
    ----------
    first, second : str
        The columns.
    association : "pearson", "spearman", "cramers_v" or "correlation_ratio"
    original, released : float or NotEstimable
    difference : AgainstChance
        Released minus original.
    """

    first: str
    second: str
    association: Association
    original: Estimate
    released: Estimate
    difference: AgainstChance


@dataclass(frozen=True, eq=False, repr=False, slots=True, kw_only=True)
class PairComparison:
    """What `compare_pairs` found.

    Attributes
    ----------
    names : tuple of str
        The columns, in the order given.
    pairs : tuple of PairDifference
        Every pair once; two numbers twice, by Pearson and by Spearman.
    n_original, n_released : int
        Rows that were used.
    """

    names: tuple[str, ...]
    pairs: tuple[PairDifference, ...]
    n_original: int
    n_released: int

    def worst(self, count: int = 10) -> tuple[PairDifference, ...]:
        """Return the pairs that changed most: those beyond chance first, the largest first."""
        estimable = [pair for pair in self.pairs if pair.difference.measure.value is not None]
        return tuple(
            sorted(
                estimable,
                key=lambda pair: (
                    not pair.difference.beyond_chance,
                    -abs(pair.difference.measure.value or 0.0),
                ),
            )[:count]
        )

    def matrix(
        self, table: _Table = "difference", numbers: Literal["pearson", "spearman"] = "pearson"
    ) -> Matrix:
        """Return a matrix for a heat map, NaN where a pair is not estimable and on the diagonal.

        Parameters
        ----------
        table : "original", "released", "difference" or "limit"
            The last is how far 95% of pairs of samples stay apart.
        numbers : "pearson" or "spearman"
            What two numeric columns show.
        """
        if table not in get_args(_Table) or numbers not in ("pearson", "spearman"):
            raise InputError(
                f"table must be one of {', '.join(get_args(_Table))}, and numbers pearson or "
                f"spearman: got {table!r} and {numbers!r}."
            )
        places = {name: position for position, name in enumerate(self.names)}
        cells = np.full((len(places), len(places)), np.nan)
        for pair in self.pairs:
            if pair.association in (numbers, "cramers_v", "correlation_ratio"):
                value = pair.difference.measure.value
                if table == "limit":
                    value = pair.difference.limit
                elif table != "difference":
                    found = getattr(pair, table)
                    value = None if isinstance(found, NotEstimable) else found
                i, j = places[pair.first], places[pair.second]
                cells[i, j] = cells[j, i] = np.nan if value is None else value
        return cells

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<{len(self.pairs)} associations of {len(self.names)} columns>"


def compare_pairs(
    columns: Sequence[ColumnPair], *, max_rows: int = 50_000, draws: int = _DRAWS
) -> PairComparison:
    """Return the associations of all pairs of columns in both tables, with their differences.

    Two numbers by Pearson and Spearman, two categories by Cramer's V, a category and a number by
    the correlation ratio (`icsa.utility.associations`). The yardstick: the original is resampled
    (with replacement, a fixed seed); an association that varies with standard deviation s over
    resamples of r rows differs between samples of n and m rows by about s sqrt(r) sqrt(1/n + 1/m).

    Parameters
    ----------
    columns : sequence of ColumnPair
        Of different names. Columns of two levels say more as numbers (0 and 1): Cramer's V has no
        sign.
    max_rows : int
        Of longer tables so many rows are drawn, the same in tables of one length.
    draws : int
        Number of resamples, at least 2.

    Returns
    -------
    PairComparison

    Examples
    --------
    >>> from icsa.comparison.column_pairs import category_column, numeric_column
    >>> x = np.arange(40.0)
    >>> columns = [
    ...     numeric_column("dose", x, x),
    ...     numeric_column("effect", x % 7 + x, x[::-1]),
    ...     category_column("ward", x % 2 > 0, x % 2 > 0),
    ... ]
    >>> found = compare_pairs(columns)
    >>> pair = found.worst(1)[0]
    >>> pair.first, pair.second, pair.association, pair.difference.beyond_chance
    ('dose', 'effect', 'spearman', True)
    >>> found.matrix("released")[0].round(2) + 0.0
    array([nan, -1.,  0.])
    """
    if draws < 2:
        raise InputError(f"A spread needs at least 2 draws: got {draws}.")
    names = tuple(column.name for column in columns)
    if len(set(names)) < len(names):
        raise InputError("Columns need different names: some have the same.")
    both = Features.consuming([_merged(each) for each in sampled(columns, max_rows, seed=_SEED)])
    n_levels = tuple(len(each.levels) for each in both.columns if each.levels is not None)
    # rows first, as they are drawn
    tables = [
        (np.ascontiguousarray(table.numbers.T), np.ascontiguousarray(table.codes.T))
        for table in (both.original, both.released)
    ]
    n, m = both.original.n_rows, both.released.n_rows
    found = _Found(
        both,
        associations(*tables[0], n_levels),
        associations(*tables[1], n_levels),
        _spreads(*tables[0], n_levels, m, draws),
    )
    return PairComparison(
        names=names,
        pairs=tuple(_difference(found, *place) for place in _every_pair(both.columns)),
        n_original=n,
        n_released=m,
    )


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class _Found:
    """The associations of both tables, and how much they vary by chance."""

    both: Features
    original: Associations
    released: Associations
    spreads: Associations


def _every_pair(columns: Sequence[ColumnPair]) -> list[tuple[Association, int, int]]:
    """Return every pair as positions among the numbers and among the categories."""
    numeric = sum(column.levels is None for column in columns)
    category = len(columns) - numeric
    correlations: tuple[Association, ...] = ("pearson", "spearman")
    pairs: list[tuple[Association, int, int]] = [
        (which, i, j)
        for i in range(numeric)
        for j in range(i + 1, numeric)
        for which in correlations
    ]
    pairs += [("cramers_v", i, j) for i in range(category) for j in range(i + 1, category)]
    pairs += [("correlation_ratio", i, j) for i in range(category) for j in range(numeric)]
    return pairs


def _merged(column: ColumnPair) -> ColumnPair:
    """Return the column with its rarest levels as one, where there are too many."""
    if column.levels is None or len(column.levels) <= _MOST_LEVELS:
        return column
    counts = np.bincount(column.original[column.original >= 0], minlength=len(column.levels))
    new = np.full(len(column.levels) + 1, _MOST_LEVELS - 1, dtype=np.int32)
    new[np.argsort(-counts, kind="stable")[: _MOST_LEVELS - 1]] = np.arange(_MOST_LEVELS - 1)
    new[-1] = -1  # code -1, a missing cell, stays
    levels = tuple(range(_MOST_LEVELS))
    return ColumnPair(column.name, new[column.original], new[column.released], levels)


def _spreads(
    numbers: Matrix, codes: Codes, n_levels: tuple[int, ...], m: int, draws: int
) -> Associations:
    """Return the standard deviations of differences between these rows and m others."""
    rng = np.random.default_rng(_SEED)
    n = numbers.shape[0]
    size = min(n, _DRAWN_ROWS)
    found = []
    for _ in range(draws if n and m else 0):
        rows = rng.integers(0, n, size=size)
        found.append(associations(numbers[rows], codes[rows], n_levels))
    factor = math.sqrt(size) * math.sqrt(1.0 / max(n, 1) + 1.0 / max(m, 1))
    return Associations(
        *(
            _deviation([getattr(drawn, which) for drawn in found], factor)
            for which in get_args(Association)
        )
    )


def _deviation(drawn: list[Matrix], factor: float) -> Matrix:
    if not drawn:
        return np.empty((0, 0))
    stack = np.stack(drawn)
    counts = np.count_nonzero(~np.isnan(stack), axis=0)
    filled = np.nan_to_num(stack)
    means = filled.sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(np.isnan(stack), 0.0, (filled - means) ** 2).sum(axis=0)
    return np.where(counts > 1, np.sqrt(squares / np.maximum(counts - 1, 1)) * factor, np.nan)


def _difference(found: _Found, which: Association, i: int, j: int) -> PairDifference:
    numbers = found.both.n_numbers
    first = i if which in ("pearson", "spearman") else numbers + i
    second = numbers + j if which == "cramers_v" else j
    before = _estimate(getattr(found.original, which)[i, j], "original")
    after = _estimate(getattr(found.released, which)[i, j], "release")
    spread = float(getattr(found.spreads, which)[i, j])
    estimate: Estimate
    if isinstance(before, NotEstimable):
        estimate = before
    elif isinstance(after, NotEstimable):
        estimate = after
    elif math.isnan(spread):
        estimate = NotEstimable("resamples of the original do not define the association")
    else:
        estimate = after - before
    chance = None if math.isnan(spread) else folded_normal(spread)
    if chance is not None:
        chance = (chance[0], max(chance[1], _ROUNDING))
    return PairDifference(
        first=found.both.columns[first].name,
        second=found.both.columns[second].name,
        association=which,
        original=before,
        released=after,
        difference=AgainstChance.of(
            estimate,
            chance,
            name=f"difference of {which}",
            n=found.both.released.n_rows,
            direction="neither",
        ),
    )


def _estimate(value: float, table: str) -> Estimate:
    if math.isnan(value):
        return NotEstimable(f"in the {table} a column is constant where both have a cell")
    return float(value)
