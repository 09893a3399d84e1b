"""One linear relation between given columns: its coefficients, and in how many rows it holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from icsa.constraints.limits import LIMITS
from icsa.correlations import MAD_TO_DEVIATION, varies
from icsa.matrices import Matrix, Vector

__all__ = ["Fit", "densest", "fit_target", "median", "relative_error_of", "snap", "tolerances"]

# Just under one half: a constant halfway between two values of a lattice explains neither.
_HALF = 0.5 * (1 - 1e-6)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A relation y = constant + terms @ coefficients.

    Attributes
    ----------
    coefficients : ndarray of shape (n_terms,)
    constant : float
    share : float
        Share of rows in which it holds after rounding to the lattice of y.
    simple : bool
        Whether all coefficients are simple numbers.
    rounded : bool
        Whether y is the sum only after rounding.
    """

    coefficients: Vector
    constant: float
    share: float
    simple: bool
    rounded: bool


def tolerances(y: Vector, terms: Matrix, coefficients: Vector, step: float | None) -> Vector:
    """Return how far y may be from a relation in each row: half a step, or a relative 1e-9.

    Columns that were computed in single precision get 2.5e-7.

    Examples
    --------
    >>> tolerances(np.array([4.0]), np.array([[2.0, 2.0]]), np.ones(2), 1.0).round(3)
    array([0.5])
    """
    size = np.abs(y) + np.abs(terms) @ np.abs(coefficients)
    relative = relative_error_of(y, step)
    if step is not None and relative < LIMITS.single_precision:
        half: Vector = np.minimum(_HALF * step + 4e-16 * size, 0.5 * step * (1 - 1e-9))
        return half
    middles = np.median(terms, axis=0) if terms.size else np.zeros(terms.shape[1])
    middle = median(y) if y.size else 0.0
    spread = np.abs(y - middle) + np.abs(terms - middles) @ np.abs(coefficients)
    # Rounding goes by the size of numbers: 1.2e-7 are two roundings in single precision.
    rounding = 2e-15 if relative < LIMITS.single_precision else 1.2e-7
    found: Vector = relative * spread + rounding * size
    return found


def relative_error_of(y: Vector, step: float | None) -> float:
    """Return how exactly numbers can be expected to have been computed: 1e-9, or 2.5e-7.

    Numbers were computed in single precision if that holds all of them, to the 15 digits that
    programs write of them or by their shortest decimals; a coarser lattice says nothing of it.

    Examples
    --------
    >>> third = np.array([1 / 3])
    >>> relative_error_of(third, None), relative_error_of(third.astype(np.float32) * 1.0, None)
    (1e-09, 2.5e-07)
    >>> relative_error_of(np.array([0.33333334]), 1e-8), relative_error_of(np.array([0.3]), 0.1)
    (2.5e-07, 1e-09)
    """
    present = y[np.isfinite(y)]
    sizes = np.abs(present)
    if not present.size or np.array_equal(np.rint(present), present):
        return LIMITS.relative_error
    if step is not None and step >= LIMITS.single_precision * float(np.median(sizes)):
        return LIMITS.relative_error
    with np.errstate(over="ignore"):
        single = present.astype(np.float32)
    shown = present[: LIMITS.checked_rows].tolist()
    exact = bool(np.all(np.abs(single - present) <= 1e-14 * sizes))
    if exact or [float(str(one)) for one in single[: len(shown)]] == shown:
        return LIMITS.single_precision
    return LIMITS.relative_error


def densest(values: Vector, width: float) -> tuple[float, float]:
    """Return the middle of the interval of this width that holds most values, and their share.

    Examples
    --------
    >>> densest(np.array([0.0, 5.0, 5.0, 5.5, 9.0]), 1.0)
    (5.25, 0.6)
    """
    if values.size == 0:
        return 0.0, 0.0
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, ordered + width, side="right")
    counts = ends - np.arange(ordered.size)
    best = int(counts.argmax())
    low, high = ordered[best], ordered[ends[best] - 1]
    return float(low + (high - low) / 2), float(counts[best] / ordered.size)


