"""Heaping: round numbers that more cells hold than chance explains, because people round."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

import numpy as np
import numpy.typing as npt

from icsa.inspection.profile import Profile
from icsa.matrices import Vector
from icsa.schema import KINDS, ColumnSpec

__all__ = ["VALUES_FOR_HEAPING", "notes_on_heaping"]

VALUES_FOR_HEAPING = 15
_ROWS_FOR_HEAPING = 50
_MOST_DECIMALS = 3
_ERRORS = 4.0
_LARGEST = 2.0**53
# What numbers may be multiples of, and the step that they must be more often on than by chance:
# whoever rounds to tens has hit hundreds by that alone. None: the column's own step.
_STEPS = ((100, 10), (10, 1), (5, 1), (1, None))
# Next to one peak there are many cells by the distribution alone.
_STEPS_IN_THE_MIDDLE = 5
_PEAKED = (100, 1)


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
    enough = profile.present >= _ROWS_FOR_HEAPING and numbers.size >= VALUES_FOR_HEAPING
    if not KINDS[spec.kind].is_number or not enough or numbers.size < profile.distinct:
        return
    units, one = _in_units(numbers)
    if units is None:
        return
    held = profile.held.astype(float) * (units != 0)  # zero is a matter of its own
    lattice = int(np.gcd.reduce(units))
    middle = _length_of_the_middle(numbers, held)
    for step, finer in _STEPS:
        if step in _PEAKED and middle < _STEPS_IN_THE_MIDDLE * step:
            continue
        coarse = lcm(lattice, step * one)
        fine = lattice if finer is None else lcm(lattice, finer * one)
        total, count = held[units % fine == 0].sum(), held[units % coarse == 0].sum()
        share = fine / coarse
        error = np.sqrt(total * share * (1 - share))
        if count > 1.5 * share * total and count - share * total > _ERRORS * error > 0.0:
            what = f"multiples of {step}" if step > 1 else "whole numbers"
            expected = lattice / coarse
            yield f"heaping: {count / held.sum():.0%} are {what} ({_percent(expected)} expected)"
            return


def _in_units(numbers: Vector) -> tuple[npt.NDArray[np.int64] | None, int]:
    """Return numbers in units of their last decimal, and how many of these one is; None if many."""
    for decimals in range(_MOST_DECIMALS + 1):
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
