"""Privacy for utility: the relative privacy efficiency, its ratio of two methods, and intervals.

The efficiency is defined as RPE = sqrt(ORE) / u, u a utility loss: a distance, a false positive
rate, or 1 minus a metric that is better when higher [1]_. The published table of ratios is
reproduced only without the root. Both forms are here: "defined" has the root and "printed" has not.

References
----------
.. [1] Perkonoja and Virta (2026), Data anonymization in the presence of outliers via invariant
   coordinate selection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.compilation import summing_kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import Direction, Estimate, Measure, NotEstimable

__all__ = [
    "EfficiencyRatio",
    "Form",
    "Replicates",
    "efficiency_ratio",
    "efficiency_ratios",
    "paired_difference",
    "relative_privacy_efficiency",
]

Form: TypeAlias = Literal["defined", "printed"]

_POWERS: dict[Form, float] = {"defined": 0.5, "printed": 1.0}
# Resamples at a time: their draws stay in the second cache. Another number changes the draws.
_RESAMPLES_AT_ONCE = 50


def relative_privacy_efficiency(ore: float, utility_loss: float, *, root: bool = True) -> Estimate:
    """Return sqrt(ORE) / u, privacy per unit of lost utility; higher is better.

    Parameters
    ----------
    ore : float
        The outlier replication error, at least 0.
    utility_loss : float
        The loss u, at least 0.
    root : bool
        False gives ORE / u, the form of the published table.

    Returns
    -------
    float or NotEstimable
        Not estimable when the loss is zero.

    Examples
    --------
    >>> relative_privacy_efficiency(0.25, 2.0)
    0.25
    >>> relative_privacy_efficiency(0.25, 2.0, root=False)
    0.125
    """
    if not (0.0 <= ore < math.inf and 0.0 <= utility_loss < math.inf):
        raise InputError("An ORE and a utility loss are finite numbers of at least 0.")
    if utility_loss == 0.0:
        return NotEstimable("the utility loss is zero")
    return (math.sqrt(ore) if root else ore) / utility_loss


@dataclass(frozen=True, slots=True)
class Replicates:
    """The ORE and the utility loss of every release of one method, by target.

    Parameters
    ----------
    ore : ndarray of shape (n_targets, n_releases)
    loss : ndarray of shape (n_targets, n_releases)
        NaN marks a release whose loss is undefined: it is left out of the mean loss and counted.
        Of a vector each is made into one target.

    Examples
    --------
    >>> Replicates([0.1, 0.2], [1.0, np.nan]).loss.shape
    (1, 2)
    """

    ore: Matrix
    loss: Matrix

    def __post_init__(self) -> None:
        """Store matrices, and refuse what cannot be an ORE or a loss."""
        for field in ("ore", "loss"):
            values = np.atleast_2d(np.asarray(getattr(self, field), dtype=np.float64))
            object.__setattr__(self, field, values)
        if self.ore.ndim != 2 or self.ore.shape != self.loss.shape or self.ore.size == 0:
            raise InputError(
                "ORE and loss need the same targets and releases: "
                f"got shapes {self.ore.shape} and {self.loss.shape}."
            )
        if not (np.isfinite(self.ore).all() and (self.ore >= 0.0).all()):
            raise InputError("Every ORE must be a finite number of at least 0.")
        if np.isinf(self.loss).any() or (self.loss < 0.0).any():
            raise InputError("Every loss must be at least 0 and finite, or NaN where undefined.")


def efficiency_ratio(a: Replicates, b: Replicates, *, root: bool = True) -> Estimate:
    """Return how many times as efficient method a is as b; above 1 favours a.

    The ratio is (mean ORE_a / mean ORE_b)^(1/2) (mean u_b / mean u_a): average first, over the
    releases of all targets, then the ratio. ``root=False`` leaves the power 1/2 out.

    Parameters
    ----------
    a, b : Replicates
    root : bool
        True as defined, False as in the published table.

    Returns
    -------
    float or NotEstimable
        Not estimable when b's mean ORE or a's mean loss is zero, or a method has no defined loss.

    Examples
    --------
    Mean ORE .04 and .01, mean loss 3 and 2: 2 * 2/3 with the root, 4 * 2/3 without.

    >>> a = Replicates([0.03, 0.05], [2.0, 4.0])
    >>> b = Replicates([0.01, 0.01], [1.0, 3.0])
    >>> round(efficiency_ratio(a, b), 4), round(efficiency_ratio(a, b, root=False), 4)
    (1.3333, 2.6667)
    """
    of_a, of_b = (np.sum(_terms(each), axis=(0, 1))[None, :] for each in (a, b))
    return _reason(of_a[0], of_b[0]) or float(_ratios(of_a, of_b, 0.5 if root else 1.0)[0])


@dataclass(frozen=True, slots=True)
class EfficiencyRatio:
    """The ratio of two methods' efficiencies for one target, or for all: a row of the table.

    Parameters
    ----------
    target : str
        The target's name, or "overall".
    form : str
        "defined" (with the root) or "printed" (without).
    ratio : Measure
    """

    target: str
    form: Form
    ratio: Measure


def efficiency_ratios(
    a: Replicates,
    b: Replicates,
    *,
    generator: np.random.Generator,
    targets: Sequence[str] | None = None,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[EfficiencyRatio, ...]:
    """Return the efficiency ratios of a to b, each target's and overall, with intervals.

    The intervals are percentile bootstrap ones: releases are resampled within target and method,
    a release's ORE and loss together. Both forms see the same resamples.

    Parameters
    ----------
    a, b : Replicates
        The same targets; the numbers of releases may differ.
    generator : numpy.random.Generator
        Where the resamples come from; it moves on.
    targets : sequence of str, optional
        The targets' names; "0", "1", ... by default.
    resamples : int
        How many resamples.
    level : float
        The intervals' coverage, between 0 and 1.

    Returns
    -------
    tuple of EfficiencyRatio
        For each target, then "overall": the form "printed", then "defined". A measure's `n` counts
        the releases of both methods with a defined loss, `n_undefined` those without.

    Examples
    --------
    >>> a = Replicates([[0.03, 0.05], [0.03, 0.03]], [[2.0, 4.0], [1.0, 1.0]])
    >>> b = Replicates([[0.01, 0.01], [0.03, 0.03]], [[1.0, 3.0], [1.0, 1.0]])
    >>> for row in efficiency_ratios(a, b, generator=np.random.default_rng(0), resamples=200):
    ...     print(row.target, row.form, row.ratio)
    0 printed 2.67 (1.25 to 4.50)
    0 defined 1.33 (0.56 to 2.60)
    1 printed 1.00 (1.00 to 1.00)
    1 defined 1.00 (1.00 to 1.00)
    overall printed 1.31 (0.80 to 2.00)
    overall defined 0.99 (0.57 to 1.63)
    """
    names = [str(j) for j in range(a.ore.shape[0])] if targets is None else list(targets)
    if not a.ore.shape[0] == b.ore.shape[0] == len(names):
        raise InputError(
            f"The methods and the names need the same targets: got {a.ore.shape[0]}, "
            f"{b.ore.shape[0]} and {len(names)}."
        )
    if resamples < 1 or not 0.0 < level < 1.0:
        raise InputError("resamples must be at least 1, and level between 0 and 1.")
    of_a, of_b = (_sums(each, generator, resamples) for each in (a, b))
    every = [*zip(names, of_a, of_b, strict=True), ("overall", of_a.sum(axis=0), of_b.sum(axis=0))]
    return tuple(
        EfficiencyRatio(name, form, _measure(sums_a, sums_b, form, level))
        for name, sums_a, sums_b in every
        for form in ("printed", "defined")
    )


def paired_difference(
    a: object,
    b: object,
    *,
    name: str = "difference",
    direction: Direction = "neither",
    level: float = 0.95,
) -> Measure:
    """Return the mean of a - b over pairs, with the normal interval of its standard error.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        One value a repetition, the same data sets in the same order. A pair in which one is
        undefined (NaN) is left out and counted.
    name, direction
        As in `Measure`.
    level : float
        The interval's coverage, between 0 and 1.

    Examples
    --------
    The differences 1, 2, 3 and 2 have mean 2 and standard error sqrt(2/3) / 2 = .41:

    >>> print(paired_difference([2.0, 4.0, 6.0, 3.0], [1.0, 2.0, 3.0, 1.0]))
    2.00 (1.20 to 2.80)
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError(f"Pairs are needed: got shapes {first.shape} and {second.shape}.")
    if np.isinf(first).any() or np.isinf(second).any():
        raise InputError(f"{name}: a value is infinite. Mark undefined ones by NaN.")
    return Measure.mean_of(
        first - second, name=name, direction=direction, level=level, reason="no pair is defined"
    )


