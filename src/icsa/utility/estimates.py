"""Named estimates of one analysis on both tables, and whether a reader would conclude otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

from icsa.errors import InputError
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.utility.chance import LIMIT

__all__ = [
    "AnalysisComparison",
    "EstimateComparison",
    "Estimated",
    "compare_estimates",
    "interval_overlap",
    "overlap_of_a_sample",
]


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate with its standard error and confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse numbers that are not finite."""
        if not all(map(math.isfinite, (self.value, self.standard_error, self.low, self.high))):
            raise InputError("An estimate, its standard error and its interval must be finite.")
        if self.standard_error < 0.0 or self.low > self.high:
            raise InputError("A standard error is not negative, and an interval's low end is low.")

    @classmethod
    def of(cls, value: float, standard_error: float) -> Estimated:
        """Return an estimate with its normal 95% interval.

        Examples
        --------
        >>> round(Estimated.of(2.0, 1.0).high, 6)
        3.959964
        """
        half = LIMIT * standard_error
        return cls(value, standard_error, value - half, value + half)

    @property
    def significant(self) -> bool:
        """Whether 0 lies outside the interval."""
        return not self.low <= 0.0 <= self.high


Outcome: TypeAlias = Estimated | NotEstimable


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateComparison:
    """One estimate of both tables.

    Attributes
    ----------
    name : str
    original, released : Estimated or NotEstimable
    overlap : Measure
        Of the two intervals, see `interval_overlap`.
    error : Measure
        (released - original) / the original's standard error.
    sign_flip : bool
        Whether the two have different signs.
    significance_flip : bool
        Whether 0 lies outside one interval only, or outside both on different sides.
    """

    name: str
    original: Outcome
    released: Outcome
    overlap: Measure
    error: Measure
    sign_flip: bool
    significance_flip: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisComparison:
    """One analysis on both tables.

    Attributes
    ----------
    name : str
        The formula, or what the caller calls it.
    method : str
        "least squares", "logistic", "Poisson", "Cox", or "own analysis".
    n_original, n_released : int
        Rows that the analysis used, or of the tables where only the caller knows.
    estimates : tuple of EstimateComparison
    overlap : Measure
        Mean overlap of intervals; the intercept is left out of means, as it hangs on the origin.
    overlap_of_a_sample : float
        What a second sample of the same population would have on average.
    error : Measure
        Mean of |released - original| in the original's standard errors.
    error_of_a_sample : float
        What a second sample of the same population would have on average.
    sign_flips, significance_flips : int
        Number of estimates, without the intercept.
    """

    name: str
    method: str
    n_original: int
    n_released: int
    estimates: tuple[EstimateComparison, ...]
    overlap: Measure
    overlap_of_a_sample: float
    error: Measure
    error_of_a_sample: float
    sign_flips: int
    significance_flips: int


def compare_estimates(
    name: str,
    original: Mapping[str, Outcome],
    released: Mapping[str, Outcome],
    *,
    n_original: int,
    n_released: int,
    method: str = "own analysis",
) -> AnalysisComparison:
    """Return two sets of named estimates side by side.

    Parameters
    ----------
    name : str
        Of the analysis.
    original, released : mapping of str to Estimated or NotEstimable
    n_original, n_released : int
        Numbers of rows, at least 1.
    method : str

    Examples
    --------
    >>> found = compare_estimates(
    ...     "two slopes",
    ...     {"age": Estimated.of(2.0, 0.5), "dose": Estimated.of(0.3, 0.4)},
    ...     {"age": Estimated.of(1.0, 0.6), "dose": Estimated.of(-0.1, 0.4)},
    ...     n_original=100, n_released=100,
    ... )
    >>> found.sign_flips, found.significance_flips
    (1, 1)
    >>> print(found.error, round(found.error_of_a_sample, 2))
    1.50 1.13
    """
    if min(n_original, n_released) < 1:
        raise InputError("An analysis needs rows in both tables.")
    names = [*original, *(other for other in released if other not in original)]
    absent = NotEstimable("the analysis of this table has no such estimate")
    estimates = tuple(
        _side_by_side(each, original.get(each, absent), released.get(each, absent))
        for each in names
    )
    counted = [each for each in estimates if each.name != "Intercept"] or list(estimates)
    ratio = n_original / n_released
    return AnalysisComparison(
        name=name,
        method=method,
        n_original=n_original,
        n_released=n_released,
        estimates=estimates,
        overlap=_mean("overlap of intervals", [each.overlap for each in counted]),
        overlap_of_a_sample=overlap_of_a_sample(ratio),
        error=_mean("error in standard errors", [each.error for each in counted]),
        error_of_a_sample=math.sqrt(2.0 / math.pi * (1.0 + ratio)),
        sign_flips=sum(each.sign_flip for each in counted),
        significance_flips=sum(each.significance_flip for each in counted),
    )


