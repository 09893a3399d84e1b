"""Measured values: a number with its interval, its direction and how many it rests on, or a reason.

What cannot be estimated is never a NaN and never left out in silence. A function that computes one
quantity returns it or a `NotEstimable`, which type checkers make the caller look at; a `Measure`
holds either, for tables and reports. In a vector of replicates NaN marks an undefined one: it is
left out of means and counted in `Measure.n_undefined`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Vector

__all__ = ["Direction", "Estimate", "Measure", "NotEstimable", "Reach", "reach_beyond"]

# Steps in which it is told how far numbers lie beyond a range.
_TOLD_SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)

Direction: TypeAlias = Literal[
    "higher is better", "higher is safer", "lower is better", "lower is safer", "neither"
]


@dataclass(frozen=True, slots=True)
class NotEstimable:
    """What is returned in place of a quantity that the data do not define, with the reason.

    Examples
    --------
    >>> print(NotEstimable("the reference selects nothing"))
    not estimable: the reference selects nothing
    """

    reason: str

    def __post_init__(self) -> None:
        """Refuse an empty reason."""
        if not self.reason:
            raise InputError("What is not estimable needs a reason: got an empty one.")

    def __str__(self) -> str:
        """Return the reason as it stands in a table."""
        return f"not estimable: {self.reason}"


Estimate: TypeAlias = float | NotEstimable


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A named value with its interval and direction, or the reason why there is none.

    Parameters
    ----------
    name : str
        What was measured.
    value : float or None
        The estimate; None where it is not estimable, and then there is a `reason`.
    low, high : float or None
        The interval's ends; None where there is no interval.
    direction : str
        "higher is better", "higher is safer", "lower is better", "lower is safer" or "neither".
    n : int
        How many people, rows or releases the value rests on.
    n_undefined : int
        How many more were looked at but had no defined value, and are left out of `value`.
    reason : str
        Why there is no value; empty where there is one.

    Examples
    --------
    >>> print(Measure(name="ORE", value=0.3124, low=0.3006, high=0.3241))
    0.312 (0.301 to 0.324)
    >>> print(Measure(name="ORE", value=None, reason="no outliers were named"))
    not estimable: no outliers were named
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    direction: Direction = "neither"
    n: int = 0
    n_undefined: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse contradictions, so that no reader has to look for them."""
        if (self.value is None) != bool(self.reason):
            raise InputError(f"{self.name}: a measure has either a value or a reason.")
        if self.value is not None and not math.isfinite(self.value):
            raise InputError(f"{self.name}: the value is not finite. Give value=None and a reason.")
        if (self.low is None) != (self.high is None) or (
            self.value is None and self.low is not None
        ):
            raise InputError(f"{self.name}: an interval needs a value and both of its ends.")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise InputError(f"{self.name}: the interval's low end is above its high end.")

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        *,
        name: str,
        direction: Direction = "neither",
        n: int = 0,
        n_undefined: int = 0,
        interval: tuple[float, float] | None = None,
    ) -> Measure:
        """Return the measure of an estimate, or of what is not estimable (without an interval).

        Examples
        --------
        >>> print(Measure.of(0.25, name="recall", direction="higher is better"))
        0.250
        >>> print(Measure.of(NotEstimable("the reference selects nothing"), name="recall"))
        not estimable: the reference selects nothing
        """
        missing = isinstance(estimate, NotEstimable)
        low, high = (None, None) if missing or interval is None else interval
        return cls(
            name=name,
            value=None if isinstance(estimate, NotEstimable) else float(estimate),
            low=low,
            high=high,
            direction=direction,
            n=n,
            n_undefined=n_undefined,
            reason=estimate.reason if isinstance(estimate, NotEstimable) else "",
        )

    @classmethod
    def mean_of(
        cls,
        values: object,
        *,
        name: str,
        direction: Direction = "neither",
        level: float = 0.95,
        reason: str = "no value is defined",
    ) -> Measure:
        """Return the mean of the defined values with its normal interval.

        The interval is mean -+ q s / sqrt(n), s the standard deviation (divisor n - 1) and q the
        normal quantile of (1 + level) / 2; one value has no interval. NaN marks an undefined value.

        Parameters
        ----------
        values : array-like of shape (n,)
        name, direction
            As in `Measure`.
        level : float
            The interval's coverage, between 0 and 1.
        reason : str
            Why there is no value, where none is defined.

        Examples
        --------
        The mean of 1, 2, 3 is 2, s = 1, and 1.96 / sqrt(3) = 1.13:

        >>> measure = Measure.mean_of([1.0, 2.0, 3.0, np.nan], name="loss")
        >>> print(measure)
        2.00 (0.87 to 3.13)
        >>> measure.n, measure.n_undefined
        (3, 1)
        """
        every = np.asarray(values, dtype=np.float64)
        if every.ndim != 1:
            raise InputError(
                f"{name}: a vector of values is needed, got {every.ndim} dimension(s)."
            )
        if np.isinf(every).any():
            raise InputError(f"{name}: a value is infinite. Mark undefined ones by NaN.")
        defined = every[~np.isnan(every)]
        return cls.of(
            float(defined.mean()) if defined.size else NotEstimable(reason),
            name=name,
            direction=direction,
            n=defined.size,
            n_undefined=every.size - defined.size,
            interval=_normal_interval(defined, level),
        )

    def __str__(self) -> str:
        """Return the value and its interval, with three digits of the largest of them."""
        if self.value is None:
            return f"not estimable: {self.reason}"
        if self.low is None or self.high is None:
            return _rounded(self.value, _decimals([self.value]))
        decimals = _decimals([self.value, self.low, self.high])
        low, high = _rounded(self.low, decimals), _rounded(self.high, decimals)
        return f"{_rounded(self.value, decimals)} ({low} to {high})"