def _terms(replicates: Replicates) -> npt.NDArray[np.float64]:
    """Return for each target and release: 1, its ORE, whether its loss is defined, and its loss."""
    defined = ~np.isnan(replicates.loss)
    loss = np.where(defined, replicates.loss, 0.0)
    return np.stack([np.ones_like(loss), replicates.ore, defined.astype(np.float64), loss], axis=-1)


def _sums(
    replicates: Replicates, generator: np.random.Generator, resamples: int
) -> npt.NDArray[np.float64]:
    """Return, by target, the sums of `_terms` over the sample (first) and over each resample."""
    terms = _terms(replicates)
    releases = terms.shape[1]
    sums = np.empty((terms.shape[0], resamples + 1, terms.shape[2]))
    sums[:, 0] = terms.sum(axis=1)
    for target in range(terms.shape[0]):
        for start in range(1, resamples + 1, _RESAMPLES_AT_ONCE):
            block = sums[target, start : start + _RESAMPLES_AT_ONCE]
            size = (block.shape[0], releases)
            _add_drawn(
                generator.integers(releases, size=size, dtype=np.uint32), terms[target], block
            )
    return sums


@summing_kernel
def _add_drawn(draws: npt.NDArray[np.uint32], terms: Matrix, sums: Matrix) -> None:
    """Set sums[b] to the sum of terms[draws[b, i]] over i; the first term is 1."""
    n = draws.shape[1]
    for b in range(draws.shape[0]):
        ore = defined = loss = 0.0
        for i in range(n):
            row = terms[draws[b, i]]
            ore += row[1]
            defined += row[2]
            loss += row[3]
        sums[b, 0], sums[b, 1], sums[b, 2], sums[b, 3] = n, ore, defined, loss


