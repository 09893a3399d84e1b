"""What was found about the people who stand out, one by one and as a group, for all to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import bdtrc, betaincinv

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.measures import Measure, NotEstimable
from icsa.privacy.common_units import in_common_units
from icsa.privacy.everybody import Everybody, look_at_everybody
from icsa.privacy.exact_rows import ExactRows, exact_rows
from icsa.privacy.extremes import Extremes, verbatim_ends
from icsa.privacy.lenses import Lenses, fit_lenses
from icsa.privacy.partial_knowledge import AttackOutcome, all_but_one_attack
from icsa.privacy.people import Nearness, Surroundings, measure_nearness

__all__ = [
    "Findings",
    "Group",
    "Reread",
    "clopper_pearson",
    "nearest_release_group",
    "share_measure",
    "upper_limit",
]


@dataclass(frozen=True)
class Group:
    """How near the release comes to the people who stand out, taken together.

    Attributes
    ----------
    share : Measure
        Share of the people nearer to a released row than to any other original.
    expected : float
        What fresh rows of the same law would give: n*/(n* + n - 1).
    p_value : float
        Probability of so large a share, or a larger one, among fresh rows.
    median_ratio : float
        Median of rho = d_rel / d_org under lens E; NaN without people.
    """

    share: Measure
    expected: float
    p_value: float
    median_ratio: float


@dataclass(frozen=True, eq=False)
class Reread:
    """Whom a release resembles once columns that are distributed otherwise are in common units.

    Attributes
    ----------
    names : tuple of str
        These columns.
    exact : ExactRows
    everybody : Everybody
    """

    names: tuple[str, ...]
    exact: ExactRows
    everybody: Everybody

    @classmethod
    def of(
        cls,
        features: Features,
        rows: RowNumbers,
        *,
        near_people: int | None = None,
        threads: int = 1,
    ) -> Reread | None:
        """Return what is found; None where no column is distributed otherwise.

        `rows` are those of the people who stand out.
        """
        found = in_common_units(features, rows)
        if found is None:
            return None
        lenses = fit_lenses(found.features)
        everybody = look_at_everybody(lenses, near_people=near_people, threads=threads)
        return cls(found.names, exact_rows(found.features), everybody)


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """Everything that the measures of one release are computed from.

    Attributes
    ----------
    lenses : Lenses
        With the release.
    around : Surroundings
        The people who stand out, and how alone they are.
    near : Nearness
        How near the release comes to them.
    group : Group
        The same people together.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.
    near_people : int, optional
        As in `icsa.privacy.everybody.look_at_everybody`.
    """

    lenses: Lenses
    around: Surroundings
    near: Nearness
    group: Group
    threads: int = 1
    near_people: int | None = None

    @classmethod
    def of(
        cls,
        lenses: Lenses,
        around: Surroundings,
        *,
        threads: int = 1,
        near_people: int | None = None,
    ) -> Findings:
        """Return what is found about the lenses' release.

        Examples
        --------
        >>> from icsa.comparison.features import as_features
        >>> from icsa.privacy.lenses import fit_lenses
        >>> from icsa.privacy.people import measure_surroundings
        >>> from icsa.privacy.standing_out import standing_out
        >>> x = np.random.default_rng(1).normal(size=(100, 4))
        >>> lenses = fit_lenses(as_features(x, x[::-1]))
        >>> found = Findings.of(lenses, measure_surroundings(lenses, standing_out(lenses)))
        >>> found.group.share.value, float(found.attack.success.mean())
        (1.0, 1.0)
        """
        near = measure_nearness(lenses, around, threads=threads)
        n, n_released = lenses.original.shape[1], lenses.released.shape[1]
        group = nearest_release_group(near.rho["E"], n, n_released)
        return cls(lenses, around, near, group, threads, near_people)

    @property
    def features(self) -> Features:
        """The original and the release."""
        return self.lenses.features

    @property
    def rows(self) -> RowNumbers:
        """The people's row numbers in the original."""
        return self.around.people.rows

    @property
    def for_averages(self) -> Lenses:
        """What averages over all people are taken from: all rows, or a sample of many."""
        return self.lenses

    @property
    def in_raw_units(self) -> tuple[Features, RowNumbers]:
        """What distances in the columns' own units are taken from, and who the people are there."""
        return self.features, self.rows

    @cached_property
    def attack(self) -> AttackOutcome:
        """What somebody guesses who knows all but one cell of a person."""
        return all_but_one_attack(self.lenses, self.rows, threads=self.threads)

    @cached_property
    def exact(self) -> ExactRows:
        """Whom the release repeats in every cell, whether they stand out or not."""
        return exact_rows(self.features)

    @cached_property
    def everybody(self) -> Everybody:
        """Whom released rows resemble, whether they stand out or not."""
        return look_at_everybody(self.lenses, near_people=self.near_people, threads=self.threads)

    @cached_property
    def reread(self) -> Reread | None:
        """The same two in common units; None where no column is distributed otherwise."""
        return Reread.of(
            self.features, self.rows, near_people=self.near_people, threads=self.threads
        )

    @cached_property
    def extremes(self) -> Extremes:
        """Whose unique largest or smallest values the release shows."""
        return verbatim_ends(self.features)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Findings about {self.rows.size} people>"


