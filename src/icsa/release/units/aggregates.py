"""Columns of units that follow from their rows: a school's mean, a first value, how many rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from icsa.columns import KINDS, Column
from icsa.constraints.coded_columns import step_of
from icsa.inspection.unit_rows import Places
from icsa.matrices import Vector

__all__ = ["Aggregate", "find_aggregates"]

# Units in which it must hold: one in a thousand may be wrong.
_NEARLY_ALL: Final = 0.999


def _mean(values: Vector, starts: Places) -> Vector:
    there = ~np.isnan(values)
    sums = np.add.reduceat(np.where(there, values, 0.0), starts[:-1])
    counts = np.add.reduceat(there.astype(np.float64), starts[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)


def _sum(values: Vector, starts: Places) -> Vector:
    return _mean(values, starts) * np.add.reduceat(
        (~np.isnan(values)).astype(np.float64), starts[:-1]
    )


_FUNCTIONS: Final[dict[str, Callable[[Vector, Places], Vector]]] = {
    "mean": _mean,
    "first": lambda values, starts: values[starts[:-1]],
    "last": lambda values, starts: values[starts[1:] - 1],
    "sum": _sum,
    "largest": lambda values, starts: np.fmax.reduceat(values, starts[:-1]),
    "smallest": lambda values, starts: np.fmin.reduceat(values, starts[:-1]),
}


@dataclass(frozen=True)
class Aggregate:
    """A column of units that is computed from their rows.

    Attributes
    ----------
    target : str
    function : str
        Of the rows' `source`; "count" has none.
    source : str
    shift : float
        Added to it: a mean of all pupils, of whom these are some, may differ by a constant.
    """

    target: str
    function: str
    source: str = ""
    shift: float = 0.0

    def compute(self, rows: Mapping[str, Vector], starts: Places) -> Vector:
        """Return the target's numbers, one a unit, not rounded."""
        if self.function == "count":
            return np.diff(starts).astype(np.float64)
        return _FUNCTIONS[self.function](rows[self.source], starts) + self.shift

    def describe(self) -> str:
        """Return it in words.

        Examples
        --------
        >>> Aggregate("mean_ses", "mean", "ses").describe()
        'mean_ses is the mean of ses in each unit'
        """
        if self.function == "count":
            return f"{self.target} is the number of rows of each unit"
        more = " and a constant" if self.shift else ""
        return f"{self.target} is the {self.function} of {self.source} in each unit{more}"


def find_aggregates(
    columns: Mapping[str, Column],
    units: Mapping[str, Vector],
    rows: Mapping[str, Vector],
    starts: Places,
) -> tuple[Aggregate, ...]:
    """Return the columns of units that follow from rows in nearly every unit.

    Parameters
    ----------
    columns : mapping of str to Column
        Of both levels.
    units, rows : mapping of str to ndarray
        Numbers of columns of units and of rows.
    starts : array of int of shape (n_units + 1,)
    """
    found = []
    sources = [name for name in rows if KINDS[columns[name].kind].quantity]
    for target, values in units.items():
        column = columns[target]
        if not KINDS[column.kind].quantity:
            continue
        tried = [Aggregate(target, "count")]
        tried += [
            Aggregate(target, function, source)
            for source in sources
            if KINDS[columns[source].kind].quantity == KINDS[column.kind].quantity
            for function in _FUNCTIONS
        ]
        # What is rounded need not be the nearest: half a step, and a last digit.
        error = 0.51 * (step_of(column) or 0.0) + 1e-6 * float(np.nanstd(values))
        for one in tried:
            wanted = one.compute(rows, starts)
            if one.function == "mean":
                one, wanted = _shifted(one, wanted, values, error)
            same = np.isnan(wanted) & np.isnan(values) | (np.abs(wanted - values) <= error)
            if same.mean() >= _NEARLY_ALL and np.unique(values[~np.isnan(values)]).size > 2:
                found.append(one)
                break
    return tuple(found)


def _shifted(
    one: Aggregate, wanted: Vector, values: Vector, error: float
) -> tuple[Aggregate, Vector]:
    """Return a mean with the constant that it usually differs by, if by more than an error."""
    apart = values - wanted
    usual = float(np.median(apart[~np.isnan(apart)])) if not np.isnan(apart).all() else 0.0
    if abs(usual) <= error:
        return one, wanted
    return replace(one, shift=usual), wanted + usual
