"""Columns that follow others: equal in most rows, or dates that never come before another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icsa.columns import KINDS, Kind
from icsa.constraints.computing import in_order, reaches
from icsa.constraints.limits import LIMITS
from icsa.constraints.words import in_rows, listed, never_below
from icsa.matrices import Vector

__all__ = ["Gap", "find_gaps", "find_orders", "gap_between", "precedes"]


@dataclass(frozen=True)
class Gap:
    """A column coded by how far it is from another.

    Attributes
    ----------
    bases : tuple of str
        One column, or several that all come before `other`: the gap starts at the latest of those
        that are present in a row.
    other : str
        The column that the gap replaces.
    share : float
        Share of the rows with both present in which the gap is zero.
    ordered : bool
        Whether the gap is nowhere negative, and must not become so.
    covered : float
        Share of the cells of `other` for which a base is present. Below 1, cells of `other` exist
        that have no gap, and `other` is coded beside the gap.

    Examples
    --------
    >>> gap = Gap(("relapse",), "death", share=0.5, ordered=True)
    >>> days = {"relapse": np.array([3.0, 8.0, np.nan]), "death": np.array([3.0, 9.0, 4.0])}
    >>> gap.forward(days)
    array([ 0.,  1., nan])
    >>> gap.back(gap.start(days), gap.forward(days))
    array([ 3.,  9., nan])
    >>> gap.describe()
    'death is never below relapse; equal in 50.0% of the rows'
    """

    bases: tuple[str, ...]
    other: str
    share: float
    ordered: bool
    covered: float = 1.0

    @property
    def columns(self) -> frozenset[str]:
        """Names of the column and of its bases."""
        return frozenset((self.other, *self.bases))

    @property
    def name(self) -> str:
        """What the gap is coded as: in place of `other`, or beside it."""
        return self.other if self.covered == 1.0 else f"{self.other} after {listed(self.bases)}"

    def start(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return where the gap starts: the latest base, NaN where none is present."""
        latest = numbers[self.bases[0]]
        for name in self.bases[1:]:
            latest = np.fmax(latest, numbers[name])
        return latest

    def forward(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return the gap, NaN where `other` or every base is missing."""
        gap: Vector = numbers[self.other] - self.start(numbers)
        return gap

    def back(self, base: Vector, gap: Vector) -> Vector:
        """Return `other` from where the gap starts and the gap; ordered gaps are held at 0."""
        return base + (np.maximum(gap, 0.0) if self.ordered else gap)

    def describe(self) -> str:
        """Return the gap in words, without any cell."""
        equal = f"equal {in_rows(self.share)}"
        if self.ordered:
            return f"{never_below(self.other, self.bases)}; {equal}"
        return f"{listed((self.other, *self.bases))} are {equal}"


def find_gaps(numbers: Mapping[str, Vector], kinds: Mapping[str, Kind]) -> tuple[Gap, ...]:
    """Return the gaps that a table is best coded by, in an order in which they can be undone.

    Dates that never come before others (`find_orders`), and columns of one kind of quantity with
    many values that are equal in 40% of the rows or more. Of two equal columns the base is the one
    that is never larger, where one is; otherwise the one that is present in more rows. A column is
    replaced by one gap at most.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> relapse = rng.integers(1, 2000, 60).astype(float)
    >>> death = relapse + np.where(np.arange(60) < 36, 0, rng.integers(1, 500, 60))
    >>> table = {"death": death, "relapse": relapse}
    >>> [gap.describe() for gap in find_gaps(table, dict.fromkeys(table, "integer"))]
    ['death is never below relapse; equal in 60.0% of the rows']
    """
    found = {gap.other: gap for gap in find_orders(numbers, kinds)}
    for gap in sorted(_equal_pairs(numbers, kinds), key=lambda gap: -gap.share):
        needs = {other: known.bases for other, known in found.items()}
        if gap.other not in found and not reaches(needs, gap.bases, gap.other):
            found[gap.other] = gap
    return in_order(list(found.values()), lambda gap: gap.other, lambda gap: gap.bases)


def find_orders(numbers: Mapping[str, Vector], kinds: Mapping[str, Kind]) -> tuple[Gap, ...]:
    """Return one gap for each date that comes after others in all rows with both present.

    Orders that mean nothing are left out: were the rows paired at random, fewer than five would
    break them. Of diagnosed <= relapsed <= died, the gap of the last starts at whichever of the
    earlier two is present and later, so that all three stay in order when one is missing.
    Only dates, and datetimes among themselves, are compared.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> first = rng.integers(0, 3000, 50).astype(float)
    >>> days = {"died": first + rng.integers(0, 900, 50), "seen": first}
    >>> [gap.describe() for gap in find_orders(days, {"died": "date", "seen": "date"})]
    ['died is never below seen; equal in no row']
    """
    found = {}
    for kind in (kind.name for kind in KINDS.values() if kind.per_day):
        names = [name for name in numbers if kinds.get(name) == kind]
        before = {
            other: [
                base for base in names if base != other and precedes(numbers[base], numbers[other])
            ]
            for other in names
        }
        for other, bases in before.items():
            # Equal columns precede each other: the first of them is the base.
            earlier = [
                base
                for base in bases
                if other not in before[base] or names.index(base) < names.index(other)
            ]
            if earlier:
                found[other] = gap_between(
                    numbers, _needed(numbers, earlier, before), other, ordered=True
                )
    return in_order(list(found.values()), lambda gap: gap.other, lambda gap: gap.bases)


def _needed(
    numbers: Mapping[str, Vector], bases: Sequence[str], before: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the bases without those that another base comes after and stands in for."""
    kept = list(bases)
    for base in bases:
        later = [name for name in kept if name != base and base in before[name]]
        absent = np.isnan(numbers[base])
        if any(not np.any(np.isnan(numbers[name]) & ~absent) for name in later):
            kept.remove(base)
    return tuple(kept)


def precedes(first: Vector, second: Vector, surprise: float = LIMITS.surprise_kept) -> bool:
    """Return whether first <= second wherever both are there, and chance does not explain it.

    If the rows were paired at random, `surprise` of them or more would break the order.

    Examples
    --------
    >>> days = np.arange(40.0)
    >>> precedes(days, days + 3.0), precedes(days, days + 50.0)
    (True, False)
    """
    if np.any(first > second):  # never true of NaN
        return False
    both = np.isfinite(first) & np.isfinite(second)
    if np.count_nonzero(both) < LIMITS.least_rows:
        return False
    below = np.searchsorted(np.sort(second[both]), first[both], side="left")
    return float(below.sum()) / below.size >= surprise


def _equal_pairs(numbers: Mapping[str, Vector], kinds: Mapping[str, Kind]) -> Iterator[Gap]:
    """Yield a gap for each pair of columns that are equal in most rows."""
    quantities = {name: KINDS[kinds[name]].quantity for name in numbers if name in kinds}
    names = [name for name in numbers if quantities.get(name)]
    if not names:
        return
    n_rows = numbers[names[0]].size
    rng = np.random.default_rng(LIMITS.seed)
    rows = np.sort(rng.choice(n_rows, min(n_rows, LIMITS.block_rows), replace=False))
    names = [name for name in names if _varied(numbers[name][rows])]
    sample = np.array([numbers[name][rows] for name in names])
    for place, first in enumerate(names):
        both = np.isfinite(sample[place]) & np.isfinite(sample[place + 1 :])
        equal = (sample[place] == sample[place + 1 :]) & both
        least = LIMITS.sampled_equal * LIMITS.least_equal
        often = equal.sum(axis=1) >= least * np.maximum(both.sum(axis=1), 1)
        for later in np.flatnonzero(often):
            second = names[place + 1 + later]
            gap = _oriented(numbers, first, second)
            if gap is not None and quantities[first] == quantities[second]:
                yield gap


def _varied(column: Vector) -> bool:
    return np.unique(column[np.isfinite(column)]).size >= LIMITS.least_distinct


def _equal_share(first: Vector, second: Vector) -> float:
    """Return the share of equal cells where not both have the value that is most usual in both.

    Two columns that are mostly zero agree in most rows without having to do with each other.
    """
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both], second[both]
    if first.size < LIMITS.least_rows:
        return 0.0
    values, counts = np.unique(first, return_counts=True)
    usual = values[counts.argmax()]
    telling = ~((first == usual) & (second == usual))
    if counts.max() < LIMITS.usual * first.size:
        telling[:] = True
    equal = first == second
    if np.count_nonzero(telling) < LIMITS.least_rows:
        return 0.0
    return float(min(equal[telling].mean(), equal.mean()))


