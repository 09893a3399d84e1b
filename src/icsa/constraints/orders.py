"""Orders between columns that a release does not keep by itself: told, so that a rule can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from icsa.columns import Kind, kind_of
from icsa.constraints.gaps import Gap, precedes
from icsa.constraints.limits import LIMITS
from icsa.constraints.linear import LinearRelation
from icsa.constraints.units import are_comparable, words_of_most
from icsa.constraints.written import quoted_name
from icsa.matrices import Vector

__all__ = ["Order", "find_unkept_orders"]


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

    @property
    def rule(self) -> str:
        """The rule that keeps it."""
        return f"{quoted_name(self.first)} <= {quoted_name(self.second)}"

    def describe(self) -> str:
        """Return the order in words, without any cell."""
        return f"{self.first} is never above {self.second}"

    def holds_in(self, numbers: Mapping[str, Vector], kinds: Mapping[str, Kind]) -> bool:
        """Return whether it holds in all rows; datetimes count as their days."""
        first, second = (_days(numbers[name], kinds[name]) for name in (self.first, self.second))
        return not np.any(first > second)  # never true of NaN


def find_unkept_orders(
    numbers: Mapping[str, Vector],
    kinds: Mapping[str, Kind],
    gaps: Sequence[Gap],
    relations: Sequence[LinearRelation],
    lost: Sequence[LinearRelation] = (),
) -> tuple[Order, ...]:
    """Return orders between numbers, and between dates and datetimes, that nothing keeps.

    Orders that mean nothing are left out: were the rows paired at random, fewer than ten would
    break them, or nothing says that two numbers have a unit in common (`are_comparable`). So are
    those that follow from others that are returned or kept.

    Parameters
    ----------
    gaps : sequence of Gap
        Orders that are kept.
    relations : sequence of LinearRelation
        Relations that are kept, each after those of its terms. A sum is not below its parts.
    lost : sequence of LinearRelation
        Relations that are not kept; of their numbers no order is returned, because whoever computes
        the target again has it back.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low = rng.normal(70.0, 9.0, 80)
    >>> table = {"low": low, "high": low + rng.exponential(8.0, 80), "age": rng.normal(50, 9, 80)}
    >>> [str(order.describe()) for order in find_unkept_orders(
    ...     table, dict.fromkeys(table, "continuous"), (), ())]
    ['low is never above high']
    """
    known = {(base, gap.other): True for gap in gaps if gap.ordered for base in gap.bases}
    forms = _forms(numbers, kinds, relations)
    dates = {name: values for name, values in numbers.items() if kind_of(kinds[name]).per_day}
    plain = {name: values for name, values in numbers.items() if kind_of(kinds[name]).is_number}
    signed = {name for name in numbers if name in dates or np.any(numbers[name] < 0.0)}
    days = {name: _days(values, kinds[name]) for name, values in dates.items()}
    general = words_of_most(plain)
    for columns in (plain, days):
        for first, second in _ordered_pairs(columns):
            if columns is plain and (
                any({first, second} <= one.columns for one in lost)
                or not are_comparable(first, second, columns[first], columns[second], general)
            ):
                continue
            equal = known.get((second, first), False)
            is_kept = equal or forms[first].is_below(forms[second], signed)
            known.setdefault((first, second), is_kept)
    return tuple(Order(*pair) for pair in _not_following(known, numbers))


def _days(numbers: Vector, kind: Kind) -> Vector:
    per_day = kind_of(kind).per_day
    return np.floor(numbers / per_day) if per_day else numbers


@dataclass(frozen=True)
class _Form:
    """A column as a constant plus multiples of columns that are not computed."""

    factors: Mapping[str, float]
    constant: float = 0.0

    def plus(self, other: _Form, times: float) -> _Form:
        """Return the sum of this and a multiple of another."""
        names = {**self.factors, **other.factors}
        both = ((n, self.factors.get(n, 0.0), times * other.factors.get(n, 0.0)) for n in names)
        sums = {
            n: x + y for n, x, y in both if abs(x + y) > LIMITS.relative_error * max(abs(x), abs(y))
        }
        return _Form(sums, self.constant + times * other.constant)

    def is_below(self, other: _Form, signed: Set[str]) -> bool:
        """Return whether this is never above another when columns that are not signed stay so.

        Of two that follow from one and the same column, it is taken to be as in the original.
        """
        if len(self.factors) == 1 and self.factors.keys() == other.factors.keys():
            return True
        more = other.plus(self, -1.0)
        size = LIMITS.relative_error * max(abs(self.constant), abs(other.constant))
        grows = all(x > 0.0 and name not in signed for name, x in more.factors.items())
        return grows and more.constant >= -size


def _forms(
    numbers: Mapping[str, Vector], kinds: Mapping[str, Kind], relations: Sequence[LinearRelation]
) -> dict[str, _Form]:
    """Return each column by those that are not computed, datetimes in days."""
    days = {name: 1.0 / (kind_of(kinds[name]).per_day or 1.0) for name in numbers}
    forms = {name: _Form({name: days[name]}) for name in numbers}
    for relation in relations:
        total = _Form({}, relation.constant)
        for name, factor in relation.terms:
            total = total.plus(forms[name], factor / days[name])
        forms[relation.target] = _Form({}).plus(total, days[relation.target])
    return forms


def _ordered_pairs(columns: Mapping[str, Vector]) -> Iterator[tuple[str, str]]:
    """Yield pairs of which the first is nowhere larger, and chance does not explain it."""
    names = list(columns)
    if len(names) < 2:
        return
    n_rows = columns[names[0]].size
    rng = np.random.default_rng(LIMITS.seed)
    rows = np.sort(rng.choice(n_rows, min(n_rows, LIMITS.order_rows), replace=False))
    sample = np.array([columns[name][rows] for name in names])
    for place, first in enumerate(names):
        with np.errstate(invalid="ignore"):
            broken = (sample[place] > sample).any(axis=1)
        for other in np.flatnonzero(~broken):
            second = names[other]
            if other != place and precedes(columns[first], columns[second], LIMITS.surprise_told):
                yield first, second


def _not_following(
    known: Mapping[tuple[str, str], bool], numbers: Mapping[str, Vector]
) -> list[tuple[str, str]]:
    """Return the orders that are not kept and do not follow from the rest, as few as can be.

    A column between two others orders them in the rows in which it is there.
    """
    after: dict[str, set[str]] = {}
    for first, second in known:
        after.setdefault(first, set()).add(second)
    there = {name: ~np.isnan(numbers[name]) for pair in known for name in pair}
    found = []
    for first, second in (pair for pair, is_kept in known.items() if not is_kept):
        after[first].remove(second)
        both = there[first] & there[second]
        waiting, reached = [first], {first}
        while waiting and second not in reached:
            fresh = after.get(waiting.pop(), set()) - reached
            reached |= fresh
            waiting += [name for name in fresh if not np.any(both & ~there[name])]
        if second not in reached:
            after[first].add(second)
            found.append((first, second))
    return found
