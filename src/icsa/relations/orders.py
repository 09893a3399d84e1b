"""Orders between columns that a release does not keep by itself: told, so that a rule can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icsa.matrices import Vector
from icsa.relations.gaps import Gap, precedes
from icsa.schema import DATE_KINDS, NUMERIC_KINDS, Kind

__all__ = ["Order", "find_unkept_orders"]

# If two unrelated columns were paired at random, this many rows would break the order.
_LEAST_SURPRISE = 10.0
_MOST_ROWS = 2_000
_SECONDS_A_DAY = 86_400.0
# Which rows are looked at first is no secret; the same table gives the same orders.
_SEED = 20_240_229


@dataclass(frozen=True)
class Order:
    """A column that is never above another in the rows in which both are there.

    Examples
    --------
    >>> Order("lowest", "highest").describe()
    'lowest is never above highest'
    """

    first: str
    second: str

    @property
    def columns(self) -> frozenset[str]:
        """Both names."""
        return frozenset((self.first, self.second))

    def describe(self) -> str:
        """Return the order in words, without any cell."""
        return f"{self.first} is never above {self.second}"


def find_unkept_orders(
    numbers: Mapping[str, Vector],
    kinds: Mapping[str, Kind],
    gaps: Sequence[Gap],
    related: Sequence[frozenset[str]],
) -> tuple[Order, ...]:
    """Return orders between numbers, and between dates and datetimes, that nothing keeps.

    Orders that mean nothing are left out: were the rows paired at random, fewer than ten would
    break them. So are those that follow from others that are returned or kept.

    Parameters
    ----------
    numbers : mapping of str to ndarray
        One vector a column, NaN where missing.
    kinds : mapping of str to str
        Kind of each column. Datetimes count as their days.
    gaps : sequence of Gap
        Orders that are kept.
    related : sequence of frozenset of str
        Columns of relations that are kept: a sum is not below its parts.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low = rng.normal(70.0, 9.0, 80)
    >>> table = {"low": low, "high": low + rng.exponential(8.0, 80), "age": rng.normal(50, 9, 80)}
    >>> [str(order.describe()) for order in find_unkept_orders(
    ...     table, dict.fromkeys(table, "continuous"), (), ())]
    ['low is never above high']
    """
    kept = {(base, gap.other) for gap in gaps if gap.ordered for base in gap.bases}
    found: list[tuple[str, str]] = []
    for family in (NUMERIC_KINDS, DATE_KINDS):
        columns = {
            name: np.floor(values / _SECONDS_A_DAY) if kinds[name] == "datetime" else values
            for name, values in numbers.items()
            if kinds.get(name) in family
        }
        for pair in _ordered_pairs(columns):
            numeric = family is NUMERIC_KINDS
            if not (numeric and any(set(pair) <= names for names in related)):
                found.append(pair)
    known = kept | set(found)
    return tuple(
        Order(*pair)
        for pair in found
        if pair not in kept and not _follows(pair, known - {pair}) and pair[::-1] not in kept
    )


def _ordered_pairs(columns: Mapping[str, Vector]) -> Iterator[tuple[str, str]]:
    """Yield pairs of which the first is nowhere larger, and chance does not explain it."""
    names = list(columns)
    if len(names) < 2:
        return
    n_rows = columns[names[0]].size
    rng = np.random.default_rng(_SEED)
    rows = np.sort(rng.choice(n_rows, min(n_rows, _MOST_ROWS), replace=False))
    sample = np.array([columns[name][rows] for name in names])
    for place, first in enumerate(names):
        with np.errstate(invalid="ignore"):
            broken = (sample[place] > sample).any(axis=1)
        for other in np.flatnonzero(~broken):
            second = names[other]
            if other != place and precedes(columns[first], columns[second], _LEAST_SURPRISE):
                yield first, second


def _follows(pair: tuple[str, str], known: set[tuple[str, str]]) -> bool:
    """Return whether an order follows from two others."""
    first, second = pair
    return any((first, middle) in known and (middle, second) in known for _, middle in known)