def _ratios(a: Matrix, b: Matrix, power: float) -> Vector:
    """Return the efficiency ratio of each row of sums; NaN or infinite where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ore = (a[:, 1] / a[:, 0]) / (b[:, 1] / b[:, 0])
        loss = (b[:, 3] / b[:, 2]) / (a[:, 3] / a[:, 2])
        return np.asarray(ore**power * loss)


def _reason(a: Vector, b: Vector) -> NotEstimable | None:
    """Return why the ratio of these sums is undefined, or None."""
    if a[2] == 0.0 or b[2] == 0.0:
        return NotEstimable("no release of a method has a defined utility loss")
    if a[3] == 0.0:
        return NotEstimable("the first method's mean utility loss is zero")
    return NotEstimable("the second method's mean ORE is zero") if b[1] == 0.0 else None


def _measure(a: Matrix, b: Matrix, form: Form, level: float) -> Measure:
    """Return the ratio in the first row of sums, with the percentiles of those in the others."""
    missing = _reason(a[0], b[0])
    ratios = _ratios(a, b, _POWERS[form])
    drawn = np.sort(ratios[1:][~np.isnan(ratios[1:])])  # a resample can lack a defined loss
    interval = None
    if drawn.size and missing is None:
        tail = 0.5 * (1.0 - level)
        low, high = np.quantile(drawn, [tail, 1.0 - tail], method="inverted_cdf")
        interval = float(low), float(high)
    n = int(a[0, 2] + b[0, 2])
    return Measure.of(
        missing or float(ratios[0]),
        name=f"efficiency ratio ({form})",
        direction="higher is better",
        n=n,
        n_undefined=int(a[0, 0] + b[0, 0]) - n,
        interval=interval,
    )