def _oriented(numbers: Mapping[str, Vector], first: str, second: str) -> Gap | None:
    """Return the gap of a pair that is equal in enough of all rows."""
    x, y = numbers[first], numbers[second]
    if _equal_share(x, y) < LIMITS.least_equal:
        return None
    both = np.isfinite(x) & np.isfinite(y)
    if not np.any(x[both] > y[both]):
        return gap_between(numbers, (first,), second, ordered=True)
    if not np.any(y[both] > x[both]):
        return gap_between(numbers, (second,), first, ordered=True)
    swap = np.isfinite(y).sum() > np.isfinite(x).sum()
    base, other = (second, first) if swap else (first, second)
    return gap_between(numbers, (base,), other, ordered=False)


def gap_between(
    numbers: Mapping[str, Vector], bases: tuple[str, ...], other: str, *, ordered: bool
) -> Gap:
    """Return the gap of a column after others, with the shares that all rows give."""
    empty = Gap(bases, other, 0.0, ordered)
    gap = empty.forward(numbers)
    present = np.isfinite(numbers[other])
    known = np.isfinite(gap)
    share = float(np.mean(gap[known] == 0.0)) if known.any() else 0.0
    covered = float(known.sum() / present.sum()) if present.any() else 1.0
    return Gap(bases, other, share, ordered, covered)