def nearest_release_group(ratios: Vector, n_rows: int, n_released: int) -> Group:
    """Return the group's share of ratios below 1, with its exact test and interval.

    Parameters
    ----------
    ratios : ndarray of shape (m,)
        rho = d_rel / d_org of each person under lens E.
    n_rows, n_released : int
        Numbers of rows of the original and of the release.

    Examples
    --------
    Four of four are nearer to the release, and fresh rows would give 6/(6 + 5) of them. The
    probability of that is (6/11)^4 = .0885; the interval's low end is .025^(1/4) = .398.

    >>> group = nearest_release_group(np.array([0.1, 0.2, 0.3, 0.5]), 6, 6)
    >>> print(group.share)
    1.00 (0.40 to 1.00)
    >>> round(group.expected, 4), round(group.p_value, 4), group.median_ratio
    (0.5455, 0.0885, 0.25)
    """
    m = ratios.size
    expected = n_released / (n_released + n_rows - 1)
    nearer = int(np.sum(ratios < 1.0))
    share = Measure.of(
        nearer / m if m else NotEstimable("nobody stands out"),
        name="nearest-release share",
        direction="lower is safer",
        n=m,
        interval=clopper_pearson(nearer, m) if m else None,
    )
    p_value = float(bdtrc(nearer - 1, m, expected)) if nearer else 1.0
    return Group(share, expected, p_value, float(np.median(ratios)) if m else float("nan"))


def share_measure(count: int, n: int, name: str) -> Measure:
    """Return a share that is safer when low, with its exact interval.

    Examples
    --------
    >>> print(share_measure(1, 2, "share"))
    0.500 (0.013 to 0.987)
    """
    interval = clopper_pearson(count, n)
    return Measure.of(count / n, name=name, direction="lower is safer", n=n, interval=interval)


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share, from the beta distribution.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)  # 1 - .025^(1/10)
    (0.0, 0.3085)
    """
    if not 0 <= successes <= trials or trials < 1:
        raise InputError(f"A share needs 0 to n successes of n > 0: got {successes} of {trials}.")
    tail = 0.5 * (1.0 - level)
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = 1.0
    if successes < trials:
        high = float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return low, high


def upper_limit(successes: int, trials: int, level: float = 0.95) -> float:
    """Return the exact one-sided upper limit of a share.

    Examples
    --------
    >>> round(upper_limit(0, 300), 5)  # 1 - .05^(1/300)
    0.00994
    """
    return clopper_pearson(successes, trials, 2.0 * level - 1.0)[1]
