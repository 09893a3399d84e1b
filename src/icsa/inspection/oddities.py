"""Oddities of numbers: codes for missing, numbers far from all others, and heaps of round ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.correlations import mad_scale
from icsa.inspection.limits import LIMITS
from icsa.inspection.profile import Profile, sample_of
from icsa.matrices import Vector
from icsa.schema import KINDS, ColumnSpec

__all__ = [
    "far_rows",
    "may_be_far",
    "may_have_codes",
    "notes_on_heaping",
    "sentinel_codes",
    "sentinel_words",
]

_NEGATIVE = (-1, -2, -3, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -997, -998, -999, -9999)
_ONE_DIGIT = (7, 8, 9)
_POSITIVE = (
    *(77, 88, 97, 98, 99, 777, 888, 997, 998, 999),
    *(7777, 8888, 9997, 9998, 9999, 99999, 999999, 9999999, 99999999),
)
# Nines to the last decimal of a column that has some.
_NINES = (99.9, 99.99, 999.9, 999.99, 9999.9, 9999.99)
_BELOW_ZERO = (*_NEGATIVE, -9.9, *(-code for code in _NINES))
_ABOVE_ZERO = tuple(sorted((*_ONE_DIGIT, *_POSITIVE, *_NINES)))
_CODES = (*_BELOW_ZERO, *_ABOVE_ZERO)
_WORDS = (
    ".",
    "?",
    "#n/a",
    "missing",
    "n.a.",
    "n/a",
    "na",
    "nan",
    "nil",
    "null",
    "refused",
    "unknown",
)
_LARGEST = 2.0**53
# What numbers may be multiples of, and the step that they must be more often on than by chance:
# whoever rounds to tens has hit hundreds by that alone. None: the column's own step.
_STEPS = ((100, 10), (10, 1), (5, 1), (1, None))
# Next to one peak there are many cells of these by the distribution alone.
_PEAKED = (100, 1)


def sentinel_codes(profile: Profile) -> Mapping[float, int]:
    """Return well-known codes that stand apart from a column's other numbers, with their rows.

    A negative code stands apart where no other value is negative; a positive one where it is
    beyond all others by half of their range, or is held three times as often as the largest
    others. Each must be held by two rows.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"age": [41, 52, 38, 67, 999, 999, -1]}))
    >>> sentinel_codes(profile_of(table, "age"))
    {999: 2}
    """
    numbers = profile.numbers
    if numbers.size < 3 or numbers.size < profile.distinct or not np.isin(numbers, _CODES).any():
        return {}
    held = dict(zip(numbers.tolist(), profile.held.tolist(), strict=True))
    found = {**_negative_codes(held), **_positive_codes(held)}
    return {code: rows for code, rows in found.items() if rows >= LIMITS.rows_of_a_code}


def may_have_codes(cells: pl.Series) -> bool:
    """Return whether numbers could hold a code that stands apart, after a quick look.

    Codes below zero are the smallest numbers of a column, others the largest.

    Examples
    --------
    >>> may_have_codes(pl.Series([41, 52, 999])), may_have_codes(pl.Series([41, 52, 53]))
    (True, False)
    """
    return cells.min() in _BELOW_ZERO or cells.max() in _CODES


def sentinel_words(profile: Profile) -> Mapping[str, int]:
    """Return words for missing among a column's texts, with their rows.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"smoker": ["yes", "unknown", "no", "unknown"]}))
    >>> sentinel_words(profile_of(table, "smoker"))
    {'unknown': 2}
    """
    if not profile.is_text:
        return {}
    texts = profile.values.cast(pl.String).to_list()
    held = zip(texts, profile.held.tolist(), strict=True)
    return {text: rows for text, rows in held if text.strip().casefold() in _WORDS}


def _negative_codes(held: Mapping[float, int]) -> dict[float, int]:
    negative = {number for number in held if number < 0}
    if not negative <= set(_BELOW_ZERO) or len(held) - len(negative) < 2:
        return {}
    return {code: held[code] for code in _BELOW_ZERO if code in negative}


def _positive_codes(held: Mapping[float, int]) -> dict[float, int]:
    others = sorted(number for number in held if number not in _ABOVE_ZERO and number >= 0)
    beyond = [code for code in _ABOVE_ZERO if code in held and others and code > others[-1]]
    for position, code in enumerate(beyond):
        rest = np.array([*others, *beyond[:position]])
        if rest.size >= 2 and _stands_apart(code, rest, held):
            return {found: held[found] for found in beyond[position:]}
    return {}


def _stands_apart(code: float, rest: Vector, held: Mapping[float, int]) -> bool:
    length = rest[-1] - rest[0]
    gap = code - rest[-1]
    if code in _ONE_DIGIT:
        return bool(gap >= max(3.0, length))
    near = [held[number] for number in rest[-5:].tolist()]
    piled = held[code] > LIMITS.code_pile * max(near) and gap > 1.0
    return bool(gap >= LIMITS.code_gap * length or (piled and rest.size >= len(near) >= 5))


def far_rows(numbers: Vector) -> npt.NDArray[np.intp]:
    """Return the rows, from 0, of at most three numbers extremely far from all others.

    They are more than a hundred robust deviations from the median, and twice as far as the next.

    Parameters
    ----------
    numbers : Vector
        One a cell; NaN where missing.

    Examples
    --------
    >>> far_rows(np.append(np.arange(30.0), 1e6))
    array([30])
    """
    none = np.empty(0, dtype=np.intp)
    centre, deviation = _of_sample(pl.Series(numbers, nan_to_null=True))
    if not deviation > 0.0:
        return none
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.abs(numbers - centre)
    far = distance > LIMITS.far_deviations * deviation  # never NaN
    if not 0 < np.count_nonzero(far) <= LIMITS.most_far:
        return none
    rest = np.fmax.reduce(distance[~far], initial=0.0)
    return np.flatnonzero(far) if distance[far].min() >= LIMITS.far_beyond * rest else none


def may_be_far(cells: pl.Series) -> bool:
    """Return whether the smallest or the largest number is far from the others' middle.

    Examples
    --------
    >>> may_be_far(pl.Series(range(30))), may_be_far(pl.Series([*range(30), 10**6]))
    (False, True)
    """
    ends = pl.Series([cells.min(), cells.max()]).cast(pl.Float64).to_numpy()
    centre, deviation = _of_sample(cells)
    return deviation > 0.0 and bool(
        (np.abs(ends - centre) > LIMITS.far_deviations * deviation).any()
    )


def _of_sample(cells: pl.Series) -> tuple[float, float]:
    drawn = sample_of(cells).cast(pl.Float64).to_numpy()
    return _centre_and_deviation(drawn[np.isfinite(drawn)])


def _centre_and_deviation(numbers: Vector) -> tuple[float, float]:
    """Return median and scaled median distance, of the cells off a value that many cells have."""
    if numbers.size < LIMITS.rows_for_far:
        return 0.0, 0.0
    values, held = np.unique(numbers, return_counts=True)
    if held.max() >= LIMITS.many_equal * numbers.size:
        return _centre_and_deviation(numbers[numbers != values[np.argmax(held)]])
    centre = float(np.median(numbers))
    return centre, mad_scale(numbers, centre)


def notes_on_heaping(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield the coarsest step that more cells are multiples of than chance explains.

    Of numbers that all are multiples of 5, half are expected to be multiples of 10.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> cells = [*range(20, 80), *range(20, 80, 10)] * 2 + [30, 40, 50, 60] * 5
    >>> profile = profile_of(Table(pl.DataFrame({"age": cells})), "age")
    >>> list(notes_on_heaping(profile, ColumnSpec(name="age", kind="integer")))
    ['heaping: 29% are multiples of 10 (10% expected)']
    """
    numbers = profile.numbers
    enough = (
        profile.present >= LIMITS.rows_for_heaping and numbers.size >= LIMITS.values_for_heaping
    )
    if not KINDS[spec.kind].is_number or not enough or numbers.size < profile.distinct:
        return
    units, one = _in_units(numbers)
    if units is None:
        return
    held = profile.held.astype(float) * (units != 0)  # zero is a matter of its own
    lattice = int(np.gcd.reduce(units))
    middle = _length_of_the_middle(numbers, held)
    for step, finer in _STEPS:
        if step in _PEAKED and middle < LIMITS.heaping_middle * step:
            continue
        coarse = lcm(lattice, step * one)
        fine = lattice if finer is None else lcm(lattice, finer * one)
        total, count = held[units % fine == 0].sum(), held[units % coarse == 0].sum()
        share = fine / coarse
        error = np.sqrt(total * share * (1 - share))
        many = count > LIMITS.heaping_excess * share * total
        if many and count - share * total > LIMITS.heaping_errors * error > 0.0:
            what = f"multiples of {step}" if step > 1 else "whole numbers"
            expected = lattice / coarse
            yield f"heaping: {count / held.sum():.0%} are {what} ({_percent(expected)} expected)"
            return


def _in_units(numbers: Vector) -> tuple[npt.NDArray[np.int64] | None, int]:
    """Return numbers in units of their last decimal, and how many of these one is; None if many."""
    for decimals in range(LIMITS.decimals_for_heaping + 1):
        one = 10**decimals
        scaled = numbers * one
        if np.abs(scaled).max() >= _LARGEST:
            break
        if (np.abs(scaled - np.rint(scaled)) <= 1e-6).all():
            return np.rint(scaled).astype(np.int64), one
    return None, 1


def _length_of_the_middle(numbers: Vector, held: Vector) -> float:
    """Return the length of the range that the middle 90% of the cells lie in."""
    order = np.argsort(numbers)
    ranks = np.cumsum(held[order]) / held.sum()
    low, high = np.searchsorted(ranks, [0.05, 0.95])
    return float(numbers[order[min(high, order.size - 1)]] - numbers[order[low]])


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else f"{share:.1%}"