def fit_target(
    y: Vector,
    terms: Matrix,
    start: npt.NDArray[np.intp],
    step: float | None,
    *,
    least_gain_rows: float = 5.0,
) -> Fit | None:
    """Return the relation of y to the terms, or None where there is none worth the name.

    Least squares on the rows `start`, then on the rows that are not far off (their median absolute
    residual says how far), until the rows that a dirty relation misses have no say; what counts is
    the share of rows within half a step. Coefficients near simple numbers are set to them. Others
    must hold in every row.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    terms : ndarray of shape (n_rows, n_terms)
        Without missing values, as y.
    start : ndarray of int
        Rows that are believed to satisfy the relation.
    step : float, optional
        Lattice step of y.
    least_gain_rows : float
        Every column must explain this many rows that the others leave unexplained.

    Examples
    --------
    >>> a, b = np.arange(12.0), np.arange(12.0) ** 2 % 7
    >>> fit = fit_target(a + b, np.column_stack([a, b]), np.arange(12), 1.0)
    >>> fit.coefficients, fit.constant, fit.share
    (array([1., 1.]), 0.0, 1.0)
    """
    free = _least_squares(y, terms, start, step)
    if free is None:
        return None
    coefficients, slack = free
    snapped = snap(coefficients, slack)
    found = None
    if snapped is not None:
        found = _assess(y, terms, snapped, step, simple=True)
    if found is None or found.share < LIMITS.least_share:
        found = _messy(y, terms, coefficients, step)
    if found is None or not _believable(found, y, terms, step, least_gain_rows):
        return None
    return found


def _least_squares(
    y: Vector, terms: Matrix, rows: npt.NDArray[np.intp], step: float | None
) -> tuple[Vector, Vector] | None:
    """Return coefficients and how far off they may be; None when y does not follow the terms."""
    middles = np.median(terms, axis=0)
    centred = terms - middles
    scales = np.abs(centred).max(axis=0)
    if not np.all(varies(terms)):
        return None
    centred /= scales
    response = y - median(y)
    kept = rows
    coefficients: Vector = np.zeros(terms.shape[1])
    slack: Vector = coefficients
    for _ in range(LIMITS.fit_rounds):
        design = np.column_stack([np.ones(kept.size), centred[kept]])
        solution, _, rank, _ = np.linalg.lstsq(design, response[kept], rcond=1e-12)
        if rank < design.shape[1]:
            if kept.size == y.size:
                return None
            kept = np.arange(y.size)
            continue
        coefficients = np.asarray(solution[1:], dtype=np.float64)
        residuals = response - centred @ coefficients
        residuals -= median(residuals)
        typical = MAD_TO_DEVIATION * median(np.abs(residuals))
        tolerance = tolerances(response, centred, coefficients, step)
        fitted = kept
        kept = np.flatnonzero(np.abs(residuals) <= np.maximum(tolerance, 3 * typical))
        deviation = float(np.sqrt(np.mean(residuals[kept] ** 2)))
        inverse = np.linalg.pinv(design.T @ design)
        slack = 4 * deviation * np.sqrt(np.diag(inverse)[1:]) + 1e-7 * np.abs(coefficients)
        if np.array_equal(kept, fitted):
            break
    return coefficients / scales, slack / scales


def _assess(
    y: Vector, terms: Matrix, coefficients: Vector, step: float | None, *, simple: bool
) -> Fit:
    """Return the relation with these coefficients and the constant that suits most rows."""
    rest = y - terms @ coefficients
    tolerance = tolerances(y, terms, coefficients, step)
    middle, _ = densest(rest, 2 * median(tolerance))
    lattice = step if step is not None else 1.0
    near = round(middle / lattice) * lattice if abs(middle) < 1e15 * lattice else middle
    options = [(_share(rest, constant, tolerance), constant) for constant in (0.0, near, middle)]
    share, constant = max(options, key=lambda option: option[0])
    within = np.abs(rest - constant) <= tolerance
    rounded = step is not None and bool(np.any(np.abs(rest - constant)[within] > 1e-5 * step))
    return Fit(coefficients, float(constant), share, simple, rounded)


def _share(rest: Vector, constant: float, tolerance: Vector) -> float:
    return float(np.mean(np.abs(rest - constant) <= tolerance))


def _messy(y: Vector, terms: Matrix, coefficients: Vector, step: float | None) -> Fit | None:
    """Return a relation that holds in every row without exception, or None."""
    found = _assess(y, terms, coefficients, step, simple=False)
    if found.share == 1.0 or step is None:
        return found if found.share == 1.0 else None
    if found.share < LIMITS.least_messy_share:
        return None
    found = _assess(y, terms, _smallest_maximum(y, terms), step, simple=False)
    return found if found.share == 1.0 else None


