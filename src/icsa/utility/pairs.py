"""Pairs of columns: which associations a release changes, and by how much more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import Estimate, NotEstimable
from icsa.utility.associations import Associations, associations
from icsa.utility.chance import AgainstChance, folded_normal
from icsa.utility.compared import CategoryColumn, Codes, ComparedColumn, NumericColumn, sampled

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
    columns: Sequence[ComparedColumn], *, max_rows: int = 50_000, draws: int = _DRAWS
) -> PairComparison:
    """Return the associations of all pairs of columns in both tables, with their differences.

    Two numbers by Pearson and Spearman, two categories by Cramer's V, a category and a number by
    the correlation ratio (`icsa.utility.associations`). The yardstick: the original is resampled
    (with replacement, a fixed seed); an association that varies with standard deviation s over
    resamples of r rows differs between samples of n and m rows by about s sqrt(r) sqrt(1/n + 1/m).

    Parameters
    ----------
    columns : sequence of NumericColumn or CategoryColumn
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
    >>> from icsa.utility.compared import category_column, numeric_column
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
    tables = _Tables.of(sampled(columns, max_rows, seed=_SEED))
    original = associations(tables.numbers[0], tables.codes[0], tables.n_levels)
    released = associations(tables.numbers[1], tables.codes[1], tables.n_levels)
    n, m = (table.shape[0] for table in tables.numbers)
    spreads = _spreads(tables, n, m, draws)
    return PairComparison(
        names=names,
        pairs=tuple(
            _difference(tables, which, i, j, original, released, spreads, m)
            for which, i, j in tables.every_pair()
        ),
        n_original=n,
        n_released=m,
    )


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class _Tables:
    """Both tables as matrices: numbers, and codes of categories."""

    numeric_names: tuple[str, ...]
    category_names: tuple[str, ...]
    numbers: tuple[Matrix, Matrix]
    codes: tuple[Codes, Codes]
    n_levels: tuple[int, ...]

    @classmethod
    def of(cls, columns: Sequence[ComparedColumn]) -> _Tables:
        numeric = [column for column in columns if isinstance(column, NumericColumn)]
        category = [_merged(column) for column in columns if isinstance(column, CategoryColumn)]
        n, m = (columns[0].original.size, columns[0].released.size) if columns else (0, 0)
        return cls(
            tuple(column.name for column in numeric),
            tuple(column.name for column in category),
            (
                _stacked([column.original for column in numeric], n),
                _stacked([column.released for column in numeric], m),
            ),
            (
                _stacked([column.original for column in category], n).astype(np.int64),
                _stacked([column.released for column in category], m).astype(np.int64),
            ),
            tuple(len(column.levels) for column in category),
        )

    def names(self, which: Association, i: int, j: int) -> tuple[str, str]:
        rows = self.numeric_names if which in ("pearson", "spearman") else self.category_names
        columns = self.category_names if which == "cramers_v" else self.numeric_names
        return rows[i], columns[j]

    def every_pair(self) -> list[tuple[Association, int, int]]:
        numeric, category = len(self.numeric_names), len(self.category_names)
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


def _stacked(columns: Sequence[Vector] | Sequence[Codes], n_rows: int) -> Matrix:
    return np.column_stack(columns) if columns else np.empty((n_rows, 0))


def _merged(column: CategoryColumn) -> CategoryColumn:
    """Return the column with its rarest levels as one, where there are too many."""
    if len(column.levels) <= _MOST_LEVELS:
        return column
    counts = np.bincount(column.original[column.original >= 0], minlength=len(column.levels))
    new = np.full(len(column.levels) + 1, _MOST_LEVELS - 1)
    new[np.argsort(-counts, kind="stable")[: _MOST_LEVELS - 1]] = np.arange(_MOST_LEVELS - 1)
    new[-1] = -1  # code -1, a missing cell, stays
    levels = tuple(range(_MOST_LEVELS))
    return CategoryColumn(column.name, new[column.original], new[column.released], levels)


def _spreads(tables: _Tables, n: int, m: int, draws: int) -> Associations:
    """Return the standard deviations of differences between samples of n and of m rows."""
    rng = np.random.default_rng(_SEED)
    size = min(n, _DRAWN_ROWS)
    numbers, codes = tables.numbers[0], tables.codes[0]
    found = []
    for _ in range(draws if n and m else 0):
        rows = rng.integers(0, n, size=size)
        found.append(associations(numbers[rows], codes[rows], tables.n_levels))
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


def _difference(
    tables: _Tables,
    which: Association,
    i: int,
    j: int,
    original: Associations,
    released: Associations,
    spreads: Associations,
    n: int,
) -> PairDifference:
    first, second = tables.names(which, i, j)
    before = _estimate(getattr(original, which)[i, j], "original")
    after = _estimate(getattr(released, which)[i, j], "release")
    spread = float(getattr(spreads, which)[i, j])
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
        first=first,
        second=second,
        association=which,
        original=before,
        released=after,
        difference=AgainstChance.of(
            estimate, chance, name=f"difference of {which}", n=n, direction="neither"
        ),
    )


def _estimate(value: float, table: str) -> Estimate:
    if math.isnan(value):
        return NotEstimable(f"in the {table} a column is constant where both have a cell")
    return float(value)
