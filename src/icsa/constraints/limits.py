"""The numbers that decide what counts as a relation, an order or a derived column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["LIMITS", "Thresholds", "resting_on"]


def resting_on(reason: str, value: Any) -> Any:
    """Return a field with a default and what it rests on."""
    return field(default=value, metadata={"rests on": reason})


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Every threshold of the package; what each rests on is in its field's metadata.

    Examples
    --------
    >>> LIMITS.least_share
    0.98
    >>> Thresholds.__dataclass_fields__["least_share"].metadata["rests on"]
    'a relation with 1% wrong rows reaches .989, columns without one .004'
    """

    # Which rows are looked at.
    seed: int = resting_on(
        "any: which rows are looked at first is no secret, and a table gives the same each time",
        20_240_229,
    )
    sampled_rows: int = resting_on(
        "what holds in nearly all rows holds in nearly all of these; most tables have nothing",
        20_000,
    )
    block_rows: int = resting_on("chosen for cost", 5_000)
    block_rows_of_many: int = resting_on("chosen for cost, where there are many blocks", 1_000)
    many_blocks: int = resting_on("chosen for cost", 30)
    most_blocks: int = resting_on("chosen for cost; beyond it only blocks of several columns", 40)
    block_least_rows: int = resting_on("chosen: among few rows chance makes relations", 60)
    block_least_share: float = resting_on("chosen: of the rows, where the table has fewer", 0.8)
    block_failures: int = resting_on("chosen for cost", 10)
    set_rows: int = resting_on("chosen for cost", 2_000)
    small_set_rows: int = resting_on(
        "none of them is wrong in four of five sets when 1% of all rows are", 24
    )
    order_rows: int = resting_on("chosen for cost; all rows are asked afterwards", 2_000)

    # What is suspected, before all rows are asked.
    rounding_left: float = resting_on("above 1 / sqrt(12) steps, which rounding leaves", 0.45)
    least_residual: float = resting_on("chosen: relative to the spread", 1e-4)
    most_residual: float = resting_on("chosen: relative to the spread", 0.15)
    least_varied_rows: int = resting_on("chosen: what hardly varies goes with everything", 5)
    most_suspicions: int = resting_on("chosen for cost", 1_000)
    checked_rows: int = resting_on("chosen for cost", 500)
    borne_out: float = resting_on("chosen below the least share, since rows are few", 0.95)
    small_singular: float = resting_on(
        "singular value / sqrt(n): rounded columns .004, 1% wrong rows .028, none .39", 0.2
    )
    zero_singular: float = resting_on("cross-products are exact to 1e-16, so roots to 1e-8", 1e-6)
    concentrations: int = resting_on("chosen: most steps of least trimmed squares", 6)
    shrinking: float = resting_on("a true relation comes out at once; others shrink less", 0.9)
    concentrated_share: float = resting_on("chosen: rows kept in a step", 0.95)
    outlying: float = resting_on("chosen: robust deviations of a far cell", 10.0)
    most_operations: float = resting_on("chosen for cost", 5e8)
    most_rounds: int = resting_on("chosen for cost", 40)

    # What is believed.
    least_share: float = resting_on(
        "a relation with 1% wrong rows reaches .989, columns without one .004", 0.98
    )
    near_share: float = resting_on("chosen: targets that hold as often up to it are as good", 0.005)
    least_gain: float = resting_on("chosen: of the rows that no shorter relation explains", 0.75)
    least_messy_share: float = resting_on("chosen: below it every row is out of reach", 0.9)
    relative_error: float = resting_on("sums of decimal numbers are right to this", 1e-9)
    single_precision: float = resting_on("about four roundings of single precision", 2.5e-7)
    steps_simple: int = resting_on("chosen: a rounded target of fewer steps follows much", 4)
    steps_messy: int = resting_on("chosen: free coefficients follow more", 20)
    fit_rounds: int = resting_on("chosen for cost", 4)
    most_terms: int = resting_on("chosen for cost", 40)
    most_terms_messy: int = resting_on("chosen: free coefficients of more columns fit much", 6)
    smallest: float = resting_on("squares stay above the smallest float", 1e-150)
    largest: float = resting_on("squares stay below the largest float", 1e150)
    exponent_slack: float = resting_on("exponents are halves apart or more", 0.1)
    shorter_product: float = resting_on("chosen: a product holds far less without a factor", 0.5)
    least_distinct: int = resting_on("chosen: columns of few values are equal by chance", 15)
    least_product_rows: int = resting_on("chosen: fewer rows fit by chance", 20)
    least_rows: int = resting_on("chosen: fewer rows in common say nothing", 10)

    # Orders and equal columns.
    least_equal: float = resting_on("chosen: a gap codes columns better if so many are equal", 0.4)
    sampled_equal: float = resting_on("of it, since a sample may be a little off", 0.9)
    usual: float = resting_on("chosen: what so many have is equal in both by chance", 0.1)
    surprise_kept: float = resting_on(
        "chosen: were rows paired at random, so many would break the order of two dates", 5.0
    )
    surprise_told: float = resting_on(
        "chosen: the same where the order is only told; numbers are in order by chance", 10.0
    )

    order_overlap: float = resting_on(
        "chosen: columns with a unit in common lie in the same place", 0.3
    )
    order_correlation: float = resting_on(
        "rank correlation of columns without a word in common that have a unit in common; of 196 "
        "pairs of columns in twelve tables 20 reach it, 7 of them with the overlap",
        0.5,
    )

    # Derived columns.
    derived_surprise: float = resting_on(
        "-log of one in a million: so rarely a table of unrelated columns has one", 14.0
    )
    derived_rows: int = resting_on("chosen: fewer rows fit by chance", 20)
    derived_shifts: int = resting_on(
        "chosen for cost: other rows that a number is held against", 20
    )
    most_codes: int = resting_on("chosen: whole numbers with fewer values may be classes", 20)
    most_groups: int = resting_on("chosen for cost: no groups that something follows from", 200)
    bound_neighbours: int = resting_on("chosen: people near a bound, or at the end beside it", 5)
    near_bound: float = resting_on(
        "standard deviations: 98 of 100 bounds in 60 rows are found; groups apart have none",
        0.2,
    )
    round_bound: int = resting_on(
        "multiples of so many lattice steps are a formula's rather than somebody's", 5
    )
    coefficient_error: float = resting_on("coefficients come out to this", 1e-6)

    # Rules.
    passes: int = resting_on("chosen: sweeps until rules count as contradicting each other", 12)
    exchanging_passes: int = resting_on("chosen: sweeps that exchange cells first", 4)
    lowering_passes: int = resting_on("chosen: sweeps that lower a cell before raising one", 8)
    donors: int = resting_on("chosen for cost: other rows tried, near ones and as many others", 24)


LIMITS = Thresholds()