def interval_overlap(first: Estimated, second: Estimated) -> Estimate:
    """Return the mean share of two intervals that their common part makes up (Karr et al. 2006).

    ((u - l) / (u1 - l1) + (u - l) / (u2 - l2)) / 2 with l the larger low end and u the smaller high
    end: 1 for the same interval, and negative, the more the farther, for intervals apart.

    References
    ----------
    A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter, A. P. Sanil (2006). A framework for
    evaluating the utility of data altered to protect confidentiality. The American Statistician 60,
    224-232.

    Examples
    --------
    The intervals 0 to 4 and 2 to 10 share 2 to 4, one half and one quarter of them:

    >>> interval_overlap(Estimated(2.0, 1.0, 0.0, 4.0), Estimated(6.0, 2.0, 2.0, 10.0))
    0.375
    """
    widths = first.high - first.low, second.high - second.low
    if min(widths) <= 0.0:
        return NotEstimable("an interval has no width")
    common = min(first.high, second.high) - max(first.low, second.low)
    return 0.5 * (common / widths[0] + common / widths[1])


@cache
def overlap_of_a_sample(ratio: float) -> float:
    """Return the mean overlap of 95% intervals of two samples; `ratio` is that of their sizes.

    Examples
    --------
    For samples of one size: 1 - E|d| / (2 * 1.96), d the difference, of variance 2:

    >>> round(overlap_of_a_sample(1.0), 3)
    0.712
    """
    first, second = Estimated.of(0.0, 1.0), NormalDist(0.0, math.sqrt(1.0 + ratio))
    places = [(i + 0.5) / 2000 for i in range(2000)]
    overlaps = [
        interval_overlap(first, Estimated.of(second.inv_cdf(place), math.sqrt(ratio)))
        for place in places
    ]
    return math.fsum(value for value in overlaps if isinstance(value, float)) / len(places)


def _side_by_side(name: str, original: Outcome, released: Outcome) -> EstimateComparison:
    overlap: Estimate
    error: Estimate
    sign_flip = significance_flip = False
    if isinstance(original, NotEstimable):
        overlap = error = NotEstimable(f"original: {original.reason}")
    elif isinstance(released, NotEstimable):
        overlap = error = NotEstimable(f"release: {released.reason}")
    else:
        overlap = interval_overlap(original, released)
        error = NotEstimable("the original's standard error is 0")
        if original.standard_error > 0.0:
            error = (released.value - original.value) / original.standard_error
        sign_flip = original.value * released.value < 0.0
        significance_flip = original.significant != released.significant or (
            sign_flip and original.significant
        )
    return EstimateComparison(
        name=name,
        original=original,
        released=released,
        overlap=Measure.of(overlap, name="overlap of intervals", direction="higher is better"),
        error=Measure.of(error, name="error in standard errors"),
        sign_flip=sign_flip,
        significance_flip=significance_flip,
    )


def _mean(name: str, measures: Sequence[Measure]) -> Measure:
    """Return the mean size of the measures that have a value."""
    values = [measure.value for measure in measures if measure.value is not None]
    estimate: Estimate = NotEstimable("no estimate can be compared")
    if values:
        signed = name.startswith("overlap")
        estimate = math.fsum(value if signed else abs(value) for value in values) / len(values)
    elif len(reasons := {measure.reason for measure in measures}) == 1:
        estimate = NotEstimable(reasons.pop())
    return Measure.of(
        estimate,
        name=name,
        direction="higher is better" if name.startswith("overlap") else "lower is better",
        n=len(values),
        n_undefined=len(measures) - len(values),
    )
