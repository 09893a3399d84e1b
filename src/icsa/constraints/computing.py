"""Columns that are computed from others: sums, and whatever else follows from a row's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from icsa.constraints.limits import LIMITS
from icsa.matrices import Vector

__all__ = [
    "Computed",
    "Hold",
    "compute",
    "differs",
    "in_order",
    "own_missing",
    "reaches",
    "recompute",
]

Hold: TypeAlias = Callable[[str, Vector], Vector]
_Kept = TypeVar("_Kept")


class Computed(Protocol):
    """A column that a release computes from other columns of the same row.

    Members are frozen dataclasses. A new family is found in a file of its own and listed in
    `icsa.constraints.derivation`; nothing else asks what family a member is of.
    """

    @property
    def target(self) -> str:
        """Name of the column that is computed."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns that it is computed from."""
        ...

    @property
    def missing(self) -> int:
        """Number of the target's missing cells if it has some of its own, otherwise 0.

        They are its own where every source is there.
        """
        ...

    @property
    def columns(self) -> frozenset[str]:
        """Names of the target and of the sources."""
        ...

    def predict(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return the target's numbers, not rounded, NaN where a source is missing."""
        ...

    def describe(self) -> str:
        """Return the formula and in how many rows it holds, in words, without any cell."""
        ...


def compute(
    computed: Iterable[Computed], numbers: Mapping[str, Vector], hold: Hold
) -> dict[str, Vector]:
    """Return the numbers with every computed column from those before it.

    The one place where a release computes columns. Where a target has missing cells of its own its
    numbers say which: those with the highest are emptied.

    Parameters
    ----------
    computed : iterable of Computed
        Each after those that it needs.
    numbers : mapping of str to ndarray
        Of all sources, and scores of emptiness of targets with missing cells of their own.
    hold : function
        From the name and the numbers of a column to numbers on its lattice and within its bounds.
    """
    found = dict(numbers)
    for one in computed:
        values = hold(one.target, one.predict(found))
        if one.missing:
            values = _emptied(values, numbers[one.target], one.missing)
        found[one.target] = values
    return found


def recompute(
    computed: Iterable[Computed], numbers: Mapping[str, Vector], hold: Hold
) -> dict[str, Vector]:
    """Return the numbers with computed columns corrected where they are not what they should be.

    For columns that were computed before others were moved: cells that are right stay as they are,
    and so do those that a column with missing cells of its own has emptied.
    """
    found = dict(numbers)
    for one in computed:
        here, wanted = found[one.target], hold(one.target, one.predict(found))
        right = ~np.isnan(wanted - here) & ~differs(here, wanted)
        right |= np.isnan(here) & (np.isnan(wanted) | (one.missing > 0))
        found[one.target] = np.where(right, here, wanted)
    return found


def differs(found: Vector, wanted: Vector) -> npt.NDArray[np.bool_]:
    """Return where numbers are there and are not what they should be, errors of rounding aside.

    Examples
    --------
    >>> differs(np.array([1.0, 2.0, np.nan]), np.array([1.0 + 1e-12, 3.0, 3.0]))
    array([False,  True, False])
    """
    off: npt.NDArray[np.bool_] = np.abs(found - wanted) > LIMITS.relative_error * np.nanmax(
        np.abs(found), initial=0.0
    )
    return off


def own_missing(one: Computed, numbers: Mapping[str, Vector]) -> Vector:
    """Return 1 where the target is missing and no source is, 0 elsewhere."""
    empty = np.isnan(numbers[one.target]) & ~np.isnan(one.predict(numbers))
    return empty.astype(np.float64)


def in_order(
    found: Sequence[_Kept], name: Callable[[_Kept], str], needs: Callable[[_Kept], Iterable[str]]
) -> tuple[_Kept, ...]:
    """Return what is found so that what another needs comes before it.

    Examples
    --------
    >>> in_order(["c = a b", "a = x"], lambda text: text[0], lambda text: text[4:].split())
    ('a = x', 'c = a b')
    """
    by_name = {name(one): one for one in found}
    done: dict[str, _Kept] = {}

    def visit(one: _Kept) -> None:
        for other in needs(one):
            if other in by_name and other not in done:
                visit(by_name[other])
        done[name(one)] = one

    for one in found:
        if name(one) not in done:
            visit(one)
    return tuple(done.values())


def reaches(needs: Mapping[str, Iterable[str]], start: Iterable[str], goal: str) -> bool:
    """Return whether `goal` is needed, at once or by way of others, to compute one of `start`.

    Examples
    --------
    >>> reaches({"bmi": {"weight"}, "obese": {"bmi"}}, ["obese"], "weight")
    True
    """
    waiting = list(start)
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        fresh = set(needs.get(name, ())) - seen
        seen |= fresh
        waiting += fresh
    return False


def _emptied(target: Vector, scores: Vector, missing: int) -> Vector:
    """Return a computed target with so many cells missing: those with the highest scores."""
    there = np.flatnonzero(~np.isnan(target))
    more = max(0, missing - (target.size - there.size))
    order = np.argsort(-scores[there], kind="stable")
    found = target.copy()
    found[there[order[:more]]] = np.nan
    return found
