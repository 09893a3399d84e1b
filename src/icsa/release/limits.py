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
    rows_for_forests : int
        Forests are taken by themselves from so many rows on. Chosen: five leaves of their size;
        with fewer, up to a fifth of tables with heavy tails and no curves seem to have some.
    curves_for_forests : float
        Share of a column's variance that curves must explain for forests to be taken by themselves;
        from half of it on it is told. Measured: of ten tables, the one that forests cost the word
        "release" had .05, those that lost most by straight lines .06 and more.
    rows_a_factor : int
        Rows for each factor, where there are fewer rows than that: an MCD of fewer rows a column
        is known to be led astray.
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
    fewest_in_a_place : int
        Units that must have a row in a place (the third child) for it to be released: where the
        tenth-largest number of rows ends, too.
    most_places : int
        Times at which all units have a row, up to which these stand side by side. Chosen.
    units_a_column : int
        Units that are needed for each column of such a wide table. Chosen: four rows a column give
        correlations that can be calibrated; with fewer, two levels have fewer numbers to find.
    rows_for_slopes : int
        Rows of a unit that tell a slope from a level; as many units as rows of a table must have
        them.
    """

    fewest_rows: int = 30
    rows_a_score: int = 2
    rows_for_forests: int = 400
    curves_for_forests: float = 0.06
    rows_a_factor: int = 5
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
    fewest_in_a_place: int = 10
    most_places: int = 12
    units_a_column: int = 4
    rows_for_slopes: int = 3


LIMITS = Limits()