def _normal_interval(values: Vector, level: float) -> tuple[float, float] | None:
    if not 0.0 < level < 1.0:
        raise InputError(f"level must be between 0 and 1: got {level}.")
    if values.size < 2:
        return None
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    half = NormalDist().inv_cdf(0.5 + 0.5 * level) * error
    return mean - half, mean + half


def _decimals(values: list[float]) -> int:
    """Return how many decimals show three digits of the largest value; -1 asks for an exponent."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0.0:
        return 2
    magnitude = math.floor(math.log10(largest))
    return -1 if not -6 <= magnitude <= 12 else max(0, 2 - magnitude)


def _rounded(value: float, decimals: int) -> str:
    text = f"{value:.2e}" if decimals < 0 else f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


class Reach(NamedTuple):
    """How many released numbers lie beyond the original's smallest and largest, and how far.

    Attributes
    ----------
    below, above : int
        Released cells.
    share : float
        The farthest, in lengths of the original's range.

    Examples
    --------
    >>> Reach(below=0, above=2, share=0.034).describe()
    '2 cells, by at most 5% of its length'
    """

    below: int
    above: int
    share: float

    @property
    def chance(self) -> float:
        """The chance that as many of as many others lie beyond one end: halved by each of them."""
        return 0.5 ** max(self.below, self.above)

    def describe(self) -> str:
        """Return what to say to who has the original; nothing where none lies beyond.

        Shares are coarse: with a released extreme, a fine one would give the original's away.
        """
        cells = self.below + self.above
        if not cells:
            return ""
        step = next((step for step in _TOLD_SHARES if self.share <= step), None)
        far = "more than its length" if step is None else f"at most {step:.0%} of its length"
        return f"{cells} cell{'s' * (cells > 1)}, by {far}"


def reach_beyond(smallest: float, largest: float, released: Vector) -> Reach:
    """Return how far released numbers reach beyond the original's; NaN is missing.

    Examples
    --------
    >>> reach_beyond(0.0, 100.0, np.array([-20.0, 5.0, np.nan]))
    Reach(below=1, above=0, share=0.2)
    """
    with np.errstate(invalid="ignore"):
        below, above = int((released < smallest).sum()), int((released > largest).sum())
    if not below + above or not largest > smallest:
        return Reach(below, above, 0.0)
    lowest, highest = float(np.nanmin(released)), float(np.nanmax(released))
    return Reach(below, above, max(smallest - lowest, highest - largest) / (largest - smallest))
