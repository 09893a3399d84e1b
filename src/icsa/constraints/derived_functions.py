"""What expressions compute with: operators and functions of vectors, NaN where missing.

Dates are days since 1970-01-01.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np

from icsa.matrices import Vector

__all__ = [
    "COMPARISONS",
    "FUNCTIONS",
    "PARTS",
    "Function",
    "Sort",
    "day_of",
    "function_of",
    "hour_of",
    "month_of",
    "months_between",
    "weekday_of",
    "year_of",
    "years_between",
]

Function: TypeAlias = Callable[..., Vector]
Sort: TypeAlias = Literal["number", "moment", "text", "truth"]

# 1970-01-01 was a Thursday, the fourth day of its week.
_FIRST_WEEKDAY = 4
# Farther days have no year of four digits.
_FAR = 4e6


def _parts(days: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the months since January 1970, the years, and the days of the month from 1."""
    known = np.isfinite(days) & (np.abs(days) < _FAR)
    whole = np.floor(np.where(known, days, 0.0)).astype("datetime64[D]")
    months = whole.astype("datetime64[M]")
    gone = np.where(known, 0.0, np.nan)
    return (
        months.astype(np.int64).astype(np.float64) + gone,
        whole.astype("datetime64[Y]").astype(np.int64).astype(np.float64) + 1970.0 + gone,
        (whole - months).astype(np.int64).astype(np.float64) + 1.0 + gone,
    )


def months_between(first: Vector, second: Vector) -> Vector:
    """Return the completed months from the first date to the second; negative before it.

    A month from the 31st is complete on the first of the month after next, if the next has no 31st.

    Examples
    --------
    >>> months_between(np.array([0.0, 0.0]), np.array([30.0, 31.0]))
    array([0., 1.])
    """
    month, _, day = _parts(np.asarray(first, dtype=np.float64))
    later_month, _, later_day = _parts(np.asarray(second, dtype=np.float64))
    found: Vector = later_month - month - (later_day < day)
    return found


def years_between(first: Vector, second: Vector) -> Vector:
    """Return the completed years, such as an age from a birthday; negative before it.

    Examples
    --------
    >>> years_between(np.array([0.0, 0.0]), np.array([364.0, 365.0]))
    array([0., 1.])
    """
    return np.floor(months_between(first, second) / 12.0)


def year_of(days: Vector) -> Vector:
    """Return the year.

    Examples
    --------
    >>> year_of(np.array([-1.0, 0.0, np.nan]))
    array([1969., 1970.,   nan])
    """
    return _parts(np.asarray(days, dtype=np.float64))[1]


def month_of(days: Vector) -> Vector:
    """Return the month, 1 to 12.

    Examples
    --------
    >>> month_of(np.array([-1.0, 31.0]))
    array([12.,  2.])
    """
    months, _, _ = _parts(np.asarray(days, dtype=np.float64))
    return np.mod(months, 12.0) + 1.0


def day_of(days: Vector) -> Vector:
    """Return the day of the month.

    Examples
    --------
    >>> day_of(np.array([-1.0, 31.0]))
    array([31.,  1.])
    """
    return _parts(np.asarray(days, dtype=np.float64))[2]


def weekday_of(days: Vector) -> Vector:
    """Return the day of the week, from 1 for Monday to 7 for Sunday.

    Examples
    --------
    >>> weekday_of(np.array([0.0, 3.0]))
    array([4., 7.])
    """
    found: Vector = np.mod(np.floor(days) + _FIRST_WEEKDAY - 1, 7.0) + 1.0
    return found


def hour_of(days: Vector) -> Vector:
    """Return the hour of the day, 0 to 23.

    Examples
    --------
    >>> hour_of(np.array([-0.25, 20_000 + 7 / 24]))
    array([18.,  7.])
    """
    # A day's fraction is exact to a microsecond: 7 / 24 of a day must not be in the hour before.
    seconds = np.round(np.mod(days, 1.0) * 86_400.0, 3)
    found: Vector = np.mod(np.floor(seconds / 3600.0), 24.0)
    return found


def _rounded(x: Vector, digits: Vector | float = 0.0) -> Vector:
    scale = 10.0 ** np.asarray(digits)
    # Halves go up, as people round; a billionth keeps 1.005 * 100 from being below a half.
    found: Vector = np.floor(x * scale + 0.5 + 1e-9) / scale
    return found


def _cut(x: Vector, *bounds: Vector) -> Vector:
    classes = np.zeros(x.shape)
    for bound in bounds:
        classes += x >= bound
    return np.where(np.isnan(x), np.nan, classes)


# Name: what computes it, sorts of its arguments ("numbers": one or more), sort of its result.
FUNCTIONS: Mapping[str, tuple[Function, tuple[str, ...], Sort]] = {
    "years": (years_between, ("moment", "moment"), "number"),
    "months": (months_between, ("moment", "moment"), "number"),
    "days": (lambda a, b: np.floor(b) - np.floor(a), ("moment", "moment"), "number"),
    "year": (year_of, ("moment",), "number"),
    "month": (month_of, ("moment",), "number"),
    "day": (day_of, ("moment",), "number"),
    "weekday": (weekday_of, ("moment",), "number"),
    "hour": (hour_of, ("moment",), "number"),
    "date": (np.floor, ("moment",), "moment"),
    "floor": (np.floor, ("number",), "number"),
    "ceil": (np.ceil, ("number",), "number"),
    "round": (_rounded, ("number", "number?"), "number"),
    "abs": (np.abs, ("number",), "number"),
    "sqrt": (np.sqrt, ("number",), "number"),
    "log": (np.log, ("number",), "number"),
    "log10": (np.log10, ("number",), "number"),
    "exp": (np.exp, ("number",), "number"),
    "min": (lambda *x: np.minimum.reduce(np.broadcast_arrays(*x)), ("same", "same..."), "number"),
    "max": (lambda *x: np.maximum.reduce(np.broadcast_arrays(*x)), ("same", "same..."), "number"),
    "cut": (_cut, ("same", "same..."), "number"),
}

# Parts of a date that columns repeat.
PARTS: Mapping[str, Callable[[Vector], Vector]] = {
    "year": year_of,
    "month": month_of,
    "weekday": weekday_of,
    "hour": hour_of,
}


def _compared(compare: Function) -> Function:
    def truth(x: Vector, y: Vector) -> Vector:
        return np.where(np.isnan(x) | np.isnan(y), np.nan, compare(x, y))

    return truth


COMPARISONS: Mapping[str, Function] = {
    "<=": _compared(np.less_equal),
    "<": _compared(np.less),
    ">=": _compared(np.greater_equal),
    ">": _compared(np.greater),
    "=": _compared(np.equal),
    "!=": _compared(np.not_equal),
}
_OPERATORS: Mapping[str, Function] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "and": np.minimum,
    "or": np.maximum,
    "not": lambda x: 1.0 - x,
    "negative": np.negative,
}


def function_of(name: str) -> Function:
    """Return what computes a function, a comparison or an operator.

    Examples
    --------
    >>> function_of("<")(np.array([1.0, np.nan]), np.array([2.0, 2.0]))
    array([ 1., nan])
    """
    if name in FUNCTIONS:
        return FUNCTIONS[name][0]
    return COMPARISONS[name] if name in COMPARISONS else _OPERATORS[name]