def _smallest_maximum(y: Vector, terms: Matrix) -> Vector:
    """Return the coefficients whose largest residual is smallest: rounding never exceeds half."""
    from scipy.optimize import linprog

    middles, middle = np.median(terms, axis=0), median(y)
    centred, response = terms - middles, y - middle
    scales = np.abs(centred).max(axis=0)
    size = float(np.abs(response).max()) or 1.0
    design = np.column_stack([centred / scales, np.ones(y.size)])
    bound = -np.ones((y.size, 1))
    solution = linprog(
        np.append(np.zeros(design.shape[1]), 1.0),
        A_ub=np.vstack([np.hstack([design, bound]), np.hstack([-design, bound])]),
        b_ub=np.concatenate([response, -response]) / size,
        bounds=[(None, None)] * design.shape[1] + [(0, None)],
    )
    if solution.x is None:
        return np.zeros(terms.shape[1])
    found: Vector = solution.x[: terms.shape[1]] * size / scales
    return found


def _believable(
    found: Fit, y: Vector, terms: Matrix, step: float | None, least_gain_rows: float
) -> bool:
    """Return whether every column is needed, and rounding alone does not explain the fit."""
    if found.share < LIMITS.least_share:
        return False
    if found.rounded and step is not None:
        low, high = np.quantile(y, [0.02, 0.98])
        least = LIMITS.steps_simple if found.simple else LIMITS.steps_messy
        if (high - low) / step < least:
            return False
    width = 2 * median(tolerances(y, terms, found.coefficients, step))
    rest = y - terms @ found.coefficients
    for part in (y, *(terms * -found.coefficients).T):
        _, without = densest(rest - part, width)
        gain = found.share - without
        if gain < LIMITS.least_gain * (1 - without) or math.ceil(gain * y.size) < least_gain_rows:
            return False
    return True


# Days of a year and a month, hours, minutes, seconds, dozens, centimetres of an inch, kilograms of
# a pound, Fahrenheit's degrees: what derived columns are multiplied or divided by.
_DAYS = (15, 24, 30, 30.4375, 48, 52, 60, 90, 360, 365, 365.25, 1440, 3600, 86400)
_UNITS = (*_DAYS, 2.54, 0.45359237)
_LARGEST_PART = 12


@cache
def simple_numbers() -> Vector:
    """Return the positive numbers that count as simple, sorted.

    Fractions of whole numbers up to 12, 1, 2 and 5 times powers of ten, and factors between units.

    Examples
    --------
    >>> [bool(np.isin(number, simple_numbers())) for number in (1, 0.5, 7, 12, 100, 365.25, 0.3137)]
    [True, True, True, True, True, True, False]
    """
    parts = np.arange(1, _LARGEST_PART + 1)
    fractions = (parts[:, None] / parts).ravel()
    tens = np.array([mantissa * 10.0**power for mantissa in (1, 2, 5) for power in range(7)])
    units = np.array(_UNITS)
    decimals = np.array([1 / ten for ten in tens])
    return np.unique(np.concatenate([fractions, tens, decimals, units, 1 / units]))


def snap(values: Vector, slack: Vector) -> Vector | None:
    """Return the simple numbers nearest to `values`, None where one is off by more than its slack.

    Examples
    --------
    >>> snap(np.array([1.0000001, -0.4999999]), np.array([1e-6, 1e-6]))
    array([ 1. , -0.5])
    >>> snap(np.array([0.3137]), np.array([1e-6])) is None
    True
    """
    known = simple_numbers()
    sizes = np.abs(values)
    above = np.clip(np.searchsorted(known, sizes), 1, known.size - 1)
    nearest = np.where(
        sizes - known[above - 1] < known[above] - sizes, known[above - 1], known[above]
    )
    if np.any(np.abs(nearest - sizes) > slack):
        return None
    snapped: Vector = np.sign(values) * nearest
    return snapped


def median(values: Vector) -> float:
    """Return the median of numbers, none of which is missing; there must be one.

    Examples
    --------
    >>> median(np.array([3.0, 1.0, 10.0, 2.0]))
    2.5
    """
    low, high = (values.size - 1) // 2, values.size // 2
    parted = np.partition(values, (low, high))
    return float(0.5 * (parted[low] + parted[high]))
