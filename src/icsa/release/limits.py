"""The numbers that releases are decided by, in one place, each with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Thresholds of a release.

    Attributes
    ----------
    fewest_rows : int
        Tables with fewer are refused: among them everybody stands out. Chosen.
    rows_a_score : int
        More than so many times the scores and one are needed, so that half of the rows, which an
        MCD looks at, are more than the scores and one: otherwise it is singular.
    few_coordinates : int
        With so many or fewer, a warning: each coordinate of a row comes from another person, and
        three are soon put together again.
    sample_rows : int
        Rows that correlations and regressions are computed from at most: a correlation of as many
        has a standard error of .007, less than calibration leaves.
    calibration_reach : float
        Standard deviations from the mean that scores count as at most when they are correlated:
        those of a normal law but for one in 80, while nobody who stands out decides alone.
    least_eigenvalue : float
        Of a correlation matrix: below it rounding decides in which direction scores are moved.
    imputation_reach : float
        As `calibration_reach`, in regressions that fill gaps. Chosen: larger, since what stands
        out in one column is to be told from the others.
    imputation_ridge : float
        Added to every variance, so that regressions on many columns are stable. Chosen.
    imputation_rounds : int
        Predictions of each gap, since the other columns have gaps too. Chosen.
    wide : float
        Released standard deviations above so many times the original's are told. Chosen.
    near : float
        Robust standard deviations from the middle of a column that are not yet far. Chosen: beyond
        what heavy tails of measurements reach.
    beyond_chance : float
        Chance that cells lie as often beyond the original's range in any column of as many other
        people. Chosen: one table in a thousand is told without reason.
    """

    fewest_rows: int = 30
    rows_a_score: int = 2
    few_coordinates: int = 3
    sample_rows: int = 20_000
    calibration_reach: float = 2.5
    least_eigenvalue: float = 1e-4
    imputation_reach: float = 4.0
    imputation_ridge: float = 1e-3
    imputation_rounds: int = 3
    wide: float = 1.5
    near: float = 10.0
    beyond_chance: float = 1e-3


LIMITS = Limits()
